from __future__ import annotations

import csv

import pytest


@pytest.fixture
def store(run_cli, tmp_path):
    assert run_cli("store", "build", "cora", "--out", tmp_path / "s").code == 0
    return tmp_path / "s"


def test_a_fit_on_a_store_is_the_fit_on_the_graph(run_cli, store, tmp_path):
    words = ["--split", "val:0", "--preset", "instant", "--json"]
    plain = run_cli("fit", "cora", *words).facts
    out = ["--out", tmp_path / "m.adagcn"]
    stored = run_cli("fit", store, *words, "--engine", "serial", *out).facts
    assert stored["model_digest"] == plain["model_digest"]
    assert stored["graph"] == plain["graph"]
    table = tmp_path / "p.csv"
    assert run_cli("predict", tmp_path / "m.adagcn", store, "--out", table).code == 0
    with table.open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == plain["graph"]["nodes"]


def test_info_and_verify(run_cli, store):
    facts = run_cli("store", "info", store, "--json").facts
    assert (facts["nodes"], facts["bytes_of_hops"], facts["bytes_of_scores"]) == (2485, 0, 0)
    (store / "scores").mkdir()
    (store / "scores" / "left").write_bytes(bytes(2_000_000))
    assert "2.0 MB of class scores" in run_cli("store", "info", store).stdout
    said = " ".join(run_cli("store", "verify", store).stdout.split())  # it may be wrapped
    assert said.endswith("are as they were written.")
    path = store / "labels.npy"
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1
    path.write_bytes(bytes(octets))
    outcome = run_cli("store", "verify", store)
    assert outcome.code == 4
    assert "labels.npy" in outcome.stderr


def test_an_update_is_a_build_of_all_tables(run_cli, tmp_path):
    edges, features = tmp_path / "e.csv", tmp_path / "f.csv"
    edges.write_text("s,t\nann,bob\nbob,eve\n")
    features.write_text("id,x,y\nann,1,2\nbob,0,1\neve,1,1\n")
    both = ["--edges", edges, "--features", features]
    assert run_cli("store", "build", *both, "--out", tmp_path / "s").code == 0
    new, more = tmp_path / "e2.csv", tmp_path / "f2.csv"
    new.write_text("s,t\n<script>,bob\n")
    more.write_text("id,x,y\n<script>,5,6\n")
    change = ["--edges", new, "--features", more]
    facts = run_cli("store", "update", tmp_path / "s", *change, "--json").facts
    assert (facts["nodes_added"], facts["edges_added"]) == (1, 1)
    edges.write_text(edges.read_text() + "<script>,bob\n")
    features.write_text(features.read_text() + "<script>,5,6\n")
    assert run_cli("store", "build", *both, "--out", tmp_path / "w").code == 0
    assert facts["digest"] == run_cli("store", "info", tmp_path / "w", "--json").facts["digest"]
    assert "1 file" not in run_cli("store", "verify", tmp_path / "s").stderr
    outcome = run_cli("store", "update", tmp_path / "s", "--remove-edges", tmp_path / "e2.csv")
    assert "1 edge removed" in outcome.stdout
    again = run_cli("store", "update", tmp_path / "s", "--remove-edges", tmp_path / "e2.csv")
    assert (again.code, "--remove-edges" in again.stderr) == (3, True)
    assert run_cli("store", "update", tmp_path / "s").code == 3


def words_of(outcome):
    return " ".join(outcome.stdout.split())


def test_kept_hops_follow_an_update(run_cli, store, tmp_path):
    model = tmp_path / "m.adagcn"
    words = ["--split", "val:0", "--preset", "instant", "--out", model]
    assert run_cli("fit", store, *words).code == 0
    kept = run_cli("store", "keep-hops", store, "--model", model, "--json").facts
    assert kept["shares"] is None
    assert kept["bytes"] > 0
    assert "kept hops computed" in words_of(run_cli("store", "info", store))
    new = tmp_path / "e.csv"
    new.write_text("s,t\n4,7\n")
    said = words_of(run_cli("store", "update", store, "--edges", new))
    assert "1 edge added; the next prediction updates the kept hops; " in said
    facts = run_cli("store", "info", store, "--json").facts
    assert facts["kept_hops"] == [{"is_current": False, "shares": None, "update": None}]
    assert "kept hops of an earlier graph" in words_of(run_cli("store", "info", store))
    assert run_cli("predict", model, store, "--out", tmp_path / "p.csv").code == 0
    (kept,) = run_cli("store", "info", store, "--json").facts["kept_hops"]
    assert kept["is_current"]
    assert kept["shares"][0] == 2 / 2487  # the ends of the edge are new nodes
    assert "kept hops updated, " in words_of(run_cli("store", "info", store))
    outcome = run_cli("store", "keep-hops", store, "--model", model)
    assert kept["update"] in words_of(outcome)
    assert "removed" in run_cli("store", "drop-hops", store).stdout
    assert run_cli("store", "info", store, "--json").facts["bytes_of_hops"] == 0


def test_engine_options_of_a_graph_in_memory_are_refused(run_cli):
    outcome = run_cli("fit", "cora", "--workers", 2)
    assert outcome.code == 3
    assert "--workers would do nothing" in outcome.stderr


def test_a_folder_that_is_no_store(run_cli, tmp_path):
    outcome = run_cli("fit", tmp_path)
    assert outcome.code == 3
    assert "is no store" in outcome.stderr


@pytest.fixture
def tables(tmp_path):
    edges, features = tmp_path / "e.csv", tmp_path / "f.csv"
    edges.write_text("s,t\nann,bob\nbob,eve\nann,bob\n")
    features.write_text("id,x,y,class\nann,1,2,a\nbob,0,1,b\neve,1,1,a\n<script>,0,0,b\n")
    return ["--edges", edges, "--features", features, "--label", "class"]


def test_a_store_is_the_same_out_of_core(run_cli, tables, tmp_path):
    pytest.importorskip("duckdb")
    plain = run_cli("store", "build", *tables, "--out", tmp_path / "m", "--json").facts
    words = ["--out-of-core", "--memory", "128MB", "--json"]
    stored = run_cli("store", "build", *tables, "--out", tmp_path / "d", *words).facts
    differ = {name for name in plain if plain[name] != stored[name]}
    assert differ == {"path", "built"}
    assert plain["built"] == "in memory"
    assert stored["built"] == "out of core, 128 MB for sorting"
    outcome = run_cli("store", "build", *tables, "--out", tmp_path / "e", "--out-of-core")
    assert "1 duplicate edge merged" in outcome.stderr
    assert "out of core, 1,024 MB for sorting" in outcome.stdout


def test_large_tables_that_need_memory_are_read_there(run_cli, tables, tmp_path, monkeypatch):
    monkeypatch.setattr("adagcn.cli.store_build._LARGE_BYTES", 1)
    outcome = run_cli("store", "build", *tables, "--missing", "mean", "--out", tmp_path / "m")
    assert outcome.code == 0
    assert "read in memory instead" in outcome.stderr
    outcome = run_cli("store", "build", *tables, "--out", tmp_path / "d", "--json")
    assert outcome.facts["built"].startswith("out of core")
    outcome = run_cli("store", "build", *tables, "--out", tmp_path / "i", "--in-memory", "--json")
    assert outcome.facts["built"] == "in memory"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cora", "--out-of-core"], "--out-of-core is for tables"),
        (["cora", "--memory", "1GB"], "--memory is for tables"),
        (["TABLES", "--memory", "1GB"], "--memory would do nothing"),
        (["TABLES", "--memory", "much", "--out-of-core"], "--memory is not a size"),
        (["TABLES", "--memory", "1MB", "--out-of-core"], "at least 64MB"),
        (["TABLES", "--one-hot", "x", "--out-of-core"], "leave --out-of-core out"),
        (["TABLES", "--source", "nope", "--out-of-core"], "has no column 'nope'"),
    ],
)
def test_options_of_building_that_cannot_be(run_cli, tables, tmp_path, words, said):
    rest = [*tables, *words[1:]] if words[0] == "TABLES" else words
    outcome = run_cli("store", "build", *rest, "--out", tmp_path / "s")
    assert outcome.code == 3
    assert said in outcome.stderr
    assert not (tmp_path / "s").exists()


def test_a_store_of_an_ogb_folder(run_cli, tmp_path):
    pytest.importorskip("duckdb")
    raw = tmp_path / "ogbn_toy" / "raw"
    raw.mkdir(parents=True)
    (raw / "edge.csv").write_text("0,1\n1,2\n2,3\n3,0\n4,5\n5,6\n6,7\n7,4\n1,0\n")
    (raw / "num-node-list.csv").write_text("8\n")
    (raw / "node-feat.csv").write_text("".join(f"{i // 4},0.5\n" for i in range(8)))
    (raw / "node-label.csv").write_text("0\n" * 4 + "1\n" * 4)
    split = tmp_path / "ogbn_toy" / "split" / "time"
    split.mkdir(parents=True)
    for role, nodes in {"train": "0\n1\n4\n5\n", "valid": "2\n6\n", "test": "3\n7\n"}.items():
        (split / f"{role}.csv").write_text(nodes)
    words = ["--ogb", tmp_path / "ogbn_toy", "--out", tmp_path / "s"]
    facts = run_cli("store", "build", *words, "--json").facts
    assert (facts["nodes"], facts["edges"], facts["labeled"]) == (8, 8, 8)
    words = ["--split", "file:0", "--splits-file", tmp_path / "s/splits/time.npz"]
    fitted = run_cli("fit", tmp_path / "s", *words, "--preset", "instant", "--json")
    assert fitted.code == 0
    outcome = run_cli("store", "build", "--ogb", tmp_path, "--out", tmp_path / "t", "--label", "x")
    assert "--label cannot be combined with --ogb" in outcome.stderr
    outcome = run_cli("store", "build", "--ogb", tmp_path, "--out", tmp_path / "t")
    assert outcome.code == 3
    assert "no node-property folder" in outcome.stderr

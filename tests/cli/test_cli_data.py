from __future__ import annotations

import shlex

import numpy as np
import pytest

from adagcn.data import CATALOG
from adagcn.graph import Graph


@pytest.fixture(autouse=True)
def _nothing_but_the_package(monkeypatch, tmp_path):
    """No data sets around but the packaged one, and no network."""
    monkeypatch.setenv("ADAGCN_DATA", "")
    monkeypatch.setenv("ADAGCN_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_list_shows_every_data_set_beside_the_papers_numbers(run_cli):
    found = {each["key"]: each for each in run_cli("data", "list", "--json").facts["datasets"]}
    assert list(found) == list(CATALOG)
    assert found["cora"]["path"]
    assert found["cora_ml"]["path"] is None
    assert found["citeseer"]["paper"]["n_nodes"] == 3327


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_list_fits_the_terminal(run_cli, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = run_cli("data", "list")
    assert outcome.code == 0
    assert max(map(len, outcome.stdout.splitlines())) <= columns
    for name in CATALOG:
        assert name in outcome.stdout


def test_get_finds_verifies_and_copies(run_cli, tmp_path):
    where = run_cli("data", "get", "cora", "--json").facts["path"]
    copied = run_cli("data", "get", "cora", "--data-dir", tmp_path, "--json").facts
    assert copied["path"] == str(tmp_path / "cora.npz")
    with open(where, "rb") as original:  # noqa: PTH123
        assert (tmp_path / "cora.npz").read_bytes() == original.read()


def test_get_without_network_says_where_to_put_the_file(run_cli):
    outcome = run_cli("data", "get", "cora_ml")
    assert outcome.code == 5
    assert "ADAGCN_DATA" in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_info_of_a_name_and_of_a_file(run_cli, tables, tmp_path):
    assert run_cli("data", "info", "cora", "--json").facts["license"] == "Apache-2.0"
    assert "Apache-2.0" in run_cli("data", "info", "cora").stdout
    out = tmp_path / "fruit.npz"
    assert run_cli("data", "convert", tables.edges, out, *tables.with_labels[2:]).code == 0
    facts = run_cli("data", "info", out, "--json").facts
    assert facts["nodes"] == 160
    assert sum(facts["class_sizes"].values()) == facts["labeled"] == 120


def test_an_unknown_name_gets_a_suggestion(run_cli):
    outcome = run_cli("data", "info", "cora_mll")
    assert outcome.code == 3
    assert "cora_ml" in outcome.stderr


def test_verify_passes_on_the_package_and_fails_on_changed_bytes(run_cli, tmp_path):
    (report,) = run_cli("data", "verify", "all", "--json").facts["datasets"]
    assert (report["name"], report["agrees"], report["error"]) == ("cora", True, None)
    (tmp_path / "cora_ml.npz").write_bytes(b"not the published bytes")
    outcome = run_cli("data", "verify", "all", "--data-dir", tmp_path, "--json")
    assert outcome.code == 4
    reports = {each["name"]: each for each in outcome.facts["datasets"]}
    assert reports["cora"]["agrees"]
    assert not reports["cora_ml"]["agrees"]
    assert "AGC-G" in reports["cora_ml"]["error"]
    assert run_cli("data", "verify", "cora_ml", "--data-dir", tmp_path).code == 4


def test_tables_converted_are_the_graph_of_the_tables(run_cli, tables, tmp_path):
    out = tmp_path / "fruit.npz"
    outcome = run_cli("data", "convert", tables.edges, out, *tables.with_labels[2:], "--json")
    straight = Graph.from_edges(tables.edges, features=tables.features, labels=tables.labels)
    assert outcome.facts["digest"] == Graph.from_npz(out).digest == straight.digest
    assert run_cli("data", "convert", tables.edges, out).code == 3  # exists
    assert outcome.facts["format"] == "edges"


def test_fitting_the_converted_file_is_fitting_the_tables(run_cli, tables, tmp_path):
    out = tmp_path / "fruit.npz"
    run_cli("data", "convert", tables.edges, out, *tables.with_labels[2:])
    quick = ["--set", "n_layers=2", "--set", "max_epochs=10", "--json"]
    from_file = run_cli("fit", out, *quick).facts
    from_tables = run_cli("fit", *tables.with_labels, *quick).facts
    assert from_file["model_digest"] == from_tables["model_digest"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "out.npz"], "nowhere"),
        ([".", "out.npz"], "no files of Planetoid"),
        ([".", "out.csv"], "must end in .npz"),
        ([".", "out.npz", "--format", "planetoid"], "exactly one Planetoid data set"),
        (
            [".", "out.npz", "--format", "reddit", "--id", "x"],
            "--id cannot be used with reddit files",
        ),
        (
            [".", "out.npz", "--format", "reddit", "--name", "x"],
            "--name cannot be used with reddit files",
        ),
    ],
)
def test_what_cannot_be_converted(run_cli, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    outcome = run_cli("data", "convert", *words)
    assert outcome.code == 3
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_planetoid_is_recognized_by_its_files(run_cli, tmp_path):
    (tmp_path / "ind.tiny.graph").write_bytes(b"not a pickle")
    for part in ("x", "y", "tx", "ty", "allx", "ally", "test.index"):
        (tmp_path / f"ind.tiny.{part}").write_bytes(b"not a pickle")
    outcome = run_cli("data", "convert", tmp_path, tmp_path / "out.npz")
    assert outcome.code in (3, 4)
    assert "ind.tiny" in outcome.stderr
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.dataset
def test_every_file_of_the_real_data_holds_what_the_catalog_says(run_cli, dataset_dir):
    outcome = run_cli("data", "verify", "all", "--data-dir", dataset_dir, "--json")
    assert outcome.code == 0
    assert np.all([each["agrees"] for each in outcome.facts["datasets"]])


def test_tables_are_written_and_read_as_ones_own(run_cli, tmp_path):
    folder = tmp_path / "my cora"
    facts = run_cli("data", "tables", "cora", folder, "--json").facts
    words = shlex.split(facts["next"])
    assert words[:2] == ["adagcn", "fit"]
    fitted = run_cli(*words[1:], "--preset", "instant", "--set", "n_layers=1", "--json").facts
    graph = fitted["graph"]
    sizes = [graph[name] for name in ("nodes", "edges", "features", "labeled")]
    assert sizes == [2485, 5069, 1433, 2485]
    again = run_cli("data", "tables", "cora", folder)
    assert again.code == 3
    assert "DIR/edges.csv exists" in again.stderr
    shown = run_cli("data", "tables", "cora", folder, "--force")
    assert shown.code == 0
    assert "(5,069 rows)" in " ".join(shown.stdout.split())


def test_tables_of_no_data_set_or_into_no_folder_are_refused(run_cli, tmp_path, monkeypatch):
    unknown = run_cli("data", "tables", "coar", tmp_path / "out")
    assert (unknown.code, "cora" in unknown.stderr) == (3, True)
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    assert "DIR is not a folder" in run_cli("data", "tables", "cora", tmp_path / "file").stderr
    deep = run_cli("data", "tables", "cora", tmp_path / "a" / "b")
    assert (deep.code, "DIR cannot be made" in deep.stderr) == (5, True)
    monkeypatch.delenv("ADAGCN_DATA", raising=False)
    absent = run_cli("data", "tables", "twitch", tmp_path / "out")
    assert absent.code == 5
    assert "benedekrozemberczki/karateclub" in absent.stderr
    assert len(absent.stderr.splitlines()) == 1


def test_what_was_published_as_tables_is_described(run_cli):
    facts = run_cli("data", "info", "twitch", "--json").facts
    assert facts["edges"]["digests"][0].startswith("sha256:")
    shown = " ".join(run_cli("data", "info", "twitch").stdout.split())
    assert "benedekrozemberczki/karateclub" in shown
    assert "adagcn data tables twitch DIR" in shown
    refused = run_cli("fit", "twitch")
    assert refused.code == 3
    assert "adagcn data tables twitch DIR" in refused.stderr

from __future__ import annotations

import io

import pytest

from adagcn.bench import estimate_cases, estimates, large, speed, speed_plan, start, timing
from adagcn.bench import scale as scale_bench
from adagcn.bench.speed_plan import SpeedPlan
from adagcn.cli.output import screen
from adagcn.data import planted_partition

TINY = SpeedPlan(repetitions=2, sample_seconds=0.0, fits=1, depths=(1, 2), wide_units=32)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def graph_file(tmp_path, monkeypatch):
    monkeypatch.setattr(speed_plan, "QUICK", TINY)
    path = tmp_path / "tiny.npz"
    planted_partition(120, 3, 16, seed=0, mean_degree=5).to_npz(path)
    return path


def test_speed_prints_one_object(run_cli, graph_file):
    outcome = run_cli(
        "bench", "speed", "--datasets", graph_file, "--parts", "epoch,wide,depth",
        "--peers", "sklearn_mlp", "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.stderr
    facts = outcome.facts
    assert facts["benchmark"] == "speed"
    assert facts["threads"] == 1
    assert facts["noise"]["drift"] > 0.0
    assert facts["versions"]["torch"]
    assert facts["machine"]["processor"]
    epoch, wide, depth = facts["sections"]
    assert [section["key"] for section in facts["sections"]] == ["epoch", "wide", "depth"]
    assert epoch["rows"][0]["ratio"]["median"] == 1.0
    assert epoch["rows"][-1]["name"] == "scikit-learn MLP"
    assert wide["rows"][1]["name"] == "bare products"
    assert "slope" in depth["rows"][0]["facts"]


def test_speed_shows_tables_and_draws(run_cli, graph_file, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "speed.svg"
    outcome = run_cli(
        "bench", "speed", "--datasets", graph_file, "--parts", "epoch,depth",
        "--peers", "none", "--figure", figure, "--repetitions", 2,
    )  # fmt: skip
    assert outcome.code == 0, outcome.stderr
    for words in ("AdaGCN is faster by", "a layer more", "GCN", "noise", "threads"):
        assert words in outcome.stdout
    assert figure.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_keeps_what_was_measured(run_cli, graph_file, monkeypatch, as_json):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(speed, "PARTS", {**speed.PARTS, "wide": interrupt})
    words = "bench", "speed", "--datasets", graph_file, "--peers", "none"
    outcome = run_cli(*words, "--parts", "epoch,wide,depth", *(["--json"] if as_json else []))
    assert outcome.code == 130
    assert "only finished sections are shown" in outcome.stderr
    if as_json:
        assert outcome.facts["interrupted"]
        assert [section["key"] for section in outcome.facts["sections"]] == ["epoch"]
    else:
        assert "AdaGCN is faster by" in outcome.stdout
    nothing = run_cli(*words, "--parts", "wide,epoch")
    assert nothing.code == 130
    assert not nothing.stdout


def test_propagation_shows_shares_of_the_copy(run_cli, graph_file):
    outcome = run_cli("bench", "propagation", "--datasets", graph_file, "--repetitions", 1)
    assert outcome.code == 0, outcome.stderr
    assert "of copy" in outcome.stdout
    assert "reverse" in outcome.stdout


def test_scale_fits_exponents(run_cli, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    sizes = scale_bench.Sizes(nodes=400, edges=800, features=8, labeled=20, hidden=4, depth=2)
    plan = scale_bench.ScalePlan(start=sizes, factors=(1, 2, 4), repetitions=1)
    monkeypatch.setattr(scale_bench, "QUICK", plan)
    words = "bench", "scale", "--axes", "hidden", "--no-memory"
    shown = run_cli(*words, "--figure", tmp_path / "scale.png")
    assert shown.code == 0, shown.stderr
    assert "time grows with exponent" in shown.stdout
    assert (tmp_path / "scale.png").stat().st_size > 1000
    (section,) = run_cli(*words, "--json").facts["sections"]
    assert section["rows"][0]["facts"]["peak_bytes"] is None


def test_large_shows_f1_by_depth(run_cli, monkeypatch):
    plan = large.LargePlan(400, 2_000, repetitions=1, max_epochs=2, n_layers=2)
    monkeypatch.setattr(large, "QUICK", plan)
    outcome = run_cli(
        "bench", "large", "--fits", "adagcn,gcn", "--runs", "2", "--no-memory", "--max-epochs", "3"
    )
    assert outcome.code == 0, outcome.stderr
    for words in (
        "at most 3 epochs",
        "V.GCN",
        "PPNP",
        "F1 (macro)",
        "of the first 1, 2, … layers",
        "2 runs",
        " ± ",
    ):
        assert words in outcome.stdout
    (epoch,) = run_cli("bench", "large", "--fits", "none", "--json").facts["sections"]
    assert epoch["facts"]["n_classes"] == 41


def test_large_takes_settings_of_single_systems(run_cli, monkeypatch):
    plan = large.LargePlan(400, 2_000, max_epochs=2, n_layers=2, memory=False)
    monkeypatch.setattr(large, "QUICK", plan)
    words = ["bench", "large", "--epochs", "none", "--fits", "gcn_es,sgc", "--no-memory"]
    found = ["--set", "gcn_es.hidden_units=7", "--set", "gcn_es.dropout=0.0"]
    outcome = run_cli(*words, *found)
    assert outcome.code == 0, outcome.stderr
    assert "GCN, set: hidden_units = 7, dropout = 0.0" in outcome.stdout
    outcome = run_cli(*words, "--homophily", "0.7", "--json")
    assert outcome.facts["sections"][0]["facts"]["homophily"] == 0.7
    assert run_cli(*words, "--homophily", "1.1").code == 2
    for wrong in ("sgc.hidden_units=7", "adagcn.n_layers=2", "hidden_units=7"):
        refused = run_cli(*words, "--set", wrong)
        assert refused.code == 3
        assert "AGC-I807" in refused.stderr


def test_large_goes_on_with_the_fits_on_record(run_cli, monkeypatch, tmp_path):
    plan = large.LargePlan(400, 2_000, max_epochs=2, n_layers=2, memory=False)
    monkeypatch.setattr(large, "QUICK", plan)
    fit_whole = large.fit_whole

    def interrupted_at_gcn(task, key, plan, seed):
        if key == "gcn":
            raise KeyboardInterrupt
        return fit_whole(task, key, plan, seed)

    file = tmp_path / "fits.jsonl"
    words = ["bench", "large", "--epochs", "none", "--fits", "adagcn,gcn", "--keep", file]
    monkeypatch.setattr(large, "fit_whole", interrupted_at_gcn)
    outcome = run_cli(*words, "--no-memory")
    assert outcome.code == 130
    assert f"finished fits are in {file}" in outcome.stderr
    monkeypatch.setattr(large, "fit_whole", fit_whole)
    outcome = run_cli(*words, "--no-memory", "--hops", "--repetitions", "1")
    assert outcome.code == 0, outcome.stderr
    assert "1 of 2 fits read from the --keep file" in outcome.stdout
    assert "AdaGCN's hop" in outcome.stdout


def test_start_compares_fresh_processes(run_cli, monkeypatch):
    """Starting torch takes seconds; the command is the same for what starts at once."""
    assert start.STARTS["adagcn --help"] == ("-m", "adagcn.cli", "--help")
    quick = {start.REFERENCE: ("-c", "pass"), "adagcn": ("-c", "import adagcn")}
    monkeypatch.setattr(start, "STARTS", quick)
    (section,) = run_cli("bench", "start", "--repetitions", "2", "--json").facts["sections"]
    rows = {row["name"]: row for row in section["rows"]}
    assert rows[start.REFERENCE]["ratio"]["median"] == 1.0
    assert rows["adagcn"]["seconds"]["median"] > 0.0
    assert "beyond them" in run_cli("bench", "start", "--repetitions", "1").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["speed", "--peers", "pyg_gnc"], "Did you mean 'pyg_gcn'?"),
        (["speed", "--parts", "epochs"], "Did you mean 'epoch'?"),
        (["speed", "--figure", "x.pdf"], "AGC-I902"),
        (["large", "--fits", "apnp"], "Did you mean 'appnp'?"),
        (["speed", "--datasets", "coar"], "cora"),
        (["scale", "--axes", "node"], "Did you mean 'nodes'?"),
        (["estimates", "--full", "--repetitions", "2"], "--full and --repetitions would do no"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(run_cli, words, message):
    outcome = run_cli("bench", *words)
    assert outcome.code == 3
    assert message in outcome.stderr
    assert outcome.stdout == ""


@pytest.fixture
def record(run_cli, graph_file, tmp_path):
    told = run_cli(
        "bench", "speed", "--datasets", graph_file, "--parts", "epoch,depth", "--peers", "none",
        "--json",
    )  # fmt: skip
    path = tmp_path / "speed.json"
    path.write_text(told.stdout, "utf-8")
    return path


def test_a_record_shows_the_tables_again(run_cli, record, monkeypatch):
    from adagcn.cli import bench_show, bench_table

    monkeypatch.setenv("COLUMNS", "80")
    found = bench_show.read_measurement(record)
    with io.StringIO() as out:
        console = screen(file=out, width=80)
        bench_table.print_sections(found.sections, console)
        bench_table.print_machine(found.facts, found.noise, console)
        assert run_cli("bench", "show", record).stdout == out.getvalue()
    assert [section.key for section in found.sections] == ["epoch", "depth"]
    assert found.sections[0].rows[0].ratio.median == 1.0
    block = bench_show.measurement_markdown(record)
    assert block.startswith("```text\n")
    assert "a layer more" in block


def shown_again(run_cli, tmp_path, *words):
    """Record a benchmark, and return its sections and what is shown of them."""
    told = run_cli("bench", *words, "--json")
    path = tmp_path / "record.json"
    path.write_text(told.stdout, "utf-8")
    shown = run_cli("bench", "show", path)
    assert shown.code == 0
    return told.facts["sections"], " ".join(shown.stdout.split())


def test_a_record_of_updates_shows_every_hop_again(run_cli, tmp_path):
    sections, shown = shown_again(
        run_cli, tmp_path, "updates", "--edges", "10000", "--repetitions", "1"
    )
    assert [row["name"] for row in sections[0]["rows"]][1:] == ["hop 1", "hop 2", "hop 3", "all"]
    for section in sections:
        assert f"{section['dataset']}: {section['title']}" in shown
        assert f"{section['rows'][2]['facts']['reached']:.2%}" in shown
    one = run_cli("bench", "show", tmp_path / "record.json", "--section", "community, in a store")
    assert "the update of the store took" in one.stdout
    assert "scattered" not in one.stdout


def test_a_record_of_estimates_shows_every_case_again(run_cli, tmp_path, monkeypatch):
    tiny = estimate_cases.Case("tiny", "adagcn", "instant", 300, 8, 4, 50, 0)
    monkeypatch.setattr(estimate_cases, "CASES", (tiny,))
    monkeypatch.setattr(estimates, "_in_new_process", lambda fn, *words: fn(*words))
    (section,), shown = shown_again(run_cli, tmp_path, "estimates", "--case", "tiny")
    assert section["facts"]["times"][1] == 1
    assert "tiny" in shown
    assert f"within a factor of two: {section['facts']['times'][0]} of 1 times of fits" in shown


def test_sections_of_a_record_are_chosen_and_drawn(run_cli, record, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "one.svg"
    told = run_cli("bench", "show", record, "--section", "one epoch", "--figure", figure)
    assert "one epoch" in told.stdout
    assert "by depth" not in told.stdout
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    (title,) = run_cli("bench", "show", record, "--section", "by depth", "--json").facts["sections"]
    assert "by depth" in title
    refused = run_cli("bench", "show", record, "--section", "seconds of a fit")
    assert "no section has these words" in refused.stderr
    assert "one training step by depth" in refused.stderr


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"sections": [{"rows": [{}]}]}', '"speed"'])
def test_what_is_no_record_is_refused(run_cli, tmp_path, text):
    path = tmp_path / "record.json"
    path.write_text(text, "utf-8")
    told = run_cli("bench", "show", path)
    assert told.code != 0
    assert "is not a recorded measurement" in told.stderr
    assert "AGC-R2232" in run_cli("bench", "show", tmp_path / "none.json").stderr

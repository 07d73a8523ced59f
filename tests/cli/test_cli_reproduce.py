from __future__ import annotations

import numpy as np
import pytest

from adagcn.experiments import campaign
from adagcn.experiments.runs import execute

SPEC = """
title = "Two models on Cora"
splits = "val"
n_splits = 2
n_inits = 2

columns = [
  { label = "Cora, 5", dataset = "cora", train_per_class = 5 },
  { label = "Cora, 9", dataset = "cora", train_per_class = 9 },
]

[[rows]]
label = "weak"
model = "logistic"
settings = { C = 10.0 }
inits_on = { "Cora, 5" = 1 }

[[rows]]
label = "strong"
model = "logistic"
preset = "boosted"
settings = { C = 1e5 }
columns = ["Cora, 9"]
inits_on = { "Cora, 9" = 1 }

[paper.weak]
"Cora, 9" = [61.5, 0.4]
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "mine.toml"
    path.write_text(SPEC, "utf-8")
    return path


@pytest.fixture
def command(spec, tmp_path):
    return ["reproduce", spec, "--ledger", tmp_path / "ledger.sqlite"]


def test_a_spec_becomes_a_table(run_cli, command):
    outcome = run_cli(*command)
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout.startswith("Two models on Cora\n")
    assert "paper 61.50 ± 0.40" in outcome.stdout
    assert "Cora, 9: strong − weak" in outcome.stdout
    assert "Missing" not in outcome.stdout


def test_rows_of_json(run_cli, command):
    facts = run_cli(*command, "--json").facts
    places = [(row["label"], row["column"], row["n"]) for row in facts["rows"]]
    assert places == [("weak", "Cora, 5", 2), ("weak", "Cora, 9", 4), ("strong", "Cora, 9", 2)]
    assert {"model", "preset", "dataset", "n", "mean", "interval", "runs"} <= set(facts["rows"][0])
    assert facts["rows"][1]["difference"] == pytest.approx(facts["rows"][1]["mean"] - 0.615)


def test_an_export_prints_the_table_without_training(run_cli, command, tmp_path, monkeypatch):
    published = run_cli(*command)
    export = tmp_path / "export.jsonl.gz"
    assert run_cli("ledger", "export", export, *command[2:]).code == 0
    monkeypatch.setattr(campaign, "execute", lambda run, graph, split: pytest.fail("trained"))
    again = run_cli(*command[:2], "--ledger", tmp_path / "new.sqlite", "--import", export)
    assert again.stdout == published.stdout
    assert "8 new runs imported from" in again.stderr


def test_an_interrupted_experiment_says_what_is_kept(run_cli, command, monkeypatch):
    finished = []

    def interrupted(run, graph, split):
        if len(finished) == 3:
            raise KeyboardInterrupt
        finished.append(run)
        return execute(run, graph, split)

    monkeypatch.setattr(campaign, "execute", interrupted)
    outcome = run_cli(*command)
    assert (outcome.code, outcome.stdout) == (130, "")
    before, after = outcome.stderr.splitlines()
    assert "training 8 runs" in before
    assert "3 new runs are kept in" in after
    rows = run_cli(*command, "--no-training", "--json").facts["rows"]
    assert sum(row["n"] for row in rows) == 3


def test_what_is_to_be_trained_is_told_before(run_cli, command):
    first = run_cli(*command[:2], "--splits", 1, "--models", "logistic", *command[2:])
    assert "training 4 runs; " in first.stderr
    assert "has none like them to tell the time by" in first.stderr
    more = run_cli(*command)
    assert "training 4 runs: about " in more.stderr
    assert " of one core, going by the ledger\n" in more.stderr
    assert "training" not in run_cli(*command).stderr


def test_settings_of_single_columns(run_cli, spec, tmp_path):
    text = spec.read_text("utf-8").replace(
        'inits_on = { "Cora, 5" = 1 }', 'settings_on = { "Cora, 9" = { C = 0.1 } }'
    )
    mine = tmp_path / "on.toml"
    mine.write_text(text, "utf-8")
    words = ["reproduce", mine, "--ledger", tmp_path / "ledger.sqlite", "--json"]
    rows = run_cli(*words, "--splits", 1, "--inits", 1).facts["rows"]
    assert [row["settings"]["C"] for row in rows] == [10.0, 0.1, 1e5]
    assert rows[1]["mean"] != rows[2]["mean"]


@pytest.mark.parametrize(
    ("style", "start"),
    [
        ("md", "**Two models on Cora**\n"),
        ("csv", "label,model,preset,"),
        ("latex", "% needs"),
    ],
)
def test_forms(run_cli, command, style, start):
    outcome = run_cli(*command, "--no-training", "--format", style)
    assert outcome.stdout.startswith(start)


def test_choices_instead_of_accuracy(run_cli, command):
    outcome = run_cli(*command, "--choices")
    assert outcome.code == 0
    assert outcome.stdout.startswith("Two models on Cora: what was chosen\n")
    assert "No run here chose anything." in outcome.stdout
    assert run_cli(*command, "--no-training", "--choices", "--json").facts["choices"][0]["n"] == 2


def test_parts_of_an_experiment(run_cli, command):
    words = ["--presets", "tuned", "--splits", 1, "--inits", 1, "--no-training", "--json"]
    rows = run_cli(*command, *words).facts["rows"]
    assert [(row["label"], row["planned"]) for row in rows] == [("weak", 1), ("weak", 1)]
    rows = run_cli(*command, "--inits", 1, "--no-training", "--json").facts["rows"]
    assert [row["planned"] for row in rows] == [2, 2, 2]
    rows = run_cli(*command, "--columns", "5", "--no-training", "--json").facts["rows"]
    assert [(row["label"], row["column"]) for row in rows] == [("weak", "Cora, 5")]


def test_every_row_may_be_the_one_to_compare_with(run_cli, command):
    words = ["--columns", "Cora, 9", "--json"]
    weak, strong = run_cli(*command, *words).facts["rows"]
    first, other = run_cli(*command, *words, "--against", "strong").facts["rows"]
    assert (weak["label"], first["label"]) == ("weak", "strong")
    assert weak["against_first"] is first["against_first"] is None
    there, back = strong["against_first"], other["against_first"]
    assert back["difference"] == -there["difference"] != 0
    for kind in ("interval", "node_interval"):
        np.testing.assert_allclose(back[kind], [-bound for bound in there[kind][::-1]], atol=1e-9)


@pytest.mark.dataset
def test_the_shipped_tables_are_planned(run_cli, dataset_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))
    words = ["--no-training", "--json", "--ledger", tmp_path / "x", "--datasets", "cora_ml"]
    rows = run_cli("reproduce", "table2", *words).facts["rows"]
    planned = [(row["model"], row["preset"], row["planned"]) for row in rows]
    assert planned[:9] == [
        ("adagcn", "tuned", 100), ("adagcn", "boosted", 100), ("adagcn", "unweighted", 100),
        ("adagcn", "adaptive", 100), ("adagcn", "instant", 20),
        ("adagcn", "released", 20), ("adagcn", "paper", 20),
        ("adagcn", "released", 1), ("adagcn", "paper", 1),  # at the paper's own width
    ]  # fmt: skip
    often = {("gcn_es", "paper"), ("appnp", "paper")}
    for model, preset, count in planned[9:]:
        assert count == (100 if (model, preset) in often else 20)
    rows = run_cli("reproduce", "table3", *words, "--models", "adagcn").facts["rows"]
    assert [(row["preset"], row["train_per_class"], row["planned"]) for row in rows] == [
        ("tuned", 8, 100), ("tuned", 16, 100), ("adaptive", 8, 40), ("adaptive", 16, 40),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--splits", "3"], "--splits is more than the experiment has; got 3. Use at most 2"),
        (["--inits", "3"], "--inits is more than the experiment has; got 3. Use at most 2"),
        (["--presets", "boosted", "--inits", "2"], "got 2. Use at most 1"),
        (["--datasets", "pubmed"], "--datasets has an unknown name; got 'pubmed'"),
        (["--models", "adagcn"], "--models has an unknown name"),
        (["--columns", "7"], "got '7'. Use a part of one of 'Cora, 5', 'Cora, 9' [AGC-I2211]"),
        (["--against", "we"], "got 'we'. Use one of 'weak', 'strong' [AGC-I2212]"),
        (["--json", "--format", "md"], "--format cannot be combined with --json"),
        (["--import", "/nowhere/x"], "there is no exported ledger"),
    ],
)
def test_what_cannot_be_done_is_said(run_cli, command, words, message):
    outcome = run_cli(*command, "--no-training", *words)
    assert outcome.code == 3
    assert message in outcome.stderr


def test_a_faulty_spec_ends_before_any_run(run_cli, tmp_path, spec, monkeypatch):
    monkeypatch.setattr(campaign, "execute", lambda run, graph, split: pytest.fail("trained"))
    faulty = tmp_path / "faulty.toml"
    for old, new, message in [
        ("n_inits = 2", "n_init = 2", "unknown key n_init; got 2. Did you mean 'n_inits'"),
        ("train_per_class = 5", "train_per_class = 500", "column 'Cora, 5': the split val:0 needs"),
    ]:
        faulty.write_text(SPEC.replace(old, new), "utf-8")
        outcome = run_cli("reproduce", faulty, "--ledger", tmp_path / "ledger.sqlite")
        assert outcome.code == 3
        assert message in outcome.stderr


DEPTHS = """
title = "Depth on Cora"
splits = "val"
n_splits = 2
columns = [{ label = "Cora", dataset = "cora", train_per_class = 5 }]

[[rows]]
label = "AdaGCN"
model = "adagcn"
settings = { n_layers = 3, max_epochs = 2, hidden_units = 4 }

[[rows]]
label = "SGC"
model = "sgc"
settings = { max_epochs = 2 }
depths = [1, 3]
"""


@pytest.fixture
def depths(tmp_path):
    path = tmp_path / "depths.toml"
    path.write_text(DEPTHS, "utf-8")
    return ["reproduce", path, "--ledger", tmp_path / "ledger.sqlite"]


def test_a_sweep_over_depth_becomes_rows_and_a_figure(run_cli, depths, tmp_path):
    pytest.importorskip("matplotlib", reason="the figure needs the extra report")
    picture = tmp_path / "depth.svg"
    facts = run_cli(*depths, "--figure", picture, "--json").facts
    assert [row["label"] for row in facts["rows"]] == ["AdaGCN", "SGC, 1 layer", "SGC, 3 layers"]
    assert [row["settings"].get("n_layers") for row in facts["rows"]] == [3, 1, 3]
    first = picture.read_text("utf-8")
    assert first.startswith("<?xml")
    assert run_cli(*depths, "--figure", picture).code != 0  # it is there already
    assert run_cli(*depths, "--figure", picture, "--force").code == 0
    assert picture.read_text("utf-8") == first


def test_an_experiment_without_depths_has_nothing_to_draw(run_cli, command, tmp_path):
    outcome = run_cli(*command, "--figure", tmp_path / "depth.png")
    assert outcome.code != 0
    assert "nothing to draw" in outcome.stderr


COSTS = """
title = "What accuracy costs"
figure = "cost"
splits = "val"
n_splits = 2
columns = [{ label = "Cora", dataset = "cora" }]

[[rows]]
label = "ours"
model = "adagcn"
preset = "instant"
settings = { n_layers = 2 }

[[rows]]
label = "logistic"
model = "logistic"
splits_on = { Cora = 1 }
"""


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_text(COSTS, "utf-8")
    return ["reproduce", path, "--ledger", tmp_path / "ledger.sqlite", "--records", tmp_path]


def test_accuracy_stands_against_the_recorded_cost(run_cli, costs, tmp_path):
    pytest.importorskip("matplotlib", reason="the figure needs the extra report")
    picture = tmp_path / "costs.png"
    nothing = run_cli(*costs, "--figure", picture)
    assert nothing.code != 0
    assert "nothing to draw" in nothing.stderr
    assert "no fit is recorded" in nothing.stderr
    assert not (tmp_path / "fits.jsonl").exists()
    for system in (["adagcn", "--presets", "instant"], ["logistic"]):
        fits = ["bench", "fits", "--datasets", "cora", "--models", *system, "--runs", 1]
        assert run_cli(*fits, "--keep", tmp_path / "fits.jsonl").code == 0
    told = run_cli(*costs, "--figure", picture)
    assert told.code == 0, told.stderr
    assert picture.exists()
    # The spec's ridge has two layers, the measured one eight: another fit, whose cost is not known.
    assert "Cora: no recorded fit yet: ours." in told.stdout
    assert "Cora: nobody is at least as accurate and as fast as logistic (" in told.stdout
    (panel,) = run_cli(*costs, "--json").facts["costs"]
    assert panel["frontier"] == ["logistic"]
    assert panel["without_cost"] == ["ours"]
    assert [(each["n"], each["planned"]) for each in panel["points"]] == [(1, 1)]

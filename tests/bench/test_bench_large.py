from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_fixtures import no_tick

from adagcn.bench import large
from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.large import LargePlan, make_large_task, measure_large
from adagcn.bench.memory import data_bytes
from adagcn.cli.bench_large import _by_system
from adagcn.experiments.runs import resolved_params
from adagcn.experiments.spec_files import load_spec
from adagcn.models.support.registry import build_model

TINY = LargePlan(n_nodes=400, n_edges=2_000, repetitions=1, max_epochs=3, n_layers=2, memory=False)


@pytest.fixture(scope="module")
def sections():
    return list(measure_large(TINY, tick=no_tick))


def test_every_system_has_its_epoch_and_its_fit(sections):
    epoch, fit = sections
    assert [row.name for row in epoch.rows] == ["AdaGCN", "V.GCN", "APPNP", "PPNP"]
    assert [row.facts["hidden_units"] for row in epoch.rows] == [100, 16, 64, 64]
    names = [row.name for row in epoch.rows]
    others = ["AdaGCN, auto depth", "AdaGCN, adaptive", "AdaGCN, instant", "GCN", "SGC"]
    assert [row.name for row in fit.rows] == [*names, *others, "perceptron"]
    assert epoch.row("AdaGCN").ratio.median == fit.row("AdaGCN").ratio.median == 1.0
    for row in fit.rows:
        assert 0.0 <= row.facts["f1_macro"] <= 1.0
    assert fit.facts["peak_over_data"] is None


def test_f1_of_every_depth_ends_with_that_of_the_model(sections):
    facts = sections[1].row("AdaGCN").facts
    assert len(facts["f1_by_depth"]) == TINY.n_layers
    assert facts["f1_by_depth"][-1] == facts["f1_micro"]


def test_the_stopping_nodes_choose_a_depth():
    plan = replace(TINY, n_layers=9, fits=2)
    (fit,) = measure_large(plan, timed=[], fitted=["adagcn_auto"], tick=no_tick)
    facts = fit.row("AdaGCN, auto depth").facts
    assert max(facts["n_layers"]) < 9
    assert len(facts["f1_by_depth"]) == min(facts["n_layers"])


def test_several_runs_have_seeds_of_their_own_and_a_deviation(sections):
    assert sections[1].row("V.GCN").facts["f1_micro_deviation"] is None
    plan = replace(TINY, fits=3)
    (fit,) = measure_large(plan, timed=[], fitted=["gcn"], tick=no_tick)
    scores = [
        large.fit_whole(make_large_task(400, 2_000, 0), "gcn", plan, seed).micro
        for seed in range(3)
    ]
    facts = fit.row("V.GCN").facts
    assert len(set(scores)) > 1
    assert facts["f1_micro"] == pytest.approx(np.mean(scores))
    assert facts["f1_micro_deviation"] == pytest.approx(np.std(scores, ddof=1))


def test_settings_of_a_system_go_before_those_of_the_plan():
    settings = {"gcn_es": {"hidden_units": 7, "max_epochs": 2}, "adagcn": {"n_layers": 1}}
    plan = replace(TINY, settings=settings)
    kept = KeptFits(None)
    for given in (TINY, plan):
        (fit,) = measure_large(
            given, timed=[], fitted=["adagcn", "gcn_es", "sgc"], kept=kept, tick=no_tick
        )
    assert [row.facts["settings"] for row in fit.rows] == [{"n_layers": 1}, settings["gcn_es"], {}]
    assert len(fit.row("AdaGCN").facts["f1_by_depth"]) == 1
    words = [(each["system"], each["settings"]) for each, _ in kept.entries()]
    assert words == [
        ("adagcn", {"hidden_units": 100, "max_epochs": 3, "n_layers": 2}),
        ("gcn_es", {"max_epochs": 3}),
        ("sgc", {"max_epochs": 3}),
        ("adagcn", {"hidden_units": 100, "max_epochs": 3, "n_layers": 1}),
        ("gcn_es", {"hidden_units": 7, "max_epochs": 2}),
    ]
    assert fit.facts["fits_kept"] == 1  # SGC has the same settings in both


def test_only_what_is_asked_for_is_fitted():
    _, fit = measure_large(TINY, timed=["adagcn"], fitted=["gcn"], tick=no_tick)
    assert [(row.name, row.ratio) for row in fit.rows] == [("V.GCN", None)]
    (epoch,) = measure_large(TINY, timed=["ppnp"], fitted=[], tick=no_tick)
    assert [(row.name, row.ratio) for row in epoch.rows] == [("PPNP", None)]


def test_hops_are_propagated_in_every_way_where_asked_for():
    (section,) = measure_large(replace(TINY, hops=True), timed=[], fitted=[], tick=no_tick)
    assert (section.key, section.dataset) == ("propagation", "400 nodes")
    assert section.row("AdaGCN's hop").ratio is not None
    assert section.facts["n_columns"] == 602


def test_the_task_has_the_counts_and_shares_of_reddit():
    task = make_large_task(1_000, 10_000, seed=3)
    assert task.graph.features.shape == (1_000, 602)
    assert task.graph.n_classes == 41
    assert len(task.split.train_nodes) == 659
    assert len(task.split.stop_nodes) == 100
    assert 9_000 < task.graph.adjacency.nnz / 2 <= 10_000
    assert data_bytes(task.graph) > task.graph.features.nbytes
    same = make_large_task(1_000, 10_000, seed=3)
    assert np.array_equal(task.graph.features, same.graph.features)


def test_memory_is_that_of_a_fit(monkeypatch):
    asked = []
    monkeypatch.setattr(
        large, "peak_growth", lambda make, use, words, warm_up: asked.append(words) or 5
    )
    plan = LargePlan(n_nodes=400, n_edges=2_000, repetitions=1, max_epochs=2, n_layers=2)
    (fit,) = measure_large(plan, timed=[], fitted=["adagcn"], tick=no_tick)
    assert asked == [(400, 2_000, 0, {})]
    assert fit.facts["peak_over_data"] == 5 / fit.facts["data_bytes"]


def test_the_memory_is_that_of_the_settings():
    task, plan = large._short_fit(600, 3_000, 0, {"hidden_units": 7})
    assert large._settings("adagcn", plan)["hidden_units"] == 7
    assert (plan.max_epochs, plan.n_layers, task.graph.n_nodes) == (3, 3, 600)


def test_a_title_says_every_limit_on_epochs_and_how_many_runs():
    plan = replace(TINY, max_epochs=500, settings={"ppnp": {"max_epochs": 100}})
    assert large._fit_title(plan, ["adagcn", "gcn_es"]) == (
        "whole fits of at most 500 epochs (each layer, for AdaGCN); 1 run"
    )
    plan = replace(plan, fits=3, homophily=0.1)
    assert large._fit_title(plan, ["adagcn", "adagcn_instant", "ppnp"]) == (
        "whole fits of at most 500 epochs (each layer, for AdaGCN; AdaGCN, instant: as its preset "
        "says; PPNP: at most 100 epochs); 3 runs, homophily 0.1, F1 with their standard deviation"
    )


def test_a_graph_of_another_homophily_is_another_fit():
    kept = KeptFits(None)
    plans = TINY, replace(TINY, homophily=0.9)
    found = [
        next(iter(measure_large(plan, timed=[], fitted=["sgc"], kept=kept, tick=no_tick)))
        for plan in plans
    ]
    assert [section.facts["homophily"] for section in found] == [0.2, 0.9]
    assert [words["graph"]["homophily"] for words, _ in kept.entries()] == [0.2, 0.9]
    scores = [section.rows[0].facts["f1_micro"] for section in found]
    assert scores[1] > scores[0]


def test_fits_on_record_are_still_found():
    """A new option must not change what a fit of before is known by."""
    record = KeptFits(Path(__file__).parents[2] / "results" / "large_fits.jsonl")
    words = {each["system"]: each for each, _ in record.entries()}
    task = make_large_task(400, 2_000, 0)
    for key, each in words.items():
        now = large._words(task, key, large.FULL, each["seed"])
        assert now["settings"] == each["settings"]
        assert set(now) == set(each)
        sizes = {"n_nodes", "n_edges", "n_train", "n_stop"}
        kept = {name: value for name, value in each["graph"].items() if name not in sizes}
        assert {n: v for n, v in now["graph"].items() if n not in sizes} == kept


# The same search for everybody: which key of `bench large` is which row of table4.toml.
TABLE4 = {
    "AdaGCN, tuned": "adagcn",
    "AdaGCN, adaptive": "adagcn_adaptive",
    "AdaGCN, instant": "adagcn_instant",
    "GCN": "gcn_es",
    "SGC": "sgc",
    "APPNP": "appnp",
    "PPNP": "ppnp",
    "perceptron, without edges": "mlp",
}


def documented_words():
    """Return the command that takes what table4 found to the full size, as in the documentation."""
    page = Path(__file__).parents[2] / "docs" / "performance.md"
    (command,) = re.findall(
        r"^adagcn bench large [^\n]*--max-epochs 500 (?:.*\\\n)+.*$", page.read_text("utf-8"), re.M
    )
    return shlex.split(command.replace("\\\n", " "))


def settings_of(words):
    return [words[place + 1] for place, word in enumerate(words) if word == "--set"]


def test_what_table4_chooses_can_be_fitted_at_full_size():
    spec = load_spec("table4")
    assert [row.label for row in spec.rows] == list(TABLE4)
    words = documented_words()
    assert words[words.index("--fits") + 1].split(",") == list(TABLE4.values())
    fitted = list(TABLE4.values())
    given = _by_system(settings_of(words), fitted)
    graph = make_large_task(400, 2_000, 0).graph
    for row in spec.rows:
        key = TABLE4[row.label]
        # A long fit of PPNP and of APPNP would take hours, which the table says.
        named = {
            name: v for name, v in given.get(key, {}).items() if (name, v) != ("max_epochs", 100)
        }
        assert set(row.grid) == set(named) - set(row.settings)
        for candidate in spec.candidates_of(row):
            pairs = [f"{key}.{name}={candidate[name]}" for name in named]
            plan = replace(large.FULL, max_epochs=500, settings=_by_system(pairs, fitted))
            model = large.large_model(graph, key, plan, 0)
            expected = build_model(row.model, graph, preset=row.preset, settings=candidate)
            assert type(model) is type(expected)
            assert resolved_params(model) == resolved_params(expected), row.label


def test_only_the_longest_fits_are_cut_short():
    given = _by_system(settings_of(documented_words()), list(TABLE4.values()))
    limits = {key: each["max_epochs"] for key, each in given.items() if "max_epochs" in each}
    assert limits == {"appnp": 100, "ppnp": 100}

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from bench_fixtures import tiny_task

from adagcn.bench import whole_fits
from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.whole_fits import (
    System,
    measure_fits,
    place_of,
    recorded_costs,
    settings_digest,
    warm_up,
)
from adagcn.cli.bench_fits import registered_systems
from adagcn.errors import FormatError
from adagcn.models.support.registry import MODELS

QUICK = [
    System("ridge", "adagcn", "instant", {"n_layers": 2}),
    System("logistic", "logistic", "tuned", {}),
    System("propagated", "label_propagation", "paper", {}, left_out=("tiny",)),
]


@pytest.fixture(scope="module")
def task():
    task = tiny_task()
    return replace(task, graph=replace(task.graph, name="tiny"))


def measured(task, kept, systems=QUICK, runs=2):
    return list(measure_fits([task], systems, kept, dict, runs=runs, threads=1))


def test_systems_take_turns_and_what_is_left_out_is_not_fitted(task, tmp_path):
    kept = KeptFits(tmp_path / "fits.jsonl")
    assert measured(task, kept) == ["ridge on tiny", "logistic on tiny"] * 2
    lines = [json.loads(line) for line in (tmp_path / "fits.jsonl").read_text().splitlines()]
    assert [line["fit"]["seed"] for line in lines] == [0, 0, 1, 1]
    processor, costs = recorded_costs(kept)
    assert processor == lines[0]["fit"]["processor"]
    assert set(costs) == {place_of(system, task.graph) for system in QUICK[:2]}
    for cost in costs.values():
        assert cost.n == 2
        assert cost.fit_seconds > 0.0
        assert cost.seconds == cost.fit_seconds + cost.predict_seconds
        assert 0.3 < cost.accuracy <= 1.0


def test_what_is_recorded_is_not_fitted_again(task, tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    measured(task, KeptFits(path), runs=1)
    text = path.read_text()
    monkeypatch.setattr(whole_fits, "fit_once", lambda *_: pytest.fail("fitted again"))
    assert len(measured(task, KeptFits(path), runs=1)) == 2
    assert path.read_text() == text


def test_a_long_fit_is_not_repeated(task, monkeypatch):
    monkeypatch.setattr(whole_fits, "LONG_SECONDS", 0.0)
    kept = KeptFits(None)
    measured(task, kept, runs=3)
    assert {cost.n for cost in recorded_costs(kept)[1].values()} == {1}


def test_other_settings_are_another_fit(task):
    assert settings_digest("gcn", {"a": 1, "b": None}) == settings_digest("gcn", {"a": 1})
    assert settings_digest("gcn", {"a": 1}) != settings_digest("gcn", {"a": 2})
    assert settings_digest("gcn", {"a": 1}) != settings_digest("sgc", {"a": 1})
    wider = System("ridge", "adagcn", "instant", {"n_layers": 3})
    assert place_of(wider, task.graph) != place_of(QUICK[0], task.graph)


def entry(processor, settings, seconds, seed=0, threads=1):
    words = {"processor": processor, "settings": settings, "dataset": "d", "seed": seed}
    result = {"fit_cpu_seconds": seconds, "predict_cpu_seconds": 0.0, "seconds": 2 * seconds}
    return {**words, "threads": threads}, {**result, "accuracy": 0.5}


def test_times_of_two_processors_are_never_mixed():
    kept = KeptFits(None)
    for words, result in (
        entry("slow", "a", 9.0), entry("slow", "b", 8.0), entry("slow", "b", 99.0, threads=2),
        entry("fast", "a", 1.0), entry("fast", "a", 2.0, seed=1), entry("fast", "a", 9.0, seed=2),
    ):  # fmt: skip
        kept.add(words, result)
    processor, costs = recorded_costs(kept)
    assert processor == "fast"
    assert list(costs) == [("a", "d")]
    assert (costs["a", "d"].fit_seconds, costs["a", "d"].clock_share) == (2.0, 2.0)


def test_a_record_of_something_else_is_refused():
    kept = KeptFits(None)
    kept.add({"part": "sets"}, {"accuracy": 0.5})
    with pytest.raises(FormatError, match=r"other fits than those of adagcn bench fits.*F2201"):
        recorded_costs(kept)


def test_nothing_recorded_is_nothing():
    assert recorded_costs(KeptFits(None)) == (None, {})


def test_every_system_of_the_registry_is_there_once():
    systems, four = registered_systems()
    assert {system.model for system in systems} == set(MODELS)
    assert four == ["citeseer", "cora_ml", "pubmed", "ms_academic"]
    fitted = {(s.model, s.preset, str(s.settings), s.left_out) for s in systems}
    assert len(fitted) == len(systems)
    named = {(s.model, s.preset) for s in systems}
    assert {("gcn", "paper"), ("sgc", "paper"), ("bt_fp", "paper")} <= named
    assert {("fastgcn", "paper"), ("appnp", "adagcn_paper")} <= named


@pytest.mark.full
@pytest.mark.parametrize("system", registered_systems()[0], ids=lambda system: system.label)
@pytest.mark.filterwarnings("ignore::adagcn.errors.AdaGCNWarning")
def test_every_system_can_warm_up(system):
    warm_up(system)

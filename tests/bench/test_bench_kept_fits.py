from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench_fixtures import no_tick

from adagcn.bench import large
from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.large import LargePlan, measure_large
from adagcn.errors import FormatError, ResourceError

TINY = LargePlan(n_nodes=400, n_edges=2_000, max_epochs=2, n_layers=2, memory=False)


def _measured(path: Path, plan: LargePlan = TINY, seed: int = 0):
    """Return the section on fits of two systems."""
    (section,) = measure_large(
        plan, timed=[], fitted=["adagcn", "gcn"], kept=KeptFits(path), seed=seed, tick=no_tick
    )
    return section


def test_what_is_on_record_is_not_done_again(tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    before = _measured(path)
    assert before.facts["fits_kept"] == 0
    monkeypatch.setattr(large, "fit_whole", lambda *_: pytest.fail("fitted again"))
    after = _measured(path)
    assert after.facts["fits_kept"] == 2
    assert after.rows == before.rows


def test_an_interrupted_measurement_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    done = []
    fit_whole = large.fit_whole

    def interrupted(task, key, plan, seed):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append((key, seed))
        return fit_whole(task, key, plan, seed)

    monkeypatch.setattr(large, "fit_whole", interrupted)
    plan = replace(TINY, fits=2)
    with pytest.raises(KeyboardInterrupt):
        _measured(path, plan)
    monkeypatch.setattr(large, "fit_whole", fit_whole)
    assert _measured(path, plan).facts["fits_kept"] == 3
    assert done == [("adagcn", 0), ("gcn", 0), ("adagcn", 1)]


@pytest.mark.parametrize(
    ("plan", "seed"),
    [(replace(TINY, max_epochs=3), 0), (replace(TINY, n_nodes=300), 0), (TINY, 1)],
)
def test_another_fit_is_done(tmp_path, plan, seed):
    path = tmp_path / "fits.jsonl"
    _measured(path)
    assert _measured(path, plan, seed).facts["fits_kept"] == 0
    assert len(path.read_text().splitlines()) == 4


def test_another_number_of_layers_is_another_fit_of_adagcn_alone(tmp_path):
    path = tmp_path / "fits.jsonl"
    _measured(path)
    assert _measured(path, replace(TINY, n_layers=1)).facts["fits_kept"] == 1


def test_other_circumstances_make_another_fit(tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    _measured(path)
    monkeypatch.setattr(large, "circumstances", lambda: {"threads": 99})
    assert _measured(path).facts["fits_kept"] == 0


@pytest.mark.parametrize(
    "line", ["{", "[]", "1", '{"fit": {}}', '{"fit": {}, "result": 1}', "\xff"]
)
def test_a_file_of_something_else_is_refused(tmp_path, line):
    path = tmp_path / "fits.jsonl"
    path.write_text('{"fit": {}, "result": {}}\n' + line + "\n", encoding="latin-1")
    with pytest.raises(FormatError, match="is not a recorded fit"):
        KeptFits(path)


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(ResourceError, match="cannot be read and written"):
        KeptFits(tmp_path / "nowhere" / "fits.jsonl")

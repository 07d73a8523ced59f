from __future__ import annotations

import experiment_fixtures as toy
import pytest

from adagcn.experiments.campaign import plan
from adagcn.experiments.ledger import Ledger
from adagcn.experiments.standing import standing, typical_seconds

ROWS = [
    {"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK},
    {"label": "again", "model": "adagcn", "settings": toy.QUICK},
    {"label": "unknown", "model": "logistic"},
]


@pytest.fixture
def cells():
    return plan(toy.toy_spec(rows=ROWS, n_inits=1), toy.GRAPHS)


def test_what_is_missing_is_counted_and_its_time_taken_from_like_runs(cells, tmp_path):
    first, second = cells[0].runs
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.add(first, toy.some_result(0.5, seconds=9.0, fit_cpu_seconds=4.0))
        seconds = typical_seconds(ledger.rows())
        results = ledger.results([first, second])
    found = standing(cells, results, seconds)
    assert (found.finished, found.planned) == (1, 4)  # the second row has the runs of the first
    assert [(gap.row, gap.finished, gap.missing) for gap in found.gaps] == [
        ("AdaGCN", 1, 1), ("again", 1, 1), ("unknown", 0, 2),
    ]  # fmt: skip
    assert [gap.seconds for gap in found.gaps] == [4.0, 4.0, None]
    assert (found.seconds, found.n_unknown) == (4.0, 2)


def test_nothing_is_missing_where_all_runs_are_there(cells):
    everything = {run.key: toy.some_result(0.5) for cell in cells for run in cell.runs}
    found = standing(cells, everything, {})
    assert (found.finished, found.planned, found.gaps, found.seconds) == (4, 4, (), 0.0)


def test_seconds_by_the_clock_stand_in_for_older_runs(cells, tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.add(cells[0].runs[0], toy.some_result(0.5, seconds=9.0))
        seconds = typical_seconds(ledger.rows())
    run = cells[0].runs[0]
    assert seconds == {
        (run.model, run.preset, run.dataset): 9.0,
        (run.model, run.dataset): 9.0,
    }

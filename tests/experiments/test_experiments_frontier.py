from __future__ import annotations

import experiment_fixtures as toy
import pytest

from adagcn.experiments.campaign import plan
from adagcn.experiments.frontier import CostPanel, CostPoint, cost_panels, frontier_notes
from adagcn.experiments.outcome import outcomes


def point(label, mean, seconds, *, is_ours=False, n=20):
    return CostPoint(label, "Toy", is_ours, mean, None, seconds, n, 20)


OURS = (point("quick", 0.7, 1.0, is_ours=True), point("good", 0.8, 5.0, is_ours=True))


def panel(*others):
    return CostPanel("Toy", (*OURS, *others), (), ())


def labels(points):
    return [each.label for each in points]


def test_the_frontier_has_who_nobody_is_as_accurate_and_as_fast_as():
    found = panel(point("slow", 0.75, 6.0), point("twin", 0.8, 5.0), point("top", 0.9, 50.0))
    assert labels(found.frontier) == ["quick", "good", "top"]


@pytest.mark.parametrize(
    ("mean", "seconds", "is_beyond"),
    [
        (0.81, 0.9, True),
        (0.81, 1.0, False),  # as fast as one of ours, not faster
        (0.80, 0.9, False),  # as accurate as one of ours, not more
        (0.90, 2.0, False),  # beats one of ours in both, the other in accuracy only
    ],
)
def test_a_system_is_beyond_ours_if_it_beats_every_preset_in_both(mean, seconds, is_beyond):
    found = panel(point("rival", mean, seconds))
    assert labels(found.beyond_ours) == (["rival"] if is_beyond else [])
    said = frontier_notes([found])[0]
    if is_beyond:
        assert said == "Toy: both more accurate and faster than every preset of ours: " + (
            f"rival ({100 * mean:.2f} %, {seconds:.2g} s)."
        )
    else:
        assert said.startswith("Toy: no system is both more accurate and faster than every preset")


def test_what_is_missing_is_said():
    found = CostPanel("Toy", (point("short", 0.5, 1.0, n=3),), ("a, b", "c"), ("d",))
    assert frontier_notes([found])[1:] == [
        "Toy: no accuracy yet: a, b; c.",
        "Toy: no recorded fit yet: d.",
        "Toy: fewer runs than planned: short, 3 of 20.",
    ]
    assert not any("ours: " in sentence for sentence in frontier_notes([found]))


def test_a_system_with_fewer_splits_is_placed_by_its_difference_on_these():
    rows = [
        {"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK},
        {"label": "few", "model": "logistic", "n_splits": 1},
        {"label": "none", "model": "mlp"},
    ]
    cells = plan(toy.toy_spec(rows=rows, n_inits=1), toy.GRAPHS)
    accuracy = {("AdaGCN", 0): 0.8, ("AdaGCN", 1): 0.6, ("few", 0): 0.79}
    results = {
        run.key: toy.some_result(accuracy[cell.row.label, int(run.split[-1])])
        for cell in cells
        for run in cell.runs
        if cell.row.label != "none"
    }
    found = outcomes(cells, results)
    (made,) = cost_panels(found, {("AdaGCN", "Toy"): 2.0, ("few", "Toy"): 1.0})
    first, few = made.points
    assert (first.mean, first.seconds, first.is_ours) == (pytest.approx(0.7), 2.0, True)
    assert (few.mean, few.n, few.is_ours) == (pytest.approx(0.69), 1, False)  # not 0.79
    assert made.without_runs == ("none",)
    (without,) = cost_panels(found, {})
    assert without.points == ()
    assert without.without_cost == ("AdaGCN", "few")

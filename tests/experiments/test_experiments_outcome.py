"""From finished runs to curves over depth and to leads that depend on the number of labels."""

from __future__ import annotations

from dataclasses import replace

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.errors import InputError
from adagcn.experiments.campaign import plan
from adagcn.experiments.choice_table import choice_table, json_choices, render_choices
from adagcn.experiments.outcome import against_best, outcomes
from adagcn.experiments.outcome_tables import accuracy_table, json_rows
from adagcn.experiments.runs import nodes_digest, packed
from adagcn.experiments.tables import render
from adagcn.report.experiment_figures import depth_curves, unfinished_curves

RATES = [
    {"label": "many", "dataset": "toy", "train_per_class": 6},
    {"label": "few", "dataset": "toy", "train_per_class": 3},
]


def by_rate(accuracy, *, missing=(), columns=RATES):
    """Return spec and outcomes with accuracies by (row, column, split)."""
    spec = toy.toy_spec(columns=columns, n_inits=1)
    cells = plan(spec, toy.GRAPHS)
    results = {
        run.key: toy.some_result(accuracy(cell.row.label, cell.column.label, int(run.split[-1])))
        for cell in cells
        for run in cell.runs
        if (cell.row.label, cell.column.label) not in missing
    }
    return spec, outcomes(cells, results)


def leads(row, column, split):
    lead = {"many": [0.10, 0.20], "few": [0.05, 0.35]}[column][split]
    return 0.5 + (lead if row == "logistic" else 0.0)


def test_a_lead_is_compared_with_the_one_at_the_most_labels():
    spec, found = by_rate(leads)
    rows = {(row["label"], row["column"]): row for row in json_rows(spec, found)}
    assert rows["logistic", "many"]["against_most_labels"] is None  # it is that column
    assert rows["AdaGCN", "few"]["against_most_labels"] is None  # the first row leads nobody
    interaction = rows["logistic", "few"]["against_most_labels"]
    # Leads of 0.05 and 0.35 less those of 0.10 and 0.20.
    assert interaction["difference"] == pytest.approx(np.mean([-0.05, 0.15]))
    assert (interaction["n_splits"], interaction["n_runs"]) == (2, 2)


def test_the_table_says_it_in_a_note():
    spec, found = by_rate(leads)
    text = render(accuracy_table(spec, found), "md")
    assert "few: logistic − AdaGCN − the same on many: +5.00" in text
    assert "many: logistic − AdaGCN − the same" not in text


def test_wrong_labels_are_no_label_rate():
    noisy = {"label": "noisy", "dataset": "toy", "train_per_class": 9, "label_noise": 0.2}
    spec, found = by_rate(
        lambda row, column, split: leads(row, "few" if column == "noisy" else column, split),
        columns=[noisy, *RATES],
    )
    text = render(accuracy_table(spec, found), "md")
    assert "few: logistic − AdaGCN − the same on many: +5.00" in text
    assert "noisy: logistic − AdaGCN:" in text
    assert "noisy: logistic − AdaGCN −" not in text


@pytest.mark.parametrize("missing", [("logistic", "many"), ("AdaGCN", "few")])
def test_without_all_four_cells_nothing_is_said(missing):
    spec, found = by_rate(leads, missing=[missing])
    assert all(row["against_most_labels"] is None for row in json_rows(spec, found))


def test_curves_come_from_staged_fits_and_from_rows_at_several_depths():
    rows = [
        {"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK},
        {"label": "SGC", "model": "sgc", "depths": [1, 3]},
    ]
    cells = plan(toy.toy_spec(rows=rows, n_inits=1), toy.GRAPHS)
    results = {}
    for cell in cells:
        for run, accuracy in zip(cell.runs, (0.6, 0.8), strict=True):
            point = accuracy + (0.1 if cell.row.label == "SGC, 3 layers" else 0.0)
            staged = [0.25, point] if run.model == "adagcn" else [point]
            results[run.key] = toy.some_result(point, accuracy_by_depth=staged)
    panel = depth_curves(outcomes(cells, results))["Toy"]
    assert panel["AdaGCN"].depths == (1, 2)
    np.testing.assert_allclose(panel["AdaGCN"].mean, [0.25, 0.7])
    assert panel["SGC"].depths == (1, 3)
    np.testing.assert_allclose(panel["SGC"].mean, [0.7, 0.8])
    assert panel["SGC"].n == (2, 2)
    assert unfinished_curves(outcomes(cells, results)) == {"Toy": {}}
    of_sgc = {run.key for cell in cells for run in cell.runs if run.model == "sgc"}
    lacking = outcomes(cells, {key: results[key] for key in results if key not in of_sgc})
    assert unfinished_curves(lacking) == {"Toy": {"SGC": (0, 4)}}


GRID_ROWS = [
    {"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK},
    {"label": "chosen", "model": "logistic", "grid": {"C": [1.0, 10.0, 100.0]}},
]


def chosen(stop, scored, *, unfinished=()):
    """Return spec and outcome of a grid with accuracies by (split, C)."""
    spec = toy.toy_spec(rows=GRID_ROWS, n_inits=1)
    (*_, cell) = cells = plan(spec, toy.GRAPHS)
    at = {run.key: (int(run.split[-1]), run.params["C"]) for run in cell.runs}
    results = {
        key: toy.some_result(scored[place], stop_accuracy=stop[place])
        for key, place in at.items()
        if place not in unfinished
    }
    return spec, cell, outcomes(cells, results)[-1]


STOP = {
    (0, 1.0): 0.5,
    (0, 10.0): 0.7,
    (0, 100.0): 0.7,
    (1, 1.0): 0.9,
    (1, 10.0): 0.8,
    (1, 100.0): 0,
}
SCORED = {
    (0, 1.0): 0.9,
    (0, 10.0): 0.2,
    (0, 100.0): 0.8,
    (1, 1.0): 0.3,
    (1, 10.0): 0.9,
    (1, 100.0): 1,
}


def test_a_grid_is_chosen_from_on_the_stopping_nodes_of_each_split():
    spec, cell, found = chosen(STOP, SCORED)
    assert len(cell.runs) == 6
    # The first of equals, and whatever the scored nodes say.
    assert found.accuracy.tolist() == [[0.2], [0.3]]
    assert [run.params["C"] for run, _ in found.finished] == [10.0, 1.0]
    table = accuracy_table(spec, [found])
    assert table.rows[1].cells[0].n == table.rows[1].cells[0].planned == 2
    note = "chosen: on each split the best of 3 settings on the stopping nodes (C 1.0 or 10.0 or"
    assert any(each.startswith(note) for each in table.notes)


def test_a_split_counts_once_its_whole_grid_is_finished():
    _, _, found = chosen(STOP, SCORED, unfinished=[(1, 100.0)])
    assert [run.split[-1] for run, _ in found.finished] == ["0"]


def tried_on_the_first(n_splits, results_of, *, splits=3):
    """Return spec, cell and outcome of a grid that is tried on the first splits alone."""
    rows = [GRID_ROWS[0], {**GRID_ROWS[1], "grid_splits": n_splits}]
    spec = toy.toy_spec(rows=rows, n_splits=splits, n_inits=1)
    (*_, cell) = cells = plan(spec, toy.GRAPHS)
    results = {
        run.key: toy.some_result(0.5 + 0.01 * run.params["C"] ** 0.5, stop_accuracy=accuracy)
        for run in cell.runs
        if (accuracy := results_of(int(run.split[-1]), run.params["C"])) is not None
    }
    return spec, cell, results, outcomes(cells, results)[-1]


def test_a_grid_that_is_tried_on_the_first_splits_is_chosen_for_all():
    # By split and C: 10 is the best of the first two splits together, of neither alone.
    stop = {(0, 1.0): 0.9, (0, 10.0): 0.8, (0, 100.0): 0.0, (1, 1.0): 0.0, (1, 10.0): 0.8}
    stop |= {(1, 100.0): 0.9, (2, 1.0): 1.0, (2, 10.0): 0.1}
    spec, cell, _, found = tried_on_the_first(2, lambda *place: stop.get(place))
    assert [run.params["C"] for run, _ in found.finished] == [10.0] * 3
    assert found.accuracy.tolist() == [[pytest.approx(0.5 + 0.01 * 10**0.5)]] * 3
    notes = accuracy_table(spec, [found]).notes
    assert "chosen: on the first 2 splits the best of 3 settings on the stopping nodes" in notes[0]
    assert notes[0].endswith("(C 1.0 or 10.0 or 100.0), for all splits.")
    assert len(cell.places) == 3


def test_only_what_a_choice_needs_is_trained():
    _, cell, none, _ = tried_on_the_first(1, lambda *_: None)
    assert [run.split[-1] for run in cell.due(none)] == ["0"] * 3
    assert len(cell.due(none, foreseen=True)) == 5
    _, _, some, found = tried_on_the_first(1, lambda *place: 0.5 if place < (0, 100) else None)
    assert [run.split[-1] for run in cell.due(some)] == ["0"] * 3
    assert not found.finished  # as long as the choice is open
    _, _, tried, found = tried_on_the_first(1, lambda split, c: None if split else c / 100)
    due = [(int(run.split[-1]), run.params["C"]) for run in cell.due(tried)]
    assert due == [(0, 1.0), (0, 10.0), (0, 100.0), (1, 100.0), (2, 100.0)]
    assert [run.params["C"] for run, _ in found.finished] == [100.0]


def test_grid_splits_without_a_grid_are_refused():
    rows = [GRID_ROWS[0], {"label": "b", "model": "logistic", "grid_splits": 1}]
    with pytest.raises(InputError, match=r"rows\[1\]: grid_splits says where.*got 1.*AGC-I2230"):
        toy.toy_spec(rows=rows)


@pytest.mark.parametrize(
    ("grid", "words"),
    [({"Q": [1.0]}, r"rows\[1\].grid is unknown"), ({"C": [1.0, -1.0]}, r"rows\[1\].grid: C")],
)
def test_a_grid_is_checked_before_any_run(grid, words):
    with pytest.raises(InputError, match=words):
        toy.toy_spec(rows=[GRID_ROWS[0], {**GRID_ROWS[1], "grid": grid}])


def test_the_best_other_model_is_picked_on_one_half_and_compared_on_the_other():
    rows = [
        GRID_ROWS[0],
        {"label": "own", "model": "adagcn", "settings": {**toy.QUICK, "n_layers": 1}},
        {"label": "lucky", "model": "logistic", "settings": {"C": 1.0}},
        {"label": "steady", "model": "logistic", "settings": {"C": 10.0}},
    ]
    spec = toy.toy_spec(rows=rows, n_splits=4, n_inits=1, against_best=True)
    by_row = {
        "AdaGCN": [0.1, 0.6, 0.1, 0.7],
        "own": [1.0, 1.0, 1.0, 1.0],  # the same model is no other one
        "lucky": [0.8, 0.3, 0.8, 0.2],
        "steady": [0.7, 0.9, 0.7, 0.9],
    }
    cells = plan(spec, toy.GRAPHS)
    results = {
        run.key: toy.some_result(by_row[cell.row.label][int(run.split[-1])])
        for cell in cells
        for run in cell.runs
    }
    found = outcomes(cells, results)
    ((picked, pair),) = against_best(found)
    assert picked.cell.row.label == "lucky"
    assert (pair.difference, pair.n_splits) == (pytest.approx(np.mean([0.3, 0.5])), 2)
    text = render(accuracy_table(spec, found), "md")
    assert "AdaGCN − lucky, the best other model on the even splits: +40.00" in text
    assert "The interval over splits" not in text  # no goal, nothing to reach
    silent = toy.toy_spec(rows=rows, n_splits=4, n_inits=1)
    assert "even splits" not in render(accuracy_table(silent, found), "md")


def scored(rows, **changes):
    """Return spec and outcomes with the accuracies of every row, split by split."""
    fields = [{"label": "AdaGCN", "model": "adagcn", "settings": toy.QUICK}] + [
        {"label": label, "model": "logistic", "settings": {"C": float(strength)}}
        for strength, label in enumerate(rows)
        if label != "AdaGCN"
    ]
    n_splits = len(rows["AdaGCN"])
    spec = toy.toy_spec(rows=fields, n_splits=n_splits, n_inits=1, **changes)
    cells = plan(spec, toy.GRAPHS)
    results = {
        run.key: toy.some_result(rows[cell.row.label][int(run.split[-1])])
        for cell in cells
        for run in cell.runs
    }
    return spec, outcomes(cells, results)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ([0.9, 0.5, 0.9, 0.5, 0.9, 0.5], "The interval over splits lies above −0.50."),
        ([0.9, 0.5, 0.9, 0.496, 0.9, 0.493], "The interval over splits reaches −0.50."),
        ([0.9, 0.494, 0.9, 0.493, 0.9, 0.492], "The interval over splits stays below −0.50."),
    ],
)
def test_the_notes_say_if_the_difference_from_the_best_reaches_the_goal(first, words):
    rows = {"AdaGCN": first, "other": [0.5] * 6}
    spec, found = scored(rows, against_best=True, goal=-0.5)
    (note,) = [each for each in accuracy_table(spec, found).notes if "even splits" in each]
    assert note.endswith(words)


def test_one_odd_split_leaves_the_goal_open():
    rows = {"AdaGCN": [0.9, 0.5], "other": [0.5, 0.5]}
    spec, found = scored(rows, against_best=True, goal=-0.5)
    assert any(
        "whether it reaches −0.50 is open" in each for each in accuracy_table(spec, found).notes
    )


def test_the_notes_say_which_rows_are_significantly_below_a_control():
    rows = {
        "AdaGCN": [0.8, 0.7, 0.8, 0.7],
        "unsure": [0.2, 0.7, 0.3, 0.9],  # below on average, not beyond doubt
        "blind": [0.4, 0.4, 0.3, 0.4],
        "control": [0.5, 0.6, 0.5, 0.6],
        "other control": [0.1, 0.1, 0.1, 0.1],
    }
    spec, found = scored(rows, controls=["control", "other control"])
    notes = accuracy_table(spec, found).notes
    assert "blind is below control on Toy (−17.50)." in notes
    assert "Nowhere below control or other control: AdaGCN, unsure." in notes
    without, found = scored(rows)
    assert not [each for each in accuracy_table(without, found).notes if "below" in each]


def test_a_row_without_runs_is_not_said_to_be_above_a_control():
    rows = {"AdaGCN": [0.8, 0.7, 0.8, 0.7], "control": [0.5, 0.6, 0.5, 0.6]}
    spec, found = scored(rows, controls=["control"])
    nothing = [replace(each, finished=()) for each in found]
    one = [replace(each, finished=each.finished[:1]) for each in found]
    for some in (nothing, one, [found[0], nothing[1]]):
        notes = accuracy_table(spec, some).notes
        assert "Not below control so far, with runs missing: AdaGCN." in notes
        assert not [each for each in notes if each.startswith("Nowhere")]


def test_fresh_runs_are_scored_on_unseen_nodes_as_well():
    spec = toy.toy_spec(n_splits=1, n_inits=1)
    (cell, _) = plan(spec, toy.GRAPHS)
    (split,) = cell.splits
    right = np.zeros(len(split.score_nodes), dtype=bool)
    right[:3] = True
    result = toy.some_result(
        right.mean(), right=packed(right), scored_digest=nodes_digest(split.score_nodes)
    )
    results = {run.key: result for run in cell.runs}
    assert outcomes([cell], results)[0].unseen_accuracy is None  # not a fresh split
    fresh = replace(cell, seen_nodes=np.sort(split.score_nodes[4:]))
    (found,) = outcomes([fresh], results)
    assert found.unseen_accuracy == 0.75
    note = "AdaGCN, accuracy on the scored nodes that no validation split has seen: 75.00 (Toy)."
    assert note in accuracy_table(spec, [found]).notes


def test_choices_are_counted_by_cell_and_cut_to_the_width():
    spec = toy.toy_spec(n_splits=3, n_inits=1)
    cells = plan(spec, toy.GRAPHS)
    chosen = [{"teleport": 0.2, "max_features": 1000}, {"teleport": 0.2}, {"teleport": 0.0}]
    results = {
        run.key: toy.some_result(choices=choices)
        for run, choices in zip(cells[0].runs, chosen, strict=True)
    }
    found = outcomes(cells, results)
    table = choice_table("Toy", found)
    assert table.header == ["model", "data", "n", "teleport", "max_features"]
    assert table.body == [[["AdaGCN"], ["Toy"], ["3"], ["0.2 (2), 0 (1)"], ["1,000"]]]
    assert "AdaGCN  Toy   3  teleport" in render_choices(table, "text", 40)
    assert render_choices(table, "csv").splitlines()[1] == 'AdaGCN,Toy,3,"0.2 (2), 0 (1)","1,000"'
    assert json_choices(found)[0]["chosen"]["teleport"][0] == {"value": 0.2, "fits": 2}
    none = choice_table("Toy", outcomes(cells, {}))
    assert "No run here chose anything." in render_choices(none, "md")


def test_what_a_grid_gave_is_a_choice():
    rows = [{"label": "GCN", "model": "gcn", "grid": {"dropout": [0.1, 0.5]}}]
    spec = toy.toy_spec(rows=rows, n_splits=1, n_inits=1)
    cells = plan(spec, toy.GRAPHS)
    stops = iter([0.4, 0.8])
    results = {run.key: toy.some_result(stop_accuracy=next(stops)) for run in cells[0].runs}
    (row,) = choice_table("Toy", outcomes(cells, results)).body
    best = max(cells[0].runs, key=lambda run: results[run.key].stop_accuracy)
    assert row[3] == [f"{best.params['dropout']:g}"]

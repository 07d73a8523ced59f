"""From finished runs to curves over depth and to leads that depend on the number of labels."""

from __future__ import annotations

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.experiments.campaign import plan
from adagcn.experiments.outcome import outcomes
from adagcn.experiments.outcome_tables import accuracy_table, json_rows
from adagcn.experiments.tables import render
from adagcn.report.experiment_figures import depth_curves

RATES = [
    {"label": "many", "dataset": "toy", "train_per_class": 6},
    {"label": "few", "dataset": "toy", "train_per_class": 3},
]


def by_rate(accuracy, *, missing=()):
    """Return spec and outcomes with accuracies by (row, column, split)."""
    spec = toy.toy_spec(columns=RATES, n_inits=1)
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

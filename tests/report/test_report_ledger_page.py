"""Pages of finished runs: what is compared with what, and its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from report_fixtures import HOSTILE, finished_run

from adagcn.errors import InputError
from adagcn.experiments.ledger import LedgerRow
from adagcn.experiments.statistics import compare_paired, summarize
from adagcn.report.ledger_page import ledger_page


def rows(*runs):
    return [LedgerRow(key=run.key, run=run, result=result) for run, result in runs]


def labels(page):
    return [row["label"] for each in page.content["panels"] for row in each["rows"]]


def test_means_and_differences_are_those_of_the_runs():
    runs = [finished_run(model, split) for model in ("adagcn", "mlp") for split in range(4)]
    page = ledger_page(rows(*runs), "mine.sqlite")
    (panel,) = page.content["panels"]
    first, second = panel["rows"]
    a, b = (
        np.array([[result.accuracy] for run, result in runs if run.model == model])
        for model in ("adagcn", "mlp")
    )
    assert (first["label"], second["label"]) == ("adagcn", "mlp")
    assert first["mean"] == summarize(a).mean
    assert (first["low"], first["high"]) == summarize(a).interval
    assert first["versus"] is None
    assert second["versus"] == compare_paired(b, a).difference
    assert second["seconds"] == 2.0


def test_settings_and_presets_tell_rows_of_one_model_apart():
    runs = [
        finished_run("adagcn", 0, n_layers=3),
        finished_run("adagcn", 0, n_layers=5),
        finished_run("adagcn", 0, preset="paper", n_layers=5, teleport=0.1),
    ]
    assert labels(ledger_page(rows(*runs), "x")) == [
        "adagcn, paper",
        "adagcn, tuned (n_layers=3)",
        "adagcn, tuned (n_layers=5)",
    ]


def test_runs_on_other_data_or_other_splits_are_not_compared():
    one, result = finished_run("mlp", 0)
    others = [
        one.model_copy(update={"data_digest": "2" * 64}),
        one.model_copy(update={"split": "holdout:0"}),
        one.model_copy(update={"train_per_class": 5}),
    ]
    page = ledger_page(rows(*((run, result) for run in [one, *others])), "x")
    assert len(page.content["panels"]) == 4
    assert len({each["name"] for each in page.content["panels"]}) == 4


def test_without_adagcn_the_best_is_the_reference():
    page = ledger_page(rows(finished_run("b", 0), finished_run("c", 0)), "x")
    assert page.content["panels"][0]["reference"] == "c"


def test_names_of_users_are_text():
    page = ledger_page(rows(finished_run("mlp", 0, learner=HOSTILE[0])), HOSTILE[0])
    html = page.html()
    assert HOSTILE[0] not in html
    assert "<b>toy" not in html
    assert html == page.html()


def test_a_ledger_without_the_measure_is_refused():
    with pytest.raises(InputError, match="has no run with macro F1"):
        ledger_page(rows(finished_run("mlp", 0)), "x", metric="f1_macro")
    with pytest.raises(InputError, match="has no run with accuracy"):
        ledger_page([], "x")

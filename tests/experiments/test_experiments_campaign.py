from __future__ import annotations

from dataclasses import replace

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.data import make_split
from adagcn.engines import engine_named
from adagcn.errors import InputError, ResourceError
from adagcn.experiments import campaign
from adagcn.experiments.campaign import missing_runs, plan, train_missing, unmeasured_runs
from adagcn.experiments.ledger import Ledger
from adagcn.experiments.outcome import outcomes
from adagcn.experiments.outcome_tables import accuracy_table, json_rows, json_times, time_table
from adagcn.experiments.runs import execute
from adagcn.experiments.tables import render
from adagcn.report.experiment_figures import compared_models

SPEC = toy.toy_spec(paper={"AdaGCN": {"Toy": [80.0, 1.0]}})


@pytest.fixture(scope="module")
def cells():
    return plan(SPEC, toy.GRAPHS)


@pytest.fixture(scope="module")
def trained(cells, tmp_path_factory):
    with Ledger(tmp_path_factory.mktemp("serial") / "ledger.sqlite") as ledger:
        return train_missing(cells, toy.GRAPHS, ledger)


def written(cells, results):
    found = outcomes(cells, results)
    return json_rows(SPEC, found), render(accuracy_table(SPEC, found), "md")


def test_a_plan_has_every_split_and_initialization(cells):
    assert [(cell.row.label, cell.column.label) for cell in cells] == [
        ("AdaGCN", "Toy"),
        ("logistic", "Toy"),
    ]
    places = [(run.split, run.init, run.seed) for run in cells[0].runs]
    assert places == [
        ("stratified:0", 0, 0),
        ("stratified:0", 1, 1),
        ("stratified:1", 0, 0),
        ("stratified:1", 1, 1),
    ]
    assert [run.split for run in cells[1].runs] == ["stratified:0", "stratified:1"]
    seeds = [run.seed for run in plan(SPEC, toy.GRAPHS, seed=7)[0].runs]
    assert seeds == [7, 8, 7, 8]


def test_a_row_may_leave_columns_out():
    spec = toy.toy_spec(
        columns=[{"label": label, "dataset": "toy"} for label in "AB"],
        rows=[
            {"label": "all", "model": "logistic"},
            {"label": "some", "model": "mlp", "columns": ["B"]},
        ],
        paper={"some": {"A": [71.0, 0.5], "B": [72.0, 0.5]}},
    )
    cells = plan(spec, toy.GRAPHS)
    assert [(c.row.label, c.column.label) for c in cells] == [
        ("all", "A"),
        ("all", "B"),
        ("some", "B"),
    ]
    text = render(accuracy_table(spec, outcomes(cells, {})), "text")
    assert "A 0 of 4 runs, B 0 of 4 runs" in text
    assert "some (tuned): B 0 of 4 runs." in text
    assert "72.00" in text
    assert "71.00" not in text  # published for a cell that the row does not have


def test_an_impossible_split_is_found_while_planning():
    columns = [{"label": "Much", "dataset": "toy", "train_per_class": 40}]
    with pytest.raises(InputError, match="column 'Much': the split stratified:0 needs"):
        plan(toy.toy_spec(columns=columns), toy.GRAPHS)


@pytest.mark.parametrize("workers", [1, 2])
def test_neither_workers_nor_order_change_the_table(cells, trained, tmp_path, workers):
    turned = [replace(cell, runs=cell.runs[::-1]) for cell in cells[::-1]]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        results = train_missing(turned, toy.GRAPHS, ledger, engine=engine_named(workers=workers))
    assert written(cells, results) == written(cells, trained)
    digests = {key: result.model_digest for key, result in results.items()}
    assert digests == {key: result.model_digest for key, result in trained.items()}


def test_a_finished_run_is_never_repeated(cells, trained, tmp_path, monkeypatch):
    done = []

    def counting(run, graph, split):
        done.append(run)
        return execute(run, graph, split)

    monkeypatch.setattr(campaign, "execute", counting)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for run in cells[0].runs[1:]:
            ledger.add(run, trained[run.key])
        assert train_missing(cells, toy.GRAPHS, ledger).keys() == trained.keys()
        assert done == [cells[0].runs[0], *cells[1].runs]
        train_missing(cells, toy.GRAPHS, ledger)
    assert len(done) == 3


def test_what_a_choice_decides_is_trained_after_it(tmp_path):
    rows = [{"label": "c", "model": "logistic", "grid": {"C": [0.01, 100.0]}, "grid_splits": 1}]
    cells = plan(toy.toy_spec(rows=rows, n_splits=3, n_inits=1), toy.GRAPHS)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        told = []
        results = train_missing(
            cells, toy.GRAPHS, ledger, progress=lambda *each: told.append(each[:2])
        )
        assert not missing_runs(cells, ledger)
    assert told == [(n, 4) for n in range(5)]  # one count for both rounds
    tried = [results[run.key].stop_accuracy for run in cells[0].runs[:2]]
    better = cells[0].runs[int(np.argmax(tried))].params["C"]
    trained = [(run.split[-1], run.params["C"]) for run in cells[0].runs if run.key in results]
    assert trained == [("0", 0.01), ("0", 100.0), ("1", better), ("2", better)]


def test_runs_without_the_metric_are_trained_again_and_get_it(
    cells, trained, tmp_path, monkeypatch
):
    done = []

    def counting(run, graph, split):
        done.append(run)
        return execute(run, graph, split)

    monkeypatch.setattr(campaign, "execute", counting)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for run in cells[0].runs:
            without = trained[run.key].model_copy(update={"scores": {}})
            ledger.add(run, without)
        assert len(unmeasured_runs(cells, ledger, "roc_auc")) == len(cells[0].runs)
        assert unmeasured_runs(cells, ledger, "accuracy") == []
        results = train_missing(cells, toy.GRAPHS, ledger, metric="roc_auc")
        assert len(done) == len(trained)
        assert all(results[key].scores == each.scores for key, each in trained.items())
        assert unmeasured_runs(cells, ledger, "roc_auc") == []
        train_missing(cells, toy.GRAPHS, ledger, metric="roc_auc")
    assert len(done) == len(trained)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.full)])
def test_splits_can_be_handed_in(tmp_path, workers):
    """Two splits that no name describes, with numbers as large as a seed can be."""
    first, other = (make_split(toy.GRAPH, f"holdout:{k}", stop=12) for k in (7, 4_000_000_000))
    spec = toy.toy_spec(splits="holdout", n_inits=1)
    planned = plan(spec, toy.GRAPHS, splits={"Toy": [first, other]})
    assert [run.split_digest for run in planned[0].runs] == [first.digest, other.digest]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        results = train_missing(planned, toy.GRAPHS, ledger, engine=engine_named(workers=workers))
    found = outcomes(planned, results, "f1_macro")
    assert found[0].summary.n_splits == 2
    mean = np.mean([results[run.key].scores["f1_macro"] for run in planned[0].runs])
    assert found[0].summary.mean == pytest.approx(mean)


def test_what_is_finished_before_an_interrupt_is_kept(cells, trained, tmp_path, monkeypatch):
    def interrupted(run, graph, split):
        if run.seed == 1:
            raise KeyboardInterrupt
        return execute(run, graph, split)

    monkeypatch.setattr(campaign, "execute", interrupted)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        with pytest.raises(KeyboardInterrupt):
            train_missing(cells, toy.GRAPHS, ledger)
        assert len(list(ledger.rows())) == 4  # all first initializations come first
        monkeypatch.setattr(campaign, "execute", execute)
        assert written(cells, train_missing(cells, toy.GRAPHS, ledger)) == written(cells, trained)


def test_an_error_of_a_run_names_it_and_spares_the_others(cells, tmp_path, monkeypatch):
    def failing(run, graph, split):
        if run.model == "adagcn" and run.seed == 1:
            raise ResourceError("AGC-R999", "no memory")
        return execute(run, graph, split)

    monkeypatch.setattr(campaign, "execute", failing)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        match = r"adagcn \(adaptive\) on toy, stratified:0, init 1: no memory"
        with pytest.raises(ResourceError, match=match):
            train_missing(cells, toy.GRAPHS, ledger)
        assert len(list(ledger.rows())) == 4


def test_cells_fill_up_together(cells, tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        order = [(run.init, run.split, run.model) for run in missing_runs(cells, ledger)]
    assert order == [
        (0, "stratified:0", "adagcn"),
        (0, "stratified:0", "logistic"),
        (0, "stratified:1", "adagcn"),
        (0, "stratified:1", "logistic"),
        (1, "stratified:0", "adagcn"),
        (1, "stratified:1", "adagcn"),
    ]


def test_progress_counts_what_is_trained(cells, trained, tmp_path):
    told = []
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for run in cells[0].runs:
            ledger.add(run, trained[run.key])
        train_missing(cells, toy.GRAPHS, ledger, progress=lambda *state: told.append(state))
    assert [(done, total) for done, total, _ in told] == [(0, 2), (1, 2), (2, 2)]
    assert told[0][2] is None
    assert told[-1][2] == 0


def test_rows_hold_the_runs_and_their_statistics(cells, trained):
    first, second = json_rows(SPEC, outcomes(cells, trained))
    accuracy = [run["accuracy"] for run in first["runs"]]
    assert accuracy == [trained[run.key].accuracy for run in cells[0].runs]
    assert first["mean"] == pytest.approx(np.mean(accuracy))
    assert first["n"] == first["planned"] == 4
    assert first["paper"] == (0.8, 0.01)
    assert first["difference"] == pytest.approx(np.mean(accuracy) - 0.8)
    assert first["against_first"] is None
    assert second["against_first"]["n_runs"] == 2  # paired where both have a run
    expected = [b["accuracy"] - a for a, b in zip(accuracy[::2], second["runs"], strict=True)]
    assert second["against_first"]["difference"] == pytest.approx(np.mean(expected))
    assert not {"seconds", "peak_memory_mb"} & set(str(first).split("'"))


def test_missing_runs_show(cells, trained):
    some = {cells[0].runs[0].key: trained[cells[0].runs[0].key]}
    found = outcomes(cells, some)
    first, second = json_rows(SPEC, found)
    assert (first["n"], first["planned"], first["interval"]) == (1, 4, None)
    assert (second["n"], second["mean"], second["against_first"]) == (0, None, None)
    assert len(compared_models(found)) == 1


def test_times_stand_apart(cells, trained):
    found = outcomes(cells, trained)
    times = json_times(found)
    assert times[0]["seconds"] == [trained[run.key].seconds for run in cells[0].runs]
    assert "AdaGCN (adaptive): 4 runs took" in render(time_table(SPEC, found), "text")

"""Intervals over splits and nodes: of known cases, of simulated ones, and in tables."""

from __future__ import annotations

import time

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.errors import InputError, IntegrityError
from adagcn.experiments import node_intervals
from adagcn.experiments.campaign import plan
from adagcn.experiments.node_intervals import SplitNodes, node_interval
from adagcn.experiments.outcome import outcomes
from adagcn.experiments.outcome_tables import accuracy_table, json_rows, json_times, time_table
from adagcn.experiments.runs import nodes_digest, packed, right_nodes
from adagcn.experiments.statistics import summarize
from adagcn.experiments.tables import render

OLDER = "older runs do not tell which nodes were right"


def shared_nodes(table, n_runs=1):
    """Splits that all score the same nodes: one row of ``table`` for each."""
    nodes = np.arange(table.shape[1]) + 100
    return [SplitNodes(nodes, np.asarray(row, dtype=np.int64), n_runs) for row in table]


def width(interval):
    return interval[1] - interval[0]


# --- the bootstrap


def test_a_tiny_bootstrap_by_hand():
    # One node is always won and one never. Of two nodes drawn, none, one or two are the first:
    # shares 0, 1/2 and 1 in 1/4, 1/2 and 1/4 of the resamples. The splits do not matter.
    assert node_interval(shared_nodes(np.array([[1, 0], [1, 0]]))) == (0.0, 1.0)


def test_the_interval_is_that_of_a_bootstrap_written_out():
    rng = np.random.default_rng(1)
    splits = [
        SplitNodes(rng.permutation(9)[:size], rng.integers(-n_runs, n_runs + 1, size), n_runs)
        for size, n_runs in ((6, 2), (4, 1), (5, 3))
    ]
    union = sorted(set().union(*(split.nodes.tolist() for split in splits)))
    draws = np.random.default_rng(7).integers(3, size=(1000, 3))
    of_nodes = np.random.default_rng([7, 1])
    means = []
    for drawn in draws:
        nodes = [union[k] for k in of_nodes.integers(len(union), size=len(union))]
        top = bottom = 0.0
        for split in (splits[k] for k in drawn):
            value = dict(zip(split.nodes.tolist(), split.total.tolist(), strict=True))
            here = [node for node in nodes if node in value]
            top += sum(value[node] for node in here) / len(value)
            bottom += split.n_runs * len(here) / len(value)
        means.append(top / bottom)
    expected = np.percentile(means, [2.5, 97.5])
    assert node_interval(splits, seed=7) == pytest.approx(expected, abs=1e-11)


def test_a_constant_difference_has_no_width():
    splits = [SplitNodes(np.arange(3, 10 + k), np.full(7 + k, 2), 2) for k in range(5)]
    assert node_interval(splits) == (1.0, 1.0)
    assert node_interval(splits, splits) == (0.0, 0.0)


def test_nodes_that_are_alike_leave_the_interval_over_splits():
    by_split = np.array([3, 5, 4, 9, 7, 2])
    splits = shared_nodes(np.repeat(by_split[:, None], 50, axis=1), n_runs=10)
    assert node_interval(splits) == pytest.approx(summarize(by_split[:, None] / 10).interval)


def test_nodes_of_different_difficulty_make_it_clearly_wider():
    rng = np.random.default_rng(0)
    lead = rng.choice([-1, 0, 1], 400, p=[0.2, 0.5, 0.3])  # which model a node suits
    noise = rng.random((20, 400)) < 0.1
    table = np.where(noise, rng.integers(-1, 2, (20, 400)), lead)
    over_splits = summarize(table.mean(axis=1, keepdims=True)).interval
    over_both = node_interval(shared_nodes(table))
    assert width(over_both) > 4 * width(over_splits)
    assert over_both[0] < over_splits[0] < over_splits[1] < over_both[1]
    # Nearly all of the spread is between nodes, and of a mean of 400 of them.
    assert width(over_both) == pytest.approx(2 * 1.96 * lead.std() / 20, rel=0.15)


def drawn_nodes(rng, n_nodes):
    """How often two models are right on nodes of a graph, of which most are easy for both."""
    one = rng.choice([0.1, 0.5, 0.95], n_nodes, p=[0.15, 0.15, 0.7])
    shift = rng.choice([-0.3, 0.0, 0.3], n_nodes, p=[0.2, 0.55, 0.25])
    return one, np.clip(one + shift, 0, 1)


def test_it_contains_the_difference_on_all_nodes_where_the_one_over_splits_often_does_not():
    one, other = drawn_nodes(np.random.default_rng(99), 1_000_000)
    truth = (one - other).mean()
    hits = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        one, other = drawn_nodes(rng, 400)  # the nodes that all 20 splits score
        draws = rng.random((2, 20, 400))
        table = (draws[0] < one).astype(int) - (draws[1] < other)
        over_splits = summarize(table.mean(axis=1, keepdims=True)).interval
        over_both = node_interval(shared_nodes(table))
        hits += [low <= truth <= high for low, high in (over_splits, over_both)]
    assert hits[0] < 85
    assert hits[1] >= 95


def test_splits_with_nodes_of_their_own_are_hardly_wider():
    rng = np.random.default_rng(0)
    values = rng.integers(-1, 2, (30, 200))
    splits = [SplitNodes(200 * k + np.arange(200), row, 1) for k, row in enumerate(values)]
    over_splits = summarize(values.mean(axis=1, keepdims=True)).interval
    # Of noise that is neither of splits nor of nodes, it finds up to three times the variance.
    assert 1.0 < width(node_interval(splits)) / width(over_splits) < 1.8


def test_what_is_subtracted_shares_the_draws():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (6, 80))
    one, other = shared_nodes(table + 1, 2), shared_nodes(table, 2)
    assert node_interval(one, other) == (0.5, 0.5)
    assert width(node_interval(one)) > 0
    with pytest.raises(InputError, match="minus must have the 6 splits"):
        node_interval(one, other[:-1])


def test_one_split_has_none():
    assert node_interval(shared_nodes(np.array([[1, 0, 1]]))) is None


def test_neither_blocks_nor_the_type_of_the_product_change_it(monkeypatch):
    table = np.random.default_rng(0).integers(-1, 2, (4, 60))
    expected = node_interval(shared_nodes(table))
    assert node_interval(shared_nodes(table)) == expected
    assert node_interval(shared_nodes(table), seed=1) != expected
    monkeypatch.setattr(node_intervals, "_EXACT_FLOAT32", 0)
    assert node_interval(shared_nodes(table)) == expected
    monkeypatch.setattr(node_intervals, "_BLOCK_BYTES", 60 * 64)
    many_blocks = node_interval(shared_nodes(table))
    assert many_blocks == pytest.approx(expected, abs=0.03)


def test_twenty_splits_of_twenty_thousand_nodes_take_a_moment():
    table = np.random.default_rng(0).integers(-1, 2, (20, 20_000))
    start = time.process_time()
    node_interval(shared_nodes(table), seed=12345)
    assert time.process_time() - start < 2.0  # about 0.2 on one core that has nothing else to do


# --- in comparisons and tables


def result_of(run, split, share, *, bits=True, **changes):
    rng = np.random.default_rng([run.seed, run.init, len(run.model), int(run.split[-1])])
    right = rng.random(len(split.score_nodes)) < share
    fields = {"right": packed(right), "scored_digest": nodes_digest(split.score_nodes)}
    times = {"fit_cpu_seconds": 2.0 + run.init, "predict_cpu_seconds": 0.25}
    new = {**fields, **times} if bits else {}
    return toy.some_result(float(right.mean()), **{**new, **changes})


def toy_outcomes(*, without_bits=(), metric="accuracy", **changes):
    """Outcomes of the toy experiment, in which some rows are of an earlier release."""
    spec = toy.toy_spec(n_splits=4, **changes)
    cells = plan(spec, toy.GRAPHS)
    results = {
        run.key: result_of(
            run,
            next(split for split in cell.splits if split.digest == run.split_digest),
            {"AdaGCN": 0.8, "logistic": 0.6}[cell.row.label],
            bits=cell.row.label not in without_bits,
            scores={"balanced_accuracy": 0.5 + int(run.split[-1]) / 100},
        )
        for cell in cells
        for run in cell.runs
    }
    return spec, outcomes(cells, results, metric), results


def test_both_intervals_stand_in_rows_and_notes():
    spec, found, _ = toy_outcomes()
    first, second = json_rows(spec, found)
    for row in (first, second):
        low, high = row["node_interval"]
        assert low < row["mean"] < high
    pair = second["against_first"]
    assert pair["node_interval"][0] < pair["difference"] < pair["node_interval"][1]
    text = render(accuracy_table(spec, found), "text")
    low, high = (f"{100 * end:+.2f}".replace("-", "−") for end in pair["node_interval"])
    assert f", over splits and nodes [{low}, {high}] (4 splits, 4 pairs of runs); " in text
    assert " points, over splits [" in text
    assert text.count("Over splits and nodes: other nodes as well.") == 1
    assert OLDER not in text


def test_the_difference_of_pairs_is_what_the_bootstrap_gets():
    _, (first, second), results = toy_outcomes()
    by_place = {(run.split, run.init): results[run.key] for run in first.cell.runs}
    splits = []
    for run, split in zip(second.cell.runs, second.cell.splits, strict=True):  # one init each
        one, other = (
            right_nodes(result, split).astype(int)
            for result in (results[run.key], by_place[run.split, 0])
        )
        splits.append(SplitNodes(split.score_nodes, one - other, 1))
    assert second.against_first.node_interval == node_interval(splits)


@pytest.mark.parametrize("without_bits", [["logistic"], ["AdaGCN"], ["AdaGCN", "logistic"]])
def test_older_runs_have_one_interval_and_that_is_said_once(without_bits):
    spec, found, _ = toy_outcomes(without_bits=without_bits)
    rows = {row["label"]: row for row in json_rows(spec, found)}
    assert rows["logistic"]["against_first"]["node_interval"] is None
    for label, row in rows.items():
        assert (row["node_interval"] is None) == (label in without_bits)
    text = render(accuracy_table(spec, found), "text")
    assert text.count(OLDER) == 1
    assert "splits and nodes" not in text
    assert "; d_z = " in text.splitlines()[-2], "the sentence comes last"


def test_another_metric_has_one_interval_and_blames_no_run():
    spec, found, _ = toy_outcomes(metric="balanced_accuracy")
    rows = json_rows(spec, found)
    assert all(row["node_interval"] is None for row in rows)
    assert rows[1]["against_first"]["node_interval"] is None
    text = render(accuracy_table(spec, found), "text")
    assert OLDER not in text
    assert "splits and nodes" not in text


def test_the_lead_over_labels_has_it_as_well():
    columns = [
        {"label": "many", "dataset": "toy", "train_per_class": 6},
        {"label": "few", "dataset": "toy", "train_per_class": 3},
    ]
    spec, found, _ = toy_outcomes(columns=columns)
    rows = {(row["label"], row["column"]): row for row in json_rows(spec, found)}
    pair = rows["logistic", "few"]["against_most_labels"]
    assert pair["node_interval"][0] < pair["difference"] < pair["node_interval"][1]
    text = render(accuracy_table(spec, found), "text")
    assert text.count("Over splits and nodes: other nodes as well.") == 1


def test_bits_of_other_nodes_are_refused():
    spec = toy.toy_spec()
    cells = plan(spec, toy.GRAPHS)
    run, split = cells[0].runs[0], cells[0].splits[0]
    wrong = result_of(run, split, 0.5, scored_digest="0" * 64)
    (outcome, _) = outcomes(cells, {run.key: wrong})
    with pytest.raises(IntegrityError, match="right nodes are not those that the split"):
        _ = outcome.summary


# --- times


def test_processor_time_is_shown_where_all_runs_have_it():
    spec, found, _ = toy_outcomes()
    text = render(time_table(spec, found), "text")
    assert text.startswith("Toy: CPU seconds of a fit\n")
    assert "2.50 [2.00, 3.00]" in text  # of two initializations
    assert "CPU seconds: processor time" in text
    assert (
        "AdaGCN (adaptive), predicting all scored nodes once, mean CPU seconds: 0.250 (Toy)."
        in text
    )
    times = json_times(found)
    assert times[0]["mean_fit_cpu_seconds"] == 2.5
    assert times[0]["predict_cpu_seconds"] == [0.25] * 8
    assert times[0]["mean_predict_cpu_seconds"] == 0.25


def test_otherwise_the_clock_is_and_that_is_said():
    spec, found, _ = toy_outcomes(without_bits=["logistic"])
    text = render(time_table(spec, found), "text")
    assert text.startswith("Toy: seconds of a fit\n")
    assert "1.50 [1.50, 1.50]" in text
    assert "Seconds by the clock: some runs are older" in text
    times = json_times(found)
    assert times[0]["mean_fit_cpu_seconds"] == 2.5
    assert times[1]["mean_fit_cpu_seconds"] is None
    spec, found, _ = toy_outcomes(without_bits=["AdaGCN", "logistic"])
    assert "CPU" not in render(time_table(spec, found), "text")

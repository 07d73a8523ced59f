from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adagcn.errors import InputError
from adagcn.experiments.statistics import (
    compare_paired,
    spread_by_depth,
    summarize,
)

NAN = np.nan


def simulated(n_splits, n_inits, *, split_std=0.01, init_std=0.01, seed=0, mean=0.8):
    rng = np.random.default_rng(seed)
    splits = rng.normal(mean, split_std, (n_splits, 1))
    return splits + rng.normal(0, init_std, (n_splits, n_inits))


def resampled_means(rows_of_runs, seed):
    """Plain bootstrap, written out: draw rows, pool their runs, take the mean."""
    rng = np.random.default_rng(seed)
    n = len(rows_of_runs)
    draws = rng.integers(n, size=(1000, n))
    return [np.mean(np.concatenate([rows_of_runs[row] for row in draw])) for draw in draws]


# --- one model


def test_both_intervals_are_the_percentiles_of_a_bootstrap_written_out():
    splits = [[0.60, 0.62, 0.61], [0.80], [0.90, 0.91], [0.70], [0.84, 0.85, 0.83]]
    accuracy = np.array([[*split, *[NAN] * (3 - len(split))] for split in splits])
    summary = summarize(accuracy, seed=3)
    runs = [[value] for split in splits for value in split]
    assert summary.interval == pytest.approx(
        np.percentile(resampled_means(splits, 3), [2.5, 97.5]), abs=1e-11
    )
    assert summary.run_interval == pytest.approx(
        np.percentile(resampled_means(runs, 3), [2.5, 97.5]), abs=1e-11
    )
    low, high = summary.run_interval
    assert summary.paper_half_width == pytest.approx(max(0.766 - low, high - 0.766), abs=1e-11)


def test_a_tiny_bootstrap_by_hand():
    # Two splits: a resample is (a, a), (a, b), (b, a) or (b, b), so the 2.5th and 97.5th
    # percentiles can only be the two splits themselves.
    assert summarize(np.array([[0.6], [0.7]])).interval == (0.6, 0.7)


def test_counts_mean_and_spread_leave_out_missing_runs():
    summary = summarize(np.array([[0.7, 0.8, NAN], [NAN, NAN, NAN], [0.9, NAN, NAN]]))
    assert (summary.n, summary.n_splits, summary.n_inits) == (3, 2, 2)
    assert summary.mean == pytest.approx(0.8)
    assert summary.std == pytest.approx(0.1)


def test_missing_rows_and_columns_change_nothing():
    full = simulated(6, 3)
    padded = np.full((9, 5), NAN)
    padded[:6, :3] = full
    assert summarize(padded) == summarize(full)


def test_the_intervals_are_equal_where_every_split_has_one_run():
    summary = summarize(simulated(20, 1))
    assert summary.interval == summary.run_interval


def test_resampling_splits_is_wider_where_initializations_agree():
    summary = summarize(simulated(20, 5, split_std=0.02, init_std=0.002))
    widths = [high - low for low, high in (summary.interval, summary.run_interval)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(5), rel=0.2)


def test_resampling_splits_costs_nothing_where_initializations_are_all_there_is():
    ratios = []
    for seed in range(10):
        summary = summarize(simulated(20, 5, split_std=0.0, init_std=0.02, seed=seed))
        (low, high), (run_low, run_high) = summary.interval, summary.run_interval
        ratios.append((high - low) / (run_high - run_low))
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


def test_the_split_interval_covers_the_truth_and_the_run_interval_does_not():
    covered = np.zeros(2)
    for seed in range(150):
        summary = summarize(simulated(20, 5, split_std=0.02, init_std=0.002, seed=seed))
        for which, (low, high) in enumerate((summary.interval, summary.run_interval)):
            covered[which] += low <= 0.8 <= high
    honest, papers = covered / 150
    assert honest > 0.88
    assert papers < 0.75


def test_one_split_has_no_split_interval_and_one_run_has_none_at_all():
    one_split = summarize(np.array([[0.7, 0.8]]))
    assert one_split.interval is None
    assert one_split.run_interval == (0.7, 0.8)
    one_run = summarize(np.array([[0.7]]))
    assert (one_run.n, one_run.mean) == (1, 0.7)
    assert one_run.interval is one_run.run_interval is one_run.paper_half_width is None
    assert one_run.std is None


def test_equal_runs_give_an_interval_without_width():
    summary = summarize(np.full((4, 2), 0.81))
    assert summary.interval == summary.run_interval == (0.81, 0.81)
    assert summary.std == summary.paper_half_width == 0


def test_the_same_runs_give_the_same_summary_and_the_seed_matters():
    accuracy = simulated(20, 5)
    assert summarize(accuracy) == summarize(accuracy.copy())
    assert summarize(accuracy, seed=1).interval != summarize(accuracy).interval


@pytest.mark.parametrize(
    "accuracy",
    [np.array([0.7, 0.8]), np.full((2, 2), NAN), np.empty((0, 5)), np.array([[0.7, np.inf]])],
)
def test_what_is_no_table_of_runs_is_refused(accuracy):
    with pytest.raises(InputError, match=r"accuracy must be a table of runs.*AGC-I950"):
        summarize(accuracy)


# --- two models


def test_the_tests_agree_with_scipy_on_complete_runs():
    a, b = simulated(20, 5, seed=1), simulated(20, 5, seed=2, mean=0.79)
    found = compare_paired(a, b)
    split_a, split_b = a.mean(axis=1), b.mean(axis=1)
    assert (found.n_splits, found.n_runs) == (20, 100)
    assert found.difference == pytest.approx(np.mean(a) - np.mean(b))
    assert found.p_runs == pytest.approx(stats.ttest_rel(a.ravel(), b.ravel()).pvalue)
    t_test = stats.ttest_rel(split_a, split_b)
    assert found.p_splits == pytest.approx(t_test.pvalue)
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(split_a, split_b).pvalue)
    assert found.effect_size == pytest.approx(t_test.statistic / np.sqrt(20))
    assert found.interval == summarize(a - b).interval


def test_pairs_are_split_and_initialization_not_order():
    a = simulated(10, 4, split_std=0.05, init_std=0.01)
    b = a - 0.01 + np.random.default_rng(3).normal(0, 1e-3, a.shape)
    shuffled = np.random.default_rng(0).permuted(b, axis=0)
    assert compare_paired(a, b).p_splits < 1e-8
    assert compare_paired(a, shuffled).p_splits > 1e-3


def test_a_run_missing_on_one_side_is_left_out_of_both():
    a, b = simulated(8, 3, seed=1), simulated(8, 3, seed=2)
    holed_a, holed_b = a.copy(), b.copy()
    holed_a[0, 0] = NAN
    holed_b[3] = NAN
    both_a, both_b = np.delete(a, 3, axis=0), np.delete(b, 3, axis=0)
    both_a[0, 0] = both_b[0, 0] = NAN
    found = compare_paired(holed_a, holed_b)
    assert found == compare_paired(both_a, both_b)
    assert (found.n_splits, found.n_runs) == (7, 20)


def test_swapping_the_models_turns_the_sign_and_keeps_the_p_values():
    a, b = simulated(20, 2, seed=1), simulated(20, 2, seed=2)
    one, other = compare_paired(a, b), compare_paired(b, a)
    assert one.difference == -other.difference
    assert one.effect_size == pytest.approx(-other.effect_size)
    assert one.p_splits == pytest.approx(other.p_splits)
    assert one.p_wilcoxon == pytest.approx(other.p_wilcoxon)


def test_the_run_test_overstates_what_the_splits_show():
    shift = np.random.default_rng(0).normal(0.004, 0.01, (20, 1))
    b = simulated(20, 5, init_std=0.0005)
    found = compare_paired(b + shift, b)
    assert found.p_runs < found.p_splits / 10


def test_identical_models_have_no_p_values():
    a = simulated(5, 2)
    found = compare_paired(a, a.copy())
    assert found.difference == 0
    assert found.interval == (0, 0)
    assert found.p_runs is found.p_splits is found.p_wilcoxon is found.effect_size is None


def test_a_difference_equal_up_to_rounding_has_no_t_test():
    a = np.array([[0.3], [0.4], [0.7]])
    found = compare_paired(a, np.array([[0.2], [0.3], [0.6]]))
    assert found.p_runs is found.p_splits is found.effect_size is None
    assert found.p_wilcoxon == pytest.approx(0.25)


def test_ties_of_the_signed_ranks_survive_floating_point():
    b = np.linspace(0.11, 0.83, 12)
    points = np.array([1, 1, -1, 2, 2, 2, -2, 3, 3, 1, 2, 3])
    found = compare_paired((b + points / 100)[:, None], b[:, None])
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(points).pvalue)


@pytest.mark.parametrize("n_splits", [2, 5, 13, 14])
@pytest.mark.parametrize("kind", ["different", "tied", "with zeros"])
def test_signed_ranks_have_the_p_value_of_scipy(n_splits: int, kind: str) -> None:
    rng = np.random.default_rng(n_splits)
    points = {
        "different": rng.normal(0.5, 1, n_splits),
        "tied": rng.choice([-1.0, 1.0, 2.0], n_splits),
        "with zeros": rng.choice([-1.0, 0.0, 2.0], n_splits) + (np.arange(n_splits) == 0) * 5.0,
    }[kind]
    found = compare_paired(points[:, None] / 64, np.zeros((n_splits, 1)))
    assert found.p_wilcoxon == pytest.approx(stats.wilcoxon(points / 64).pvalue)


def test_one_split_answers_only_what_one_split_can():
    found = compare_paired(np.array([[0.7, 0.8, 0.9]]), np.array([[0.6, 0.75, 0.7]]))
    assert found.p_runs == pytest.approx(stats.ttest_rel([0.7, 0.8, 0.9], [0.6, 0.75, 0.7]).pvalue)
    assert found.interval is found.p_splits is found.p_wilcoxon is found.effect_size is None


def test_runs_that_cannot_be_paired_are_refused():
    with pytest.raises(InputError, match=r"a and b differ in shape.*\(2, 3\), \(3, 2\)"):
        compare_paired(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(InputError, match=r"a − b must be a table of runs.*0 finite numbers"):
        compare_paired(np.array([[NAN, 0.5]]), np.array([[0.5, NAN]]))


# --- several tests


# --- by depth


def test_the_depth_curve_is_the_columns_statistics():
    runs = simulated(30, 4)
    curve = spread_by_depth(runs)
    assert curve.depths == (0, 1, 2, 3)
    assert curve.mean == pytest.approx(runs.mean(axis=0))
    assert curve.std == pytest.approx(runs.std(axis=0, ddof=1))
    assert curve.lo == pytest.approx(np.percentile(runs, 2.5, axis=0))
    assert curve.hi == pytest.approx(np.percentile(runs, 97.5, axis=0))
    assert curve.n == (30, 30, 30, 30)


def test_runs_that_stop_earlier_count_only_as_far_as_they_go():
    curve = spread_by_depth(np.array([[0.5, 0.6, 0.7], [0.7, NAN, NAN]]), depths=[1, 2, 4])
    assert curve.depths == (1, 2, 4)
    assert curve.mean == pytest.approx((0.6, 0.6, 0.7))
    assert curve.std[0] == pytest.approx(np.sqrt(0.02))
    assert curve.std[1:] == (None, None)
    assert curve.n == (2, 1, 1)


def test_depths_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"depths must name the 2 columns.*AGC-I955"):
        spread_by_depth(np.ones((3, 2)), depths=[2, 1])
    with pytest.raises(InputError, match=r"column without runs; got 1"):
        spread_by_depth(np.array([[0.5, NAN]]))
    with pytest.raises(InputError, match=r"accuracy_by_depth must be a table of runs"):
        spread_by_depth(np.ones(3))

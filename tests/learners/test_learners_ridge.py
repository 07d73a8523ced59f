"""The closed-form learner against scikit-learn, brute force and its own other forms."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import log_softmax
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from adagcn.errors import NumericalError
from adagcn.learners import ridge
from adagcn.learners.ridge import (
    STRENGTHS,
    TEMPERATURES,
    RidgeFitter,
    RidgeLearner,
    RidgePath,
    RidgeSolve,
    evenly,
    lowest_loss,
    ridge_rows,
    scores_of,
    targets_and_weights,
)
from adagcn.training.hop_fitter import HopTask

SHAPES = {"dual": (20, 33), "square": (24, 24), "one row more": (25, 24), "primal": (60, 9)}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
every_solver = pytest.mark.parametrize("solver", [RidgePath, RidgeSolve])


def some_problem(shape, n_classes=3, seed=0):
    """Return rows of norm one, targets (hard ones, then soft ones) and uneven weights."""
    rng = np.random.default_rng(seed)
    rows = ridge_rows(rng.normal(size=shape))
    n_soft = shape[0] // 3
    targets = np.eye(n_classes)[rng.integers(n_classes, size=shape[0])]
    targets[-n_soft:] = rng.dirichlet(np.ones(n_classes), size=n_soft)
    return rows, targets, rng.uniform(0.2, 3.0, size=shape[0])


def with_ones(rows):
    return np.hstack([rows, np.ones((len(rows), 1))])


def by_equation(rows, targets, weight, strength):
    """Solve the normal equations of the columns as they stand."""
    full = with_ones(rows)
    left = full.T @ (weight[:, None] * full) + strength * np.eye(full.shape[1])
    return np.linalg.solve(left, full.T @ (weight[:, None] * targets))


def some_task(n=40, n_features=12, n_stop=25, n_classes=3, seed=0, form=np.asarray, **changes):
    """Return a hop whose classes can be told, with stopping rows if there are to be any."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n + n_stop) % n_classes
    rows = rng.normal(size=(n + n_stop, n_features))
    rows += 1.5 * rng.normal(size=(n_classes, n_features))[labels]
    stop = {"stop_rows": form(rows[n:]), "stop_labels": labels[n:]} if n_stop else {}
    given = {"sample_weight": np.full(n, 1.0 / n), **stop, **changes}
    return HopTask(hop=0, rows=form(rows[: n + len(given.get("pseudo_labels", ()))]),
                   labels=labels[:n], **given)  # fmt: skip


def fitted(task, dtype=torch.float64, n_classes=3, **options):
    return RidgeFitter(n_classes, dtype, **options)(task)


# The solution


@every_solver
@every_shape
def test_coefficients_solve_the_normal_equations(solver, shape):
    rows, targets, weight = some_problem(shape)
    for strength, found in zip(
        STRENGTHS, solver(rows, targets, weight).coefficients(STRENGTHS), strict=True
    ):
        expected = by_equation(rows, targets, weight, strength)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@every_solver
@every_shape
def test_scores_are_those_of_scikit_learn(solver, shape):
    rows, targets, weight = some_problem(shape)
    others = ridge_rows(np.random.default_rng(1).normal(size=(7, shape[1])))
    said = scores_of(others, solver(rows, targets, weight).coefficients([0.3])[0])
    full = with_ones(rows)
    linear = Ridge(alpha=0.3, fit_intercept=False, solver="cholesky")
    linear.fit(full, targets, sample_weight=weight)
    np.testing.assert_allclose(said, linear.predict(with_ones(others)), rtol=0, atol=1e-10)
    kernel = KernelRidge(alpha=0.3, kernel="precomputed")
    kernel.fit(full @ full.T, targets, sample_weight=weight)
    expected = kernel.predict(with_ones(others) @ full.T)
    np.testing.assert_allclose(said, expected, rtol=0, atol=1e-10)


@every_solver
@every_shape
@pytest.mark.parametrize("strength", [0.003, 1.0, 10.0])
def test_left_out_is_a_fit_without_the_row(solver, shape, strength):
    rows, targets, weight = some_problem(shape)
    found = solver(rows, targets, weight).left_out(strength)
    for i in range(len(rows)):
        others = np.arange(len(rows)) != i
        without = by_equation(rows[others], targets[others], weight[others], strength)
        np.testing.assert_allclose(found[i], (with_ones(rows) @ without)[i], rtol=0, atol=1e-9)


@every_solver
@every_shape
def test_left_out_of_some_rows_is_that_of_all(solver, shape):
    fits = solver(*some_problem(shape))
    some = np.array([1, 4, 5, 11])
    np.testing.assert_allclose(fits.left_out(0.1, some), fits.left_out(0.1)[some], atol=1e-13)


@every_solver
@pytest.mark.parametrize("n_columns", [8, 30])
def test_sparse_rows_give_what_dense_ones_give(solver, n_columns):
    rng = np.random.default_rng(0)
    dense = ridge_rows(rng.normal(size=(20, n_columns)) * (rng.random((20, n_columns)) < 0.3))
    _, targets, weight = some_problem((20, n_columns))
    results = []
    for rows in (dense, sparse.csr_array(dense)):
        fits = solver(rows, targets, weight)
        results.append((*fits.coefficients([0.03, 1.0]), fits.left_out(0.1)))
    for from_dense, from_sparse in zip(*results, strict=True):
        np.testing.assert_allclose(from_sparse, from_dense, rtol=0, atol=1e-12)


@every_solver
@every_shape
def test_float32_rows_give_the_solution_to_their_precision(solver, shape):
    rows, targets, weight = some_problem(shape)
    exact = solver(rows, targets, weight)
    rough = solver(rows.astype(np.float32), targets, weight)
    for strength in (0.03, 1.0):
        kept, said = (each.coefficients([strength])[0] for each in (exact, rough))
        assert said.dtype == np.float64
        np.testing.assert_allclose(said, kept, rtol=0, atol=2e-4)
        np.testing.assert_allclose(rough.left_out(strength), exact.left_out(strength), atol=2e-4)


def test_blocks_of_rows_give_what_all_at_once_give(monkeypatch):
    problem = some_problem((60, 9))
    results = []
    for at_once in (ridge.ROWS_AT_ONCE, 7):
        monkeypatch.setattr(ridge, "ROWS_AT_ONCE", at_once)
        for solver in (RidgePath, RidgeSolve):
            fits = solver(*problem)
            results.append(np.vstack([fits.coefficients([0.1])[0], fits.left_out(0.1)]))
    for each in results[1:]:
        np.testing.assert_allclose(each, results[0], rtol=0, atol=1e-12)


# Rows


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_rows_have_norm_one_whatever_their_size(form, size):
    rows = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, -2.0, 0.0]], dtype=np.float32)
    given = form((rows * size).astype(np.float32))
    found = ridge_rows(given)
    found = found if form is np.asarray else found.toarray()
    np.testing.assert_allclose(found, [[0.6, 0, 0.8], [0, 0, 0], [0, -1, 0]], rtol=1e-6)
    assert found.dtype == np.float32
    # The learner divides by the same norm when it predicts.
    learner = RidgeLearner(torch.tensor([[1.0], [2.0], [3.0], [0.5]]))
    said = learner(learner.as_input(given)).detach().numpy()
    np.testing.assert_allclose(said, found @ [[1.0], [2.0], [3.0]] + 0.5, rtol=1e-5)


def test_a_zero_row_says_the_bias():
    rows, targets, weight = some_problem((20, 33))
    rows[4] = 0.0
    solution = RidgePath(rows, targets, weight).coefficients([0.1])[0]
    np.testing.assert_allclose(solution, by_equation(rows, targets, weight, 0.1), atol=1e-12)
    np.testing.assert_array_equal(scores_of(rows, solution)[4], solution[-1])


# The choice of strength and temperature


def test_the_lowest_loss_is_that_of_a_loop_over_all():
    rng = np.random.default_rng(3)
    labels, weight = rng.integers(4, size=30), rng.random(30)
    scores = [rng.normal(size=(30, 4)) + 0.3 * i * np.eye(4)[labels] for i in (1, 3, 2)]
    best = lowest_loss(zip(STRENGTHS, scores, strict=False), labels, weight)
    losses = {
        (strength, temperature): np.average(
            -log_softmax(said / temperature, axis=1)[np.arange(30), labels], weights=weight
        )
        for strength, said in zip(STRENGTHS, scores, strict=False)
        for temperature in TEMPERATURES
    }
    assert (best.strength, best.temperature) == min(losses, key=lambda each: losses[each])
    assert best.loss == pytest.approx(min(losses.values()), rel=1e-12)
    assert best.strength == STRENGTHS[1]


@pytest.mark.parametrize("spread", [0.01, 0.1, 1.0, 10.0])
def test_temperatures_that_are_skipped_would_not_have_been_chosen(spread, monkeypatch):
    rng = np.random.default_rng(5)
    n_tried = 0
    at_every_temperature = ridge._at_every_temperature

    def counted(*given):
        nonlocal n_tried
        for each in at_every_temperature(*given):
            n_tried += 1
            yield each

    monkeypatch.setattr(ridge, "_at_every_temperature", counted)
    for signal in np.linspace(-0.5, 2.0, 40):
        labels, weight = rng.integers(4, size=30), rng.random(30)
        said = spread * (rng.normal(size=(30, 4)) + signal * np.eye(4)[labels])
        best = lowest_loss([(1.0, said)], labels, weight)
        losses = [
            np.average(-log_softmax(said / t, axis=1)[np.arange(30), labels], weights=weight)
            for t in TEMPERATURES
        ]
        assert best.temperature == TEMPERATURES[int(np.argmin(losses))]
    if spread < 1.0:  # the best temperature is seldom the largest
        assert n_tried < 0.9 * 40 * len(TEMPERATURES)


def expected_choice(said_of, labels, weight):
    """Return strength and temperature by a plain loop; ``said_of`` takes a strength."""
    tried = [
        (np.average(-log_softmax(said_of(s) / t, axis=1)[np.arange(len(labels)), labels],
                    weights=weight), s, t)
        for s in STRENGTHS for t in TEMPERATURES
    ]  # fmt: skip
    return min(tried)


@pytest.mark.parametrize("n_features", [12, 70])
def test_with_stopping_rows_these_choose(n_features):
    task = some_task(n_features=n_features)
    fit = fitted(task)
    rows, stop_rows = ridge_rows(task.rows), ridge_rows(task.stop_rows)
    targets = np.eye(3)[task.labels]

    def said(strength):
        return with_ones(stop_rows) @ by_equation(rows, targets, np.ones(40), strength)

    loss, strength, temperature = expected_choice(said, task.stop_labels, np.ones(25))
    assert fit.record.stop_loss == pytest.approx(loss, rel=1e-9)
    expected = by_equation(rows, targets, np.ones(40), strength) / temperature
    np.testing.assert_allclose(fit.learner.coefficients.numpy(), expected, rtol=0, atol=1e-9)
    log_proba = fit.log_proba(task.stop_rows)
    assert fit.record.stop_accuracy == (log_proba.argmax(axis=1) == task.stop_labels).mean()
    np.testing.assert_allclose(log_proba, log_softmax(said(strength) / temperature, axis=1))


@pytest.mark.parametrize("n_features", [12, 70])
def test_without_stopping_rows_the_left_out_rows_choose(n_features):
    weight = np.random.default_rng(5).random(40)
    weight /= weight.sum()
    task = some_task(n_features=n_features, n_stop=0, sample_weight=weight)
    fit = fitted(task)
    rows, targets = ridge_rows(task.rows), np.eye(3)[task.labels]
    path = RidgePath(rows, targets, 40 * weight)
    _, strength, temperature = expected_choice(path.left_out, task.labels, weight)
    expected = by_equation(rows, targets, 40 * weight, strength) / temperature
    np.testing.assert_allclose(fit.learner.coefficients.numpy(), expected, rtol=0, atol=1e-9)
    assert fit.record.stop_loss is None
    expected = log_softmax(path.left_out(strength) / temperature, axis=1)
    np.testing.assert_allclose(fit.left_out, expected, rtol=0, atol=1e-9)


# Tasks of all kinds


def test_pseudo_labels_are_soft_targets_with_weights_of_their_own():
    pseudo = np.random.default_rng(0).dirichlet(np.ones(3), size=10) * 0.07
    task = some_task(sample_weight=np.full(40, 0.3 / 40), pseudo_labels=pseudo)
    targets, weight = targets_and_weights(task, 3)
    np.testing.assert_allclose(weight, [1.0] * 40 + [0.07 * 40 / 0.3] * 10)
    np.testing.assert_allclose(targets[40:], pseudo / 0.07)
    np.testing.assert_allclose(targets.sum(axis=1), 1.0)
    fit = fitted(task)
    assert fit.left_out.shape == (40, 3)  # of labeled rows only
    candidates = [
        by_equation(ridge_rows(task.rows), targets, weight, s) / t
        for s in STRENGTHS
        for t in TEMPERATURES
    ]
    found = fit.learner.coefficients.numpy()
    assert min(np.abs(found - each).max() for each in candidates) < 1e-9


@pytest.mark.parametrize("n_stop", [0, 25])
@pytest.mark.parametrize("n_features", [12, 70])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(n_stop, n_features):
    task = some_task(n_features=n_features, n_stop=n_stop)
    weight = np.where(np.arange(40) < 31, 1.0 / 31, 0.0)
    task = HopTask(0, task.rows, task.labels, weight, task.stop_rows, task.stop_labels)
    fewer = HopTask(
        0, task.rows[:31], task.labels[:31], weight[:31], task.stop_rows, task.stop_labels
    )
    with_them, without = fitted(task), fitted(fewer)
    found, expected = (each.learner.coefficients.numpy() for each in (with_them, without))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(with_them.left_out[:31], without.left_out, rtol=0, atol=1e-10)
    # What is said of them is what the fit says, since it never saw them.
    expected = with_them.log_proba(task.rows)[31:]
    np.testing.assert_allclose(with_them.left_out[31:], expected, rtol=0, atol=1e-9)
    assert np.abs(with_them.left_out[:31] - with_them.log_proba(task.rows)[:31]).max() > 1e-3


@pytest.mark.parametrize("n_features", [12, 70])
@pytest.mark.parametrize("least", [1e-6, 1e-13, 1e-30, 1e-300])
def test_left_out_is_right_for_rows_of_next_to_no_weight(n_features, least):
    weight = np.where(np.arange(40) < 31, 1.0, least)
    task = some_task(n_features=n_features, sample_weight=weight / weight.sum())
    fit = fitted(task)
    expected = fit.log_proba(task.rows)[31:]
    np.testing.assert_allclose(fit.left_out[31:], expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("n_stop", [0, 25])
@pytest.mark.parametrize(("n", "n_classes"), [(3, 3), (2, 2), (40, 2), (7, 7)])
def test_few_rows_and_few_classes(n, n_classes, n_stop):
    task = some_task(n=n, n_stop=n_stop, n_classes=n_classes)
    fit = fitted(task, n_classes=n_classes)
    assert fit.left_out.shape == (n, n_classes)
    assert np.isfinite(fit.left_out).all()
    assert np.isfinite(fit.log_proba(task.rows)).all()
    np.testing.assert_allclose(np.exp(fit.left_out).sum(axis=1), 1.0)


@pytest.mark.parametrize("n_features", [12, 70])
def test_sparse_and_dense_tasks_give_the_same_fit(n_features):
    dense = some_task(n_features=n_features)
    sparse_one = some_task(n_features=n_features, form=sparse.csr_array)
    fits = [fitted(dense), fitted(sparse_one)]
    proba = [
        each.log_proba(task.rows) for each, task in zip(fits, (dense, sparse_one), strict=True)
    ]
    np.testing.assert_allclose(proba[1], proba[0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(fits[1].left_out, fits[0].left_out, rtol=0, atol=1e-10)


def test_a_fit_can_leave_the_left_out_rows_untold():
    task = some_task()
    told, untold = fitted(task), fitted(task, tell_left_out=False)
    assert untold.left_out is None
    assert torch.equal(untold.learner.coefficients, told.learner.coefficients)
    assert untold.record == told.record


def test_the_parameters_have_the_type_asked_for():
    assert fitted(some_task(), dtype=torch.float32).learner.coefficients.dtype == torch.float32


def test_rows_that_are_not_finite_are_our_error():
    task = some_task()
    task.rows[3, 2] = np.nan
    with pytest.raises(NumericalError, match=r"ridge of hop 0 has no finite solution.*AGC-N505"):
        fitted(task)


# Many rows and many columns


@pytest.mark.parametrize("n_stop", [0, 300])
@pytest.mark.parametrize(("n", "n_features"), [(90, 120), (150, 80)])
def test_beyond_the_limit_one_strength_is_solved_for_all_rows(monkeypatch, n, n_features, n_stop):
    task = some_task(n=n, n_features=n_features, n_stop=n_stop)
    monkeypatch.setattr(ridge, "LARGEST_SIDE", 60)
    fit = fitted(task)
    rows, targets = ridge_rows(task.rows), np.eye(3)[task.labels]
    candidates = {
        (s, t): by_equation(rows, targets, np.ones(n), s) / t
        for s in STRENGTHS
        for t in TEMPERATURES
    }
    found = fit.learner.coefficients.numpy()
    distance = {key: np.abs(found - each).max() for key, each in candidates.items()}
    strength, temperature = min(distance, key=lambda key: distance[key])
    assert distance[strength, temperature] < 1e-9  # a solution of all rows, not of some
    expected = RidgePath(rows, targets, np.ones(n)).left_out(strength) / temperature
    np.testing.assert_allclose(fit.left_out, log_softmax(expected, axis=1), rtol=0, atol=1e-8)


def test_at_the_limit_nothing_is_drawn(monkeypatch):
    task = some_task(n=60, n_features=80)
    fit = fitted(task)
    monkeypatch.setattr(ridge, "LARGEST_SIDE", 60)
    monkeypatch.setattr(ridge, "RidgeSolve", None)
    assert torch.equal(fitted(task).learner.coefficients, fit.learner.coefficients)


def test_few_labeled_rows_among_many_pseudo_labels_are_all_kept(monkeypatch):
    monkeypatch.setattr(ridge, "LARGEST_SIDE", 30)
    pseudo = np.full((200, 3), 0.7 / 600)
    rng = np.random.default_rng(0)
    labels = np.arange(6) % 3
    task = HopTask(0, rng.normal(size=(206, 50)), labels, np.full(6, 0.05), pseudo_labels=pseudo)
    seen = []
    path = ridge.RidgePath
    monkeypatch.setattr(ridge, "RidgePath", lambda *given: seen.append(given) or path(*given))
    assert fitted(task).left_out.shape == (6, 3)
    rows, targets, weight = seen[0]
    assert rows.shape == (30, 50)
    np.testing.assert_array_equal(rows[:6], ridge_rows(task.rows)[:6])
    np.testing.assert_array_equal(targets[:6], np.eye(3)[labels])
    assert len(weight) == 30


@pytest.mark.parametrize("n_stop", [0, 300])
def test_memory_is_a_small_multiple_of_many_rows(n_stop):
    rng = np.random.default_rng(0)
    labels = np.arange(60_000 + n_stop) % 3
    rows = rng.standard_normal((len(labels), 100), dtype=np.float32)
    rows[np.arange(len(labels)), labels] += 3.0
    stop = (rows[60_000:], labels[60_000:]) if n_stop else (None, None)
    task = HopTask(0, rows[:60_000], labels[:60_000], np.full(60_000, 1 / 60_000), *stop)
    tracemalloc.start()
    fit = fitted(task, dtype=torch.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * rows.nbytes
    assert (fit.left_out.argmax(axis=1) == task.labels).mean() > 0.9


@pytest.mark.parametrize("period", [1, 2, 5, 7, 10, 41])
def test_rows_are_drawn_evenly_over_places_and_repeating_classes(period):
    kept = evenly(20_000, 2_000)
    assert len(np.unique(kept)) == 2_000
    assert (np.diff(kept) > 0).all()
    counts = np.bincount(kept % period, minlength=period)
    assert counts.min() > 0.8 * 2_000 / period
    assert np.bincount(kept // 2_000, minlength=10).tolist() == pytest.approx([200] * 10, abs=5)
    assert evenly(7, 7).tolist() == list(range(7))
    assert evenly(0, 7).tolist() == []


def test_products_that_cannot_be_decomposed_are_our_error():
    rows, targets, weight = some_problem((20, 33))
    with pytest.raises(NumericalError, match=r"too inexact to be solved.*AGC-N506"):
        RidgeSolve(rows, targets, weight).coefficients([-100.0])

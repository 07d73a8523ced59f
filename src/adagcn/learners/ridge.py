"""A closed-form learner: weighted ridge regression of the classes on the rows of a hop.

With F the rows divided by their Euclidean norm and a constant behind them, Y the targets (one-hot,
or the probabilities of a pseudo-label) and node weights w,

    W = argmin Σ_i w_i ‖F_i W − Y_i‖² + λ‖W‖² = Fᵀ(F Fᵀ + λ diag(1/w))⁻¹ Y,

and p = softmax(F W / τ). The smaller side of F decides what is solved: the rows' products where
there are fewer rows than columns (the dual form), the columns' products otherwise.

- Up to :data:`LARGEST_SIDE` on that side, one eigendecomposition serves every strength λ
  (:class:`RidgePath`).
- Beyond, λ is chosen on so many rows, spread evenly over all, and all rows are then solved for
  that one λ by Cholesky's decomposition, a twentieth of the work (:class:`RidgeSolve`).

What the fit would say of a row without having seen it is exact in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import log_softmax
from sklearn.preprocessing import normalize
from torch import Tensor, nn

from adagcn.engines.memory import check_memory
from adagcn.errors import NumericalError
from adagcn.graph import Features
from adagcn.learners.inputs import Input, SparseRows, as_input, times
from adagcn.training.hop_fitter import FittedHop, HopTask
from adagcn.training.loop import TrainingRecord

STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
TEMPERATURES = (0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)

LARGEST_SIDE = 2000  # of an eigendecomposition; also the most left-out rows that judge a strength
ROWS_AT_ONCE = 2**14  # of the primal form; bounds the memory besides the rows
_RISE = 1e-9  # of a loss: more than rounding moves it
_NO_WEIGHT = 1e-12  # below it a row does not move the fit by what float64 can show
_GOLDEN = (5.0**0.5 - 1.0) / 2.0

Scores = NDArray[np.float64]
Some = NDArray[np.intp]


def ridge_rows(rows: Features) -> Features:
    """Return rows of a hop as the ridge sees them: of Euclidean norm one; a zero row stays zero."""
    if not isinstance(rows, np.ndarray):
        return normalize(rows, norm="l2", axis=1)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    norms[norms == 0.0] = 1.0
    return np.asarray(rows / norms[:, None])


class Fits(Protocol):
    """Weighted ridge fits of one set of rows."""

    def coefficients(self, strengths: Sequence[float]) -> list[Scores]:
        """Return W of shape (n_features + 1, n_classes) for each strength, the bias last."""

    def left_out(self, strength: float, some: Some | None = None) -> Scores:
        """Return what the fit without row i says of row i, for every row or for some."""


class RidgePath:
    """The weighted ridge fits of one set of rows for every strength.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n_rows, n_features)
        F without its constant column.
    targets : ndarray of shape (n_rows, n_classes)
        Y.
    weight : ndarray of shape (n_rows,)
        w, positive.
    """

    def __init__(self, rows: Features, targets: Scores, weight: NDArray[np.float64]) -> None:
        self._rows, self._targets, self._weight = rows, targets, weight
        self._dual = _is_dual(rows)
        _check_side(rows)
        if self._dual:
            self._values, self._vectors = _eigh(_row_products(rows, weight))
            self._projected = self._vectors.T @ (np.sqrt(weight)[:, None] * targets)
            return
        self._values, self._vectors = _eigh(_column_products(rows, weight))
        self._projected = self._vectors.T @ _pulled(rows, weight[:, None] * targets)

    def coefficients(self, strengths: Sequence[float]) -> list[Scores]:
        """Return W of shape (n_features + 1, n_classes) for each strength; its last row is a bias.

        All in one product, since the rows are the large part of it.
        """
        solved = [self._projected / (self._values + s)[:, None] for s in strengths]
        if not self._dual:
            return [self._vectors @ each for each in solved]
        root = np.sqrt(self._weight)[:, None]
        pulls = np.hstack([root * (self._vectors @ each) for each in solved])
        return np.split(_times_transposed(self._rows, pulls), len(strengths), axis=1)

    def left_out(self, strength: float, some: Some | None = None) -> Scores:
        """Return what the fit without row i says of row i, for every row or for some.

        Exact: y_i − α_i/G_ii with G = (F Fᵀ + λ diag(1/w))⁻¹ and α = G Y in the dual form, and
        (ŷ_i − h_i y_i)/(1 − h_i) with the leverage h_i = w_i F_i (Fᵀ diag(w) F + λ)⁻¹ F_iᵀ in the
        primal one.
        """
        shrunk = 1.0 / (self._values + strength)
        if self._dual:
            solved = self._vectors @ (shrunk[:, None] * self._projected)
            diagonal = np.square(self._vectors) @ shrunk
            said = _dual_left_out(self._targets, self._weight, solved, diagonal)
            return said if some is None else said[some]
        solution = shrunk[:, None] * self._projected

        def fitted_and_leverage(rows: Features) -> tuple[Scores, Scores]:
            seen = _times(rows, self._vectors)
            return seen @ solution, np.square(seen) @ shrunk

        return _primal_left_out(self._rows, self._targets, self._weight, some, fitted_and_leverage)


class RidgeSolve:
    """The weighted ridge fit of many rows and columns, one strength at a time.

    Takes the parameters of :class:`RidgePath` and gives what it gives. Each strength costs a
    decomposition of its own, by Cholesky; the last one is kept.
    """

    def __init__(self, rows: Features, targets: Scores, weight: NDArray[np.float64]) -> None:
        self._rows, self._targets, self._weight = rows, targets, weight
        self._dual = _is_dual(rows)
        _check_side(rows)
        if self._dual:
            self._products = _row_products(rows, weight)
            self._right = np.sqrt(weight)[:, None] * targets
        else:
            self._products = _column_products(rows, weight)
            self._right = _pulled(rows, weight[:, None] * targets)
        self._kept: tuple[float, Scores] | None = None

    def coefficients(self, strengths: Sequence[float]) -> list[Scores]:
        """Return W of shape (n_features + 1, n_classes) for each strength, the bias last."""
        solved = [self._solved(each) for each in strengths]
        if not self._dual:
            return solved
        root = np.sqrt(self._weight)[:, None]
        return [_times_transposed(self._rows, root * each) for each in solved]

    def left_out(self, strength: float, some: Some | None = None) -> Scores:
        """Return what the fit without row i says of row i; see :meth:`RidgePath.left_out`."""
        solved = self._solved(strength)
        if self._dual:
            inverse, _ = linalg.lapack.dpotri(self._lower(strength), lower=1)
            said = _dual_left_out(self._targets, self._weight, solved, inverse.diagonal())
            return said if some is None else said[some]

        def fitted_and_leverage(rows: Features) -> tuple[Scores, Scores]:
            lower = self._lower(strength)
            seen = linalg.solve_triangular(
                lower, _with_ones(rows).T, lower=True, overwrite_b=True, check_finite=False
            )
            return _times(rows, solved), np.square(seen).sum(axis=0)

        return _primal_left_out(self._rows, self._targets, self._weight, some, fitted_and_leverage)

    def _solved(self, strength: float) -> Scores:
        lower = self._lower(strength)
        return np.asarray(linalg.cho_solve((lower, True), self._right, check_finite=False))

    def _lower(self, strength: float) -> Scores:
        """Return L with L Lᵀ = the products + λ; what is above its diagonal does not count."""
        if self._kept is None or self._kept[0] != strength:
            self._kept = None  # frees the last one before there is another
            shifted = self._products.copy(order="F")
            shifted[np.diag_indices(len(shifted))] += strength
            lower = _cholesky(shifted)
            self._kept = strength, lower
        return self._kept[1]


@dataclass(frozen=True)
class Chosen:
    """The strength λ and the temperature τ with the lowest loss, and that loss."""

    strength: float
    temperature: float
    loss: float


def lowest_loss(
    scores: Iterable[tuple[float, Scores]], labels: NDArray[np.int64], weight: NDArray[np.float64]
) -> Chosen:
    """Return the strength and temperature whose weighted mean of −log p_y is the lowest.

    Parameters
    ----------
    scores : iterable of (strength, scores)
        What the fit of each strength says of the judging rows.
    labels, weight : ndarray of shape (n_rows,)
        Classes and weights of those rows.
    """
    share = weight / weight.sum()
    tried = (
        Chosen(strength, temperature, loss)
        for strength, said in scores
        for temperature, loss in _falling_losses(said, labels, share)
    )
    return min(tried, key=lambda choice: choice.loss)


def _falling_losses(
    said: Scores, labels: NDArray[np.int64], share: NDArray[np.float64]
) -> Iterator[tuple[float, float]]:
    """Yield temperatures with their losses, up to the first one at which the loss has risen.

    The loss is convex in 1/τ: once it rises, it rises to the end.
    """
    before = np.inf
    for temperature, log_proba in _at_every_temperature(said, labels):
        loss = float(-(share * log_proba).sum())
        yield temperature, loss
        if loss > before + _RISE * abs(before):
            return
        before = loss


def _at_every_temperature(
    said: Scores, labels: NDArray[np.int64]
) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Yield each temperature with log softmax of the scores over it, at the labels alone."""
    places, top = np.arange(len(labels)), said.max(axis=1, keepdims=True)
    for temperature in TEMPERATURES:
        shifted = said / temperature
        shifted -= top / temperature
        of_labels = shifted[places, labels]
        yield temperature, of_labels - np.log(np.exp(shifted, out=shifted).sum(axis=1))


class RidgeLearner(nn.Module):
    """softmax(F W/τ): rows divided by their norm, times a weight that was found in closed form.

    Parameters
    ----------
    coefficients : Tensor of shape (n_features + 1, n_classes)
        W/τ; the last row is the bias.
    """

    def __init__(self, coefficients: Tensor) -> None:
        super().__init__()
        self.coefficients = nn.Parameter(coefficients, requires_grad=False)

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as this learner takes them."""
        return as_input(rows, self.coefficients)

    def forward(self, inputs: Input) -> Tensor:
        """Return logits of shape (n_rows, n_classes)."""
        scores = times(inputs, self.coefficients[:-1])
        return scores / row_norms(inputs)[:, None] + self.coefficients[-1]

    def members(self) -> list[Any]:
        """Return what is trained: nothing."""
        return []


@dataclass(frozen=True)
class RidgeFitter:
    """Fits every hop in closed form; the boosting loop's ``fit_hop``.

    Strength and temperature have the lowest loss on the stopping rows, or on the labeled rows, each
    left out of its own fit, where there are no stopping rows (on :data:`LARGEST_SIDE` of them, if
    there are more).

    Parameters
    ----------
    n_classes : int
        Number of classes.
    dtype : torch.dtype
        Type of the coefficients.
    tell_left_out : bool
        Whether fits come with what they say of each labeled row without having seen it, which costs
        as much again where there are many.
    """

    n_classes: int
    dtype: torch.dtype
    tell_left_out: bool = True

    def __call__(self, task: HopTask) -> FittedHop:
        """Return the learner of this hop."""
        rows = task.room.mapped(ridge_rows, task.rows)
        targets, weight = targets_and_weights(task, self.n_classes)
        used = np.flatnonzero(weight > 0.0)
        n_labeled = int(np.searchsorted(used, len(task.labels)))
        whole = _Problem(
            task.room.some(rows, used), targets[used], weight[used], task.labels[used[:n_labeled]]
        )
        fits, best, solution = _fitted(whole, _stopping_rows(task))
        _check_finite(solution, task.hop)
        learner = RidgeLearner(torch.from_numpy(solution / best.temperature).to(self.dtype))
        left_out = None
        if self.tell_left_out:
            said = scores_of(rows[: len(task.labels)], solution)
            seen = whole.with_weight()
            said[used[seen]] = fits.left_out(best.strength, seen)
            left_out = np.asarray(log_softmax(said / best.temperature, axis=1))
        fitted = FittedHop(learner, TrainingRecord(0), left_out=left_out)
        if task.stop_rows is None or task.stop_labels is None:
            return fitted
        right = fitted.log_proba(task.stop_rows).argmax(axis=1) == task.stop_labels
        return replace(fitted, record=TrainingRecord(0, float(right.mean()), best.loss))


@dataclass(frozen=True)
class _Problem:
    """Rows with a weight, the labeled ones first, and the classes of these."""

    rows: Features
    targets: Scores
    weight: NDArray[np.float64]
    labels: NDArray[np.int64]

    def spread(self, most: int) -> _Problem:
        """Return so many of the rows; at least half of them are labeled, if there are as many."""
        n_rows, n_labeled = len(self.weight), len(self.labels)
        n_kept = max(most * n_labeled // n_rows, min(n_labeled, most // 2))
        labeled = evenly(n_labeled, n_kept)
        others = n_labeled + evenly(n_rows - n_labeled, most - n_kept)
        kept = np.concatenate([labeled, others])
        return _Problem(
            self.rows[kept], self.targets[kept], self.weight[kept], self.labels[labeled]
        )

    def with_weight(self) -> Some:
        """Return the labeled rows that move the fit; others are as good as left out anyway."""
        return np.flatnonzero(self.weight[: len(self.labels)] > _NO_WEIGHT)


def _fitted(whole: _Problem, stopping: _StoppingRows | None) -> tuple[Fits, Chosen, Scores]:
    """Return the fits of all rows, the choice among them, and the coefficients chosen."""
    if min(whole.rows.shape) <= LARGEST_SIDE:
        path = RidgePath(whole.rows, whole.targets, whole.weight)
        return path, *_choose(path, STRENGTHS, whole, stopping)
    fewer = whole.spread(LARGEST_SIDE)
    path = RidgePath(fewer.rows, fewer.targets, fewer.weight)
    strength = _choose(path, STRENGTHS, fewer, stopping)[0].strength
    del path, fewer
    solve = RidgeSolve(whole.rows, whole.targets, whole.weight)
    return solve, *_choose(solve, [strength], whole, stopping)


@dataclass(frozen=True)
class _StoppingRows:
    """Rows that judge a fit, as the ridge sees them, and their classes."""

    rows: Features
    labels: NDArray[np.int64]


def _stopping_rows(task: HopTask) -> _StoppingRows | None:
    if task.stop_rows is None or task.stop_labels is None:
        return None
    return _StoppingRows(task.room.mapped(ridge_rows, task.stop_rows), task.stop_labels)


def _choose(
    fits: Fits, strengths: Sequence[float], problem: _Problem, stopping: _StoppingRows | None
) -> tuple[Chosen, Scores]:
    """Return the strength and temperature with the lowest loss, and the coefficients."""
    solutions = fits.coefficients(strengths)
    said: Iterator[Scores]
    if stopping is not None:
        said = (scores_of(stopping.rows, each) for each in solutions)
        labels, share = stopping.labels, np.ones(len(stopping.labels))
    else:
        seen = problem.with_weight()
        seen = seen[evenly(len(seen), LARGEST_SIDE)]
        said = (fits.left_out(each, seen) for each in strengths)
        labels, share = problem.labels[seen], problem.weight[seen]
    best = lowest_loss(zip(strengths, said, strict=True), labels, share)
    return best, solutions[list(strengths).index(best.strength)]


def _check_finite(solution: Scores, hop: int) -> None:
    if not np.isfinite(solution).all():
        raise NumericalError(
            "AGC-N505",
            f"the ridge of hop {hop} has no finite solution",
            got=float(np.abs(solution).max()),
            fix="scale the features, or use another preset",
        )


def evenly(n: int, most: int) -> Some:
    """Return up to so many of the numbers 0, …, n − 1, in order, spread evenly over them.

    Those with the smallest fractional parts of i times the golden ratio. Unlike every n-th they
    are also spread evenly over classes that repeat in the order of the rows.
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.argsort(np.arange(n) * _GOLDEN % 1.0, kind="stable")[:most])


def targets_and_weights(task: HopTask, n_classes: int) -> tuple[Scores, NDArray[np.float64]]:
    """Return what each row of a task should say, and its weight; labeled rows weigh 1 on average.

    So the strengths mean the same whatever share of the loss the pseudo-labels have. Rows of weight
    zero do not count.
    """
    n_labeled = np.count_nonzero(task.sample_weight)
    targets = np.eye(n_classes)[task.labels]
    weight = task.sample_weight
    if task.pseudo_labels is not None:
        each = task.pseudo_labels.sum(axis=1)
        targets = np.vstack([targets, task.pseudo_labels / each[:, None]])
        weight = np.concatenate([weight, each])
    return targets, weight * (n_labeled / task.sample_weight.sum())


def scores_of(rows: Features, coefficients: Scores) -> Scores:
    """Return F W, with the bias."""
    return _times(rows, coefficients)


def _times(rows: Features, right: Scores) -> Scores:
    """Return [rows, 1] times a matrix."""
    product = _dense(rows @ right[:-1].astype(rows.dtype, copy=False))
    return np.asarray(product + right[-1])


def _times_transposed(rows: Features, right: Scores) -> Scores:
    """Return the transpose of [rows, 1] times a matrix."""
    product = _dense(rows.T @ right.astype(rows.dtype, copy=False))
    return np.vstack([product, right.sum(axis=0)])


def _with_constant(rows: Features, weight: NDArray[np.float64]) -> Scores:
    """Return [rows, 1]ᵀ diag(w) [rows, 1]."""
    kind = rows.dtype
    weighted = (
        rows * weight[:, None].astype(kind)
        if isinstance(rows, np.ndarray)
        else rows.multiply(weight[:, None].astype(kind)).tocsr()
    )
    sums = np.asarray(weighted.sum(axis=0), dtype=np.float64).ravel()[:, None]
    inner = _dense(rows.T @ weighted)
    return np.block([[inner, sums], [sums.T, np.array([[weight.sum()]])]])


def _with_ones(rows: Features) -> Scores:
    """Return [rows, 1], dense."""
    return np.hstack([_dense(rows), np.ones((rows.shape[0], 1))])


def _is_dual(rows: Features) -> bool:
    return bool(rows.shape[0] <= rows.shape[1])


def _check_side(rows: Features) -> None:
    side = min(rows.shape[0], rows.shape[1] + 1)
    check_memory(
        3.0 * 8 * side * side,
        f"a ridge of {rows.shape[0]:,} rows and {rows.shape[1]:,} columns",
        got=rows.shape,
        fix="lower max_features, or use preset='tuned'",
    )


def _row_products(rows: Features, weight: NDArray[np.float64]) -> Scores:
    """Return √w (F Fᵀ) √w; the constant column adds one to every product."""
    root = np.sqrt(weight)[:, None]
    products = _dense(rows @ rows.T)
    products += 1.0
    products *= root
    products *= root.T
    return products


def _column_products(rows: Features, weight: NDArray[np.float64]) -> Scores:
    """Return Fᵀ diag(w) F, summed over blocks of rows."""
    blocks = _blocks(rows.shape[0])
    total = _with_constant(rows[blocks[0]], weight[blocks[0]])
    for block in blocks[1:]:
        total += _with_constant(rows[block], weight[block])
    return total


def _pulled(rows: Features, right: Scores) -> Scores:
    """Return Fᵀ times a matrix, summed over blocks of rows."""
    blocks = _blocks(rows.shape[0])
    total = _times_transposed(rows[blocks[0]], right[blocks[0]])
    for block in blocks[1:]:
        total += _times_transposed(rows[block], right[block])
    return total


def _blocks(n_rows: int) -> list[slice]:
    return [slice(at, at + ROWS_AT_ONCE) for at in range(0, n_rows, ROWS_AT_ONCE)]


def _dual_left_out(
    targets: Scores, weight: NDArray[np.float64], solved: Scores, diagonal: NDArray[np.float64]
) -> Scores:
    """Return y − α/diag G from (√w F Fᵀ √w + λ)⁻¹: its product with √w Y and its diagonal."""
    alpha = np.sqrt(weight)[:, None] * solved
    return np.asarray(targets - alpha / (weight * diagonal)[:, None])


def _primal_left_out(
    rows: Features,
    targets: Scores,
    weight: NDArray[np.float64],
    some: Some | None,
    fitted_and_leverage: Callable[[Features], tuple[Scores, Scores]],
) -> Scores:
    """Return (ŷ − h y)/(1 − h), block by block; the function gives ŷ and h/w of some rows."""
    if some is not None and rows.shape[0] > LARGEST_SIDE:  # of fewer, all cost next to nothing
        rows, targets, weight, some = rows[some], targets[some], weight[some], None
    result = np.empty(targets.shape)
    for block in _blocks(rows.shape[0]):
        fitted, by_weight = fitted_and_leverage(rows[block])
        leverage = (weight[block] * by_weight)[:, None]
        result[block] = (fitted - leverage * targets[block]) / (1.0 - leverage)
    return result if some is None else result[some]


def _dense(product: Any) -> Scores:
    array = product if isinstance(product, np.ndarray) else product.toarray()
    return np.asarray(array, dtype=np.float64)


def _eigh(symmetric: Scores) -> tuple[Scores, Scores]:
    """Return eigenvalues, none below zero, and eigenvectors."""
    values, vectors = linalg.eigh(symmetric, overwrite_a=True, check_finite=False)
    return np.maximum(values, 0.0), vectors


def _cholesky(symmetric: Scores) -> Scores:
    """Return L of L Lᵀ in place of its argument; what is above the diagonal does not count."""
    try:
        lower, _ = linalg.cho_factor(symmetric, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise NumericalError(
            "AGC-N506",
            "the ridge's products of so many rows and columns are too inexact to be solved",
            got=symmetric.shape,
            fix=f"set max_features to {LARGEST_SIDE} or less, or use another preset",
        ) from error
    return np.asarray(lower)


def row_norms(inputs: Input) -> Tensor:
    """Return the Euclidean norm of every row; one for a zero row."""
    if isinstance(inputs, SparseRows):
        squares = inputs.matrix.multiply(inputs.matrix).sum(axis=1)
        norms = torch.from_numpy(np.sqrt(np.asarray(squares).ravel()))
    else:
        norms = torch.linalg.vector_norm(inputs, dim=1)
    return torch.where(norms > 0.0, norms, torch.ones_like(norms))

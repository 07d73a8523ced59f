"""A closed-form learner: weighted ridge regression of the classes on the rows of a hop.

With F the rows divided by their Euclidean norm and a constant behind them, Y the targets (one-hot,
or the probabilities of a pseudo-label) and node weights w,

    W = argmin Σ_i w_i ‖F_i W − Y_i‖² + λ‖W‖² = Fᵀ(F Fᵀ + λ diag(1/w))⁻¹ Y,

and p = softmax(F W / τ). One eigendecomposition serves every strength λ: that of the rows' products
where there are fewer rows than columns (the dual form), that of the columns' products otherwise.
What the fit would say of a row without having seen it is exact and costs nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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

Scores = NDArray[np.float64]


def ridge_rows(rows: Features) -> Features:
    """Return rows of a hop as the ridge sees them: of Euclidean norm one; a zero row stays zero."""
    return normalize(rows, norm="l2", axis=1)


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
        self._dual = rows.shape[0] <= rows.shape[1]
        side = min(rows.shape[0], rows.shape[1] + 1)
        check_memory(
            3.0 * 8 * side * side,
            f"a ridge of {rows.shape[0]:,} rows and {rows.shape[1]:,} columns",
            got=rows.shape,
            fix="lower max_features, or use preset='tuned'",
        )
        self._decompose()

    def _decompose(self) -> None:
        root = np.sqrt(self._weight)[:, None]
        if self._dual:  # K̃ = √w (F Fᵀ) √w, the constant column adds one to every product
            products = _dense(self._rows @ self._rows.T) + 1.0
            self._values, self._vectors = _eigh(root * products * root.T)
            self._projected = self._vectors.T @ (root * self._targets)
            return
        weighted = _with_constant(self._rows, self._weight)
        self._values, self._vectors = _eigh(weighted)
        pulled = _times_transposed(self._rows, self._weight[:, None] * self._targets)
        self._projected = self._vectors.T @ pulled

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

    def left_out(self, strength: float) -> Scores:
        """Return what the fit without row i says of row i, for every row.

        Exact: y_i − α_i/G_ii with G = (F Fᵀ + λ diag(1/w))⁻¹ and α = G Y in the dual form, and
        (ŷ_i − h_i y_i)/(1 − h_i) with the leverage h_i = w_i F_i (Fᵀ diag(w) F + λ)⁻¹ F_iᵀ in the
        primal one.
        """
        shrunk = 1.0 / (self._values + strength)
        if self._dual:
            root = np.sqrt(self._weight)[:, None]
            alpha = root * (self._vectors @ (shrunk[:, None] * self._projected))
            diagonal = self._weight * (np.square(self._vectors) @ shrunk)
            return np.asarray(self._targets - alpha / diagonal[:, None])
        seen = _times(self._rows, self._vectors)
        fitted = seen @ (shrunk[:, None] * self._projected)
        leverage = (self._weight * (np.square(seen) @ shrunk))[:, None]
        return np.asarray((fitted - leverage * self._targets) / (1.0 - leverage))


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
    rows, share = np.arange(len(labels)), weight / weight.sum()
    tried = (
        Chosen(
            strength, each, float(-(share * log_softmax(said / each, axis=1)[rows, labels]).sum())
        )
        for strength, said in scores
        for each in TEMPERATURES
    )
    return min(tried, key=lambda choice: choice.loss)


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
        return scores / _norms(inputs)[:, None] + self.coefficients[-1]

    def members(self) -> list[Any]:
        """Return what is trained: nothing."""
        return []


@dataclass(frozen=True)
class RidgeFitter:
    """Fits every hop in closed form; the boosting loop's ``fit_hop``.

    Strength and temperature have the lowest loss on the stopping rows, or on the labeled rows, each
    left out of its own fit, where there are no stopping rows.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    dtype : torch.dtype
        Type of the coefficients.
    """

    n_classes: int
    dtype: torch.dtype

    def __call__(self, task: HopTask) -> FittedHop:
        """Return the learner of this hop."""
        targets, weight = targets_and_weights(task, self.n_classes)
        used = np.flatnonzero(weight > 0.0)
        rows = ridge_rows(task.rows)
        path = RidgePath(rows[used], targets[used], weight[used])
        solutions = path.coefficients(STRENGTHS)
        labeled = used[used < len(task.labels)]
        if task.stop_rows is not None and task.stop_labels is not None:
            judged, labels = ridge_rows(task.stop_rows), task.stop_labels
            said = (scores_of(judged, each) for each in solutions)
            share = np.ones(len(labels))
        else:
            said = (path.left_out(each)[: len(labeled)] for each in STRENGTHS)
            labels, share = task.labels[labeled], weight[labeled]
        best = lowest_loss(zip(STRENGTHS, said, strict=True), labels, share)
        solution = solutions[STRENGTHS.index(best.strength)] / best.temperature
        if not np.isfinite(solution).all():
            raise NumericalError(
                "AGC-N503",
                f"the ridge of hop {task.hop} has no finite solution",
                got=float(np.abs(path.coefficients([best.strength])[0]).max()),
                fix="scale the features, or use another preset",
            )
        learner = RidgeLearner(torch.from_numpy(solution).to(self.dtype))
        record, left_out = TrainingRecord(0), self._left_out(path, best, rows, task, labeled)
        fitted = FittedHop(learner, record, left_out=left_out)
        if task.stop_rows is None or task.stop_labels is None:
            return fitted
        right = fitted.log_proba(task.stop_rows).argmax(axis=1) == task.stop_labels
        return FittedHop(
            learner, TrainingRecord(0, float(right.mean()), best.loss), left_out=left_out
        )

    def _left_out(
        self,
        path: RidgePath,
        best: Chosen,
        rows: Features,
        task: HopTask,
        labeled: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Return log-probabilities of the labeled rows, each left out of its own fit.

        A row of weight zero is left out anyway.
        """
        said = scores_of(rows[: len(task.labels)], path.coefficients([best.strength])[0])
        said[labeled] = path.left_out(best.strength)[: len(labeled)]
        return np.asarray(log_softmax(said / best.temperature, axis=1))


def targets_and_weights(task: HopTask, n_classes: int) -> tuple[Scores, NDArray[np.float64]]:
    """Return what each row of a task should say, and its weight; labeled rows weigh 1 on average.

    So the strengths mean the same whatever share of the loss the pseudo-labels have.
    """
    n_labeled = len(task.labels)
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


def _dense(product: Any) -> Scores:
    array = product if isinstance(product, np.ndarray) else product.toarray()
    return np.asarray(array, dtype=np.float64)


def _eigh(symmetric: Scores) -> tuple[Scores, Scores]:
    """Return eigenvalues, none below zero, and eigenvectors."""
    values, vectors = linalg.eigh(symmetric, overwrite_a=True, check_finite=False)
    return np.maximum(values, 0.0), vectors


def _norms(inputs: Input) -> Tensor:
    """Return the Euclidean norm of every row; one for a zero row."""
    if isinstance(inputs, SparseRows):
        squares = inputs.matrix.multiply(inputs.matrix).sum(axis=1)
        norms = torch.from_numpy(np.sqrt(np.asarray(squares).ravel()))
    else:
        norms = torch.linalg.vector_norm(inputs, dim=1)
    return torch.where(norms > 0.0, norms, torch.ones_like(norms))

"""Ridges in closed form, and what they say of whole folds that they have not seen.

With K the products of labeled rows (of norm one, and a constant behind them), Y their classes in
one-hot form and λ a strength, a ridge says K(K + λ)⁻¹Y of its own rows. What the fit without the
rows of a fold B says of these rows follows from the same decomposition, exactly:

    Y_B − (G_BB)⁻¹ (G Y)_B   with G = (K + λ)⁻¹.

Folds hold every class in proportion. Leaving out single rows would not do: without a row, its class
is rarer than the others among the rest, and where the rows tell little every fit then votes against
it. With balanced classes accuracy can fall to zero (R. Kohavi, "A study of cross-validation and
bootstrap for accuracy estimation and model selection", IJCAI 1995).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adagcn.graph import Features
from adagcn.learners.ridge import STRENGTHS, Chosen, lowest_loss, ridge_rows

N_FOLDS = 10

Scores = NDArray[np.float64]


def row_products(rows: Features, n_fitted: int) -> Scores:
    """Return the products of all rows with the first ones, each divided by its norm.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n_rows, n_features)
        Rows of a hop.
    n_fitted : int
        How many of them ridges are fitted on.
    """
    normed = ridge_rows(rows)
    found: Any = normed @ normed[:n_fitted].T
    dense = found if isinstance(found, np.ndarray) else found.toarray()
    return np.asarray(dense, dtype=np.float64)


def balanced_folds(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of every row; each has every class in proportion, as nearly as it can."""
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.int64)
    folds[by_class] = np.arange(len(labels)) % min(N_FOLDS, len(labels))
    return folds


class FoldedRidge:
    """The ridges of one set of labeled rows for every strength.

    Parameters
    ----------
    products : ndarray of shape (n_rows, n_rows)
        Of the rows, without the constant.
    labels : ndarray of shape (n_rows,)
        Their classes.
    n_classes : int
        Number of classes.
    folds : ndarray of shape (n_rows,)
        Which rows are left out together.
    """

    def __init__(
        self,
        products: Scores,
        labels: NDArray[np.int64],
        n_classes: int,
        folds: NDArray[np.int64],
    ) -> None:
        values, self._vectors = linalg.eigh(
            products + 1.0, overwrite_a=True, check_finite=False, driver="evd"
        )
        self._values = np.maximum(values, 0.0)
        self._labels = labels
        self._targets = np.eye(n_classes)[labels]
        self._projected = self._vectors.T @ self._targets
        self._folds = [np.flatnonzero(folds == each) for each in np.unique(folds)]

    def best(self) -> Chosen:
        """Return the strength and temperature with the lowest loss of the left-out folds."""
        left_out = ((each, self.left_out(each)) for each in STRENGTHS)
        return lowest_loss(left_out, self._labels, np.ones(len(self._labels)))

    def left_out(self, strength: float) -> Scores:
        """Return what the fit without the fold of a row says of it, for every row."""
        shrunk = 1.0 / (self._values + strength)
        pulls = self._pulls(strength)
        said = np.empty(self._targets.shape)
        for fold in self._folds:
            vectors = self._vectors[fold]
            block = (vectors * shrunk) @ vectors.T
            factor = linalg.cho_factor(block, overwrite_a=True, check_finite=False)
            missed = linalg.cho_solve(factor, pulls[fold], check_finite=False)
            said[fold] = self._targets[fold] - missed
        return said

    def scores(self, products: Scores, strength: float) -> Scores:
        """Return what the fit on all rows says of other rows, by their products with these."""
        return np.asarray((products + 1.0) @ self._pulls(strength))

    def _pulls(self, strength: float) -> Scores:
        """Return G Y."""
        shrunk = 1.0 / (self._values + strength)
        return np.asarray(self._vectors @ (shrunk[:, None] * self._projected))

"""The CPU time of the closed-form learner on one hop, product by product."""

from __future__ import annotations

from dataclasses import dataclass

from adagcn.learners.ridge import LARGEST_SIDE, STRENGTHS, TEMPERATURES
from adagcn.models.estimates.rates import LearnerRates

_DOUBLE = 2.0  # a multiplication in float64 takes twice one in float32
_CHOLESKY = 1 / 3  # of the cube of a side, in multiplications


@dataclass(frozen=True)
class RidgeSeconds:
    """CPU seconds of a ridge and of the choice of its strength.

    Parameters
    ----------
    rates : LearnerRates
        Of this machine.
    n_classes : int
        Number of classes.
    """

    rates: LearnerRates
    n_classes: int

    def of(self, n_rows: int, n_stop: int, n_columns: int) -> float:
        """Return the seconds of a fit (:class:`adagcn.learners.ridge.RidgeFitter`).

        Parameters
        ----------
        n_rows, n_stop : int
            Rows that it is fitted on, and that judge it; without any, rows that are left out do.
        n_columns : int
            Feature columns.
        """
        side = min(n_rows, n_columns)
        if side <= LARGEST_SIDE:
            return self._path(n_rows, n_stop, n_columns)
        fewer = self._path(LARGEST_SIDE, n_stop, n_columns)
        products = float(n_rows) * n_columns * side + _DOUBLE * _CHOLESKY * float(side) ** 3
        return fewer + products * self.rates.flop + self._judging(n_rows, n_stop, n_columns, 1)

    def _path(self, n_rows: int, n_stop: int, n_columns: int) -> float:
        """Return the seconds of one decomposition that serves every strength."""
        side = min(n_rows, n_columns)
        products = float(n_rows) * n_columns * side
        number = len(STRENGTHS)
        solutions = _DOUBLE * number * float(side) ** 2 * self.n_classes
        if n_rows <= n_columns:  # the dual form: coefficients are products with the rows
            solutions += float(number) * n_rows * n_columns * self.n_classes
        else:
            solutions += float(n_rows) * n_columns * self.n_classes
        solved = float(side) ** 3 * self.rates.eigen
        judging = self._judging(n_rows, n_stop, n_columns, number)
        return (products + solutions) * self.rates.flop + solved + judging

    def _judging(self, n_rows: int, n_stop: int, n_columns: int, n_strengths: int) -> float:
        """Return the seconds of scores of the judging rows, and of their loss when cooled."""
        n_judges = n_stop or min(n_rows, LARGEST_SIDE)
        a_judge = float(n_columns) * self.n_classes
        if not n_stop:  # each is left out of the fit
            side = min(n_rows, n_columns)
            a_judge = _DOUBLE * side * (self.n_classes + 1 if n_rows <= n_columns else side)
        losses = len(TEMPERATURES) * self.n_classes * self.rates.voted
        return n_strengths * n_judges * (a_judge * self.rates.flop + losses)

"""What each learner of a layer adds to the log-odds of two classes, as a linear function of a row.

For a row z of a hop and two classes a and b, a layer's log-odds log p_a − log p_b are a sum over
the learners that vote in it, and each of them is of the form

    q(z)ᵀ z + d,    q(z) = M u(z),    d = what does not depend on z,

with a matrix M of its parameters and a vector u(z) of the row:

- a linear map, F = z W: M = W and u = e_a − e_b;
- a perceptron, F = ReLU(z W0) W1: M = W0 and u = [z W0 > 0] ∘ (W1_a − W1_b). It has no biases, so
  that its gradient times its input is F itself: exact, and q is the gradient;
- a ridge, F = z W/‖z‖ + bias: M = W, u = (e_a − e_b)/‖z‖ and d = bias_a − bias_b. Exact, with the
  norm of the row as it is;
- any other classifier: q = 0, and all that it says is d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adagcn.graph import Features
from adagcn.learners.blend import Blend
from adagcn.learners.inputs import Input, times
from adagcn.learners.linear import LinearLearner
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.learners.ridge import RidgeLearner, row_norms
from adagcn.training.hop_fitter import FittedHop


@dataclass(frozen=True)
class ClassPairs:
    """Of each row, the two classes whose log-odds are explained.

    Parameters
    ----------
    label, runner_up : ndarray of shape (n_rows,)
        a and b, as indices of classes.
    """

    label: NDArray[np.intp]
    runner_up: NDArray[np.intp]

    def of(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return scores of a minus scores of b, of shape (n_rows,)."""
        rows = np.arange(len(self.label))
        wide = np.asarray(scores, dtype=np.float64)
        return np.asarray(wide[rows, self.label] - wide[rows, self.runner_up])


@dataclass(frozen=True)
class Voter:
    """One learner of a layer on some rows.

    Parameters
    ----------
    name : str
        ``"perceptron"``, ``"ridge"``, ``"linear"`` or the name of a class of scikit-learn.
    margin : ndarray of shape (n_rows,)
        Its part of log p_a − log p_b.
    units : ndarray of shape (n_rows, n_units) or None
        u(z); None where the learner is no sum over columns.
    parameters : ndarray of shape (n_columns, n_units) or None
        M.
    """

    name: str
    margin: NDArray[np.float64]
    units: NDArray[Any] | None = None
    parameters: NDArray[Any] | None = None

    def gradient(self, some: slice) -> NDArray[Any]:
        """Return q(z) of some rows, of shape (n_some, n_columns)."""
        assert self.units is not None
        assert self.parameters is not None
        return np.asarray(self.units[some] @ self.parameters.T)

    def times(self, share: NDArray[np.float64] | float) -> Voter:
        """Return the voter with a share, or one share for each row, of what it says."""
        units = self.units
        if units is not None:
            column = np.asarray(share, dtype=units.dtype)
            units = units * (column[:, None] if column.ndim else column)
        return replace(self, margin=self.margin * share, units=units)


def voters_of(fitted: Any, rows: Features, pairs: ClassPairs) -> list[Voter]:
    """Return the learners of one layer on some rows.

    Parameters
    ----------
    fitted : FittedHop or another fitted learner
        What was fitted on the hop.
    rows : csr_array or ndarray of shape (n_rows, n_columns)
        Rows of the hop as the learner sees them.
    pairs : ClassPairs
        The two classes of every row.

    Returns
    -------
    list of Voter
        Their margins sum to log p_a − log p_b of the layer, up to the rounding of the learners'
        own type; :func:`summing_to` takes that away.
    """
    if not isinstance(fitted, FittedHop):
        name = type(fitted.classifier).__name__
        return [Voter(name, pairs.of(fitted.log_proba(rows)))]
    learner: Any = fitted.learner
    with torch.no_grad():
        inputs = learner.as_input(rows)
        if not isinstance(learner, Blend):
            return [_linearized(learner, inputs, pairs)]
        shares = learner.shares.double().tolist()
        each = (_linearized(voter, inputs, pairs) for voter in learner.voters)
        return [voter.times(share) for voter, share in zip(each, shares, strict=True)]


def summing_to(voters: list[Voter], total: NDArray[np.float64]) -> list[Voter]:
    """Return the voters with margins that sum to ``total``: rounding goes to the first of them."""
    rest = sum((voter.margin for voter in voters[1:]), np.zeros(len(total)))
    return [replace(voters[0], margin=total - rest), *voters[1:]]


def _linearized(learner: Any, inputs: Input, pairs: ClassPairs) -> Voter:
    """Return a built-in learner as a linear function of each row."""
    for kind, form in _FORMS.items():
        if isinstance(learner, kind):
            return form(learner, inputs, pairs)
    return Voter(type(learner).__name__, pairs.of(learner(inputs).cpu().numpy()))


def _linear(learner: LinearLearner, inputs: Input, pairs: ClassPairs) -> Voter:
    margin = pairs.of(learner(inputs).cpu().numpy())
    parameters = _array(learner.output)
    return Voter("linear", margin, _between(pairs, parameters), parameters)


def _ridge(learner: RidgeLearner, inputs: Input, pairs: ClassPairs) -> Voter:
    margin = pairs.of(learner(inputs).cpu().numpy())
    parameters = _array(learner.coefficients)[:-1]
    norms = row_norms(inputs).cpu().numpy()[:, None]
    return Voter("ridge", margin, _between(pairs, parameters) / norms, parameters)


def _perceptron(learner: TwoLayerPerceptron, inputs: Input, pairs: ClassPairs) -> Voter:
    """Return the perceptron; of several members their mean, each with its own part of M and u."""
    active = times(inputs, learner.hidden).relu_()
    n_rows, (n_members, width, _) = len(active), learner.output.shape
    by_member = active.reshape(n_rows, n_members, width)
    label, runner_up = (
        torch.from_numpy(each).to(active.device) for each in (pairs.label, pairs.runner_up)
    )
    difference = active.new_zeros(n_rows, n_members, width)
    for classes, sign in ((label, 1.0), (runner_up, -1.0)):
        weight = learner.output[:, :, classes].permute(2, 0, 1)  # (n_rows, n_members, width)
        if learner.relu_logits:
            logits = (by_member * weight).sum(dim=2, keepdim=True)
            weight = torch.where(logits > 0.0, weight, torch.zeros_like(weight))
        difference += sign * weight
    units = torch.where(by_member > 0.0, difference, torch.zeros_like(difference)) / n_members
    margin = pairs.of(learner(inputs).cpu().numpy())
    return Voter("perceptron", margin, _array(units.reshape(n_rows, -1)), _array(learner.hidden))


_FORMS: dict[type[Any], Callable[[Any, Input, ClassPairs], Voter]] = {
    LinearLearner: _linear,
    RidgeLearner: _ridge,
    TwoLayerPerceptron: _perceptron,
}


def _between(pairs: ClassPairs, parameters: NDArray[Any]) -> NDArray[Any]:
    """Return e_a − e_b of every row."""
    one_hot = np.eye(parameters.shape[1], dtype=parameters.dtype)
    return np.asarray(one_hot[pairs.label] - one_hot[pairs.runner_up])


def _array(values: Tensor) -> NDArray[Any]:
    return np.asarray(values.detach().cpu().numpy())

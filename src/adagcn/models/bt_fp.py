"""Buchnik and Cohen: Bootstrapped Graph Diffusions, SIGMETRICS 2018: feature propagation, BT.FP.

https://arxiv.org/abs/1703.02618

Features are spread over the graph once; a logistic regression on them labels more and more nodes
for itself::

    F^(0)   = X
    F^(t+1) = (1 − ρ) Ã F^(t) + ρ X        t = 0 … T − 1
    Z       = F^(T) W

First W is fitted on the training nodes. Then S times: predict the nodes without a label, take the
surest of every class (by the margin between the two best classes; r n in all, each class by its
share of the predictions) as labeled from now on, fit again.

Shapes: X and F (n_nodes, n_features); W (n_features, n_classes); Z (n_nodes, n_classes), softmax on
top. ρ is ``teleport``, T ``n_steps``, S ``n_bootstraps``, r ``added_share``, n the number of nodes.
Ã is Â, or D̃^−1 (A + I) for ``normalization="random_walk"``. W minimizes the weighted mean of
−log p_y plus ‖W‖²/(2C), by scikit-learn's ``LogisticRegression``. A node that labeled itself counts
as much as the mean training node of its class.

Predictions spread X W instead of X, which is the same and narrow; so the model carries over to
other graphs. There is no preset ``authors``: no code or settings of theirs are public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from adagcn.errors import FormatError, InputError
from adagcn.graph import Features
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.settings import Count, Positive, Share, SystemSettings, Teleport
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem, Recipe, measured
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.ppr import power_iteration_ppr
from adagcn.training.loop import TrainingRecord

# Tried in this order where there are stopping nodes; the first is used where there are none. What
# stands first is weak: under a strong penalty the largest class wins more with every bootstrap,
# until nothing else is predicted.
STRENGTHS = (1e6, 1e5, 1e4, 1e3)
# Features that are spread together: few enough for the processor's cache.
COLUMNS_AT_ONCE = 128
# A class without training nodes has a logit this far below the others.
ABSENT = 30.0


class BTFPSettings(SystemSettings):
    """Settings of bootstrapped feature propagation."""

    n_steps: Annotated[Count, "T, steps that the features are spread by"] = 10
    teleport: Annotated[
        Teleport, "ρ, return probability: share of a node's own features in every step"
    ] = 0.2
    normalization: Annotated[
        Literal["symmetric", "random_walk"],
        "what a step multiplies with: Â, or the matrix whose rows sum to one",
    ] = "symmetric"
    n_bootstraps: Annotated[
        int, Field(ge=0), "S, times that the model labels nodes and is fitted again"
    ] = 10
    added_share: Annotated[Share, "share of all nodes that is labeled each time, r"] = 0.1
    C: Annotated[
        Positive | None,
        "inverse strength of the penalty against the mean loss; None keeps the one of a few with "
        "the lowest loss on the stopping nodes (without those, 10⁶)",
    ] = None


@dataclass(frozen=True)
class Linear:
    """W of the classes that have training nodes, of shape (n_features, n_present)."""

    weight: NDArray[Any]
    present: NDArray[np.int64]
    n_classes: int

    def log_proba(self, products: NDArray[Any]) -> NDArray[np.float64]:
        """Return log-probabilities from F W, of shape (n_rows, n_classes)."""
        known = products.astype(np.float64)
        logits = np.repeat(known.min(axis=1, keepdims=True) - ABSENT, self.n_classes, axis=1)
        logits[:, self.present] = known
        return np.asarray(log_softmax(logits, axis=1))


@dataclass(frozen=True)
class FittedBTFP:
    """A fitted regression, and how features are spread for it."""

    linear: Linear
    settings: BTFPSettings
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        products = np.ascontiguousarray(inputs.features @ self.linear.weight)
        spread = _spread(_matrix(inputs, self.settings), products, self.settings)
        return self.linear.log_proba(spread[positions])

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return W and its classes."""
        return {"weight": self.linear.weight, "present": self.linear.present}


class BTFPSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = BTFPSettings
    recipes: Mapping[str, Recipe] = {"paper": Recipe()}

    def fit(self, problem: NodeProblem, settings: BTFPSettings, context: FitContext) -> FittedBTFP:
        """Spread the features and bootstrap; nothing is random."""
        features = spread_features(problem.inputs, settings)
        strength = _strength(problem, features, settings)
        linear, n_iterations = bootstrap(problem, features, settings, strength)
        return measured(FittedBTFP(linear, settings, TrainingRecord(n_iterations)), problem)

    def restore(
        self, tensors: Tensors, settings: BTFPSettings, n_features: int, n_classes: int
    ) -> FittedBTFP:
        """Return what the tensors came from."""
        present = tensors.get("present", np.empty(0))
        weight = tensors.get("weight", np.empty(0))
        good = weight.shape == (n_features, len(present)) and set(tensors) == {"weight", "present"}
        if not good or not np.isin(present, np.arange(n_classes)).all():
            raise FormatError(
                "AGC-F1081",
                "the model file's tensors do not fit the model: weight, present",
                got=[tensor.shape for tensor in tensors.values()],
                fix="save the model again",
            )
        return FittedBTFP(Linear(weight, present, n_classes), settings, TrainingRecord(0))


def spread_features(inputs: GraphInput, settings: BTFPSettings) -> NDArray[Any]:
    """Return F^(T) of all nodes, a few columns at a time."""
    matrix, features = _matrix(inputs, settings), inputs.features
    by_column = features if isinstance(features, np.ndarray) else features.tocsc()
    result = np.empty(features.shape, dtype=features.dtype)
    for start in range(0, features.shape[1], COLUMNS_AT_ONCE):
        block = slice(start, start + COLUMNS_AT_ONCE)
        result[:, block] = _spread(matrix, _dense(by_column[:, block]), settings)
    return result


def bootstrap(
    problem: NodeProblem, features: NDArray[Any], settings: BTFPSettings, strength: float
) -> tuple[Linear, int]:
    """Return the last of S + 1 regressions, and all their iterations together."""
    nodes, n_classes = problem.nodes, problem.n_classes
    known, labels, weights = nodes.train_nodes, nodes.labels, nodes.sample_weight
    counts = np.maximum(np.bincount(labels, minlength=n_classes), 1)
    weight_of_class = np.bincount(labels, weights, minlength=n_classes) / counts
    n_added = settings.added_share * problem.inputs.n_nodes
    linear, total = regression(features[known], labels, weights, n_classes, strength)
    for _ in range(settings.n_bootstraps):
        others = np.setdiff1d(np.arange(problem.inputs.n_nodes), known)
        log_proba = linear.log_proba(features[others] @ linear.weight)
        surest = most_certain(log_proba, n_added)
        known = np.concatenate([known, others[surest]])
        labels = np.concatenate([labels, log_proba[surest].argmax(axis=1)])
        weights = np.concatenate([weights, weight_of_class[labels[len(weights) :]]])
        linear, n_iterations = regression(features[known], labels, weights, n_classes, strength)
        total += n_iterations
    return linear, total


def most_certain(log_proba: NDArray[np.float64], n_wanted: float) -> NDArray[np.intp]:
    """Return the rows of largest margin in each class, about ``n_wanted`` of them.

    A class has its share of the rows that are predicted to be of it, at most all of those.
    """
    if len(log_proba) == 0:
        return np.empty(0, dtype=np.intp)
    predicted = log_proba.argmax(axis=1)
    best_two = np.sort(np.exp(log_proba), axis=1)[:, -2:]
    order = np.argsort(best_two[:, 0] - best_two[:, 1], kind="stable")  # largest margin first
    counts = np.bincount(predicted, minlength=log_proba.shape[1])
    quotas = np.rint(counts * min(1.0, n_wanted / len(log_proba))).astype(np.intp)
    chosen = [order[predicted[order] == k][: quotas[k]] for k in range(len(quotas))]
    return np.sort(np.concatenate(chosen))


def regression(
    rows: Features,
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    strength: float,
) -> tuple[Linear, int]:
    """Return a logistic regression without biases, and its iterations."""
    present = np.unique(labels)
    if len(present) < 2:
        raise InputError(
            "AGC-I1082",
            "bt_fp needs training nodes of positive weight in at least two classes",
            got=f"{len(present)}",
            fix="give nodes of another class a positive weight",
        )
    model = LogisticRegression(C=strength, fit_intercept=False, tol=1e-6, max_iter=10_000)
    model.fit(rows, labels, sample_weight=weights / weights.sum())
    weight = model.coef_
    if len(present) == 2:  # one row for both: the difference of their logits
        weight = np.vstack([-weight, weight]) / 2.0
    linear = Linear(np.ascontiguousarray(weight.T), present.astype(np.int64), n_classes)
    return linear, int(model.n_iter_.max())


def _strength(problem: NodeProblem, features: NDArray[Any], settings: BTFPSettings) -> float:
    """Return C: the given one, or that of least loss on the stopping nodes without bootstraps."""
    nodes, stop_labels = problem.nodes, problem.nodes.stop_labels
    if settings.C is not None:
        return settings.C
    if nodes.stop_nodes is None or stop_labels is None:
        return STRENGTHS[0]
    train_rows, stop_rows = features[nodes.train_nodes], features[nodes.stop_nodes]

    def loss(strength: float) -> float:
        linear, _ = regression(
            train_rows, nodes.labels, nodes.sample_weight, problem.n_classes, strength
        )
        log_proba = linear.log_proba(stop_rows @ linear.weight)
        return -float(log_proba[np.arange(len(stop_labels)), stop_labels].mean())

    return min(STRENGTHS, key=loss)


def _matrix(inputs: GraphInput, settings: BTFPSettings) -> sparse.csr_array:
    if settings.normalization == "symmetric":
        return inputs.propagator
    return make_propagator(inputs.adjacency, settings.normalization, dtype=inputs.features.dtype)


def _spread(matrix: sparse.csr_array, values: NDArray[Any], settings: BTFPSettings) -> NDArray[Any]:
    return power_iteration_ppr(matrix, values, teleport=settings.teleport, n_steps=settings.n_steps)


def _dense(block: Any) -> NDArray[Any]:
    return np.ascontiguousarray(block if isinstance(block, np.ndarray) else block.toarray())


class BTFPClassifier(GraphModelClassifier):
    """Logistic regression on spread features that labels more and more nodes for itself.

    Its one preset, ``paper``, is that of PPNP's study.
    """

    model_key = "bt_fp"
    system = BTFPSystem()

"""Label propagation (Zhou et al., NeurIPS 2003: local and global consistency), without features.

Known labels spread over the edges, from Y to Y^(T)::

    Y^(t+1) = (1 − γ) S Y^(t) + γ Y,      S = D^−½ A D^−½

Shapes: A (n_nodes, n_nodes), without added self-loops; Y (n_nodes, n_classes), with a training
node's weight in the column of its class and zeros elsewhere. γ is ``teleport``, T ``n_steps``.
Rows of Y^(T) are divided by their sum; a node that no label reaches has the classes' shares among
the training nodes.

The model remembers the ids and labels of its training nodes, and spreads them anew over any graph
that it is asked about. A control: what the edges alone tell. Tested against PyTorch Geometric's
``LabelPropagation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.known_nodes import Seeds
from adagcn.models.support.settings import Count, SystemSettings, Teleport
from adagcn.models.support.system import FitContext, Fitted, GraphInput, NodeProblem, Recipe
from adagcn.training.loop import TrainingRecord

# Probabilities are kept above this, so that their logarithms are numbers.
SMALLEST = 1e-12


class LabelPropagationSettings(SystemSettings):
    """Settings of label propagation."""

    n_steps: Annotated[Count, "T, steps"] = 50
    teleport: Annotated[Teleport, "γ, share of the known labels in every step"] = 0.1


@dataclass(frozen=True)
class FittedLabels:
    """The known labels, ready to be spread."""

    seeds: Seeds
    settings: LabelPropagationSettings
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        which, nodes = self.seeds.found_in(inputs)
        start = np.zeros((inputs.n_nodes, self.seeds.n_classes))
        start[nodes] = (self.seeds.weights[:, None] * self.seeds.one_hot)[which]
        matrix = normalized_adjacency(inputs.adjacency)
        scores = spread_labels(matrix, start, self.settings.teleport, self.settings.n_steps)
        return log_shares(scores[positions], self.seeds.class_shares)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the known labels."""
        return self.seeds.tensors()


class LabelPropagationSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = LabelPropagationSettings
    # Not part of PPNP's study: APPNP's γ, to convergence. The authors' α = 1 − γ is 0.99.
    recipes: Mapping[str, Recipe] = {
        "paper": Recipe({}),
        "authors": Recipe({"teleport": 0.01, "n_steps": 1000}),
    }

    def fit(
        self, problem: NodeProblem, settings: LabelPropagationSettings, context: FitContext
    ) -> FittedLabels:
        """Keep the known labels; stopping nodes only measure."""
        known = FittedLabels(Seeds.of(problem), settings, TrainingRecord(0))
        return FittedLabels(known.seeds, settings, measured(known, problem, 0))

    def restore(
        self,
        tensors: Mapping[str, NDArray[Any]],
        settings: LabelPropagationSettings,
        n_features: int,
        n_classes: int,
    ) -> FittedLabels:
        """Return what the tensors came from."""
        return FittedLabels(Seeds.from_tensors(tensors, n_classes), settings, TrainingRecord(0))


SYSTEM = LabelPropagationSystem()


def normalized_adjacency(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return S = D^−½ A D^−½ in float64; rows and columns of isolated nodes are zero."""
    weights = sparse.csr_array(adjacency, dtype=np.float64)
    out, into = (_inverse_root(each.sum(axis=1)) for each in (weights, weights.T.tocsr()))
    return sparse.csr_array(sparse.diags_array(out) @ weights @ sparse.diags_array(into))


def _inverse_root(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    roots = np.zeros_like(degrees)
    return np.power(degrees, -0.5, out=roots, where=degrees > 0.0)


def spread_labels(
    matrix: sparse.csr_array,
    start: NDArray[np.float64],
    teleport: float,
    n_steps: int,
    after: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """Return T times Y ← (1 − γ) S Y + γ Y^(0), each followed by ``after`` if there is one."""
    values, restart = start, teleport * start
    for _ in range(n_steps):
        values = (1.0 - teleport) * (matrix @ values) + restart
        values = values if after is None else after(values)
    return values


def log_shares(scores: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of scores divided by their sum; rows without any are ``otherwise``."""
    total = scores.sum(axis=1, keepdims=True)
    shares = np.where(total > 0.0, scores / np.where(total > 0.0, total, 1.0), otherwise)
    shares = np.maximum(shares, SMALLEST)
    return np.asarray(np.log(shares / shares.sum(axis=1, keepdims=True)))


def measured(fitted: Fitted, problem: NodeProblem, epochs: int) -> TrainingRecord:
    """Return a record with accuracy and loss on the stopping nodes, where there are any."""
    stop_nodes, labels = problem.nodes.stop_nodes, problem.stop_labels
    if stop_nodes is None or labels is None:
        return TrainingRecord(epochs)
    log_proba = fitted.log_proba(problem.inputs, stop_nodes)
    accuracy = float((log_proba.argmax(axis=1) == labels).mean())
    loss = -float(log_proba[np.arange(len(labels)), labels].mean())
    return TrainingRecord(epochs, accuracy, loss)


class LabelPropagationClassifier(GraphModelClassifier):
    """Known labels spread over the edges; the features are not looked at.

    Presets (``paper``, ``authors``): aPPNP's teleport, or the original one.
    """

    model_key = "label_propagation"
    system = SYSTEM

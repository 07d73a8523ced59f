"""Zhou et al.: Learning with Local and Global Consistency, NeurIPS 2003: label propagation.

https://papers.nips.cc/paper/2506-learning-with-local-and-global-consistency

Known labels spread over the edges, from Y to Y^(T); features are not looked at::

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.known_nodes import KnownNodes
from adagcn.models.support.label_spreading import log_shares, normalized_adjacency, spread_labels
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.settings import Count, SystemSettings, Teleport
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem, Recipe, measured
from adagcn.training.loop import TrainingRecord


class LabelPropagationSettings(SystemSettings):
    """Settings of label propagation."""

    n_steps: Annotated[Count, "T, steps"] = 50
    teleport: Annotated[Teleport, "γ, share of the known labels in every step"] = 0.1


@dataclass(frozen=True)
class FittedLabels:
    """The known labels, ready to be spread."""

    known: KnownNodes
    settings: LabelPropagationSettings
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        which, nodes = self.known.found_in(inputs)
        start = np.zeros((inputs.n_nodes, self.known.n_classes))
        start[nodes] = (self.known.weights[:, None] * self.known.one_hot)[which]
        matrix = normalized_adjacency(inputs.adjacency)
        scores = spread_labels(matrix, start, self.settings.teleport, self.settings.n_steps)
        return log_shares(scores[positions], self.known.class_shares)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the known labels."""
        return self.known.tensors()


class LabelPropagationSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = LabelPropagationSettings
    # Not part of PPNP's study: APPNP's γ, to convergence. The authors' α = 1 − γ is 0.99.
    recipes: Mapping[str, Recipe] = {
        "paper": Recipe(),
        "authors": Recipe(teleport=0.01, n_steps=1000),
    }

    def fit(
        self, problem: NodeProblem, settings: LabelPropagationSettings, context: FitContext
    ) -> FittedLabels:
        """Keep the known labels; stopping nodes only measure."""
        fitted = FittedLabels(KnownNodes.of(problem), settings, TrainingRecord(0))
        return measured(fitted, problem)

    def restore(
        self, tensors: Tensors, settings: LabelPropagationSettings, n_features: int, n_classes: int
    ) -> FittedLabels:
        """Return what the tensors came from."""
        known = KnownNodes.from_tensors(tensors, n_classes)
        return FittedLabels(known, settings, TrainingRecord(0))


class LabelPropagationClassifier(GraphModelClassifier):
    """Known labels spread over the edges; the features are not looked at.

    The preset ``paper`` has APPNP's teleport, ``authors`` the original one.
    """

    model_key = "label_propagation"
    system = LabelPropagationSystem()

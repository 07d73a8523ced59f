"""Huang et al.: Combining Label Propagation and Simple Models, ICLR 2021: correct and smooth.

https://arxiv.org/abs/2010.13993

A two-layer perceptron predicts every node by itself; its errors on the training nodes, and then the
predictions, are spread by label propagation::

    P       = softmax(drop(ReLU(drop(X) W0)) W1)
    E       = v (Y − P) on the training nodes, zero elsewhere
    E^(t+1) = (1 − γ_c) S E^(t) + γ_c E                        correct
    Q       = P + s E^(T)
    G       = v Y + (1 − v) Q on the training nodes, Q elsewhere
    G^(t+1) = (1 − γ_s) S G^(t) + γ_s G                        smooth

with S = D^−½ A D^−½, and v a training node's weight over the largest: 1 where all weigh the same,
as in the original, and near 0 as if it were no training node.

``autoscale=True``: s makes a node's E^(T) as large in sum as the mean E of the training nodes (it
is 1 where it would be above 1000), and E^(t) is kept within ±1. ``autoscale=False``: s is ``scale``
for all nodes, and in every step training nodes go back to Y − P, by v of the way. G^(t) is kept
within 0 and 1.

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); P, E,
G (n_nodes, n_classes). T is ``n_steps``, γ_c and γ_s are ``correction_teleport`` and
``smoothing_teleport``. No biases, L2 on W0 alone. Stopping nodes stop the perceptron; their labels
are not spread. Tested against PyTorch Geometric's ``CorrectAndSmooth``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.known_nodes import NAMES, KnownNodes
from adagcn.models.support.label_spreading import log_shares, normalized_adjacency, spread_labels
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.network import FirstLayerL2, FittedNetwork, NetworkSystem, Start
from adagcn.models.support.node_perceptron import NodePerceptron, PerceptronSettings
from adagcn.models.support.settings import Count, Positive, Teleport
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem, Recipe, measured
from adagcn.training.loop import TrainingRecord

LARGEST_FACTOR = 1000.0


class CorrectAndSmoothSettings(PerceptronSettings):
    """Settings of correct and smooth."""

    first_layer_l2: FirstLayerL2 = 5e-3
    n_steps: Annotated[Count, "T, steps of the correction, and of the smoothing"] = 50
    correction_teleport: Annotated[
        Teleport, "γ_c, share of the errors at the start in every step of the correction"
    ] = 0.3
    smoothing_teleport: Annotated[
        Teleport, "γ_s, share of the start in every step of the smoothing"
    ] = 0.1
    autoscale: Annotated[
        bool, "scale the correction of every node to the mean error of the training nodes"
    ] = False
    scale: Annotated[Positive, "scale s of the correction where autoscale is off"] = 1.0


class Perceptron(NodePerceptron):
    """The base: two layers on a node's own features."""

    def __init__(self, settings: CorrectAndSmoothSettings, start: Start) -> None:
        super().__init__(settings, start, settings.first_layer_l2)


@dataclass(frozen=True)
class FittedCorrection:
    """The perceptron, and the training nodes whose errors and labels are spread."""

    base: FittedNetwork
    known: KnownNodes
    settings: CorrectAndSmoothSettings
    record: TrainingRecord

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes)."""
        base = np.exp(self.base.log_proba(inputs, np.arange(inputs.n_nodes)))
        which, nodes = self.known.found_in(inputs)
        shares = (self.known.weights / self.known.weights.max())[which, None]
        here = TrainingNodes(nodes, self.known.one_hot[which], shares)
        matrix = normalized_adjacency(inputs.adjacency)
        corrected = correct(base, here, matrix, self.settings)
        scores = smooth(corrected, here, matrix, self.settings)
        return log_shares(scores[positions], base[positions])

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the perceptron's parameters and the training nodes."""
        return {**self.base.tensors(), **self.known.tensors()}


@dataclass(frozen=True)
class TrainingNodes:
    """Where the training nodes are, their Y of shape (n_known, n_classes), and v (n_known, 1)."""

    nodes: NDArray[np.intp]
    truth: NDArray[np.float64]
    shares: NDArray[np.float64]


def correct(
    base: NDArray[np.float64],
    known: TrainingNodes,
    matrix: sparse.csr_array,
    settings: CorrectAndSmoothSettings,
) -> NDArray[np.float64]:
    """Return Q: P of all nodes, moved by the errors near them."""
    nodes, error = known.nodes, np.zeros_like(base)
    known_error = known.truth - base[nodes]
    error[nodes] = known.shares * known_error
    teleport, n_steps = settings.correction_teleport, settings.n_steps

    def keep_known(values: NDArray[np.float64]) -> NDArray[np.float64]:
        values[nodes] += known.shares * (known_error - values[nodes])
        return values

    if not settings.autoscale:
        return base + settings.scale * spread_labels(matrix, error, teleport, n_steps, keep_known)
    spread = spread_labels(matrix, error, teleport, n_steps, lambda e: e.clip(-1.0, 1.0))
    wanted = np.abs(error).sum() / max(known.shares.sum(), 1e-12)
    size = np.abs(spread).sum(axis=1, keepdims=True)
    near = (size > 0.0) & (wanted <= LARGEST_FACTOR * size)
    return base + np.where(near, wanted / np.where(near, size, 1.0), 1.0) * spread


def smooth(
    corrected: NDArray[np.float64],
    known: TrainingNodes,
    matrix: sparse.csr_array,
    settings: CorrectAndSmoothSettings,
) -> NDArray[np.float64]:
    """Return corrected predictions and known labels, averaged over neighborhoods."""
    start = corrected.copy()
    start[known.nodes] += known.shares * (known.truth - corrected[known.nodes])
    return spread_labels(
        matrix, start, settings.smoothing_teleport, settings.n_steps, lambda g: g.clip(0.0, 1.0)
    )


class CorrectAndSmoothSystem:
    """The system; see :class:`adagcn.models.support.system.System`."""

    settings = CorrectAndSmoothSettings
    recipes: Mapping[str, Recipe] = {
        # Not part of PPNP's study: its stopping rule, perceptron and γ.
        "paper": Recipe(),
        # Their setting for arXiv with a perceptron, which corrects by A D^−1 (here S). Their base
        # has three layers with batch normalization.
        "authors": Recipe(
            hidden_units=256,
            first_layer_l2=0.0,
            max_epochs=300,
            stop_on="accuracy",
            patience=300,
            autoscale=True,
            correction_teleport=0.0208,
            smoothing_teleport=0.2435,
        ),
    }
    base = NetworkSystem(CorrectAndSmoothSettings, recipes, Perceptron)

    def fit(
        self, problem: NodeProblem, settings: CorrectAndSmoothSettings, context: FitContext
    ) -> FittedCorrection:
        """Train the perceptron, and keep the training nodes."""
        base = self.base.fit(problem, settings, context)
        fitted = FittedCorrection(base, KnownNodes.of(problem), settings, base.record)
        return measured(fitted, problem)

    def restore(
        self, tensors: Tensors, settings: CorrectAndSmoothSettings, n_features: int, n_classes: int
    ) -> FittedCorrection:
        """Return what the tensors came from."""
        known = KnownNodes.from_tensors(tensors, n_classes)
        others = {name: tensor for name, tensor in tensors.items() if name not in NAMES}
        base = self.base.restore(others, settings, n_features, n_classes)
        return FittedCorrection(base, known, settings, base.record)


class CorrectAndSmoothClassifier(GraphModelClassifier):
    """A perceptron whose errors and predictions are spread over the graph.

    The preset ``paper`` has the perceptron and the stopping rule of PPNP's study, ``authors`` the
    original setting for arXiv.
    """

    model_key = "correct_and_smooth"
    system = CorrectAndSmoothSystem()

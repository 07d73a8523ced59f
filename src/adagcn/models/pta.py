"""Dong et al.: On the Equivalence of Decoupled GCN and Label Propagation, WWW 2021: PTA.

https://arxiv.org/abs/2010.12408

The training labels are spread over the graph once, and teach a perceptron that sees single nodes;
its predictions are spread in turn::

    Ỹ^(0)   = Y
    Ỹ^(t+1) = (1 − γ) Â Ỹ^(t) + γ Y, with Y again in the rows of training nodes
    f       = softmax(ReLU(X W0 + b0) W1 + b1)
    loss    = (c/K) Σ_i Σ_k Ỹ_ik [f_ik]^g(e) (−log f_ik) + (λ/2)‖W0‖²       in epoch e = 0, 1, …
    Z^(0)   = f
    Z^(t+1) = (1 − γ) Â Z^(t) + γ f

[·] has no gradient. PTA trusts predictions more and more, g(e) = ln(1 + e/ε); PTS never does
(g = 0), PTD always (g = 1). The loss is a sum over all nodes; rows of zeros in Ỹ, which no label
reaches, are left out.

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); Y, Ỹ,
f and Z (n_nodes, n_classes). Y has a training node's weight, over the mean weight, in the column of
its class. K is n_classes, γ ``teleport``, c ``loss_scale`` and ε ``confidence_epochs``. Labels and
predictions are spread by T = ``n_steps`` steps; probabilities are rows of Z^(T) over their sum.

The stopping loss is (c/K) Σ Ỹ (−log f), with Ỹ spread from the labels of the stopping nodes. The
accuracy is that of Z; in the authors' code, ``--fast_mode False`` is read as true, so that their
documented command takes that of f (``stop_predictions="local"``). Not copied from that code: on a
CPU it restores the last epoch instead of the best one; and it spreads the test labels as well, for
a loss that it prints. Tested against PyTorch Geometric's ``LabelPropagation`` and ``APPNP``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log1p
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import log_softmax

from adagcn.learners.inputs import as_input
from adagcn.models.appnp import MS_ACADEMIC, spread_by_steps
from adagcn.models.support.field_of_view import FieldOfView
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.label_spreading import spread_labels
from adagcn.models.support.network import FirstLayerL2, NetworkSystem, Start
from adagcn.models.support.node_perceptron import NodePerceptron, PerceptronSettings
from adagcn.models.support.settings import (
    Count,
    LearningRate,
    NetworkSettings,
    Positive,
    Share,
    Teleport,
)
from adagcn.models.support.system import GraphInput, NodeProblem, Recipe
from adagcn.training.stopping import StopPenalty


class PTASettings(PerceptronSettings):
    """Settings of PTA."""

    n_steps: Annotated[Count, "T, steps that labels and predictions are spread by"] = 10
    teleport: Annotated[Teleport, "γ, share of the start in every step"] = 0.1
    confidence: Annotated[
        Literal["growing", "none", "full"],
        "how much a prediction weighs its own label: g = ln(1 + e/ε), 0 or 1",
    ] = "growing"
    confidence_epochs: Annotated[Positive, "ε of the growing confidence"] = 100.0
    loss_scale: Annotated[Positive, "factor c of the loss against the L2 term"] = 0.05
    stop_predictions: Annotated[
        Literal["propagated", "local"], "whose accuracy on the stopping nodes counts: Z's or f's"
    ] = "propagated"
    dropout: Annotated[Share, "rate on the input and on the hidden layer"] = 0.0
    first_layer_l2: FirstLayerL2 = 5e-3
    learning_rate: LearningRate = 0.1
    max_epochs: Annotated[Count, "the most epochs of a fit"] = 2000
    stop_penalty: Annotated[StopPenalty, "the part of the L2 term in the stopping loss"] = "none"


class PTA(NodePerceptron):
    """The network: a perceptron with biases, whose probabilities are spread."""

    def __init__(self, settings: PTASettings, start: Start) -> None:
        l2, n_steps = settings.first_layer_l2, settings.n_steps
        super().__init__(settings, start, l2, n_steps=n_steps, biases=True)
        self.teleport = settings.teleport

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return log Z of shape (n_nodes of the view, n_classes)."""
        proba = self.local_logits(view.rows, generator).softmax(dim=1)
        spread = spread_by_steps(view, proba, self.teleport)
        return spread.clamp_min(torch.finfo(spread.dtype).tiny).log()

    def trainee(
        self, problem: NodeProblem, settings: NetworkSettings, generator: torch.Generator
    ) -> PTATrainee:
        """Return the training on spread labels."""
        assert isinstance(settings, PTASettings)
        return PTATrainee(self, problem, settings, generator)


class SoftLabels:
    """The nodes that labels reach: their features, and (c/K) Ỹ."""

    def __init__(
        self, network: PTA, inputs: GraphInput, start: NDArray[np.float64], settings: PTASettings
    ) -> None:
        spread = spread_from(inputs, start, settings)
        reached = np.flatnonzero(spread.any(axis=1))
        scale = settings.loss_scale / start.shape[1]
        self.network = network
        self.rows = as_input(inputs.features[reached], network.hidden)
        self.target = torch.from_numpy(scale * spread[reached]).to(network.hidden)

    def loss(self, exponent: float, generator: torch.Generator | None = None) -> Tensor:
        """Return the loss for a value of g, without the L2 term."""
        log_proba = log_softmax(self.network.local_logits(self.rows, generator), dim=1)
        confidence = (exponent * log_proba.detach()).exp()
        return -(self.target * confidence * log_proba).sum()


def spread_from(
    inputs: GraphInput, start: NDArray[np.float64], settings: PTASettings
) -> NDArray[np.float64]:
    """Return Ỹ^(T) from Y; its rows with a label stay what they are."""
    known = start.any(axis=1)

    def reset(values: NDArray[np.float64]) -> NDArray[np.float64]:
        values[known] = start[known]
        return values

    return spread_labels(inputs.propagator, start, settings.teleport, settings.n_steps, reset)


class PTATrainee:
    """Trains on the spread training labels, and looks at the spread stopping labels."""

    def __init__(
        self,
        network: PTA,
        problem: NodeProblem,
        settings: PTASettings,
        generator: torch.Generator,
    ) -> None:
        nodes, inputs = problem.nodes, problem.inputs
        shape = inputs.n_nodes, problem.n_classes
        labels = np.zeros(shape)
        labels[nodes.train_nodes, nodes.labels] = nodes.sample_weight / nodes.sample_weight.mean()
        self.module, self.settings, self.generator = network, settings, generator
        self.soft_labels = SoftLabels(network, inputs, labels, settings)
        self.epoch = 0
        self.optimizer = network.make_optimizer(settings)
        if nodes.stop_nodes is not None and nodes.stop_labels is not None:
            labels = np.zeros(shape)
            labels[nodes.stop_nodes, nodes.stop_labels] = 1.0
            self.soft_stop_labels = SoftLabels(network, inputs, labels, settings)
            self.stop_labels = torch.from_numpy(nodes.stop_labels).to(generator.device)
            self.stop_view = network.view(inputs, nodes.stop_nodes)
            self.stop_rows = as_input(inputs.features[nodes.stop_nodes], network.hidden)

    def exponent(self, epoch: float) -> float:
        """Return g."""
        growing = log1p(epoch / self.settings.confidence_epochs)
        return {"growing": growing, "none": 0.0, "full": 1.0}[self.settings.confidence]

    def steps(self) -> Iterator[Tensor]:
        """Take the one step of an epoch; the L2 term is part of the optimizer's decay."""
        loss = self.soft_labels.loss(self.exponent(self.epoch), self.generator)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.epoch += 1
        yield loss

    @torch.no_grad()
    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping nodes."""
        if self.settings.stop_predictions == "propagated":
            scores = self.module(self.stop_view)
        else:
            scores = self.module.local_logits(self.stop_rows)
        n_stop, how = len(self.stop_labels), self.settings.stop_penalty
        n_correct = (scores.argmax(dim=1) == self.stop_labels).sum().item()
        share = {"none": 0.0, "diluted": 1.0 / n_stop, "full": 1.0}[how]
        loss = self.soft_stop_labels.loss(0.0) + share * self.module.penalty()
        return n_correct / n_stop, loss.item()


class PTAClassifier(GraphModelClassifier):
    """A perceptron taught by labels that were spread over the graph, as are its predictions.

    The preset ``paper`` is PTA, ``pts`` its variant that never weighs labels by predictions, and
    ``ptd`` the one that always does.
    """

    model_key = "pta"
    system = NetworkSystem(
        PTASettings,
        {
            "paper": Recipe(MS_ACADEMIC),
            "pts": Recipe(MS_ACADEMIC, confidence="none", learning_rate=0.01),
            "ptd": Recipe(MS_ACADEMIC, confidence="full", loss_scale=10.0),
        },
        PTA,
    )

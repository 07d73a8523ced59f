"""Hamilton, Ying and Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017.

https://arxiv.org/abs/1706.02216

GraphSAGE with the mean aggregator, of any depth. With H^(0) = X, and N(v) the neighbors of v or a
sample of them::

    H^(l+1)_v = σ([drop(H^(l))_v W_own^(l) ‖ mean_{u ∈ N(v)} drop(H^(l))_u W_others^(l)])
    Z_v       = drop(H^(L)_v / ‖H^(L)_v‖₂) V + b

σ is ReLU, in the last layer nothing. Shapes: X (n_nodes, n_features); W^(l) = [W_own ‖ W_others]
(n_features or 2 hidden_units, 2 hidden_units); V (2 hidden_units, n_classes); Z (n_nodes,
n_classes), softmax on top. Glorot's uniform start, L2 on W^(0) alone, gradients cut to ±5. The mean
is by edge weight; an isolated node has a zero mean. L is ``n_layers``.

Training sees samples: a mini-batch of nodes, ``fan_out`` neighbors of each, ``farther_fan_out`` of
each of those, and so on. They are drawn with replacement, by edge weight, so that the mean is
unbiased and its variance falls as 1/t; a node with no more neighbors than that has its exact mean.
Stopping nodes and predictions see all neighbors. What is learned does not belong to a graph.

Not copied from the authors' code: its table of 128 neighbors per node, drawn once and for all, and
features standardized over the training nodes (theirs are dense vectors; ours may be sparse).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import normalize

from adagcn.learners.inputs import as_input, drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, as_step, field_of_view, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, NetworkSystem, Start
from adagcn.models.support.sampling import BatchedNetwork, SampledView
from adagcn.models.support.settings import BatchSize, Count, LayerDropout, NetworkSettings
from adagcn.models.support.system import GraphInput, Recipe

LARGEST_GRADIENT = 5.0


class GraphSAGESettings(NetworkSettings):
    """Settings of GraphSAGE."""

    n_layers: Annotated[Count, "steps from a node to its neighbors"] = 2
    hidden_units: Annotated[Count, "units of a node itself, and as many of its neighbors"] = 32
    fan_out: Annotated[Count, "neighbors drawn for a node of the batch"] = 25
    farther_fan_out: Annotated[Count, "neighbors drawn for a node farther away"] = 10
    batch_size: BatchSize = 512
    dropout: LayerDropout = 0.5
    first_layer_l2: FirstLayerL2 = 5e-3


@dataclass(frozen=True)
class SampledNeighbors(SampledView):
    """A view that neighbors are drawn from."""

    @cached_property
    def means(self) -> sparse.csr_array:
        """D^−1 A."""
        return neighbor_means(self.inputs)


class GraphSAGE(BatchedNetwork):
    """The network."""

    def __init__(self, settings: GraphSAGESettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, settings.n_layers)
        width = 2 * settings.hidden_units
        self.rate = settings.dropout
        self.batch_size = settings.batch_size
        farther = [settings.farther_fan_out] * (settings.n_layers - 1)
        self.fan_outs = [settings.fan_out, *farther]
        self.weights = nn.ParameterList(
            start.glorot(width if layer else start.n_features, width)
            for layer in range(settings.n_layers)
        )
        self.output = start.glorot(width, start.n_classes)
        self.bias = start.zeros(start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return W^(0)."""
        return [self.weights[0]]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_layers steps, and the means over all neighbors."""
        means = neighbor_means(inputs)
        return field_of_view(inputs, nodes, self.n_steps, self.output, propagator=means)

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> SampledNeighbors:
        """Return a view that also knows the graph to draw neighbors from."""
        return SampledNeighbors.of(self, inputs, nodes)

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.weights[0])
        hidden = self._aggregated(view, 0, values)
        for layer, weight in enumerate(self.weights[1:], start=1):
            values = dropout(hidden.relu(), self.rate, generator) @ weight
            hidden = self._aggregated(view, layer, values)
        hidden = dropout(normalize(hidden, dim=1), self.rate, generator)
        return hidden @ self.output + self.bias

    @staticmethod
    def _aggregated(view: FieldOfView, layer: int, values: Tensor) -> Tensor:
        """Return a node's own half of the values beside the mean of its neighbors' other half."""
        own, others = values.chunk(2, dim=1)
        mean = spread(view.steps[layer], others.contiguous())
        return torch.cat([view.nearer(own, layer), mean], dim=1)

    def drawn(
        self, view: SampledNeighbors, batch: NDArray[np.intp], generator: torch.Generator
    ) -> FieldOfView:
        """Return a field of view of some of the view's nodes in which means are estimates."""
        nodes, steps, inner = view.nodes[batch], [], []
        for fan_out in self.fan_outs:
            estimate = draw_neighbors(view.means[nodes], fan_out, generator)
            farther = np.union1d(estimate.indices, nodes).astype(np.intp)
            steps.append(as_step(estimate[:, farther], self.output))
            inner.append(torch.from_numpy(np.searchsorted(farther, nodes)).to(self.output.device))
            nodes = farther
        rows = as_input(view.inputs.features[nodes], self.output)
        return FieldOfView(rows, tuple(steps[::-1]), tuple(inner[::-1]))

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam on gradients that are cut to ±5, entry by entry."""
        optimizer = super().make_optimizer(settings)
        optimizer.register_step_pre_hook(_cut_gradients)
        return optimizer


def _cut_gradients(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    for group in optimizer.param_groups:
        nn.utils.clip_grad_value_(group["params"], LARGEST_GRADIENT)


def neighbor_means(inputs: GraphInput) -> sparse.csr_array:
    """Return D^−1 A in the type of the features: rows sum to one, those of isolated nodes to zero.

    An edge of a node to itself makes it one of its own neighbors; none is added.
    """
    degrees = inputs.adjacency.astype(np.float64).sum(axis=1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0.0)
    means = sparse.csr_array(sparse.diags_array(inverse) @ inputs.adjacency)
    return means.astype(inputs.features.dtype)


def draw_neighbors(
    means: sparse.csr_array, fan_out: int, generator: torch.Generator
) -> sparse.csr_array:
    """Return an unbiased estimate of a matrix of means with at most ``fan_out`` entries in a row.

    Rows with more entries have ``fan_out`` of them drawn with replacement by their size; the others
    stay as they are.
    """
    degrees = np.diff(means.indptr)
    row_of = np.repeat(np.arange(len(degrees)), degrees)
    many = np.flatnonzero(degrees > fan_out)
    kept = degrees[row_of] <= fan_out
    # A draw is a point on the line on which all entries lie end to end; each row has its stretch.
    ends = np.concatenate([[0.0], np.cumsum(means.data, dtype=np.float64)])
    first, last = means.indptr[many][:, None], means.indptr[many + 1][:, None]
    points = torch.rand(
        len(many), fan_out, generator=generator, dtype=torch.float64, device=generator.device
    )
    points = ends[first] + points.cpu().numpy() * (ends[last] - ends[first])
    drawn = np.clip(np.searchsorted(ends, points, side="right") - 1, first, last - 1).ravel()
    rows = np.concatenate([row_of[kept], np.repeat(many, fan_out)])
    columns = np.concatenate([means.indices[kept], means.indices[drawn]])
    shares = np.full(len(drawn), 1.0 / fan_out, dtype=means.dtype)
    values = np.concatenate([means.data[kept], shares])
    return sparse.csr_array((values, (rows, columns)), shape=means.shape)


# Their supervised runs.
_AUTHORS = Recipe(hidden_units=128, dropout=0.0, first_layer_l2=0.0, max_epochs=10, stop_on="never")


class GraphSAGEClassifier(GraphModelClassifier):
    """GraphSAGE with the mean aggregator, trained on sampled neighbors.

    The preset ``paper`` has the size and the stopping rule of PPNP's study, ``authors`` is that of
    the original supervised runs.
    """

    model_key = "graphsage"
    # "paper" is not part of PPNP's study: its stopping rule, dropout and L2, and 64 hidden units.
    system = NetworkSystem(GraphSAGESettings, {"paper": Recipe(), "authors": _AUTHORS}, GraphSAGE)

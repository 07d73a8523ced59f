"""Veličković et al.: Graph Attention Networks, ICLR 2018.

https://arxiv.org/abs/1710.10903

A layer with weight W and vectors a, a′ for each of its heads, over j ∈ N(i) ∪ {i}::

    e_ij = LeakyReLU(aᵀ W h_i + a′ᵀ W h_j)      slope 0.2
    α_ij = exp(e_ij) / Σ_k exp(e_ik)
    h′_i = Σ_j drop(α_ij) drop(W h_j)

Two layers: H = ELU(‖_heads h′ + b) on drop(X), Z = mean_heads h′ + b on drop(H).

Shapes: X (n_nodes, n_features); W of the first layer (n_features, n_heads · hidden_units), of the
second (n_heads · hidden_units, output_heads · n_classes); a and a′ (heads, units); Z (n_nodes,
n_classes), softmax on top. Glorot's uniform start, biases from zero, L2 on W of the first layer.

Only which nodes are neighbors counts: the weights of edges do not enter. Two things differ from the
authors' code: one draw of dropped features serves all heads, and the scalar biases inside the
LeakyReLU are left out, as in their paper.

PyTorch Geometric's ``GATConv`` takes dense features, gathers a message for every arc and head and
scatters it again. Here W multiplies the sparse features, and the weights α of all heads are the
entries of one block-diagonal sparse matrix, so that the sums and their gradient are sparse
products: a fifth of the time on one thread. The tests hold our numbers against ``GATConv``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, Step
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, LayerDropout, NetworkSettings, NonNegative, Share
from adagcn.models.support.system import GraphInput, Recipe
from adagcn.propagation.products import product, transposed_product

SLOPE = 0.2


class GATSettings(NetworkSettings):
    """Settings of a graph attention network."""

    n_heads: Annotated[Count, "attention heads of the first layer"] = 8
    hidden_units: Annotated[Count, "units of each of these heads"] = 8
    output_heads: Annotated[Count, "attention heads of the second layer"] = 1
    dropout: LayerDropout = 0.6
    attention_dropout: Annotated[Share, "rate on the attention weights α"] = 0.6
    value_dropout: Annotated[Share, "rate on W h, once α is known"] = 0.0
    first_layer_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖W‖² on the first layer"] = 0.01


@dataclass(frozen=True)
class AttentionView:
    """A field of view of two steps, and who looks at whom in each."""

    field: FieldOfView
    arcs: tuple[Arcs, Arcs]


class GAT(GraphNetwork):
    """The network."""

    def __init__(self, settings: GATSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, 2)
        self.rate = settings.dropout
        heads, units = settings.n_heads, settings.hidden_units
        rates = settings.value_dropout, settings.attention_dropout
        self.hidden = AttentionLayer((start.n_features, heads, units), rates, start)
        sizes = heads * units, settings.output_heads, start.n_classes
        self.output = AttentionLayer(sizes, rates, start)
        self.hidden_bias = start.zeros(heads * units)
        self.output_bias = start.zeros(start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return W of the first layer."""
        return [self.hidden.weight]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> AttentionView:
        """Return the nodes within two steps, and who looks at whom."""
        field = super().view(inputs, nodes)
        first, second = field.steps
        arcs = arcs_of(first, self.hidden.n_heads), arcs_of(second, self.output.n_heads)
        return AttentionView(field, arcs)

    def forward(self, view: AttentionView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.field.rows, self.rate, generator), self.hidden.weight)
        heads = self.hidden(view, 0, values, generator)
        hidden = elu(heads.flatten(1) + self.hidden_bias)
        values = dropout(hidden, self.rate, generator) @ self.output.weight
        logits: Tensor = self.output(view, 1, values, generator).mean(dim=1) + self.output_bias
        return logits


class AttentionLayer(nn.Module):
    """The heads of one layer, after the product with its weight.

    Parameters
    ----------
    sizes : tuple of int
        Columns of the input, heads, and units of each head.
    rates : tuple of float
        Dropout on W h and on α.
    start : Start
        Draws the parameters.
    """

    def __init__(
        self, sizes: tuple[int, int, int], rates: tuple[float, float], start: Start
    ) -> None:
        super().__init__()
        n_in, n_heads, n_units = sizes
        self.n_heads = n_heads
        self.rates = rates
        self.weight = start.glorot(n_in, n_heads * n_units)
        self.center = start.glorot(n_heads, n_units)  # a
        self.neighbor = start.glorot(n_heads, n_units)  # a′

    def forward(
        self, view: AttentionView, stage: int, values: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return h′ of shape (n_centers, n_heads, n_units) from W h of the nodes at a stage."""
        arcs = view.arcs[stage]
        by_head = values.reshape(len(values), self.n_heads, -1)
        of_centers = view.field.nearer((by_head * self.center).sum(dim=2), stage)
        of_neighbors = (by_head * self.neighbor).sum(dim=2)
        scores = leaky_relu(
            of_centers.index_select(0, arcs.centers) + of_neighbors.index_select(0, arcs.neighbors),
            SLOPE,
        )
        value_rate, attention_rate = self.rates
        weights = dropout(softmax_by_center(arcs, scores), attention_rate, generator)
        return weighted_sums(arcs, weights, dropout(by_head, value_rate, generator))


@dataclass(frozen=True)
class Arcs:
    """Who looks at whom: the stored entries of a step, row by row, and how often (heads).

    Parameters
    ----------
    centers, neighbors : Tensor of shape (n_arcs,)
        Row and column of each entry.
    pointers : Tensor of shape (n_centers + 1,)
        Where the entries of each row begin; no row is empty.
    n_neighbors : int
        Columns of the step.
    n_heads : int
        Blocks of the block-diagonal matrix.
    block_pointers, block_columns : ndarray
        The form of that matrix, of shape (n_heads · n_centers, n_heads · n_neighbors).
    """

    centers: Tensor
    neighbors: Tensor
    pointers: Tensor
    n_neighbors: int
    n_heads: int
    block_pointers: NDArray[np.int64]
    block_columns: NDArray[np.int64]

    @property
    def n_centers(self) -> int:
        """Rows of the step."""
        return len(self.pointers) - 1

    def matrix(self, weights: Tensor) -> sparse.csr_array:
        """Return the block-diagonal matrix of weights of shape (n_arcs, n_heads)."""
        entries = weights.t().contiguous().reshape(-1).numpy()
        shape = (self.n_heads * self.n_centers, self.n_heads * self.n_neighbors)
        return sparse.csr_array((entries, self.block_columns, self.block_pointers), shape=shape)


def arcs_of(step: Step, n_heads: int) -> Arcs:
    """Return the stored entries of a step, its values left aside."""
    if isinstance(step, Tensor):
        pointers, neighbors = step.crow_indices(), step.col_indices()
    else:
        pointers = torch.from_numpy(step.matrix.indptr.astype(np.int64))
        neighbors = torch.from_numpy(step.matrix.indices.astype(np.int64))
    n_centers, n_neighbors = step.shape if isinstance(step, Tensor) else step.matrix.shape
    centers = torch.arange(n_centers, device=pointers.device)
    columns, starts = neighbors.cpu().numpy(), pointers[:-1].cpu().numpy()
    heads = np.arange(n_heads)[:, None]
    return Arcs(
        centers.repeat_interleave(pointers.diff()),
        neighbors,
        pointers,
        int(n_neighbors),
        n_heads,
        np.append((starts + heads * len(columns)).ravel(), n_heads * len(columns)),
        (columns + heads * n_neighbors).ravel(),
    )


def softmax_by_center(arcs: Arcs, scores: Tensor) -> Tensor:
    """Return exp(scores), of shape (n_arcs, n_heads), divided by its sum over each center."""
    largest = torch.segment_reduce(scores.detach(), "max", offsets=arcs.pointers)
    raised = (scores - largest.index_select(0, arcs.centers)).exp()
    totals = raised.new_zeros(arcs.n_centers, arcs.n_heads).index_add(0, arcs.centers, raised)
    return raised / totals.index_select(0, arcs.centers)


def weighted_sums(arcs: Arcs, weights: Tensor, values: Tensor) -> Tensor:
    """Return Σ_j w_ij v_j of shape (n_centers, n_heads, n_units).

    Parameters
    ----------
    arcs : Arcs
        The pairs i, j.
    weights : Tensor of shape (n_arcs, n_heads)
        w.
    values : Tensor of shape (n_neighbors, n_heads, n_units)
        v.
    """
    if values.device.type == "cpu":
        sums: Tensor = _WeightedSums.apply(weights, values, arcs)  # type: ignore[no-untyped-call]
        return sums
    return gathered_sums(arcs, weights, values)


def gathered_sums(arcs: Arcs, weights: Tensor, values: Tensor) -> Tensor:
    """Return the same sums arc by arc, on any device."""
    messages = weights[:, :, None] * values.index_select(0, arcs.neighbors)
    sums = messages.new_zeros(arcs.n_centers, *messages.shape[1:])
    return sums.index_add(0, arcs.centers, messages)


class _WeightedSums(torch.autograd.Function):
    """The sums as a product M V with the block-diagonal matrix M; the gradient of V is Mᵀ G."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, arcs: Arcs) -> Tensor:
        matrix, by_head = arcs.matrix(weights.detach()), _by_head(values.detach())
        ctx.arcs, ctx.matrix, ctx.by_head = arcs, matrix, by_head
        return _by_node(product(matrix, by_head.flatten(0, 1)), arcs.n_heads)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        arcs, gradient = ctx.arcs, _by_head(gradients[0])
        of_values = _by_node(transposed_product(ctx.matrix, gradient.flatten(0, 1)), arcs.n_heads)
        of_weights = torch.einsum(
            "hau,hau->ah",
            gradient.index_select(1, arcs.centers),
            ctx.by_head.index_select(1, arcs.neighbors),
        )
        return of_weights, of_values, None


def _by_head(values: Tensor) -> Tensor:
    """Return (n_nodes, n_heads, n_units) as (n_heads, n_nodes, n_units)."""
    return values.transpose(0, 1).contiguous()


def _by_node(rows: Tensor, n_heads: int) -> Tensor:
    """Return (n_heads · n_nodes, n_units) as (n_nodes, n_heads, n_units)."""
    return rows.reshape(n_heads, -1, rows.shape[1]).transpose(0, 1)


_AUTHORS = Recipe(
    {"pubmed": {"output_heads": 8, "learning_rate": 0.01, "weight_decay": 1e-3}},
    value_dropout=0.6,  # in their code; their paper does not name it
    learning_rate=0.005,
    first_layer_l2=0.0,
    weight_decay=5e-4,  # on all parameters, and not in the stopping loss
    max_epochs=100_000,
    stop_on="both",
)


class GATClassifier(GraphModelClassifier):
    """Graph attention network: every node learns how much to listen to each of its neighbors.

    The preset ``paper`` is that of PPNP's study, ``authors`` that of the original publication.
    """

    model_key = "gat"
    # "paper" is PPNP's study: the original sizes and λ = 0.01, the same on all data sets. On the
    # first layer, as for its own models: on all parameters this λ leaves nothing but zeros.
    system = NetworkSystem(GATSettings, {"paper": Recipe(), "authors": _AUTHORS}, GAT)

"""Chen, Ma and Xiao: FastGCN: Fast Learning with Graph Convolutional Networks, ICLR 2018.

https://arxiv.org/abs/1801.10247

The network is that of :mod:`adagcn.models.gcn`, with ÂX computed beforehand::

    H^(1)   = ReLU(drop(ÂX) W^(0))
    H^(l+1) = ReLU(Â drop(H^(l)) W^(l))        l = 1 … L − 2
    Z       = Â drop(H^(L−1)) W^(L−1)

Shapes: X (n_nodes, n_features); W^(0) (n_features, hidden_units), W^(l) (hidden_units,
hidden_units), W^(L−1) (hidden_units, n_classes); Z (n_nodes, n_classes), softmax on top. No biases,
Glorot's uniform start, L2 on W^(0) alone.

In training, a product with some rows R of Â is estimated from t columns, drawn with replacement::

    R H ≈ (1/t) Σ_j R(:,u_j) H(u_j) / q(u_j),      q(u) ∝ ‖Â(:,u)‖²

over the nodes u on which R depends. The first R is the rows of a mini-batch, the next those of the
nodes drawn, and so on. Each estimate is unbiased and its variance falls as 1/t; where R depends on
t nodes or fewer, all of them are used and the product is exact. Stopping nodes and predictions see
the exact network.

Not copied from the authors' code: it takes q ∝ ‖Â(:,u)‖ and draws without replacement but weighs as
if with, which is biased; and it drops the last batch if it is not full, which for a training set
smaller than a batch leaves no step at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from adagcn.graph import Features
from adagcn.learners.inputs import as_input, drop, dropout, times
from adagcn.models.gcn import GCN, GCNSettings
from adagcn.models.support.field_of_view import (
    FieldOfView,
    as_step,
    hop_rows,
    neighborhoods,
    spread,
)
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, NetworkSystem, Start
from adagcn.models.support.sampling import BatchedNetwork, SampledView, draws
from adagcn.models.support.settings import BatchSize, Count, HiddenUnits
from adagcn.models.support.system import GraphInput, Recipe


class FastGCNSettings(GCNSettings):
    """Settings of FastGCN."""

    n_layers: Annotated[
        Count, "products with Â, each with weights of its own; the first is computed once"
    ] = 2
    hidden_units: HiddenUnits = 64
    n_samples: Annotated[Count, "nodes drawn for each product, t"] = 400
    batch_size: BatchSize = 256
    first_layer_l2: FirstLayerL2 = 0.02


@dataclass(frozen=True)
class SmoothedRows:
    """Rows of ÂX, and the rows of Â that lead from them to the training nodes.

    Parameters
    ----------
    rows : csr_array or ndarray
        ÂX of the nodes within L − 1 steps.
    matrices : tuple of L − 1 csr_array
        The steps, farthest first.
    column_sizes : tuple of L − 1 ndarray
        ‖Â(:,u)‖² of the nodes that each step starts from.
    """

    rows: Features
    matrices: tuple[sparse.csr_array, ...]
    column_sizes: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class SampledField(SampledView):
    """A view of L steps that columns of Â are drawn from."""

    @cached_property
    def smoothed(self) -> SmoothedRows:
        """What training draws from."""
        matrix, sizes = self.inputs.propagator, self.column_sizes
        fields = neighborhoods(matrix, self.nodes, len(self.steps) - 1)[::-1]
        return SmoothedRows(
            hop_rows(self.inputs, fields[0], 1)[1],
            tuple(matrix[near][:, far] for far, near in pairwise(fields)),
            tuple(sizes[far] for far in fields[:-1]),
        )


class FastGCN(BatchedNetwork, GCN):
    """The network."""

    def __init__(self, settings: FastGCNSettings, start: Start) -> None:
        super().__init__(settings, start)
        self.n_samples = settings.n_samples
        self.batch_size = settings.batch_size

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> SampledField:
        """Return a view that also knows the graph to draw from."""
        return SampledField.of(self, inputs, nodes)

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        multiplied = len(self.weights) - len(view.steps)  # 1 where the rows are those of ÂX, else 0
        values = times(drop(view.rows, self.rate, generator), self.weights[0])
        for layer, weight in enumerate(self.weights):
            if layer > 0:
                values = dropout(values.relu(), self.rate, generator) @ weight
            if layer >= multiplied:
                values = spread(view.steps[layer - multiplied], values)
        return values

    def drawn(
        self, view: SampledField, rows: NDArray[np.intp], generator: torch.Generator
    ) -> FieldOfView:
        """Return a field of view of some of the view's nodes in which steps are estimates."""
        steps, like, smoothed = [], self.weights[0], view.smoothed
        for matrix, sizes in zip(smoothed.matrices[::-1], smoothed.column_sizes[::-1], strict=True):
            step, rows = draw_columns(matrix[rows], sizes, self.n_samples, generator)
            steps.append(as_step(step, like))
        return FieldOfView(as_input(smoothed.rows[rows], like), tuple(steps[::-1]), ())


def draw_columns(
    rows: sparse.csr_array, sizes: NDArray[np.float64], n_samples: int, generator: torch.Generator
) -> tuple[sparse.csr_array, NDArray[np.intp]]:
    """Return drawn columns of a matrix, weighed to be an unbiased estimate of it, and which.

    Parameters
    ----------
    rows : csr_array of shape (n_rows, n_columns)
        The matrix R.
    sizes : ndarray of shape (n_columns,)
        What the chances of columns are proportional to, among those that R uses.
    n_samples : int
        t. Where R uses no more columns than that, all are returned as they are.
    generator : torch.Generator
        Draws.
    """
    used = np.unique(rows.indices).astype(np.intp)
    if len(used) <= n_samples:
        return rows[:, used], used
    chances = sizes[used] / sizes[used].sum()
    counts = np.bincount(draws(chances, n_samples, generator), minlength=len(used))
    hit = counts > 0
    estimate = rows[:, used[hit]]
    weights = counts[hit] / (n_samples * chances[hit])
    estimate.data *= weights[estimate.indices].astype(estimate.dtype)
    return estimate, used[hit]


# Their transductive script, which compares the mean of the last two losses with the window.
_AUTHORS = Recipe(
    hidden_units=16,
    batch_size=20,
    dropout=0.0,
    first_layer_l2=5e-4,
    max_epochs=100,
    stop_on="window",
    patience=10,
)


class FastGCNClassifier(GraphModelClassifier):
    """Graph convolutional network whose training products are estimated from sampled nodes.

    The preset ``paper`` has the size and the stopping rule of PPNP's study, ``authors`` is that of
    the original transductive runs.
    """

    model_key = "fastgcn"
    # "paper" is not part of PPNP's study: its stopping rule and the size that it chose for GCN.
    system = NetworkSystem(FastGCNSettings, {"paper": Recipe(), "authors": _AUTHORS}, FastGCN)

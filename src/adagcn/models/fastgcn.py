"""FastGCN: graph convolutions on sampled nodes (Chen, Ma and Xiao, ICLR 2018), of any depth.

The network is that of :mod:`adagcn.models.gcn`, with ÂX multiplied out beforehand::

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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from adagcn.graph import Features
from adagcn.learners.inputs import as_input, drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, as_step, field_of_view, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.hop_rows import hop_rows, neighborhoods
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.sampling import batch_loss, batches, by_node_id
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.models.support.system import GraphInput, Recipe


class FastGCNSettings(NetworkSettings):
    """Settings of FastGCN."""

    n_layers: Annotated[
        Count, "products with Â, each with weights of its own; the first is computed once"
    ] = 2
    hidden_units: Annotated[Count, "width of the hidden layers"] = 64
    n_samples: Annotated[Count, "t, nodes drawn for each product"] = 400
    batch_size: Annotated[Count, "training nodes of one step"] = 256
    dropout: Annotated[Share, "rate on the input of every layer"] = 0.5
    first_layer_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖W0‖² on the first weights"] = (
        0.02
    )


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
class SampledField(FieldOfView):
    """A field of view of L steps, and the graph that samples are drawn from."""

    inputs: GraphInput
    nodes: NDArray[np.intp]

    @cached_property
    def smoothed(self) -> SmoothedRows:
        """What training draws from, computed when first asked for: stopping nodes never ask."""
        matrix = self.inputs.propagator
        sizes = np.asarray(matrix.power(2).sum(axis=0), dtype=np.float64)
        fields = neighborhoods(matrix, self.nodes, len(self.steps) - 1)[::-1]
        return SmoothedRows(
            hop_rows(self.inputs, fields[0], 1)[1],
            tuple(matrix[near][:, far] for far, near in pairwise(fields)),
            tuple(sizes[far] for far in fields[:-1]),
        )


class FastGCN(GraphNetwork):
    """The network."""

    def __init__(self, settings: FastGCNSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2)
        sizes = [
            start.n_features,
            *[settings.hidden_units] * (settings.n_layers - 1),
            start.n_classes,
        ]
        self.rate = settings.dropout
        self.n_samples = settings.n_samples
        self.batch_size = settings.batch_size
        self.weights = nn.ParameterList(
            start.glorot(n_in, n_out) for n_in, n_out in pairwise(sizes)
        )

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_layers steps, and the rows of Â between them."""
        return field_of_view(inputs, nodes, len(self.weights), self.weights[0])

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> SampledField:
        """Return a view that also knows the graph to draw from."""
        inputs, nodes = by_node_id(inputs, nodes)
        exact = self.view(inputs, nodes)
        return SampledField(exact.rows, exact.steps, exact.inner, inputs, nodes)

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

    def losses(
        self, view: SampledField, target: Tensor, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Yield the loss of every mini-batch, each on nodes drawn for it."""
        for batch in batches(len(target), self.batch_size, generator):
            drawn = self.drawn(view, batch.cpu().numpy(), generator)
            yield batch_loss(self(drawn, generator), target, batch)

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
    on_device = torch.from_numpy(chances).to(generator.device)
    draws = torch.multinomial(on_device, n_samples, replacement=True, generator=generator)
    counts = torch.bincount(draws, minlength=len(used)).cpu().numpy()
    hit = counts > 0
    estimate = rows[:, used[hit]]
    weights = counts[hit] / (n_samples * chances[hit])
    estimate.data *= weights[estimate.indices].astype(estimate.dtype)
    return estimate, used[hit]


SYSTEM = NetworkSystem(
    FastGCNSettings,
    {
        # Not part of PPNP's study: its stopping rule and the size that it chose for GCN.
        "paper": Recipe({}),
        # Their transductive script; it compares the mean of the last two losses with the window.
        "authors": Recipe(
            {
                "hidden_units": 16,
                "batch_size": 20,
                "dropout": 0.0,
                "first_layer_l2": 5e-4,
                "max_epochs": 100,
                "stop_on": "window",
                "patience": 10,
            }
        ),
    },
    FastGCN,
)


class FastGCNClassifier(GraphModelClassifier):
    """Graph convolutional network whose training products are estimated from sampled nodes.

    Presets (``paper``, ``authors``): the size and the stopping rule of PPNP's study, or the
    original transductive runs.
    """

    model_key = "fastgcn"
    system = SYSTEM

"""Zeng et al.: GraphSAINT: Graph Sampling Based Inductive Learning Method, ICLR 2020.

https://arxiv.org/abs/1907.04931

The network is that of :mod:`adagcn.models.gcn`. A step of training sees only a subgraph: the
different nodes V among t draws with replacement, by q(u) ∝ ‖Â(:,u)‖² (their node sampler). Within
it, products and the loss are weighed to be unbiased::

    (ÂH)_v ≈ Σ_{u ∈ V} Â_vu / α_vu H_u,      α_vu = P(u ∈ V | v ∈ V)
    loss   ≈ Σ_{v ∈ V} w_v / p_v (−log p_v,y_v),      p_v = P(v ∈ V)

With draws by known chances both have a closed form, where the authors count over many subgraphs
drawn beforehand::

    p_v  = 1 − (1 − q_v)^t
    α_vu = (1 − (1 − q_u)^t − (1 − q_v)^t + (1 − q_u − q_v)^t) / p_v,      α_vv = 1

Draws are from the nodes within L steps of a training node; an epoch has as many steps as it takes
to draw that many nodes. Stopping nodes and predictions see the whole graph. Shapes, start, dropout
and L2 are those of GCN; t is ``n_samples``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor
from torch.nn.functional import log_softmax

from adagcn.graph import Features
from adagcn.learners.inputs import as_input
from adagcn.models.gcn import GCN, GCNSettings
from adagcn.models.support.field_of_view import FieldOfView, as_step, neighborhoods
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, NetworkSystem, Start
from adagcn.models.support.sampling import SampledView, draws
from adagcn.models.support.settings import Count, HiddenUnits
from adagcn.models.support.system import GraphInput, Recipe


class GraphSAINTSettings(GCNSettings):
    """Settings of GraphSAINT."""

    hidden_units: HiddenUnits = 64
    first_layer_l2: FirstLayerL2 = 0.02
    n_samples: Annotated[Count, "draws that a subgraph is made of, t"] = 1000


@dataclass(frozen=True)
class Sampler:
    """What subgraphs are drawn from.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_field, n_features)
        X of the nodes that may be drawn.
    weighed : csr_array of shape (n_field, n_field)
        Â_vu / α_vu.
    chances, presence : ndarray of shape (n_field,)
        q and p.
    train_row : ndarray of shape (n_field,)
        Which of the training nodes a node is, −1 for the others.
    """

    features: Features
    weighed: sparse.csr_array
    chances: NDArray[np.float64]
    presence: NDArray[np.float64]
    train_row: NDArray[np.intp]

    def drawn(self, n_samples: int, generator: torch.Generator) -> NDArray[np.intp]:
        """Return the different nodes among t draws, sorted."""
        return np.unique(draws(self.chances, n_samples, generator)).astype(np.intp)


@dataclass(frozen=True)
class SubgraphView(SampledView):
    """A view that subgraphs of t draws are drawn from."""

    n_samples: int

    @cached_property
    def sampler(self) -> Sampler:
        """What training draws from."""
        matrix = self.inputs.propagator
        field = neighborhoods(matrix, self.nodes, len(self.steps))[-1]
        sizes = self.column_sizes[field]
        chances = sizes / sizes.sum()
        train_row = np.full(len(field), -1, dtype=np.intp)
        train_row[np.searchsorted(field, self.nodes)] = np.arange(len(self.nodes))
        inside = matrix[field][:, field]
        inside.data /= _togetherness(inside, chances, self.n_samples).astype(inside.dtype)
        presence = _presence(chances, self.n_samples)
        return Sampler(self.inputs.features[field], inside, chances, presence, train_row)


class GraphSAINT(GCN):
    """The network."""

    def __init__(self, settings: GraphSAINTSettings, start: Start) -> None:
        super().__init__(settings, start)
        self.n_samples = settings.n_samples

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> SubgraphView:
        """Return a view that also knows the graph to draw from."""
        return SubgraphView.of(self, inputs, nodes, n_samples=self.n_samples)

    def losses(
        self, view: SubgraphView, target: Tensor, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Yield the loss of every subgraph that has training nodes."""
        sampler = view.sampler
        for _ in range(-(-len(sampler.chances) // self.n_samples)):
            nodes = sampler.drawn(self.n_samples, generator)
            if (sampler.train_row[nodes] >= 0).any():
                yield self.subgraph_loss(sampler, nodes, target, generator)

    def subgraph_loss(
        self,
        sampler: Sampler,
        nodes: NDArray[np.intp],
        target: Tensor,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Return the estimate of the loss over all training nodes from those of a subgraph."""
        trained = np.flatnonzero(sampler.train_row[nodes] >= 0)
        rows = torch.from_numpy(sampler.train_row[nodes[trained]]).to(target.device)
        factors = torch.from_numpy(1.0 / sampler.presence[nodes[trained]]).to(target)
        logits = self(self.subgraph(sampler, nodes), generator)[
            torch.from_numpy(trained).to(target.device)
        ]
        return -((log_softmax(logits, dim=1) * target[rows]).sum(dim=1) * factors).sum()

    def subgraph(self, sampler: Sampler, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the view of a subgraph, in which every step is the same estimate of Â."""
        like, n_steps = self.weights[0], self.n_steps
        step = as_step(sampler.weighed[nodes][:, nodes], like)
        rows = as_input(sampler.features[nodes], like)
        return FieldOfView(rows, (step,) * n_steps, (None,) * n_steps)


def _presence(chances: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
    """Return 1 − (1 − q)^t, exact for small q."""
    with np.errstate(divide="ignore"):  # q = 1: certain
        return np.asarray(-np.expm1(n_samples * np.log1p(-np.minimum(chances, 1.0))))


def _togetherness(
    matrix: sparse.csr_array, chances: NDArray[np.float64], n_samples: int
) -> NDArray[np.float64]:
    """Return α_vu for every entry (v, u) of a matrix."""
    v = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    u = matrix.indices
    presence = _presence(chances, n_samples)
    both = presence[u] + presence[v] - _presence(chances[u] + chances[v], n_samples)
    return np.asarray(np.where(u == v, 1.0, both / presence[v]))


# Their node sampler on Reddit; their layers also have a node's own part, like GraphSAGE's.
_AUTHORS = Recipe(
    hidden_units=128,
    dropout=0.1,
    first_layer_l2=0.0,
    n_samples=8000,
    max_epochs=40,
    stop_on="accuracy",
    patience=40,
)


class GraphSAINTClassifier(GraphModelClassifier):
    """Graph convolutional network that is trained on sampled subgraphs.

    The preset ``paper`` has the size and the stopping rule of PPNP's study, ``authors`` is that of
    the original node sampler on Reddit.
    """

    model_key = "graphsaint"
    # "paper" is not part of PPNP's study: its stopping rule and the size that it chose for GCN.
    system = NetworkSystem(GraphSAINTSettings, {"paper": Recipe(), "authors": _AUTHORS}, GraphSAINT)

"""Feng et al.: Graph Random Neural Network for Semi-Supervised Learning on Graphs, NeurIPS 2020.

https://arxiv.org/abs/2005.11079

GRAND. In every epoch the features of random nodes are left out, S times; a perceptron on the mean
of the powers of Â should say the same of every node each time::

    M   = (1/(T + 1)) Σ_k Â^k                                             k = 0 … T
    Z_s = drop(norm(ReLU(drop(norm(M (m_s ∘ X))) W0 + b0))) W1 + b1       P_s = softmax(Z_s)
    Q   = sharpen((1/S) Σ_s P_s), rows ∝ (·)^(1/τ)                        without gradient
    ℓ   = (1/S) Σ_s CE(P_s) + λ (1/S) Σ_s (1/n) Σ_i ‖P_s,i − Q_i‖²

m_s has a 0 for every node with probability δ, else a 1; predictions use M ((1 − δ) X). norm is
batch normalization, where ``batch_norm`` asks for it. CE is over the training nodes, the second
sum over all n nodes.

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); P, Q
(n_nodes, n_classes). T is ``n_steps``, S ``n_draws``, δ ``node_dropout``, λ ``consistency`` and τ
``sharpening_temperature``. Weights and biases start uniform within ±1/√(fan out), which is what
the authors' code means: it draws from a normal distribution around −1/√(fan out).

An epoch multiplies S T times by Â, with all columns of X: no other system here has dearer epochs.
Without dropout on the input and without batch normalization, M (m ∘ X) W0 = M (m ∘ (X W0)), and the
columns are as few as the hidden units; that is exact, and done wherever it can be. What predictions
on the stopping nodes start from is computed once. Tested against PyTorch Geometric's ``SSGConv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor
from torch.nn.functional import log_softmax

from adagcn.engines.memory import check_memory
from adagcn.graph import Features
from adagcn.learners.inputs import Input, as_input, drop, dropout, times
from adagcn.models.support.batch_norm import BatchNorm, trained
from adagcn.models.support.field_of_view import FieldOfView, Step, as_step, hop_rows, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.sampling import by_node_id
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Positive, Share
from adagcn.models.support.system import GraphInput, RowsOfStudy
from adagcn.propagation.products import product

# Features that are spread together: few enough for the processor's cache.
COLUMNS_AT_ONCE = 128


class GRANDSettings(NetworkSettings):
    """Settings of GRAND."""

    n_steps: Annotated[Count, "T, the largest power of Â"] = 2
    n_draws: Annotated[Count, "S, times that nodes are left out at random in an epoch"] = 2
    node_dropout: Annotated[Share, "δ, the chance of a node to be left out"] = 0.5
    consistency: Annotated[NonNegative, "λ, what it costs that draws differ"] = 0.7
    sharpening_temperature: Annotated[
        Positive, "τ, below 1 sharpens what the draws should agree on"
    ] = 0.3
    hidden_units: Annotated[Count, "width of the hidden layer"] = 32
    input_dropout: Annotated[Share, "rate on the propagated features"] = 0.0
    hidden_dropout: Annotated[Share, "rate on the hidden layer"] = 0.2
    batch_norm: Annotated[bool, "normalize the input of both layers over the nodes"] = False


@dataclass(frozen=True)
class DrawingView:
    """Some nodes, and all that draws are made of; each part is computed when it is asked for.

    Parameters
    ----------
    inputs : GraphInput
        The graph, its nodes in the order of their ids: draws must not depend on another one.
    nodes : ndarray of shape (n_asked,)
        Where the nodes are in it.
    n_steps : int
        T.
    like : Tensor
        A parameter.
    """

    inputs: GraphInput
    nodes: NDArray[np.intp]
    n_steps: int
    like: Tensor

    @cached_property
    def mean_rows(self) -> Input:
        """The nodes' rows of M X, in the form that is faster to train on."""
        hops = hop_rows(self.inputs, self.nodes, self.n_steps)
        is_dense = any(isinstance(each, np.ndarray) for each in hops)
        total: Any = sum(_dense(each) if is_dense else each for each in hops)
        return as_input(total / (self.n_steps + 1), self.like)

    @cached_property
    def positions(self) -> Tensor:
        """Where the nodes are among all."""
        return torch.from_numpy(self.nodes).to(self.like.device)

    @cached_property
    def rows(self) -> Input:
        """X of all nodes."""
        return as_input(self.inputs.all_rows, self.like)

    @cached_property
    def step(self) -> Step:
        """Â."""
        return as_step(self.inputs.propagator, self.like)

    @cached_property
    def columns(self) -> Features:
        """X in the form that gives its columns fastest."""
        features = self.inputs.features
        return features if isinstance(features, np.ndarray) else sparse.csc_array(features)

    @cached_property
    def wide_shape(self) -> tuple[int, ...]:
        """The shape of all features, dense; looked at once, since a fit makes thousands of draws.

        Raises ``ResourceError`` where a draw of them cannot fit into the memory.
        """
        n_nodes, n_columns = shape = self.inputs.features.shape
        check_memory(
            float(self.like.element_size()) * n_nodes * n_columns,
            f"a draw of all {n_columns:,} features of {n_nodes:,} nodes",
            got=f"{n_nodes:,} × {n_columns:,} values",
            fix="use input_dropout=0 and batch_norm=False, whose draws have hidden_units columns",
        )
        return shape

    def wide_draw(self, kept: Tensor) -> Tensor:
        """Return M (m ∘ X) of all nodes, for m of shape (n_nodes, 1), a few columns at a time."""
        result = torch.empty(self.wide_shape, dtype=kept.dtype)
        matrix, mask = self.inputs.propagator, kept.cpu().numpy()
        for start in range(0, result.shape[1], COLUMNS_AT_ONCE):
            block = slice(start, start + COLUMNS_AT_ONCE)
            masked = torch.from_numpy(mask * _dense(self.columns[:, block]))
            total = masked
            for _ in range(self.n_steps):
                total = product(matrix, total) + masked
            result[:, block] = total
        return result.div_(self.n_steps + 1).to(kept.device)


class GRAND(GraphNetwork):
    """The network."""

    def __init__(self, settings: GRANDSettings, start: Start) -> None:
        super().__init__(0.0, settings.n_steps)
        self.n_draws, self.node_rate = settings.n_draws, settings.node_dropout
        self.rates = settings.input_dropout, settings.hidden_dropout
        self.consistency = settings.consistency
        self.temperature = settings.sharpening_temperature
        units = settings.hidden_units
        self.hidden, self.hidden_bias = start.linear(start.n_features, units, by_outputs=True)
        self.output, self.output_bias = start.linear(units, start.n_classes, by_outputs=True)
        self.norms: tuple[BatchNorm, BatchNorm] | None = None
        if settings.batch_norm:
            self.input_norm = BatchNorm(start.n_features, self.hidden)
            self.hidden_norm = BatchNorm(units, self.hidden)
            self.norms = self.input_norm, self.hidden_norm

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> DrawingView:
        """Return the nodes with all that draws are made of."""
        return DrawingView(*by_node_id(inputs, nodes), self.n_steps, self.hidden)

    def forward(
        self, view: FieldOfView | DrawingView, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes), from M ((1 − δ) X)."""
        weight, bias = self._first_map()
        weight = (1.0 - self.node_rate) * weight
        if isinstance(view, DrawingView):
            return self._logits(times(view.mean_rows, weight) + bias, generator)
        base = total = times(view.rows, weight)
        for stage, step in enumerate(view.steps):  # Â(Â(B + …) + B) + B
            base = view.nearer(base, stage)
            total = spread(step, total) + base
        return self._logits(total / (self.n_steps + 1) + bias, generator)

    def losses(
        self, view: DrawingView, target: Tensor, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Yield ℓ."""
        log_proba = [log_softmax(logits, dim=1) for logits in self.draws(view, generator)]
        by_draw = torch.stack(log_proba)  # of shape (S, n_nodes, n_classes)
        supervised = -(by_draw[:, view.positions] * target).sum()
        proba = by_draw.exp()
        goal = sharpened(proba.mean(dim=0).detach(), self.temperature)
        apart = (proba - goal).square().sum(dim=2).mean(dim=1).sum()
        yield (supervised + self.consistency * apart) / self.n_draws

    def draws(self, view: DrawingView, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield Z_s of all nodes."""
        chances = torch.rand(
            (view.inputs.n_nodes, self.n_draws), generator=generator, device=generator.device
        )
        kept = (chances >= self.node_rate).to(self.hidden.dtype)
        if self.norms is None and self.rates[0] == 0.0:
            hidden = self._narrow_draws(view, kept)
        else:
            hidden = (
                self._wide_draw(view, each, generator) for each in torch.split(kept, 1, dim=1)
            )
        for each in hidden:
            yield self._logits(each, generator)

    def _narrow_draws(self, view: DrawingView, kept: Tensor) -> Iterator[Tensor]:
        """Return M (m_s ∘ (X W0)) + b0 for every s, by products of all draws together."""
        products = times(view.rows, self.hidden)
        base = total = (products[:, None, :] * kept[:, :, None]).flatten(1)
        for _ in range(self.n_steps):
            total = spread(view.step, total) + base
        by_draw = torch.split(total / (self.n_steps + 1), products.shape[1], dim=1)
        return (each + self.hidden_bias for each in by_draw)

    def _wide_draw(self, view: DrawingView, kept: Tensor, generator: torch.Generator) -> Tensor:
        """Return drop(norm(M (m ∘ X))) W0 + b0."""
        rows = view.wide_draw(kept)
        if self.norms is not None:
            rows = self.norms[0](rows, training=True)
        return times(drop(rows, self.rates[0], generator), self.hidden) + self.hidden_bias

    def _first_map(self) -> tuple[Tensor, Tensor]:
        """Return W0 and b0 as predictions use them: the norm of the input is folded in."""
        if self.norms is None:
            return self.hidden, self.hidden_bias
        factor, shift = self.norms[0].as_affine()
        return factor[:, None] * self.hidden, shift @ self.hidden + self.hidden_bias

    def _logits(self, hidden: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return Z from what stands before the first ReLU."""
        hidden = hidden.relu()
        if self.norms is not None:
            hidden = self.norms[1](hidden, training=generator is not None)
        return dropout(hidden, self.rates[1], generator) @ self.output + self.output_bias

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam with decay on everything that is learned."""
        decay = settings.weight_decay
        return torch.optim.Adam(
            trained(self), lr=settings.learning_rate, weight_decay=decay, fused=True
        )


def sharpened(proba: Tensor, temperature: float) -> Tensor:
    """Return rows ∝ p^(1/τ), through logarithms: no power becomes zero everywhere."""
    smallest = torch.finfo(proba.dtype).tiny
    return (proba.clamp_min(smallest).log() / temperature).softmax(dim=1)


def _dense(rows: Any) -> NDArray[Any]:
    return np.ascontiguousarray(rows if isinstance(rows, np.ndarray) else rows.toarray())


_PAPER = RowsOfStudy(
    {
        "cora": {
            "n_steps": 8,
            "n_draws": 4,
            "consistency": 1.0,
            "sharpening_temperature": 0.5,
            "input_dropout": 0.5,
            "hidden_dropout": 0.5,
        },
        "citeseer": {},
        "pubmed": {
            "n_steps": 5,
            "n_draws": 4,
            "consistency": 1.0,
            "sharpening_temperature": 0.2,
            "input_dropout": 0.6,
            "hidden_dropout": 0.8,
            "learning_rate": 0.2,
            "patience": 100,
            "batch_norm": True,
        },
    },
    # Of the three, the one whose epochs a graph of any size can afford.
    standing_in="citeseer",
    weight_decay=5e-4,
    max_epochs=5000,
    patience=200,
    stop_on="lowest_loss",
    stop_penalty="none",
)


class GRANDClassifier(GraphModelClassifier):
    """A perceptron on random propagations of the features, which should all say the same.

    The preset ``paper`` has the authors' settings for Cora, CiteSeer and PubMed; other graphs get
    those of CiteSeer, with a notice.
    """

    model_key = "grand"
    system = NetworkSystem(GRANDSettings, {"paper": _PAPER}, GRAND)

"""N-GCN (Abu-El-Haija et al., UAI 2019): many small GCNs over random walks of different lengths.

Towers for walks of k = 0 … K steps, R heads for each k, every one with weights of its own::

    T_kr = Â^k drop(ReLU(norm(Â^k drop(X) W0_kr))) W1_kr
    p    = Σ_kr softmax(q)_kr softmax(T_kr)           combination="attention"
    p    = softmax([ReLU(T_01) ‖ … ‖ ReLU(T_KR)] W)   combination="fully_connected"

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units) and W1 (hidden_units, n_classes) for
each of the (K + 1) R towers; q one number for each; W (towers · n_classes, n_classes); p (n_nodes,
n_classes). No biases, Glorot's uniform start, q from zero, L2 on all weights. One draw of dropped
features serves all towers. The loss is the cross-entropy of p and of every tower, summed; with
``joint=False`` the first does not reach into the towers.

Our own: PyTorch Geometric has no such model; the tests hold each tower against its ``MixHopConv``.
The norm (``graph_norm``) is that of the authors' code, as in :mod:`adagcn.models.mixhop`. That
code trains only the towers of the longest walks, which is not copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.powers import GraphNorm, PowersView, mixed_powers, powers_view
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.models.support.slowing_sgd import Optimizer, slowed
from adagcn.models.support.system import GraphInput, Recipe


class NGCNSettings(NetworkSettings):
    """Settings of N-GCN."""

    combination: Annotated[
        Literal["attention", "fully_connected"],
        "a weighted mean of the probabilities, or a linear map of all logits",
    ] = "attention"
    n_steps: Annotated[Count, "K, steps of the longest walk"] = 4
    n_heads: Annotated[Count, "R, GCNs for each length of walk"] = 4
    hidden_units: Annotated[Count, "width of the hidden layer of each GCN"] = 16
    input_dropout: Annotated[Share, "rate on the features"] = 0.5
    dropout: Annotated[Share, "rate on the hidden layers"] = 0.5
    l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on all weights"] = 1e-5
    joint: Annotated[bool, "let the loss of the combination reach the GCNs, beside their own"] = (
        True
    )
    graph_norm: Annotated[bool, "normalize the hidden layer over all nodes of the graph"] = False
    optimizer: Annotated[
        Optimizer, "Adam, or gradient descent whose rate falls by 1 % of its start every 40 steps"
    ] = "adam"


class NGCN(GraphNetwork):
    """The network."""

    def __init__(self, settings: NGCNSettings, start: Start) -> None:
        super().__init__(settings.l2)
        self.joint = settings.joint
        self.rates = settings.input_dropout, settings.dropout
        self.n_steps, self.n_heads = settings.n_steps, settings.n_heads
        self.n_towers = (settings.n_steps + 1) * settings.n_heads
        units = settings.hidden_units
        starts = [
            (
                start.glorot(start.n_features, units).detach(),
                start.glorot(units, start.n_classes).detach(),
            )
            for _ in range(self.n_towers)
        ]
        self.hidden = nn.Parameter(torch.cat([hidden for hidden, _ in starts], dim=1))
        self.output = nn.Parameter(torch.stack([output for _, output in starts]))
        self.norm = GraphNorm(self.hidden.shape[1], self.hidden) if settings.graph_norm else None
        self.combination: nn.Parameter
        if settings.combination == "attention":
            self.combination = start.zeros(self.n_towers)  # q
        else:
            self.combination = start.glorot(self.n_towers * start.n_classes, start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return all weights, without q and shifts."""
        return [p for p in self.parameters() if p.dim() > 1]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> PowersView:
        """Return the nodes within two of the longest walks, and the rows of Â between them."""
        whole = self.norm is not None
        return powers_view(inputs, nodes, 2 * self.n_steps, self.hidden, whole=whole)

    def forward(self, view: PowersView, generator: torch.Generator | None = None) -> Tensor:
        """Return log p, of shape (n_nodes of the view, n_classes)."""
        return self.combined(self.towers(view, generator))

    def towers(self, view: PowersView, generator: torch.Generator | None) -> Tensor:
        """Return T, of shape (n_nodes of the view, n_towers, n_classes), shortest walks first."""
        input_rate, rate = self.rates
        values = times(drop(view.field.rows, input_rate, generator), self.hidden)
        hidden = mixed_powers(view.field, values, self._widths(values), 0)
        hidden = hidden if self.norm is None else self.norm(hidden)
        by_tower = self._by_tower(dropout(hidden.relu(), rate, generator))
        values = torch.einsum("nth,thk->ntk", by_tower, self.output).flatten(1)
        logits = mixed_powers(view.field, values, self._widths(values), self.n_steps)
        return self._by_tower(view.asked(logits))

    def combined(self, towers: Tensor) -> Tensor:
        """Return log p from T."""
        if self.combination.dim() > 1:
            return log_softmax(towers.relu().flatten(1) @ self.combination, dim=1)
        shares = log_softmax(self.combination, dim=0)
        return torch.logsumexp(log_softmax(towers, dim=2) + shares[:, None], dim=1)

    def losses(
        self, view: PowersView, target: Tensor, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Yield the cross-entropy of p plus those of all towers."""
        towers = self.towers(view, generator)
        log_proba = self.combined(towers if self.joint else towers.detach())
        by_tower = log_softmax(towers, dim=2) * target[:, None, :]
        yield -(log_proba * target).sum() - by_tower.sum()

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, or the authors' gradient descent."""
        adam = super().make_optimizer(settings)
        assert isinstance(settings, NGCNSettings)
        return adam if settings.optimizer == "adam" else slowed(adam, settings.learning_rate)

    def _by_tower(self, values: Tensor) -> Tensor:
        return values.reshape(len(values), self.n_towers, -1)

    def _widths(self, values: Tensor) -> list[int]:
        """Return the columns of each length of walk."""
        return [values.shape[1] // (self.n_steps + 1)] * (self.n_steps + 1)


SYSTEM = NetworkSystem(
    NGCNSettings,
    {
        "paper": Recipe({}),
        # Their scripts; the regularizer there has no ½, so λ is twice its number.
        "authors": Recipe(
            {
                "combination": "fully_connected",
                "n_steps": 3,
                "n_heads": 3,
                "hidden_units": 10,
                "input_dropout": 0.7,
                "dropout": 0.9,
                "l2": 2e-3,
                "joint": False,
                "graph_norm": True,
                "optimizer": "slowing_sgd",
                "learning_rate": 1.0,
                "max_epochs": 400,
                "patience": 200,
                "stop_on": "accuracy",
            }
        ),
    },
    NGCN,
)


class NGCNClassifier(GraphModelClassifier):
    """Many small GCNs, over random walks of 0, 1, … steps, with a learnt combination.

    Presets (``paper``, ``authors``): pPNP's study, or the original publication.
    """

    model_key = "ngcn"
    system = SYSTEM

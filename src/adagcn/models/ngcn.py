"""Abu-El-Haija et al.: N-GCN: Multi-scale Graph Convolution, UAI 2019.

https://arxiv.org/abs/1802.08888

Many small GCNs over random walks of different lengths: towers for walks of k = 0 … K steps, R heads
for each k, every one with weights of its own::

    T_kr = Â^k drop(ReLU(norm(Â^k drop(X) W0_kr))) W1_kr
    p    = Σ_kr softmax(q)_kr softmax(T_kr)           combination="attention"
    p    = softmax([ReLU(T_01) ‖ … ‖ ReLU(T_KR)] W)   combination="fully_connected"

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units) and W1 (hidden_units, n_classes) for
each of the (K + 1) R towers; q one number for each; W (towers · n_classes, n_classes); p (n_nodes,
n_classes). No biases, Glorot's uniform start, q from zero, L2 on all weights. One draw of dropped
features serves all towers. The loss is the cross-entropy of p and of every tower, summed; with
``joint=False`` the first does not reach into the towers, with ``tower_loss=False`` it stands alone.

PyTorch Geometric has no such model; the tests hold each tower against its ``MixHopConv``.
The norm (``graph_norm``) is that of the authors' code, as in :mod:`adagcn.models.mixhop`. That
code trains only the towers of the longest walks, which is not copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adagcn.errors import InputError
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import EveryLayerL2, NetworkSystem, Start
from adagcn.models.support.powers import (
    SLOWING,
    PowersNetwork,
    PowersSettings,
    PowersView,
    mixed_powers,
)
from adagcn.models.support.settings import Count
from adagcn.models.support.system import Recipe


class NGCNSettings(PowersSettings):
    """Settings of N-GCN."""

    combination: Annotated[
        Literal["attention", "fully_connected"],
        "a weighted mean of the probabilities, or a linear map of all logits",
    ] = "attention"
    n_steps: Annotated[Count, "K, steps of the longest walk"] = 4
    n_heads: Annotated[Count, "R, GCNs for each length of walk"] = 4
    hidden_units: Annotated[Count, "width of the hidden layer of each GCN"] = 16
    l2: EveryLayerL2 = 1e-5
    joint: Annotated[bool, "let the loss of the combination reach the GCNs, beside their own"] = (
        True
    )
    tower_loss: Annotated[
        bool, "add the cross-entropy of every GCN; False: the combination's is the whole loss"
    ] = True

    later: ClassVar[frozenset[str]] = frozenset({"tower_loss"})


class NGCN(PowersNetwork):
    """The network."""

    def __init__(self, settings: NGCNSettings, start: Start) -> None:
        if not (settings.joint or settings.tower_loss):
            raise InputError(
                "AGC-I1090",
                "joint=False with tower_loss=False leaves no loss that the GCNs could learn from",
                got="both False",
                fix="set joint=True, or tower_loss=True",
            )
        n_towers = (settings.n_steps + 1) * settings.n_heads
        units = settings.hidden_units
        start.expect(n_towers * units * (start.n_features + start.n_classes))
        towers = [
            (start.glorot(start.n_features, units), start.glorot(units, start.n_classes))
            for _ in range(n_towers)
        ]
        hidden = nn.Parameter(torch.cat([first.detach() for first, _ in towers], dim=1))
        super().__init__(settings, hidden, 2 * settings.n_steps)
        self.joint, self.tower_loss = settings.joint, settings.tower_loss
        self.n_towers, self.n_heads = n_towers, settings.n_heads
        self.longest_walk = settings.n_steps
        self.output = nn.Parameter(torch.stack([second.detach() for _, second in towers]))
        if settings.combination == "attention":
            self.combination = start.zeros(n_towers)  # q
        else:
            self.combination = start.glorot(n_towers * start.n_classes, start.n_classes)

    def forward(self, view: PowersView, generator: torch.Generator | None = None) -> Tensor:
        """Return log p, of shape (n_nodes of the view, n_classes)."""
        return self.combined(self.towers(view, generator))

    def towers(self, view: PowersView, generator: torch.Generator | None) -> Tensor:
        """Return T, of shape (n_nodes of the view, n_towers, n_classes), shortest walks first."""
        hidden = self.hidden_layer(view, self._widths(self.hidden), generator)
        values = torch.einsum("nth,thk->ntk", self._by_tower(hidden), self.output).flatten(1)
        logits = mixed_powers(view.field, values, self._widths(values), self.longest_walk)
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
        """Yield the cross-entropy of p plus those of all towers, if these count."""
        towers = self.towers(view, generator)
        log_proba = self.combined(towers if self.joint else towers.detach())
        if not self.tower_loss:
            yield -(log_proba * target).sum()
            return
        by_tower = log_softmax(towers, dim=2) * target[:, None, :]
        yield -(log_proba * target).sum() - by_tower.sum()

    def _by_tower(self, values: Tensor) -> Tensor:
        return values.reshape(len(values), self.n_towers, -1)

    def _widths(self, values: Tensor) -> list[int]:
        """Return the columns of each length of walk."""
        n_lengths = self.longest_walk + 1
        return [values.shape[1] // n_lengths] * n_lengths


# Their scripts; the regularizer there has no ½, so λ is twice its number.
_AUTHORS = Recipe(
    combination="fully_connected",
    n_steps=3,
    n_heads=3,
    hidden_units=10,
    input_dropout=0.7,
    dropout=0.9,
    l2=2e-3,
    joint=False,
    graph_norm=True,
    **SLOWING,
)


class NGCNClassifier(GraphModelClassifier):
    """Many small GCNs, over random walks of 0, 1, … steps, with a learned combination.

    The preset ``paper`` is that of PPNP's study, ``authors`` that of the original publication.
    """

    model_key = "ngcn"
    system = NetworkSystem(NGCNSettings, {"paper": Recipe(), "authors": _AUTHORS}, NGCN)

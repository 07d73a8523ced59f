"""Abu-El-Haija et al.: MixHop: Higher-Order Graph Convolutional Architectures, ICML 2019.

https://arxiv.org/abs/1905.00067

Each layer mixes powers of Â, each of its own width. Two layers over the powers 0 … m, and a learned
mixture of the slices O_j of the second one, each as wide as there are classes::

    H = drop(ReLU(norm([drop(X) W_0 ‖ Â drop(X) W_1 ‖ … ‖ Â^m drop(X) W_m])))
    O = [H V_0 ‖ Â H V_1 ‖ … ‖ Â^m H V_m]
    Z = Σ_j softmax(q)_j O_j

Shapes: X (n_nodes, n_features); W_p (n_features, p-th of ``hidden_widths``); V_p (sum of
``hidden_widths``, n_classes · p-th of ``output_slices``); q (sum of ``output_slices``,); Z
(n_nodes, n_classes), softmax on top. A width of 0 leaves a power out; the layers may have different
highest powers. No biases, Glorot's uniform start, q from zero, L2 on all W and V, and 10⁻³ mean(q²)
in the loss.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch
Geometric's ``MixHopConv``. The norm (``graph_norm``) is that of the authors' code: over all nodes,
in training and in prediction alike. Gradient descent at their rate does not learn without it. Their
ℓ2 norm of the rows of X is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import torch
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from torch import Tensor, nn

from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import EveryLayerL2, NetworkSystem, Start
from adagcn.models.support.powers import (
    SLOWING,
    PowersNetwork,
    PowersSettings,
    PowersView,
    mixed_powers,
)
from adagcn.models.support.settings import Share
from adagcn.models.support.system import Recipe

MIXTURE_PENALTY = 1e-3


def widths(text: str) -> list[int]:
    """Return the numbers of a text such as ``"24/18/18"``."""
    return [int(number) for number in text.split("/")]


def _checked_widths(text: str) -> str:
    plain = all(number.isascii() and number.isdigit() for number in text.split("/"))
    if not plain or sum(widths(text)) == 0:
        raise PydanticCustomError(
            "widths",
            "Input should be a whole number for each power of Â, such as '24/18/18', not all zero",
        )
    return text


Widths = Annotated[str, AfterValidator(_checked_widths)]


class MixHopSettings(PowersSettings):
    """Settings of MixHop."""

    hidden_widths: Annotated[Widths, "units for each power of Â, from 0 on"] = "20/20/20"
    output_slices: Annotated[Widths, "slices of n_classes units for each power"] = "1/1/1"
    dropout: Annotated[Share, "rate on the hidden layer"] = 0.9
    l2: EveryLayerL2 = 0.01
    graph_norm: Annotated[bool, "normalize the hidden layer over all nodes of the graph"] = True


class MixHop(PowersNetwork):
    """The network."""

    def __init__(self, settings: MixHopSettings, start: Start) -> None:
        by_power, slices = widths(settings.hidden_widths), widths(settings.output_slices)
        hidden = _blocks(start, start.n_features, by_power)
        super().__init__(settings, hidden, len(by_power) + len(slices) - 2)
        self.hidden_widths = by_power
        self.output_widths = [start.n_classes * count for count in slices]
        self.output = _blocks(start, sum(self.hidden_widths), self.output_widths)
        self.mixture = start.zeros(sum(slices))  # q

    def forward(self, view: PowersView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = self.hidden_layer(view, self.hidden_widths, generator) @ self.output
        stage = len(self.hidden_widths) - 1
        slices = view.asked(mixed_powers(view.field, values, self.output_widths, stage))
        by_slice = slices.reshape(len(slices), len(self.mixture), -1)
        return torch.einsum("nsk,s->nk", by_slice, self.mixture.softmax(dim=0))

    def losses(
        self, view: PowersView, target: Tensor, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Yield the cross-entropy with the mixture's penalty."""
        for loss in super().losses(view, target, generator):
            yield loss + MIXTURE_PENALTY * self.mixture.square().mean()


def _blocks(start: Start, n_in: int, n_outs: list[int]) -> nn.Parameter:
    """Return weights side by side, each with its own start."""
    blocks = [start.glorot(n_in, n_out).detach() for n_out in n_outs]
    return nn.Parameter(torch.cat(blocks, dim=1))


_CORA = {"hidden_widths": "24/18/18", "output_slices": "0/1/1"}
_PUBMED = {"hidden_widths": "17/23/20", "output_slices": "1/2/1"}
_WIDTHS = {"cora": _CORA, "cora_ml": _CORA, "pubmed": _PUBMED}
# Their regularizer has no ½: λ is twice the number of their scripts.
_RATES: dict[str, dict[str, Any]] = {
    "citeseer": {"learning_rate": 0.25, "l2": 0.1},
    "pubmed": {**_PUBMED, "learning_rate": 0.5},
}
_AUTHORS = Recipe({**_WIDTHS, **_RATES}, **SLOWING)


class MixHopClassifier(GraphModelClassifier):
    """Two layers that mix powers of Â, each power of its own width.

    Both presets have the authors' network: ``paper`` trains it as PPNP's study trains its models,
    ``authors`` as they did.
    """

    model_key = "mixhop"
    # "paper" is not in PPNP's study: the authors' widths by its optimizer and its stopping.
    system = NetworkSystem(MixHopSettings, {"paper": Recipe(_WIDTHS), "authors": _AUTHORS}, MixHop)

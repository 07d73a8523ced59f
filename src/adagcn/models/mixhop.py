"""MixHop (Abu-El-Haija et al., ICML 2019): each layer mixes powers of Â, each of its own width.

Two layers over the powers 0 … m, and a learnt mixture of the slices O_j of the second one, each as
wide as there are classes::

    H = drop(ReLU(norm([drop(X) W_0 ‖ Â drop(X) W_1 ‖ … ‖ Â^m drop(X) W_m])))
    O = [H V_0 ‖ Â H V_1 ‖ … ‖ Â^m H V_m]
    Z = Σ_j softmax(q)_j O_j

Shapes: X (n_nodes, n_features); W_p (n_features, p-th of ``hidden_widths``); V_p (sum of
``hidden_widths``, n_classes · p-th of ``output_slices``); q (sum of ``output_slices``,); Z
(n_nodes, n_classes), softmax on top. A width of 0 leaves a power out; the layers may have different
highest powers. No biases, Glorot's uniform start, q from zero, L2 on all W and V, and 10⁻³ mean(q²)
in the loss.

Our own products, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch Geometric's
``MixHopConv``. The norm (``graph_norm``) is that of the authors' code: over all nodes, in training
and in prediction alike. Gradient descent at their rate does not learn without it. Their ℓ2 norm of
the rows of X is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.powers import GraphNorm, PowersView, mixed_powers, powers_view
from adagcn.models.support.settings import NetworkSettings, NonNegative, Share
from adagcn.models.support.slowing_sgd import Optimizer, slowed
from adagcn.models.support.system import GraphInput, Recipe

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


class MixHopSettings(NetworkSettings):
    """Settings of MixHop."""

    hidden_widths: Annotated[Widths, "units for each power of Â, from 0 on"] = "20/20/20"
    output_slices: Annotated[Widths, "slices of n_classes units for each power"] = "1/1/1"
    input_dropout: Annotated[Share, "rate on the features"] = 0.5
    dropout: Annotated[Share, "rate on the hidden layer"] = 0.9
    l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on all W and V"] = 0.01
    graph_norm: Annotated[bool, "normalize the hidden layer over all nodes of the graph"] = True
    optimizer: Annotated[
        Optimizer, "Adam, or gradient descent whose rate falls by 1 % of its start every 40 steps"
    ] = "adam"


class MixHop(GraphNetwork):
    """The network."""

    def __init__(self, settings: MixHopSettings, start: Start) -> None:
        super().__init__(settings.l2)
        self.rates = settings.input_dropout, settings.dropout
        self.hidden_widths = widths(settings.hidden_widths)
        slices = widths(settings.output_slices)
        self.output_widths = [start.n_classes * count for count in slices]
        self.hidden = _blocks(start, start.n_features, self.hidden_widths)
        self.output = _blocks(start, sum(self.hidden_widths), self.output_widths)
        self.mixture = start.zeros(sum(slices))  # q
        self.norm = GraphNorm(self.hidden.shape[1], self.hidden) if settings.graph_norm else None

    def penalized(self) -> list[nn.Parameter]:
        """Return all W and V."""
        return [self.hidden, self.output]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> PowersView:
        """Return the nodes within the steps of both layers, and the rows of Â between them."""
        n_steps = len(self.hidden_widths) + len(self.output_widths) - 2
        return powers_view(inputs, nodes, n_steps, self.hidden, whole=self.norm is not None)

    def forward(self, view: PowersView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        input_rate, rate = self.rates
        values = times(drop(view.field.rows, input_rate, generator), self.hidden)
        hidden = mixed_powers(view.field, values, self.hidden_widths, 0)
        hidden = hidden if self.norm is None else self.norm(hidden)
        values = dropout(hidden.relu(), rate, generator) @ self.output
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

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, or the authors' gradient descent."""
        adam = super().make_optimizer(settings)
        assert isinstance(settings, MixHopSettings)
        return adam if settings.optimizer == "adam" else slowed(adam, settings.learning_rate)


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

SYSTEM = NetworkSystem(
    MixHopSettings,
    {
        # Not in PPNP's study: the authors' widths by its optimizer and its stopping.
        "paper": Recipe({}, _WIDTHS),
        "authors": Recipe(
            {
                "optimizer": "slowing_sgd",
                "learning_rate": 1.0,
                "max_epochs": 400,
                "patience": 200,
                "stop_on": "accuracy",
            },
            {**_WIDTHS, **_RATES},
        ),
    },
    MixHop,
)


class MixHopClassifier(GraphModelClassifier):
    """Two layers that mix powers of Â, each power of its own width.

    Presets (``paper``, ``authors``): the authors' network by the training of PPNP's study, or by
    their own.
    """

    model_key = "mixhop"
    system = SYSTEM

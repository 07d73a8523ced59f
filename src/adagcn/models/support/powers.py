"""What MixHop and N-GCN share: both are by the same authors, in one code.

Columns are multiplied by different powers of Â, units are normalized over the graph, and gradient
descent slows down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, field_of_view, spread
from adagcn.models.support.network import EveryLayerL2, GraphNetwork
from adagcn.models.support.settings import NetworkSettings, Share
from adagcn.models.support.system import GraphInput

Optimizer = Literal["adam", "slowing_sgd"]

# The rate is lowered by 1 % of its first value after every 40 steps, down to nothing.
EVERY = 40
SHARE = 0.01

# How the authors train both.
SLOWING: Mapping[str, Any] = MappingProxyType(
    {
        "optimizer": "slowing_sgd",
        "learning_rate": 1.0,
        "max_epochs": 400,
        "patience": 200,
        "stop_on": "accuracy",
    }
)


class PowersSettings(NetworkSettings):
    """Settings of both."""

    input_dropout: Annotated[Share, "rate on the features"] = 0.5
    dropout: Annotated[Share, "rate on the hidden layer"] = 0.5
    l2: EveryLayerL2 = 0.0
    graph_norm: Annotated[bool, "normalize the hidden layer over all nodes of the graph"] = False
    optimizer: Annotated[
        Optimizer, "Adam, or gradient descent whose rate falls by 1 % of its start every 40 steps"
    ] = "adam"


@dataclass(frozen=True)
class PowersView:
    """A field of view of the nodes asked for, or of all nodes with those asked for among them."""

    field: FieldOfView
    positions: Tensor | None

    def asked(self, values: Tensor) -> Tensor:
        """Return the rows of the nodes asked for, after all steps."""
        return values if self.positions is None else values.index_select(0, self.positions)


def powers_view(
    inputs: GraphInput, nodes: NDArray[np.intp], n_steps: int, like: Tensor, *, whole: bool
) -> PowersView:
    """Return a view over some steps; ``whole`` has every node in all of its stages."""
    if not whole:
        return PowersView(field_of_view(inputs, nodes, n_steps, like), None)
    field = field_of_view(inputs, np.arange(inputs.n_nodes), n_steps, like)
    return PowersView(field, torch.from_numpy(nodes).to(like.device))


def mixed_powers(view: FieldOfView, values: Tensor, widths: Sequence[int], stage: int) -> Tensor:
    """Return [B_0 ‖ Â B_1 ‖ … ‖ Â^m B_m] from [B_0 ‖ B_1 ‖ … ‖ B_m], by m products.

    The highest power starts first and the others join it, one a step: so the widest product is the
    one with the fewest rows. A block that waits is not touched.

    Parameters
    ----------
    view : FieldOfView
        Has at least stage + m steps.
    values : Tensor of shape (n_stage, sum(widths))
        The blocks, of nodes at a stage.
    widths : sequence of m + 1 int
        Columns of each block.
    stage : int
        Where the values are; the result is at stage + m.
    """
    *waiting, moved = torch.split(values, list(widths), dim=1)
    for step, block in enumerate(reversed(waiting), start=stage):
        moved = spread(view.steps[step], moved)
        moved = torch.cat([view.brought(block, stage, step + 1), moved], dim=1)
    return moved


class GraphNorm(nn.Module):
    """Every unit brought to mean zero and variance one over all nodes of the graph, then shifted.

    In training and in prediction alike, so that no running means are kept.

    Parameters
    ----------
    n_units : int
        Columns.
    like : Tensor
        A parameter; the shift has its type and is where it is.
    """

    epsilon = 1e-3  # TensorFlow's, added to the variance

    def __init__(self, n_units: int, like: Tensor) -> None:
        super().__init__()
        self.shift = nn.Parameter(like.new_zeros(n_units))

    def forward(self, values: Tensor) -> Tensor:
        """Return the normalized values of all nodes, of shape (n_nodes, n_units)."""
        variance, mean = torch.var_mean(values, dim=0, correction=0)
        return (values - mean) * torch.rsqrt(variance + self.epsilon) + self.shift


class PowersNetwork(GraphNetwork):
    """Two layers over powers of Â; a subclass has the second one.

    Parameters
    ----------
    settings : PowersSettings
        Rates, L2 and norm.
    hidden : nn.Parameter of shape (n_features, n_units)
        Weights of the first layer.
    n_steps : int
        Products with Â in both layers.
    """

    def __init__(self, settings: PowersSettings, hidden: nn.Parameter, n_steps: int) -> None:
        super().__init__(settings.l2, n_steps)
        self.rates = settings.input_dropout, settings.dropout
        self.hidden = hidden
        self.norm = GraphNorm(hidden.shape[1], hidden) if settings.graph_norm else None

    def penalized(self) -> list[nn.Parameter]:
        """Return all weights, without mixtures and shifts."""
        return [parameter for parameter in self.parameters() if parameter.dim() > 1]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> PowersView:
        """Return the nodes within the steps of both layers, and the rows of Â between them."""
        whole = self.norm is not None
        return powers_view(inputs, nodes, self.n_steps, self.hidden, whole=whole)

    def hidden_layer(
        self, view: PowersView, widths: Sequence[int], generator: torch.Generator | None
    ) -> Tensor:
        """Return the first layer, whose columns have these widths for each power."""
        input_rate, rate = self.rates
        values = times(drop(view.field.rows, input_rate, generator), self.hidden)
        hidden = mixed_powers(view.field, values, widths, 0)
        hidden = hidden if self.norm is None else self.norm(hidden)
        return dropout(hidden.relu(), rate, generator)

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, or the authors' gradient descent."""
        adam = super().make_optimizer(settings)
        assert isinstance(settings, PowersSettings)
        return adam if settings.optimizer == "adam" else slowed(adam, settings.learning_rate)


class SlowingSGD(torch.optim.SGD):
    """Plain gradient descent with that schedule.

    Parameters
    ----------
    groups : iterable of dict
        Parameters with their (coupled) decay.
    lr : float
        The first learning rate.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float) -> None:
        super().__init__(groups, lr=lr)
        self.first_rate = lr
        self.n_steps = 0

    def step(self, closure: Any = None) -> Any:
        """Take a step, and lower the rate where it is due."""
        outcome = super().step(closure)
        self.n_steps += 1
        share = max(0.0, 1.0 - SHARE * (self.n_steps // EVERY))
        for group in self.param_groups:
            group["lr"] = share * self.first_rate
        return outcome


def slowed(optimizer: torch.optim.Optimizer, learning_rate: float) -> SlowingSGD:
    """Return gradient descent on the parameters of another optimizer, with their decay."""
    groups = [
        {"params": group["params"], "weight_decay": group["weight_decay"]}
        for group in optimizer.param_groups
    ]
    return SlowingSGD(groups, learning_rate)

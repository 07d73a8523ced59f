"""The contract of the systems that are networks, and what they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adagcn.baselines.settings import NetworkSettings
from adagcn.baselines.system import GraphInput


class GraphNetwork(nn.Module):
    """A network over the nodes of a graph; subclasses give :meth:`view` and :meth:`forward`.

    All that is learnt is in parameters and buffers. Dropout is on where a generator is handed in,
    and draws from nothing else.

    Parameters
    ----------
    l2 : float
        λ of the penalty (λ/2)‖W‖² on :meth:`penalized`.
    """

    def __init__(self, l2: float) -> None:
        super().__init__()
        self.l2 = l2

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> Any:
        """Return what the forward pass needs for some different nodes, computed once."""
        raise NotImplementedError

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> Any:
        """Return a view that many epochs look at; more may be computed beforehand."""
        return self.view(inputs, nodes)

    def forward(self, view: Any, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes); a generator drops out."""
        raise NotImplementedError

    def losses(self, view: Any, target: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the losses of one epoch, each before the step that lowers it.

        Here one: Σ_i w_i (−log p_i,y_i) over all training nodes. ``target`` has shape (n_train,
        n_classes), with w_i in the column of y_i. The L2 term is part of the optimizer's decay.
        """
        yield -(log_softmax(self(view, generator), dim=1) * target).sum()

    def penalized(self) -> list[nn.Parameter]:
        """Return the parameters under the L2 term; here the first one, W0."""
        return [next(self.parameters())]

    def penalty(self) -> Tensor:
        """Return the L2 term, as it stands in the stopping loss."""
        total: Tensor = torch.stack([p.square().sum() for p in self.penalized()]).sum()
        return 0.5 * self.l2 * total

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, with the gradient λW of the L2 term as part of W's (coupled) decay."""
        chosen = {id(parameter) for parameter in self.penalized()}
        penalized = [p for p in self.parameters() if id(p) in chosen]
        others = [p for p in self.parameters() if id(p) not in chosen]
        groups = [
            {"params": penalized, "weight_decay": settings.weight_decay + self.l2},
            {"params": others, "weight_decay": settings.weight_decay},
        ]
        groups = [group for group in groups if group["params"]]
        return torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)


def glorot(n_in: int, n_out: int, generator: torch.Generator, dtype: torch.dtype) -> nn.Parameter:
    """Return a weight of shape (n_in, n_out), uniform within ±√(6 / (n_in + n_out))."""
    bound = (6.0 / (n_in + n_out)) ** 0.5
    start = torch.empty(n_in, n_out, dtype=dtype, device=generator.device)
    return nn.Parameter(start.uniform_(-bound, bound, generator=generator))

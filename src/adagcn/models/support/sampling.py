"""What the systems that train on samples share: views to draw from, and mini-batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adagcn.models.support.field_of_view import FieldOfView
from adagcn.models.support.network import GraphNetwork
from adagcn.models.support.system import GraphInput


@dataclass(frozen=True)
class SampledView(FieldOfView):
    """The exact field of view of some nodes, and the graph that samples are drawn from.

    What only training needs is computed when it is first asked for: stopping nodes never ask.

    Parameters
    ----------
    inputs : GraphInput
        The graph, its nodes in the order of their ids.
    nodes : ndarray of shape (n_asked,)
        Where the nodes asked for are in it.
    """

    inputs: GraphInput
    nodes: NDArray[np.intp]

    @classmethod
    def of(
        cls, network: GraphNetwork, inputs: GraphInput, nodes: NDArray[np.intp], **more: Any
    ) -> Self:
        """Return the view of a network; ``more`` is what a subclass adds."""
        inputs, nodes = by_node_id(inputs, nodes)
        exact = network.view(inputs, nodes)
        return cls(exact.rows, exact.steps, exact.inner, inputs, nodes, **more)

    @cached_property
    def column_sizes(self) -> NDArray[np.float64]:
        """‖Â(:,u)‖² of every node u."""
        return np.asarray(self.inputs.propagator.power(2).sum(axis=0), dtype=np.float64)


class BatchedNetwork(GraphNetwork):
    """A network that is trained on mini-batches of nodes; a subclass draws what each batch sees."""

    batch_size: int

    def drawn(self, view: Any, batch: NDArray[np.intp], generator: torch.Generator) -> FieldOfView:
        """Return a field of view of some of the view's nodes in which steps are estimates."""
        raise NotImplementedError

    def losses(self, view: Any, target: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the loss of every mini-batch, each on what is drawn for it."""
        for batch in batches(len(target), self.batch_size, generator):
            drawn = self.drawn(view, batch.cpu().numpy(), generator)
            yield batch_loss(self(drawn, generator), target, batch)


def by_node_id(inputs: GraphInput, nodes: NDArray[np.intp]) -> tuple[GraphInput, NDArray[np.intp]]:
    """Return the graph with its nodes in the order of their ids, and where the nodes are then.

    What is drawn must not depend on the order in which a graph happens to be stored.
    """
    ids = inputs.node_ids
    if (ids[1:] > ids[:-1]).all():
        return inputs, nodes
    order = np.argsort(ids, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    adjacency = inputs.adjacency[order][:, order]
    return GraphInput(inputs.features[order], adjacency, ids[order]), place[nodes]


def batches(n_rows: int, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield all rows once, in random order and in batches; the last one may be smaller."""
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    yield from torch.split(order, batch_size)


def batch_loss(logits: Tensor, target: Tensor, batch: Tensor) -> Tensor:
    """Return an unbiased estimate of the loss over all training nodes, from those of a batch.

    ``logits`` has a row for each node of the batch, ``target`` for each training node.
    """
    total = (torch.log_softmax(logits, dim=1) * target[batch]).sum()
    return -total * (len(target) / len(batch))


def draws(
    chances: NDArray[np.float64], n_samples: int, generator: torch.Generator
) -> NDArray[np.int64]:
    """Return positions drawn with replacement, each with its chance."""
    weights = torch.from_numpy(chances).to(generator.device)
    drawn = torch.multinomial(weights, n_samples, replacement=True, generator=generator)
    return np.asarray(drawn.cpu().numpy())

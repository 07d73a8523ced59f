"""What the systems that train on samples share: an order of the nodes, and mini-batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adagcn.models.support.system import GraphInput


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

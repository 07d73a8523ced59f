"""PyTorch Geometric's layers as the oracle, and our inputs as they take them."""

from __future__ import annotations

import warnings

import numpy as np
import torch

from adagcn.models.support.network import Start

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what torch says about its own import is not ours
    from torch_geometric import nn as pyg

__all__ = ["assert_equal_to", "dense", "edges", "pyg", "started"]


def started(generator=None):
    """Return what a network of nine features and three classes is built from, in float64."""
    draw = torch.Generator().manual_seed(1) if generator is None else generator
    return Start(9, 3, draw, torch.float64)


def edges(inputs, matrix=None):
    """Return Â, or another matrix, as edges from column to row with their weights."""
    arcs = (inputs.propagator if matrix is None else matrix).tocoo()
    index = torch.from_numpy(np.stack([arcs.col, arcs.row]).astype(np.int64))
    return index, torch.from_numpy(arcs.data)


def dense(inputs):
    return torch.from_numpy(inputs.features.toarray())


def assert_equal_to(network, nodes, view, expected, copies=None):
    """Compare logits and gradients of a network with an oracle's, within 1e-10.

    Parameters
    ----------
    network, view
        Ours, for these nodes.
    expected : Tensor of shape (n_nodes, n_classes)
        The oracle's logits of all nodes, a function of our parameters or of copies of them.
    copies : callable, optional
        Returns the gradients of the oracle's copies, in the order of our parameters.
    """
    ours = network(view)
    np.testing.assert_allclose(ours.detach(), expected[nodes].detach(), atol=1e-10, rtol=0)
    probe = torch.from_numpy(np.random.default_rng(0).normal(size=ours.shape))
    mine = _gradients(network, ours, probe)
    theirs = _gradients(network, expected[nodes], probe)
    for a, b in zip(mine, theirs if copies is None else copies(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10, rtol=0)


def _gradients(network, logits, probe):
    network.zero_grad()
    (logits * probe).sum().backward()
    return [p.grad.clone() for p in network.parameters() if p.grad is not None]

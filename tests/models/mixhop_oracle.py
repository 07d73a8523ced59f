"""PyTorch Geometric's MixHopConv for one power, with a weight of ours."""

from __future__ import annotations

import torch
from pyg_oracle import edges, pyg
from scipy import sparse


def mixhop_block(inputs, values, weight, power):
    """Return Â^power values weight; gradients reach the weight itself."""
    # The layer normalizes by itself; handed A + I, it takes a self-loop of A as we do.
    with_loops = sparse.csr_array(inputs.adjacency + sparse.eye_array(inputs.n_nodes))
    layer = pyg.MixHopConv(*weight.shape, powers=[power], add_self_loops=False, bias=False)
    arguments = (values, *edges(inputs, with_loops))
    return torch.func.functional_call(layer.double(), {f"lins.{power}.weight": weight.T}, arguments)

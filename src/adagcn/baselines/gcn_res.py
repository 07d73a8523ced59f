"""GCN with residual connections (Kipf and Welling, ICLR 2017, appendix B).

With H^(1) = ReLU(Â X W^(0)) and hidden layers of one width::

    H^(l+1) = ReLU(Â H^(l) W^(l)) + H^(l)      l = 1 … L − 2
    Z       = Â H^(L−1) W^(L−1)

The output layer has no shortcut, so that two layers are a plain GCN. Shapes, start, dropout and L2
are those of :mod:`adagcn.baselines.gcn`.
"""

from __future__ import annotations

from functools import partial

from adagcn.baselines.gcn import GCN, GCNSettings
from adagcn.baselines.system import Recipe
from adagcn.baselines.training import NetworkSystem

RESIDUAL = NetworkSystem(
    GCNSettings,
    {
        # AdaGCN's Figure 3: sizes of the original, and PPNP's stopping as for all its methods.
        "paper": Recipe({}),
        # Appendix B: 400 epochs, no stopping.
        "authors": Recipe({"max_epochs": 400, "stop_on": "never"}),
    },
    partial(GCN, residual=True),
)

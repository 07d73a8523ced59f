"""GCN with the early stopping of PPNP's study (Klicpera, Bojchevski and Günnemann, ICLR 2019).

The network is that of :mod:`adagcn.baselines.gcn`; what differs is when it stops (PPNP's rule: up
to 10,000 epochs, 100 without improvement of accuracy or loss, the best epoch restored) and the size
that the study chose under that rule: 64 hidden units, λ = 0.02.
"""

from __future__ import annotations

from adagcn.baselines.gcn import GCN, GCNSettings
from adagcn.baselines.system import Recipe
from adagcn.baselines.training import NetworkSystem

EARLY_STOPPED = NetworkSystem(
    GCNSettings,
    {
        "paper": Recipe({"hidden_units": 64, "first_layer_l2": 0.02}),
        # Kipf and Welling's width and λ; only the stopping is PPNP's.
        "authors": Recipe({"hidden_units": 16, "first_layer_l2": 5e-4}),
    },
    GCN,
)

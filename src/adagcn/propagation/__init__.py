"""Parameter-free propagation: normalization, the stream of hops, personalized PageRank."""

from adagcn.propagation.hops import hop_stream
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.ppr import appnp_coefficients, exact_ppr, power_iteration_ppr

__all__ = [
    "appnp_coefficients",
    "exact_ppr",
    "hop_stream",
    "make_propagator",
    "power_iteration_ppr",
]

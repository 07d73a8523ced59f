"""The memory of any fit that can be told in advance, by the family of the model."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch

from adagcn.errors import InputError, PresetNotice
from adagcn.models.estimates import network_memory
from adagcn.models.estimates.boosted_memory import BoostedMemory, columns_used
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts
from adagcn.models.estimates.network_memory import NetworkMemory
from adagcn.models.estimates.stored_memory import StoredMemory
from adagcn.models.estimates.worker_memory import Workers
from adagcn.models.support import adapting
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.network import Start
from adagcn.models.support.problem import look_fits

# What libraries load when a fit first calls them, beyond what an import loads: for products, and
# for PyTorch's gradients and optimizers.
_LOADED_BY_PRODUCTS, _LOADED_BY_TRAINING = 30 * 2**20, 95 * 2**20

NO_WORKERS = Workers()

FitMemory = BoostedMemory | NetworkMemory


def is_boosted(model: Any) -> bool:
    """Return whether a model is one of AdaGCN's family."""
    return isinstance(model, BoostedClassifier)


def is_estimable(model: Any) -> bool:
    """Return whether the cost of a model's fit is known in advance."""
    if is_boosted(model):
        return getattr(model, "learner", None) is None
    return model.model_key in network_memory.KEYS


def check_estimable(model: Any) -> None:
    """Refuse a model whose cost nothing is known of."""
    if is_estimable(model):
        return
    own = getattr(model, "learner", None)
    known = ", ".join(("adagcn", "adasgc", "mlp", "logistic", *network_memory.KEYS))
    raise InputError(
        "AGC-I2001",
        "the cost of this model's fit cannot be told in advance",
        got=model.model_key if own is None else own,
        fix=f"use one of {known}, without a learner of your own",
    )


def loaded_by_a_fit(model: Any) -> int:
    """Return the bytes of libraries that a fit loads beyond an import."""
    return _LOADED_BY_PRODUCTS if is_boosted(model) else _LOADED_BY_TRAINING


def fit_memory(
    model: Any, sizes: GraphSizes, labels: LabelCounts, workers: Workers = NO_WORKERS
) -> FitMemory:
    """Return what a fit and a prediction for all nodes hold.

    Parameters
    ----------
    model : NodeClassifier
        With a graph, or what stands in for one; not fitted.
    sizes : GraphSizes
        The graph.
    labels : LabelCounts
        Labeled nodes.
    workers : Workers
        Processes beside the fit, which only a stored graph has.
    """
    settings = settings_in_force(model, sizes, labels)
    if not is_boosted(model):
        return NetworkMemory(sizes, settings, labels, _n_parameters(model, settings, sizes))
    shapes = model.parameter_shapes(settings, columns_used(sizes, settings), sizes.n_classes)
    n_parameters = sum(math.prod(shape) for shape in shapes.values())
    hidden = [shape[1] for name, shape in shapes.items() if name.endswith("hidden")]
    row_memory = getattr(model, "row_memory", None)
    facts = (sizes, settings, labels, n_parameters, sum(hidden), row_memory)
    return StoredMemory(*facts, workers) if sizes.is_stored else BoostedMemory(*facts)


def settings_in_force(model: Any, sizes: GraphSizes, labels: LabelCounts) -> Any:
    """Return the settings that a fit would use, without the words it would say of them.

    A preset that looks at the graph falls back to ``instant`` without stopping nodes, and to
    ``tuned`` where the hops of a store are too large to look at.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PresetNotice)
        settings = model.resolved_settings()
        if not is_boosted(model) or not adapting.is_open(settings):
            return settings
        if labels.n_stop == 0:
            return model.resolved_settings("instant")
        hop = float(sizes.n_nodes) * sizes.n_features * sizes.value_bytes
        if sizes.is_stored and not look_fits(hop, sizes.n_stored):
            return model.resolved_settings("tuned")
    return settings


def _n_parameters(model: Any, settings: Any, sizes: GraphSizes) -> int:
    """Return the parameters of a network that is only planned, without memory."""
    start = Start(sizes.n_features, max(sizes.n_classes, 1), None, torch.float32)
    network = model.system.make_network(settings, start)
    return sum(parameter.numel() for parameter in network.parameters())

"""The memory of any fit that can be told in advance, by the family of the model."""

from __future__ import annotations

import math
import warnings
from typing import Any

from adagcn.errors import InputError, PresetNotice
from adagcn.models.estimates.boosted_memory import BoostedMemory, columns_used
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment
from adagcn.models.support import adapting
from adagcn.models.support.boosted import BoostedClassifier

# What libraries load when a fit first calls them, beyond what an import loads.
LOADED_BY_A_FIT = 30 * 2**20


def is_estimable(model: Any) -> bool:
    """Return whether the cost of a model's fit is known in advance."""
    return isinstance(model, BoostedClassifier) and getattr(model, "learner", None) is None


def check_estimable(model: Any) -> None:
    """Refuse a model whose cost nothing is known of."""
    if is_estimable(model):
        return
    own = getattr(model, "learner", None)
    raise InputError(
        "AGC-I2001",
        "the cost of this model's fit cannot be told in advance",
        got=model.model_key if own is None else own,
        fix="use a model of AdaGCN's family (adagcn, adasgc, mlp, logistic) with its own learners",
    )


def fit_moments(model: Any, sizes: GraphSizes, labels: LabelCounts) -> list[Moment]:
    """Return what a fit and a prediction for all nodes hold, moment by moment.

    Parameters
    ----------
    model : NodeClassifier
        With a graph, or what stands in for one; not fitted.
    sizes : GraphSizes
        The graph.
    labels : LabelCounts
        Labeled nodes.
    """
    settings = settings_in_force(model, labels)
    return list(boosted_memory(model, settings, sizes, labels).moments())


def boosted_memory(
    model: Any, settings: Any, sizes: GraphSizes, labels: LabelCounts
) -> BoostedMemory:
    """Return the memory of a boosted fit with some settings."""
    shapes = model.parameter_shapes(settings, columns_used(sizes, settings), sizes.n_classes)
    n_parameters = sum(math.prod(shape) for shape in shapes.values())
    return BoostedMemory(sizes, settings, labels, n_parameters)


def settings_in_force(model: Any, labels: LabelCounts) -> Any:
    """Return the settings that a fit would use, without the words it would say of them.

    Without stopping nodes, a preset that looks at the graph falls back to ``instant``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PresetNotice)
        settings = model.resolved_settings()
        if isinstance(model, BoostedClassifier) and adapting.is_open(settings):
            if labels.n_stop == 0:
                return model.resolved_settings("instant")
    return settings

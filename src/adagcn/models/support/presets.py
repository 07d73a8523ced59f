"""Named, frozen recipes; every result says which one it used.

``adaptive`` decides on each graph what ``tuned`` fixes for all. ``tuned`` departs from Algorithm 1
in what :data:`DEVIATIONS` lists. ``instant`` fits a ridge on every hop, without epochs. ``paper``
is Algorithm 1 with the paper's hyper-parameters; ``released`` is what the authors' released code
does on a GPU.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from adagcn.boosting.look import RULE
from adagcn.errors import PresetNotice
from adagcn.graph import Graph
from adagcn.models.support.boosted_settings import DEFAULTS, BoostedSettings, settings_from

# The paper's own row for each of its data sets, where it differs from the defaults.
# Where the paper says "dropout" without a place, it is on both layers, as in the network it adapts.
_PAPER_ROWS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "citeseer": {"n_layers": 15, "weight_decay": 1e-3},
        "cora_ml": {},
        "pubmed": {"n_layers": 20, "dropout": 0.2, "hidden_dropout": 0.2},
        "ms_academic": {
            "n_layers": 5,
            "hidden_units": 3000,
            "dropout": 0.2,
            "hidden_dropout": 0.2,
        },
        # No early stopping on Reddit: patience as long as the training. Its own paragraph names
        # neither dropout nor L2; whether those of "the other datasets" are meant for it is open.
        "reddit": {
            "n_layers": 4,
            "hidden_units": 100,
            "first_layer_l2": 0.0,
            "max_epochs": 20_000,
            "patience": 20_000,
        },
    }
)

# What the released code does besides (on a GPU, where its best state is a copy).
_RELEASED: Mapping[str, Any] = MappingProxyType(
    {
        "variant.weight_update": "released",
        "variant.align_weights": False,
        "variant.relu_logits": True,
        "variant.share_stopping": True,
        "variant.carry_optimizer": True,
        "variant.stop_penalty": "diluted",
        "hidden_dropout": 0.0,
    }
)

_TUNED: Mapping[str, Any] = MappingProxyType(
    {
        "n_layers": 24,
        "teleport": 0.2,
        "max_features": 1000,
        "hidden_units": 128,
        "weight_decay": 0.0,
        "max_epochs": 100,
        "patience": 15,
        "variant.stop_on": "loss",
        "variant.stop_penalty": "none",
        "reweight_rate": 0.0,
        "variant.voting_share": 0.5,
        "pseudo_labels": 500,
        "variant.pseudo_label_from": 8,
        "variant.pseudo_label_weight": 0.7,
        "variant.pseudo_label_sharpness": 2.0,
    }
)

# What ``tuned`` fixes, decided on the graph by a look; and a ridge votes beside the perceptron.
_ADAPTIVE: Mapping[str, Any] = MappingProxyType(
    {
        **_TUNED,
        "n_layers": "auto",
        "teleport": "auto",
        "max_features": "auto",
        "feature_norm": "auto",
        "dropout": 0.3,
        "hidden_dropout": 0.3,
        "first_layer_l2": "auto",
        "pseudo_labels": "auto",
        "variant.learner": "both",
        "variant.most_layers": 24,
        "variant.layer_patience": 8,
        "variant.look": RULE,
    }
)

# No epochs: a ridge on every hop, from the sixth on with pseudo-labels of those before it.
_INSTANT: Mapping[str, Any] = MappingProxyType(
    {
        "n_layers": 8,
        "teleport": 0.2,
        "max_features": 2000,
        "feature_norm": "hellinger",
        "reweight_rate": 0.0,
        "pseudo_labels": 400,
        "variant.learner": "ridge",
        "variant.voting_share": 0.4,
        "variant.pseudo_label_from": 5,
        "variant.pseudo_label_weight": 0.7,
        "variant.pseudo_label_sharpness": 2.0,
    }
)
_INSTANT_WITHOUT_GRAPH: Mapping[str, Any] = MappingProxyType(
    {"n_layers": 1, "teleport": 0.0, "feature_norm": "graph", "pseudo_labels": 0}
)

# Without a graph every hop is the same matrix, and deeper is only longer.
_TUNED_WITHOUT_GRAPH: Mapping[str, Any] = MappingProxyType(
    {
        "n_layers": 3,
        "teleport": 0.0,
        "max_features": "all",
        "variant.voting_share": 1.0,
        "pseudo_labels": 0,
    }
)

# How ``tuned`` departs from Algorithm 1 and the paper's settings, and why.
DEVIATIONS: Mapping[str, str] = MappingProxyType(
    {
        "hidden_units": "128 instead of 3,000–5,000: a fiftieth of the work",
        "n_layers": "24 on every graph instead of a number per data set",
        "max_features": "the 1,000 columns with the largest squares: a third of the work",
        "teleport": "20 % of the input features stay in every hop",
        "variant.voting_share": "the later half of the layers votes; the rest prepare their start",
        "pseudo_labels": "500 unlabeled nodes count too, as the layers so far see them",
        "variant.stop_on": "the stopping loss alone instead of accuracy, then loss; short patience",
        "variant.stop_penalty": "the L2 term is not part of the stopping loss",
        "weight_decay": "none besides the L2 on the first layer",
        "reweight_rate": "0: node weights stay equal (preset boosted lets them move)",
    }
)

PRESETS: tuple[str, ...] = ("tuned", "boosted", "unweighted", "paper", "released")
# The default of each comes first: AdaGCN alone chooses by a look.
ADAGCN_PRESETS: tuple[str, ...] = ("adaptive", "tuned", "instant", *PRESETS[1:])

# Presets that take the paper's row for the graph rather than one recipe for all.
_LITERAL = ("paper", "released")


def preset_values(preset: str, graph_name: str | None, *, on_graph: bool) -> dict[str, Any]:
    """Return what a preset sets, by flat name; the paper's row of Cora-ML stands in for none."""
    if preset in _LITERAL:
        row = _PAPER_ROWS.get(graph_name or "", _PAPER_ROWS["cora_ml"])
        return {**row, **_RELEASED} if preset == "released" else dict(row)
    if preset == "instant":
        return {**_INSTANT, **({} if on_graph else _INSTANT_WITHOUT_GRAPH)}
    if preset == "adaptive" and on_graph:
        return dict(_ADAPTIVE)
    rate = {"boosted": 0.1, "unweighted": 0.0}.get(preset)
    change = {} if rate is None else {"reweight_rate": rate}
    return {**_TUNED, **change, **({} if on_graph else _TUNED_WITHOUT_GRAPH)}


def resolve(
    preset: str,
    graph: Graph | None,
    given: Mapping[str, Any],
    tuned: Mapping[str, Any],
    kind: type[BoostedSettings],
) -> BoostedSettings:
    """Return the settings of a preset for a graph, with explicit values on top.

    Parameters
    ----------
    preset : str
        A preset that the model has.
    graph : Graph or None
        Its name picks the paper's row.
    given : mapping
        Every setting that the model has, by flat name, with the user's value; ``None`` means the
        preset's.
    tuned : mapping
        What a model sets otherwise in the presets that were searched for.
    kind : type
        What the settings are checked by.
    """
    name = None if graph is None else graph.name
    if preset in _LITERAL and name not in _PAPER_ROWS:
        warnings.warn(
            f"the paper has no settings for {name or 'this graph'}: "
            f"preset {preset!r} uses those of cora_ml",
            PresetNotice,
            stacklevel=6,
        )
    own = {} if preset in _LITERAL else tuned
    values = {**DEFAULTS, **preset_values(preset, name, on_graph=graph is not None), **own}
    chosen = {name: values.get(name) if value is None else value for name, value in given.items()}
    return settings_from(chosen, kind)

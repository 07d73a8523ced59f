"""Named, frozen recipes; every result says which one it used.

``tuned`` departs from Algorithm 1 in what :data:`DEVIATIONS` lists. ``paper`` is Algorithm 1 with
the paper's hyper-parameters; ``released`` is what the authors' released code does on a GPU.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from adagcn.baselines.settings import checked
from adagcn.errors import InputError, PresetNotice
from adagcn.estimators.settings import DEFAULTS, Settings
from adagcn.graph import Graph

# The paper's own row for each of its data sets, where it differs from the defaults of Settings.
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
        # No early stopping on Reddit: patience as long as the training.
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
        "weight_update": "released",
        "align_weights": False,
        "relu_logits": True,
        "share_stopping": True,
        "carry_optimizer": True,
        "stop_penalty": "diluted",
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
        "stop_on": "loss",
        "stop_penalty": "none",
        "reweight_rate": 0.0,
        "voting_share": 0.5,
        "adopted_nodes": 500,
        "adopted_from": 8,
        "adopted_weight": 0.7,
        "adopted_sharpness": 2.0,
    }
)

# Without a graph every hop is the same matrix, and deeper is only longer.
_TUNED_WITHOUT_GRAPH: Mapping[str, Any] = MappingProxyType(
    {
        "n_layers": 3,
        "teleport": 0.0,
        "max_features": "all",
        "voting_share": 1.0,
        "adopted_nodes": 0,
    }
)

# How ``tuned`` departs from Algorithm 1 and the paper's settings, and why.
DEVIATIONS: Mapping[str, str] = MappingProxyType(
    {
        "hidden_units": "128 instead of 3,000–5,000: a fiftieth of the work",
        "n_layers": "24 on every graph instead of a number per data set",
        "max_features": "the 1,000 columns with the largest squares: a third of the work",
        "teleport": "20 % of the input features stay in every hop",
        "voting_share": "the later half of the layers votes; the first ones prepare their start",
        "adopted_nodes": "500 unlabeled nodes count too, as the layers so far see them",
        "stop_on": "the stopping loss alone instead of accuracy, then loss; short patience",
        "stop_penalty": "the L2 term is not part of the stopping loss",
        "weight_decay": "none besides the L2 on the first layer",
        "reweight_rate": "0: node weights stay equal (preset boosted lets them move)",
    }
)

_NOTHING: Mapping[str, Any] = MappingProxyType({})

PRESETS: tuple[str, ...] = ("tuned", "boosted", "unweighted", "paper", "released")


def resolve(
    preset: str,
    graph: Graph | None,
    given: Mapping[str, Any],
    tuned: Mapping[str, Any] = _NOTHING,
) -> Settings:
    """Return the settings of a preset for a graph, with explicit values on top.

    Parameters
    ----------
    preset : str
        One of :data:`PRESETS`.
    graph : Graph or None
        Its name picks the paper's row.
    given : mapping
        Every setting that the model has, with the user's value; ``None`` means the preset's.
    tuned : mapping
        What a model sets otherwise in the presets that were searched for.
    """
    if preset not in PRESETS:
        near = difflib.get_close_matches(str(preset), PRESETS, n=1)
        raise InputError(
            "AGC-I602",
            f"preset must be one of {', '.join(PRESETS)}",
            got=preset,
            fix=f"did you mean {near[0]!r}?" if near else "'tuned' is the default",
        )
    own = {} if preset in ("paper", "released") else tuned
    values = {**DEFAULTS, **_preset_values(preset, graph), **own}
    chosen = {name: values[name] if value is None else value for name, value in given.items()}
    return checked(Settings, chosen)


def _preset_values(preset: str, graph: Graph | None) -> dict[str, Any]:
    if preset in ("paper", "released"):
        row = _paper_row(preset, None if graph is None else graph.name)
        return {**row, **_RELEASED} if preset == "released" else dict(row)
    rate = {"boosted": 0.1, "unweighted": 0.0}.get(preset)
    change = {} if rate is None else {"reweight_rate": rate}
    shape = _TUNED_WITHOUT_GRAPH if graph is None else {}
    return {**_TUNED, **change, **shape}


def _paper_row(preset: str, graph_name: str | None) -> Mapping[str, Any]:
    if graph_name is not None and graph_name in _PAPER_ROWS:
        return _PAPER_ROWS[graph_name]
    warnings.warn(
        f"the paper has no settings for {graph_name or 'this graph'}: "
        f"preset {preset!r} uses those of cora_ml",
        PresetNotice,
        stacklevel=5,
    )
    return _PAPER_ROWS["cora_ml"]

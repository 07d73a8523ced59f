"""The facts of a fit: what was read, what was chosen and why, settings, versions, digests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from adagcn.boosting.fit_state import LabeledNodes, nodes_digest
from adagcn.errors import AdaGCNError, counted
from adagcn.experiments.provenance import code_versions
from adagcn.models.support.boosted_settings import PREFIX, Variant, flattened
from adagcn.models.support.settings import meaning
from adagcn.report.examined import Examined
from adagcn.report.scored_nodes import plain_text

_MOST_CHANGES = 40  # phrases on what was read
_NOT_SHOWN = ("look", "variant.look")


def fit_sentence(seen: Examined) -> str:
    """Return in words whether the scored nodes are new to the model."""
    split = plain_text(seen.split.name, 40)
    if seen.split.name == "none":
        return (
            "Every labeled node is scored, and the model may have been trained on some of them: "
            "the figures can be too good."
        )
    same = fitted_on(seen)
    if same is None:
        return (
            f"The scored nodes of the split {split} are new to the model if it was fitted on this "
            "split; its file does not say."
        )
    if same:
        return (
            f"The scored nodes of the split {split} had no part in the fit, as its file confirms."
        )
    return (
        f"The model file says that the model was not fitted on the split {split}: it may have been "
        "trained on some of the scored nodes, and the figures can be too good."
    )


def fitted_on(seen: Examined) -> bool | None:
    """Return whether a fit had the labeled nodes of the split; None if the model does not tell."""
    known = getattr(getattr(seen.model, "state_", None), "nodes_digest", None)
    if known is None:
        return None
    split, graph = seen.split, seen.graph
    column = {value: index for index, value in enumerate(seen.model.classes_.tolist())}

    def classes(nodes: Any, own: Any) -> Any:
        values = graph.classes[graph.labels[nodes] if own is None else own].tolist()
        return np.array([column.get(value, -1) for value in values], dtype=np.int64)

    train = split.train_nodes, classes(split.train_nodes, split.train_labels)
    stop: tuple[Any, Any] = (None, None)
    if len(split.stop_nodes):
        stop = split.stop_nodes, classes(split.stop_nodes, split.stop_labels)
    nodes = LabeledNodes(*train, np.ones(len(split.train_nodes)), *stop)
    return bool(nodes_digest(nodes) == known)


def choice_section(model: Any) -> dict[str, Any] | None:
    """Return what a model chose for itself before the fit, and why; None if it chose nothing."""
    choices = getattr(model, "choices_", None)
    if not choices:
        return None
    about = _meanings(model)
    return {
        "rows": [
            {"name": name, "value": plain_text(value), "about": about.get(name, "")}
            for name, value in choices.items()
        ],
        "why": plain_text(model.params_.get("look") or "", 2000),
    }


def data_section(seen: Examined) -> dict[str, Any]:
    """Return the graph in numbers, and what was read, changed and left out."""
    graph, sizes = seen.graph, seen.split.sizes
    told = seen.split.name != "none"
    features = "none" if graph.has_node_columns else f"{graph.n_features:,}"
    known = len(graph.labeled_nodes)
    rows = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}{', directed' if graph.is_directed else ''}"),
        ("feature columns", features),
        ("labels", f"{graph.n_classes:,} different, known for {known:,} nodes"),
        ("trained on", counted(sizes["train"], "node") if told else "not known"),
        ("stopped on", counted(sizes["stop"], "node") if told else "not known"),
        ("scored", counted(seen.n_scored, "node")),
    ]
    changes = [plain_text(phrase, 400) for phrase in graph.changes[:_MOST_CHANGES]]
    left = len(graph.changes) - len(changes)
    return {"rows": rows, "changes": changes, "n_more_changes": left}


def settings_section(seen: Examined) -> dict[str, Any]:
    """Return every setting in force with its meaning, and where the numbers come from."""
    model, about = seen.model, _meanings(seen.model)
    yours: Mapping[str, Any] = {k: v for k, v in model.given_settings().items() if v is not None}
    with suppress(AdaGCNError):
        yours = flattened(dict(yours))
    rows = [
        {
            "name": name,
            "value": plain_text(value, 300),
            "about": about.get(name, ""),
            "yours": name in yours,
        }
        for name, value in model.params_.items()
        if name not in _NOT_SHOWN
    ]
    digests = {
        "model": model.model_digest_,
        "graph": seen.graph.digest,
        "split": seen.split.digest,
    }
    versions = {name: value for name, value in code_versions().items() if value is not None}
    return {
        "rows": rows,
        "any_yours": any(row["yours"] for row in rows),
        "digests": digests,
        "versions": versions,
        "seed": str(model.seed_),
        "other_graph": _other_graph(seen),
    }


def _other_graph(seen: Examined) -> bool:
    """Return whether the model was fitted on another graph than this one."""
    digest = getattr(seen.model, "input_digest_", None)
    graph = seen.graph if seen.model.graph is None else seen.model.graph  # its columns in order
    return digest is not None and str(digest) != graph.input_digest


def _meanings(model: Any) -> dict[str, str]:
    fields = dict(model.setting_fields())
    switches = Variant.model_fields if fields.pop("variant", None) is not None else {}
    named = {**fields, **{PREFIX + name: field for name, field in switches.items()}}
    return {name: _plain_words(meaning(field)) for name, field in named.items()}


def _plain_words(text: str) -> str:
    """Return a text of the documentation without its markup.

    >>> _plain_words("as ``fit`` says; see :mod:`adagcn.graph`")
    'as fit says; see adagcn.graph'
    """
    return re.sub(r":\w+:`~?([^`]+)`", r"\1", text).replace("`", "")

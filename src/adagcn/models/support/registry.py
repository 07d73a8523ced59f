"""Every model by its key: what the command line, the experiments and the contract tests go by.

A new model is one file in ``adagcn/models`` and one line here. A model's file is imported when the
model is first asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from adagcn.errors import FormatError, InputError
from adagcn.graph import Graph
from adagcn.models.support.boosted_settings import Variant, nested
from adagcn.models.support.classifier import NodeClassifier
from adagcn.models.support.model_file import read_model
from adagcn.models.support.persistence import from_file
from adagcn.models.support.settings import did_you_mean

CLASSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {  # key: file, class
        "adagcn": ("adagcn", "AdaGCNClassifier"),
        "adasgc": ("adasgc", "AdaSGCClassifier"),
        "mlp": ("mlp", "PerceptronClassifier"),
        "logistic": ("logistic", "LogisticClassifier"),
        "gcn": ("gcn", "GCNClassifier"),
        "gcn_es": ("gcn", "EarlyStoppedGCNClassifier"),
        "gcn_res": ("gcn", "ResidualGCNClassifier"),
        "ppnp": ("ppnp", "PPNPClassifier"),
        "appnp": ("appnp", "APPNPClassifier"),
        "pta": ("pta", "PTAClassifier"),
        "grand": ("grand", "GRANDClassifier"),
        "engcn": ("engcn", "EnGCNClassifier"),
        "gb_gnn": ("gb_gnn", "GBGNNClassifier"),
        "bt_fp": ("bt_fp", "BTFPClassifier"),
        "correct_and_smooth": ("correct_and_smooth", "CorrectAndSmoothClassifier"),
        "fastgcn": ("fastgcn", "FastGCNClassifier"),
        "graphsage": ("graphsage", "GraphSAGEClassifier"),
        "label_propagation": ("label_propagation", "LabelPropagationClassifier"),
        "sgc": ("sgc", "SGCClassifier"),
        "sign": ("sign", "SIGNClassifier"),
        "gat": ("gat", "GATClassifier"),
        "jk": ("jk", "JKClassifier"),
        "ngcn": ("ngcn", "NGCNClassifier"),
        "mixhop": ("mixhop", "MixHopClassifier"),
        "dagnn": ("dagnn", "DAGNNClassifier"),
        "gcnii": ("gcnii", "GCNIIClassifier"),
        "deepgcn": ("deepgcn", "DeepGCNClassifier"),
        "graphsaint": ("graphsaint", "GraphSAINTClassifier"),
    }
)


class _Models(Mapping[str, type[NodeClassifier]]):
    """Model classes by key, each imported when it is first looked up."""

    def __getitem__(self, key: str) -> type[NodeClassifier]:
        file, name = CLASSES[key]
        found: type[NodeClassifier] = getattr(import_module(f"adagcn.models.{file}"), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)

    def __contains__(self, key: object) -> bool:
        return key in CLASSES


MODELS: Mapping[str, type[NodeClassifier]] = _Models()


def model_class(key: str) -> Any:
    """Return the class of a model key such as ``"adagcn"``."""
    if key not in CLASSES:
        near = difflib.get_close_matches(key, CLASSES, n=1)
        raise InputError(
            "AGC-I643",
            f"model must be one of {', '.join(CLASSES)}",
            got=key,
            fix=f"did you mean {near[0]!r}?" if near else "'adagcn' is the default",
        )
    return MODELS[key]


def build_model(
    key: str,
    graph: Graph | None,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    random_state: Any = None,
) -> NodeClassifier:
    """Return a model that is not fitted yet, with settings by flat name (``variant.stop_on``)."""
    kind = model_class(key)
    for name in settings.keys() - kind.settable():
        kind.refuse_old_name(name)
        raise InputError(
            "AGC-I606",
            f"{key} has no setting {name}",
            got=settings[name],
            fix=did_you_mean(name, sorted(kind.settable())),
        )
    given = nested(settings)
    if "variant" in given:
        given["variant"] = Variant(**given["variant"])
    model: NodeClassifier = kind(
        graph, preset=preset or kind.default_preset, random_state=random_state, **given
    )
    return model


def presets_of(key: str) -> tuple[str, ...]:
    """Return the names of a model's presets, its default first."""
    names: tuple[str, ...] = model_class(key).presets()
    return names


def default_preset(key: str) -> str:
    """Return the preset that a model has if none is asked for."""
    return str(model_class(key).default_preset)


def load_model(path: str | Path, *, graph: Graph | None = None) -> NodeClassifier:
    """Read a model file of any kind."""
    file = read_model(path)
    key = file.manifest.model
    if key not in CLASSES:
        raise FormatError(
            "AGC-F711",
            f"{path} holds a model that this release does not know",
            got=key,
            fix="use the release of adagcn that wrote the file, or a newer one",
        )
    return from_file(MODELS[key], file, path, graph)

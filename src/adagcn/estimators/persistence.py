"""What of an estimator goes into a model file, and back."""

from __future__ import annotations

import hashlib
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from adagcn.boosting.hop_boosting import BoostedLayer
from adagcn.errors import FormatError, InputError, OtherGraphWarning
from adagcn.estimators.model_file import (
    ClassValues,
    LayerEntry,
    Manifest,
    ModelFile,
    canonical_json,
    tensor_entry,
    to_bytes,
)
from adagcn.estimators.settings import Settings
from adagcn.formats.atomic import write_bytes
from adagcn.graph import Graph
from adagcn.training.hop_fitter import FittedNetwork
from adagcn.training.loop import TrainingRecord

Estimator = TypeVar("Estimator", bound=Any)


def save_model(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to ``path``; the file appears whole or not at all."""
    write_bytes(path, to_bytes(_content(estimator)))


def model_digest(estimator: Any) -> str:
    """Return the SHA-256 of what was learnt and the resolved parameters."""
    manifest = _content(estimator).manifest
    learnt = {"model", "preset", "params", "classes", "layers", "tensors", "n_features", "on_graph"}
    return hashlib.sha256(canonical_json(manifest.model_dump(include=learnt))).hexdigest()


def restore(kind: type[Estimator], file: ModelFile, graph: Graph | None) -> Estimator:
    """Return an estimator that has learnt what the file holds."""
    manifest = file.manifest
    try:
        estimator: Estimator = kind(graph, **manifest.constructor)
    except TypeError as error:
        raise FormatError(
            "AGC-F712",
            f"the model file has arguments that {kind.__name__} does not take",
            got=str(error),
            fix="use the release of adagcn that wrote the file, or a newer one",
        ) from None
    settings = Settings(**manifest.params)
    estimator.classes_ = manifest.classes.array()
    estimator.params_ = {"preset": manifest.preset, **manifest.params}
    estimator.n_features_in_ = manifest.n_features
    if manifest.feature_names is not None:
        estimator.feature_names_in_ = np.array(manifest.feature_names, dtype=object)
    estimator.on_graph_ = manifest.on_graph
    estimator.input_digest_ = manifest.input_digest
    estimator.seed_ = manifest.seed
    estimator.stop_accuracy_ = manifest.stop_accuracy
    estimator.layers_ = tuple(
        _layer(estimator, settings, entry, file.tensors) for entry in manifest.layers
    )
    return estimator


def check_graph(manifest: Manifest, graph: Graph) -> None:
    """Refuse a graph that the model cannot read, and warn of one that it was not fitted on."""
    if graph.n_features != manifest.n_features:
        raise InputError(
            "AGC-I702",
            f"the model was fitted on {manifest.n_features} features per node",
            got=graph,
            fix="load it with a graph that has the same feature columns",
        )
    if graph.input_digest != manifest.input_digest:
        warnings.warn(
            f"the model was fitted on another graph than {graph!r}: its predictions are inductive",
            OtherGraphWarning,
            stacklevel=3,
        )


def _content(estimator: Any) -> ModelFile:
    if any(not isinstance(layer.learner, FittedNetwork) for layer in estimator.layers_):
        raise InputError(
            "AGC-I703",
            "a model whose learner is a scikit-learn classifier has no safe file form",
            got=estimator.learner,
            fix="save the settings and fit again, or use the built-in learner",
        )
    tensors: dict[str, NDArray[Any]] = {}
    for layer in estimator.layers_:
        tensors |= _layer_tensors(layer)
    graph = estimator.graph
    params = {name: value for name, value in estimator.params_.items() if name != "preset"}
    manifest = Manifest(
        model=estimator.model_key,
        preset=estimator.params_["preset"],
        params=params,
        constructor=_constructor(estimator),
        classes=_class_values(estimator.classes_),
        n_features=estimator.n_features_in_,
        feature_names=_feature_names(estimator),
        on_graph=estimator.on_graph_,
        graph_name=None if graph is None else graph.name,
        input_digest=estimator.input_digest_,
        seed=estimator.seed_,
        stop_accuracy=estimator.stop_accuracy_,
        layers=[_layer_entry(layer) for layer in estimator.layers_],
        tensors={name: tensor_entry(tensor) for name, tensor in tensors.items()},
        versions={name: version(name) for name in ("adagcn", "numpy", "torch")},
    )
    return ModelFile(manifest, tensors)


def _layer_name(hop: int, part: str) -> str:
    return f"layer.{hop:03d}.{part}"


def _layer_tensors(layer: BoostedLayer) -> dict[str, NDArray[Any]]:
    parts = {name: p.detach().cpu().numpy() for name, p in layer.learner.learner.named_parameters()}
    parts |= {"log_weight": layer.log_weight, "next_log_weight": layer.next_log_weight}
    return {
        _layer_name(layer.hop, name): np.ascontiguousarray(part) for name, part in parts.items()
    }


def _layer_entry(layer: BoostedLayer) -> LayerEntry:
    record = layer.learner.record or TrainingRecord(0)
    return LayerEntry(
        hop=layer.hop,
        factor=float(layer.factor),
        coefficient=float(layer.coefficient),
        weighted_error=layer.weighted_error,
        epochs=record.epochs,
        stop_accuracy=record.stop_accuracy,
        stop_loss=record.stop_loss,
    )


def _class_values(classes: NDArray[Any]) -> ClassValues:
    values = classes.tolist()
    if classes.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        raise InputError(
            "AGC-I704",
            "labels of this kind cannot be written to a model file",
            got=values[:5],
            fix="use integers, floats, booleans or strings as labels",
        )
    return ClassValues(dtype=classes.dtype.str, values=values)


def _constructor(estimator: Any) -> dict[str, Any]:
    """Return the constructor's explicit arguments that JSON can hold; a graph is not one."""
    simple = (str, int, float, bool)
    given = estimator.get_params(deep=False)
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in given.items()
        if isinstance(value, (*simple, np.generic))
    }


def _feature_names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _layer(
    estimator: Any, settings: Settings, entry: LayerEntry, tensors: dict[str, NDArray[Any]]
) -> BoostedLayer:
    def tensor(part: str) -> NDArray[Any]:
        name = _layer_name(entry.hop, part)
        if name not in tensors:
            raise FormatError("AGC-F709", f"the model file lacks the tensor {name}", got=entry.hop)
        return tensors[name]

    dtype = torch.from_numpy(tensor("output")).dtype
    bias_column = 0 if estimator.on_graph_ else 1
    network = estimator.make_network(
        settings,
        estimator.n_features_in_ + bias_column,
        len(estimator.classes_),
        torch.Generator().manual_seed(0),
        dtype,
    )
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            stored = torch.from_numpy(tensor(name))
            if stored.shape != parameter.shape:
                raise FormatError(
                    "AGC-F710",
                    f"{name} of layer {entry.hop} should have shape {tuple(parameter.shape)}",
                    got=tuple(stored.shape),
                    fix="save the model again",
                )
            parameter.copy_(stored)
    record = TrainingRecord(entry.epochs, entry.stop_accuracy, entry.stop_loss)
    return BoostedLayer(
        hop=entry.hop,
        learner=FittedNetwork(network, record),
        factor=entry.factor,
        coefficient=entry.coefficient,
        weighted_error=entry.weighted_error,
        log_weight=tensor("log_weight"),
        next_log_weight=tensor("next_log_weight"),
    )

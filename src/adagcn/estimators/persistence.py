"""What of an estimator goes into a model file, and back."""

from __future__ import annotations

import hashlib
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError
from sklearn.utils.validation import check_is_fitted

from adagcn.errors import FormatError, InputError, OtherGraphWarning
from adagcn.estimators import boosted_layers
from adagcn.estimators.model_file import (
    ClassValues,
    Manifest,
    ModelFile,
    TrainingEntry,
    canonical_json,
    read_model,
    tensor_entry,
    to_bytes,
)
from adagcn.estimators.settings import Settings
from adagcn.formats.atomic import write_bytes
from adagcn.graph import Graph
from adagcn.training.loop import TrainingRecord

Estimator = TypeVar("Estimator", bound=Any)

_LEARNT = {"model", "preset", "params", "classes", "tensors", "n_features", "on_graph"}


class SavedModel:
    """What every estimator here can do with files."""

    def save(self, path: str | Path) -> None:
        """Write the model to one checked file; see :mod:`adagcn.estimators.model_file`."""
        check_is_fitted(self, "classes_")
        save_model(self, path)

    @classmethod
    def load(cls, path: str | Path, *, graph: Graph | None = None) -> Self:
        """Read a model that :meth:`save` wrote, to predict on ``graph``."""
        return load_model(cls, path, graph)

    @property
    def model_digest_(self) -> str:
        """SHA-256 of what was learnt and the resolved parameters; no times, no versions."""
        return model_digest(self)


def save_model(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to ``path``; the file appears whole or not at all."""
    write_bytes(path, to_bytes(_content(estimator)))


def load_model(kind: type[Estimator], path: str | Path, graph: Graph | None) -> Estimator:
    """Read a model of one kind."""
    file = read_model(path)
    if file.manifest.model != kind.model_key:
        raise InputError(
            "AGC-I624",
            f"{path} holds a model of another kind than {kind.__name__}",
            got=file.manifest.model,
            fix="use adagcn.estimators.load_model(path), which takes any kind",
        )
    if graph is not None:
        check_graph(file.manifest, graph)
    return restore(kind, file, graph)


def model_digest(estimator: Any) -> str:
    """Return the SHA-256 of what was learnt and the resolved parameters."""
    manifest = _content(estimator).manifest
    learnt = _LEARNT | {"layers" if manifest.training is None else "training"}
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
    estimator.classes_ = manifest.classes.array()
    estimator.params_ = {"preset": manifest.preset, **manifest.params}
    estimator.n_features_in_ = manifest.n_features
    if manifest.feature_names is not None:
        estimator.feature_names_in_ = np.array(manifest.feature_names, dtype=object)
    estimator.on_graph_ = manifest.on_graph
    estimator.input_digest_ = manifest.input_digest
    estimator.seed_ = manifest.seed
    estimator.stop_accuracy_ = manifest.stop_accuracy
    _learn(estimator, file)
    return estimator


def _learn(estimator: Any, file: ModelFile) -> None:
    """Give an estimator what the file's tensors hold."""
    manifest = file.manifest
    if _is_boosted(type(estimator)) != (manifest.training is None):
        raise FormatError(
            "AGC-F713",
            f"the model file does not hold what {type(estimator).__name__} learns",
            got=f"{len(manifest.layers)} layers",
            fix="save the model again",
        )
    if manifest.training is None:
        settings = _settings(Settings, manifest)
        estimator.columns_ = boosted_layers.columns(file.tensors, manifest.n_features)
        estimator.layers_ = boosted_layers.restore(
            estimator, settings, manifest.layers, file.tensors
        )
        return
    system = estimator.system
    settings = _settings(system.settings, manifest)
    n_classes = len(estimator.classes_)
    estimator.fitted_ = system.restore(file.tensors, settings, manifest.n_features, n_classes)
    estimator.record_ = TrainingRecord(**manifest.training.model_dump())


def _is_boosted(kind: type[Any]) -> bool:
    return not hasattr(kind, "system")


def _settings(kind: type[BaseModel], manifest: Manifest) -> Any:
    """Return the settings that the file names if the model has them."""
    try:
        return kind(**manifest.params)
    except ValidationError as error:
        raise FormatError(
            "AGC-F714",
            "the model file has settings that the model does not take",
            got=str(error).splitlines()[0],
            fix="save the model again",
        ) from None


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
            stacklevel=4,
        )


def _content(estimator: Any) -> ModelFile:
    boosted = _is_boosted(type(estimator))
    tensors = boosted_layers.tensors(estimator) if boosted else estimator.fitted_.tensors()
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
        layers=boosted_layers.entries(estimator) if boosted else [],
        training=None if boosted else _training_entry(estimator.record_),
        tensors={name: tensor_entry(tensor) for name, tensor in tensors.items()},
        versions={name: version(name) for name in ("adagcn", "numpy", "torch")},
    )
    return ModelFile(manifest, tensors)


def _training_entry(record: TrainingRecord) -> TrainingEntry:
    return TrainingEntry(
        epochs=record.epochs, stop_accuracy=record.stop_accuracy, stop_loss=record.stop_loss
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

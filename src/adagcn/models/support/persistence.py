"""What of a model goes into a file, and back."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from sklearn.utils.validation import check_is_fitted

from adagcn.boosting.fit_state import FitState
from adagcn.errors import FormatError, InputError, OtherGraphWarning
from adagcn.formats.atomic import write_bytes
from adagcn.graph import Graph
from adagcn.models.support import boosted_layers
from adagcn.models.support.boosted_settings import (
    BoostedSettings,
    Variant,
    nested,
    settings_from,
)
from adagcn.models.support.calibrated import TENSORS as CALIBRATION
from adagcn.models.support.calibrated import calibration_tensors, restore_calibration
from adagcn.models.support.column_scale import checked_scale
from adagcn.models.support.feature_columns import (
    matched_by_name,
    node_columns,
    other_node_columns,
)
from adagcn.models.support.model_file import (
    ClassValues,
    Manifest,
    ModelFile,
    TrainingEntry,
    manifest_json,
    read_model,
    tensor_entry,
    to_bytes,
)
from adagcn.models.support.problem import checked_graph
from adagcn.models.support.renamed import renamed
from adagcn.models.support.settings import NOT_IN_SETTINGS, Params, checked, without_numpy
from adagcn.training.loop import TrainingRecord

Estimator = TypeVar("Estimator", bound=Any)


COLUMN_SCALE = "column_scale"  # mean and deviation of the feature columns, where they are scaled
LOOK = "look"  # in ``params_``: what was chosen before the fit, in words that no digest depends on
_LEARNED = {"model", "preset", "params", "classes", "n_features", "on_graph"}


class SavedModel:
    """What every model can do with files."""

    def save(self, path: str | Path, *, continuable: bool = False) -> None:
        """Write the model to one checked file; see :mod:`adagcn.models.support.model_file`.

        Parameters
        ----------
        path : str or path-like
            The file appears whole or not at all.
        continuable : bool
            Whether the file holds all that ``warm_start`` needs to add layers after loading, as if
            the fit had never ended. It then holds the positions and classes of the labeled nodes
            and of the stopping nodes.
        """
        check_is_fitted(self, "classes_")
        write_bytes(path, to_bytes(_content(self, continuable=continuable)))

    @classmethod
    def load(cls, path: str | Path, *, graph: Graph | None = None) -> Self:
        """Read a model that :meth:`save` wrote, to predict on ``graph``."""
        return from_file(cls, read_model(path), path, graph)

    @property
    def model_digest_(self) -> str:
        """SHA-256 of what was learned and the resolved parameters; no times, no versions."""
        manifest = _content(self, continuable=False).manifest
        learned = _LEARNED | {"tensors", "layers" if manifest.training is None else "training"}
        return hashlib.sha256(manifest_json(manifest.model_dump(include=learned))).hexdigest()


def from_file(
    kind: type[Estimator], file: ModelFile, path: str | Path, graph: Graph | None
) -> Estimator:
    """Return a model of one kind from the content of a file."""
    if file.manifest.model != kind.model_key:
        raise InputError(
            "AGC-I624",
            f"{path} holds a model of another kind than {kind.__name__}",
            got=file.manifest.model,
            fix="use adagcn.load_model(path), which takes any kind",
        )
    graph = checked_graph(graph)
    if graph is not None:
        graph = _readable_graph(file.manifest, graph)
    return _restored(kind, file, graph)


def _restored(kind: type[Estimator], file: ModelFile, graph: Graph | None) -> Estimator:
    manifest = file.manifest
    estimator: Estimator = _constructed(kind, file, graph)
    estimator.classes_ = manifest.classes.array()
    params = renamed(manifest.model, manifest.params) if file.version == 1 else manifest.params
    values = {"preset": manifest.preset, **params, "n_threads": manifest.n_threads}
    if manifest.look is not None:
        values[LOOK] = manifest.look
    restore_calibration(estimator, file.tensors)
    estimator.params_ = Params({**values, **estimator._calibration_params()})
    estimator.n_features_in_ = manifest.n_features
    if manifest.feature_names is not None:
        estimator.feature_names_in_ = np.array(manifest.feature_names, dtype=object)
    estimator.on_graph_ = manifest.on_graph
    estimator.input_digest_ = manifest.input_digest
    estimator.seed_ = manifest.seed
    estimator.node_columns_ = manifest.node_columns
    estimator.column_scale_ = _column_scale(file, params)
    estimator.stop_accuracy_ = manifest.stop_accuracy
    if _is_boosted(kind) != (manifest.training is None):
        raise FormatError(
            "AGC-F713",
            f"the model file does not hold what {kind.__name__} learns",
            got=f"{len(manifest.layers)} layers",
            fix="save the model again",
        )
    if manifest.training is None:
        settings = _checked_settings(estimator.settings, params)
        estimator.choices_ = manifest.choices
        boosted_layers.restore_boosted(estimator, file, settings)
    else:
        system = estimator.system
        settings = _checked_settings(system.settings, params)
        n_classes = len(estimator.classes_)
        beside = {COLUMN_SCALE, *CALIBRATION}
        learned = {name: part for name, part in file.tensors.items() if name not in beside}
        estimator.fitted_ = system.restore(learned, settings, manifest.n_features, n_classes)
        estimator.record_ = TrainingRecord(**manifest.training.model_dump())
    return estimator


def _column_scale(file: ModelFile, params: Mapping[str, Any]) -> NDArray[np.float64] | None:
    """Return by what the model divides columns; there must be such a scale just where it does."""
    stored = file.tensors.get(COLUMN_SCALE)
    if stored is None and params.get("feature_norm") != "standard":
        return None
    found = None if stored is None else checked_scale(stored, file.manifest.n_features)
    if found is None or params.get("feature_norm") != "standard":
        raise FormatError(
            "AGC-F718",
            "the model file does not hold the scale of the feature columns that it should",
            got=None if stored is None else stored.shape,
            fix="save the model again",
        )
    return found


def _constructed(kind: type[Estimator], file: ModelFile, graph: Graph | None) -> Estimator:
    """Return a model with the constructor arguments of the one that was saved."""
    given = file.manifest.constructor
    if file.version == 1:
        given = nested(renamed(file.manifest.model, given))
    try:
        given = dict(given)
        if "variant" in given:
            given["variant"] = Variant(**given["variant"])
        if isinstance(given.get("class_weight"), list):
            given["class_weight"] = dict(given["class_weight"])
        model: Estimator = kind(graph, **given)
    except (TypeError, ValueError) as error:
        raise FormatError(
            "AGC-F712",
            f"the model file has arguments that {kind.__name__} does not take",
            got=str(error),
            fix="use the release of adagcn that wrote the file, or a newer one",
        ) from None
    return model


def _is_boosted(kind: type[Any]) -> bool:
    return not hasattr(kind, "system")


def _checked_settings(kind: type[BaseModel], params: Mapping[str, Any]) -> Any:
    """Return the settings that the file names if the model has them."""
    try:
        if issubclass(kind, BoostedSettings):
            return settings_from(params, kind)
        return checked(kind, params)
    except InputError as error:
        raise FormatError(
            "AGC-F714",
            "the model file has settings that the model does not take",
            got=error.problem,
            fix="save the model again",
        ) from None


def _readable_graph(manifest: Manifest, graph: Graph) -> Graph:
    """Return the graph as the model reads it, and warn of one that it was not fitted on."""
    if graph.has_node_columns and manifest.node_columns not in (None, node_columns(graph)):
        raise other_node_columns(graph)
    graph = matched_by_name(manifest.feature_names, graph)
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
    return graph


def _content(estimator: Any, *, continuable: bool) -> ModelFile:
    """Return the file of a model; what was learned is the same in both kinds of file."""
    boosted = _is_boosted(type(estimator))
    state: Any = estimator.state_ if boosted else None
    parts = boosted_layers.boosted_tensors(estimator) if boosted else estimator.fitted_.tensors()
    layers = [boosted_layers.layer_entry(each) for each in state.layers] if boosted else []
    if estimator.column_scale_ is not None:
        parts |= {COLUMN_SCALE: estimator.column_scale_}
    parts |= calibration_tensors(estimator)
    if continuable:
        parts |= boosted_layers.continuation_tensors(estimator, state)
        layers = [*map(boosted_layers.with_stoppers, layers, state.layers)]
    graph = estimator.graph
    params = {k: value for k, value in estimator.params_.items() if k not in NOT_IN_SETTINGS}
    manifest = Manifest(
        model=estimator.model_key,
        preset=estimator.params_["preset"],
        params=params,
        constructor=_constructor(estimator),
        classes=class_values(estimator.classes_),
        n_features=estimator.n_features_in_,
        feature_names=_feature_names(estimator),
        on_graph=estimator.on_graph_,
        graph_name=None if graph is None else graph.name,
        input_digest=_input_digest(estimator, state, continuable=continuable),
        seed=estimator.seed_,
        stop_accuracy=estimator.stop_accuracy_,
        layers=layers,
        training=None if boosted else TrainingEntry(**asdict(estimator.record_)),
        continuable=continuable,
        nodes_digest=None if state is None else state.nodes_digest,
        node_columns=estimator.node_columns_,
        n_threads=estimator.params_.get("n_threads"),
        choices=getattr(estimator, "choices_", {}),
        look=estimator.params_.get(LOOK),
        tensors={name: tensor_entry(tensor) for name, tensor in parts.items()},
        versions={name: version(name) for name in ("adagcn", "numpy", "torch")},
    )
    return ModelFile(manifest, parts)


def _input_digest(estimator: Any, state: FitState | None, *, continuable: bool) -> str | None:
    """Return the digest of the graph; of a feature matrix only where a continuation needs it."""
    if continuable and state is not None and state.basis is not None:
        return state.basis.input_digest
    return None if estimator.input_digest_ is None else str(estimator.input_digest_)


def class_values(classes: NDArray[Any]) -> ClassValues:
    """Return label values as a file holds them."""
    values = classes.tolist()
    kind = classes.dtype.kind
    text = kind == "O" and all(isinstance(value, str) for value in values)
    if kind not in "biufU" and not text:
        raise InputError(
            "AGC-I704",
            "labels of this kind cannot be written to a model file",
            got=values[:5],
            fix="use integers, floats, booleans or strings as labels",
        )
    return ClassValues(dtype=classes.dtype.str, values=values)


def _constructor(estimator: Any) -> dict[str, Any]:
    """Return the constructor's explicit arguments that JSON can hold; a graph is not one.

    Nor are threads and memory, which belong to a machine: ``--threads`` must hold for any file.
    """
    kept: dict[str, Any] = {}
    for name, value in without_numpy(estimator.get_params(deep=False)).items():
        if name in ("n_threads", "row_memory"):
            continue
        if name == "variant" and value is not None:
            kept[name] = Variant(**value).given() if isinstance(value, Mapping) else value.given()
        elif name == "class_weight" and isinstance(value, Mapping):
            classes = np.array(list(value)).tolist()  # as plain Python values
            kept[name] = [[key, float(value[key])] for key in classes]
        elif isinstance(value, str | int | float | bool):
            kept[name] = value
    return kept


def _feature_names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]

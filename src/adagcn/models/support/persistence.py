"""What of a model goes into a file, and back."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel
from sklearn.utils.validation import check_is_fitted

from adagcn.boosting.fit_state import BoostedLayer, FitBasis, FitState, LabeledNodes
from adagcn.errors import FormatError, InputError, OtherGraphWarning
from adagcn.formats.atomic import write_bytes
from adagcn.graph import Graph
from adagcn.models.support.boosted_settings import (
    BoostedSettings,
    Variant,
    nested,
    settings_from,
)
from adagcn.models.support.model_file import (
    ClassValues,
    LayerEntry,
    Manifest,
    ModelFile,
    StopperEntry,
    Tensors,
    TrainingEntry,
    manifest_json,
    read_model,
    tensor_entry,
    to_bytes,
)
from adagcn.models.support.problem import node_columns, other_node_columns
from adagcn.models.support.renamed import renamed
from adagcn.models.support.settings import Params, checked
from adagcn.training.adam import Moments
from adagcn.training.hop_fitter import FittedHop
from adagcn.training.loop import TrainingRecord
from adagcn.training.stopping import Stopper

Estimator = TypeVar("Estimator", bound=Any)


COLUMNS = "columns"  # the feature columns that the model looks at, where that is not all
_LEARNED = {"model", "preset", "params", "classes", "n_features", "on_graph"}
_NODES = ("train_nodes", "labels", "sample_weight", "stop_nodes", "stop_labels")


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
    if graph is not None:
        _check_graph(file.manifest, graph)
    return _restored(kind, file, graph)


def _restored(kind: type[Estimator], file: ModelFile, graph: Graph | None) -> Estimator:
    manifest = file.manifest
    estimator: Estimator = _constructed(kind, file, graph)
    estimator.classes_ = manifest.classes.array()
    params = renamed(manifest.model, manifest.params) if file.version == 1 else manifest.params
    estimator.params_ = Params({"preset": manifest.preset, **params})
    estimator.n_features_in_ = manifest.n_features
    if manifest.feature_names is not None:
        estimator.feature_names_in_ = np.array(manifest.feature_names, dtype=object)
    estimator.on_graph_ = manifest.on_graph
    estimator.input_digest_ = manifest.input_digest
    estimator.seed_ = manifest.seed
    estimator.node_columns_ = manifest.node_columns
    estimator.stop_accuracy_ = manifest.stop_accuracy
    if _is_boosted(kind) != (manifest.training is None):
        raise FormatError(
            "AGC-F713",
            f"the model file does not hold what {kind.__name__} learns",
            got=f"{len(manifest.layers)} layers",
            fix="save the model again",
        )
    if manifest.training is None:
        _restore_boosted(estimator, file)
    else:
        system = estimator.system
        settings = _checked_settings(system.settings, params)
        n_classes = len(estimator.classes_)
        estimator.fitted_ = system.restore(file.tensors, settings, manifest.n_features, n_classes)
        estimator.record_ = TrainingRecord(**manifest.training.model_dump())
    return estimator


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


def _check_graph(manifest: Manifest, graph: Graph) -> None:
    """Refuse a graph that the model cannot read, and warn of one that it was not fitted on."""
    if graph.has_node_columns and manifest.node_columns not in (None, node_columns(graph)):
        raise other_node_columns(graph)
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


def _content(estimator: Any, *, continuable: bool) -> ModelFile:
    """Return the file of a model; what was learned is the same in both kinds of file."""
    boosted = _is_boosted(type(estimator))
    state: Any = estimator.state_ if boosted else None
    tensors = _boosted_tensors(estimator) if boosted else estimator.fitted_.tensors()
    layers = [_layer_entry(layer) for layer in state.layers] if boosted else []
    if continuable:
        tensors |= _continuation_tensors(estimator, state)
        layers = [
            _with_stoppers(entry, layer) for entry, layer in zip(layers, state.layers, strict=True)
        ]
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
        input_digest=_input_digest(estimator, state, continuable=continuable),
        seed=estimator.seed_,
        stop_accuracy=estimator.stop_accuracy_,
        layers=layers,
        training=None if boosted else TrainingEntry(**asdict(estimator.record_)),
        continuable=continuable,
        nodes_digest=None if state is None else state.nodes_digest,
        node_columns=estimator.node_columns_,
        tensors={name: tensor_entry(tensor) for name, tensor in tensors.items()},
        versions={name: version(name) for name in ("adagcn", "numpy", "torch")},
    )
    return ModelFile(manifest, tensors)


def _input_digest(estimator: Any, state: FitState | None, *, continuable: bool) -> str | None:
    """Return the digest of the graph; of a feature matrix only where a continuation needs it."""
    if continuable and state is not None and state.basis is not None:
        return state.basis.input_digest
    return None if estimator.input_digest_ is None else str(estimator.input_digest_)


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
    kept: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, np.generic):
            kept[name] = value.item()
        elif name == "variant" and value is not None:
            kept[name] = Variant(**value).given() if isinstance(value, Mapping) else value.given()
        elif name == "class_weight" and isinstance(value, Mapping):
            kept[name] = [[_plain(key), float(weight)] for key, weight in value.items()]
        elif isinstance(value, str | int | float | bool):
            kept[name] = value
    return kept


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _feature_names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


# Layers. What is written of one depends on no other, so that a layer can be written once when it is
# made.


def _layer_name(hop: int, part: str) -> str:
    return f"layer.{hop:03d}.{part}"


def _boosted_tensors(estimator: Any) -> dict[str, NDArray[Any]]:
    if any(not isinstance(layer.learner, FittedHop) for layer in estimator.layers_):
        raise InputError(
            "AGC-I703",
            "a model whose learner is a scikit-learn classifier has no safe file form",
            got=estimator.learner,
            fix="save the settings and fit again, or use the built-in learner",
        )
    found: dict[str, NDArray[Any]] = {}
    if estimator.columns_ is not None:
        found[COLUMNS] = estimator.columns_
    for layer in estimator.layers_:
        found |= layer_tensors(layer)
    return found


def layer_tensors(layer: BoostedLayer) -> dict[str, NDArray[Any]]:
    """Return what a layer has learned, and the weights that it was fitted with."""
    network: torch.nn.Module = layer.learner.learner
    parts = {name: _array(parameter) for name, parameter in network.named_parameters()}
    parts |= {"log_weight": layer.log_weight, "next_log_weight": layer.next_log_weight}
    return {_layer_name(layer.hop, name): part for name, part in parts.items()}


def carried_tensors(layer: BoostedLayer) -> dict[str, NDArray[Any]]:
    """Return what the next layer may carry on: the optimizer's moments, the stoppers' epochs."""
    parts: dict[str, NDArray[Any]] = {}
    for member, all_moments in enumerate(layer.learner.moments):
        for i, moments in enumerate(all_moments):
            for name in ("mean", "square", "n_steps"):
                parts[f"moments.{member}.{i}.{name}"] = _array(getattr(moments, name))
    for member, stopper in enumerate(layer.learner.stoppers):
        for i, kept in enumerate(stopper.kept_state or ()):
            parts[f"stopper.{member}.{i}"] = _array(kept)
    return {_layer_name(layer.hop, name): part for name, part in parts.items()}


def _layer_entry(layer: BoostedLayer) -> LayerEntry:
    return LayerEntry(
        hop=layer.hop,
        factor=float(layer.factor),
        coefficient=float(layer.coefficient),
        weighted_error=layer.weighted_error,
        **asdict(layer.learner.record),
        complete=layer.learner.complete,
    )


def _with_stoppers(entry: LayerEntry, layer: BoostedLayer) -> LayerEntry:
    names = StopperEntry.model_fields
    stoppers = [
        StopperEntry(**{name: getattr(each, name) for name in names})
        for each in layer.learner.stoppers
    ]
    return entry.model_copy(update={"stoppers": stoppers})


def _array(values: torch.Tensor) -> NDArray[Any]:
    return np.array(values.detach().cpu().numpy(), order="C")


def _continuation_tensors(estimator: Any, state: FitState | None) -> dict[str, NDArray[Any]]:
    """Return what a continuation needs besides what was learned."""
    if state is None:
        raise InputError(
            "AGC-I705",
            f"{type(estimator).__name__} has no layers to add, so continuable=True means nothing",
            got=estimator.model_key,
            fix="save without continuable",
        )
    if state.basis is None:
        raise InputError(
            "AGC-I706",
            "this model was loaded from a file that cannot be continued, so it cannot be saved as "
            "continuable",
            fix="save without continuable, or fit again",
        )
    nodes = state.basis.nodes
    found = {f"nodes.{name}": getattr(nodes, name) for name in _NODES}
    kept = {name: np.ascontiguousarray(part) for name, part in found.items() if part is not None}
    for layer in state.layers:
        kept |= carried_tensors(layer)
    return kept


# And back


def _restore_boosted(estimator: Any, file: ModelFile) -> None:
    flat = {name: value for name, value in estimator.params_.items() if name != "preset"}
    settings = _checked_settings(estimator.settings, flat)
    estimator.columns_ = _columns(file.tensors, file.manifest.n_features)
    layers = tuple(_layer(estimator, settings, each, file.tensors) for each in file.manifest.layers)
    basis = _basis(estimator, file, flat, settings)
    if basis is not None:
        kept = FitState(basis, layers).without_cut_layer().layers
        if kept:
            _check_carried(kept[-1].learner, settings, basis)
    estimator.state_ = FitState(basis, layers, file.manifest.nodes_digest)
    if not file.manifest.on_graph:
        estimator.input_digest_ = None


def _basis(
    estimator: Any, file: ModelFile, flat: Mapping[str, Any], settings: Any
) -> FitBasis | None:
    """Return what a continuation rests on, where the file holds it."""
    manifest = file.manifest
    if not manifest.continuable:
        return None
    parts = {name: file.tensors.get(f"nodes.{name}") for name in _NODES}
    given = {name: part for name, part in parts.items() if part is not None}
    n_classes, n_train = len(estimator.classes_), len(file.tensors["layer.000.log_weight"])
    if manifest.input_digest is None or not _are_nodes(given, n_classes, n_train, settings):
        raise _cannot_continue(sorted(given))
    steering = {name: value for name, value in flat.items() if name != "n_layers"}
    nodes = LabeledNodes(**given)
    return FitBasis(steering, manifest.input_digest, estimator.classes_, nodes, manifest.seed)


def _check_carried(last: FittedHop, settings: Any, basis: FitBasis) -> None:
    """Refuse a file without what the next layer carries on from the last one."""
    variant, n_members = settings.variant, len(last.learner.members())
    stops = basis.nodes.stop_nodes is not None or settings.validation_fraction > 0.0
    if variant.carry_optimizer and len(last.moments) != n_members:
        raise _cannot_continue(f"{len(last.moments)} optimizers of {n_members}")
    if variant.share_stopping and stops and len(last.stoppers) != n_members:
        raise _cannot_continue(f"{len(last.stoppers)} stopping rules of {n_members}")


def _cannot_continue(got: Any) -> FormatError:
    return FormatError(
        "AGC-F716",
        "the model file lacks what it should hold to be continued",
        got=got,
        fix="save the model again with continuable=True",
    )


def _are_nodes(
    given: Mapping[str, NDArray[Any]], n_classes: int, n_train: int, settings: Any
) -> bool:
    """Return whether arrays can be the labeled nodes of a fit."""
    pairs = [("train_nodes", "labels")]
    if given.keys() & {"stop_nodes", "stop_labels"}:
        pairs.append(("stop_nodes", "stop_labels"))
    for positions, labels in pairs:
        if not _are_positions(given.get(positions)) or not _are_positions(given.get(labels), False):
            return False
        if len(given[positions]) != len(given[labels]) or given[labels].max() >= n_classes:
            return False
    weights = given.get("sample_weight")
    if weights is None or weights.dtype != np.float64 or weights.shape != given["labels"].shape:
        return False
    held_out = settings.validation_fraction > 0.0 and "stop_nodes" not in given
    fits = len(weights) >= n_train if held_out else len(weights) == n_train
    return fits and bool((weights >= 0.0).all() and weights.sum() > 0.0)


def _are_positions(values: NDArray[Any] | None, different: bool = True) -> bool:
    if values is None or values.ndim != 1 or values.dtype != np.int64 or not len(values):
        return False
    return bool(values.min() >= 0) and (not different or len(np.unique(values)) == len(values))


def _columns(stored: Tensors, n_features: int) -> NDArray[np.int64] | None:
    """Return the feature columns that the model looks at; ``None`` for all."""
    found = stored.get(COLUMNS)
    if found is None:
        return None
    ascending = found.ndim == 1 and found.dtype == np.int64 and bool((np.diff(found) > 0).all())
    if not ascending or not len(found) or found[0] < 0 or found[-1] >= n_features:
        raise FormatError(
            "AGC-F715",
            f"columns should hold ascending numbers below {n_features}",
            got=found,
            fix="save the model again",
        )
    return found


def _layer(estimator: Any, settings: Any, entry: LayerEntry, stored: Tensors) -> BoostedLayer:
    def tensor(part: str) -> NDArray[Any]:
        name = _layer_name(entry.hop, part)
        if name not in stored:
            raise FormatError("AGC-F709", f"the model file lacks the tensor {name}", got=entry.hop)
        return stored[name]

    network = _fresh_network(estimator, settings, entry.hop, tensor)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            found = torch.from_numpy(tensor(name))
            if found.shape != parameter.shape or found.dtype != parameter.dtype:
                expected = f"shape {tuple(parameter.shape)} and type {parameter.dtype}"
                raise _misfit(name, entry.hop, expected, tensor(name))
            parameter.copy_(found)
    for name in ("log_weight", "next_log_weight"):
        weights = tensor(name)
        if weights.dtype != np.float64 or weights.shape != stored["layer.000.log_weight"].shape:
            raise _misfit(name, entry.hop, "one float64 for each training node", weights)
    record = TrainingRecord(entry.epochs, entry.stop_accuracy, entry.stop_loss)
    members = network.members()
    return BoostedLayer(
        hop=entry.hop,
        learner=FittedHop(
            network,
            record,
            _moments(entry.hop, members, stored),
            _stoppers(entry, members, settings, stored),
            complete=entry.complete,
        ),
        factor=entry.factor,
        coefficient=entry.coefficient,
        weighted_error=entry.weighted_error,
        log_weight=tensor("log_weight"),
        next_log_weight=tensor("next_log_weight"),
    )


def _fresh_network(
    estimator: Any, settings: Any, hop: int, tensor: Callable[[str], NDArray[Any]]
) -> Any:
    """Return a network of the size of the stored one, if that is what the settings name.

    Checked before it is made: forged sizes would ask for any amount of memory.
    """
    output, columns = tensor("output"), estimator.columns_
    n_columns = estimator.n_features_in_ if columns is None else len(columns)
    n_in, n_classes = n_columns + (0 if estimator.on_graph_ else 1), len(estimator.classes_)
    wanted: dict[str, tuple[int, ...]] = {"output": (n_in, n_classes)}
    if output.ndim == 3:
        members, units = settings.variant.n_members, settings.hidden_units
        wanted = {"hidden": (n_in, members * units), "output": (members, units, n_classes)}
    for name, shape in wanted.items():
        if tensor(name).shape != shape or output.dtype not in (np.float32, np.float64):
            raise _misfit(name, hop, f"shape {shape} and floats", tensor(name))
    generator, dtype = torch.Generator().manual_seed(0), torch.from_numpy(output).dtype
    return estimator.make_network(settings, n_in, n_classes, generator, dtype)


def _misfit(name: str, hop: int, wanted: str, found: NDArray[Any]) -> FormatError:
    return FormatError(
        "AGC-F710",
        f"{name} of layer {hop} should have {wanted}",
        got=f"{found.dtype} of shape {found.shape}",
        fix="save the model again",
    )


def _moments(hop: int, members: Sequence[Any], stored: Tensors) -> tuple[Sequence[Moments], ...]:
    """Return Adam's moments of every member; none where the file has none."""
    if not any(name.startswith(_layer_name(hop, "moments.")) for name in stored):
        return ()
    return tuple(
        [
            Moments(
                _stored_like(parameter, hop, f"moments.{member}.{i}.mean", stored),
                _stored_like(parameter, hop, f"moments.{member}.{i}.square", stored, least=0.0),
                _stored_like(torch.zeros(()), hop, f"moments.{member}.{i}.n_steps", stored, 0.0),
            )
            for i, parameter in enumerate(network.parameters())
        ]
        for member, network in enumerate(members)
    )


def _stoppers(
    entry: LayerEntry, members: Sequence[Any], settings: Any, stored: Tensors
) -> tuple[Stopper, ...]:
    """Return the early stopping of every member; none where the file has none."""
    found = []
    for member, (each, network) in enumerate(zip(entry.stoppers, members, strict=False)):
        stopper = Stopper(settings.patience, settings.variant.stop_on)
        for name, value in each.model_dump().items():
            setattr(stopper, name, value)
        stopper.kept_state = [
            _stored_like(parameter, entry.hop, f"stopper.{member}.{i}", stored)
            for i, parameter in enumerate(network.parameters())
        ]
        found.append(stopper)
    return tuple(found)


def _stored_like(
    like: torch.Tensor, hop: int, part: str, stored: Tensors, least: float = -np.inf
) -> torch.Tensor:
    """Return a tensor of the file if it has the shape and type of another one."""
    found = stored.get(_layer_name(hop, part))
    wanted = f"shape {tuple(like.shape)} and type {like.dtype}"
    if found is None:
        raise _cannot_continue(f"no {_layer_name(hop, part)}")
    result = torch.tensor(found)
    if result.shape != like.shape or result.dtype != like.dtype or bool((result < least).any()):
        raise _misfit(part, hop, wanted, found)
    return result

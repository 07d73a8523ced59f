"""The layers of a boosted model as entries and tensors of a model file, and back.

What is written of a layer depends on no other, so that it can be written once when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adagcn.boosting.fit_state import BoostedLayer, FitBasis, FitState, LabeledNodes
from adagcn.errors import FormatError, InputError
from adagcn.models.support.model_file import LayerEntry, ModelFile, StopperEntry, Tensors
from adagcn.training.adam import Moments
from adagcn.training.hop_fitter import FittedHop
from adagcn.training.loop import TrainingRecord
from adagcn.training.stopping import Stopper

COLUMNS = "columns"  # the feature columns that the model looks at, where that is not all
COORDINATES = "coordinates"  # what stands for each node of a graph without features
NODES = ("train_nodes", "labels", "sample_weight", "stop_nodes", "stop_labels")


def layer_name(hop: int, part: str) -> str:
    """Return the name of a tensor of a layer."""
    return f"layer.{hop:03d}.{part}"


def boosted_tensors(estimator: Any) -> dict[str, NDArray[Any]]:
    """Return what all layers have learned, by name."""
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
    if estimator.coordinates_ is not None:
        found[COORDINATES] = estimator.coordinates_
    for layer in estimator.layers_:
        found |= layer_tensors(layer)
    return found


def layer_tensors(layer: BoostedLayer) -> dict[str, NDArray[Any]]:
    """Return what a layer has learned, and the weights that it was fitted with."""
    network: torch.nn.Module = layer.learner.learner
    parts = {name: _array(parameter) for name, parameter in network.named_parameters()}
    parts |= {"log_weight": layer.log_weight, "next_log_weight": layer.next_log_weight}
    return {layer_name(layer.hop, name): part for name, part in parts.items()}


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
    return {layer_name(layer.hop, name): part for name, part in parts.items()}


def layer_entry(layer: BoostedLayer) -> LayerEntry:
    """Return the numbers of a layer."""
    return LayerEntry(
        hop=layer.hop,
        factor=float(layer.factor),
        coefficient=float(layer.coefficient),
        weighted_error=layer.weighted_error,
        **asdict(layer.learner.record),
        complete=layer.learner.complete,
    )


def with_stoppers(entry: LayerEntry, layer: BoostedLayer) -> LayerEntry:
    """Return them with the early stopping that the next layer carries on."""
    names = StopperEntry.model_fields
    stoppers = [
        StopperEntry(**{name: getattr(each, name) for name in names})
        for each in layer.learner.stoppers
    ]
    return entry.model_copy(update={"stoppers": stoppers})


def _array(values: torch.Tensor) -> NDArray[Any]:
    return np.array(values.detach().cpu().numpy(), order="C")


def continuation_tensors(estimator: Any, state: FitState | None) -> dict[str, NDArray[Any]]:
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
    found = {f"nodes.{name}": getattr(nodes, name) for name in NODES}
    kept = {name: np.ascontiguousarray(part) for name, part in found.items() if part is not None}
    for layer in state.layers:
        kept |= carried_tensors(layer)
    return kept


def restore_boosted(estimator: Any, file: ModelFile, settings: Any) -> None:
    """Give a model the layers of a file, and what a continuation rests on if it holds that."""
    estimator.columns_ = _columns(file.tensors, file.manifest.n_features)
    estimator.coordinates_ = _coordinates(file)
    form = _form(estimator, settings)
    layers = tuple(restored_layer(form, each, file.tensors) for each in file.manifest.layers)
    basis = _basis(estimator, file, settings)
    if basis is not None:
        kept = FitState(basis, layers).without_cut_layer().layers
        if kept:
            _check_carried(kept[-1].learner, settings, basis)
    estimator.state_ = FitState(basis, layers, file.manifest.nodes_digest)
    if not file.manifest.on_graph:
        estimator.input_digest_ = None


def _basis(estimator: Any, file: ModelFile, settings: Any) -> FitBasis | None:
    """Return what a continuation rests on, where the file holds it."""
    manifest = file.manifest
    if not manifest.continuable:
        return None
    parts = {name: file.tensors.get(f"nodes.{name}") for name in NODES}
    given = {name: part for name, part in parts.items() if part is not None}
    n_classes, n_train = len(estimator.classes_), len(file.tensors["layer.000.log_weight"])
    if manifest.input_digest is None or not _are_nodes(given, n_classes, n_train, settings):
        raise _cannot_continue(sorted(given))
    nodes = LabeledNodes(**given)
    return FitBasis(
        steering(settings), manifest.input_digest, estimator.classes_, nodes, manifest.seed
    )


def steering(settings: Any) -> dict[str, Any]:
    """Return the settings that shape or steer a layer: all but the number of layers."""
    return {name: value for name, value in settings.flat().items() if name != "n_layers"}


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


def _coordinates(file: ModelFile) -> NDArray[np.float32] | None:
    """Return what stands for the nodes of a graph without features; ``None`` if nothing does."""
    found = file.tensors.get(COORDINATES)
    if found is None:
        return None
    n_nodes = file.manifest.n_features
    if found.ndim != 2 or found.dtype != np.float32 or found.shape[0] != n_nodes:
        raise FormatError(
            "AGC-F716",
            f"coordinates should be float32 with a row for each of {n_nodes:,} nodes",
            got=f"{found.dtype} of shape {found.shape}",
            fix="save the model again",
        )
    if file.manifest.node_columns is None or COLUMNS in file.tensors or not found.shape[1]:
        raise FormatError(
            "AGC-F717",
            "coordinates belong to a model of a graph without features",
            got=found.shape,
            fix="save the model again",
        )
    return found


@dataclass(frozen=True)
class LayerForm:
    """What the learner of every layer of a model looks like.

    Parameters
    ----------
    kind : type
        The model; it makes learners and knows their shapes.
    settings : BoostedSettings
        All settings, resolved.
    n_inputs, n_classes : int
        Columns of the rows that a learner takes, and classes.
    """

    kind: Any
    settings: Any
    n_inputs: int
    n_classes: int


def _form(estimator: Any, settings: Any) -> LayerForm:
    columns = estimator.columns_
    n_columns = estimator.n_features_in_ if columns is None else len(columns)
    if estimator.coordinates_ is not None:
        n_columns = estimator.coordinates_.shape[1]
    n_inputs = n_columns + (0 if estimator.on_graph_ else 1)
    return LayerForm(type(estimator), settings, n_inputs, len(estimator.classes_))


def restored_layer(form: LayerForm, entry: LayerEntry, stored: Tensors) -> BoostedLayer:
    """Return a layer from its entry and the tensors of a file, each checked."""

    def tensor(part: str) -> NDArray[Any]:
        name = layer_name(entry.hop, part)
        if name not in stored:
            raise FormatError(
                "AGC-F709",
                f"the model file lacks the tensor {name}",
                got=entry.hop,
                fix="save the model again",
            )
        return stored[name]

    network = _fresh_network(form, entry.hop, tensor)
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
            _stoppers(entry, members, form.settings, stored),
            complete=entry.complete,
        ),
        factor=entry.factor,
        coefficient=entry.coefficient,
        weighted_error=entry.weighted_error,
        log_weight=tensor("log_weight"),
        next_log_weight=tensor("next_log_weight"),
    )


def _fresh_network(form: LayerForm, hop: int, tensor: Callable[[str], NDArray[Any]]) -> Any:
    """Return a network of the size of the stored one, if that is what the settings name.

    Checked before it is made: forged sizes would ask for any amount of memory.
    """
    sizes = form.n_inputs, form.n_classes
    wanted = form.kind.parameter_shapes(form.settings, *sizes)
    kind = tensor(next(iter(wanted))).dtype
    for name, shape in wanted.items():
        if tensor(name).shape != shape or kind not in (np.float32, np.float64):
            raise _misfit(name, hop, f"shape {shape} and floats", tensor(name))
    dtype = torch.from_numpy(np.empty(0, kind)).dtype
    start = torch.Generator().manual_seed(0)
    return form.kind.make_learner(form.settings, *sizes, start, dtype)


def _misfit(name: str, hop: int, wanted: str, found: NDArray[Any]) -> FormatError:
    return FormatError(
        "AGC-F710",
        f"{name} of layer {hop} should have {wanted}",
        got=f"{found.dtype} of shape {found.shape}",
        fix="save the model again",
    )


def _moments(hop: int, members: Sequence[Any], stored: Tensors) -> tuple[Sequence[Moments], ...]:
    """Return Adam's moments of every member; none where the file has none."""
    if not any(name.startswith(layer_name(hop, "moments.")) for name in stored):
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
    found = stored.get(layer_name(hop, part))
    wanted = f"shape {tuple(like.shape)} and type {like.dtype}"
    if found is None:
        raise _cannot_continue(f"no {layer_name(hop, part)}")
    result = torch.tensor(found)
    if result.shape != like.shape or result.dtype != like.dtype or bool((result < least).any()):
        raise _misfit(part, hop, wanted, found)
    return result

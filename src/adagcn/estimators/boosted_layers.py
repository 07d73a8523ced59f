"""The layers of a boosted model as entries and tensors of a model file, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adagcn.boosting.hop_boosting import BoostedLayer
from adagcn.errors import FormatError, InputError
from adagcn.estimators.model_file import LayerEntry
from adagcn.estimators.settings import Settings
from adagcn.training.hop_fitter import FittedNetwork
from adagcn.training.loop import TrainingRecord

COLUMNS = "columns"  # the feature columns that the model looks at, where that is not all


def tensors(estimator: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of all layers by name."""
    if any(not isinstance(layer.learner, FittedNetwork) for layer in estimator.layers_):
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
        found |= _layer_tensors(layer)
    return found


def entries(estimator: Any) -> list[LayerEntry]:
    """Return the numbers of all layers."""
    return [_layer_entry(layer) for layer in estimator.layers_]


def columns(stored: dict[str, NDArray[Any]], n_features: int) -> NDArray[np.int64] | None:
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


def restore(
    estimator: Any,
    settings: Settings,
    layers: Sequence[LayerEntry],
    stored: dict[str, NDArray[Any]],
) -> tuple[BoostedLayer, ...]:
    """Return the layers that entries and tensors came from."""
    return tuple(_layer(estimator, settings, entry, stored) for entry in layers)


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


def _layer(
    estimator: Any, settings: Settings, entry: LayerEntry, stored: dict[str, NDArray[Any]]
) -> BoostedLayer:
    def tensor(part: str) -> NDArray[Any]:
        name = _layer_name(entry.hop, part)
        if name not in stored:
            raise FormatError("AGC-F709", f"the model file lacks the tensor {name}", got=entry.hop)
        return stored[name]

    dtype = torch.from_numpy(tensor("output")).dtype
    bias_column = 0 if estimator.on_graph_ else 1
    columns = estimator.columns_
    network = estimator.make_network(
        settings,
        (estimator.n_features_in_ if columns is None else len(columns)) + bias_column,
        len(estimator.classes_),
        torch.Generator().manual_seed(0),
        dtype,
    )
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            found = torch.from_numpy(tensor(name))
            if found.shape != parameter.shape:
                raise FormatError(
                    "AGC-F710",
                    f"{name} of layer {entry.hop} should have shape {tuple(parameter.shape)}",
                    got=tuple(found.shape),
                    fix="save the model again",
                )
            parameter.copy_(found)
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

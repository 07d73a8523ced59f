"""The files of a checkpoint: what a fit rests on, and every finished layer, each written once.

A file is a line that says what it is, the SHA-256 of all that follows, and one safetensors block
whose metadata hold the entry as JSON. Nothing in it is executed. A file that is damaged, or of
another form, counts as missing (``ValueError``).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt
from safetensors import SafetensorError

from adagcn.boosting.fit_state import BoostedLayer, FitBasis, FitState, LabeledNodes
from adagcn.formats.atomic import write_bytes
from adagcn.models.support import boosted_layers
from adagcn.models.support.adapting import Decision
from adagcn.models.support.boosted_layers import LayerForm, layer_name
from adagcn.models.support.model_file import ClassValues, LayerEntry, Tensors, manifest_json

FIT_FILE = "fit.checkpoint"
_HEAD = b"adagcn checkpoint 1\n"
_DIGEST_BYTES = 32
_SAID = ("stop_log_proba", "pseudo_log_proba")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class FitEntry(_Strict):
    """What the layers of a fit rest on; nodes, columns and coordinates are tensors.

    Parameters
    ----------
    model : str
        Kind of the model.
    asked, decided : dict
        Settings by flat name: as they were asked for, and after a look has decided the open ones.
    input_digest, classes, seed
        As in :class:`~adagcn.boosting.fit_state.FitBasis`.
    versions : dict
        Of the packages whose bits the layers have.
    choices, look
        What a look has chosen, and why.
    train_workers : int
        How many train a layer together.
    """

    model: str
    asked: dict[str, Any]
    decided: dict[str, Any]
    input_digest: str
    classes: ClassValues
    seed: NonNegativeInt
    versions: dict[str, str]
    choices: dict[str, Any]
    look: str
    train_workers: PositiveInt = 1


class SavedLayer(_Strict):
    """The numbers of a layer, and the size of hop 0 where hops are scaled to it."""

    layer: LayerEntry
    input_size: float | None


class FitFile:
    """What a fit rests on, as it was written down."""

    def __init__(self, entry: FitEntry, tensors: Tensors) -> None:
        self.entry, self._tensors = entry, tensors
        nodes = {name: tensors.get(f"nodes.{name}") for name in boosted_layers.NODES}
        needed = [nodes[name] for name in ("train_nodes", "labels", "sample_weight")]
        if any(each is None or each.ndim != 1 or len(each) != len(needed[0]) for each in needed):  # type: ignore[arg-type]
            raise ValueError("the labeled nodes are not there")
        self.asked = FitBasis(
            entry.asked,
            entry.input_digest,
            entry.classes.array(),
            LabeledNodes(**nodes),  # type: ignore[arg-type]
            entry.seed,
        )

    @property
    def columns(self) -> NDArray[np.int64] | None:
        """Feature columns that the fit uses; None for all."""
        return self._tensors.get(boosted_layers.COLUMNS)

    @property
    def coordinates(self) -> NDArray[np.float32] | None:
        """What stands for each node of a graph without features."""
        return self._tensors.get(boosted_layers.COORDINATES)


def write_fit(folder: Path, entry: FitEntry, nodes: LabeledNodes, decision: Decision) -> None:
    """Write down what a fit rests on."""
    found = {f"nodes.{name}": getattr(nodes, name) for name in boosted_layers.NODES}
    found |= {
        boosted_layers.COLUMNS: decision.columns,
        boosted_layers.COORDINATES: decision.coordinates,
    }
    _write(folder / FIT_FILE, entry, {k: v for k, v in found.items() if v is not None})


def read_fit(folder: Path) -> FitFile:
    """Return what the fit in a folder rests on."""
    return FitFile(*_read(folder / FIT_FILE, FitEntry))


def write_layer(folder: Path, layer: BoostedLayer, input_size: float | None) -> None:
    """Write a layer, with all that the next one needs of it."""
    tensors = boosted_layers.layer_tensors(layer) | boosted_layers.carried_tensors(layer)
    for name in _SAID:
        said = getattr(layer, name)
        if said is not None:
            tensors[layer_name(layer.hop, name)] = said
    entry = boosted_layers.with_stoppers(boosted_layers.layer_entry(layer), layer)
    saved = SavedLayer(layer=entry, input_size=input_size)
    _write(_layer_file(folder, layer.hop), saved, tensors)


def read_layers(folder: Path, form: LayerForm, state: FitState, n_train: int) -> FitState:
    """Return a state with the layers of a folder, up to the first that is not whole.

    Parameters
    ----------
    folder : Path
        Of the fit.
    form : LayerForm
        What the learners look like.
    state : FitState
        Without layers.
    n_train : int
        Training nodes, without those set aside for stopping.
    """
    stored: dict[str, NDArray[Any]] = {}
    hop = 0
    while (path := _layer_file(folder, hop)).is_file():
        try:
            saved, tensors = _read(path, SavedLayer)
            stored |= tensors
            layer = _restored(form, saved.layer, stored, hop, n_train)
        except ValueError:  # damaged: from here on the fit does it again
            break
        state = FitState(state.basis, (*state.layers, layer), input_size=saved.input_size)
        hop += 1
    return state


def n_layer_files(folder: Path) -> int:
    """Return how many layers have a file."""
    return len(list(folder.glob("layer-*.checkpoint")))


def _restored(
    form: LayerForm, entry: LayerEntry, stored: Tensors, hop: int, n_train: int
) -> BoostedLayer:
    layer = boosted_layers.restored_layer(form, entry, stored)
    said = {name: stored.get(layer_name(hop, name)) for name in _SAID}
    for values in said.values():
        if values is not None and values.shape[-1:] != (form.n_classes,):
            raise ValueError(f"layer {hop} speaks of other classes")
    if entry.hop != hop or len(layer.log_weight) != n_train:
        raise ValueError(f"not the file of layer {hop}")
    return BoostedLayer(**{**vars(layer), **said})


def _layer_file(folder: Path, hop: int) -> Path:
    return folder / f"layer-{hop:03d}.checkpoint"


def _write(path: Path, entry: BaseModel, tensors: Tensors) -> None:
    said = manifest_json(entry.model_dump()).decode()
    arrays = {name: np.require(part, requirements="C") for name, part in tensors.items()}
    block = safetensors.numpy.save(arrays, {"entry": said})
    write_bytes(path, _HEAD + hashlib.sha256(block).digest() + block)


Entry = TypeVar("Entry", bound=BaseModel)


def _read(path: Path, kind: type[Entry]) -> tuple[Entry, dict[str, NDArray[Any]]]:
    """Return what a file holds; ``ValueError`` if it is missing, damaged or of another form."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    start = len(_HEAD) + _DIGEST_BYTES
    block = content[start:]
    if content[:start] != _HEAD + hashlib.sha256(block).digest():
        raise ValueError(f"{path} is damaged")
    try:
        size = int.from_bytes(block[:8], "little")
        said = json.loads(block[8 : 8 + size])["__metadata__"]["entry"]
        return kind.model_validate_json(said), safetensors.numpy.load(block)
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a checkpoint: {error}") from None

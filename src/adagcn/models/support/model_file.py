"""A fitted model as one file: nothing in it is ever executed, and any flipped bit is refused.

Layout, integers little-endian::

    magic          8 bytes
    version        u32
    manifest size  u64, then the manifest: canonical JSON (sorted keys)
    tensor size    u64, then one safetensors block without metadata
    SHA-256        of everything before it, 32 bytes

The manifest says what the tensors are, with a SHA-256 each. The file holds no graph. Only a file
that is written to be continued holds positions and classes of the labeled nodes; see SECURITY.md.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)
from safetensors import SafetensorError

from adagcn.errors import FormatError, InputError, IntegrityError

Tensors = Mapping[str, NDArray[Any]]

MAGIC = b"\x89ADAGCN\n"
FORMAT_VERSION = 2
READABLE = (1, FORMAT_VERSION)  # version 1 has other names of settings
_DIGEST_BYTES = 32
_HEAD = struct.Struct("<8sIQ")
_SIZE = struct.Struct("<Q")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ClassValues(_Strict):
    """Label values: the array's dtype (boolean, integer, float or text) and its items."""

    dtype: Annotated[str, Field(pattern=r"^([<>|=][biufU]\d{1,6}|\|O)$")]
    values: Annotated[list[bool | int | float | str], Field(min_length=2)]

    @model_validator(mode="after")
    def _make_an_array(self) -> Self:
        if self.dtype == "|O" and not all(isinstance(value, str) for value in self.values):
            raise ValueError("labels of type object must be text")
        try:
            same = self.array().tolist() == self.values
        except (TypeError, OverflowError) as error:
            raise ValueError(f"labels do not have the type {self.dtype}: {error}") from None
        if not same or np.unique(self.array()).tolist() != self.values:
            raise ValueError("labels must be different, sorted and of their type")
        return self

    def array(self) -> NDArray[Any]:
        """Return the label values as they were."""
        return np.array(self.values, dtype=self.dtype)


class StopperEntry(_Strict):
    """How far an early stopping is that the next layer carries on."""

    patience_left: int
    best_accuracy: float
    best_loss: float
    kept_accuracy: float
    kept_loss: float


class LayerEntry(_Strict):
    """The numbers of one layer; its arrays are tensors."""

    hop: NonNegativeInt
    factor: float
    coefficient: float
    weighted_error: float
    epochs: int
    stop_accuracy: float | None
    stop_loss: float | None
    stoppers: list[StopperEntry] = []
    complete: bool = True


class TrainingEntry(_Strict):
    """How the training of a model that is not boosted went; what it learned is in tensors."""

    epochs: NonNegativeInt
    stop_accuracy: float | None
    stop_loss: float | None


class TensorEntry(_Strict):
    """What a tensor of the block must be."""

    dtype: str
    shape: list[int]
    sha256: str


class Manifest(_Strict):
    """All of a model that is not a tensor."""

    model: str
    preset: str
    params: dict[str, Any]
    constructor: dict[str, Any]
    classes: ClassValues
    n_features: PositiveInt
    feature_names: list[str] | None
    on_graph: bool
    graph_name: str | None
    input_digest: str | None
    seed: NonNegativeInt
    stop_accuracy: float | None
    layers: list[LayerEntry] = []
    training: TrainingEntry | None = None
    continuable: bool = False
    nodes_digest: str | None = None
    node_columns: str | None = None
    # Not in files of earlier releases:
    n_threads: PositiveInt | None = None
    choices: dict[str, Any] = {}  # what a look before the fit has chosen,
    look: str | None = None  # and why, in words
    tensors: dict[str, TensorEntry]
    versions: dict[str, str]

    @field_validator("layers")
    @classmethod
    def _hops_from_zero(cls, layers: list[LayerEntry]) -> list[LayerEntry]:
        if [layer.hop for layer in layers] != list(range(len(layers))):
            raise ValueError("layers must be on hops 0, 1, 2, …")
        if not all(layer.complete for layer in layers[:-1]):
            raise ValueError("only the last layer may be incomplete")
        coefficients = [layer.coefficient for layer in layers]
        if layers and (min(coefficients) < 0.0 or max(coefficients) == 0.0):
            raise ValueError("coefficients must not be negative, and one must be positive")
        return layers

    @model_validator(mode="after")
    def _boosted_or_not(self) -> Self:
        if bool(self.layers) == (self.training is not None):
            raise ValueError("a model has either layers or one training")
        return self


@dataclass(frozen=True)
class ModelFile:
    """A model file's content, checked, and the version of the format that it came in."""

    manifest: Manifest
    tensors: dict[str, NDArray[Any]]
    version: int = FORMAT_VERSION


def read_model(path: str | Path) -> ModelFile:
    """Read and check a model file; nothing is built yet."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            "AGC-I701",
            f"the model file cannot be read: {error.strerror}",
            got=str(path),
            fix="check the path; adagcn fit --out writes a model",
        ) from None
    return from_bytes(content, path)


def to_bytes(file: ModelFile) -> bytes:
    """Return the bytes of a model file."""
    manifest = manifest_json(file.manifest.model_dump())
    block = safetensors.numpy.save(file.tensors)
    body = b"".join(
        [
            _HEAD.pack(MAGIC, FORMAT_VERSION, len(manifest)),
            manifest,
            _SIZE.pack(len(block)),
            block,
        ]
    )
    return body + hashlib.sha256(body).digest()


def manifest_json(value: Any) -> bytes:
    """Return JSON with sorted keys and no spaces: one value, one text."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )
    return text.encode()


def tensor_entry(tensor: NDArray[Any]) -> TensorEntry:
    """Return what the manifest says of a tensor."""
    digest = hashlib.sha256(tensor.tobytes()).hexdigest()
    return TensorEntry(dtype=str(tensor.dtype), shape=list(tensor.shape), sha256=digest)


def from_bytes(content: bytes, path: Path) -> ModelFile:
    """Return what the bytes hold if they are whole and well-formed; ``path`` is for messages."""
    if not content.startswith(MAGIC) or len(content) < _HEAD.size + _SIZE.size + _DIGEST_BYTES:
        raise FormatError(
            "AGC-F705",
            f"{path} is not a whole adagcn model file",
            got=content[:8],
            fix="pass a file that save() or adagcn fit --out wrote",
        )
    body, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        raise IntegrityError(
            "AGC-G706",
            f"{path} is damaged: its bytes do not have the SHA-256 {digest.hex()[:16]}… it ends in",
            got=hashlib.sha256(body).hexdigest()[:16] + "…",
            fix="copy the file again or save the model again",
        )
    _, format_version, manifest_size = _HEAD.unpack_from(body)
    if format_version not in READABLE:
        raise FormatError(
            "AGC-F707",
            f"{path} has a format that this release does not read (it reads {READABLE})",
            got=format_version,
            fix="use the release of adagcn that wrote the file, or a newer one",
        )
    return _parsed(body[_HEAD.size :], manifest_size, format_version, path)


def _parsed(rest: bytes, manifest_size: int, version: int, path: Path) -> ModelFile:
    """Take manifest and tensors apart; the digest has vouched for accidents, not for malice."""
    try:
        manifest = Manifest.model_validate_json(rest[:manifest_size])
        (block_size,) = _SIZE.unpack_from(rest, manifest_size)
        block = rest[manifest_size + _SIZE.size :]
        if len(block) != block_size:
            raise ValueError(f"{len(block)} bytes of tensors instead of {block_size}")
        tensors = safetensors.numpy.load(block)
        _check_tensors(manifest, tensors)
    except (ValidationError, ValueError, struct.error, SafetensorError) as error:
        raise FormatError(
            "AGC-F708",
            f"{path} does not hold a model in the form it should have",
            got=str(error).splitlines()[0],
            fix="save the model again",
        ) from None
    return ModelFile(manifest, tensors, version)


def _check_tensors(manifest: Manifest, tensors: dict[str, NDArray[Any]]) -> None:
    entries = {name: tensor_entry(tensor) for name, tensor in tensors.items()}
    if entries != manifest.tensors:
        wrong = sorted(
            name
            for name in {*entries, *manifest.tensors}
            if entries.get(name) != manifest.tensors.get(name)
        )
        raise ValueError(f"tensors other than the manifest says: {', '.join(wrong[:5])}")
    for name, tensor in tensors.items():
        allowed = np.isneginf(tensor) if name.endswith("log_weight") else False
        if not (np.isfinite(tensor) | allowed).all():
            raise ValueError(f"tensor {name} has values that are not finite")

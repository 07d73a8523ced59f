"""A fitted model as one file: nothing in it is ever executed, and any flipped bit is refused.

Layout, integers little-endian::

    magic          8 bytes
    version        u32
    manifest size  u64, then the manifest: canonical JSON (sorted keys)
    tensor size    u64, then one safetensors block without metadata
    SHA-256        of everything before it, 32 bytes

The manifest says what the tensors are, with a SHA-256 each. The file holds no graph.
"""

from __future__ import annotations

import hashlib
import json
import struct
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import numpy as np
import safetensors.numpy
import torch
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

from adagcn.boosting.hop_boosting import BoostedLayer
from adagcn.errors import FormatError, InputError, IntegrityError, OtherGraphWarning
from adagcn.estimators.settings import Settings
from adagcn.formats.atomic import write_bytes
from adagcn.graph import Graph
from adagcn.training.hop_fitter import FittedNetwork
from adagcn.training.loop import TrainingRecord

MAGIC = b"\x89ADAGCN\n"
FORMAT_VERSION = 1
_DIGEST_BYTES = 32
_HEAD = struct.Struct("<8sIQ")
_SIZE = struct.Struct("<Q")

Estimator = TypeVar("Estimator", bound=Any)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ClassValues(_Strict):
    """Label values: the array's dtype (boolean, integer, float or text) and its items."""

    dtype: Annotated[str, Field(pattern=r"^([<>|=][biufU]\d{1,6}|\|O)$")]
    values: Annotated[list[bool | int | float | str], Field(min_length=2)]

    @model_validator(mode="after")
    def _make_an_array(self) -> Self:
        if self.dtype == "|O" and not all(isinstance(value, str) for value in self.values):
            raise ValueError("labels of type object must be text")
        self.array()
        return self

    def array(self) -> NDArray[Any]:
        """Return the label values as they were."""
        return np.array(self.values, dtype=self.dtype)


class LayerEntry(_Strict):
    """The numbers of one layer; its arrays are tensors."""

    hop: NonNegativeInt
    factor: float
    coefficient: float
    weighted_error: float
    epochs: int
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
    layers: Annotated[list[LayerEntry], Field(min_length=1)]
    tensors: dict[str, TensorEntry]
    versions: dict[str, str]

    @field_validator("layers")
    @classmethod
    def _hops_from_zero(cls, layers: list[LayerEntry]) -> list[LayerEntry]:
        if [layer.hop for layer in layers] != list(range(len(layers))):
            raise ValueError("layers must be on hops 0, 1, 2, …")
        return layers


@dataclass(frozen=True)
class ModelFile:
    """A model file's content, checked."""

    manifest: Manifest
    tensors: dict[str, NDArray[Any]]


def save_model(estimator: Any, path: str | Path) -> None:
    """Write a fitted estimator to ``path``; the file appears whole or not at all."""
    write_bytes(path, _to_bytes(_content(estimator)))


def model_digest(estimator: Any) -> str:
    """Return the SHA-256 of what was learnt and the resolved parameters."""
    manifest = _content(estimator).manifest
    learnt = {"model", "preset", "params", "classes", "layers", "tensors", "n_features", "on_graph"}
    return hashlib.sha256(_canonical(manifest.model_dump(include=learnt))).hexdigest()


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
    return _from_bytes(content, path)


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


# From an estimator to bytes


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
        tensors={name: _tensor_entry(tensor) for name, tensor in tensors.items()},
        versions={name: version(name) for name in ("adagcn", "numpy", "torch")},
    )
    return ModelFile(manifest, tensors)


def _to_bytes(file: ModelFile) -> bytes:
    manifest = _canonical(file.manifest.model_dump())
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


def _canonical(value: Any) -> bytes:
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    )
    return text.encode()


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


def _tensor_entry(tensor: NDArray[Any]) -> TensorEntry:
    digest = hashlib.sha256(tensor.tobytes()).hexdigest()
    return TensorEntry(dtype=str(tensor.dtype), shape=list(tensor.shape), sha256=digest)


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


# From bytes to an estimator


def _from_bytes(content: bytes, path: Path) -> ModelFile:
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
    if format_version != FORMAT_VERSION:
        raise FormatError(
            "AGC-F707",
            f"{path} has a format that this release does not read (it reads {FORMAT_VERSION})",
            got=format_version,
            fix="use the release of adagcn that wrote the file, or a newer one",
        )
    return _parsed(body[_HEAD.size :], manifest_size, path)


def _parsed(rest: bytes, manifest_size: int, path: Path) -> ModelFile:
    """Take manifest and tensors apart; the digest has vouched for accidents, not for malice."""
    try:
        manifest = Manifest.model_validate_json(rest[:manifest_size])
        Settings(**manifest.params)
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
    return ModelFile(manifest, tensors)


def _check_tensors(manifest: Manifest, tensors: dict[str, NDArray[Any]]) -> None:
    entries = {name: _tensor_entry(tensor) for name, tensor in tensors.items()}
    if entries != manifest.tensors:
        wrong = sorted(
            name
            for name in {*entries, *manifest.tensors}
            if entries.get(name) != manifest.tensors.get(name)
        )
        raise ValueError(f"tensors other than the manifest says: {', '.join(wrong[:5])}")
    for name, tensor in tensors.items():
        if not name.endswith("log_weight") and not np.isfinite(tensor).all():
            raise ValueError(f"tensor {name} has values that are not finite")


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

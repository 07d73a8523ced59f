"""A graph as a folder of arrays that are mapped into memory, for graphs larger than memory.

Every array is a ``.npy`` file, written whole or not at all. ``store.json`` is written last: it
names every file with its size and SHA-256, so that a folder without it is no store, and a damaged
file is found by :func:`verify_store`.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)
from scipy import sparse

from adagcn.errors import FormatError, InputError, IntegrityError, ResourceError, shown
from adagcn.formats.atomic import atomic_file, write_bytes
from adagcn.formats.build_folder import MANIFEST, building

VERSION = 2  # since updates: a store that was never updated is written as version 1
# What to do about a file that is damaged: one of the store itself, and one that a fit makes.
_MAKE_AGAIN = "make the store again with adagcn store build; adagcn store verify checks all files"
RUN_AGAIN = "run the same command again: it makes what is missing"
_BYTES_AT_ONCE = 2**24
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0)]


class StoredFile(BaseModel):
    """Size and SHA-256 of a file, and which update of a store wrote it; 0 if it was the build."""

    model_config = _STRICT

    bytes: _Count
    sha256: _Digest
    update: _Count = 0

    @model_serializer(mode="wrap")
    def _without_zero(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what the first version of the format does not know."""
        written: dict[str, Any] = handler(self)
        return written if self.update else {k: v for k, v in written.items() if k != "update"}

    def path(self, folder: Path, name: str) -> Path:
        """Return where the array of a name is."""
        return folder / (f"{name}.{self.update}.npy" if self.update else f"{name}.npy")


class StoreManifest(BaseModel):
    """What a store holds.

    Parameters
    ----------
    n_nodes, n_stored, n_features : int
        Nodes, stored values of the adjacency, feature columns.
    directed : bool
        Whether the adjacency is not symmetric.
    sparse_features : bool
        Whether the features are a sparse matrix.
    input_digest, digest : str
        Those of the same graph in memory.
    name, feature_norm, changes
        As of a ``Graph``.
    files : dict
        Every file by its name, without its ending.
    """

    model_config = _STRICT

    format: Literal["adagcn-store"] = "adagcn-store"
    version: Literal[1, 2] = 1
    n_nodes: _Count
    n_stored: _Count
    n_features: _Count
    directed: bool
    sparse_features: bool
    input_digest: _Digest
    digest: _Digest
    name: str | None = None
    feature_norm: Literal["l1"] | None = None
    changes: list[str] = []
    files: dict[str, StoredFile]


@dataclass(frozen=True)
class StoredArrays:
    """The arrays of a store, mapped into memory.

    Parameters
    ----------
    folder : Path
        Where they are.
    manifest : StoreManifest
        What they are.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X.
    node_ids, labels, classes, feature_names
        As of a ``Graph``.
    """

    folder: Path
    manifest: StoreManifest
    adjacency: sparse.csr_array
    features: Any
    node_ids: NDArray[Any]
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    feature_names: NDArray[Any] | None


@dataclass(frozen=True)
class ArrayParts:
    """An array that is written part by part: its shape, its type, and its rows in their order."""

    shape: tuple[int, ...]
    dtype: Any
    parts: Iterable[NDArray[Any]]

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayParts:
        """Return an array in parts that fit into a cache."""
        n_rows = max(_BYTES_AT_ONCE // max(array[:1].nbytes, 1), 1)
        parts = (array[start : start + n_rows] for start in range(0, len(array), n_rows))
        return cls(array.shape, array.dtype, parts)


def write_store(
    folder: Path, arrays: dict[str, ArrayParts], facts: dict[str, Any]
) -> StoreManifest:
    """Write a store.

    Parameters
    ----------
    folder : Path
        A folder that is empty or does not exist yet.
    arrays : dict
        Each array by its name.
    facts : dict
        The fields of the manifest besides the files.

    Returns
    -------
    StoreManifest
        What was written.
    """
    with building(folder):
        files = {name: write_array(folder / f"{name}.npy", each) for name, each in arrays.items()}
        manifest = finish_store(folder, files, facts)
    return manifest


def finish_store(
    folder: Path, files: dict[str, StoredFile], facts: dict[str, Any]
) -> StoreManifest:
    """Write the manifest of a store whose files are complete: from here on it is one."""
    version: Literal[1, 2] = 2 if any(file.update for file in files.values()) else 1
    manifest = StoreManifest(version=version, files=files, **facts)
    write_bytes(folder / MANIFEST, manifest.model_dump_json(indent=1).encode())
    return manifest


def store_graph(
    folder: Path,
    adjacency: sparse.csr_array,
    features: Any,
    arrays: dict[str, Any],
    facts: dict[str, Any],
) -> StoreManifest:
    """Write the arrays of a graph as a store.

    Parameters
    ----------
    folder : Path
        A folder that is empty or does not exist yet.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X.
    arrays : dict
        ``node_ids``, ``labels``, ``classes`` and ``feature_names``; None is left out.
    facts : dict
        Digests and other fields of the manifest that arrays do not tell.
    """
    if arrays["node_ids"].dtype.kind == "O":
        raise InputError(
            "AGC-I1430",
            "node ids in a store must be text or integers of 64 bits",
            got=shown(arrays["node_ids"].max()),
            fix="write the ids as text",
        )
    is_sparse = sparse.issparse(features)
    written = {
        **csr_parts("adjacency", adjacency),
        **(csr_parts("features", features) if is_sparse else {"features": ArrayParts.of(features)}),
        **{name: ArrayParts.of(array) for name, array in arrays.items() if array is not None},
    }
    counts = {
        "n_nodes": int(adjacency.shape[0]),
        "n_stored": int(adjacency.nnz),
        "n_features": int(features.shape[1]),
        "sparse_features": is_sparse,
    }
    return write_store(folder, written, {**counts, **facts})


def write_array(path: Path, array: ArrayParts) -> StoredFile:
    """Write an array as one ``.npy`` file, whole or not at all; return its size and SHA-256."""
    total, dtype = hashlib.sha256(), np.dtype(array.dtype)
    header, n_rows = npy_header(array.shape, dtype), 0
    with atomic_file(path) as handle:
        handle.write(header)
        total.update(header)
        for part in array.parts:
            if part.dtype != dtype or part.shape[1:] != tuple(array.shape[1:]):
                raise ValueError(f"parts of {path.name} differ in type or shape")
            content = octets(part)
            hashing = Thread(target=total.update, args=(content,))
            hashing.start()  # beside the writing: both leave the interpreter to others
            handle.write(content)
            hashing.join()
            n_rows += len(part)
        if n_rows != array.shape[0]:
            raise ValueError(f"{path.name} has {n_rows} rows of {array.shape[0]}")
        n_bytes = handle.tell()
    return StoredFile(bytes=n_bytes, sha256=total.hexdigest())


def octets(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array as they are in memory, copied only if they are scattered."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def npy_header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """Return what a ``.npy`` file starts with; its length does not depend on the number of rows."""
    header = io.BytesIO()
    description = np.lib.format.dtype_to_descr(dtype)
    fields = {"descr": description, "fortran_order": False, "shape": tuple(shape)}
    np.lib.format.write_array_header_1_0(header, fields)
    return header.getvalue()


def mapped(path: Path, *, fix: str = _MAKE_AGAIN) -> NDArray[Any]:
    """Return an array of a file, mapped into memory; pages are read when they are looked at.

    ``fix`` is what to do if it is missing or damaged.
    """
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE):
            raise ResourceError(
                "AGC-R1433",
                f"the file {str(path)!r} cannot be opened: too many files are open",
                fix="raise the limit of this process (ulimit -n), or close other programs",
            ) from error
        raise _damaged(path, str(error).splitlines()[0], fix) from error
    return array


def is_store(path: Path) -> bool:
    """Return whether a path is the folder of a store."""
    return (path / MANIFEST).is_file()


def read_manifest(folder: Path) -> StoreManifest:
    """Return what a store holds."""
    try:
        text = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise FormatError(
            "AGC-F1403",
            f"the folder {str(folder)!r} is no store: {MANIFEST} cannot be read",
            got=error.strerror or str(error),
            fix="name a folder that adagcn store build or Graph.to_store has finished",
        ) from error
    try:
        version = json.loads(text).get("version")
        if version not in range(1, VERSION + 1):
            raise FormatError(
                "AGC-F1404",
                f"the store {str(folder)!r} is of version {version!r}, and this release reads "
                f"versions 1 to {VERSION}",
                fix="make it again with adagcn store build, or use the release that made it",
            )
        return StoreManifest.model_validate_json(text)
    except (ValueError, AttributeError, ValidationError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            "AGC-F1405",
            f"{MANIFEST} of the store {str(folder)!r} is damaged",
            got=str(error).splitlines()[0],
            fix="make the store again with adagcn store build",
        ) from None


def open_store(folder: Path) -> StoredArrays:
    """Return the arrays of a store, mapped into memory; sizes are checked, contents are not."""
    manifest = read_manifest(folder)
    try:
        return _opened(folder, manifest)
    except IntegrityError:
        again = read_manifest(folder)
        if again == manifest:
            raise
        return _opened(folder, again)  # an update has removed files of the one before


def _opened(folder: Path, manifest: StoreManifest) -> StoredArrays:
    for name, file in manifest.files.items():
        path = file.path(folder, name)
        if not path.is_file() or path.stat().st_size != file.bytes:
            found = f"{path.stat().st_size:,} bytes" if path.is_file() else "no such file"
            raise _damaged(path, f"{found}, {file.bytes:,} expected")
    arrays = {name: mapped(file.path(folder, name)) for name, file in manifest.files.items()}
    n_nodes, n_features = manifest.n_nodes, manifest.n_features
    features: Any = arrays.get("features")
    if manifest.sparse_features:
        features = _csr(arrays, "features", (n_nodes, n_features))
    return StoredArrays(
        folder,
        manifest,
        _csr(arrays, "adjacency", (n_nodes, n_nodes)),
        features,
        arrays["node_ids"],
        arrays["labels"],
        arrays["classes"],
        arrays.get("feature_names"),
    )


def verify_store(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield every file of a store and whether its content is what was written."""
    for name, file in read_manifest(folder).files.items():
        path = file.path(folder, name)
        yield path.name, path.is_file() and file_digest(path) == file.sha256


def check_adjacency(arrays: StoredArrays) -> None:
    """Read the files of A, and refuse other contents than were written."""
    for name, file in arrays.manifest.files.items():
        path = file.path(arrays.folder, name)
        if name.startswith("adjacency.") and file_digest(path) != file.sha256:
            raise _damaged(path, "another SHA-256 than in store.json")


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def csr_parts(name: str, matrix: sparse.csr_array) -> dict[str, ArrayParts]:
    """Return the arrays that a sparse matrix is stored as."""
    return {
        f"{name}.indptr": ArrayParts.of(matrix.indptr),
        f"{name}.indices": ArrayParts.of(matrix.indices),
        f"{name}.values": ArrayParts.of(matrix.data),
    }


def _csr(arrays: dict[str, Any], name: str, shape: tuple[int, int]) -> sparse.csr_array:
    parts = (arrays[f"{name}.values"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
    try:
        matrix = sparse.csr_array(parts, shape=shape, copy=False)
    except ValueError as error:  # it starts or ends where no row can
        raise _damaged(Path(arrays[f"{name}.indptr"].filename), str(error)) from error
    matrix.has_canonical_format = True  # as it was written: looking would read every index
    return matrix


def _damaged(path: Path, found: str, fix: str = _MAKE_AGAIN) -> IntegrityError:
    return IntegrityError(
        "AGC-G1406",
        f"the file {str(path)!r} of a store is missing or damaged",
        got=found,
        fix=fix,
    )

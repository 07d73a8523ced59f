"""Row blocks of Â in files: cut once, and shared by all streams of hops with the same blocks.

A block of rows needs A + I for its nodes, degrees of all their neighbors, and new numbers for its
columns. All that takes longer than the product itself, and is the same at every hop. A block that
is missing or damaged is cut again by whoever needs it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.formats.atomic import write_bytes
from adagcn.formats.build_folder import COPY_STORE, make_folder
from adagcn.formats.graph_store import (
    RUN_AGAIN,
    ArrayParts,
    StoredArrays,
    StoredFile,
    check_adjacency,
    file_digest,
    mapped,
    write_array,
)
from adagcn.formats.sealed_arrays import read_sealed, write_sealed
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.row_blocks import RowBlocks, degrees_of, propagator_rows

FOLDER = "propagator"  # of a store; it may be removed at any time when nothing runs
_DEGREES = ("out_degree", "in_degree")
_LETTERS = 12  # of a digest, in the name of a folder


@dataclass(frozen=True)
class CutRows:
    """The row blocks of Â of one store.

    Parameters
    ----------
    folder : Path
        Where they are.
    ends : ndarray of shape (n_blocks + 1,)
        Of the blocks.
    normalization : {"symmetric", "random_walk"}
        How A becomes Â.
    dtype : str
        Type of the values.
    """

    folder: Path
    ends: NDArray[np.int64]
    normalization: Normalization
    dtype: str

    @classmethod
    def of(
        cls, arrays: StoredArrays, blocks: RowBlocks, normalization: Normalization, dtype: str
    ) -> CutRows:
        """Return the blocks of a store; degrees are counted here, rows are cut when needed.

        Blocks of an adjacency that the store no longer has are removed.
        """
        files = arrays.manifest.files
        parts = [files[f"adjacency.{name}"].sha256 for name in ("indptr", "indices", "values")]
        graph = hashlib.sha256("".join(parts).encode()).hexdigest()[:_LETTERS]
        words = json.dumps([normalization, dtype]).encode() + blocks.ends.astype("<i8").tobytes()
        folder = arrays.folder / FOLDER / f"{graph}-{hashlib.sha256(words).hexdigest()[:_LETTERS]}"
        make_folder(folder, fix=COPY_STORE)
        for other in folder.parent.iterdir():
            if not other.name.startswith(graph):
                shutil.rmtree(other, ignore_errors=True)
        cut = cls(folder, blocks.ends, normalization, dtype)
        cut._count_degrees(arrays)
        return cut

    def block(
        self, number: int, adjacency: sparse.csr_array
    ) -> tuple[sparse.csr_array, NDArray[Any]]:
        """Return some rows of Â with columns numbered within their halo, and the halo in order."""
        path = self.folder / f"block-{number:06d}.rows"
        found = read_sealed(path)
        if found is not None:
            values, columns, ends, halo = found
            shape = (len(ends) - 1, len(halo))
            return sparse.csr_array((values, columns, ends), shape=shape, copy=False), halo
        rows = RowBlocks(self.ends).rows(number)
        degrees = self.degrees()
        made, halo = propagator_rows(
            adjacency, rows, degrees, self.normalization, np.dtype(self.dtype)
        )
        write_sealed(path, [made.data, made.indices, made.indptr, halo])
        return made, halo

    def degrees(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the row and column sums of A + I."""
        out_degree, in_degree = (mapped(self._path(name), fix=RUN_AGAIN) for name in _DEGREES)
        return out_degree, in_degree

    def _count_degrees(self, arrays: StoredArrays) -> None:
        """Write row and column sums of A + I, unless they are there as they were written.

        What follows rests on A as it is now, and is kept: so this is when its files are checked.
        """
        record = self.folder / "degrees.json"
        if self._are_whole(record):
            return
        check_adjacency(arrays)
        found = degrees_of(
            arrays.adjacency, RowBlocks(self.ends), is_symmetric=not arrays.manifest.directed
        )
        files = {
            name: write_array(self._path(name), ArrayParts.of(degrees)).model_dump()
            for name, degrees in zip(_DEGREES, found, strict=True)
        }
        write_bytes(record, json.dumps(files).encode())

    def _are_whole(self, record: Path) -> bool:
        try:
            said = json.loads(record.read_bytes())
            files = {name: StoredFile.model_validate(said[name]) for name in _DEGREES}
            return all(file_digest(self._path(name)) == files[name].sha256 for name in _DEGREES)
        except (OSError, ValueError, KeyError, TypeError):
            return False  # never written, or damaged

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

"""Scattered rows of mapped files: the same rows, and few other pages read."""

import ctypes
import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adagcn.formats.graph_store import mapped
from adagcn.propagation import mapped_rows
from adagcn.propagation.mapped_rows import some_rows, take_rows

_ON_DISK = pytest.mark.skipif(
    not hasattr(os, "posix_fadvise") or not hasattr(mmap, "MADV_WILLNEED"),
    reason="this system takes no advice on mapped files",
)


def _resident(path: Path) -> int:
    """Return how many bytes of a file are in the page cache."""
    size = path.stat().st_size
    with path.open("rb") as file:
        pages = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ)
    view = np.frombuffer(pages, dtype=np.uint8)
    marks = np.zeros(-(-size // mmap.PAGESIZE), dtype=np.uint8)
    status = ctypes.CDLL(None, use_errno=True).mincore(
        ctypes.c_void_p(view.ctypes.data), ctypes.c_size_t(size), ctypes.c_void_p(marks.ctypes.data)
    )
    assert status == 0
    return int((marks & 1).sum()) * mmap.PAGESIZE


def _forgotten(path: Path) -> None:
    """Have the system drop a file from its page cache, or skip where it keeps it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if _resident(path):
        pytest.skip("this file system keeps its files in memory")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [slice(None), slice(3, 9), slice(0, 0)])
def test_rows_of_a_file_are_those_of_memory(
    tmp_path: Path, dtype: type[np.signedinteger], columns: slice
) -> None:
    matrix = np.random.default_rng(0).normal(size=(500, 17)).astype(np.float32)
    np.save(tmp_path / "rows.npy", matrix)
    places = np.array([499, 0, 7, 7, 250], dtype=dtype)
    wanted = matrix[places][:, columns]
    for source in (matrix, mapped(tmp_path / "rows.npy"), mapped(tmp_path / "rows.npy")[10:]):
        offset = matrix.shape[0] - source.shape[0]
        within = places[places >= offset] - dtype(offset)
        out = np.empty((len(within), wanted.shape[1]), dtype=np.float32)
        take_rows(source, within, columns, out)
        np.testing.assert_array_equal(out, wanted[places >= offset])


@pytest.mark.parametrize(
    "nodes",
    [
        np.array([3, 3, 0, 99]),
        np.array([], dtype=np.int64),
        slice(5, 50),
        np.arange(100) % 7 == 0,
    ],
    ids=["some", "none", "a slice", "marks"],
)
def test_some_rows_index_dense_and_sparse_files(
    tmp_path: Path, nodes: NDArray[np.int64] | slice
) -> None:
    matrix = sparse.random_array((100, 30), density=0.2, rng=0, dtype=np.float32, format="csr")
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(matrix, name))
    parts = tuple(mapped(tmp_path / f"{name}.npy") for name in ("data", "indices", "indptr"))
    stored = sparse.csr_array(parts, shape=matrix.shape, copy=False)
    np.save(tmp_path / "dense.npy", matrix.toarray())
    wanted = matrix.toarray()[nodes]
    np.testing.assert_array_equal(some_rows(stored, nodes).toarray(), wanted)
    np.testing.assert_array_equal(some_rows(mapped(tmp_path / "dense.npy"), nodes), wanted)


def test_rows_beyond_two_gibibytes_are_found_by_short_numbers(tmp_path: Path) -> None:
    shape = (3_000, 2**18)  # rows of 1 MiB, in a file of holes
    file = np.lib.format.open_memmap(tmp_path / "wide.npy", "w+", np.float32, shape)
    file[2_999, 5], file[2_500, 6] = 1.0, 2.0
    file.flush()
    places = np.array([2_999, 2_500], dtype=np.int32)
    out = np.empty((2, 4), dtype=np.float32)
    take_rows(mapped(tmp_path / "wide.npy"), places, slice(4, 8), out)
    np.testing.assert_array_equal(out, [[0, 1, 0, 0], [0, 0, 2, 0]])


def test_sparse_rows_beyond_two_gibibytes_are_found_by_short_numbers(tmp_path: Path) -> None:
    n_values = 2**29 + 8  # of 4 bytes: rows of 8 values, in files of holes
    for name, kind in (("values", np.float32), ("columns", np.int32)):
        file = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", kind, (n_values,))
        file[-8:] = np.arange(1, 9)
        file.flush()
    matrix = sparse.csr_array((n_values // 8, 16), dtype=np.float32)
    matrix.data, matrix.indices = (mapped(tmp_path / f"{n}.npy") for n in ("values", "columns"))
    matrix.indptr = np.arange(n_values // 8 + 1, dtype=np.int32) * 8
    found = some_rows(matrix, np.array([matrix.shape[0] - 1]))
    np.testing.assert_array_equal(found.data, np.arange(1, 9))


@pytest.mark.parametrize(
    ("rows", "asks"),
    [([0, 40, 90, 130], False), ([130, 90, 40, 0], True), ([0, 20_000, 40_000], True), ([7], True)],
    ids=["close", "descending", "far", "one"],
)
def test_pages_are_asked_for_unless_rows_ascend_close_to_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[int], asks: bool
) -> None:
    matrix = np.arange(50_000 * 4, dtype=np.float32).reshape(-1, 4)  # rows of 16 bytes
    np.save(tmp_path / "rows.npy", matrix)
    asked = []
    monkeypatch.setattr(
        mapped_rows._MappedFile, "want", lambda self, starts, ends: asked.append(len(starts))
    )
    np.testing.assert_array_equal(
        some_rows(mapped(tmp_path / "rows.npy"), np.array(rows)), matrix[rows]
    )
    assert bool(asked) == asks


@_ON_DISK
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_few_pages_are_read_beside_those_of_scattered_rows(tmp_path: Path, kind: str) -> None:
    n_rows, width = 32_768, 256  # rows of 1 KiB, 32 MiB
    rows = np.arange(500, n_rows, 1_024)  # one in each MiB
    path = tmp_path / "values.npy"
    np.save(path, np.ones(n_rows * width, dtype=np.float32))
    _forgotten(path)
    values = mapped(path)
    if kind == "dense":
        matrix = values.reshape(n_rows, width)
    else:
        columns = np.tile(np.arange(width, dtype=np.int32), n_rows)
        starts = np.arange(n_rows + 1, dtype=np.int32) * width
        matrix = sparse.csr_array((values, columns, starts), shape=(n_rows, width), copy=False)
    already = _resident(path)
    found = some_rows(matrix, rows)
    assert found.sum() == len(rows) * width
    # A page or two for each row; read-ahead of 128 KiB would read 4 MiB.
    assert _resident(path) - already <= 3 * len(rows) * mmap.PAGESIZE

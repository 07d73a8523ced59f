"""Planetoid's ``ind.*`` files: Python 2 pickles, read without running any of their code.

The eight files of a data set hold the labeled training nodes (x, y), all nodes but the test nodes
(allx, ally), the test nodes (tx, ty) with their positions (test.index), and the neighbors of every
node (graph). They come from the GitHub repository kimiyoung/planetoid, folder data (Yang, Cohen and
Salakhutdinov, ICML 2016). No digest of them is known, so they are never downloaded: the user
converts a copy once, and the library then reads the ``.npz`` file.
"""

from __future__ import annotations

import io
import os
import pickle
import pickletools
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.data.converted import checked_csr, write_converted
from adagcn.data.digests import check_digest
from adagcn.data.nodesets import Split
from adagcn.errors import AdaGCNError, FormatError, InputError, UnsafeFileError

_PICKLED = ("x", "y", "tx", "ty", "allx", "ally", "graph")
_LARGEST_FILE = 2**30
_N_STOP = 500


class PlanetoidFiles(NamedTuple):
    """The combined content of the eight files.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        1 where one node lists the other; self-loops as listed.
    features : csr_array of shape (n_nodes, n_features)
        Zero rows for the nodes that the files leave out (15 in CiteSeer).
    labels : ndarray of shape (n_nodes,)
        −1 for the nodes that the files leave out.
    split : Split
        The public split: the labeled training nodes, the 500 after them, the test nodes.
    """

    adjacency: sparse.csr_array
    features: sparse.csr_array
    labels: NDArray[np.int64]
    split: Split


def read_planetoid(
    folder: str | os.PathLike[str], name: str, *, digests: Mapping[str, str] | None = None
) -> PlanetoidFiles:
    """Read the eight files of a Planetoid data set.

    Parameters
    ----------
    folder : str or path-like
        Where the files ``ind.<name>.*`` are.
    name : str
        The name in the file names, such as ``"cora"``, ``"citeseer"`` or ``"pubmed"``.
    digests : mapping of str to str, optional
        The digest of each file by its name, such as ``"sha256:…"``, checked before anything is
        decoded. Without digests, reading is safe but the files are unverified.

    Returns
    -------
    PlanetoidFiles
        Nodes in Planetoid's order.

    Raises
    ------
    UnsafeFileError
        If a file asks for anything but arrays, sparse matrices and dictionaries of lists.
    FormatError
        If a file is damaged or the files do not fit together.
    """
    base = Path(folder)
    paths = {part: base / f"ind.{name}.{part}" for part in (*_PICKLED, "test.index")}
    for path in paths.values():
        _check_file(path, digests)
    try:
        parts = {part: _unpickle(paths[part]) for part in _PICKLED}
        test_nodes = np.array(paths["test.index"].read_text("ascii").split(), dtype=np.int64)
        return _put_together(parts, test_nodes)
    except AdaGCNError:
        raise
    except Exception as error:
        # What a damaged file makes of the pieces below fails in too many ways to list.
        raise FormatError(
            "AGC-F270",
            f"the files ind.{name}.* in {str(base)!r} do not fit together "
            f"({type(error).__name__}: {error})",
            fix="get all eight files again from one source",
        ) from error


def convert_planetoid(
    folder: str | os.PathLike[str], name: str, out: str | os.PathLike[str]
) -> Path:
    """Convert Planetoid's files to one ``.npz`` file that includes the public split.

    Parameters
    ----------
    folder, name
        As for :func:`read_planetoid`.
    out : str or path-like
        The file to write.

    Returns
    -------
    Path
        The file written; it has the split ``public``.
    """
    files = read_planetoid(folder, name)
    return write_converted(out, files.adjacency, files.features, files.labels, files.split)


class _SparseState:
    """Takes the attributes of a pickled sparse matrix and does nothing with them."""

    def matrix(self) -> sparse.csr_array:
        return checked_csr(vars(self), vars(self)["_shape"])


def _empty_array(*_: object) -> NDArray[Any]:
    """Return the empty array that the pickled state fills; whatever the file asks for is unused."""
    return np.ndarray.__new__(np.ndarray, (0,), "b")


# Everything that the public files refer to, under its old and its present name. The values are
# what the files get: stand-ins where the original could be asked to do more than hold data.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("scipy.sparse.csr", "csr_matrix"): _SparseState,
    ("scipy.sparse._csr", "csr_matrix"): _SparseState,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): np.dtype,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _DataUnpickler(pickle.Unpickler):
    """An unpickler that knows the few types of Planetoid's files and refuses every other name."""

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in _ALLOWED:
            raise UnsafeFileError(
                "AGC-U271",
                "a Planetoid file asks for something that is not plain data",
                got=f"{module}.{name}",
                fix="do not use these files, get them again from their publishers",
            )
        return _ALLOWED[module, name]


def _unpickle(path: Path) -> Any:
    content = path.read_bytes()
    try:
        _check_memo(content)
        unpickler = _DataUnpickler(io.BytesIO(content), fix_imports=False, encoding="latin1")
        value = unpickler.load()
        return value.matrix() if isinstance(value, _SparseState) else value
    except AdaGCNError:
        raise
    except Exception as error:
        # A garbled pickle may raise anything; nothing of it has run.
        raise FormatError(
            "AGC-F272",
            f"the file {str(path)!r} is not a readable Planetoid file ({type(error).__name__})",
            fix="get the file again: it may be truncated or damaged",
        ) from error


def _check_memo(content: bytes) -> None:
    """Refuse memo positions beyond the file's length: a few bytes could claim all memory."""
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > len(content):
            raise ValueError(f"memo position {argument}")


def _check_file(path: Path, digests: Mapping[str, str] | None) -> None:
    if not path.is_file():
        raise InputError(
            "AGC-I273",
            "a Planetoid file is missing",
            got=str(path),
            fix="put all eight ind.* files of the data set into one folder",
        )
    if path.stat().st_size > _LARGEST_FILE:
        raise UnsafeFileError(
            "AGC-U274",
            f"the file {str(path)!r} is too large",
            got=path.stat().st_size,
            fix="get the file again from its publishers",
        )
    if digests is not None:
        accepted = [digests[path.name]] if path.name in digests else []
        check_digest(path, accepted, fix="get the file again from its publishers")


def _put_together(parts: Mapping[str, Any], test_nodes: NDArray[np.int64]) -> PlanetoidFiles:
    known, tested = parts["allx"], parts["tx"]
    n_nodes = len(parts["graph"])
    places = np.concatenate([np.arange(known.shape[0]), test_nodes])
    if len(np.unique(places)) != known.shape[0] + tested.shape[0]:
        raise ValueError("test.index names a node twice, or not one node per row of tx")
    if places.min() < 0 or places.max() >= n_nodes:
        raise ValueError(f"test.index or allx goes beyond the {n_nodes} nodes that graph lists")
    rows = sparse.coo_array(sparse.vstack([known, tested]))
    features = sparse.csr_array(
        (rows.data, (places[rows.row], rows.col)), shape=(n_nodes, rows.shape[1])
    )
    labels = np.full(n_nodes, -1, dtype=np.int64)
    labels[places] = _class_of(np.concatenate([parts["ally"], parts["ty"]]))
    n_train = len(parts["y"])
    others = np.arange(n_train, known.shape[0])
    stop_nodes = others[labels[others] >= 0][:_N_STOP]
    scored = np.sort(test_nodes[labels[test_nodes] >= 0])
    split = Split("public", np.arange(n_train), stop_nodes, scored)
    return PlanetoidFiles(_adjacency(parts["graph"], n_nodes), features, labels, split)


def _class_of(one_hot: NDArray[Any]) -> NDArray[np.int64]:
    """Return the column of the single 1 in each row, −1 where there is none."""
    if not np.isin(one_hot, (0, 1)).all() or (one_hot.sum(axis=1) > 1).any():
        raise ValueError("labels are not one-hot rows")
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)


def _adjacency(neighbors: Mapping[int, list[int]], n_nodes: int) -> sparse.csr_array:
    lengths = [len(listed) for listed in neighbors.values()]
    sources = np.repeat(np.fromiter(neighbors, np.int64, len(neighbors)), lengths)
    targets = np.fromiter((node for listed in neighbors.values() for node in listed), np.int64)
    arcs = sparse.coo_array((np.ones(len(sources)), (sources, targets)), shape=(n_nodes, n_nodes))
    return sparse.csr_array((arcs + arcs.T) > 0)

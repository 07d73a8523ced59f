"""Reddit as PyTorch Geometric's Reddit2 (from GraphSAINT) publishes it: four raw files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.data.converted import checked_csr, write_converted
from adagcn.data.nodesets import Split
from adagcn.errors import AdaGCNError, FormatError, InputError
from adagcn.formats.npz import read_npz

_FILES = ("adj_full.npz", "feats.npy", "class_map.json", "role.json")
_CSR_KEYS = ("data", "indices", "indptr", "shape")


def convert_reddit(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Convert the raw files of Reddit2 to one ``.npz`` file that includes the public split.

    ``adj_full.npz`` is a SciPy CSR matrix, ``feats.npy`` a dense matrix, ``class_map.json`` maps
    each node to its class, ``role.json`` lists the nodes to train on (``tr``), to stop on (``va``)
    and to score (``te``).

    Parameters
    ----------
    folder : str or path-like
        Where the four files are.
    out : str or path-like
        The file to write. In a folder of data sets, ``reddit.npz`` is found by the name
        ``"reddit"``.

    Returns
    -------
    Path
        The file written; it has the split ``public``.

    Raises
    ------
    InputError
        If a file is missing.
    FormatError
        If a file is damaged or the files do not fit together.
    """
    base = Path(folder)
    for name in _FILES:
        if not (base / name).is_file():
            raise InputError(
                "AGC-I280",
                "a file of Reddit2 is missing",
                got=str(base / name),
                fix=f"put {', '.join(_FILES)} into one folder",
            )
    try:
        adjacency = _read_adjacency(base / "adj_full.npz")
        features = np.load(base / "feats.npy", mmap_mode="r", allow_pickle=False)
        labels = _read_labels(base / "class_map.json", adjacency.shape[0])
        split = _read_roles(base / "role.json")
        _check_rows(features, adjacency.shape[0])
        return write_converted(out, adjacency, features, labels, split)
    except AdaGCNError:
        raise
    except Exception as error:
        # Damaged files surface as many exception types of json, numpy and scipy.
        raise FormatError(
            "AGC-F281",
            f"the files in {str(base)!r} are not those of Reddit2 "
            f"({type(error).__name__}: {error})",
            fix="get all four files again from one source",
        ) from error


def _read_adjacency(path: Path) -> sparse.csr_array:
    # SciPy also stores the format's name as bytes; only these arrays are needed.
    held = read_npz(path, required=_CSR_KEYS, keys=_CSR_KEYS)
    matrix = checked_csr(held, held["shape"])
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency of shape {matrix.shape}")
    return matrix


def _read_labels(path: Path, n_nodes: int) -> NDArray[np.int64]:
    classes: Mapping[str, Any] = json.loads(path.read_bytes())
    nodes = np.array([int(node) for node in classes], dtype=np.int64)
    if ((nodes < 0) | (nodes >= n_nodes)).any():
        raise ValueError(f"class_map.json names a node outside 0 to {n_nodes - 1}")
    if not all(type(label) is int and label >= 0 for label in classes.values()):
        raise ValueError("class_map.json has a class that is not a non-negative integer")
    labels = np.full(n_nodes, -1, dtype=np.int64)
    labels[nodes] = list(classes.values())
    return labels


def _read_roles(path: Path) -> Split:
    roles: Mapping[str, list[int]] = json.loads(path.read_bytes())
    return Split("public", *(np.array(roles[role]) for role in ("tr", "va", "te")))


def _check_rows(features: NDArray[Any], n_nodes: int) -> None:
    if features.ndim != 2 or len(features) != n_nodes:
        raise ValueError(f"feats.npy of shape {features.shape} for {n_nodes} nodes")

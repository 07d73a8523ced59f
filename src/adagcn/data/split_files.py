"""Splits that come with a benchmark: masks, lists of positions, or a table of words.

- ``train_masks``, ``val_masks``, ``test_masks`` of shape (n_splits, n_nodes), as the heterophilous
  benchmarks have them;
- ``train_mask``, ``val_mask``, ``test_mask`` of shape (n_nodes,) or (n_nodes, n_splits), as
  PyTorch Geometric has them;
- ``train``, ``stop``, ``test`` of shape (n_splits, ⌈n_nodes / 8⌉), rows of ``numpy.packbits``, and
  ``n_nodes``;
- ``train_idx``, ``valid_idx``, ``test_idx``, positions of nodes, as in the Open Graph Benchmark;
- a table with an id in the first column and, for each split, a column of the words train, stop and
  test.

``stop`` is also spelled ``val`` or ``valid``, and ``test`` also ``score``.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.data.nodesets import Nodes, Split
from adagcn.errors import AdaGCNWarning, FormatError, InputError, counted
from adagcn.formats.node_ids import as_id_column, of_one_kind
from adagcn.formats.npz import list_arrays, read_npz
from adagcn.formats.tables import Columns, read_table
from adagcn.graph import Graph

FilePath = str | os.PathLike[str]

_ROLES = {"train": ("train",), "stop": ("val", "valid", "stop"), "score": ("test", "score")}
_WORDS = {
    "train": ("train", "training"),
    "stop": ("stop", "val", "valid", "validation"),
    "score": ("test", "score"),
    None: ("", "none"),
}
_ROLE_OF_WORD = {word: role for role, words in _WORDS.items() for word in words}
_LAYOUTS = ("_masks", "_mask", "_idx", "")  # what follows the name of a role; "" is packed
_EXPECTED = (
    "give train_masks, val_masks and test_masks, train_mask, …, train_idx, … or a table with an id "
    "and a word (train, stop or test) per split"
)


def file_split(
    graph: Graph, number: int, path: FilePath | None, *, source: FilePath | None = None
) -> Split:
    """Read one of the splits of a file.

    Nodes without a label are left out, and a warning counts them.

    Parameters
    ----------
    graph : Graph
        The graph with labels.
    number : int
        Which split, from 0.
    path : str or path-like or None
        An ``.npz`` file or a table, in a layout listed above.
    source : str or path-like, optional
        The ``.npz`` file that the graph was read from: masks go by the order of its nodes. Without
        it they need a graph whose ids are 0 to n − 1.

    Returns
    -------
    Split
        The split named ``file:<number>``.

    Raises
    ------
    InputError
        There is no such split, or it does not fit the graph.
    FormatError
        The file has none of the layouts.
    """
    if path is None:
        raise InputError(
            "AGC-I246",
            f"the split file:{number} needs a file of masks",
            fix="give it as splits_file, or choose another split",
        )
    n_splits = n_stored_splits(path)
    if number >= n_splits:
        raise InputError(
            "AGC-I251",
            f"{str(path)!r} has {counted(n_splits, 'split')}, numbered from 0",
            got=f"file:{number}",
            fix=f"use at most file:{n_splits - 1}",
        )
    if _is_archive(path):
        _check_order(graph, path, source)
        sets = _stored_sets(Path(path), number, graph.n_nodes)
    else:
        sets = _table_sets(Path(path), number, graph)
    if not sets["train"].size:
        problem = f"the split file:{number} of {str(path)!r} has no node to train on"
        raise InputError("AGC-I257", problem, fix="write train beside the nodes to train on")
    name = f"file:{number}"
    split = Split(name, **{f"{role}_nodes": sets[role] for role in _ROLES})
    split.check_range(graph.n_nodes)
    return _labeled_part(split, graph, path)


def n_stored_splits(path: FilePath) -> int:
    """Return how many splits an ``.npz`` file or a table holds."""
    if not _is_archive(path):
        table, _ = read_table(path, "splits_file", Columns([None, None], also=()))
        return 1 + len(table.unread)
    layout, names = _layout(Path(path))
    shape = list_arrays(path)[names["train"]].shape
    if layout == "_idx" or len(shape) < 2:
        return 1
    return shape[1] if layout == "_mask" else shape[0]


def _is_archive(path: FilePath) -> bool:
    return Path(path).suffix.lower() == ".npz"


def _check_order(graph: Graph, path: FilePath, source: FilePath | None) -> None:
    if source is None and not np.array_equal(graph.node_ids, np.arange(graph.n_nodes)):
        raise InputError(
            "AGC-I247",
            f"the masks of {str(path)!r} go by the position of the nodes, but the ids of the graph "
            "are not 0 to n − 1 in this order",
            got=graph.node_ids[:5].tolist(),
            fix="give a table with an id and a word (train, stop or test) for each node",
        )


def _labeled_part(split: Split, graph: Graph, path: FilePath) -> Split:
    sets = {f"{role}_nodes": getattr(split, f"{role}_nodes") for role in _ROLES}
    kept = {role: nodes[graph.labels[nodes] >= 0] for role, nodes in sets.items()}
    n_lost = sum(map(len, sets.values())) - sum(map(len, kept.values()))
    if n_lost:
        told = f"the split {split.name} of {str(path)!r} has {counted(n_lost, 'node')} without a"
        warnings.warn(f"{told} label, which are left out", AdaGCNWarning, stacklevel=4)
    if not len(kept["train_nodes"]):
        problem = f"the split {split.name} of {str(path)!r} trains on no node that has a label"
        raise InputError("AGC-I248", problem, got=split.sizes, fix="choose another split")
    return Split(split.name, **kept)


def _layout(path: Path) -> tuple[str, dict[str, str]]:
    """Return the layout of an ``.npz`` file, and the name of the array of each role."""
    there = list_arrays(path)
    for ending in _LAYOUTS:
        names = {
            role: f"{word}{ending}"
            for role, words in _ROLES.items()
            for word in words
            if f"{word}{ending}" in there
        }
        if {"train", "score"} <= set(names) and (ending or "n_nodes" in there):
            return ending, names
    raise FormatError(
        "AGC-F249",
        f"the file {str(path)!r} holds no splits in a known layout",
        got=", ".join(f"{name}: {header}" for name, header in there.items()),
        fix=_EXPECTED,
    )


def _stored_sets(path: Path, number: int, n_nodes: int) -> dict[str, Nodes]:
    ending, names = _layout(path)
    arrays = read_npz(path, required=names.values(), keys=["n_nodes"])
    sets = {role: np.empty(0, dtype=np.int64) for role in _ROLES}
    for role, name in names.items():
        if ending == "_idx":
            sets[role] = _indices(arrays[name], name)
            continue
        masks = _unpacked(arrays[name], arrays["n_nodes"], name) if not ending else arrays[name]
        sets[role] = np.flatnonzero(_mask(masks, ending, number, n_nodes, name))
    return sets


def _indices(array: NDArray[Any], name: str) -> Nodes:
    if array.ndim != 1 or array.dtype.kind not in "iu":
        problem = f"{name} must be one row of node positions"
        raise FormatError("AGC-F252", problem, got=f"{array.dtype} {array.shape}", fix=_EXPECTED)
    return array.astype(np.int64)


def _unpacked(packed: NDArray[Any], n_nodes: NDArray[Any], name: str) -> NDArray[Any]:
    n_bits = int(n_nodes) if n_nodes.shape == () and n_nodes.dtype.kind in "iu" else -1
    if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != -(-n_bits // 8):
        problem = f"{name} must be rows of packed bits (uint8), one bit for each of n_nodes"
        raise FormatError("AGC-F253", problem, got=f"{packed.dtype} {packed.shape}", fix=_EXPECTED)
    return np.unpackbits(packed, axis=1, count=n_bits)


def _mask(
    masks: NDArray[Any], ending: str, number: int, n_nodes: int, name: str
) -> NDArray[np.bool_]:
    """Return one mask of an array of them, checked against the graph."""
    if (
        masks.dtype.kind not in "biu"
        or masks.ndim not in (1, 2)
        or ((masks != 0) & (masks != 1)).any()
    ):
        problem = f"{name} must be a mask of true and false, or several"
        raise FormatError("AGC-F254", problem, got=f"{masks.dtype} {masks.shape}", fix=_EXPECTED)
    if masks.ndim == 2:
        masks = masks[:, number] if ending == "_mask" else masks[number]
    if len(masks) != n_nodes:
        problem = f"{name} must have one entry for each of the graph's {counted(n_nodes, 'node')}"
        fix = "use the whole graph that the splits were made for, in its own order"
        raise InputError("AGC-I255", problem, got=len(masks), fix=fix)
    return masks.astype(bool)


def _table_sets(path: Path, number: int, graph: Graph) -> dict[str, Nodes]:
    """Return the sets that one column of words describes."""
    wanted = Columns([None] * (number + 2), also=())
    table, names = read_table(path, "splits_file", wanted)
    ids = as_id_column(
        table.columns[names[0]], f"column {names[0]!r} of splits_file", untyped=table.untyped
    )
    known = as_id_column(graph.node_ids, "the graph")
    nodes = graph.positions(of_one_kind([ids, known])[0].ids, "splits_file")
    twice = np.flatnonzero(np.bincount(nodes) > 1)
    if twice.size:
        problem = f"splits_file has {counted(len(twice), 'node')} in more than one row"
        some = graph.node_ids[twice[:10]].tolist()
        raise InputError("AGC-I258", problem, got=some, fix="keep one row per node")
    cells = table.columns[names[-1]].to_pylist()
    words = ["" if cell is None else str(cell).strip().lower() for cell in cells]
    odd = sorted(set(words) - set(_ROLE_OF_WORD))
    if odd:
        problem = f"column {names[-1]!r} of splits_file must hold train, stop, test or nothing"
        fix = "write val or valid for stop and score for test if you like, and none for neither"
        raise InputError("AGC-I256", problem, got=odd[:10], fix=fix)
    roles = np.array([_ROLE_OF_WORD[word] or "" for word in words])
    return {role: nodes[roles == role].astype(np.int64) for role in _ROLES}

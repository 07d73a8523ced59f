"""Data sets as tables of edges, features and labels, as people have them.

A named data set is written out as three CSV files. A *table set* has been published as such files
and is never anything else: it is verified and copied.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.data.catalog import TableSet
from adagcn.data.digests import check_digest
from adagcn.errors import ResourceError
from adagcn.formats.atomic import atomic_file
from adagcn.graph import Graph

NAMES = ("edges.csv", "features.csv", "labels.csv")
_ROWS_AT_ONCE = 65_536


def copy_tables(
    dataset: TableSet, folder: str | os.PathLike[str], searched: Sequence[Path]
) -> tuple[Path, ...]:
    """Copy the verified files of a table set into a folder.

    Parameters
    ----------
    dataset : TableSet
        What to copy.
    folder : str or path-like
        Where to; its files get the names in ``NAMES``, with the published bytes.
    searched : sequence of Path
        Folders of data sets; the files lie in one of them, or in ``dataset.folder`` of one.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    ResourceError
        If the files are in none of the folders.
    IntegrityError
        If they are not the published ones.
    """
    files = (dataset.edges, dataset.features, dataset.labels)
    places = [place for each in searched for place in (each / dataset.folder, each / dataset.key)]
    found = next((p for p in places if all((p / f.name).is_file() for f in files)), None)
    if found is None:
        where = " and ".join(map(str, places)) or "no folder, since ADAGCN_DATA is not set"
        raise ResourceError(
            "AGC-R304",
            f"the files of {dataset.key} are not on this machine, and are not downloaded",
            got=f"searched {where}",
            fix=f"get them from {dataset.origin}; put them into a folder {dataset.key} of data_dir "
            "or ADAGCN_DATA",
        )
    for file in files:
        check_digest(found / file.name, file.digests, fix="get the published file")
    targets = tuple(Path(folder) / name for name in NAMES)
    for file, target in zip(files, targets, strict=True):
        with (found / file.name).open("rb") as original, atomic_file(target) as copy:
            shutil.copyfileobj(original, copy)
    return targets


def write_tables(graph: Graph, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write a graph as tables that :meth:`adagcn.Graph.from_edges` reads back.

    ``edges.csv`` has a row for each pair of neighbors (``source``, ``target``, and ``weight`` where
    they differ); of a directed graph, for each edge. ``features.csv`` is long where the features
    are sparse (``node``, ``feature``, ``value``) and wide where they are dense (``node`` and a
    column for each feature). ``labels.csv`` has a row for each labeled node. Numbers are written
    with all their digits.

    Parameters
    ----------
    graph : Graph
        With features, or every node has an edge.
    folder : str or path-like
        Where to write; each file appears whole or not at all.

    Returns
    -------
    tuple of Path
        The files; no table of features for a graph without them.
    """
    edges, features, labels = (Path(folder) / name for name in NAMES)
    _write(edges, *_edge_rows(graph))
    written = [edges]
    if not graph.has_node_columns:
        _write(features, *_feature_rows(graph))
        written.append(features)
    ids, values = graph.ids_and_labels(graph.labeled_nodes)
    _write(labels, ["node", "label"], zip(ids.tolist(), values.tolist(), strict=True))
    return (*written, labels)


def _edge_rows(graph: Graph) -> tuple[list[str], Iterable[Sequence[Any]]]:
    """Return the names of the columns of the edges, and their rows."""
    matrix = graph.adjacency if graph.is_directed else sparse.triu(graph.adjacency)
    arcs = sparse.coo_array(matrix)
    columns = [graph.node_ids[arcs.row].tolist(), graph.node_ids[arcs.col].tolist()]
    names = ["source", "target"]
    if bool((arcs.data != 1.0).any()):
        names.append("weight")
        columns.append(_numbers(arcs.data))
    return names, zip(*columns, strict=True)


def _feature_rows(graph: Graph) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """Return the names of the columns of the features, and their rows."""
    names = (
        [str(number) for number in range(graph.n_features)]
        if graph.feature_names is None
        else [str(name) for name in graph.feature_names]
    )
    if isinstance(graph.features, np.ndarray):
        return ["node", *names], _wide_rows(graph, graph.features)
    return ["node", "feature", "value"], _long_rows(graph, graph.features, names)


def _wide_rows(graph: Graph, features: NDArray[Any]) -> Iterator[Sequence[Any]]:
    for node, row in zip(graph.node_ids.tolist(), features, strict=True):
        yield [node, *_numbers(row)]


def _long_rows(
    graph: Graph, features: sparse.csr_array, names: list[str]
) -> Iterator[Sequence[Any]]:
    """Yield every stored value; a column that no node has is kept by a zero of the first node."""
    entries = sparse.coo_array(features)
    for start in range(0, entries.nnz, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        nodes = graph.node_ids[entries.row[part]].tolist()
        columns = [names[column] for column in entries.col[part].tolist()]
        yield from zip(nodes, columns, _numbers(entries.data[part]), strict=True)
    used = np.bincount(entries.col, minlength=len(names))
    for column in np.flatnonzero(used == 0).tolist():
        yield graph.node_ids[0].item(), names[column], "0"


def _numbers(values: NDArray[Any]) -> list[str]:
    """Return numbers as the shortest texts that are read back as the same numbers."""
    distinct, codes = np.unique(values, return_inverse=True)
    texts = np.array([np.format_float_positional(each, trim="-") for each in distinct])
    return list(texts[codes].tolist())


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with atomic_file(path) as handle, _as_text(handle) as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


@contextmanager
def _as_text(handle: Any) -> Iterator[io.TextIOWrapper]:
    """Give a binary file as UTF-8 text, and leave it open."""
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()

"""The counts of a graph in a file, from headers and labels alone, and what reading it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.data.catalog import CATALOG, find_dataset
from adagcn.data.load import Folder, locate_dataset
from adagcn.formats.graph_layouts import find_layout
from adagcn.formats.npz import ArrayHeader, list_arrays, read_npz
from adagcn.graph import Graph
from adagcn.models.estimates.graph_sizes import GraphSizes


@dataclass(frozen=True)
class FileSizes:
    """A graph in a file.

    Parameters
    ----------
    sizes : GraphSizes
        The graph, once it is read.
    reading_bytes : float
        The most that reading it holds at once, beyond the libraries; the graph is part of it.
    is_exact : bool
        False: nodes or edges were counted by a sample of their hashes, within one percent.
    store : Path or None
        The folder, if it is a store.
    """

    sizes: GraphSizes
    reading_bytes: float
    is_exact: bool = True
    store: Path | None = None


def sizes_of_data(
    text: str, *, data_dir: Folder = None, offline: bool | None = None
) -> FileSizes | None:
    """Return the sizes of a data set by its name, of an ``.npz`` file or of a store.

    No features and no edges are read. None where a file must be read to know its sizes.

    Parameters
    ----------
    text : str
        As for :func:`adagcn.data.load_graph`.
    data_dir, offline : optional
        As for :func:`adagcn.data.load_graph`.
    """
    if text in CATALOG:
        path = locate_dataset(text, data_dir=data_dir, offline=offline)
        found = _of_npz(path, text)
        return None if found is None else _cleaned(found, text)
    path = Path(text)
    if path.is_dir():
        sizes = GraphSizes.of(Graph.from_store(path))
        return FileSizes(sizes, 0.0, store=path)
    if path.suffix != ".npz" and not path.exists():
        find_dataset(text)  # raises with the closest names
    return _of_npz(path, path.name)


def _of_npz(path: Path, name: str) -> FileSizes | None:
    headers = list_arrays(path)
    names = find_layout(headers, str(path)).names
    parts = {key: headers[array] for key, array in names.items()}
    stored = parts.get("adj_matrix.indices")
    if stored is None:  # lists of edges count once they are sorted
        return None
    labels = read_npz(path, keys=[names["labels"]])[names["labels"]] if "labels" in names else None
    n_nodes = parts["adj_matrix.indptr"].shape[0] - 1
    n_labeled, n_classes = _labeled(labels, parts)
    features = _features(parts, n_nodes)
    if "attr_matrix.shape" in parts:  # two numbers, which no header holds
        shape = names["attr_matrix.shape"]
        features["n_features"] = int(read_npz(path, keys=[shape])[shape][1])
    sizes = GraphSizes(
        n_nodes=n_nodes,
        n_stored=stored.shape[0],
        n_classes=n_classes,
        n_labeled=n_labeled,
        index_bytes=stored.dtype.itemsize,
        name=name,
        **features,
    )
    read = sum(np.prod(each.shape) * each.dtype.itemsize for each in parts.values())
    # The arrays as they are in the file, the graph made of them, and a check that it is symmetric.
    return FileSizes(sizes, float(read) + sizes.graph_bytes + 2.0 * sizes.adjacency_bytes)


def _features(parts: Mapping[str, ArrayHeader], n_nodes: int) -> dict[str, Any]:
    """Return what a file says of the features; without any, each node is a column."""
    double = parts.get("feature_dtype") is not None
    value_bytes = 8 if double else 4
    norm = "l1" if "feature_norm" in parts else None
    if "attr_matrix.data" in parts:
        return {
            "n_features": 0,  # as the array of its shape says
            "n_values": parts["attr_matrix.data"].shape[0],
            "value_bytes": value_bytes,
            "column_bytes": parts["attr_matrix.indices"].dtype.itemsize,
            "feature_norm": norm,
        }
    if "attr_matrix" in parts:
        n_columns = parts["attr_matrix"].shape[1]
        return {
            "n_features": n_columns,
            "n_values": None,
            "value_bytes": value_bytes,
            "feature_norm": norm,
        }
    return {"n_features": n_nodes, "n_values": n_nodes, "node_columns": True}


def _labeled(labels: NDArray[Any] | None, parts: Mapping[str, ArrayHeader]) -> tuple[int, int]:
    """Return how many nodes have a label, and how many labels there are."""
    if labels is None:
        return 0, 0
    flat = labels.ravel()
    known = np.isfinite(flat) & (flat >= 0) if flat.dtype.kind in "iuf" else flat != ""
    names = parts.get("class_names")
    n_classes = len(np.unique(flat[known])) if names is None else names.shape[0]
    return int(np.count_nonzero(known)), int(n_classes)


def _cleaned(found: FileSizes, key: str) -> FileSizes:
    """Return the sizes of a data set after the paper's cleaning, which the catalog knows."""
    counts, sizes = find_dataset(key).cleaned, found.sizes
    share = counts.n_nodes / max(sizes.n_nodes, 1)
    cleaned = replace(
        sizes,
        n_nodes=counts.n_nodes,
        n_stored=2 * counts.n_edges,
        n_features=counts.n_features,
        n_classes=counts.n_classes,
        n_labeled=round(share * sizes.n_labeled),
        n_values=None if sizes.n_values is None else round(share * sizes.n_values),
        feature_norm="l1",
    )
    return FileSizes(cleaned, found.reading_bytes + cleaned.graph_bytes)

"""What a column of an experiment stands for: its graph and its splits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from adagcn.data.generators import GENERATED, planted_partition
from adagcn.data.load import load_dataset, locate_file
from adagcn.data.nodesets import Split
from adagcn.data.splits import make_split
from adagcn.errors import InputError
from adagcn.experiments.spec import Column, Spec, Tables
from adagcn.graph import Graph

Folder: TypeAlias = "str | os.PathLike[str] | None"


def column_graph(column: Column, *, data_dir: Folder = None, offline: bool | None = None) -> Graph:
    """Return the graph of a column.

    Parameters
    ----------
    column : Column
        A column of a checked spec.
    data_dir, offline : optional
        As for :func:`~adagcn.data.load.load_dataset`; files and tables are searched in
        ``data_dir`` and in the folder of ``ADAGCN_DATA``.

    Returns
    -------
    Graph
        The graph. One of the catalog is cleaned as in the paper, others are as they are. Its name,
        by which presets know it, is that of the file if it is one, and else what the column says:
        ``planetoid/pubmed.npz`` is PubMed to a preset, whatever else the table calls ``pubmed``.

    Raises
    ------
    InputError
        A file is missing; it is named.
    """
    if column.generated is not None:
        return replace(GENERATED[column.generated](), name=column.dataset)
    if column.planted is not None:
        return replace(planted_partition(**column.planted.model_dump()), name=column.dataset)
    if column.file is not None:
        path = locate_file(column.file, data_dir=data_dir)
        return Graph.from_npz(path, name=Path(column.file).stem)
    if column.tables is not None:
        return _graph_of_tables(column.tables, column.dataset, data_dir)
    return load_dataset(column.dataset, data_dir=data_dir, offline=offline)


def column_splits(
    spec: Spec, column: Column, graph: Graph, *, data_dir: Folder = None
) -> list[Split]:
    """Return as many splits of a column as any of the spec's rows has there.

    Parameters
    ----------
    spec : Spec
        A checked spec.
    column : Column
        One of its columns.
    graph : Graph
        The graph of the column.
    data_dir : str or path-like, optional
        The folder to search first for a file of splits.

    Returns
    -------
    list of Split
        Numbers 0, 1, … of the column's kind.

    Raises
    ------
    InputError
        A split cannot be made; the column is named.
    """
    most = max(spec.splits_of(row, column) for row in spec.rows)
    options: dict[str, Any] = {
        "train_per_class": column.train_per_class,
        "stop": column.stop,
        "regime": column.regime,
    }
    try:
        for option, text in (("source", column.file), ("splits_file", column.splits_file)):
            if text is not None:
                options[option] = locate_file(text, data_dir=data_dir)
        kind = spec.kind_on(column)
        names = ["public"] if kind == "public" else [f"{kind}:{number}" for number in range(most)]
        return [make_split(graph, name, **options) for name in names]
    except InputError as error:
        problem = f"column {column.label!r}: {error.problem}"
        raise InputError(error.code, problem, got=error.got, fix=error.fix) from error


def training_counts(graph: Graph, splits: Sequence[Split]) -> tuple[int, int]:
    """Return the smallest and the largest number of training nodes of a class, over all splits.

    Parameters
    ----------
    graph : Graph
        The graph of a column.
    splits : sequence of Split
        Its splits, at least one.

    Returns
    -------
    (int, int)
        By the graph's labels, whatever a fit sees; a class without any counts as 0.
    """
    n_classes = len(graph.classes)
    counts = [np.bincount(graph.labels[each.train_nodes], minlength=n_classes) for each in splits]
    return int(np.min(counts)), int(np.max(counts))


def _graph_of_tables(tables: Tables, name: str, data_dir: Folder) -> Graph:
    features = tables.features
    return Graph.from_edges(
        locate_file(tables.edges, data_dir=data_dir),
        features=None if features is None else locate_file(features, data_dir=data_dir),
        labels=locate_file(tables.labels, data_dir=data_dir),
        id_column=tables.id,
        label_column=tables.label,
        name=name,
    )

"""The counts of a graph in tables, which are streamed and never held.

Rows are counted exactly; different ids and edges exactly up to some number and about beyond
(:mod:`adagcn.models.estimates.distinct`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.nodes import NodeSource
from adagcn.formats.store_build import EdgeTable, feature_columns, labels_inside, opened_features
from adagcn.formats.table_streams import TableStream, not_out_of_core, open_table
from adagcn.formats.tables import Columns
from adagcn.models.estimates.distinct import Distinct, hashed_column, pairs
from adagcn.models.estimates.file_sizes import FileSizes
from adagcn.models.estimates.graph_sizes import GraphSizes

# What reading tables whole holds at once: bytes of an edge as it is listed in text and in Parquet,
# and of a feature value. Measured on three million edges with 40 features of 300,000 nodes.
_EDGE_OF_TEXT, _EDGE_OF_PARQUET, _VALUE = 75.0, 120.0, 12.0


def sizes_of_tables(edges: EdgeTable, source: NodeSource, rules: EdgeRules) -> FileSizes:
    """Return the sizes of a graph in tables larger than memory.

    Parameters
    ----------
    edges : EdgeTable
        The edges.
    source : NodeSource
        The files of features and labels, and how to read them.
    rules : EdgeRules
        What to do with edges that are not simple.

    Raises
    ------
    InputError
        If the tables can be read whole only.
    """
    listed = _Listed.counted(edges, rules)
    features = None if source.features is None else _Features.counted(source)
    labels = _labels(source)
    n_nodes = listed.nodes.count if features is None else features.n_rows
    width = n_nodes if features is None else features.n_columns
    counted = [listed.pairs, listed.loops, *([listed.nodes] if features is None else [])]
    sizes = GraphSizes(
        n_nodes=n_nodes,
        n_stored=listed.n_stored(rules),
        n_features=width,
        n_values=n_nodes if features is None else None,
        n_classes=labels.values.count,
        n_labeled=min(labels.n_rows, n_nodes),
        node_columns=features is None,
        id_bytes=listed.id_bytes,
    )
    each = _EDGE_OF_TEXT if listed.is_text else _EDGE_OF_PARQUET
    values = 0.0 if features is None else float(n_nodes) * width
    is_exact = all(each.is_exact for each in counted)
    pa.default_memory_pool().release_unused()  # what is held now is told as the start of a fit
    return FileSizes(sizes, each * listed.n_rows + _VALUE * values, is_exact=is_exact)


@dataclass
class _Listed:
    """What is listed in a table of edges."""

    is_text: bool
    n_rows: int = 0
    id_bytes: int = 8
    nodes: Distinct = field(default_factory=Distinct)
    pairs: Distinct = field(default_factory=Distinct)
    loops: Distinct = field(default_factory=Distinct)

    @classmethod
    def counted(cls, edges: EdgeTable, rules: EdgeRules) -> _Listed:
        also = () if edges.weight is None else (edges.weight,)
        wanted = Columns((edges.source, edges.target), also)
        stream = open_table(edges.path, "edges", wanted, edges.text)
        found = cls(stream.table.untyped)
        for batch in stream.batches(stream.names[:2]):
            found._add(batch, ordered=rules.directed != "ignore")
        return found

    def _add(self, batch: pa.RecordBatch, *, ordered: bool) -> None:
        one, other = (_hashes(column, "edges") for column in batch.columns)
        self.n_rows += len(one)
        for ends in (one, other):
            self.nodes.add(ends)
        self.loops.add(one[one == other])
        self.pairs.add(pairs(one, other, ordered=ordered))
        if not all(pa.types.is_integer(column.type) for column in batch.columns):
            self.id_bytes = max(self.id_bytes, *map(_longest, batch.columns))

    def n_stored(self, rules: EdgeRules) -> int:
        """Return the stored values of the adjacency: two for an undirected edge."""
        between = max(self.pairs.count - self.loops.count, 0)
        between *= 2 if rules.directed == "ignore" else 1
        return between + (self.loops.count if rules.self_loops != "drop" else 0)


def _hashes(column: pa.Array, argument: str) -> Any:
    if column.null_count:
        raise not_out_of_core(f"{argument} has rows without an id")
    return hashed_column(column)


def _longest(column: pa.Array) -> int:
    """Return the bytes of the longest id as NumPy holds it; ids that are all digits are numbers."""
    texts = column.cast(pa.string()).unique().to_pylist()
    if all(text.strip().isdecimal() for text in texts):
        return 8
    return 4 * max(map(len, texts))


@dataclass(frozen=True)
class _Features:
    """What a wide table of features holds: a row per node."""

    n_rows: int
    n_columns: int

    @classmethod
    def counted(cls, source: NodeSource) -> _Features:
        if source.rules.one_hot or source.rules.missing != "error":
            raise not_out_of_core("one_hot and missing need the whole feature table")
        stream = opened_features(source)
        names = feature_columns(stream, source)
        width = _width(stream, names)
        if stream.n_rows is not None and len(names) > 2:  # too many for a long table
            return cls(stream.n_rows, width)
        nodes, n_rows = Distinct(), 0
        for batch in stream.batches(stream.names[:1]):
            nodes.add(_hashes(batch.column(0), "features"))
            n_rows += len(batch)
        if nodes.count < 0.95 * n_rows:
            raise not_out_of_core("features lists nodes more than once")
        return cls(n_rows, width)


def _width(stream: TableStream, columns: list[str]) -> int:
    """Return how many numbers a row has; a column may hold vectors."""
    first = next(stream.batches(columns), None)  # says so if there is text among numbers
    if first is None:
        return len(columns)
    return sum(_length(column) for column in first.columns)


def _length(column: pa.Array) -> int:
    is_vector = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    if is_vector or pa.types.is_fixed_size_list(column.type):
        return len(column[0].as_py() or ())
    return 1


@dataclass
class _Labels:
    n_rows: int = 0
    values: Distinct = field(default_factory=Distinct)


def _labels(source: NodeSource) -> _Labels:
    """Return how many nodes have a label, and how many labels there are."""
    path = source.features if labels_inside(source) else source.labels
    found = _Labels()
    if path is None:
        return found
    argument = "features" if labels_inside(source) else "labels"
    wanted = Columns((source.id_column, source.label_column), also=())
    stream = open_table(Path(path), argument, wanted, source.text)
    unknown = np.array([str(each) for each in source.unlabeled or ()])
    for batch in stream.batches(stream.names[1:2]):
        column = batch.column(0)
        if pa.types.is_floating(column.type):  # NaN: unknown
            column = pc.if_else(pc.is_nan(column), None, column)
        values = column.cast(pa.string()).drop_null()
        values = values.filter(pa.array(~np.isin(values.to_numpy(False).astype(str), unknown)))
        known = values.filter(pc.not_equal(values, ""))
        found.n_rows += len(known)
        found.values.add(hashed_column(known))
    return found

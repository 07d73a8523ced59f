"""Builds a store from tables that are never held in memory.

Tables are read some rows at a time. DuckDB holds the ids and the edges in temporary files, numbers
the nodes and sorts the edges; one pass over the sorted edges writes the adjacency. The result is
that of ``Graph.from_edges(…).to_store(…)``: the same arrays, digests and words about what was read,
but for the integer type of indices, which in memory is sometimes wider than it need be.

In memory are: what :class:`Limits` grants DuckDB, some rows of a table, 8 bytes per node (up to 48
if ids are integers with gaps, 320 MB at most of them), and the table of labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adagcn.formats.adjacency import EdgeRules, bad_weights, wrong_weights
from adagcn.formats.array_files import GrowingArray, growing_array, stored_file
from adagcn.formats.assembly import (
    NO_FEATURES,
    aligned_labels,
    tell_of_first_lines,
    tell_of_spaces,
)
from adagcn.formats.build_folder import building
from adagcn.formats.changes import Changes
from adagcn.formats.column_values import numeric_column
from adagcn.formats.columns import are_decimals
from adagcn.formats.edges import tell_of_first_line, tell_of_marked, tell_of_table
from adagcn.formats.feature_tables import FeatureMatrix, check_known_columns, wide_features
from adagcn.formats.id_batches import IdColumnReader, NotIntegers
from adagcn.formats.labels import Encoded
from adagcn.formats.matrices import Places, as_features
from adagcn.formats.node_ids import IdColumn, IdKind, mixed_ids, of_one_kind
from adagcn.formats.nodes import (
    Nodes,
    NodeSource,
    check_columns_used,
    encoded_column,
    no_rows,
    table_ids,
    tell_of_features,
    with_label_table,
)
from adagcn.formats.scratch_database import Limits, ScratchDatabase, scratch_database
from adagcn.formats.sorted_edges import EdgeCounts
from adagcn.formats.store_parts import StoreParts
from adagcn.formats.stored_adjacency import write_adjacency, write_identity
from adagcn.formats.stored_nodes import (
    StoredNodes,
    make_pairs,
    nodes_of_edges,
    nodes_of_features,
    unknown_ends,
)
from adagcn.formats.table_streams import TableStream, not_out_of_core, open_table
from adagcn.formats.tables import Columns, Table, read_table
from adagcn.formats.text_files import TextRules

_SQL_TYPES = {"integers": "BIGINT", "strings": "VARCHAR"}


@dataclass(frozen=True)
class EdgeTable:
    """A file of edges; :meth:`adagcn.Graph.from_edges` explains each field.

    Parameters
    ----------
    path : Path
        A text file, a Parquet file or a folder of them.
    source, target, weight : str or None
        Columns: the ends, by default the first two, and the weight, by default 1.
    text : TextRules
        What the user says of a text file.
    """

    path: Path
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    text: TextRules = field(default_factory=TextRules)

    @property
    def has_default_ends(self) -> bool:
        """Whether the first two columns are the ends."""
        return self.source is None and self.target is None


def build_store(
    folder: Path,
    edges: EdgeTable,
    source: NodeSource,
    rules: EdgeRules | None = None,
    limits: Limits | None = None,
) -> Changes:
    """Build a store from files of edges, features and labels without holding them in memory.

    Parameters
    ----------
    folder : Path
        A folder that is empty or new.
    edges : EdgeTable
        The edges.
    source : NodeSource
        The files of features and labels, and how to read them.
    rules : EdgeRules, optional
        What to do with edges that are not simple.
    limits : Limits, optional
        Memory and threads of DuckDB.

    Returns
    -------
    Changes
        What was read, changed and left out, as in ``store.json``.

    Raises
    ------
    InputError
        If the tables can be read in memory only; nothing is left in the folder.
    InputError, FormatError, ResourceError
        As from ``Graph.from_edges``; if memory or disk do not suffice; if DuckDB is not installed.
    """
    rules, limits = rules or EdgeRules(), limits or Limits()
    tables = _opened(edges, source)
    with building(folder) as scratch:
        for kind, is_certain in _kinds(tables):
            home = scratch / kind
            home.mkdir()
            try:
                with scratch_database(home, limits) as base:
                    build = _Build(folder, base, tables, kind, is_certain)
                    return build.run(rules)
            except NotIntegers:
                continue
    raise AssertionError("strings always can be read")


@dataclass(frozen=True)
class _Tables:
    """The user's tables, opened; labels are read."""

    edge_table: EdgeTable
    edges: TableStream
    source: NodeSource
    features: TableStream | None
    labels: Encoded | None
    label_ids: IdColumn | None
    label_line: dict[str, tuple[str, ...]]
    label_changes: Changes

    @property
    def id_columns(self) -> Iterator[tuple[TableStream, str]]:
        """Every column of ids that is read some rows at a time."""
        yield from ((self.edges, name) for name in self.edges.names[:2])
        if self.features is not None:
            yield self.features, self.features.names[0]


def _opened(edges: EdgeTable, source: NodeSource) -> _Tables:
    check_columns_used(source)
    for name, is_given in {
        "one_hot": bool(source.rules.one_hot),
        f"missing={source.rules.missing!r}": source.rules.missing != "error",
        "node_ids": source.node_ids is not None,
    }.items():
        if is_given:
            raise not_out_of_core(f"{name} needs the whole feature table")
    also = () if edges.weight is None else (edges.weight,)
    stream = open_table(
        edges.path, "edges", Columns((edges.source, edges.target), also), edges.text
    )
    if edges.weight is not None:
        _check_numbers(stream, [edges.weight])
    features = None if source.features is None else opened_features(source)
    changes = Changes()
    nodes = _labels(source, changes)
    return _Tables(
        edges,
        stream,
        source,
        features,
        nodes.labels,
        nodes.id_columns.get("labels"),
        nodes.first_lines,
        changes,
    )


def opened_features(source: NodeSource) -> TableStream:
    """Open a wide table of features; refuse what must be read whole.

    Raises
    ------
    InputError
        If it is a long table, or of another kind that is read in memory only.
    """
    inside = labels_inside(source)
    text = [source.id_column, source.label_column] if inside else [source.id_column]
    stream = open_table(Path(source.features), "features", Columns(text), source.text)
    described = Table(dict.fromkeys(stream.types), "features")
    check_known_columns(described, source.rules)
    _check_numbers(stream, feature_columns(stream, source))
    others = feature_columns(stream, source)
    called = len(others) == 2 and "feature" in others[0].lower() and "value" in others[1].lower()
    if called and not inside:
        raise not_out_of_core("features is a long table: node, feature, value", got=others)
    return stream


def labels_inside(source: NodeSource) -> bool:
    """Return whether the feature table holds the labels."""
    return source.labels is None and source.label_column is not None


def feature_columns(stream: TableStream, source: NodeSource) -> list[str]:
    """Return the columns of a table that are features."""
    left_out = {*stream.names, *source.rules.drop}
    return [name for name in stream.types if name not in left_out]


def _check_numbers(stream: TableStream, names: Sequence[str]) -> None:
    for name in names:
        kind = stream.types[name]
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            kind = kind.value_type
        elif pa.types.is_fixed_size_list(kind):
            kind = kind.value_type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not (is_number or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)):
            argument = stream.table.argument
            raise not_out_of_core(f"column {name!r} of {argument} is of the type {kind}")


def _labels(source: NodeSource, changes: Changes) -> Nodes:
    """Read the labels, which are few beside the edges, in memory."""
    if source.labels is not None:
        return with_label_table(Nodes(), source, changes)
    if not labels_inside(source):
        return Nodes()
    wanted = Columns([source.id_column, source.label_column], also=())
    table, names = read_table(source.features, "features", wanted, source.text)
    encoded = encoded_column(table, names[1], source, changes)
    return Nodes(labels=encoded, id_columns={"labels": table_ids(table, names[0])})


def _kinds(tables: _Tables) -> list[tuple[IdKind, bool]]:
    """Return what the ids may be, in the order to try, and whether a table says so."""
    typed: dict[IdKind, str] = {}
    for stream, name in tables.id_columns:
        kind = stream.id_kind(name)
        if kind is not None:
            typed.setdefault(kind, f"column {name!r} of {stream.table.argument}")
    ids = tables.label_ids
    if ids is not None and ids.distinct.size and not ids.untyped:
        typed.setdefault("strings" if ids.distinct.dtype.kind == "U" else "integers", ids.argument)
    if len(typed) > 1:
        raise mixed_ids(typed["integers"], typed["strings"], ["integers", "strings"])
    if typed:
        return [(kind, True) for kind in typed]
    if ids is None or not ids.distinct.size or are_decimals(ids.distinct).all():
        return [("integers", False), ("strings", False)]
    return [("strings", False)]


@dataclass(frozen=True)
class _FeatureFacts:
    """What was read of the features."""

    shape: tuple[int, int]
    names: list[str] | None
    is_range: bool
    changes: Changes


@dataclass(frozen=True)
class _Build:
    """The building of one store, with ids of one kind."""

    folder: Path
    base: ScratchDatabase
    tables: _Tables
    kind: IdKind
    is_certain: bool

    def run(self, rules: EdgeRules) -> Changes:
        """Write everything, the manifest last."""
        changes, counts = Changes(), EdgeCounts()
        self.base.run("CREATE TABLE spaced (place VARCHAR, id VARCHAR, trimmed VARCHAR)")
        features = None if self.tables.features is None else self._features(self.tables.features)
        readers = self._ends(rules, counts)
        self._tell_of_edges(readers, changes)
        nodes = self._nodes(features, rules)
        files = write_adjacency(self.folder, nodes, rules, counts)
        if counts.listed < 2 * self.base.row("SELECT count(*) FROM ends")[0]:
            arguments = (readers[0].argument, readers[1].argument)
            raise unknown_ends(nodes, arguments, shared=self.tables.edges.table.untyped)
        nodes, id_file = nodes.write(self.folder)
        if features is not None:
            changes.extend(features.changes)
        changes.extend(self.tables.label_changes)
        counts.tell(rules, changes)
        self._tell_of_odd_ids(nodes, changes)
        if features is None:
            changes.note(NO_FEATURES)
            files |= write_identity(self.folder, nodes.n_nodes)
        else:
            files["features"] = stored_file(self.folder / "features.npy")
        labels = aligned_labels(self.tables.labels, self._label_ids(nodes), nodes, changes)
        names = None if features is None else features.names
        store = StoreParts(self.folder, nodes.n_nodes, None if features is None else features.shape)
        store.finish({**files, "node_ids": id_file}, counts, (labels, names), changes)
        return changes

    # Features

    def _features(self, stream: TableStream) -> _FeatureFacts:
        """Write the features and list their ids, in one pass over the table."""
        reader = self._reader(stream, stream.names[0])
        columns = feature_columns(stream, self.tables.source)
        changes = Changes()
        self.base.run(f"CREATE TABLE nodes (id {_SQL_TYPES[self.kind]}, position BIGINT)")
        batches = stream.batches([reader.name, *columns])
        is_range = self.kind == "integers"
        self.base.run("BEGIN")
        first = next(batches, None)
        if first is None:
            raise no_rows([*stream.types])
        block = self._feature_block(stream, first, 0, changes)
        with growing_array(
            self.folder / "features.npy", np.float32, block.values.shape[1:]
        ) as array:
            is_range &= self._list_nodes(reader, first, array, block)
            for batch in batches:
                block = self._feature_block(stream, batch, reader.n_rows, Changes())
                is_range &= self._list_nodes(reader, batch, array, block)
        reader.check()
        self.base.run("COMMIT")
        shape = (reader.n_rows, block.values.shape[1])
        tell_of_features(stream.table, reader.name, shape, changes)
        return _FeatureFacts(shape, block.names, is_range, changes)

    def _feature_block(
        self, stream: TableStream, batch: pa.RecordBatch, start: int, changes: Changes
    ) -> FeatureMatrix:
        """Return some rows of features as numbers, checked."""
        described = stream.table
        columns = {name: pa.chunked_array([batch.column(name)]) for name in batch.schema.names}
        ids = batch.column(0).to_numpy(zero_copy_only=False)
        numbered = IdColumn(ids, np.arange(len(ids)), "features")
        table = replace(described, columns=columns)
        skip, rules = {batch.schema.names[0]}, self.tables.source.rules
        found = wide_features(table, numbered, skip, rules, changes)
        values = as_features(
            found.values,
            f"features, rows {start:,} to {start + len(ids) - 1:,},",
            places=Places(ids, found.names),
        )
        return replace(found, values=values)

    def _list_nodes(
        self,
        reader: IdColumnReader,
        batch: pa.RecordBatch,
        array: GrowingArray,
        block: FeatureMatrix,
    ) -> bool:
        """Write some rows of features and list their nodes; return whether ids count the rows."""
        start = reader.n_rows
        ids = reader.read(batch.column(0))
        positions = np.arange(start, start + len(ids))
        self.base.insert("nodes", pa.table({"id": ids, "position": positions}))
        self._keep_spaced("features", reader)
        array.append(block.values)
        return self.kind == "integers" and bool(np.array_equal(ids.to_numpy(False), positions))

    # Edges

    def _ends(self, rules: EdgeRules, counts: EdgeCounts) -> tuple[IdColumnReader, IdColumnReader]:
        """Put the edges into the table ``ends``, by the ids of their ends."""
        stream, weight = self.tables.edges, self.tables.edge_table.weight
        sources, targets = (self._reader(stream, name) for name in stream.names[:2])
        kind = _SQL_TYPES[self.kind]
        more = "" if weight is None else ", w DOUBLE"
        more += ", n BIGINT" if self._order_matters(rules) else ""
        self.base.run(f"CREATE TABLE ends (s {kind}, t {kind}{more})")
        weights = _Weights(counts)
        self.base.run("BEGIN")
        for batch in stream.batches([*stream.names[:2], *([] if weight is None else [weight])]):
            start = sources.n_rows
            rows = {"s": sources.read(batch.column(0)), "t": targets.read(batch.column(1))}
            if weight is not None:
                rows["w"] = weights.checked(stream, weight, batch, start)
            if self._order_matters(rules):
                rows["n"] = np.arange(start, start + len(batch))
            self.base.insert("ends", pa.table(rows))
            for reader in (sources, targets):
                self._keep_spaced("edges", reader)
        self.base.run("COMMIT")
        for reader in (sources, targets):
            reader.check()
        weights.check()
        return sources, targets

    def _order_matters(self, rules: EdgeRules) -> bool:
        """Return whether weights are added up: sums of floats depend on their order."""
        return self.tables.edge_table.weight is not None and rules.duplicates == "sum"

    def _reader(self, stream: TableStream, name: str) -> IdColumnReader:
        return IdColumnReader(stream, name, self.kind, self.is_certain)

    def _keep_spaced(self, place: str, reader: IdColumnReader) -> None:
        for rows in reader.taken_spaced():
            where = pa.array([place] * len(rows))
            self.base.insert("spaced", rows.add_column(0, "place", [where]))

    def _tell_of_edges(
        self, readers: tuple[IdColumnReader, IdColumnReader], changes: Changes
    ) -> None:
        """Say what was read of the edges; a first line whose names are nodes is an edge."""
        table, names = self.tables.edges.table, self.tables.edges.names[:2]
        line = table.names_line if self.tables.edge_table.has_default_ends else ()
        known = [self._is_end(name) for name in line[:2]]
        alone = len(line) == 2 and self.tables.edge_table.weight is None and not table.unread
        is_edge = alone and all(known)
        if is_edge:
            ends = [self._as_id(name) for name in line]
            self.base.insert("ends", pa.table({"s": [ends[0]], "t": [ends[1]]}))
        spaced = "SELECT count(DISTINCT id) FROM spaced WHERE place = 'edges'"
        n_spaced = self.base.row(spaced)[0] if table.untyped else 0
        counts = (readers[0].n_rows + is_edge, n_spaced)
        tell_of_table(table, counts, [] if is_edge else names, changes)
        if known:
            tell_of_first_line(table, known, is_edge, changes)
        if table.untyped and self.kind == "strings":
            self._tell_of_comments(changes)

    def _as_id(self, name: str) -> Any:
        return int(name) if self.kind == "integers" else name

    def _is_end(self, name: str) -> bool:
        """Return whether a column name occurs among the ends of the edges."""
        if self.kind == "integers" and not are_decimals(np.array([name]))[0]:
            return False
        query = "SELECT count(*) FROM (SELECT 1 FROM ends, given WHERE s = id OR t = id LIMIT 1)"
        return bool(self.base.row(query, pa.table({"id": [self._as_id(name)]}))[0])

    def _tell_of_comments(self, changes: Changes) -> None:
        ends = "(SELECT s AS id FROM ends UNION ALL SELECT t FROM ends)"
        marked = f"SELECT count(DISTINCT id), min(id) FROM {ends} WHERE starts_with(id, '#')"
        n_marked, first = self.base.row(marked)
        if n_marked:
            n_names = self.base.row(f"SELECT count(DISTINCT id) FROM {ends}")[0]
            tell_of_marked(n_marked, first, n_names, changes)

    # Nodes

    def _nodes(self, features: _FeatureFacts | None, rules: EdgeRules) -> StoredNodes:
        """Return the nodes in their order, and make the pairs of their positions."""
        if features is None:
            nodes = nodes_of_edges(self.base, self.kind)
        else:
            nodes = nodes_of_features(
                self.base,
                self.kind,
                features.shape[0],
                is_range=features.is_range,
                may_be_long=features.shape[1] <= 2 and not labels_inside(self.tables.source),
            )
        more = ", w" if self.tables.edge_table.weight is not None else ""
        more += ", n" if self._order_matters(rules) else ""
        make_pairs(nodes, more)
        return nodes

    def _tell_of_odd_ids(self, nodes: StoredNodes, changes: Changes) -> None:
        alike = []
        if self.kind == "strings":
            query = (
                "SELECT spaced.id FROM spaced JOIN nodes a ON a.id = spaced.id "
                "JOIN nodes b ON b.id = trimmed ORDER BY a.position LIMIT 1"
            )
            alike = [row[0] for row in self.base.rows(query)]
        tell_of_spaces([*alike, *(name.strip() for name in alike)], changes)
        lines = dict(self.tables.label_line)
        stream = self.tables.features
        if stream is not None and stream.table.names_line:
            lines = {"features": stream.table.names_line, **lines}
        tell_of_first_lines(nodes, lines, changes)

    def _label_ids(self, nodes: StoredNodes) -> IdColumn | None:
        """Return the ids of the labels in the kind of the nodes."""
        if self.tables.label_ids is None:
            return None
        typed = IdColumn(nodes.node_ids[:1], np.zeros(1, dtype=np.intp), "the graph")
        return of_one_kind([typed, self.tables.label_ids])[1]


@dataclass
class _Weights:
    """Checks weights some rows at a time; what is wrong is said of all of them."""

    counts: EdgeCounts
    n_bad: int = 0
    first_row: int = 0
    first: float = 0.0

    def checked(
        self, stream: TableStream, name: str, batch: pa.RecordBatch, start: int
    ) -> NDArray[np.float64]:
        """Return the weights of some edges; those that count as zero are zero."""
        columns = {name: pa.chunked_array([batch.column(name)])}
        values = numeric_column(replace(stream.table, columns=columns), name).astype(np.float64)
        bad = bad_weights(values)
        if bad.any() and not self.n_bad:
            place = int(np.flatnonzero(bad)[0])
            self.first_row, self.first = start + place, float(values[place])
        self.n_bad += int(np.count_nonzero(bad))
        with np.errstate(all="ignore"):
            used = values.astype(np.float32) > 0
        self.counts.zeros += len(values) - int(np.count_nonzero(used))
        values[~used] = 0.0
        return values

    def check(self) -> None:
        """Refuse weights that cannot be used."""
        if self.n_bad:
            raise wrong_weights(self.n_bad, f"in row {self.first_row}", self.first)

"""The graph that a command works on: a named data set, an ``.npz`` file, or a user's tables."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.options import DataDir, Offline
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.data import Split
    from adagcn.graph import Graph

_TABLES = "Your own tables (CSV or Parquet) instead of DATA"


def _table_option(name: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(name, help=text, metavar=metavar, rich_help_panel=_TABLES)


@dataclass(frozen=True)
class TableOptions:
    """A user's tables and how to read them."""

    features: Annotated[
        Path | None,
        _table_option("--features", "One node per row: its id, then numbers.", "FILE"),
    ] = None
    labels: Annotated[
        Path | None,
        _table_option("--labels", "One labeled node per row: its id and label.", "FILE"),
    ] = None
    source: Annotated[
        str | None,
        _table_option("--source", "Column of the first node; default: the 1st.", "COLUMN"),
    ] = None
    target: Annotated[
        str | None,
        _table_option("--target", "Column of the second node; default: the 2nd.", "COLUMN"),
    ] = None
    weight: Annotated[
        str | None, _table_option("--weight", "Column of the weight; default: all 1.", "COLUMN")
    ] = None
    id_column: Annotated[
        str | None,
        _table_option("--id", "Id column of features and labels; default: the 1st.", "COLUMN"),
    ] = None
    label_column: Annotated[
        str | None,
        _table_option(
            "--label", "Label column, in --labels (default: the 2nd) or --features.", "COLUMN"
        ),
    ] = None
    directed: Annotated[
        Literal["ignore", "keep", "reverse", "error"],
        _table_option("--directed", "How to treat the direction of edges."),
    ] = "ignore"
    self_loops: Annotated[
        Literal["keep", "drop", "error"],
        _table_option("--self-loops", "How to treat edges from a node to itself."),
    ] = "keep"
    duplicates: Annotated[
        Literal["max", "sum", "error"],
        _table_option("--duplicates", "How to weight an edge that is listed more than once."),
    ] = "max"
    no_header: Annotated[
        bool, _table_option("--no-header", "The edge file has no line of column names.")
    ] = False

    def graph_of(self, edges: Path) -> Graph:
        """Return the graph of an edge table and the other tables."""
        from adagcn.graph import Graph

        return Graph.from_edges(
            edges,
            source=self.source,
            target=self.target,
            weight=self.weight,
            features=self.features,
            labels=self.labels,
            id_column=self.id_column,
            label_column=self.label_column,
            directed=self.directed,
            self_loops=self.self_loops,
            duplicates=self.duplicates,
            header=False if self.no_header else None,
        )

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        return {
            f"--{field.name.removesuffix('_column').replace('_', '-')}": getattr(self, field.name)
            for field in fields(TableOptions)
            if getattr(self, field.name) != field.default
        }


@dataclass(frozen=True)
class GraphOptions(TableOptions):
    """The options that select a graph; exactly one of ``data`` and ``edges`` is given."""

    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Name of a data set (see: adagcn data list) or an .npz file.",
            show_default=False,
        ),
    ] = None
    edges: Annotated[
        Path | None, _table_option("--edges", "One edge per row: two node ids.", "FILE")
    ] = None
    data_dir: DataDir = None
    offline: Offline = False

    @property
    def is_named(self) -> bool:
        """Whether ``data`` is the name of a data set and not a file."""
        from adagcn.data import CATALOG

        return self.data in CATALOG

    def read_labeled(self) -> Graph:
        """Return the graph, which must have labels."""
        graph = self.read()
        if len(graph.labeled_nodes) == 0:
            raise InputError(
                "AGC-I809",
                "the graph has no labels",
                got=repr(graph),
                fix="give --labels, or --label if the feature table has them",
            )
        return graph

    def read(self) -> Graph:
        """Return the graph.

        Raises
        ------
        InputError
            Both or neither of DATA and ``--edges`` are given, or they cannot be used.
        """
        from adagcn.data import load_graph

        self._check()
        if self.edges is not None:
            return self.graph_of(self.edges)
        return load_graph(str(self.data), data_dir=self.data_dir, offline=self.offline or None)

    def _check(self) -> None:
        """Refuse options that contradict each other or have no effect."""
        if self.data is None and self.edges is None:
            raise InputError(
                "AGC-I810",
                "no graph is given",
                fix="give a data set such as cora, an .npz file, or --edges",
            )
        tables = [*(["--edges"] if self.edges is not None else []), *self.given()]
        if self.data is not None and tables:
            raise InputError(
                "AGC-I811",
                f"{', '.join(tables)} cannot be combined with DATA",
                got=self.data,
                fix="give either DATA or --edges with the other tables",
            )
        if self.data_dir is not None and (self.data is None or self.data.endswith(".npz")):
            raise InputError(
                "AGC-I819",
                "--data-dir is only for data sets that have a name",
                got=str(self.data_dir),
                fix="leave it out",
            )

    def default_split(self) -> str:
        """Return the split to use by default."""
        return "val:0" if self.is_named else "stratified:0"

    def split(self, graph: Graph, name: str) -> Split:
        """Return the split of ``graph`` that has this name."""
        from adagcn.data import make_split

        source = None if self.data is None or self.is_named else self.data
        try:
            return make_split(graph, name, source=source)
        except InputError as error:
            more = "use --split none for every label"
            fix = more if error.fix is None else f"{error.fix}, or {more}"
            raise InputError(error.code, error.problem, got=error.got, fix=fix) from error

    def words(self) -> str:
        """Return the words that select this graph without its labels, for a user to copy."""
        if self.data is not None:
            return shlex.quote(self.data)
        given = {"--edges": self.edges, **self.given()}
        given.pop("--labels", None)
        if self.labels is not None:
            given.pop("--label", None)
        flags = [[name] if value is True else [name, str(value)] for name, value in given.items()]
        return shlex.join(word for flag in flags for word in flag)


def graph_facts(graph: Graph) -> dict[str, Any]:
    """Return the facts of a graph, ready for JSON."""
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "classes": graph.n_classes,
        "labeled": len(graph.labeled_nodes),
        "directed": graph.is_directed,
        "digest": graph.digest,
        "changes": list(graph.changes),
    }


def graph_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a graph's file and facts as names and values to show."""
    sizes = facts.get("class_sizes", {})
    return [
        ("file", str(facts["path"])),
        *((name, f"{facts[name]:,}") for name in ("nodes", "edges", "features", "labeled")),
        ("directed", "yes" if facts["directed"] else "no"),
        (
            "classes",
            ", ".join(f"{label}: {n:,}" for label, n in sizes.items()) or f"{facts['classes']:,}",
        ),
        ("digest", facts["digest"]),
    ]

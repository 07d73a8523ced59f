"""The graph that a command works on: a named data set, an ``.npz`` file, or a user's tables."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.option_words import in_options
from adagcn.cli.options import DataDir, Offline
from adagcn.cli.output import screen
from adagcn.engines.memory import bytes_of
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.formats.adjacency import EdgeRules
    from adagcn.formats.nodes import NodeSource
    from adagcn.formats.store_build import EdgeTable
    from adagcn.graph import Graph

_TABLES = "Your own tables instead of DATA (text, JSON, Parquet; see docs/your-tables.md)"
_READING = "How to read your tables"
_WATCHED_BYTES = 20 * 2**20  # a file above this takes long enough to watch


def _table_option(name: str, text: str, metavar: str | None = None, panel: str = _TABLES) -> Any:
    return typer.Option(name, help=text, metavar=metavar, rich_help_panel=panel)


def _reading_option(name: str, text: str, metavar: str | None = None) -> Any:
    return _table_option(name, text, metavar, _READING)


MaxSize = Annotated[
    str | None,
    typer.Option(
        "--max-size",
        metavar="SIZE",
        help="What an .npz file may unpack to, such as 8GB.",
        show_default="2GB, or 20 times the file",
    ),
]


@dataclass(frozen=True)
class GraphFiles:
    """The graph itself: a name or a file, or a table of edges."""

    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Name of a data set (see: adagcn data list) or an .npz file.",
            show_default=False,
        ),
    ] = None
    edges: Annotated[
        Path | None,
        _table_option("--edges", "Two node ids a row, or JSON: nodes and links.", "FILE"),
    ] = None


@dataclass(frozen=True)
class TableOptions:
    """A user's tables and how to read them."""

    features: Annotated[
        Path | None,
        _table_option(
            "--features", "A row per node (id, numbers), or rows of node, feature, value.", "FILE"
        ),
    ] = None
    labels: Annotated[
        Path | None,
        _table_option("--labels", "A row per labeled node: its id and label.", "FILE"),
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
    source: Annotated[
        str | None,
        _reading_option("--source", "Edge column of the first node; default: the 1st.", "COLUMN"),
    ] = None
    target: Annotated[
        str | None,
        _reading_option("--target", "Edge column of the second node; default: the 2nd.", "COLUMN"),
    ] = None
    weight: Annotated[
        str | None,
        _reading_option("--weight", "Edge column of the weight; default: all 1.", "COLUMN"),
    ] = None
    directed: Annotated[
        Literal["ignore", "keep", "reverse", "error"],
        _reading_option("--directed", "How to treat the direction of edges."),
    ] = "ignore"
    self_loops: Annotated[
        Literal["keep", "drop", "error"],
        _reading_option("--self-loops", "How to treat edges from a node to itself."),
    ] = "keep"
    duplicates: Annotated[
        Literal["max", "sum", "error"],
        _reading_option("--duplicates", "How to weight an edge that is listed more than once."),
    ] = "max"
    one_hot: Annotated[
        list[str] | None,
        _reading_option(
            "--one-hot", "Text column to turn into one column per value; may repeat.", "COLUMN|all"
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        _reading_option("--drop", "Feature column to leave out; may repeat.", "COLUMN"),
    ] = None
    missing: Annotated[
        Literal["error", "mean", "neighbors"],
        _reading_option("--missing", "Refuse missing features, or fill them in."),
    ] = "error"
    unlabeled: Annotated[
        list[str] | None,
        _reading_option(
            "--unlabeled", "Label that means unknown, such as -1; may repeat.", "VALUE"
        ),
    ] = None
    separator: Annotated[
        str | None,
        _reading_option(
            "--separator", "What separates fields; default: as the file shows.", "TEXT"
        ),
    ] = None
    no_header: Annotated[
        bool, _reading_option("--no-header", "The edge file has no line of column names.")
    ] = False

    def graph_of(self, edges: Path) -> Graph:
        """Return the graph of an edge table and the other tables."""
        from adagcn.graph import Graph

        one_hot: Any = self.one_hot
        with reading_bar(edges) as progress:
            return Graph.from_edges(
                edges,
                source=self.source,
                target=self.target,
                weight=self.weight,
                features=self.features,
                labels=self.labels,
                id_column=self.id_column,
                label_column=self.label_column,
                unlabeled=self.unlabeled,
                one_hot="all" if one_hot == ["all"] else one_hot,
                drop=self.drop or (),
                missing=self.missing,
                directed=self.directed,
                self_loops=self.self_loops,
                duplicates=self.duplicates,
                separator=spelled_out(self.separator),
                header=False if self.no_header else None,
                progress=progress,
            )

    def files(
        self, edges: Path, progress: Callable[[int, int], None] | None
    ) -> tuple[EdgeTable, NodeSource, EdgeRules]:
        """Return the tables and how to read them, for what reads them some rows at a time."""
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.feature_tables import FeatureRules
        from adagcn.formats.nodes import NodeSource
        from adagcn.formats.store_build import EdgeTable
        from adagcn.formats.text_files import TextRules

        text = TextRules(spelled_out(self.separator))
        header = False if self.no_header else None
        of_edges = replace(text, header=header, progress=progress)
        source = NodeSource(
            self.features,
            self.labels,
            None,
            self.id_column,
            self.label_column,
            rules=FeatureRules(self.one_hot, self.drop or (), self.missing),
            unlabeled=self.unlabeled,
            text=text,
        )
        return (
            EdgeTable(edges, self.source, self.target, self.weight, of_edges),
            source,
            EdgeRules(self.directed, self.self_loops, self.duplicates),
        )

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        return {
            f"--{field.name.removesuffix('_column').replace('_', '-')}": getattr(self, field.name)
            for field in fields(TableOptions)
            if getattr(self, field.name) != field.default
        }


@dataclass(frozen=True)
class GraphOptions(TableOptions, GraphFiles):
    """The options that select a graph; exactly one of ``data`` and ``edges`` is given."""

    max_size: MaxSize = None
    no_features: Annotated[
        bool,
        typer.Option("--no-features", help="Leave the features of DATA out; use its edges alone."),
    ] = False
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

        self.check()
        if self.edges is not None:
            return self.graph_of(self.edges)
        graph = load_graph(
            str(self.data),
            data_dir=self.data_dir,
            offline=self.offline or None,
            max_bytes=bytes_of(self.max_size),
        )
        return graph.without_features() if self.no_features else graph

    def check(self) -> None:
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
        for name, given in (("--no-features", self.no_features), ("--max-size", self.max_size)):
            if given and self.data is None:
                problem, fix = f"{name} is only for DATA", "leave it out"
                raise InputError("AGC-I822", problem, got=str(self.edges), fix=fix)
        if self.data_dir is not None and (self.data is None or self.data.endswith(".npz")):
            raise InputError(
                "AGC-I819",
                "--data-dir is only for data sets that have a name",
                got=str(self.data_dir),
                fix="leave it out",
            )

    def words(self) -> str:
        """Return the words that select this graph without its labels, for a user to copy."""
        if self.data is not None:
            return shlex.quote(self.data)
        given = {"--edges": self.edges, **self.given()}
        given.pop("--labels", None)
        given.pop("--unlabeled", None)
        if self.labels is not None:
            given.pop("--label", None)
        return shlex.join(word for flag in given.items() for word in _flag_words(*flag))


def _flag_words(name: str, value: Any) -> list[str]:
    if value is True:
        return [name]
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (name, str(each))]


def spelled_out(separator: str | None) -> str | None:
    r"""Return a separator as it stands in the file: a shell has no key for a tab.

    >>> spelled_out(r"\t")
    '\t'
    """
    words = {r"\t": "\t", "tab": "\t", "space": " ", "spaces": " ", "comma": ","}
    return None if separator is None else words.get(separator, separator)


def n_bytes(*paths: Path | None) -> int:
    """Return the bytes of files, and of the files in folders."""
    files = [
        file
        for path in paths
        if path is not None
        for file in (path.iterdir() if path.is_dir() else [path])
    ]
    return sum(file.stat().st_size for file in files if file.is_file())


@contextmanager
def reading_bar(edges: Path) -> Iterator[Callable[[int, int], None] | None]:
    """Show how much of a large file has been read, if somebody is watching."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = screen(stderr=True)
    large = edges.is_file() and edges.stat().st_size > _WATCHED_BYTES
    if not large or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=edges.stat().st_size)
        yield lambda done, total: progress.update(task, completed=done, total=total)


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


def reading_rows(graph: Graph) -> list[tuple[str, str]]:
    """Return what was read, changed and left out as names and values to show."""
    phrases = [in_options(phrase) for phrase in graph.changes]
    return [("" if number else "read", phrase) for number, phrase in enumerate(phrases)]


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

"""``adagcn store update``: what is new, and how its tables are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.graph_options import spelled_out

if TYPE_CHECKING:
    from adagcn.formats.store_update import StoreChange

_TABLES = "What is new (text, JSON, Parquet; see docs/your-tables.md)"
_READING = "How to read it"


def _table(name: str, text: str, metavar: str = "FILE") -> Any:
    return typer.Option(name, help=text, metavar=metavar, rich_help_panel=_TABLES)


def _reading(name: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(name, help=text, metavar=metavar, rich_help_panel=_READING)


@dataclass(frozen=True)
class UpdateOptions:
    """Tables of an update and how to read them."""

    edges: Annotated[Path | None, _table("--edges", "New edges: two node ids a row.")] = None
    remove_edges: Annotated[
        Path | None, _table("--remove-edges", "Edges that are gone: two node ids a row.")
    ] = None
    features: Annotated[
        Path | None, _table("--features", "A row per new node, and per node that changes.")
    ] = None
    labels: Annotated[
        Path | None, _table("--labels", "New and changed labels: an id and a label a row.")
    ] = None
    id_column: Annotated[
        str | None,
        _table("--id", "Id column of features and labels; default: the 1st.", "COLUMN"),
    ] = None
    label_column: Annotated[
        str | None,
        _table("--label", "Label column, in --labels (default: the 2nd) or --features.", "COLUMN"),
    ] = None
    source: Annotated[
        str | None, _reading("--source", "Column of the first node; default: the 1st.", "COLUMN")
    ] = None
    target: Annotated[
        str | None, _reading("--target", "Column of the second node; default: the 2nd.", "COLUMN")
    ] = None
    weight: Annotated[
        str | None, _reading("--weight", "Column of the weight of --edges; default: 1.", "COLUMN")
    ] = None
    drop: Annotated[
        list[str] | None,
        _reading("--drop", "Feature column to leave out; may repeat.", "COLUMN"),
    ] = None
    unlabeled: Annotated[
        list[str] | None,
        _reading("--unlabeled", "Label that means unknown, such as -1; may repeat.", "VALUE"),
    ] = None
    directed: Annotated[
        Literal["ignore", "keep", "reverse", "error"],
        _reading("--directed", "How to treat the direction of edges, as in the build."),
    ] = "ignore"
    self_loops: Annotated[
        Literal["keep", "drop", "error"],
        _reading("--self-loops", "How to treat edges from a node to itself."),
    ] = "keep"
    duplicates: Annotated[
        Literal["max", "sum", "error"],
        _reading("--duplicates", "How to weight an edge that is listed more than once."),
    ] = "max"
    separator: Annotated[
        str | None,
        _reading("--separator", "What separates fields; default: as the file shows.", "TEXT"),
    ] = None
    no_header: Annotated[
        bool, _reading("--no-header", "Files of edges have no line of column names.")
    ] = False

    def apply(self, folder: Path) -> StoreChange:
        """Update a store; return what has changed."""
        from adagcn.data.stores import GraphStore

        return GraphStore(folder).update(
            edges=self.edges,
            features=self.features,
            labels=self.labels,
            remove_edges=self.remove_edges,
            source=self.source,
            target=self.target,
            weight=self.weight,
            id_column=self.id_column,
            label_column=self.label_column,
            unlabeled=self.unlabeled,
            drop=self.drop or (),
            directed=self.directed,
            self_loops=self.self_loops,
            duplicates=self.duplicates,
            separator=spelled_out(self.separator),
            header=False if self.no_header else None,
        )

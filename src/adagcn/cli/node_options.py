"""The nodes that a command is asked about, as ids of the graph."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adagcn.formats.node_ids import IdColumn
    from adagcn.graph import Graph


def ids_in_file(nodes: str, id_column: str | None, graph: Graph) -> NDArray[Any]:
    """Return the ids in a table, or on standard input if that is ``-``."""
    from adagcn.formats.node_ids import as_id_column
    from adagcn.formats.tables import Columns, read_table

    if nodes == "-":
        lines = [line for line in sys.stdin.read().splitlines() if line]
        return _ids(as_id_column(lines, "--nodes", untyped=True), "--nodes", graph)
    table, names = read_table(Path(nodes), "--nodes", Columns([id_column], also=()))
    asked = as_id_column(table.columns[names[0]], "--nodes", untyped=table.untyped)
    return _ids(asked, "--nodes", graph)


def ids_as_typed(words: Sequence[str], option: str, graph: Graph) -> NDArray[Any]:
    """Return ids that were typed at an option."""
    from adagcn.formats.node_ids import as_id_column

    return _ids(as_id_column(list(words), option, untyped=True), option, graph)


def _ids(asked: IdColumn, option: str, graph: Graph) -> NDArray[Any]:
    """Return ids of the same kind as the graph's; ``InputError`` if it does not have one."""
    from adagcn.formats.node_ids import as_id_column, of_one_kind

    known = as_id_column(graph.node_ids, "the graph")
    ids = of_one_kind([asked, known])[0].ids
    graph.positions(ids, option)  # here, where the option has a name
    return ids

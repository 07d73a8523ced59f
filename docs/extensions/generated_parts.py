"""Parts of pages that are made from the code when the site is built, so that they are never old.

A page has a comment such as ``<!-- generated: page_of_errors -->`` where the part will stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import preset_tables
import python_names
from command_help import page_of_commands
from error_codes import page_of_errors

PARTS: Mapping[str, Callable[[], str]] = {
    **{f"names_of_{each}": partial(python_names.names_of, each) for each in python_names.GROUPS},
    "table_of_models": python_names.table_of_models,
    "names_of_other_models": python_names.names_of_other_models,
    "page_of_commands": page_of_commands,
    "page_of_errors": page_of_errors,
    "table_of_adagcn": preset_tables.table_of_adagcn,
    "rule_of_adaptive": preset_tables.rule_of_adaptive,
    "meanings": preset_tables.meanings,
    "table_of_papers_rows": preset_tables.table_of_papers_rows,
    "table_without_graph": preset_tables.table_without_graph,
    "tables_of_other_models": preset_tables.tables_of_other_models,
}

_MARKER = re.compile(r"<!-- generated: (\w+) -->")


def with_generated_parts(text: str) -> str:
    """Return a page with every part that it asks for."""
    return _MARKER.sub(lambda found: PARTS[found[1]](), text)


def _read(app: Any, docname: str, source: list[str]) -> None:
    if _MARKER.search(source[0]):
        app.env.note_reread()  # the code may have changed, and the page has not
        source[0] = with_generated_parts(source[0])


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read)
    return {"version": "1", "parallel_read_safe": True}

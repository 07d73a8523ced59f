"""Every command of ``adagcn`` with the help that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from adagcn.cli.app import app
from adagcn.cli.help_page import help_page

WIDTH = 99  # columns: what fits beside the table of contents
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Yield the words that call each command, the command and its context; groups first."""
    root = typer.main.get_command(app)
    context: Any = root.context_class(root, info_name="adagcn")
    yield from _below("adagcn", root, context)


def _below(words: str, command: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    yield words, command, context
    for name, each in getattr(command, "commands", {}).items():
        inside = each.context_class(each, info_name=name, parent=context)
        yield from _below(f"{words} {name}", each, inside)


def page_of_commands() -> str:
    """Return Markdown: a section for each command, a smaller one for what a group holds."""
    lines = []
    for words, command, context in commands():
        text = _STYLE.sub("", help_page(command, context, WIDTH)).rstrip()
        lines += [f"##{'#' * (words.count(' ') > 1)} {words}", "", "```text", text, "```", ""]
    return "\n".join(lines)

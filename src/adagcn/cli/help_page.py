"""How ``--help`` looks: names on the left, what they mean on the right, at any width.

Typer's own page gives each kind of name a column of its own, which leaves little room for words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from adagcn.cli.options import EVERYWHERE
from adagcn.cli.output import screen

_WIDEST = 100  # columns; longer lines are hard to read
_WIDEST_NAME = 22  # columns; what is longer has a line of its own
_EXAMPLE = "adagcn "

Row: TypeAlias = "tuple[str, str]"


class HelpfulCommand(TyperCommand):
    """A command with our help page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        formatter.write(help_page(self, ctx, _width()))


class HelpfulGroup(TyperGroup):
    """A group of commands with our help page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        formatter.write(help_page(self, ctx, _width()))


def help_page(command: Any, context: typer.Context, width: int) -> str:
    """Return the help of a command, at most ``width`` columns wide.

    Parameters
    ----------
    command : TyperCommand or TyperGroup
        What the page is about.
    context : typer.Context
        Of the command.
    width : int
        Columns to fill.

    Returns
    -------
    str
        Usage, description, arguments, options and commands.
    """
    sections = _sections(command, context)
    lines = [*_wrapped(f"Usage: {_usage(command, context)}", width, 7), ""]
    for paragraph in (command.help or "").split("\n\n"):
        if paragraph.strip():
            lines += [*_paragraph(paragraph, width), ""]
    names = [name for rows in sections.values() for name, _ in rows]
    column = 4 + max((len(name) for name in names if len(name) <= _WIDEST_NAME), default=0)
    for heading, rows in sections.items():
        lines += [typer.style(line, bold=True) for line in wrap(heading, width)]
        lines += [*_rows(rows, column, width), ""]
    if command.epilog:
        lines += [*command.epilog.splitlines(), ""]  # as it is: examples of files are laid out
    return "\n".join(lines)


def _width() -> int:
    return min(screen().width, _WIDEST)


def _usage(command: Any, context: typer.Context) -> str:
    shown = [_argument(each) for each in command.get_params(context) if _is_argument(each)]
    words = [name if required else f"[{name}]" for name, required in shown]
    if isinstance(command, TyperGroup):
        words.append("COMMAND ...")
    return " ".join([context.command_path, "[OPTIONS]", *words])


def _sections(command: Any, context: typer.Context) -> dict[str, list[Row]]:
    """Return the rows under each heading: what is special first, what is common last."""
    sections: dict[str, list[Row]] = {}
    if isinstance(command, TyperGroup):
        known = [command.get_command(context, name) for name in command.list_commands(context)]
        sections["Commands"] = [(each.name or "", _meaning(each)) for each in known if each]
    common: list[Row] = []
    for each in command.get_params(context):
        panel = getattr(each, "rich_help_panel", None)
        if _is_argument(each):
            sections.setdefault("Arguments", []).append((_argument(each)[0], _meaning(each)))
        elif panel == EVERYWHERE or each.name == "help":
            common.append((_option(each), _meaning(each)))
        else:
            sections.setdefault(panel or "Options", []).append((_option(each), _meaning(each)))
    return {**_own_first(sections), EVERYWHERE if len(common) > 1 else "Options": common}


def _own_first(sections: dict[str, list[Row]]) -> dict[str, list[Row]]:
    first = [name for name in ("Commands", "Arguments", "Options") if name in sections]
    return {name: sections[name] for name in dict.fromkeys([*first, *sections])}


def _is_argument(each: Any) -> bool:
    return bool(each.param_type_name == "argument")


def _argument(each: Any) -> tuple[str, bool]:
    name = each.metavar or each.name.upper()
    return (f"{name}..." if each.nargs != 1 else name), each.required


def _option(each: Any) -> str:
    value = "" if each.is_flag else f" {each.metavar or each.name.upper()}"
    return f"{', '.join(each.opts)}{value}"


def _meaning(each: Any) -> str:
    """Return what a command does or an option means, and what it is where it is not given."""
    text: str = (each.help or "").split("\n\n")[0].rstrip(".")
    shown = getattr(each, "show_default", False)
    default = shown if isinstance(shown, str) else getattr(each, "default", None)
    if not shown or default is None or isinstance(default, bool | list | tuple):
        return text
    return f"{text} (default: {default})"


def _paragraph(text: str, width: int) -> list[str]:
    """Return a paragraph wrapped; an example stays on its line, so that it can be copied."""
    words = " ".join(text.split())
    return [f"  {words}"] if words.startswith(_EXAMPLE) else wrap(words, width)


def _rows(rows: Iterable[Row], column: int, width: int) -> Iterator[str]:
    """Yield lines with the names on the left and their meaning from ``column`` on."""
    for name, meaning in rows:
        head = f"  {name}"
        if len(head) > column - 2:
            yield head
            head = ""
        yield from _wrapped(f"{head:{column}}{meaning}", width, column)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """Return lines of which all but the first are indented."""
    head, rest = text[:indent], text[indent:]
    lines = wrap(rest, max(width - indent, 20), break_on_hyphens=False) or [""]
    return [f"{head}{lines[0]}", *(f"{'':{indent}}{line}" for line in lines[1:])]

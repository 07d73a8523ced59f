"""How results reach the user: JSON or tables on standard output, notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rich import box
from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from adagcn.cli.command_state import current_state
from adagcn.errors import InputError

_NARROWEST_NAMES = 16  # columns; the names of rows may be folded down to this


def one_line(text: str) -> str:
    r"""Return ``text`` on one line, with control characters (terminal escapes) spelled out.

    >>> print(one_line("two\nlines and an \x1b[31mescape"))
    two lines and an \x1b[31mescape
    """
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in joined)


def note(text: str) -> None:
    """Print a note on standard error, unless the command is to be quiet; it continues."""
    state = current_state()
    if not state.quiet:
        state.notes.append(one_line(text))
        print(f"adagcn: note: {one_line(text)}", file=sys.stderr)


class _Terminal(Console):
    """A console that leaves it to the guard to end the command when its reader has left."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def screen(
    *, stderr: bool = False, file: IO[str] | None = None, width: int | None = None
) -> Console:
    """Return the terminal as it is now, or a file; user text is never taken for markup."""
    return _Terminal(
        stderr=stderr, file=file, width=width, markup=False, highlight=False, emoji=False
    )


def print_json(facts: Mapping[str, Any]) -> None:
    """Print ``facts`` as the one JSON object of a command; numpy scalars and paths are fine."""
    print(json.dumps(facts, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_result(facts: Mapping[str, Any], shown: str | Table, *, as_json: bool) -> None:
    """Print a command's result: ``facts`` as JSON, else ``shown``, a sentence or a table."""
    if as_json:
        print_json(facts)
    else:
        screen().print(shown, soft_wrap=isinstance(shown, str))


def write_figure(path: Path, figure: Any) -> None:
    """Write a figure of the report, and say so on standard error."""
    from adagcn.report.drawing import save_figure

    save_figure(path, figure)
    note(f"written: {path}")


def facts_table(facts: Iterable[tuple[str, str]], *, title: str | None = None) -> Table:
    """Return a two-column table of names and values."""
    heading = None if title is None else Text(one_line(title), style="bold")
    table = Table(title=heading, title_justify="left", box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(one_line(name), one_line(value))
    return table


def rows_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int
) -> Table | Group:
    """Return a table with a header; where ``width`` is too narrow for it, one block per row.

    Parameters
    ----------
    header : sequence of str
        Names of the columns; the first says what a row is about.
    rows : sequence of sequences of str
        The cells.
    width : int
        Columns of the terminal.

    Returns
    -------
    rich.table.Table or rich.console.Group
        What to print.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for position, name in enumerate(header):
        if position == 0:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(one_line(cell) for cell in row))
    widths = [max(map(len, column)) + 2 for column in zip(header, *rows, strict=True)]
    if min(widths[0], _NARROWEST_NAMES) + sum(widths[1:]) <= width:
        return table
    blocks = [facts_table(zip(header[1:], row[1:], strict=True), title=row[0]) for row in rows]
    return Group(*(part for block in blocks for part in (block, "")))


def chosen_rows(look: str | None) -> list[tuple[str, str]]:
    """Return the row that says what a model chose before its fit and why, if it chose anything."""
    return [] if look is None else [("chosen", f"on the stopping nodes: {look}")]


def percent(share: float) -> str:
    """Return a share of one as a percentage.

    >>> percent(0.8259)
    '82.6 %'
    """
    return f"{100 * share:.1f} %"


def check_out(path: Path | None, *, force: bool, name: str = "--out") -> None:
    """Refuse to write over a file or into a missing folder, before any work is done.

    Parameters
    ----------
    path : Path or None
        Where a command will write; None writes nowhere.
    force : bool
        Whether an existing file may be replaced.
    name : str
        Name of the option, for messages.

    Raises
    ------
    InputError
        The file exists and ``force`` is off, is a folder, or its folder does not exist.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError("AGC-I801", f"{name} is a folder", got=str(path), fix="give a file in it")
    if path.exists() and not force:
        raise InputError(
            "AGC-I802", f"{name} exists", got=str(path), fix="choose another name or add --force"
        )
    if not path.parent.is_dir():
        raise InputError(
            "AGC-I803", f"the folder of {name} does not exist", got=str(path), fix="create it"
        )


@contextmanager
def steps_bar(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error if it is a terminal and notes are wanted.

    Parameters
    ----------
    what : str
        What is going on, in a word or two.
    total : int or None
        Number of steps; None if not known in advance.

    Yields
    ------
    callable
        Call it once per finished step.
    """
    console = screen(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=current_state().quiet or not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)

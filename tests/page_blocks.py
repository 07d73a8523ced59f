"""The blocks of code on a page of the documentation, and what running them prints.

A page is run from top to bottom in an empty folder. Its ``python`` blocks share their names; each
line of a ``sh`` block, and each line after ``$`` of a ``console`` block, is a command. What a
``text`` block right behind shows, or the rest of a ``console`` block, is what they print: words and
whole numbers as they are, numbers with a decimal point nearly (they differ between processors), and
``…`` stands for anything. A block behind ``<!-- not run: reason -->`` is not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from adagcn.cli import main

RUN = ("python", "sh", "console")
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>\S.*?) -->")
_SHELL = re.compile(r"[|<>;&$*]")
_NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?")


@dataclass(frozen=True)
class Block:
    """One block: its language, its text, the line it starts at, and what it should print."""

    language: str
    text: str
    line: int
    expected: str | None
    not_run: str | None


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page that can be run."""
    tokens = MarkdownIt("commonmark").parse(page)
    found = []
    for number, token in enumerate(tokens):
        language = token.info.strip() if token.type == "fence" else ""
        if language not in RUN:
            continue
        before = tokens[number - 1].content if number else ""
        skipped = _NOT_RUN.search(before) if tokens[number - 1].type == "html_block" else None
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        shown = after is not None and after.type == "fence" and after.info.strip() == "text"
        expected = after.content if after is not None and shown else None
        reason = None if skipped is None else skipped["reason"]
        found.append(Block(language, token.content, token.map[0] + 1, expected, reason))
    return found


def run_page(page: str, folder: Path) -> Iterator[tuple[Block, str, str]]:
    """Run the blocks of a page in a folder; yield each with what was expected and printed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for block in blocks(page):
            if block.not_run is not None:
                continue
            if block.language == "python":
                yield block, block.expected or "", _python(block, names)
            elif block.language == "sh":
                printed = "".join(_command(line) for line in _lines(block.text))
                yield block, block.expected or "", printed
            else:
                for command, expected in _session(block.text):
                    yield block, expected, _command(command)


def _python(block: Block, names: dict[str, Any]) -> str:
    out = io.StringIO()
    # Line numbers of a traceback are those of the page.
    code = compile("\n" * block.line + block.text, f"<page, line {block.line}>", "exec")
    with contextlib.redirect_stdout(out), _warnings_as_for_users():
        exec(code, names)
    return out.getvalue()


@contextlib.contextmanager
def _warnings_as_for_users() -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("default")
        yield


def _lines(text: str) -> list[str]:
    """Return commands, those over several lines as one."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def _session(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a session with what it printed."""
    for piece in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]:
        command, _, printed = piece.partition("\n")
        yield command, printed


def _command(line: str) -> str:
    """Run a command, in this process where it is one of ours and nothing else."""
    words = shlex.split(line, comments=True)
    if words[0] != "adagcn" or _SHELL.search(line.split(" #")[0]):
        return _in_a_shell(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words[1:])
    assert code == 0, f"{line}\nended with {code}: {err.getvalue()}"
    return out.getvalue()


def _in_a_shell(line: str) -> str:
    """Run a line of shell; ``adagcn`` and ``python`` are those of the tests."""
    call = f'adagcn() {{ "{sys.executable}" -m adagcn.cli "$@"; }}\n'
    call += f'python() {{ "{sys.executable}" "$@"; }}\n'
    done = subprocess.run(
        ["sh", "-e", "-c", call + line],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert done.returncode == 0, f"{line}\nended with {done.returncode}: {done.stderr}"
    return done.stdout


def difference(expected: str, printed: str) -> str | None:
    """Return how a block's print differs from what the page shows; None if it does not."""
    wanted = [line.rstrip() for line in expected.strip("\n").splitlines()]
    got = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if not wanted or _matches(" ".join(" ".join(wanted).split()), " ".join(" ".join(got).split())):
        return None
    return "the page shows:\n{}\nthe code prints:\n{}".format("\n".join(wanted), "\n".join(got))


def _matches(wanted: str, got: str) -> bool:
    """Return whether a text is the one wanted, up to ``…`` and the last digits of fractions."""
    pieces = []
    place = 0
    for found in re.finditer(rf"…|─+|{_NUMBER.pattern}", wanted):
        pieces.append(re.escape(wanted[place : found.start()]))
        fraction = "." in found[0]
        pieces.append(
            ".*?" if found[0] == "…" else "─+" if found[0][0] == "─" else _piece(found[0], fraction)
        )
        place = found.end()
    pattern = "".join([*pieces, re.escape(wanted[place:])])
    match = re.fullmatch(pattern, got, re.S)
    if match is None:
        return False
    fractions = [each for each in _NUMBER.findall(wanted) if "." in each]
    return all(_near(a, b) for a, b in zip(fractions, match.groups(), strict=True))


def _piece(number: str, fraction: bool) -> str:
    return f"({_NUMBER.pattern})" if fraction else re.escape(number)


def _near(one: str, other: str) -> bool:
    a, b = (float(each.replace(",", "").replace("−", "-")) for each in (one, other))
    return abs(a - b) <= max(1.0, 0.02 * abs(a))

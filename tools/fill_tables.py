"""Fill the tables and numbers of the documentation from the committed ledger.

A table that stands below a comment such as ``<!-- adagcn reproduce table2 --models adagcn -->`` or
``<!-- adagcn bench calibration --part sets -->`` is what that command prints of what is recorded,
and so is a block of text below ``<!-- adagcn bench show results/bench/halo.json -->``. Sentences
below ``<!-- frontier: adagcn reproduce pareto -->`` are those that it prints below its table.
``page_numbers.py`` says how a number in a sentence is marked.
``python tools/fill_tables.py`` writes both anew; the tests check that none is out of date.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from page_numbers import with_numbers

from adagcn.cli import main
from adagcn.cli.bench_show import measurement_markdown

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "results" / "ledger.jsonl.gz"
RECORDS = {  # of commands that keep one
    "calibration": ROOT / "results" / "calibration.jsonl",
    "fits": ROOT / "results" / "fits.jsonl",
}
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if "_build" not in page.parts
)

_TABLE = re.compile(
    r"(<!-- adagcn (?P<words>(?:reproduce|bench calibration|bench fits) .+?) -->\n\n)"
    r"(?P<table>(?:\|.*\n)*)"
)
_FRONTIER = re.compile(
    r"(<!-- frontier: adagcn (?P<words>reproduce .+?) -->\n\n)(?P<lines>(?:- .*\n)*)"
)


_MEASURED = re.compile(
    r"(<!-- adagcn (?P<words>bench show .+?) -->\n\n)(?P<block>(?:```text\n.*?^```\n)?)",
    re.M | re.S,
)


def filled(text: str, ledger: Path) -> str:
    """Return a page with every marked table as its command prints it now."""

    def written(found: re.Match[str]) -> str:
        end = "" if found["table"] else "\n"  # a comment that has no table yet gets one
        return found[1] + printed(shlex.split(found["words"]), ledger) + end

    def told(found: re.Match[str]) -> str:
        end = "" if found["lines"] else "\n"
        return found[1] + frontier(shlex.split(found["words"]), ledger) + end

    return _FRONTIER.sub(told, _TABLE.sub(written, recorded(text)))


def recorded(text: str) -> str:
    """Return a page with every marked measurement as ``adagcn bench show`` prints it now."""

    def shown(found: re.Match[str]) -> str:
        end = "" if found["block"] else "\n"
        return found[1] + measured(found["words"]) + end

    return _MEASURED.sub(shown, text)


def numbered(text: str, ledger: Path) -> str:
    """Return a page with every marked number as the records have it now."""
    return with_numbers(text, lambda words: facts(words, ledger))


def printed(words: list[str], ledger: Path) -> str:
    """Return the table that a command prints."""
    lines = _printed([*words, "--format", "md"], ledger).splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("|"))


def frontier(words: list[str], ledger: Path) -> str:
    """Return the sentences that a command prints below its table and the notes of the table."""
    return _printed([*words, "--format", "md"], ledger).rstrip("\n").rpartition("\n\n")[2] + "\n"


@cache
def measured(words: str) -> str:
    """Return the tables of a recorded measurement, as a block of text."""
    name, *section = shlex.split(words.removeprefix("bench show "))
    words = " ".join(section).removeprefix("--section ")
    return measurement_markdown(ROOT / name, words or None, with_machine=False)


@cache
def facts(words: str, ledger: Path) -> Any:
    """Return what ``adagcn reproduce`` prints for these words as JSON."""
    return json.loads(_printed(["reproduce", *shlex.split(words), "--json", "--timing"], ledger))


def _printed(words: list[str], ledger: Path) -> str:
    record = ["--keep", str(RECORDS.get(words[1]))]
    if words[0] == "reproduce":
        record = [
            "--ledger",
            str(ledger),
            *(["--records", str(LEDGER.parent)] * (words[1] == "pareto")),
        ]
    return _output([*words, *record, "--no-training", "--quiet"])


def _output(command: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(command)
    if code != 0:
        raise RuntimeError(f"adagcn {' '.join(command)} ended with {code}")
    return out.getvalue()


def fresh_ledger(folder: Path) -> Path:
    """Return a ledger of all published runs."""
    ledger = folder / "ledger.sqlite"
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(["ledger", "import", str(LEDGER), "--ledger", str(ledger)])
    if code != 0:
        raise RuntimeError(f"{LEDGER} could not be imported")
    return ledger


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        ledger = fresh_ledger(Path(folder))
        for page in PAGES:
            before = page.read_text(encoding="utf-8")
            after = numbered(filled(before, ledger), ledger)
            if after != before:
                page.write_text(after, encoding="utf-8")
                sys.stdout.write(f"written: {page.relative_to(ROOT)}\n")

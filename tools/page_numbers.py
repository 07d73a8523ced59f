"""Numbers in sentences of the documentation, each taken from a record.

A number stands between two comments, ``<!-- n: SOURCE --> … <!-- /n -->``, which do not begin a
line (there Markdown would end the paragraph). The source is one of

``table2 / AdaGCN, adaptive / Cora-ML / mean``
    An experiment with options of ``adagcn reproduce``, a row, a column, and what of the cell:
    ``mean``, ``interval``, ``mean and interval``, ``n``, ``splits``, ``paper``, ``over the paper``,
    ``unseen accuracy`` (on nodes that no validation split has seen), ``behind the first row`` with
    its interval over splits, ``behind the first row, with nodes`` (the interval that resamples
    nodes as well, alone), ``CPU seconds``, ``minus ROW`` (the paired difference from another row
    with its interval), ``ahead of ROW`` (the same without a plus sign) or ``p minus ROW`` (on split
    means); with ``, odd splits`` behind ROW, on the splits of odd number alone; ``minus ROW, with
    nodes`` is the interval of the difference that resamples nodes as well, alone. Of a boosted
    model also ``mean of the first 4 layers`` and ``change after 4 layers`` (all layers minus the
    first four, paired by split).
``performance / cora_ml: whole fit / APPNP / time``
    A table that ``adagcn bench`` printed and ``docs/performance.md`` keeps: how its title begins,
    a row, and how the name of a column begins; ``time with interval`` keeps the interval, and
    ``time over ROW`` is how many times that of another row of the table.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adagcn.experiments.statistics import compare_paired

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"(?P<open><!-- n: (?P<source>.+?) -->)(?P<text>[^<]*)(?P<close><!-- /n -->)")

# The facts of an experiment, as ``adagcn reproduce --json --timing`` prints them.
Facts = Mapping[str, Any]


def with_numbers(text: str, facts_of: Callable[[str], Facts]) -> str:
    """Return a page with every marked number as its record has it now."""
    if (found := re.search(r"^\s*<!-- n: .*", text, re.M)) is not None:
        raise ValueError(f"a marked number begins a line: {found[0].strip()}")

    def written(found: re.Match[str]) -> str:
        return f"{found['open']}{number(found['source'], facts_of)}{found['close']}"

    return MARKED.sub(written, text)


def number(source: str, facts_of: Callable[[str], Facts]) -> str:
    """Return the number that a source names."""
    first, *path = source.split(" / ")
    try:
        if first == "performance":
            return _printed(*path)
        row, column, what = path
        if (found := re.fullmatch("minus (.+), with nodes", what)) is not None:
            against = _Cells(facts_of(f"{first} --against {shlex.quote(found[1])}"))
            return _interval(against.rows[row, column]["against_first"]["node_interval"])
        return _of_a_cell(_Cells(facts_of(first)), row, column, what)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise ValueError(f"there is no number {source!r}: {error}") from error


# The ledger


class _Cells:
    """The cells of an experiment by row and column."""

    def __init__(self, facts: Facts) -> None:
        metric = facts["metric"]
        self.rows = {
            (each["label"], each["column"]): {
                **each,
                "runs": [{**run, "score": run[metric]} for run in each["runs"]],
            }
            for each in facts["rows"]
        }
        self.times = {(each["label"], each["column"]): each for each in facts["timing"]}


def _of_a_cell(cells: _Cells, row: str, column: str, what: str) -> str:
    cell = cells.rows[row, column]
    if not cell["n"]:
        raise ValueError("no run is finished")
    if what == "CPU seconds":
        return _seconds(cells.times[row, column]["mean_fit_cpu_seconds"])
    for start, show in (("minus ", _difference), ("ahead of ", _lead), ("p minus ", _p_value)):
        if what.startswith(start):
            other = what.removeprefix(start)
            if (label := other.removesuffix(", odd splits")) != other:
                return show(_on_odd_splits(cell), _on_odd_splits(cells.rows[label, column]))
            return show(cell, cells.rows[other, column])
    if (found := re.fullmatch(r"(mean of the first|change after) (\d+) layers", what)) is not None:
        return _BY_DEPTH[found[1]](cell, int(found[2]))
    return _SHOWN[what](cell)


def _on_odd_splits(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a cell with the runs whose split has an odd number."""
    kept = [run for run in cell["runs"] if int(run["split"].rpartition(":")[2]) % 2]
    return {**cell, "runs": kept}


def _of_first_layers(cell: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return a cell as if its runs had ended at a depth; a run with fewer layers is an error."""
    runs = [{**run, "score": run["accuracy_by_depth"][depth - 1]} for run in cell["runs"]]
    return {**cell, "runs": runs, "mean": np.mean([run["score"] for run in runs])}


_BY_DEPTH: Mapping[str, Callable[[Mapping[str, Any], int], str]] = {
    "mean of the first": lambda cell, depth: _percent(_of_first_layers(cell, depth)["mean"]),
    "change after": lambda cell, depth: _difference(cell, _of_first_layers(cell, depth)),
}
_SHOWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "mean": lambda cell: _percent(cell["mean"]),
    "interval": lambda cell: _interval(cell["interval"]),
    "mean and interval": lambda cell: f"{_percent(cell['mean'])} {_interval(cell['interval'])}",
    "n": lambda cell: str(cell["n"]),
    "splits": lambda cell: str(len({run["split"] for run in cell["runs"]})),
    "paper": lambda cell: _percent(cell["paper"][0]),
    "over the paper": lambda cell: _signed(cell["difference"]),
    "unseen accuracy": lambda cell: _percent(cell["unseen_accuracy"]),
    "behind the first row": lambda cell: (
        f"{_percent(-cell['against_first']['difference'])} "
        f"{_turned(cell['against_first']['interval'])}"
    ),
    "behind the first row, with nodes": lambda cell: _turned(
        cell["against_first"]["node_interval"]
    ),
}


def _paired(one: Mapping[str, Any], other: Mapping[str, Any]) -> Any:
    """Return the comparison of the runs that two cells have on the same splits."""
    runs = [run for cell in (one, other) for run in cell["runs"]]
    splits = list(dict.fromkeys(run["split"] for run in runs))  # in the order of the spec
    inits = sorted({run["init"] for run in runs})
    return compare_paired(*(_grid(cell, splits, inits) for cell in (one, other)))


def _grid(cell: Mapping[str, Any], splits: list[str], inits: list[int]) -> Any:
    grid = np.full((len(splits), len(inits)), np.nan)
    for run in cell["runs"]:
        grid[splits.index(run["split"]), inits.index(run["init"])] = run["score"]
    return grid


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    found = _paired(one, other)
    return f"{_signed(found.difference)} {_interval(found.interval)}"


def _lead(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    return _difference(one, other).removeprefix("+")


def _p_value(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    p = _paired(one, other).p_splits
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "[–]"
    return f"[{', '.join(f'{100 * x:.2f}' for x in bounds)}]".replace("-", "−")


def _turned(bounds: tuple[float, float]) -> str:
    """Return the interval of a difference as that of its opposite."""
    return _interval((-bounds[1], -bounds[0]))


def _signed(share: float) -> str:
    return f"{100 * share:+.2f}".replace("-", "−")


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 1 else f"{seconds:.1f}"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"


# Tables that ``adagcn bench`` printed


def _printed(title: str, row: str, column: str) -> str:
    name, over, other = column.partition(" over ")
    if over:
        return _times(_seconds_of(title, row, name) / _seconds_of(title, other, name))
    with_interval = column.endswith(" with interval")
    name = column.removesuffix(" with interval")
    cells = next(
        (table for head, table in _bench_tables() if head.startswith(title) and row in table), None
    )
    if cells is None:
        raise ValueError("no such table with this row")
    cell = next((value for head, value in cells[row].items() if head.startswith(name)), None)
    if cell is None:
        raise ValueError(f"the columns are {', '.join(cells[row])}")
    return cell if with_interval else re.sub(r" \(.*\)$", "", cell)


def _seconds_of(title: str, row: str, column: str) -> float:
    """Return a printed time such as ``552 µs`` as seconds."""
    value, unit = _printed(title, row, column).split(" ")
    return float(value.replace(",", "")) * {"µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


@cache
def _bench_tables() -> list[tuple[str, dict[str, dict[str, str]]]]:
    """Return each table of the page with its title: cells by row and column."""
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", page, re.M | re.S)
    return [table for block in blocks for table in (*_tables(block), *_narrow_tables(block))]


def _tables(block: str) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """Yield the tables of a block; cells end where the name of their column ends."""
    lines = block.splitlines()
    for number, line in enumerate(lines):
        if not re.fullmatch("─+", line):
            continue
        ends = {found.end(): found[0] for found in re.finditer(r"\S+(?: \S+)*", lines[number - 1])}
        first = max(i for i in range(number - 1) if i == 0 or not lines[i - 1].strip())
        rows = {}
        for row in lines[number + 1 :]:
            cells = list(re.finditer(r"\S+(?: \S+)*", row))
            if not cells or not all(cell.end() in ends for cell in cells[1:]):
                break
            rows[cells[0][0]] = {ends[cell.end()]: cell[0] for cell in cells[1:]}
        yield lines[first], rows


def _narrow_tables(block: str) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """Yield the table of a block that has, as in a narrow terminal, a paragraph for each row."""
    title, _, rest = block.partition("\n")
    paragraphs = [each.splitlines() for each in rest.split("\n\n") if each.strip()]
    rows = {
        name.strip(): dict(re.findall(r"^(\S+(?: \S+)*)  +(\S.*?)\s*$", "\n".join(lines), re.M))
        for name, *lines in paragraphs
    }
    if not re.search("^─+$", block, re.M) and rows and all(rows.values()):
        yield title, rows

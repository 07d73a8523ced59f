"""The sections of a benchmark as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType

from adagcn.cli.output import facts_table, percent, rows_table
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.bench.machine import Noise
    from adagcn.bench.measures import Measure, Section

_UNITS = ((1.0, " s"), (1e-3, " ms"), (1e-6, " µs"))


def print_sections(sections: Sequence[Section], console: Console) -> None:
    """Print the table of every section."""
    for section in sections:
        console.print(f"{section.dataset}: {section.title}", style="bold")
        for part in section_table(section, width=console.width):
            console.print(part)
        console.print()


def print_machine(facts: dict[str, Any], noise: Noise, console: Console) -> None:
    """Print where and how something was measured."""
    where, versions = facts["machine"], facts["versions"]
    calm = f"a fixed product took {noise.drift:.2f} times as long at the end as at the start"
    rows = [
        ("machine", f"{where['processor']}, {where['usable_cores']} cores usable"),
        ("threads", str(facts["threads"])),
        ("versions", ", ".join(f"{name} {of}" for name, of in versions.items() if of)),
        ("noise", f"{calm}; its quartiles are {noise.spread:.0%} apart"),
    ]
    console.print(facts_table(rows))


def section_table(section: Section, *, width: int) -> Iterator[RenderableType]:
    """Yield a section's table, and lines below it for what does not fit in a table.

    Parameters
    ----------
    section : Section
        What was measured.
    width : int
        Columns of the terminal.
    """
    measured = [row for row in section.rows if row.seconds is not None]
    extra = _EXTRA.get(section.key, {})
    header = ["", "time (95 %)", section.ratio_name, *extra]
    cells = [
        [
            row.name,
            _with_interval(row.seconds, *_time_unit(row.seconds)),
            _with_interval(row.ratio, 1.0, "×"),
            *(write(row.facts) for write in extra.values()),
        ]
        for row in measured
    ]
    yield rows_table(header, cells, width=width)
    for row in section.rows:
        if row.seconds is None or (section.key == "fit" and "note" in row.facts):
            yield f"{row.name}: {row.facts['note']}"
    yield from _exponent_lines(section)
    yield from _large_lines(section)
    yield from _update_lines(section)
    yield from _estimate_lines(section)


def _time_unit(measure: Measure | None) -> tuple[float, str]:
    """Return the unit that suits a time, in seconds and as a word."""
    seconds = 0.0 if measure is None else abs(measure.median)
    return next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])


def _with_interval(measure: Measure | None, size: float, unit: str) -> str:
    """Return a measure in a unit, with its interval."""
    if measure is None:
        return ""
    text = f"{_three(measure.median / size)}{unit}"
    if measure.low is None or measure.high is None:
        return text
    return f"{text} ({_three(measure.low / size)}–{_three(measure.high / size)})"


def _three(value: float) -> str:
    """Return a number with two or three significant digits.

    >>> _three(0.123), _three(12.3456), _three(1234.5)
    ('0.12', '12.3', '1,234')
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _slope(facts: dict[str, Any]) -> str:
    line = facts["slope"]
    text = f"{1e3 * line['slope']:+.3f} ms"
    if line["low"] is None:
        return text
    return f"{text} ({1e3 * line['low']:+.3f} to {1e3 * line['high']:+.3f})"


def _megabytes(facts: dict[str, Any]) -> str:
    peak = facts.get("peak_bytes")
    return "" if peak is None else f"{peak / 2**20:,.0f} MB"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{_three(ratio)}×"


def _over_data(facts: dict[str, Any]) -> str:
    share = facts["peak_over_data"]
    return "" if share is None else f"{_three(share)}×"


def _share_of_rows(facts: dict[str, Any], which: str) -> str:
    if facts[which] is None:
        return ""
    return "all" if which == "share" and facts["is_whole"] else f"{facts[which]:.2%}"


def _found_and_new(found: str, new: str) -> Callable[[dict[str, Any]], str]:
    return lambda facts: f"{facts[found]} + {facts[new]}"


def _by_host(name: str, size: int = 1) -> Callable[[dict[str, Any]], str]:
    """Return what writes a number of either host, in units of some size."""

    def write(facts: dict[str, Any]) -> str:
        of = facts.get(name)
        hosts = ("host-a", "host-b")
        return "" if of is None else " / ".join(f"{of.get(host, 0) / size:,.0f}" for host in hosts)

    return write


def _f1(facts: dict[str, Any], kind: str) -> str:
    mean, deviation = facts[f"f1_{kind}"], facts[f"f1_{kind}_deviation"]
    return percent(mean) if deviation is None else f"{100 * mean:.1f} ± {percent(deviation)}"


# Further columns of a section, by heading.
_EXTRA: dict[str, dict[str, Any]] = {
    "estimates": {
        "peak": _megabytes,
        "prediction": lambda facts: _times(facts["prediction_ratio"]),
        "time": lambda facts: _times(facts["time_ratio"]),
        "disk": lambda facts: _times(facts["disk_ratio"]),
    },
    "fit": {"accuracy": lambda facts: percent(facts["accuracy"])},
    "layers": {"epochs": lambda facts: f"{facts['epochs']:,.0f}"},
    "large_fit": {
        "F1 (micro)": lambda facts: _f1(facts, "micro"),
        "F1 (macro)": lambda facts: _f1(facts, "macro"),
    },
    "wide": {"GFLOP/s": lambda facts: f"{facts['gflops']:.1f}"},
    "depth": {"a layer more": _slope},
    "propagation": {
        "GB/s": lambda facts: f"{facts['gb_per_second']:.1f}",
        "of copy": lambda facts: percent(facts["share_of_copy"]["median"]),
    },
    "start": {"beyond them": lambda facts: f"{facts['beyond_reference']:+.2f} s"},
    "scale": {"peak memory": _megabytes, "of data": _over_data},
    "stored_hop": {"own memory": _megabytes},
    "stored_growth": {"own memory": _megabytes},
    "stored_limit": {"peak of its group": _megabytes},
    "stored_kills": {
        "layers": _found_and_new("layers_found", "layers"),
        "blocks": _found_and_new("found", "blocks"),
        "lost": lambda facts: str(facts["lost"]),
        "again": lambda facts: str(facts["again"]),
    },
    "stored_hosts": {
        "blocks a / b": _by_host("blocks"),
        "MB read a / b": _by_host("read", 10**6),
        "KB on the cable": lambda facts: f"{facts['moved'] / 1000:,.0f}" if facts else "",
    },
    "reading": {"peak memory": _megabytes, "of the file": _over_data},
    "updates": {
        "rows within reach": lambda facts: _share_of_rows(facts, "reached"),
        "rows computed": lambda facts: _share_of_rows(facts, "share"),
    },
    "building": {
        "on the clock": lambda facts: f"{facts['seconds']:.1f} s",
        "peak memory": _megabytes,
    },
}


def _exponent_lines(section: Section) -> Iterator[str]:
    for what, line in section.facts.get("exponents", {}).items():
        text = f"{what} grows with exponent {line['slope']:.2f}"
        if line["low"] is not None:
            text += f" ({line['low']:.2f} – {line['high']:.2f})"
        yield f"{text}, R² {line['r_squared']:.2f}"


def _update_lines(section: Section) -> Iterator[str]:
    if section.key != "updates":
        return
    if section.facts["whole"] is not None:
        yield f"whole hops: {section.facts['whole']}"
    if "seconds_of_store_update" in section.facts:
        update, write = (
            section.facts[f"seconds_of_{name}"] for name in ("store_update", "writing_the_store")
        )
        yield f"the update of the store took {update:.2f} s; to write it anew takes {write:.2f} s"


def _estimate_lines(section: Section) -> Iterator[str]:
    if section.key == "estimates":
        peaks, predictions, times = (
            "{} of {}".format(*section.facts[name]) for name in ("peaks", "predictions", "times")
        )
        yield f"within 20 %: {peaks} peaks of fits, {predictions} of predictions"
        yield f"within a factor of two: {times} times of fits"


def _large_lines(section: Section) -> Iterator[str]:
    for row in section.rows:
        if row.facts.get("settings") and section.key == "large_fit":
            given = ", ".join(f"{name} = {value}" for name, value in row.facts["settings"].items())
            yield f"{row.name}, set: {given}"
        if "f1_by_depth" in row.facts:
            depths = ", ".join(percent(share) for share in row.facts["f1_by_depth"])
            yield f"{row.name}, F1 (micro) of the first 1, 2, … layers: {depths}"
    if section.facts.get("fits_kept"):
        n_fits = section.facts["fits"] * len(section.rows)
        yield f"{section.facts['fits_kept']} of {counted(n_fits, 'fit')} read from the --keep file"
    if section.facts.get("peak_over_data") is not None and section.key == "large_fit":
        yield f"peak memory of AdaGCN's fit: {_megabytes(section.facts)}, " + (
            f"{_over_data(section.facts)} the bytes of features and graph"
        )

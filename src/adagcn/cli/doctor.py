"""``adagcn doctor``: what a graph is like, and advice before anything is fitted for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import (
    facts_table,
    one_line,
    percent,
    print_json,
    screen,
    steps_bar,
)

if TYPE_CHECKING:
    from rich.console import Console

    from adagcn.doctor.diagnosis import Diagnosis, HopRow
    from adagcn.doctor.feature_checks import FeatureChecks
    from adagcn.doctor.homophily import Homophily
    from adagcn.doctor.intervals import Estimate
    from adagcn.doctor.label_counts import LabelCounts
    from adagcn.doctor.learning_curve import LearningCurve
    from adagcn.doctor.structure import Structure

_SMALLEST_BAR, _LARGEST_BAR = 6, 24
_WIDTH_OF_HOPS = 53  # of the columns in front of the bars
_MANY_CLASSES = 8


@with_option_groups
def doctor(options: GraphOptions, common: Common) -> None:
    """Look at a graph and give advice: does the graph help, how deep, are the labels enough.

    Small models in closed form are fitted on known labels and judged on held-out ones; it takes
    seconds. All labels of the graph are looked at: leave out those that are to score a model later.
    """
    from adagcn.doctor import examine
    from adagcn.doctor.examination import N_HOPS
    from adagcn.engines.threads import threads

    with threads(common.threads):
        graph = options.read()
        with steps_bar("hops", N_HOPS + 1 if graph.adjacency.nnz else 1) as advance:
            found = examine(graph, seed=common.seed, on_hop=advance)
    if common.as_json:
        print_json({**found.to_dict(), "graph": graph_facts(graph)})
        return
    console = screen()
    read = [] if options.is_named else reading_rows(graph)
    console.print(facts_table([("graph", repr(graph)), *read]))
    _show_advice(found, console)
    for title, rows in (
        ("Structure", _structure_rows(found.structure)),
        ("Labels", _label_rows(found.labels, found.homophily)),
        ("Features", _feature_rows(found.features)),
        ("Learning curve", _curve_rows(found.curve)),
        ("Smoothing", _smoothing_rows(found)),
    ):
        if rows:
            console.print()
            console.print(facts_table(rows, title=title))
    _show_hops(found, console)
    _show_footnotes(found, console)


def _show_advice(found: Diagnosis, console: Console) -> None:
    """Print the sentences, each under its topic."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for each in found.advice:
        table.add_row(each.topic, one_line(each.sentence))
    console.print()
    console.print(Text("Advice", style="bold"))
    console.print(table)


def _structure_rows(structure: Structure) -> list[tuple[str, str]]:
    kind = "directed" if structure.directed else "undirected"
    if structure.weighted:
        low, high = structure.smallest_weight, structure.largest_weight
        kind += f", weights {low:.3g} to {high:.3g}"
    degrees = (
        f"{structure.degree_min:,.0f} to {structure.degree_max:,.0f}, median "
        f"{structure.degree_median:,.0f}, mean {structure.degree_mean:,.1f}"
    )
    return [
        ("edges", f"{structure.n_edges:,}, {kind}; {structure.self_loops:,} self-loops"),
        ("degrees", f"{degrees}; {structure.isolated:,} nodes without neighbors"),
        (
            "components",
            f"{structure.components:,}; the largest has {percent(structure.largest_share)} of "
            "the nodes",
        ),
    ]


def _label_rows(labels: LabelCounts, homophily: Homophily | None) -> list[tuple[str, str]]:
    if not labels.n_labeled:
        return [("labeled", "no nodes")]
    largest = sorted(labels.classes, key=lambda each: -each.n_labels)
    named = ", ".join(
        f"{_short(each.label)}: {each.n_labels:,}" for each in largest[:_MANY_CLASSES]
    )
    rest = len(largest) - _MANY_CLASSES
    rows = [
        ("labeled", f"{labels.n_labeled:,} nodes of {len(labels.classes):,} classes"),
        ("by class", f"{named}, {rest:,} more" if rest > 0 else named),
        (
            "reach",
            ", ".join(
                f"{percent(share)} at {hop} hop{'' if hop == 1 else 's'}"
                for hop, share in enumerate(labels.coverage[:5])
            ),
        ),
    ]
    if homophily is None:
        return [*rows, ("homophily", "no edges between labeled nodes")]
    rows.append(
        (
            "homophily",
            f"{_share(homophily.edge)} of {homophily.n_edges:,} edges; by chance "
            f"{percent(homophily.chance)}, with these degrees {percent(homophily.degree_chance)}",
        )
    )
    if homophily.adjusted is not None:
        adjusted = homophily.adjusted
        more = homophily.class_insensitive
        rows.append(
            (
                "adjusted",
                f"{adjusted.value:.3f} [{adjusted.low:.3f}, {adjusted.high:.3f}]"
                + ("" if more is None else f"; class-insensitive {more:.3f}"),
            )
        )
    return rows


def _feature_rows(checks: FeatureChecks) -> list[tuple[str, str]]:
    if checks.kind == "none":
        return [("columns", "none")]
    rows = [
        ("columns", f"{checks.n_columns:,}, {checks.kind}"),
        (
            "idle",
            f"{checks.empty:,} empty, {checks.constant:,} constant, {checks.duplicate:,} equal to "
            "an earlier one",
        ),
        ("empty rows", f"{checks.rows_without:,}"),
    ]
    if checks.smallest_deviation is not None:
        rows.append(
            (
                "standard deviations",
                f"{checks.smallest_deviation:.3g} to {checks.largest_deviation:.3g}",
            )
        )
    return [*rows, ("leakage suspects", f"{len(checks.suspects):,} columns")]


def _curve_rows(curve: LearningCurve | None) -> list[tuple[str, str]]:
    if curve is None:
        return [("accuracy", "too few labels to tell")]
    rows = [
        (f"{each.n_labels:,} labels", f"{percent(each.accuracy.value)}") for each in curve.points
    ]
    if curve.n_twice > curve.n_now:
        rows.append((f"{curve.n_twice:,} labels", f"{_share(curve.twice)}, extrapolated"))
    return rows


def _show_hops(found: Diagnosis, console: Console) -> None:
    """Print a row for each hop, with a bar for its accuracy where there is room."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("hop", "energy", "distance", "rank", "accuracy"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    bars = _bars([each.accuracy for each in found.hops.rows], console)
    for row, bar in zip(found.hops.rows, bars, strict=True):
        table.add_row(*_hop_cells(row), bar)
    console.print()
    console.print(Text("Hops", style="bold"))
    console.print(table)


def _hop_cells(row: HopRow) -> list[str]:
    return [
        str(row.hop),
        f"{row.energy:.3f}",
        "–" if row.distance is None else f"{row.distance:.3f}",
        f"{row.effective_rank:.1f}",
        "–" if row.accuracy is None else _share(row.accuracy),
    ]


def _bars(accuracies: list[Estimate | None], console: Console) -> list[str]:
    """Return a bar for each accuracy, the lowest the shortest; empty where there is no room."""
    known = [each.value for each in accuracies if each is not None]
    width = min(_LARGEST_BAR, console.width - _WIDTH_OF_HOPS)
    if len(known) < 2 or width < _SMALLEST_BAR:
        return [""] * len(accuracies)
    sign = "█" if (console.encoding or "").lower().startswith("utf") else "#"
    low, high = min(known), max(known)
    return [
        sign * (1 + round((each - low) / ((high - low) or 1.0) * (width - 1))) for each in known
    ]


def _smoothing_rows(found: Diagnosis) -> list[tuple[str, str]]:
    """Return what else was tried besides plain hops, least teleport first."""
    others = [each for each in found.smoothings if each.kind != "hop"]
    return [
        (
            "hops 0 to 2 side by side"
            if each.kind != "teleport"
            else f"teleport {each.teleport:g}",
            f"{_share(each.accuracy)}, log-loss {each.loss:.3f}",
        )
        for each in sorted(others, key=lambda each: (each.kind != "teleport", each.teleport))
    ]


def _show_footnotes(found: Diagnosis, console: Console) -> None:
    notes = ["Intervals are 95 %. Accuracy is that of a ridge on held-out labels."]
    if found.sampled:
        notes.append(f"Sampled: {'; '.join(found.sampled)}.")
    console.print()
    for text in notes:
        console.print(one_line(text), style="dim")


def _share(found: Estimate) -> str:
    return f"{percent(found.value)} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _short(label: object) -> str:
    text = one_line(str(label))
    return text if len(text) <= 30 else f"{text[:15]}…{text[-14:]}"

"""One explanation as a picture in the terminal: a sentence, bars by hop, features, neighbors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from adagcn.cli.output import one_line, percent
from adagcn.errors import counted
from adagcn.explain.explanations import FeaturePart, NeighborPart, NodeExplanation

_LONGEST_BARS = 60  # columns
_NARROW = 76  # columns; below, parts in tables have no bars
_LONGEST_NAME = 40
_NARROW_NAME = 16
_TABLE_BARS = 15
_SMALLEST = 0.005  # a part below this would show as zero
_FOR, _AGAINST = "cyan", "magenta"


@dataclass(frozen=True)
class Style:
    """What a terminal can show.

    Parameters
    ----------
    width : int
        Columns.
    unicode : bool
        Whether it can show more than ASCII.
    """

    width: int
    unicode: bool = True

    @classmethod
    def of(cls, console: Console) -> Style:
        """Return what this terminal can show."""
        return cls(console.width, (console.encoding or "").lower().startswith("utf"))

    @property
    def block(self) -> str:
        """What bars are made of."""
        return "█" if self.unicode else "#"

    @property
    def light_block(self) -> str:
        """What bars of parts against the label are made of, so that they differ without color."""
        return "░" if self.unicode else "-"

    @property
    def axis(self) -> str:
        """Where bars start."""
        return "│" if self.unicode else "|"

    @property
    def minus(self) -> str:
        """The sign of a negative number."""
        return "−" if self.unicode else "-"

    @property
    def name_length(self) -> int:
        """How long a name in a table may be: two of them stand beside numbers and bars."""
        room = (self.width - (_NARROW if self.width >= _NARROW else 60)) // 2 + _NARROW_NAME
        return max(_NARROW_NAME, min(room, _LONGEST_NAME))

    def number(self, value: float) -> str:
        """Return a part with its sign.

        >>> Style(80).number(-0.0312), Style(80, unicode=False).number(1234.5)
        ('−0.03', '+1234.50')
        """
        sign = self.minus if round(value, 2) < 0 else "+"
        return f"{sign}{abs(value):.2f}"


def explanation_view(explanation: NodeExplanation, style: Style) -> RenderableType:
    """Return what to print of one explanation."""
    parts: list[RenderableType] = [*_headline(explanation), *_hop_section(explanation, style)]
    if explanation.features:
        parts += ["", *_feature_section(explanation, style)]
    if explanation.neighbors:
        rest = explanation.features_total - sum(part.margin for part in explanation.neighbors)
        title = "Nodes whose features carried most"
        parts += ["", _heading(title), _neighbor_table(explanation.neighbors, style)]
        parts.append(Text(f"All other nodes: {style.number(rest)}", style="dim"))
        parts += _labeled_section(explanation, style)
    return Group(*parts)


def headline(explanation: NodeExplanation) -> str:
    """Return the prediction in two sentences."""
    node, label, runner_up = (
        short(value) for value in (explanation.node, explanation.label, explanation.runner_up)
    )
    first = (
        f"{node} is labeled '{label}' with {percent(explanation.probability)}; the runner-up is "
        f"'{runner_up}'."
    )
    return f"{first} {_decision(explanation)}"


def _headline(explanation: NodeExplanation) -> Iterator[Text]:
    yield Text(headline(explanation), style="bold")
    if explanation.last_change:
        yield Text(f"The label last changed at hop {explanation.last_change}.")
    else:
        yield Text("The label has been the same since hop 0.")


def _decision(explanation: NodeExplanation) -> str:
    """Return which hop counted most, and how much of the lead it gave."""
    hop, by_hop = explanation.deciding_hop, explanation.by_hop()
    if len(by_hop) == 1:
        return f"Hop {hop} alone voted."
    if explanation.margin <= 0.0 or by_hop[hop] <= 0.0:
        return "The two are tied."
    share = by_hop[hop] / explanation.margin
    if share > 1.0:
        return f"Hop {hop} decided: without it the runner-up would lead."
    if share >= 0.5:
        return f"Hop {hop} decided, with {percent(share)} of the lead."
    return f"Hop {hop} counted most, with {percent(share)} of the lead."


def _hop_section(explanation: NodeExplanation, style: Style) -> Iterator[RenderableType]:
    yield ""
    runner_up = short(explanation.runner_up)
    yield _heading(f"Lead over '{runner_up}' by hop: {style.number(explanation.margin)} log-odds")
    rows = [(f"hop {hop}", margin) for hop, margin in explanation.by_hop().items()]
    yield from bars(rows, style)
    by_voter: dict[str, float] = {}
    for part in explanation.parts:
        by_voter[part.voter] = by_voter.get(part.voter, 0.0) + part.margin
    if len(by_voter) > 1:
        said = ", ".join(f"{name} {style.number(value)}" for name, value in by_voter.items())
        yield Text(f"By learner: {said}")


def bars(rows: Sequence[tuple[str, float]], style: Style) -> list[Text]:
    r"""Return a line with a bar for each row, to the right for the label, to the left against it.

    Parameters
    ----------
    rows : sequence of (str, float)
        Names and values.
    style : Style
        What the terminal can show.

    Returns
    -------
    list of Text
        No line is wider than the terminal, unless that has less than some 25 columns.

    Examples
    --------
    >>> for line in bars([("hop 0", -1.0), ("hop 1", 2.0)], Style(24, unicode=False)):
    ...     print(line)
    hop 0 ####|        -1.00
    hop 1     |####### +2.00
    """
    names = max(len(name) for name, _ in rows)
    numbers = [style.number(value) for _, value in rows]
    room = min(style.width - names - max(map(len, numbers)) - 3, _LONGEST_BARS)
    left, right, scale = _extent([value for _, value in rows], max(room, 4))
    lines = []
    for (name, value), number in zip(rows, numbers, strict=True):
        against, toward = (round(scale * max(each, 0.0)) for each in (-value, value))
        line = Text(f"{name.ljust(names)} ")
        line.append((style.block * against).rjust(left), style=_AGAINST)
        line.append(style.axis)
        line.append((style.block * toward).ljust(right), style=_FOR)
        line.append(f" {number.rjust(max(map(len, numbers)))}")
        lines.append(line)
    return lines


def _extent(values: Sequence[float], room: int) -> tuple[int, int, float]:
    """Return the columns to the left and the right of the axis, and columns per unit."""
    most, least = max([*values, 0.0]), max(-min([*values, 0.0]), 0.0)
    if most + least == 0.0:
        return 0, room, 0.0
    left = round(room * least / (most + least))
    right = room - left
    scales = [n / size for n, size in ((left, least), (right, most)) if n and size > 0.0]
    return left, right, min(scales)


def _feature_section(explanation: NodeExplanation, style: Style) -> Iterator[RenderableType]:
    yield _heading("Features that counted most")
    yield _feature_table(explanation.features, style)
    listed = sum(part.margin for part in explanation.features)
    rest = explanation.features_total - listed
    said = f"All other columns: {style.number(rest)}"
    if abs(explanation.features_remainder) >= _SMALLEST:
        remainder = style.number(explanation.features_remainder)
        said += f"; not from any column (constants of the learners): {remainder}"
    yield Text(said, style="dim")


def _feature_table(parts: Sequence[FeaturePart], style: Style) -> Table:
    table = _table(("column", "own value", "as seen", "part"), style)
    largest = max(abs(part.margin) for part in parts)
    for part in parts:
        values = (_value(part.own), _value(part.value))
        table.add_row(
            short(part.name, style.name_length), *values, *_part_cells(part.margin, largest, style)
        )
    return table


def _labeled_section(explanation: NodeExplanation, style: Style) -> Iterator[RenderableType]:
    """Yield the labeled nodes, unless they have been listed or none of them counts."""
    labeled = [part for part in explanation.labeled if abs(part.margin) >= _SMALLEST]
    if {part.node for part in labeled} <= {part.node for part in explanation.neighbors} and (
        not labeled or labeled[0].is_training is None
    ):
        return
    kind = "Training" if labeled[0].is_training else "Labeled"
    yield ""
    yield _heading(f"{kind} nodes that carried most")
    yield _neighbor_table(labeled, style)


def _neighbor_table(parts: Sequence[NeighborPart], style: Style) -> Table:
    labels = any(part.label is not None for part in parts)
    table = _table(("node", "away", "weight", *(["label"] if labels else []), "part"), style)
    largest = max(abs(part.margin) for part in parts)
    for part in parts:
        name = "itself" if part.hops_away == 0 else short(part.node, style.name_length)
        known = "" if part.label is None else short(part.label, style.name_length)
        label = [known] if labels else []
        cells = (name, counted(part.hops_away, "hop"), f"{part.weight:.3f}", *label)
        table.add_row(*cells, *_part_cells(part.margin, largest, style))
    return table


def _table(header: Sequence[str], style: Style) -> Table:
    """Return an empty table; text is cut to fit, numbers are not."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in header:
        if name in ("column", "node", "label"):
            table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=6)
        else:
            table.add_column(name, justify="right", no_wrap=True)
    if style.width >= _NARROW:
        table.add_column("", no_wrap=True)
    return table


def _part_cells(margin: float, largest: float, style: Style) -> list[str | Text]:
    """Return a part as a number and, where there is room, a bar."""
    cells: list[str | Text] = [style.number(margin)]
    if style.width >= _NARROW:
        length = round(_TABLE_BARS * abs(margin) / largest) if largest else 0
        if margin >= 0.0:
            cells.append(Text(style.block * length, style=_FOR))
        else:
            cells.append(Text(style.light_block * length, style=_AGAINST))
    return cells


def _heading(text: str) -> Text:
    return Text(text, style="bold")


def _value(value: float) -> str:
    return f"{value:.3g}"


def short(value: Any, longest: int = _LONGEST_NAME) -> str:
    r"""Return a user's text on one line, without control characters, its middle left out if long.

    Names that start alike often differ at their ends.

    >>> print(short("Machine_Learning/Theory\x1b[31m", 21))
    Machine_Le…ry\x1b[31m
    """
    text = one_line(str(value))
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"

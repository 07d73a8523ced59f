"""What a notebook shows of a value: a small card of HTML, everything in it escaped.

Styles stand at the elements, so that a card needs no style sheet and does not touch the page around
it. Colors are the page's own, or half transparent, so that they suit light and dark themes.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_CARD = (
    "border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.6em .9em;margin:.2em 0;"
    "max-width:46em;font-size:90%;line-height:1.45;overflow-x:auto"
)
_TABLE = "border-collapse:collapse;margin:.3em 0;text-align:left;font-size:100%"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums;padding:.05em .8em .05em 0"
_TEXT = "text-align:left;padding:.05em .8em .05em 0;overflow-wrap:anywhere"
_BAR = "display:inline-block;height:.7em;background:rgba(80,145,225,.75);border-radius:1px"
_FAINT = "opacity:.75"
_LONGEST = 200


def text(value: object, longest: int = _LONGEST) -> str:
    r"""Return a value as short text on one line that a browser shows and never runs.

    >>> text("<b>\x1b[31m\n", 20), text("long" * 9, 6)
    ('&lt;b&gt;\\x1b[31m', 'longl…')
    """
    joined = " ".join(str(value).split())
    plain = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in joined)
    return html.escape(plain if len(plain) <= longest else plain[: longest - 1] + "…")


def card(kind: str, about: str, *parts: str) -> str:
    """Return a card: what it shows, a few words about it, and finished parts below.

    Parameters
    ----------
    kind : str
        The name of a class.
    about : str
        One line.
    *parts : str
        HTML of the functions below; empty ones are left out.
    """
    head = f'<div><b>{text(kind)}</b> <span style="{_FAINT}">{text(about)}</span></div>'
    return f'<div style="{_CARD}">{head}{"".join(parts)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values, one pair a line."""
    lines = (
        f'<tr><td style="{_TEXT};{_FAINT};white-space:nowrap;vertical-align:top">{text(name)}</td>'
        f'<td style="{_TEXT}">{text(value, 600)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="{_TABLE}">{"".join(lines)}</table>'


def bars(rows: Sequence[tuple[str, int]]) -> str:
    """Return counts as bars, the largest the full width."""
    most = max((count for _, count in rows), default=0) or 1
    lines = (
        f'<tr><td style="{_TEXT}">{text(name, 60)}</td><td style="{_NUMBER}">{count:,}</td>'
        f'<td style="{_TEXT}">{bar(count / most)}</td></tr>'
        for name, count in rows
    )
    return f'<table style="{_TABLE}">{"".join(lines)}</table>'


def bar(share: float, widest: float = 10.0) -> str:
    """Return a bar for a share of one; decoration beside a number, hidden from screen readers."""
    return f'<span aria-hidden="true" style="{_BAR};width:{widest * share:.2f}em"></span>'


def table(header: Sequence[str], rows: Iterable[tuple[Sequence[str], float | None]]) -> str:
    """Return numbers under a header, with a bar at the end of each row: a share of one, or None."""
    head = "".join(f'<th style="{_NUMBER};{_FAINT}">{text(name)}</th>' for name in header)
    lines = (
        "<tr>"
        + "".join(f'<td style="{_NUMBER}">{text(cell)}</td>' for cell in cells)
        + ("" if share is None else f'<td style="{_TEXT}">{bar(share, 6.0)}</td>')
        + "</tr>"
        for cells, share in rows
    )
    return f'<table style="{_TABLE}"><tr>{head}</tr>{"".join(lines)}</table>'


def settings(rows: Iterable[tuple[str, str, bool]]) -> str:
    """Return names and values of settings, those marked in bold."""
    values = ((name, text(value, 600), strong) for name, value, strong in rows)
    lines = (
        f'<tr><td style="{_TEXT};{_FAINT};vertical-align:top">{text(name)}</td>'
        f'<td style="{_TEXT}">{f"<b>{value}</b>" if strong else value}</td></tr>'
        for name, value, strong in values
    )
    return f'<table style="{_TABLE}">{"".join(lines)}</table>'


def listed(phrases: Sequence[str]) -> str:
    """Return phrases as a list."""
    return (
        '<ul style="margin:.2em 0;padding-left:1.4em">'
        + "".join(f"<li>{text(phrase, 600)}</li>" for phrase in phrases)
        + "</ul>"
    )


def folded(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a part that opens and closes with a click or a key."""
    state = " open" if is_open else ""
    return (
        f'<details{state} style="margin-top:.3em"><summary style="cursor:pointer">{text(summary)}'
        f"</summary>{body}</details>"
    )

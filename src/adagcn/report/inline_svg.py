"""A figure as part of a page: its text and colors follow the page, and a screen reader can tell.

Matplotlib writes fixed colors and ids that every figure shares. Here the colors of the house become
variables of the page's style sheet, ids get the figure's name in front, and the whole is an image
with a title and a description.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

from adagcn.report.drawing import COLORS, GRAY, LIGHT_GRAY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE_WIDTH = 4.8  # inches: text stays readable where a phone shrinks the figure
_VARIABLES = {
    **{color.lower(): f"var(--c{number})" for number, color in enumerate(COLORS[:-1])},
    COLORS[-1].lower(): "var(--text)",
    GRAY.lower(): "var(--muted)",
    LIGHT_GRAY.lower(): "var(--line)",
    "#ffffff": "var(--paper)",
}
_COLOR = re.compile("|".join(_VARIABLES), re.IGNORECASE)
_FONT = re.compile(r"font: (?:[\w.]+ )*?([\d.]+px) [^;\"]*")


def inline_svg(figure: Figure, name: str, *, title: str, description: str) -> str:
    """Return a figure as SVG to stand in an HTML page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn in the colors of :mod:`adagcn.report.drawing`.
    name : str
        Unique on the page: letters and hyphens.
    title, description : str
        What the figure is, and what it shows, for those who cannot see it.

    Returns
    -------
    str
        One ``svg`` element; the same figure always gives the same text.
    """
    drawn = _drawn(figure)
    box = re.search(r'viewBox="([^"]+)"', drawn)
    body = drawn[drawn.index(">", drawn.index("<svg")) + 1 : drawn.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"\s*\n\s*", "\n", body)
    body = _themed(_prefixed(body, name))
    assert box is not None
    return (
        f'<svg class="figure" viewBox="{box[1]}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(description)}</desc>{body}</svg>'
    )


def _drawn(figure: Figure) -> str:
    from matplotlib import rc_context

    figure.set_dpi(72)  # as the SVG has it, so that places can be looked up afterwards
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    text = io.BytesIO()
    # Text stays text, which browsers can select, read aloud and restyle.
    with rc_context({"svg.hashsalt": "adagcn", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue().decode("utf-8")


def _prefixed(body: str, name: str) -> str:
    """Put the figure's name in front of every id and of every mention of one."""
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', body)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)


def _themed(body: str) -> str:
    """Replace the colors of the house by variables, inside of tags alone."""

    def in_tag(tag: re.Match[str]) -> str:
        text = _COLOR.sub(lambda found: _VARIABLES[found[0].lower()], tag[0])
        return _FONT.sub(r"font-size: \1", text)

    return re.sub(r"<[^>]*>", in_tag, body)

"""Tables as text: Markdown for GitHub, LaTeX, or lines for a terminal.

Any word may come from a user's file, so each format escapes its special characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap

from rich.cells import cell_len

_LATEX = {
    **{c: f"\\{c}" for c in "_%&#${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",  # bare, at the start of a row, they would belong to the end of the row before
    "*": "{*}",
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
    "†": r"$^\dagger$",
}


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text.

    Attributes
    ----------
    title : str
        What stands above the table, on one line.
    header : list of str
        Names of the columns.
    body : list of rows
        ``body[i][j]`` holds the lines of a cell.
    notes : list of str
        Sentences to put below.
    n_words : int
        Number of text columns, at the left and aligned left; the others are numbers.
    """

    title: str
    header: list[str]
    body: list[list[list[str]]]
    notes: list[str]
    n_words: int


def markdown(table: TextTable) -> str:
    """Return the table as GitHub Markdown, with the columns of its source aligned."""
    rows = [["<br>".join(map(markdown_text, lines)) for lines in row] for row in table.body]
    names = [*map(markdown_text, table.header)]
    # The rule goes through the alignment: "--:" makes a column three wide, as GitHub wants it.
    least = ["---"] * table.n_words + ["--:"] * (len(names) - table.n_words)
    header, rule, *body = _aligned([names, least, *rows], table.n_words)
    rule = ["-" * (cell_len(cell) - 1) + cell.strip()[-1] for cell in rule]
    lines = [f"| {' | '.join(row)} |" for row in (header, rule, *body)]
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    return "\n".join([f"**{markdown_text(table.title)}**", "", *lines, "", *notes, ""])


def text(table: TextTable, width: int | None = None) -> str:
    """Return the table as lines for a terminal, with notes wrapped at ``width`` if given."""
    rows = [[*map(one_line, row)] for row in (table.header, *_stacked(table))]
    header, *body = _aligned(rows, table.n_words)
    rule = ["─" * cell_len(name) for name in header]
    lines = ["  ".join(row).rstrip() for row in (header, rule, *body)]
    notes = [one_line(note) for note in table.notes]
    if width is not None:
        notes = [part for note in notes for part in wrap(note, width, subsequent_indent="  ")]
    return "\n".join([one_line(table.title), "", *lines, "", *notes, ""])


def latex(table: TextTable) -> str:
    """Return the table as a LaTeX float for the package booktabs."""
    rows = [[*map(latex_text, row)] for row in (table.header, *_stacked(table))]
    header, *body = (f"    {' & '.join(row)} \\\\" for row in _aligned(rows, table.n_words))
    alignment = "l" * table.n_words + "r" * (len(table.header) - table.n_words)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{latex_text(table.title)}}}",
            f"  \\begin{{tabular}}{{{alignment}}}",
            "    \\toprule",
            header,
            "    \\midrule",
            *body,
            "    \\bottomrule",
            "  \\end{tabular}",
            "  \\par\\smallskip\\footnotesize\\raggedright",
            *(f"  {latex_text(note)}\\par" for note in table.notes),
            "\\end{table}",
            "",
        ]
    )


def one_line(words: str) -> str:
    """Return ``words`` on one line, with control characters spelled out."""
    joined = " ".join(words.split())
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in joined)


def markdown_text(words: str) -> str:
    r"""Return ``words`` so that GitHub shows them letter by letter.

    >>> print(markdown_text("a|b *c* cora_ml <i> [x](y)"))
    a\|b \*c\* cora_ml &lt;i&gt; [x\](y)
    """
    safe = one_line(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An underscore inside a word and a bracket that starts no link are harmless as they are.
    return re.sub(r"[\\`*|~$]|(?<!\w)_|_(?!\w)|\](?=[(\[:])", r"\\\g<0>", safe)


def latex_text(words: str) -> str:
    r"""Return ``words`` so that LaTeX prints them letter by letter.

    >>> print(latex_text("cora_ml, 95 % & #1"))
    cora\_ml, 95 \% \& \#1
    """
    return "".join(_LATEX.get(c, c) for c in one_line(words))


def _stacked(table: TextTable) -> list[tuple[str, ...]]:
    return [line for row in table.body for line in zip_longest(*row, fillvalue="")]


def _aligned(rows: Sequence[Sequence[str]], n_words: int) -> list[list[str]]:
    """Return all cells of a column equally wide, words filled on their right, numbers on the left.

    Columns of a terminal are counted, since some letters take two.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def filled(cell: str, column: int) -> str:
        gap = " " * (widths[column] - cell_len(cell))
        return cell + gap if column < n_words else gap + cell

    return [[filled(cell, column) for column, cell in enumerate(row)] for row in rows]

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from adagcn.errors import InputError
from adagcn.experiments.statistics import compare_paired, summarize
from adagcn.experiments.table_words import comparison_note
from adagcn.experiments.tables import (
    Cell,
    Row,
    Table,
    TimingRow,
    render,
    render_for_terminal,
    timing_table,
)

OURS = Cell(0.76951, (0.76495, 0.7739), 100, "tuned", (0.7668, 0.0020), 100, 20)
BELOW = Cell(0.85123, (0.849, 0.853), 100, "tuned", (0.8597, 0.0020), 100, 20)
MISSING = Cell(None, None, 0, "tuned", (0.7995, 0.0021), 100)
HOSTILE = "a|b_ _c_ *d* <b> & 50 % #1 $x$ {y} \\z ~ ^ [l](u) `q`"


def table(*rows, columns=("CiteSeer", "Cora-ML", "PubMed"), **further):
    rows = rows or (Row("AdaGCN", "adagcn", "tuned", (OURS, BELOW, MISSING)),)
    return Table("Table 2", columns, rows, **further)


def html_cells(markdown):
    """What a reader of GitHub sees: the text of every cell, tags other than <br> refused."""
    html = MarkdownIt("commonmark").enable("table").enable("strikethrough").render(markdown)
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    rows = [row.split("</td>")[:-1] for row in body.split("<tr>")[1:]]
    return [[cell[cell.index(">") + 1 :].strip() for cell in row] for row in rows]


def test_a_cell_shows_mean_interval_paper_and_difference_and_its_row_n_and_preset():
    (row,) = html_cells(render(table(), "md"))
    assert row == [
        "AdaGCN",
        "tuned",
        "100",
        "76.95 [76.50, 77.39]<br>paper 76.68 ± 0.20, +0.27",
        "85.12 [84.90, 85.30]<br>paper 85.97 ± 0.20, −0.85",
        "–<br>paper 79.95 ± 0.21",
    ]


def test_the_source_of_markdown_is_in_line():
    wide = Row("漢字 long label", "m", "a_preset", (OURS, MISSING, BELOW))
    text = render(table(Row("x", "m", "p", (MISSING,) * 3), wide), "md")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert len({cell_len(line) for line in lines}) == 1
    assert lines[1].count("-:") == 4


def test_a_column_of_one_digit_has_a_rule_that_github_accepts():
    few = replace(OURS, n=8, planned=8)
    text = render(table(Row("AdaGCN", "adagcn", "tuned", (few, few, few))), "md")
    rule = text.splitlines()[3].strip("| ").split(" | ")
    assert all(len(cell) >= 3 for cell in rule)
    assert [cell[-1] for cell in rule] == ["-", "-", ":", ":", ":", ":"]


def test_missing_and_partial_cells_are_marked_and_counted_below():
    partial = replace(OURS, n=37)
    text = render(table(Row("AdaGCN", "adagcn", "tuned", (partial, BELOW, MISSING))), "text")
    assert "76.95 [76.50, 77.39]† (n = 37)" in text
    assert "85.12 [84.90, 85.30] (n = 100)" in text
    assert "37–100" in text
    assert (
        "Missing runs (– or †), AdaGCN (tuned): CiteSeer 37 of 100 runs, PubMed 0 of 100 runs."
        in text
    )


def test_a_complete_table_has_no_mark_and_no_note_about_missing_runs():
    text = render(table(Row("AdaGCN", "adagcn", "tuned", (OURS,)), columns=("CiteSeer",)), "text")
    assert "Missing" not in text
    assert "†" not in text
    assert "too narrow" not in text


def test_what_weakens_a_number_is_said():
    one, few = replace(OURS, interval=None, n_splits=1), replace(OURS, n_splits=2)
    text = render(table(Row("m", "m", "tuned", (one, few)), columns=("a", "b")), "text")
    assert "76.95 [–]" in text
    assert "a single split has no interval" in text
    assert "fewer than 10 splits are too narrow" in text


def test_a_cell_of_another_preset_than_its_row_says_so():
    (row,) = html_cells(
        render(table(Row("AdaGCN", "adagcn", "paper", (OURS,)), columns=("a",)), "md")
    )
    assert row[3].startswith("76.95 [76.50, 77.39] (tuned)<br>")


def test_a_cell_of_a_summary_carries_its_numbers_and_of_none_is_missing():
    summary = summarize(np.array([[0.7, 0.8], [0.9, np.nan]]))
    cell = Cell.of(summary, "tuned", published=(0.79, 0.01), planned=4)
    assert (cell.mean, cell.interval, cell.n, cell.n_splits) == (
        summary.mean,
        summary.interval,
        3,
        2,
    )
    assert cell.difference == pytest.approx(0.01)
    assert cell.incomplete
    assert Cell.of(None, "tuned", planned=4).incomplete
    assert Cell.of(None, "tuned").mean is None


@pytest.mark.parametrize(
    ("value", "shown"), [(0.00004, "±0.00"), (-0.00004, "±0.00"), (-0.012, "−1.20")]
)
def test_differences_carry_their_sign_and_zero_has_none(value, shown):
    points = Cell(value, (value, value), 20, "tuned")
    text = render(table(Row("m", "m", "tuned", (points,)), columns=("a",), unit="points"), "text")
    assert f"{shown} [{shown}, {shown}]" in text


def test_the_papers_decimals_are_the_tables():
    cell = replace(OURS, published=(0.742, 0.003))
    text = render(
        table(Row("m", "m", "tuned", (cell,)), columns=("a",), published_decimals=1), "text"
    )
    assert "paper 74.2 ± 0.3, +2.75" in text


# --- formats


def test_csv_is_one_line_per_cell_with_plain_numbers():
    lines = list(csv.DictReader(io.StringIO(render(table(), "csv"))))
    assert [line["column"] for line in lines] == ["CiteSeer", "Cora-ML", "PubMed"]
    first, _, last = lines
    names = ("mean", "lo", "hi", "published_mean", "published_half_width", "difference")
    assert [float(first[name]) for name in names] == pytest.approx(
        [0.76951, 0.76495, 0.7739, 0.7668, 0.002, 0.00271]
    )
    assert (first["n"], first["n_splits"], first["planned"]) == ("100", "20", "100")
    assert (first["label"], first["model"], first["preset"]) == ("AdaGCN", "adagcn", "tuned")
    assert (last["mean"], last["lo"], last["difference"], last["n"]) == ("", "", "", "0")


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_no_text_in_csv_is_a_formula_for_a_spreadsheet(label):
    text = render(table(Row(label, label, "p", (OURS,)), columns=(label,)), "csv")
    (line,) = csv.DictReader(io.StringIO(text))
    assert {line["label"], line["model"], line["column"]} == {"'" + label.strip()}


def test_a_negative_difference_in_csv_stays_a_number():
    line = list(csv.DictReader(io.StringIO(render(table(), "csv"))))[1]
    assert float(line["difference"]) == pytest.approx(-0.00847)


def test_markdown_shows_any_label_letter_by_letter():
    (row,) = html_cells(render(table(Row(HOSTILE, "m", "p", (OURS,)), columns=("a",)), "md"))
    assert row[0] == HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def test_latex_escapes_labels_and_its_rows_have_equally_many_cells():
    rows = (
        Row("[a]_b & 50% #1 {x} \\y ~ ^ $", "m", "p", (OURS, MISSING)),
        Row("*", "m", "p", (BELOW, OURS)),
    )
    lines = render(table(*rows, columns=("cora_ml", "b")), "latex").splitlines()
    body = [line for line in lines if line.endswith(r"\\")]
    assert [line.replace(r"\&", "").count("&") for line in body] == [4] * 5
    assert body[0].split("&")[3].strip() == r"cora\_ml"
    assert (
        body[1]
        .lstrip()
        .startswith(
            r"{[}a]\_b \& 50\% \#1 \{x\} \textbackslash{}y \textasciitilde{} \textasciicircum{} \$"
        )
    )
    assert body[3].lstrip().startswith("{*}")
    assert r"paper 85.97 $\pm$ 0.20, $-$0.85" in body[4]
    assert [line.strip() for line in lines if "rule" in line] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    assert r"\begin{tabular}{llrrr}" in "".join(lines)


def test_text_keeps_control_characters_from_the_terminal():
    text = render(table(Row("a\x1b[31m\nb", "m", "p", (OURS,)), columns=("\x07",)), "text")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "a\\x1b[31m b" in text


def test_numbers_of_a_text_column_end_at_the_same_place():
    lines = render(table(), "text").splitlines()
    rule, first, second = lines[3:6]
    end = len(rule) - len(rule.split()[-1]) - 2
    assert first[:end].endswith("85.12 [84.90, 85.30]")
    assert second[:end].endswith("−0.85")


@pytest.mark.parametrize("width", [70, 200])
def test_a_table_for_a_terminal_fits_it_and_loses_nothing(width):
    row = Row("AdaGCN", "adagcn", "tuned", (OURS, BELOW, replace(MISSING, preset="other")))
    text = render_for_terminal(table(row), width)
    assert max(map(cell_len, text.splitlines())) <= width
    for part in ("76.95 [76.50, 77.39]", "−0.85", "CiteSeer", "PubMed", "tuned", "100"):
        assert part in text
    assert ("data set" in text) == (width == 70)
    assert " ".join(text.split()).endswith("PubMed 0 of 100 runs.")


@pytest.mark.parametrize("style", ["md", "csv", "latex", "text"])
def test_the_same_table_gives_the_same_text_with_one_line_break_at_its_end(style):
    text = render(table(notes=("A note.",)), style)
    assert text == render(table(notes=("A note.",)), style)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert ("A note." in text) == (style != "csv")


def test_a_table_without_rows_is_a_header():
    empty = Table("t", ("a",), ())
    assert "| model | preset |" in render(empty, "md")
    assert render(empty, "csv").count("\n") == 1


# --- times and comparisons


def test_seconds_are_means_with_the_middle_of_the_runs_and_totals_below():
    rows = [
        TimingRow("AdaGCN", "adagcn", "tuned", (np.linspace(10, 20, 101), [2.0])),
        TimingRow("MLP", "mlp", "tuned", ([], [3600.0, 3660.0])),
    ]
    text = render(timing_table("t", ("a", "b"), rows, notes=("Two cores.",)), "text")
    assert "15.0 [10.2, 19.8] (n = 101)" in text
    assert "2.00 [–] (n = 1)" in text
    assert "AdaGCN (tuned): 102 runs took 25 min 17 s in all." in text
    assert "MLP (tuned): 2 runs took 2 h 01 min in all." in text
    assert text.endswith("Two cores.\n")


def test_a_comparison_in_words_has_every_number():
    rng = np.random.default_rng(0)
    b = rng.normal(0.8, 0.01, (20, 2))
    found = compare_paired(b + rng.normal(0.01, 0.003, b.shape), b)
    note = comparison_note("tuned", "paper", found)
    low, high = found.interval
    assert note.startswith(
        f"tuned − paper: +{100 * found.difference:.2f} [+{100 * low:.2f}, +{100 * high:.2f}] points"
        " (20 splits, 40 pairs of runs); "
    )
    assert f"split means p = {found.p_splits:.1e}, Wilcoxon" in note
    assert f"t-test on runs p = {found.p_runs:.1e}" in note
    assert f"d_z = +{found.effect_size:.2f}." in note


def test_a_comparison_that_cannot_be_tested_has_dashes():
    note = comparison_note("a", "b", compare_paired(np.array([[0.5]]), np.array([[0.5]])))
    assert note == (
        "a − b: ±0.00 [–] points (1 split, 1 pair of runs); t-test on split means p = –, "
        "Wilcoxon on split means p = –, t-test on runs p = –; d_z = –."
    )


# --- mistakes


def test_a_row_of_another_length_is_refused():
    with pytest.raises(
        InputError, match=r"row 'm' must have one cell for each of 3 columns; got 1"
    ):
        table(Row("m", "m", "p", (OURS,)))


@pytest.mark.parametrize("cell", [replace(OURS, mean=76.9), replace(OURS, published=(76.68, 0.2))])
def test_percentages_where_shares_belong_are_refused(cell):
    with pytest.raises(InputError, match=r"not a share of one; got 76\.\d+\. Divide percentages"):
        table(Row("m", "m", "p", (cell,)), columns=("a",))


def test_an_unknown_style_is_refused():
    with pytest.raises(InputError, match=r"style must be one of csv, md, latex, text; got 'html'"):
        render(table(), "html")

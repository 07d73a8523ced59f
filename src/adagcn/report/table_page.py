"""The page of an experiment: the paper's numbers beside ours, from finished runs alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from adagcn.errors import InputError, counted
from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.ledger import LedgerRow
from adagcn.experiments.outcome import CellOutcome, outcomes
from adagcn.experiments.outcome_tables import accuracy_table
from adagcn.experiments.provenance import code_versions
from adagcn.experiments.spec import Spec
from adagcn.experiments.statistics import split_means
from adagcn.experiments.table_words import wide_table
from adagcn.models.support.measures import METRICS, Metric
from adagcn.report.page import Page
from adagcn.report.panels import PanelRow, panel
from adagcn.report.scored_nodes import plain_text

_MOST_NOTES = 400


def table_page(
    spec: Spec,
    cells: Sequence[PlannedCell],
    finished: Iterable[LedgerRow],
    *,
    metric: Metric = "accuracy",
) -> Page:
    """Return the page of an experiment.

    Parameters
    ----------
    spec : Spec
        The experiment.
    cells : sequence of PlannedCell
        Its cells with their runs, as :func:`~adagcn.experiments.campaign.plan` returns them.
    finished : iterable of LedgerRow
        Finished runs; those of other experiments are passed over.
    metric : str
        The measure to show. The paper's numbers are accuracies.

    Raises
    ------
    InputError
        If no run of the experiment is finished.
    """
    wanted = {run.key for cell in cells for run in cell.runs}
    results = {row.key: row.result for row in finished if row.key in wanted}
    found = outcomes(cells, results, metric)
    n_runs = sum(len(each.finished) for each in found)
    if not n_runs:
        raise InputError(
            "AGC-I1405",
            f"no run of the experiment has a result with {METRICS[metric]}",
            got=spec.title,
            fix="give the ledger of its runs with --ledger or --import, or train them: adagcn "
            "reproduce",
        )
    panels = [
        panel(column.label, number, rows, spec.rows[0].label)
        for number, column in enumerate(spec.columns)
        if (rows := _rows(spec, [each for each in found if each.cell.column == column]))
    ]
    planned = sum(len(each.cell.places) for each in found)
    notes = wide_table(accuracy_table(spec, found)).notes
    content = {
        "title": plain_text(spec.title, 120),
        "lead": _lead(panels),
        "runs": f"{n_runs:,} of {planned:,} planned runs are finished.",
        "measure": METRICS[metric],
        "panels": panels,
        "notes": [plain_text(note, 1000) for note in notes[:_MOST_NOTES]],
        "versions": {name: value for name, value in code_versions().items() if value is not None},
        "about": "Means over splits and fits, with 95 % bootstrap intervals over splits.",
    }
    facts = {
        "title": spec.title,
        "metric": metric,
        "runs": n_runs,
        "planned": planned,
        "columns": len(panels),
        "differences": [
            {"column": each["name"], "label": row["label"], "difference": row["difference"]}
            for each in panels
            for row in each["rows"]
            if row["difference"] is not None
        ],
    }
    return Page("table.html", content, facts)


def _rows(spec: Spec, found: Sequence[CellOutcome]) -> list[PanelRow]:
    return [
        PanelRow(
            label=each.cell.row.label,
            preset=each.cell.row.preset,
            summary=each.summary,
            split_means=split_means(each.scores) if each.finished else [],
            planned=len(each.cell.places),
            published=spec.published(each.cell.row, each.cell.column),
            versus=each.against_first,
            seconds=mean_seconds([result for _, result in each.finished]),
        )
        for each in found
    ]


def mean_seconds(results: Sequence[Any]) -> float | None:
    """Return the mean processor time of fits; None if one lacks it, as older runs do."""
    seconds = [result.fit_cpu_seconds for result in results]
    return fmean(seconds) if seconds and None not in seconds else None


def _lead(panels: Sequence[dict[str, Any]]) -> str:
    """Return in words how ours compare with the paper's numbers."""
    gaps = [
        row["difference"]
        for each in panels
        for row in each["rows"]
        if row["difference"] is not None
    ]
    if not gaps:
        return ""
    above = sum(gap > 0 for gap in gaps)
    return (
        f"The paper has a number beside {counted(len(gaps), 'mean')} of ours. Ours is higher in "
        f"{above} and not in {len(gaps) - above}; the mean difference is "
        f"{_points(fmean(gaps))} points, the largest {_points(max(gaps, key=abs))}."
    )


def _points(share: float) -> str:
    return f"{100 * share:+.2f}".replace("-", "−")

"""``adagcn fit --predict-to``: predictions of all nodes, right after a fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adagcn.cli.output import check_out
from adagcn.cli.table_files import say_defused
from adagcn.errors import AdaGCNError, InputError, counted

if TYPE_CHECKING:
    from adagcn.models.support.classifier import NodeClassifier
    from adagcn.models.support.prediction_parts import PredictionSummary

_MOST_LABELS = 20  # rows of the summary


@dataclass(frozen=True)
class AllPredicted:
    """What was predicted, or why it could not be written.

    Parameters
    ----------
    path : Path or None
        Where the predictions are; None where none were asked for.
    summary : PredictionSummary or None
        How many there are; None where there are none.
    failure : exception or None
        Raised when the fit has been shown.
    """

    path: Path | None
    summary: PredictionSummary | None = None
    failure: AdaGCNError | OSError | None = None

    def facts(self) -> dict[str, Any] | None:
        """Return file and number of rows, ready for JSON; None where none were written."""
        if self.summary is None:
            return None
        return {"path": self.path, "nodes": self.summary.n_nodes}

    def rows(self) -> list[tuple[str, str]]:
        """Return what was predicted as names and values."""
        if self.summary is None:
            return []
        return [*predicted_rows(self.summary), ("written to", str(self.path))]


def check_predict_to(path: Path | None, out: Path | None, *, force: bool) -> None:
    """Refuse a file of predictions that could not be written, before any work is done."""
    from adagcn.formats.result_files import table_format

    if path is None:
        return
    table_format(path, "--predict-to")
    check_out(path, force=force, name="--predict-to")
    if out is not None and out.resolve() == path.resolve():
        problem = "--out and --predict-to name the same file"
        raise InputError("AGC-I1803", problem, got=str(path), fix="give each a name of its own")


def predict_all(model: NodeClassifier, path: Path | None) -> AllPredicted:
    """Predict all nodes; a failure is kept, so that what was trained for can be shown first."""
    if path is None:
        return AllPredicted(None)
    try:
        summary = model.predict_to(path)
    except (AdaGCNError, OSError) as error:
        return AllPredicted(path, failure=error)
    say_defused(summary.n_defused)
    return AllPredicted(path, summary)


def predicted_rows(summary: PredictionSummary) -> list[tuple[str, str]]:
    """Return how many nodes were predicted, and as what, the most frequent labels first."""
    ranked = sorted(summary.labels.items(), key=lambda each: (-each[1], each[0]))
    rest = len(ranked) - _MOST_LABELS
    return [
        ("predicted", counted(summary.n_nodes, "node")),
        *((f"as {label}", f"{count:,}") for label, count in ranked[:_MOST_LABELS]),
        *([("", f"and {counted(rest, 'other label')}")] if rest > 0 else []),
    ]

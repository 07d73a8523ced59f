"""Which settings of a grid to take for a data set: those with the best mean over validation splits.

The cell of a row with a grid holds, split by split, what the stopping nodes say. Here one
combination is chosen for all splits, by its mean accuracy on their scored nodes: the rule by which
AdaGCN's own presets were chosen. It is for validation splits; final ones are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from adagcn.data.gasteiger import FINAL_KINDS
from adagcn.errors import InputError, counted
from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.runs import RunResult
from adagcn.experiments.spec import Spec
from adagcn.experiments.table_formats import TextTable


@dataclass(frozen=True)
class Candidate:
    """One combination of a grid on one data set.

    Attributes
    ----------
    settings : dict
        Its values, by name.
    mean : float or None
        Mean accuracy on the scored nodes; None as long as runs are missing.
    finished, planned : int
        Its runs.
    """

    settings: dict[str, Any]
    mean: float | None
    finished: int
    planned: int


@dataclass(frozen=True)
class GridChoice:
    """What a grid has on one data set.

    Attributes
    ----------
    row, column : str
        Their labels.
    candidates : tuple of Candidate
        All combinations, in the order of the grid.
    """

    row: str
    column: str
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate | None:
        """The first with the best mean; None as long as any candidate lacks runs."""
        if any(each.mean is None for each in self.candidates):
            return None
        return max(self.candidates, key=lambda each: each.mean or 0.0)

    @property
    def missing(self) -> int:
        """Runs that are missing, of all candidates."""
        return sum(each.planned - each.finished for each in self.candidates)


def check_choosable(spec: Spec, name: str) -> None:
    """Refuse to choose without a grid, or on splits that are for final tables."""
    if not any(row.grid and row.grid_splits is None for row in spec.rows):
        raise InputError(
            "AGC-I2209",
            f"{name} has no row with a grid to choose from",
            fix="choose from search_rivals or search_adasgc, or add a grid to a row of your spec",
        )
    kinds = {spec.kind_on(column) for column in spec.columns}
    if kinds & {*FINAL_KINDS, "public"}:
        raise InputError(
            "AGC-I2210",
            "settings are not chosen on splits that final tables are made of",
            got=", ".join(sorted(kinds)),
            fix='use splits = "val"',
        )


def grid_choices(
    cells: Sequence[PlannedCell], results: Mapping[str, RunResult]
) -> list[GridChoice]:
    """Return what each row with a grid has on each column.

    Parameters
    ----------
    cells : sequence of PlannedCell
        The planned cells.
    results : mapping
        Finished runs by key.
    """
    return [
        _choice(cell, results)
        for cell in cells
        if cell.row.grid and cell.row.grid_splits is None  # the stopping nodes choose there
    ]


def _choice(cell: PlannedCell, results: Mapping[str, RunResult]) -> GridChoice:
    # Every place has the candidates in the order of the grid.
    by_candidate = list(zip(*cell.places.values(), strict=True))
    candidates = []
    for runs in by_candidate:
        found = [results[run.key].accuracy for run in runs if run.key in results]
        candidates.append(
            Candidate(
                {name: runs[0].params.get(name) for name in cell.row.grid},
                fmean(found) if len(found) == len(runs) else None,
                len(found),
                len(runs),
            )
        )
    return GridChoice(cell.row.label, cell.column.label, tuple(candidates))


def grid_table(title: str, choices: Sequence[GridChoice]) -> TextTable:
    """Return a row for each system and data set: the chosen settings, their mean and the next."""
    body = [
        [[each.row], [each.column], [_told(each)], [_percent(each, 0)], [_percent(each, 1)]]
        for each in choices
    ]
    header = ["model", "data", "chosen settings", "mean, %", "next best, %"]
    notes = [
        "Chosen: the combination with the best mean accuracy on the scored nodes of all splits.",
        "A mean that is the best of several is somewhat too high; the final splits say what it is "
        "worth.",
    ]
    return TextTable(f"{title}: settings for each data set", header, body, notes, len(header))


def json_grid(choices: Sequence[GridChoice]) -> list[dict[str, Any]]:
    """Return the choices ready for JSON, with every candidate."""
    return [
        {
            "label": each.row,
            "column": each.column,
            "chosen": None if each.chosen is None else each.chosen.settings,
            "candidates": [vars(candidate) for candidate in each.candidates],
        }
        for each in choices
    ]


def _told(each: GridChoice) -> str:
    if each.chosen is None:
        return f"open: {counted(each.missing, 'run')} missing"
    return ", ".join(f"{name} = {value}" for name, value in each.chosen.settings.items())


def _percent(each: GridChoice, place: int) -> str:
    """Return the best mean, or the one behind it; a dash as long as the choice is open."""
    if each.chosen is None or len(each.candidates) <= place:
        return "–"
    ranked = sorted((each.mean or 0.0 for each in each.candidates), reverse=True)
    return f"{100 * ranked[place]:.2f}"

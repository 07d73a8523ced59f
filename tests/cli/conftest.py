"""What the tests of the command line share."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adagcn.cli import main
from adagcn.data.generators import planted_partition


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def facts(self) -> dict[str, Any]:
        """The one JSON object on standard output; fails if there is anything else."""
        parsed = json.loads(self.stdout)
        assert isinstance(parsed, dict)
        return parsed


@pytest.fixture
def run_cli(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run ``adagcn`` in this process, through its real entry point."""
    monkeypatch.delenv("ADAGCN_DEBUG", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Outcome:
        capfd.readouterr()
        code = main([str(word) for word in words])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@dataclass(frozen=True)
class Tables:
    """A user's three CSV files, with names of people as node ids and of fruit as labels."""

    edges: Path
    features: Path
    labels: Path
    truth: dict[str, str]

    @property
    def options(self) -> list[str]:
        """How the command line names them."""
        return ["--edges", f"{self.edges}", "--features", f"{self.features}"]

    @property
    def with_labels(self) -> list[str]:
        """The same with the labels."""
        return [*self.options, "--labels", f"{self.labels}"]


FRUIT = ("apple", "banana", "cherry")


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """A small graph that boosting over hops solves well, as files; every 4th label is unknown."""
    folder = tmp_path_factory.mktemp("tables")
    graph = planted_partition(160, 3, 6, seed=1, homophily=0.95, mean_degree=8, feature_signal=2)
    names = [f"person {node}" for node in range(graph.n_nodes)]
    arcs = zip(*graph.adjacency.nonzero(), strict=True)
    write_rows(
        folder / "edges.csv", ["from", "to"], [[names[i], names[j]] for i, j in arcs if i < j]
    )
    write_rows(
        folder / "features.csv",
        ["name", *(f"x{k}" for k in range(graph.n_features))],
        [[name, *row] for name, row in zip(names, graph.features.tolist(), strict=True)],
    )
    truth = {name: FRUIT[label] for name, label in zip(names, graph.labels.tolist(), strict=True)}
    known = [[name, fruit] for k, (name, fruit) in enumerate(truth.items()) if k % 4]
    write_rows(folder / "labels.csv", ["name", "fruit"], known)
    return Tables(folder / "edges.csv", folder / "features.csv", folder / "labels.csv", truth)


def write_rows(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([header, *rows])

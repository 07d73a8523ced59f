"""What a doctor found: sections of plain numbers, and advice in sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from adagcn.doctor.feature_checks import FeatureChecks
from adagcn.doctor.held_out import Gain
from adagcn.doctor.homophily import Homophily
from adagcn.doctor.intervals import Estimate
from adagcn.doctor.label_counts import LabelCounts
from adagcn.doctor.learning_curve import LearningCurve
from adagcn.doctor.structure import Structure


@dataclass(frozen=True)
class Advice:
    """One sentence of advice.

    Parameters
    ----------
    topic : str
        What it is about, in a word.
    sentence : str
        The advice, with the number behind it. Names of the user's are in quotes, shortened, without
        control characters.
    """

    topic: str
    sentence: str


@dataclass(frozen=True)
class HopRow:
    """One hop Â^l X.

    Parameters
    ----------
    hop : int
        l.
    energy : float
        Normalized Dirichlet energy, 0 to 2.
    distance : float or None
        Mean cosine distance of drawn pairs of nodes; None if all rows are zero.
    effective_rank : float
        Exponential of the entropy of the singular values.
    accuracy : Estimate or None
        Of a ridge on held-out labels; None where there are too few labels.
    loss : float or None
        Its mean −log p of these labels.
    """

    hop: int
    energy: float
    distance: float | None
    effective_rank: float
    accuracy: Estimate | None
    loss: float | None


@dataclass(frozen=True)
class Hops:
    """What happens to the features on their way along the edges.

    Parameters
    ----------
    rows : tuple of HopRow
        Every hop; hop 0 alone if the graph has no edges.
    n_columns : int
        Columns that were propagated.
    n_nodes : int
        Nodes behind energy, distance and rank (of at most 500 of them).
    n_judged : int
        Held-out labels behind accuracy and loss.
    """

    rows: tuple[HopRow, ...]
    n_columns: int
    n_nodes: int
    n_judged: int


@dataclass(frozen=True)
class SmoothingRow:
    """A smoothing that a ridge was fitted on.

    Parameters
    ----------
    kind : {"hop", "teleport", "side by side"}
        A plain hop Â^l X; H ← (1 − γ) Â H + γ X so many times; hops 0, 1 and 2 as columns of
        their own.
    teleport : float
        γ.
    n_hops : int
        Steps.
    accuracy : Estimate
        On held-out labels.
    loss : float
        Mean −log p of these labels.
    close : bool
        Whether its loss cannot be told from the lowest of all.
    """

    kind: str
    teleport: float
    n_hops: int
    accuracy: Estimate
    loss: float
    close: bool


@dataclass(frozen=True)
class Diagnosis:
    """What was found about a graph.

    Parameters
    ----------
    name : str or None
        The graph's name.
    seed : int
        Of everything that was drawn.
    advice : tuple of Advice
        What to do, most important first.
    structure : Structure
        Degrees and components.
    labels : LabelCounts
        Labels and how near they are to other nodes.
    homophily : Homophily or None
        Whether neighbors have the same label; None if no edge joins two labeled nodes.
    features : FeatureChecks
        What is odd about the columns.
    hops : Hops
        What propagation does to the features.
    smoothings : tuple of SmoothingRow
        All smoothings that were tried, lowest loss first; empty where there are too few labels.
    gain : Gain or None
        What the graph adds to the features; None where that cannot be told.
    curve : LearningCurve or None
        Accuracy against the number of labels.
    sampled : tuple of str
        What was measured on a sample, in phrases; empty if everything was measured on all.
    """

    name: str | None
    seed: int
    advice: tuple[Advice, ...]
    structure: Structure
    labels: LabelCounts
    homophily: Homophily | None
    features: FeatureChecks
    hops: Hops
    smoothings: tuple[SmoothingRow, ...]
    gain: Gain | None
    curve: LearningCurve | None
    sampled: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, text and numbers, ready for JSON."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value

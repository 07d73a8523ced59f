"""Why nodes got their labels, as values: to look at, as a frame, as JSON, in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, overload

from adagcn.errors import InputError, counted
from adagcn.formats import html_card
from adagcn.formats.frames import Backend, as_frame

What = Literal["nodes", "hops", "features", "neighbors", "labeled"]

_MOST_ROWS = 10  # of a table in a notebook
_LONGEST_CELL = 60
_LARGEST = 2**63  # integers from here on have no type in a frame


@dataclass(frozen=True, slots=True)
class HopPart:
    """What one learner of one layer adds to a margin.

    Parameters
    ----------
    hop : int
        Propagation steps behind the layer's features.
    voter : str
        ``"perceptron"``, ``"ridge"``, ``"linear"``, the class of another learner, or ``"vote"`` for
        a layer whose learners have one hard vote together.
    margin : float
        Its part; negative if it was for the runner-up.
    """

    hop: int
    voter: str
    margin: float


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """What one feature column adds to a margin, over all layers that vote.

    Parameters
    ----------
    name : str
        The user's name of the column; ``"column 7"`` where columns have no names.
    value : float
        The value that the layers saw: normalized and propagated, the mean over the layers.
    own : float
        The node's own value in the graph, before all that.
    margin : float
        Its part; negative if it spoke for the runner-up.
    """

    name: str
    value: float
    own: float
    margin: float


@dataclass(frozen=True, slots=True)
class NeighborPart:
    """What the features of one node add to the margin of another, over all layers that vote.

    Parameters
    ----------
    node : int or str
        The node's id; the explained node itself may be one of them.
    hops_away : int
        Steps on the shortest way to it; 0 is the node itself.
    weight : float
        Its share in the propagated features, the mean over the layers.
    margin : float
        Its part; negative if it spoke for the runner-up.
    label : object or None
        Its label, where one is known: from the fit, else from the graph.
    is_training : bool or None
        Whether the model was trained on that label; None where a model file does not say.
    """

    node: Any
    hops_away: int
    weight: float
    margin: float
    label: Any = None
    is_training: bool | None = None


@dataclass(frozen=True, slots=True)
class NodeExplanation:
    """Why a node got its label.

    The margin is the log-odds of the label over the runner-up: log p(label) − log p(runner-up) with
    the probabilities of ``predict_proba``. All parts are on that scale: a part of 0.7 doubles the
    odds of the label, one of −0.7 halves them.

    Parameters
    ----------
    node : int or str
        The node's id; of a model without a graph, the number of the row.
    label, runner_up : object
        The predicted label and the next one.
    probability : float
        Of the label.
    margin : float
        The log-odds.
    parts : tuple of HopPart
        The layers that vote, from the first hop on; they sum to ``margin``.
    deciding_hop : int
        The hop that adds most to the margin.
    last_change : int
        The last layer that changed the label, as the layers were added one by one; 0 if the first
        prediction stood.
    features : tuple of FeaturePart
        The columns with the largest parts, strongest first.
    features_total : float
        What all columns add together.
    features_remainder : float
        ``margin`` less that: the constants of ridge layers, and layers that are no sum over
        columns (hard votes, learners of scikit-learn).
    neighbors : tuple of NeighborPart
        The nodes whose features carried most, strongest first. All nodes together carry
        ``features_total``.
    labeled : tuple of NeighborPart
        The same for labeled nodes alone.
    """

    node: Any
    label: Any
    runner_up: Any
    probability: float
    margin: float
    parts: tuple[HopPart, ...]
    deciding_hop: int
    last_change: int
    features: tuple[FeaturePart, ...] = ()
    features_total: float = 0.0
    features_remainder: float = 0.0
    neighbors: tuple[NeighborPart, ...] = ()
    labeled: tuple[NeighborPart, ...] = ()

    def by_hop(self) -> dict[int, float]:
        """Return what each hop adds, all of its learners together."""
        total: dict[int, float] = {}
        for part in self.parts:
            total[part.hop] = total.get(part.hop, 0.0) + part.margin
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, ready for JSON."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True)
class Explanations(Sequence[NodeExplanation]):
    """Explanations of some nodes, in the order in which they were asked for.

    Parameters
    ----------
    nodes : tuple of NodeExplanation
        One for each.
    notes : tuple of str
        What one should know to read them, in sentences.
    """

    nodes: tuple[NodeExplanation, ...] = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, place: int) -> NodeExplanation: ...

    @overload
    def __getitem__(self, place: slice) -> Explanations: ...

    def __getitem__(self, place: int | slice) -> NodeExplanation | Explanations:
        if isinstance(place, slice):
            return Explanations(self.nodes[place], self.notes)
        return self.nodes[place]

    def __iter__(self) -> Iterator[NodeExplanation]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        """Return what this is in one line."""
        return f"Explanations({counted(len(self), 'node')})"

    def to_dict(self) -> dict[str, Any]:
        """Return all explanations as plain values, ready for JSON."""
        return {"nodes": [each.to_dict() for each in self.nodes], "notes": list(self.notes)}

    def to_frame(self, what: What = "nodes", backend: Backend = "pandas") -> Any:
        """Return one kind of part as a frame, with the id of the explained node in each row.

        Parameters
        ----------
        what : {"nodes", "hops", "features", "neighbors", "labeled"}
            A row for each node, or for each of its parts of one kind.
        backend : {"pandas", "polars", "pyarrow"}
            Which library's frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The rows, in the order of the nodes and of their parts.

        Raises
        ------
        InputError
            If ``what`` or ``backend`` is none of these.
        ResourceError
            If the library is not installed.
        """
        if what not in get_args(What):
            raise InputError(
                "AGC-I1302",
                f"what must be one of {', '.join(get_args(What))}",
                got=what,
                fix="use 'nodes' for a row per node",
            )
        import pyarrow as pa

        return as_frame(pa.table(self._columns(what)), backend)

    def _columns(self, what: What) -> dict[str, list[Any]]:
        if what == "nodes":
            names = [each.name for each in fields(NodeExplanation) if each.name not in _LISTS]
            return {name: _typed([getattr(node, name) for node in self.nodes]) for name in names}
        attribute, kind = _PARTS[what]
        rows = [(node.node, part) for node in self.nodes for part in getattr(node, attribute)]
        names = [each.name for each in fields(kind)]
        renamed = {"node": "neighbor"}
        columns = {"node": _typed([node for node, _ in rows])}
        for name in names:
            columns[renamed.get(name, name)] = _typed([getattr(part, name) for _, part in rows])
        return columns

    def _repr_html_(self) -> str:
        """Return the first nodes as a card, for notebooks; the bar is the probability."""
        head = ("node", "label", "probability", "runner-up", "margin", "deciding hop", "changed at")
        rows = [(_cells(each), each.probability) for each in self.nodes[:_MOST_ROWS]]
        rest = len(self) - _MOST_ROWS
        more = [f"and {counted(rest, 'other node')}"] if rest > 0 else []
        table, notes = html_card.table(head, rows), html_card.listed([*more, *self.notes])
        return html_card.card("Explanations", f"of {counted(len(self), 'node')}", table, notes)


def _cells(each: NodeExplanation) -> tuple[str, ...]:
    texts = [str(value) for value in (each.node, each.label, each.runner_up)]
    node, label, runner_up = (
        text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…" for text in texts
    )
    hops = (str(each.deciding_hop), str(each.last_change))
    return (node, label, f"{each.probability:.1%}", runner_up, f"{each.margin:.2f}", *hops)


_LISTS = ("parts", "features", "neighbors", "labeled")
_PARTS: dict[str, tuple[str, type[Any]]] = {
    "hops": ("parts", HopPart),
    "features": ("features", FeaturePart),
    "neighbors": ("neighbors", NeighborPart),
    "labeled": ("labeled", NeighborPart),
}


def _typed(values: list[Any]) -> list[Any]:
    """Return a column that every library has a type for: integers past 64 bits become text."""
    if any(isinstance(value, int) and not -_LARGEST <= value < _LARGEST for value in values):
        return [None if value is None else str(value) for value in values]
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [
            {each.name: _plain(getattr(part, each.name)) for each in fields(part)} for part in value
        ]
    return value

"""A fit as a value: what it rests on and the layers so far. All that a continuation needs.

The boosting loop takes a state and yields the next one. A warm start, a model file and a checkpoint
go through it, and :func:`differences` says in words why two fits are not the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.samme import effective_sample_size
from adagcn.errors import FormatError, InputError, counted, shown

NodeIds: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]  # ids of nodes at some positions


@dataclass(frozen=True)
class LabeledNodes:
    """The nodes of a fit whose label is known, by position.

    Parameters
    ----------
    train_nodes : ndarray of shape (n_train,)
        Positions of the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes as indices, in the same order.
    sample_weight : ndarray of shape (n_train,)
        Weights before the first layer, in the same order.
    stop_nodes, stop_labels : ndarray of shape (n_stop,) or None
        Positions and classes of the early-stopping nodes.
    """

    train_nodes: NDArray[np.intp]
    labels: NDArray[np.int64]
    sample_weight: NDArray[np.float64]
    stop_nodes: NDArray[np.intp] | None = None
    stop_labels: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class BoostedLayer:
    """One layer of the ensemble.

    Parameters
    ----------
    hop : int
        Propagation steps behind its features, from 0.
    learner : FittedLearner
        What was fitted, with what the next layer may carry on (optimizer, early stopping).
    factor : float
        What this hop's features were multiplied by.
    coefficient : float
        c_l in the ensemble; 0 for a layer that was discarded.
    weighted_error : float
        Training error under the weights that it was fitted with.
    log_weight : ndarray of shape (n_train,)
        Logarithms of those weights.
    next_log_weight : ndarray of shape (n_train,)
        Logarithms of the weights for the next layer.
    stop_log_proba : ndarray of shape (n_stop, n_classes) or None
        What it says of the stopping nodes; None where there are none, or after reading a file.
    pseudo_log_proba : ndarray of shape (n_pseudo, n_classes) or None
        What it says of the nodes with pseudo-labels; where several learners vote on the hop, one
        such array for each. None as above.
    """

    hop: int
    learner: Any
    factor: float
    coefficient: float
    weighted_error: float
    log_weight: NDArray[np.float64]
    next_log_weight: NDArray[np.float64]
    stop_log_proba: NDArray[np.float64] | None = None
    pseudo_log_proba: NDArray[np.float64] | None = None

    @property
    def effective_sample_size(self) -> float:
        """Share of the training nodes that the weights of this layer rest on."""
        return effective_sample_size(self.log_weight)


@dataclass(frozen=True)
class FitBasis:
    """What every layer of a fit rests on; two fits with the same basis make the same layers.

    Parameters
    ----------
    settings : mapping
        Every setting that shapes or steers a layer, by name: all but the number of layers.
    input_digest : str
        SHA-256 of graph and features, or of the feature matrix.
    classes : ndarray of shape (n_classes,)
        Label values.
    nodes : LabeledNodes
        As they were given, before any are set aside for stopping.
    seed : int
        What all random streams grow from.
    learner : str or None
        The scikit-learn classifier that stands in for the perceptron.
    """

    settings: Mapping[str, Any]
    input_digest: str
    classes: NDArray[Any]
    nodes: LabeledNodes
    seed: int
    learner: str | None = None


@dataclass(frozen=True)
class FitState:
    """A fit so far.

    Parameters
    ----------
    basis : FitBasis or None
        None in a model from a file that does not hold it: such a model cannot be continued.
    layers : tuple of BoostedLayer
        From hop 0 on.
    known_digest : str or None
        What a file says of the labeled nodes where it does not hold the basis.
    input_size : float or None
        Size of hop 0, where later hops are scaled to it; None where they are not, or not yet.
    """

    basis: FitBasis | None
    layers: tuple[BoostedLayer, ...] = ()
    known_digest: str | None = None
    input_size: float | None = None

    @property
    def nodes_digest(self) -> str | None:
        """SHA-256 of which nodes the fit had and of their classes."""
        return self.known_digest if self.basis is None else nodes_digest(self.basis.nodes)

    def with_layer(self, layer: BoostedLayer) -> FitState:
        """Return the state with one more layer."""
        return replace(self, layers=(*self.layers, layer))

    def without_cut_layer(self) -> FitState:
        """Return the state without a last layer whose training a callback ended."""
        cut = self.layers and not getattr(self.layers[-1].learner, "complete", True)
        return replace(self, layers=self.layers[:-1]) if cut else self

    def check_continues(self, basis: FitBasis, node_ids: NodeIds, n_nodes: int) -> None:
        """Refuse to go on with a fit that would not be the same one.

        Nodes may come in another order than before; the order of the first fit is gone on with.

        Parameters
        ----------
        basis : FitBasis
            Of the fit that asks to go on.
        node_ids : callable
            Gives the ids of nodes at some positions, for messages.
        n_nodes : int
            How many positions there are.
        """
        if self.basis is None:
            raise InputError(
                "AGC-I625",
                "warm_start cannot continue this model: its file does not hold what that needs",
                fix="save with continuable=True, or set warm_start=False to fit from the start",
            )
        if self.basis.input_digest == basis.input_digest:
            _check_positions(self.basis.nodes, n_nodes)
        found = list(differences(self.basis, basis, node_ids))
        if found:
            raise InputError(
                "AGC-I622",
                "warm_start continues the same fit, but this one differs: " + "; ".join(found),
                fix="change nothing but n_layers, or set warm_start=False to fit from the start",
            )


def _check_positions(nodes: LabeledNodes, n_nodes: int) -> None:
    for positions in (nodes.train_nodes, nodes.stop_nodes):
        if positions is not None and len(positions) and positions.max() >= n_nodes:
            raise FormatError(
                "AGC-F717",
                f"the model names nodes beyond the {n_nodes} that there are",
                got=int(positions.max()),
                fix="save the model again with continuable=True",
            )


def differences(before: FitBasis, now: FitBasis, node_ids: NodeIds) -> Iterator[str]:
    """Yield in words what of two fits is not the same; the order of nodes does not count."""
    for name in sorted({*before.settings, *now.settings}):
        old, new = before.settings.get(name), now.settings.get(name)
        if old != new:
            yield f"{name} was {shown(old)} and is {shown(new)}"
    if before.learner != now.learner:
        yield f"learner was {before.learner} and is {now.learner}"
    if before.seed != now.seed:
        yield f"random_state was {before.seed} and is {now.seed}"
    if before.input_digest != now.input_digest:
        yield (
            "the graph or its features are not the same (digest was "
            f"{before.input_digest[:12]} and is {now.input_digest[:12]})"
        )
        return  # positions and classes mean something else there
    if not np.array_equal(before.classes, now.classes):
        yield f"classes were {shown(before.classes.tolist())} and are {shown(now.classes.tolist())}"
        return
    yield from _node_differences(before, now, node_ids)


def _node_differences(before: FitBasis, now: FitBasis, node_ids: NodeIds) -> Iterator[str]:
    old, new, values = before.nodes, now.nodes, before.classes
    yield from _set_differences("X", old.train_nodes, new.train_nodes, node_ids)
    yield from _set_differences("X_val", old.stop_nodes, new.stop_nodes, node_ids)
    was, is_now = (_by_node(each.train_nodes, values[each.labels]) for each in (old, new))
    yield from _value_differences("y", was, is_now, node_ids)
    if old.stop_labels is not None and new.stop_labels is not None:
        was, is_now = (_by_node(each.stop_nodes, values[each.stop_labels]) for each in (old, new))
        yield from _value_differences("y_val", was, is_now, node_ids)
    if set(old.train_nodes.tolist()) == set(new.train_nodes.tolist()):
        was, is_now = (_by_node(each.train_nodes, _shares(each)) for each in (old, new))
        what = "sample_weight or class_weight: the share"
        yield from _value_differences(what, was, is_now, node_ids)


def _shares(nodes: LabeledNodes) -> NDArray[np.float64]:
    """Return the weights as shares of their sum: a common factor changes nothing."""
    return np.asarray(nodes.sample_weight / nodes.sample_weight.sum())


def _set_differences(
    argument: str,
    old: NDArray[np.intp] | None,
    new: NDArray[np.intp] | None,
    node_ids: NodeIds,
) -> Iterator[str]:
    if old is None or new is None:
        if (old is None) != (new is None):
            was, is_now = ("not given" if each is None else "given" for each in (old, new))
            yield f"{argument} was {was} and is {is_now}"
        return
    for some, verb, kind in (
        (np.setdiff1d(new, old), "has", "new node"),
        (np.setdiff1d(old, new), "lacks", "earlier node"),
    ):
        if len(some):
            first = shown(node_ids(some[:3]).tolist())
            yield f"{argument} {verb} {counted(len(some), kind)}, such as {first}"


def _by_node(nodes: NDArray[np.intp] | None, values: NDArray[Any]) -> dict[int, Any]:
    assert nodes is not None
    return dict(zip(nodes.tolist(), values.tolist(), strict=True))


def _value_differences(
    what: str,
    old: Mapping[int, Any],
    new: Mapping[int, Any],
    node_ids: NodeIds,
) -> Iterator[str]:
    other = [node for node, value in new.items() if node in old and not _same(old[node], value)]
    if other:
        (name,) = node_ids(np.array(other[:1])).tolist()
        yield (
            f"{what} of node {shown(name)} was {_short(old[other[0]])} "
            f"and is {_short(new[other[0]])}"
            + (f", and {len(other) - 1} more differ" if len(other) > 1 else "")
        )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return bool(np.isclose(old, new, rtol=1e-9, atol=0.0))
    return bool(old == new)


def nodes_digest(nodes: LabeledNodes) -> str:
    """Return the SHA-256 of which nodes a fit had and of their classes, in any order."""
    total = hashlib.sha256()
    for positions, labels in (
        (nodes.train_nodes, nodes.labels),
        (nodes.stop_nodes, nodes.stop_labels),
    ):
        pairs = np.zeros((0, 2), dtype="<i8")
        if positions is not None and labels is not None:
            pairs = np.stack([positions, labels], axis=1).astype("<i8")[np.argsort(positions)]
        total.update(pairs.tobytes() + b";")
    return total.hexdigest()

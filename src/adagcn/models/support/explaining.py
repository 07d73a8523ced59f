"""Explanations of a boosted model: its layers, columns and graph handed to the formulas.

The formulas are in :mod:`adagcn.explain`, which knows no model.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adagcn.errors import InputError
from adagcn.explain.explanations import (
    Explanations,
    FeaturePart,
    HopPart,
    NeighborPart,
    NodeExplanation,
)
from adagcn.explain.features import ColumnParts, VotingLayer, column_parts
from adagcn.explain.margins import Margins, margins_of
from adagcn.explain.neighbors import LOOKED_AT, Carriers, Reach
from adagcn.explain.voters import summing_to, voters_of
from adagcn.formats.node_index import NodeIndex
from adagcn.graph import Features, Graph
from adagcn.models.support import problem as problems
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.models.support.labels import hold_out
from adagcn.propagation.hops import Hop, stream_from
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.scaling import scaled_rows
from adagcn.propagation.source import MemorySource
from adagcn.training.hop_fitter import ROWS_AT_ONCE

if TYPE_CHECKING:
    from adagcn.boosting.samme import Combination
    from adagcn.models.support.boosted import BoostedClassifier

_MOST_VALUES = 2**26  # of rows of voting layers in memory at once


@dataclass(frozen=True)
class Wanted:
    """What an explanation should hold: so many features and neighbors of each node."""

    n_features: int
    n_neighbors: int

    def __post_init__(self) -> None:
        for name in ("n_features", "n_neighbors"):
            value = getattr(self, name)
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or value < 0:
                raise InputError(
                    "AGC-I1301",
                    f"{name} must be a whole number, 0 or more",
                    got=value,
                    fix=f"{name}=10 is usual, and 0 leaves them out",
                )


def explain(
    model: BoostedClassifier,
    combination: Combination,
    ids: ArrayLike,
    graph: Graph | None,
    wanted: Wanted,
) -> Explanations:
    """Return why a fitted model gives nodes their labels; see ``BoostedClassifier.explain``."""
    settings = model.fitted_settings()
    if model.on_graph_:
        graph = problems.graph_to_score(model, graph)
        positions = graph.positions(ids, "ids")
        source = problems.graph_source(model, graph, settings)
        subject: _Subject = _GraphSubject(model, source, graph)
    else:
        source, positions = problems.matrix_rows(model, ids, graph, settings)
        subject = _Subject(model, source)
    scored = _Scored(model, combination, settings, subject.source)
    found: list[NodeExplanation] = []
    for start in range(0, len(positions), scored.rows_at_once):
        some = positions[start : start + scored.rows_at_once]
        found += _explained(scored, subject, some, wanted)
    return Explanations(tuple(found), tuple(_notes(scored, subject, wanted)))


@dataclass(frozen=True)
class _Scored:
    """A fitted model on one graph: what gives the layers of some nodes."""

    model: BoostedClassifier
    combination: Combination
    settings: BoostedSettings
    source: MemorySource

    @property
    def first_voter(self) -> int:
        return self.combination.first_voter(self.model.layer_weights_.tolist())

    @property
    def rows_at_once(self) -> int:
        """How many nodes are explained together: whole blocks, as ``predict`` scores them."""
        n_voting = len(self.model.layers_) - self.first_voter
        values = int(self.source.features.shape[1]) * n_voting
        return ROWS_AT_ONCE * max(1, _MOST_VALUES // (values * ROWS_AT_ONCE))

    def layers(self, nodes: NDArray[np.intp]) -> tuple[Margins, list[VotingLayer]]:
        """Return the margins of some nodes, and the layers that vote on their labels."""
        model, first, kept = self.model, self.first_voter, []
        said: list[tuple[float, NDArray[np.float64]]] = []
        hops = stream_from(self.source.first())
        for number, (layer, hop) in enumerate(zip(model.layers_, hops, strict=False)):
            how = self.settings.variant.hop_scale
            rows = scaled_rows(hop, nodes, layer.factor, how)
            said.append((layer.coefficient, layer.learner.log_proba(rows)))
            if number >= first and layer.coefficient:
                kept.append((number, rows, self._sizes(hop, nodes, layer.factor)))
        temperature = 1.0 if model.temperature_ is None else model.temperature_
        margins = margins_of(said, self.combination, temperature)
        return margins, [self._voting(margins, *each) for each in kept]

    def _sizes(self, hop: Hop, nodes: NDArray[np.intp], factor: float) -> NDArray[np.float64]:
        """Return what :func:`scaled_rows` multiplies each row with."""
        if self.settings.variant.hop_scale != "row_l2":
            return np.full(len(nodes), factor if self.settings.variant.hop_scale == "hop" else 1.0)
        norms = _norms(hop.rows(nodes))
        return np.asarray(1.0 / np.where(norms > 0.0, norms, 1.0))

    def _voting(
        self, margins: Margins, number: int, rows: Features, size: NDArray[np.float64]
    ) -> VotingLayer:
        layer, share = self.model.layers_[number], float(margins.shares[number])
        if margins.is_hard:
            return VotingLayer(layer.hop, share, rows, size, ())
        each = [voter.times(share) for voter in voters_of(layer.learner, rows, margins.pairs)]
        return VotingLayer(
            layer.hop, share, rows, size, tuple(summing_to(each, margins.parts[number]))
        )


@dataclass(frozen=True)
class _Subject:
    """What is explained, rows of a feature matrix: their names and values."""

    model: BoostedClassifier
    source: MemorySource

    @property
    def names_columns(self) -> bool:
        """Whether columns are features that have a name or a number."""
        return True

    @property
    def column_numbers(self) -> NDArray[np.intp]:
        """Which column of the user's each column of the model is; the constant one is left out."""
        kept = self.model.columns_
        return np.arange(self.model.n_features_in_) if kept is None else np.asarray(kept)

    def column_names(self) -> list[str]:
        """Return the user's name of each."""
        names = getattr(self.model, "feature_names_in_", None)
        numbers = self.column_numbers.tolist()
        return [f"column {k}" if names is None else str(names[k]) for k in numbers]

    def own_values(self, nodes: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[Any]:
        """Return the user's own values of some columns for each node, of the shape of columns."""
        return _picked(self.source.features, nodes, columns)

    def ids(self, nodes: NDArray[np.intp]) -> list[Any]:
        """Return what the user calls nodes."""
        return list(nodes.tolist())

    def carriers(self, most: int) -> Carriers | None:
        """Return what finds the nodes that carried the evidence; None where there are no others."""
        return None


@dataclass(frozen=True)
class _GraphSubject(_Subject):
    """Nodes of a graph."""

    graph: Graph

    @property
    def names_columns(self) -> bool:
        return self.model.node_columns_ is None

    def own_values(self, nodes: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[Any]:
        return _picked(self.graph.features, nodes, self.column_numbers[columns])

    def ids(self, nodes: NDArray[np.intp]) -> list[Any]:
        return list(self.graph.node_ids[nodes].tolist())

    def carriers(self, most: int) -> Carriers | None:
        source, graph = self.source, self.graph
        transposed = make_propagator(graph.adjacency, source.normalization, dtype=np.float32)
        if graph.is_directed or source.normalization != "symmetric":
            transposed = sparse.csr_array(transposed.T.tocsr())
        labeled = self.training_nodes
        positions = graph.labeled_nodes if labeled is None else labeled[0]
        return Carriers(source.features, transposed, source.teleport, np.sort(positions), most)

    @cached_property
    def training_nodes(self) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
        """The training nodes that this graph has and their classes; None if unknown."""
        model, basis = self.model, self.model.state_.basis
        if basis is None:
            return None
        nodes = hold_out(basis.nodes, model.fitted_settings().validation_fraction, basis.seed)
        if self.graph.input_digest == model.input_digest_:
            return nodes.train_nodes, nodes.labels
        fitted_on = model.graph
        if fitted_on is None or fitted_on.input_digest != model.input_digest_:
            return None
        ids, here = fitted_on.node_ids[nodes.train_nodes], self.graph.node_ids
        if (ids.dtype.kind == "U") != (here.dtype.kind == "U"):
            return None
        found = NodeIndex(here).find(ids)
        return found[found >= 0], nodes.labels[found >= 0]

    def known_labels(self) -> dict[int, tuple[Any, bool | None]]:
        """Return the known labels by position, and whether the model was trained on them."""
        graph, trained = self.graph, self.training_nodes
        is_training = None if trained is None else False
        values = graph.classes[graph.labels[graph.labeled_nodes]].tolist()
        known = {
            node: (value, is_training)
            for node, value in zip(graph.labeled_nodes.tolist(), values, strict=True)
        }
        if trained is not None:
            values = self.model.classes_[trained[1]].tolist()
            known |= {
                node: (value, True) for node, value in zip(trained[0].tolist(), values, strict=True)
            }
        return known


def _explained(
    scored: _Scored, subject: _Subject, nodes: NDArray[np.intp], wanted: Wanted
) -> Iterator[NodeExplanation]:
    """Yield the explanations of some nodes."""
    margins, layers = scored.layers(nodes)
    sums = [layer for layer in layers if layer.is_sum]
    columns = column_parts(sums, len(nodes), scored.source.features.shape[1])
    n_named = len(subject.column_numbers) if scored.model.coordinates_ is None else None
    named = ColumnParts(columns.margins[:, :n_named], columns.values[:, :n_named])
    totals = named.margins.sum(axis=1).tolist()
    features = _features(subject, named, nodes, wanted.n_features if sums else 0)
    neighbors = _neighbors(subject, sums, nodes, wanted.n_neighbors)
    classes, pairs = scored.model.classes_.tolist(), margins.pairs
    hops, deciding = [layer.hop for layer in scored.model.layers_], margins.deciding
    parts = _hop_parts(margins, layers)
    for place, node in enumerate(subject.ids(nodes)):
        margin = float(margins.margin[place])
        near, labeled = next(neighbors)
        yield NodeExplanation(
            node,
            classes[pairs.label[place]],
            classes[pairs.runner_up[place]],
            float(margins.probability[place]),
            margin,
            next(parts),
            hops[deciding[place]],
            hops[margins.last_change[place]],
            next(features),
            totals[place],
            margin - totals[place],
            near,
            labeled,
        )


def _hop_parts(margins: Margins, layers: Sequence[VotingLayer]) -> Iterator[tuple[HopPart, ...]]:
    """Yield the parts of each node by hop and voter."""
    columns: list[tuple[int, str, list[float]]] = []
    for number, layer in zip(margins.voting, layers, strict=True):
        if not layer.voters:
            columns.append((layer.hop, "vote", margins.parts[number].tolist()))
        for voter in layer.voters:
            columns.append((layer.hop, voter.name, voter.margin.tolist()))
    for place in range(len(margins.margin)):
        yield tuple(HopPart(hop, voter, values[place]) for hop, voter, values in columns)


def _features(
    subject: _Subject, columns: ColumnParts, nodes: NDArray[np.intp], most: int
) -> Iterator[tuple[FeaturePart, ...]]:
    """Yield the strongest features of each node."""
    if not most or not subject.names_columns:
        yield from [()] * len(nodes)
        return
    best, names = columns.strongest(most), subject.column_names()
    own = subject.own_values(nodes, best).tolist()
    values = np.take_along_axis(columns.values, best, axis=1).tolist()
    margins = np.take_along_axis(columns.margins, best, axis=1).tolist()
    for chosen, *rest in zip(best.tolist(), values, own, margins, strict=True):
        rows = zip(chosen, *rest, strict=True)
        yield tuple(FeaturePart(names[column], *each) for column, *each in rows)


def _neighbors(
    subject: _Subject, layers: Sequence[VotingLayer], nodes: NDArray[np.intp], most: int
) -> Iterator[tuple[tuple[NeighborPart, ...], tuple[NeighborPart, ...]]]:
    """Yield the nodes that carried most to each node, and the labeled ones among all."""
    carriers = subject.carriers(most) if most and layers else None
    if carriers is None or not isinstance(subject, _GraphSubject):
        yield from [((), ())] * len(nodes)
        return
    known = subject.known_labels()
    for near, labeled in carriers.find(nodes, layers):
        yield _named(subject, near, known), _named(subject, labeled, known)


def _named(
    subject: _GraphSubject, reach: Reach, known: dict[int, tuple[Any, bool | None]]
) -> tuple[NeighborPart, ...]:
    parts = (reach.nodes, reach.hops_away, reach.weights, reach.margins)
    rows = zip(subject.ids(reach.nodes), *(part.tolist() for part in parts), strict=True)
    return tuple(
        NeighborPart(name, hops_away, weight, margin, *known.get(node, (None, False)))
        for name, node, hops_away, weight, margin in rows
    )


def _notes(scored: _Scored, subject: _Subject, wanted: Wanted) -> Iterator[str]:
    """Yield what one should know to read the explanations."""
    rule = scored.combination
    yield (
        "A margin is the log-odds of the label over the runner-up, and parts are on its scale; "
        "negative parts speak for the runner-up."
    )
    if rule.combine == "samme" and rule.vote == "hard":
        yield (
            "Each layer has one hard vote (combine='samme'), which is no sum over features: only "
            "hops are explained."
        )
    elif getattr(scored.model, "learner", None) is not None:
        yield "A learner of scikit-learn is not split over features: only hops are explained."
    elif not subject.names_columns:
        yield (
            "The graph has no features: what a node says is its place in the graph, so that "
            "neighbors tell what features would."
        )
    else:
        norm = scored.settings.feature_norm
        how = "" if norm in ("none", "graph") else f" normalized ({norm}) and"
        yield f"Values of features are{how} propagated, as the layers saw them."
    if isinstance(subject, _GraphSubject) and wanted.n_neighbors:
        yield from _neighbor_notes(subject)


def _neighbor_notes(subject: _GraphSubject) -> Iterator[str]:
    if subject.graph.n_nodes > LOOKED_AT:
        yield (
            f"Neighbors are the strongest of the {LOOKED_AT} nodes whose part can be the largest, "
            "by the weight of the node and the size of its features."
        )
    if subject.training_nodes is None:
        yield (
            "The model does not say which nodes of this graph it was trained on, so that labels "
            "are those of the graph; a model saved with continuable=True says it."
        )


def _picked(features: Features, nodes: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Return some columns of each node, of the shape of columns."""
    picked = features[nodes[:, None], columns]
    return np.asarray(picked if isinstance(picked, np.ndarray) else picked.toarray())


def _norms(rows: Features) -> NDArray[np.float64]:
    squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
    return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).ravel())

"""The memory of a boosted fit on a graph in memory, array by array.

Every formula names the code that makes the arrays. Bytes are counted beside those of the graph.
Where a look decides a setting, the larger case is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from adagcn.boosting import look
from adagcn.learners.ridge import LARGEST_SIDE
from adagcn.learners.ridge import ROWS_AT_ONCE as RIDGE_ROWS
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment, PhaseName
from adagcn.models.support import adapting
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.propagation.blocks import column_blocks
from adagcn.propagation.coordinates import N_COORDINATES
from adagcn.propagation.hops import DENSE_ABOVE
from adagcn.training.hop_fitter import ROWS_AT_ONCE

_SCORED_AT_ONCE = 4 * ROWS_AT_ONCE  # rows that a prediction gathers together
_FLOAT64 = 8


@dataclass(frozen=True)
class BoostedMemory:
    """What a boosted fit holds, moment by moment.

    Parameters
    ----------
    sizes : GraphSizes
        The graph.
    settings : BoostedSettings
        Resolved; what says "auto" is left to a look.
    labels : LabelCounts
        Labeled nodes.
    n_parameters : int
        Of the learner of one layer.
    hidden_units : int
        Width of its hidden layer; 0 if it has none.
    row_memory : int or None
        Beyond so many bytes, the rows of a layer are in a file (``row_memory`` of the model).
    """

    sizes: GraphSizes
    settings: BoostedSettings
    labels: LabelCounts
    n_parameters: int
    hidden_units: int = 0
    row_memory: int | None = None

    def moments(self) -> Iterator[Moment]:
        """Yield the moments of a whole fit, and of a prediction for all nodes."""
        if adapting.is_open(self.settings):
            yield from self._look()
        yield Moment("propagation", "normalizing the features", self._norm_peak)
        if self.n_layers > 1:
            yield from self._stream("propagation")
        yield from self._training()
        yield from self._prediction()

    # What the settings mean on this graph

    @cached_property
    def n_layers(self) -> int:
        """Layers, at the most."""
        asked = self.settings.n_layers
        return self.settings.variant.most_layers if asked == "auto" else asked

    @cached_property
    def n_columns(self) -> int:
        """Feature columns that are used, at the most (:func:`problem.kept_columns`)."""
        return columns_used(self.sizes, self.settings)

    @cached_property
    def n_pseudo(self) -> int:
        """Unlabeled nodes that are learned from (:func:`adapting.decide`)."""
        asked = self.settings.pseudo_labels
        few = self.labels.n_train <= adapting.FEW_LABELS * self.sizes.n_nodes
        wanted = (adapting.PSEUDO_LABELS if few else 0) if asked == "auto" else asked
        left = self.sizes.n_nodes - self.labels.n_train - self.labels.n_stop
        return max(min(wanted, left), 0)

    @property
    def _columns_are_some(self) -> bool:
        return self.n_columns < self.sizes.n_features

    @property
    def has_teleport(self) -> bool:
        """Whether hops keep a share of the input."""
        return self.settings.teleport == "auto" or self.settings.teleport > 0.0

    # Features: as the model wants them, and the columns of them that it looks at

    @cached_property
    def norm(self) -> str:
        """What is done to the features; "auto" may choose square roots."""
        norm = self.settings.feature_norm
        given = self.sizes.feature_norm or "none"
        if norm == "auto":
            return given if self.sizes.node_columns else "hellinger"
        return given if norm == "graph" else norm

    @cached_property
    def _normed(self) -> float:
        """A copy of the features' values (:func:`problem.normalized_features`), if they change."""
        if self.norm == (self.sizes.feature_norm or "none"):
            return 0.0
        n_values = self.sizes.n_values
        if n_values is None:
            return self.sizes.feature_bytes
        return float(n_values) * self.sizes.value_bytes  # columns and ends are shared

    @cached_property
    def _norm_peak(self) -> float:
        """While it is made: shares and their roots; deviations are computed in float64."""
        if self.norm == "standard":
            return self._normed * (1.0 + _FLOAT64 / self.sizes.value_bytes)
        return self._normed * (2.0 if self.norm == "hellinger" else 1.0)

    @cached_property
    def _dense_hop(self) -> float:
        return float(self.sizes.n_nodes) * self.n_columns * self.sizes.value_bytes

    @cached_property
    def n_kept_values(self) -> float:
        """Stored values in the kept columns: the strongest columns are the fuller ones."""
        n_values = self.sizes.n_values
        assert n_values is not None
        return n_values * math.sqrt(self.n_columns / max(self.sizes.n_features, 1))

    @cached_property
    def fills(self) -> list[float]:
        """Shares of entries that are stored, hop by hop, as long as hops are sparse.

        A hop whose share is above ``DENSE_ABOVE`` is made dense; it is the last of the list. If u
        values are gathered into N entries at random, 1 − exp(−u/N) of these are filled.
        """
        if self.starts_dense:
            return []
        sizes, n_entries = self.sizes, float(self.sizes.n_nodes) * self.n_columns
        kept = self.n_kept_values
        fills = [kept / n_entries]
        assert sizes.n_values is not None
        gathered = sizes.gathered or sizes.mean_row * sizes.n_values
        reach = gathered * kept / max(sizes.n_values, 1)
        while fills[-1] <= DENSE_ABOVE and len(fills) < self.n_layers:
            fills.append(-math.expm1(-reach / n_entries))
            reach = fills[-1] * n_entries * sizes.mean_row
        return fills

    @cached_property
    def starts_dense(self) -> bool:
        """Whether there is no sparse hop."""
        return self.sizes.n_values is None or self._is_coordinates

    @property
    def _is_coordinates(self) -> bool:
        return self.sizes.node_columns and self.n_columns < self.sizes.n_features

    @cached_property
    def _input(self) -> float:
        """X as hops start from it, beside the graph's own (:func:`problem.hop_source`)."""
        held = self._normed
        if self.starts_dense:
            return held + (self._dense_hop if self._columns_are_some else 0.0)
        pair = self.sizes.pair_bytes
        if self._columns_are_some:
            held += self.n_kept_values * pair
        if self.fills[0] > DENSE_ABOVE:
            held += self._dense_hop
        return held

    # The stream of hops (propagation/hops.py, blocks.py, normalize.py)

    def _stream(self, phase: PhaseName) -> Iterator[Moment]:
        """Yield the moments in which Â is made, laid out, and first multiplied with."""
        sizes, held = self.sizes, self._input
        wide = _FLOAT64 + sizes.index_bytes
        making = float(wide) * (sizes.n_stored + sizes.n_propagator)
        yield Moment(phase, "normalizing the adjacency", held + making)
        if self._is_coordinates:
            # Lanczos vectors of ARPACK, twice as many as eigenvectors, these, and Â in float64.
            lanczos = 3.0 * N_COORDINATES * _FLOAT64 * sizes.n_nodes
            yield Moment(phase, "coordinates of the nodes", lanczos + wide * sizes.n_propagator)
        yield from self._sparse_hops(phase)
        if not self._becomes_dense:
            return
        before = self._dense_before
        # Reverse Cuthill–McKee adds the transpose: Â, Âᵀ and their sum.
        yield Moment(phase, "ordering the nodes", held + before + 3.0 * sizes.propagator_bytes)
        yield Moment(phase, "the first dense hop", before + self._blocked)

    @cached_property
    def _becomes_dense(self) -> bool:
        return self.starts_dense or self.fills[-1] > DENSE_ABOVE

    @property
    def _dense_before(self) -> float:
        """A dense hop that is not in blocks yet, which the first step in blocks starts from."""
        came_later = not self.starts_dense and len(self.fills) > 1
        return self._dense_hop if came_later else 0.0

    def _sparse_hops(self, phase: PhaseName) -> Iterator[Moment]:
        """Yield the sparse products: the hop, (1 − γ) times it, and the sum with γX."""
        n_entries = float(self.sizes.n_nodes) * self.n_columns
        pair = self.sizes.value_bytes + max(self.sizes.index_bytes, self.sizes.column_bytes)
        for fill in self.fills[1:]:
            hop = fill * n_entries * pair
            copies = 3.0 if self.has_teleport else 1.0
            held = self._input + self.sizes.propagator_bytes
            yield Moment(phase, "a sparse hop", held + copies * hop)
            if fill > DENSE_ABOVE:
                dense = max(hop + self._dense_hop, 0.0)
                yield Moment(phase, "a hop that becomes dense", held + dense)

    @cached_property
    def _blocked(self) -> float:
        """X, Â in its layout, room for a hop and one more block (:class:`BlockedPropagator`)."""
        sizes = self.sizes
        n_blocks = len(
            column_blocks(sizes.n_nodes, max(self.n_columns, 1), itemsize=sizes.value_bytes)
        )
        shares = 0.0
        if self.has_teleport and not self.starts_dense and self.fills[0] <= DENSE_ABOVE:
            shares = self.n_kept_values * (8 + sizes.value_bytes)  # γX as places and values
        room = self._dense_hop * (1.0 + 1.0 / n_blocks)
        return self._input + sizes.compact_bytes + room + shares

    @cached_property
    def _steady(self) -> float:
        """What is held while a late hop is trained on."""
        if self.n_layers == 1:
            return self._input
        if self._becomes_dense:
            return self._blocked
        last = self.fills[-1] * self.sizes.n_nodes * self.n_columns
        return self._input + self.sizes.propagator_bytes + last * self.sizes.pair_bytes

    # Training (training/hop_fitter.py, learners/)

    def _rows(self, n_rows: int) -> float:
        """Rows of some nodes, gathered from a late hop."""
        if self._becomes_dense or not self.fills:
            return float(n_rows) * self.n_columns * self.sizes.value_bytes
        return n_rows * self.fills[-1] * self.n_columns * self.sizes.pair_bytes

    def _in_memory(self, n_bytes: float) -> float:
        """Return what of some rows is in memory (:class:`gathered_rows.RowRoom`)."""
        return n_bytes if self.row_memory is None else min(n_bytes, float(self.row_memory))

    def _training(self) -> Iterator[Moment]:
        n_rows = self.labels.n_train + self.n_pseudo
        gathered = self._in_memory(self._rows(n_rows) + self._rows(self.labels.n_stop))
        held = self._steady + gathered + self._layers_kept
        for what, learner in self._learners(n_rows):
            yield Moment("training", what, held + learner)

    @property
    def _layers_kept(self) -> float:
        """What every layer before the last keeps: parameters, weights, votes of stopping nodes."""
        n_classes = max(self.sizes.n_classes, 1)
        weights = 2 * _FLOAT64 * self.labels.n_train
        votes = _FLOAT64 * self.labels.n_stop * n_classes
        parameters = self.n_parameters * self.sizes.value_bytes
        return float(self.n_layers - 1) * (parameters + weights + votes)

    def _learners(self, n_rows: int) -> Iterator[tuple[str, float]]:
        kind = self.settings.variant.learner
        if kind in ("perceptron", "both"):
            yield "training a network", self._network(n_rows)
        if kind in ("ridge", "both"):
            trained = self.n_parameters * self.sizes.value_bytes
            columns = self.n_columns
            yield "solving a ridge", trained + self._ridge(n_rows, self.labels.n_stop, columns)

    def _network(self, n_rows: int) -> float:
        """Parameters, gradients, Adam's moments, the best epoch's copy; one block's hidden layer.

        Gradients of several blocks are summed, so that there are two of them.
        """
        settings, value = self.settings, self.sizes.value_bytes
        block = min(n_rows, ROWS_AT_ONCE)
        copies = 5.0 + (n_rows > ROWS_AT_ONCE) + (2.0 if self._begins_sparse else 0.0)
        members = 1.0 if settings.variant.n_members == 1 else 2.0
        hidden = 5.0 * block * self.hidden_units * value
        dropped = (2.0 if settings.dropout else 0.0) * block * self.n_columns * value
        stop = self._hidden(min(self.labels.n_stop, ROWS_AT_ONCE))
        return copies * members * self.n_parameters * value + max(hidden + dropped, stop)

    @property
    def _begins_sparse(self) -> bool:
        """Whether the first rows are sparse, whose products with W0 are put together of columns."""
        return not self.starts_dense and self.fills[0] <= DENSE_ABOVE

    def _hidden(self, n_rows: int) -> float:
        """Return the hidden layer of some rows, before and after its ReLU; a ridge has none.

        Of sparse rows it is put together of what every thread has made, and that of some columns:
        small pieces, which the process does not give back.
        """
        copies = 6.0 if self._begins_sparse else 2.0
        return copies * n_rows * self.hidden_units * self.sizes.value_bytes

    def _ridge(self, n_rows: int, n_stop: int, n_columns: int) -> float:
        """Rows divided by their norms, products of the smaller side, and a decomposition of it."""
        value = self.sizes.value_bytes
        normed = self._in_memory(float(n_rows + n_stop) * n_columns * value)
        side = min(n_rows, n_columns + 1)
        is_dual = n_rows <= n_columns
        some = 0.0 if is_dual else float(min(n_rows, RIDGE_ROWS)) * n_columns * value
        if side > LARGEST_SIDE:
            return normed + some + 3.0 * _FLOAT64 * side * side
        return normed + some + 3.0 * _FLOAT64 * side * side

    # The look (boosting/look.py, models/support/adapting.py)

    def _look(self) -> Iterator[Moment]:
        train = min(self.labels.n_train, look.MOST_ROWS["train"])
        stop = min(self.labels.n_stop, look.MOST_ROWS["stop"])
        yield Moment("look", "normalizing the features", self._norm_peak)
        judging = self._near_rows(train, stop)
        if judging:
            held = self._normed + self.sizes.propagator_bytes
            yield Moment("look", "judging features and columns", held + judging)
        if self.settings.teleport == "auto":
            yield from self._stream("look")
            n_hops = look.affordable_hops(self.sizes.n_stored, self.n_columns) + 1
            rows = float(train + stop) * self.n_columns * self.sizes.value_bytes
            hops = self._steady + (n_hops + 1) * rows
            yield Moment("look", "comparing hops", hops + self._ridge(train, stop, self.n_columns))

    def _near_rows(self, train: int, stop: int) -> float:
        """Rows of (X + ÂX + Â²X)/3 for all columns, and a ridge on them."""
        settings, sizes = self.settings, self.sizes
        if "auto" not in (settings.feature_norm, settings.max_features) or sizes.node_columns:
            return 0.0
        n_rows, value = train + stop, sizes.value_bytes
        reached = min(sizes.mean_row**2, float(sizes.n_nodes))
        work = n_rows * sizes.mean_row**2
        twice = n_rows * reached * (value + sizes.index_bytes) if work <= look.MOST_ENTRIES else 0.0
        rows = self._rows_near(n_rows)
        return twice + 3.0 * rows + self._ridge(train, stop, sizes.n_features)

    def _rows_near(self, n_rows: int) -> float:
        dense = float(n_rows) * self.sizes.n_features * self.sizes.value_bytes
        if self.sizes.n_values is None:
            return dense
        gathered = self.sizes.mean_row**2 * self.sizes.n_values / max(self.sizes.n_nodes, 1)
        stored = n_rows * min(gathered, float(self.sizes.n_features))
        return min(stored * self.sizes.pair_bytes, 2.0 * dense)

    # Prediction (models/support/boosted.py, boosting/samme.py)

    def _prediction(self) -> Iterator[Moment]:
        """Yield the moments of a prediction for all nodes: the stream again, and their scores."""
        yield Moment("prediction", "normalizing the features", self._norm_peak)
        model = self.n_parameters * self.sizes.value_bytes * self.n_layers
        if self.n_layers > 1:
            for moment in self._stream("prediction"):
                yield Moment(moment.phase, moment.what, moment.n_bytes + model)
        n_some = min(self.sizes.n_nodes, _SCORED_AT_ONCE)
        block = self._rows(n_some) + self._hidden(min(n_some, ROWS_AT_ONCE))
        scores = 5.0 * _FLOAT64 * self.sizes.n_nodes * max(self.sizes.n_classes, 1)
        yield Moment("prediction", "scoring nodes", self._steady + model + block + scores)


def columns_used(sizes: GraphSizes, settings: BoostedSettings) -> int:
    """Return how many columns a boosted model looks at, at the most."""
    asked = settings.max_features
    if sizes.node_columns:
        most = min(1000, sizes.n_nodes) if asked == "auto" else asked
        whole = most == "all" or most >= sizes.n_nodes
        return sizes.n_features if whole else N_COORDINATES
    return sizes.n_features if isinstance(asked, str) else min(asked, sizes.n_features)

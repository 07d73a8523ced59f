"""The memory of a network that is trained on all labeled nodes at once: GCN and APPNP.

What a forward pass saves for the backward one is counted layer by layer. The nodes that labeled
ones depend on (:mod:`adagcn.models.support.field_of_view`) are counted as if edges were drawn at
random: of n nodes with mean degree d, a share p reaches 1 − (1 − p) exp(−d p) of them in a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment
from adagcn.models.support.field_of_view import MANY, WHOLE_ABOVE

KEYS = ("gcn", "gcn_es", "gcn_res", "appnp")  # models whose forward pass is counted here
_SAVED, _PASSING = 5.0, 3.0  # copies of a hidden layer that a step saves, and that come and go
_FLOAT64 = 8


@dataclass(frozen=True)
class NetworkMemory:
    """What a full-batch fit holds, moment by moment.

    Parameters
    ----------
    sizes : GraphSizes
        The graph.
    settings : NetworkSettings
        Resolved.
    labels : LabelCounts
        Labeled nodes.
    n_parameters : int
        Of the network.
    """

    sizes: GraphSizes
    settings: Any
    labels: LabelCounts
    n_parameters: int

    def moments(self) -> Iterator[Moment]:
        """Yield the moments of a whole fit, and of a prediction for all nodes."""
        sizes = self.sizes
        making = float(_FLOAT64 + sizes.index_bytes) * (sizes.n_stored + sizes.n_propagator)
        yield Moment("propagation", "normalizing the adjacency", self._normed + making)
        train, stop = self._fields(self.labels.n_train), self._fields(self.labels.n_stop)
        held = self._normed + sizes.propagator_bytes + self._view(train) + self._view(stop)
        yield Moment("training", "an epoch", held + self._parameters + self._epoch(train))
        everywhere = [float(sizes.n_nodes)] * (self._n_steps + 1)
        scoring = _PASSING * sizes.n_nodes * self._width * sizes.value_bytes
        held = self._normed + sizes.propagator_bytes + self._view(everywhere)
        yield Moment("prediction", "scoring nodes", held + scoring)

    @cached_property
    def _n_steps(self) -> int:
        steps = getattr(self.settings, "n_steps", None)
        return int(self.settings.n_layers if steps is None else steps)

    @cached_property
    def _is_appnp(self) -> bool:
        return hasattr(self.settings, "propagator_dropout")

    @property
    def _width(self) -> int:
        return max(int(self.settings.hidden_units), self.sizes.n_classes)

    @cached_property
    def _normed(self) -> float:
        """A copy of the features, if they are divided otherwise than the graph's."""
        norm = self.settings.feature_norm
        given = self.sizes.feature_norm or "none"
        return 0.0 if norm in ("graph", given) else self.sizes.feature_bytes

    @property
    def _parameters(self) -> float:
        """Parameters, gradients, Adam's moments, and the best epoch's copy."""
        return 5.0 * self.n_parameters * self.sizes.value_bytes

    def _fields(self, n_asked: int) -> list[float]:
        """Return how many nodes stand at each stage, the farthest first."""
        n_nodes = max(self.sizes.n_nodes, 1)
        degree = self.sizes.n_stored / n_nodes
        stages = [float(n_asked)]
        for _ in range(self._n_steps if n_asked else 0):
            share = stages[-1] / n_nodes
            share = 1.0 - (1.0 - share) * math.exp(-degree * share)
            stages.append(n_nodes * (1.0 if share > WHOLE_ABOVE else share))
        return stages[::-1]

    def _row_bytes(self) -> float:
        """Bytes of a row of features."""
        return self.sizes.feature_bytes / max(self.sizes.n_nodes, 1)

    def _view(self, stages: list[float]) -> float:
        """Rows of the farthest nodes, and the rows of Â between stages; equal steps are one."""
        pair = self.sizes.value_bytes + 4
        distinct = dict.fromkeys(zip(stages[1:], stages[:-1], strict=True))
        steps = sum(nearer * self.sizes.mean_row * pair for nearer, _ in distinct)
        return stages[0] * self._row_bytes() + steps

    def _epoch(self, stages: list[float]) -> float:
        """Return what is dropped of the input, and what forward and backward pass hold."""
        sizes, value = self.sizes, self.sizes.value_bytes
        if sizes.n_values is None:
            dropped = 2.0 * stages[0] * self._row_bytes()
        else:
            n_stored = stages[0] * sizes.n_values / max(sizes.n_nodes, 1)
            dropped = n_stored * (2.0 * value + 0.5 * (value + 4 + _FLOAT64))
        hidden = (_SAVED + _PASSING) * stages[0] * int(self.settings.hidden_units) * value
        if not self._is_appnp:
            return dropped + hidden + _SAVED * sum(stages[1:]) * self._width * value
        return dropped + hidden + self._spreading(stages)

    def _spreading(self, stages: list[float]) -> float:
        """Entries of Â that each step of APPNP drops anew and keeps for the backward pass."""
        sizes, value = self.sizes, self.sizes.value_bytes
        logits = 3.0 * sum(stages) * sizes.n_classes * value
        if not self.settings.propagator_dropout:
            return logits
        entries = [nearer * sizes.mean_row for nearer in stages[1:]]
        each = value if sizes.n_classes < MANY else 0.5 * (value + 4)
        return logits + sum(entries) * each + 2.0 * max(entries) * value

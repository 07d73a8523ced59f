"""The doctor: looks at a graph, fits small models, and gives advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.doctor.advice import advise
from adagcn.doctor.diagnosis import Diagnosis, HopRow, Hops, SmoothingRow
from adagcn.doctor.feature_checks import feature_checks
from adagcn.doctor.held_out import (
    Candidate,
    Gain,
    JudgedNodes,
    Trial,
    close_to,
    gain_of_graph,
)
from adagcn.doctor.homophily import Homophily, homophily_of
from adagcn.doctor.hop_features import HopFeatures, hop_features
from adagcn.doctor.label_counts import label_counts
from adagcn.doctor.leakage import MOST_NODES as MOST_NODES_FOR_LEAKAGE
from adagcn.doctor.learning_curve import LearningCurve, learning_curve
from adagcn.doctor.smoothing import dirichlet_energy, effective_rank, mean_average_distance
from adagcn.doctor.structure import structure_of
from adagcn.errors import InputError
from adagcn.graph import Features, Graph
from adagcn.models.support.problem import checked_graph
from adagcn.propagation.hops import Hop, hop_stream
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.scaling import check_magnitude
from adagcn.training.random_streams import numpy_stream

N_HOPS = 10
MOST_HOPS = 50
MOST_NODES = 1000  # behind energy and distance
MOST_RANK_ROWS = 500
N_PAIRS = 5000


@dataclass(frozen=True)
class _Walk:
    """What was seen while the hops went by."""

    rows: tuple[HopRow, ...]
    n_nodes: int
    trial: Trial | None


def examine(
    graph: Graph,
    *,
    seed: int = 0,
    n_hops: int = N_HOPS,
    on_hop: Callable[[], None] | None = None,
) -> Diagnosis:
    """Look at a graph, fit small models on it, and give advice.

    Everything is deterministic for one seed. What the labels say is measured by ridges in closed
    form on held-out labels; a model of more parts may do better, but seldom where a ridge sees
    nothing. The labels of all labeled nodes are looked at: leave those out that are to score a
    model in the end.

    Parameters
    ----------
    graph : Graph
        The graph, with or without labels and features.
    seed : int
        Draws nodes, pairs, edges and subsets of labels.
    n_hops : int
        How many hops to follow, 1 to 50.
    on_hop : callable, optional
        Called after each hop, for a progress bar.

    Returns
    -------
    Diagnosis
        Sections of numbers, and advice.

    Raises
    ------
    InputError
        If ``graph`` is not a graph, ``seed`` or ``n_hops`` cannot be used, or features are too
        large to compute with.

    Examples
    --------
    >>> from adagcn.data.generators import planted_partition
    >>> found = examine(planted_partition(300, 3, 8, seed=0), n_hops=3)
    >>> found.structure.n_nodes, len(found.hops.rows)
    (300, 4)
    """
    _check(graph, seed, n_hops)
    check_magnitude(graph.features)  # as a fit would
    features = feature_checks(graph, rng=_stream(seed, "leakage"))
    looked = hop_features(graph, scaled=features.very_different, rng=_stream(seed, "directions"))
    nodes = JudgedNodes.drawn(graph, rng=_stream(seed, "judged"))
    deepest = n_hops if graph.adjacency.nnz else 0
    trial = None if nodes is None else Trial(nodes, deepest)
    walk = _walked(graph, looked.features, trial, deepest, seed, on_hop)
    homophily = homophily_of(graph, rng=_stream(seed, "homophily"))
    found = Diagnosis(
        name=graph.name,
        seed=seed,
        advice=(),
        structure=structure_of(graph),
        labels=label_counts(graph),
        homophily=homophily,
        features=features,
        hops=Hops(
            walk.rows,
            int(looked.features.shape[1]),
            walk.n_nodes,
            0 if nodes is None else len(nodes.nodes),
        ),
        smoothings=() if trial is None else _smoothings(trial.candidates),
        gain=_gain(trial, seed),
        curve=_curve(trial, graph.n_nodes, seed),
        sampled=_sampled(graph, looked, walk, nodes, homophily),
    )
    return advise(found, () if trial is None else tuple(trial.candidates))


_PURPOSES = ("leakage", "directions", "judged", "nodes", "homophily", "gain", "curve")


def _stream(seed: int, purpose: str) -> np.random.Generator:
    return numpy_stream(seed, "doctor", _PURPOSES.index(purpose))


def _check(graph: Any, seed: Any, n_hops: Any) -> None:
    if checked_graph(graph) is None:
        problem, fix = "graph must be a Graph", "use load_dataset('cora') or Graph.from_edges(…)"
        raise InputError("AGC-I660", problem, got=graph, fix=fix)
    for name, value, low, high in (("seed", seed, 0, 2**63), ("n_hops", n_hops, 1, MOST_HOPS)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            problem = f"{name} must be a whole number from {low} to {high}"
            raise InputError("AGC-I661", problem, got=value)


def _walked(
    graph: Graph,
    features: Features,
    trial: Trial | None,
    n_hops: int,
    seed: int,
    on_hop: Callable[[], None] | None,
) -> _Walk:
    """Follow the hops once: measure each on drawn nodes, and let the labeled nodes judge it."""
    rng = _stream(seed, "nodes")
    nodes = np.arange(graph.n_nodes)
    if graph.n_nodes > MOST_NODES:
        nodes = np.sort(rng.choice(graph.n_nodes, MOST_NODES, replace=False))
    pairs = _pairs(len(nodes), rng)
    propagator = make_propagator(graph.adjacency, dtype=features.dtype)
    rows: list[HopRow] = []
    before: NDArray[np.float64] | None = None
    judged: Candidate | None = None
    for number, hop in enumerate(islice(hop_stream(propagator, features), n_hops + 2)):
        here = _dense(hop, nodes).astype(np.float64)
        if before is not None:
            rows.append(_hop_row(number - 1, before, here, pairs, judged))
            if on_hop is not None:
                on_hop()
        if trial is not None and number <= n_hops:
            judged = trial.add(number, _dense(hop, trial.nodes.nodes))
        before = here
    return _Walk(tuple(rows), len(nodes), trial)


def _pairs(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return pairs of different rows; none if there is a single one."""
    if n < 2:
        return np.empty((2, 0), dtype=np.intp)
    first = rng.integers(n, size=N_PAIRS)
    return np.stack([first, (first + rng.integers(1, n, size=N_PAIRS)) % n])


def _dense(hop: Hop, nodes: NDArray[np.intp]) -> NDArray[Any]:
    rows = hop.rows(nodes)
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def _hop_row(
    hop: int,
    rows: NDArray[np.float64],
    propagated: NDArray[np.float64],
    pairs: NDArray[np.intp],
    judged: Candidate | None,
) -> HopRow:
    return HopRow(
        hop=hop,
        energy=dirichlet_energy(rows, propagated),
        distance=mean_average_distance(rows, pairs),
        effective_rank=effective_rank(rows[:MOST_RANK_ROWS]),
        accuracy=None if judged is None else judged.accuracy,
        loss=None if judged is None else judged.loss,
    )


def _smoothings(candidates: list[Candidate]) -> tuple[SmoothingRow, ...]:
    in_order = sorted(candidates, key=lambda each: each.loss)
    close = {id(each) for each in close_to(in_order[0], in_order)}
    return tuple(
        SmoothingRow(
            each.kind, each.teleport, each.n_hops, each.accuracy, each.loss, id(each) in close
        )
        for each in in_order
    )


def _gain(trial: Trial | None, seed: int) -> Gain | None:
    if trial is None or len(trial.candidates) < 2:
        return None
    return gain_of_graph(trial.candidates, trial.nodes, rng=_stream(seed, "gain"))


def _curve(trial: Trial | None, n_nodes: int, seed: int) -> LearningCurve | None:
    if trial is None or trial.best_products is None:
        return None
    return learning_curve(trial.best_products, trial.nodes, n_nodes, rng=_stream(seed, "curve"))


def _sampled(
    graph: Graph,
    looked: HopFeatures,
    walk: _Walk,
    nodes: JudgedNodes | None,
    homophily: Homophily | None,
) -> tuple[str, ...]:
    """Return what was not measured on everything."""
    n_labeled = len(graph.labeled_nodes)
    phrases = [] if looked.shortened is None else [looked.shortened]
    if walk.n_nodes < graph.n_nodes:
        phrases.append(f"energy and distance on {walk.n_nodes:,} of {graph.n_nodes:,} nodes")
    if nodes is not None and nodes.n_fitted < n_labeled:
        phrases.append(
            f"ridges fitted on {nodes.n_fitted:,} and judged on {len(nodes.nodes):,} of "
            f"{n_labeled:,} labels"
        )
    if homophily is not None and homophily.bootstrap_edges < homophily.n_edges:
        phrases.append(
            f"homophily's interval on {homophily.bootstrap_edges:,} of {homophily.n_edges:,} edges"
        )
    if n_labeled > MOST_NODES_FOR_LEAKAGE:
        phrases.append(f"leaks looked for on {MOST_NODES_FOR_LEAKAGE:,} of {n_labeled:,} labels")
    return tuple(phrases)

"""Hops of a graph that a fitted model keeps on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.models.support import problem as problems
from adagcn.propagation.kept_hops import KeptHops

if TYPE_CHECKING:
    from adagcn.models.support.boosted_scoring import FittedEnsemble


def kept_hops(model: FittedEnsemble, graph: Graph | None) -> KeptHops:
    """Return the hops that a model looks at; see ``FittedEnsemble.keep_hops``."""
    if not model.on_graph_:
        raise InputError(
            "AGC-I1901",
            "there are no hops to keep: the model was fitted on a feature matrix",
            got=graph,
            fix="fit with AdaGCNClassifier(graph) to classify nodes of a graph",
        )
    graph = problems.graph_to_score(model, graph)
    if graph.store is not None:
        raise InputError(
            "AGC-I1902",
            "hops are kept of a graph in memory, and this one is in a store",
            got=graph,
            fix="predict without keep_hops",
        )
    source = problems.graph_source(model, graph, model.fitted_settings())
    n_hops, before = len(model.layers_), vars(model).get("kept_hops_")
    if before is None:
        return KeptHops.of(source, graph.node_ids, n_hops)
    kept: KeptHops = before.moved_to(source, graph.node_ids, n_hops)
    return kept

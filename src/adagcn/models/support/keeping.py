"""Hops of a graph that a fitted model keeps on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.models.support import problem as problems
from adagcn.propagation.kept_files import KeptFiles
from adagcn.propagation.kept_hops import KeptHops

if TYPE_CHECKING:
    from adagcn.models.support.boosted_scoring import FittedEnsemble


def kept_hops(model: FittedEnsemble, graph: Graph | None) -> KeptHops | KeptFiles:
    """Return the hops that a model looks at; see ``FittedEnsemble.keep_hops``."""
    if not model.on_graph_:
        raise InputError(
            "AGC-I1901",
            "there are no hops to keep: the model was fitted on a feature matrix",
            got=graph,
            fix="fit with AdaGCNClassifier(graph) to classify nodes of a graph",
        )
    graph = problems.graph_to_score(model, graph)
    settings, n_hops = model.fitted_settings(), len(model.layers_)
    if model.coordinates_ is None:
        scale = model.column_scale_
        stored = problems.stored_source(graph, model.columns_, settings, scale)
        if stored is not None:
            return stored.keep_hops(n_hops)
    source = problems.graph_source(model, graph, settings)
    before = vars(model).get("kept_hops_")
    if not isinstance(before, KeptHops):
        return KeptHops.of(source, graph.node_ids, n_hops)
    return before.moved_to(source, graph.node_ids, n_hops)

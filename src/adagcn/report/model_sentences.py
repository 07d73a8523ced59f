"""What a model does, in two plain sentences for somebody who has never heard of it."""

from __future__ import annotations

from typing import Any

_OPENING = "This model gives every node of a graph a label, having learned from {known}. "

# One sentence per model key: what it looks at, and how that becomes a label.
_HOW = {
    "mlp": "It looks at a node's own features alone, with a small neural network, and ignores all "
    "edges: a yardstick for what the edges are worth.",
    "logistic": "It looks at a node's own features alone, by logistic regression, and ignores all "
    "edges: a yardstick for what the edges are worth.",
    "gcn": "It mixes each node's features with those of its neighbors, layer by layer, inside one "
    "neural network.",
    "gcn_es": "It mixes each node's features with those of its neighbors, layer by layer, inside "
    "one neural network, trained for as long as other labeled nodes profit.",
    "gcn_res": "It mixes each node's features with those of its neighbors inside one neural "
    "network whose layers also pass on what they got.",
    "ppnp": "It predicts from each node's own features with a small neural network, then spreads "
    "the predictions over the graph by personalized PageRank, computed exactly.",
    "appnp": "It predicts from each node's own features with a small neural network, then spreads "
    "the predictions over the graph, keeping a share of each node's own.",
    "pta": "It spreads the known labels over the graph first and then trains a small neural "
    "network on what arrived, trusting it more as training goes on.",
    "bt_fp": "It averages the features over each node's surroundings, fits a logistic regression, "
    "and adds the nodes that it is surest of to those that it learns from.",
    "correct_and_smooth": "It predicts from each node's own features, corrects the predictions by "
    "the errors on labeled nodes nearby, and smooths them over the graph.",
    "fastgcn": "It mixes each node's features with those of sampled neighbors inside one neural "
    "network.",
    "graphsage": "It combines each node's features with a summary of those of sampled neighbors, "
    "layer by layer, inside one neural network.",
    "label_propagation": "It uses no features: known labels spread along the edges until they "
    "settle, and a node takes the label that reaches it most.",
    "sgc": "It averages the features over a node's surroundings, a fixed number of steps wide, and "
    "fits a linear classifier to the result.",
    "sign": "It averages the features over surroundings of several widths in advance and fits one "
    "neural network to all of them side by side.",
    "gat": "It mixes each node's features with those of its neighbors inside one neural network "
    "that learns how much attention each neighbor deserves.",
    "jk": "It mixes features over the neighbors layer by layer and lets every node use what all of "
    "the layers saw.",
    "ngcn": "It trains several graph networks on surroundings of different widths and combines "
    "their answers.",
    "mixhop": "It mixes the features of neighbors at several distances within each layer of one "
    "neural network.",
    "dagnn": "It predicts from each node's own features and learns for every node how far to look "
    "around when the predictions are averaged.",
    "gcnii": "It mixes features over many layers of neighbors and adds the node's own features "
    "again at every layer, so that depth does not wash them out.",
    "deepgcn": "It mixes features over many layers of neighbors, with shortcuts around each layer.",
    "grand": "It leaves out random nodes, averages the features over what is left of each node's "
    "surroundings, and trains a small neural network to answer the same every time.",
    "engcn": "It looks at each node's own features, then at averages over ever wider surroundings "
    "and at the known labels that spread with them; one small neural network trains on from step "
    "to step, also on labels that it is sure of, and votes at each.",
    "gb_gnn": "It looks at each node's own features, then at averages over ever wider "
    "surroundings, trains a small neural network anew on each view, mostly on nodes that the ones "
    "before got wrong, and lets the better ones vote with more weight.",
    "graphsaint": "It trains a graph network on many small pieces sampled from the graph.",
}


def what_it_does(model: Any, n_train: int, n_stop: int = 0) -> str:
    """Return two sentences about a fitted model.

    Parameters
    ----------
    model : NodeClassifier
        A fitted model.
    n_train : int
        Labels that it was trained on; 0 if that is not known.
    n_stop : int
        Labels that it was stopped on.
    """
    known = "the labels of some of its nodes"
    if n_train:
        known = "one labeled node" if n_train == 1 else f"the labels of {n_train:,} of its nodes"
    if n_train and n_stop:
        others = "that of another" if n_stop == 1 else f"those of {n_stop:,} others"
        known += f" ({others} decided when to stop)"
    return _OPENING.format(known=known) + (_boosted(model) or _fallback(model))


def _boosted(model: Any) -> str | None:
    """Return how boosting over hops works, with the numbers of this model."""
    if model.model_key not in ("adagcn", "adasgc"):
        return _HOW.get(model.model_key)
    n_layers, start = len(model.layers_), "a node's own features"
    if model.node_columns_ is not None:
        start = "a node's place in the graph (there are no features)"
    if n_layers == 1:
        return f"It looks at {start} alone, with {_learner(model)}."
    n_votes = len(voting_hops(model))
    votes = "the votes" if n_votes == n_layers else f"the votes of the last {n_votes}"
    return (
        f"It looks at {start}, then at the average over its neighbors, over their "
        f"neighbors, and so on, up to {n_layers - 1} steps away; {_learner(model)} votes on each "
        f"of these {n_layers} views, and the label with the largest sum of {votes} wins."
    )


def voting_hops(model: Any) -> list[int]:
    """Return the hops whose layers vote in a boosted model."""
    from adagcn.models.support.boosted_settings import boosting_rule

    combination = boosting_rule(model.fitted_settings()).combination
    first = combination.first_voter(model.layer_weights_.tolist())
    return [layer.hop for layer in model.layers_[first:] if layer.coefficient]


def _learner(model: Any) -> str:
    if model.model_key == "adasgc":
        return "a linear classifier"
    if getattr(model, "learner", None) is not None:
        return f"a {type(model.learner).__name__}"
    return {
        "perceptron": "a small neural network",
        "ridge": "a ridge regression",
        "both": "a small neural network together with a ridge regression",
    }[model.params_.get("variant.learner", "perceptron")]


def _fallback(model: Any) -> str:
    """Return the first line of a model's own documentation."""
    return f"In the words of its documentation: {(model.__doc__ or '').strip().splitlines()[0]}"

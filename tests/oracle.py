"""AdaGCN in plain NumPy and float64, from the paper's formulas alone: what the library must equal.

Dense matrices, hand-written gradients, textbook Adam. Shares no code with the package.
"""

from __future__ import annotations

import numpy as np


def normalized_adjacency(adjacency):
    with_loops = adjacency + np.eye(len(adjacency))
    root = np.sqrt(with_loops.sum(axis=1))
    return with_loops / root[:, None] / root[None, :]


def softmax(logits):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def network(rows, hidden, output):
    return np.maximum(rows @ hidden, 0.0) @ output


def gradients(rows, onehot, weight, hidden, output):
    """Gradients of Σ_i w_i (−log p_i,y_i) with respect to both weights."""
    before = rows @ hidden
    active = np.maximum(before, 0.0)
    delta = weight[:, None] * (softmax(active @ output) - onehot)
    back = (delta @ output.T) * (before > 0)
    return rows.T @ back, active.T @ delta


def adam(parameters, gradient_of, *, epochs, learning_rate, decay):
    """Return the parameters after ``epochs`` steps of Adam with coupled decay."""
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    parameters = [p.copy() for p in parameters]
    for step in range(1, epochs + 1):
        for i, gradient in enumerate(gradient_of(*parameters)):
            gradient = gradient + decay[i] * parameters[i]
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            mean, spread = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
            parameters[i] = parameters[i] - learning_rate * mean / (np.sqrt(spread) + 1e-8)
    return parameters


def adagcn(adjacency, features, train, labels, hidden, output, *, n_layers, epochs, **setting):
    """Return the summed class scores of all nodes, and each layer's node weights.

    ``update`` is "onehot" or "hastie"; ``l2`` and ``weight_decay`` act as in the paper.
    """
    n_classes = output.shape[1]
    onehot = np.eye(n_classes)[labels]
    coding = onehot if setting["update"] == "onehot" else np.where(onehot, 1, -1 / (n_classes - 1))
    weight = np.full(len(train), 1 / len(train))
    scores, weights, hop = 0.0, [], features
    for _ in range(n_layers):
        weights.append(weight)
        rows = hop[train]
        hidden, output = adam(
            [hidden, output],
            lambda h, o, rows=rows, weight=weight: gradients(rows, onehot, weight, h, o),
            epochs=epochs,
            learning_rate=0.01,
            decay=[setting["l2"] + setting["weight_decay"], setting["weight_decay"]],
        )
        log_p = np.log(softmax(network(hop, hidden, output)))
        scores = scores + (n_classes - 1) * (log_p - log_p.mean(axis=1, keepdims=True))
        exponent = -(n_classes - 1) / n_classes * (coding * log_p[train]).sum(axis=1)
        weight = weight * np.exp(exponent)
        weight = weight / weight.sum()
        hop = normalized_adjacency(adjacency) @ hop
    return scores, weights

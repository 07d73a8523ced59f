"""What makes a fit fast, counted instead of timed; see "Where things live" in the documentation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from adagcn.training.hop_fitter import NetworkFitter
from scipy import sparse

from adagcn import AdaGCNClassifier
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.models.support import problem
from adagcn.propagation.blocks import BlockedPropagator

N_LAYERS = 4


class Watch:
    """What happened during a fit."""

    def __init__(self) -> None:
        self.products: list[bool] = []  # of Â; whether during training
        self.gathers: list[list[int]] = []  # rows taken from each hop, one by one
        self.handed: list[tuple[int, int | None]] = []  # rows that each hop's training got
        self.inputs: list[int] = []  # rows turned into a network's input
        self.training = False


@pytest.fixture
def watch(monkeypatch):
    found = Watch()
    watch_products(found, monkeypatch)
    watch_rows(found, monkeypatch)
    return found


def watch_products(found, monkeypatch):
    class WatchedPropagator(sparse.csr_array):
        def __matmul__(self, other):
            if self.shape[0] == self.shape[1]:  # not a hop that inherits the type
                found.products.append(found.training)
            return super().__matmul__(other)

    step = BlockedPropagator.step

    def watched_step(self, hop):
        found.products.append(found.training)
        return step(self, hop)

    make = problem.make_propagator
    monkeypatch.setattr(
        problem, "make_propagator", lambda *a, **kw: WatchedPropagator(make(*a, **kw))
    )
    monkeypatch.setattr(BlockedPropagator, "step", watched_step)


def watch_rows(found, monkeypatch):
    class WatchedHop:
        """A hop that says which rows are taken from it, and offers nothing else."""

        def __init__(self, features):
            self.features = features
            found.gathers.append([])

        def __getitem__(self, rows):
            found.gathers[-1].append(len(rows))
            return self.features[rows]

    stream = problem.hop_stream
    fit, as_input = NetworkFitter.__call__, TwoLayerPerceptron.as_input

    def watched_fit(self, hop, rows, sample_weight, stop_rows, previous, adopted):
        found.handed.append((rows.shape[0], None if stop_rows is None else stop_rows.shape[0]))
        found.training = True
        fitted = fit(self, hop, rows, sample_weight, stop_rows, previous, adopted)
        found.training = False
        return fitted

    def watched_input(self, rows):
        if found.training:
            found.inputs.append(rows.shape[0])
        return as_input(self, rows)

    monkeypatch.setattr(problem, "hop_stream", lambda *a, **kw: map(WatchedHop, stream(*a, **kw)))
    monkeypatch.setattr("adagcn.boosting.hop_boosting.size", lambda hop: 1.0)
    monkeypatch.setattr(NetworkFitter, "__call__", watched_fit)
    monkeypatch.setattr(TwoLayerPerceptron, "as_input", watched_input)


def fitted(task, *, max_epochs=3, stopping=True, **settings):
    settings = {"adopted_nodes": 0, "hidden_units": 4, "max_epochs": max_epochs, **settings}
    model = AdaGCNClassifier(task.graph, n_layers=N_LAYERS, random_state=0, **settings)
    return model.fit(task.train, task.labels(task.train), **(task.stopping() if stopping else {}))


@pytest.mark.parametrize("max_epochs", [1, 6])
def test_no_epoch_multiplies_with_the_propagator(task, watch, max_epochs):
    fitted(task, max_epochs=max_epochs)
    assert watch.products == [False] * (N_LAYERS - 1)  # one for each hop after the first


@pytest.mark.parametrize("max_epochs", [1, 6])
def test_rows_are_gathered_once_per_hop(task, watch, max_epochs):
    fitted(task, max_epochs=max_epochs)
    assert watch.gathers == [[len(task.train), len(task.stop)]] * N_LAYERS


def test_without_stopping_nodes_only_training_rows_are_gathered(task, watch):
    fitted(task, stopping=False)
    assert watch.gathers == [[len(task.train)]] * N_LAYERS


def test_the_learner_sees_no_other_rows(task, watch):
    fitted(task)
    assert watch.handed == [(len(task.train), len(task.stop))] * N_LAYERS
    # In one matrix or in two: never more rows than the labeled and the stopping ones.
    assert sum(watch.inputs) == N_LAYERS * (len(task.train) + len(task.stop))


def test_adopted_rows_come_with_the_labeled_ones_and_are_used_from_their_layer_on(task, watch):
    fitted(task, adopted_nodes=7, adopted_from=2)
    n_train, n_stop = len(task.train), len(task.stop)
    assert watch.gathers == [[n_train + 7, n_stop]] * N_LAYERS
    assert watch.handed == [(n_train, n_stop)] * 2 + [(n_train + 7, n_stop)] * 2


def test_sparse_features_take_the_same_way(task, watch):
    values = np.where(task.graph.features > 2.5, task.graph.features, np.float32(0.0))
    thin = replace(task.graph, features=sparse.csr_array(values))
    settings = {"adopted_nodes": 0, "hidden_units": 4, "max_epochs": 2}
    model = AdaGCNClassifier(thin, n_layers=N_LAYERS, random_state=0, **settings)
    model.fit(task.train, task.labels(task.train))
    assert watch.products == [False] * (N_LAYERS - 1)
    assert watch.gathers == [[len(task.train)]] * N_LAYERS

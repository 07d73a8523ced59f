"""What makes a fit fast, counted instead of timed; see docs/architecture.md."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adagcn import AdaGCNClassifier
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.models import Variant
from adagcn.propagation import source
from adagcn.propagation.blocks import BlockedPropagator
from adagcn.training.hop_fitter import HopFitter

N_LAYERS = 4


class Watch:
    """What happened during a fit."""

    def __init__(self) -> None:
        self.products: list[bool] = []  # of Â; whether during training
        self.gathers: list[list[int]] = []  # rows taken from each hop, one by one
        self.handed: list[tuple[int, int | None]] = []  # rows that each hop's training got
        self.inputs: list[int] = []  # rows turned into a network's input
        self.training = False


class WatchedHop:
    """A hop that says which rows are taken from it: it has nothing but the protocol."""

    def __init__(self, hop, found):
        self.hop, self.found = hop, found
        found.gathers.append([])

    def rows(self, nodes):
        self.found.gathers[-1].append(len(nodes))
        return self.hop.rows(nodes)

    def size(self):
        return self.hop.size()

    def next(self):
        return WatchedHop(self.hop.next(), self.found)


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

    stepped = BlockedPropagator._stepped

    def watched(self, columns):
        found.products.append(found.training)
        return stepped(self, columns)

    make = source.make_propagator
    monkeypatch.setattr(source, "make_propagator", lambda *a, **k: WatchedPropagator(make(*a, **k)))
    monkeypatch.setattr(BlockedPropagator, "_stepped", watched)


def watch_rows(found, monkeypatch):
    first = source.MemorySource.first
    fit, as_input = HopFitter.__call__, TwoLayerPerceptron.as_input

    def watched_fit(self, task):
        stop = None if task.stop_rows is None else task.stop_rows.shape[0]
        found.handed.append((task.rows.shape[0], stop))
        found.training = True
        fitted = fit(self, task)
        found.training = False
        return fitted

    def watched_input(self, rows):
        if found.training:
            found.inputs.append(rows.shape[0])
        return as_input(self, rows)

    monkeypatch.setattr(source.MemorySource, "first", lambda self: WatchedHop(first(self), found))
    monkeypatch.setattr(HopFitter, "__call__", watched_fit)
    monkeypatch.setattr(TwoLayerPerceptron, "as_input", watched_input)


def fitted(task, *, max_epochs=3, stopping=True, **settings):
    settings = {"pseudo_labels": 0, "hidden_units": 4, "max_epochs": max_epochs, **settings}
    settings |= {"preset": "tuned", "n_layers": N_LAYERS, "random_state": 0}
    model = AdaGCNClassifier(task.graph, **settings)
    return model.fit(task.train, task.labels(task.train), **(task.stopping() if stopping else {}))


@pytest.mark.parametrize("max_epochs", [1, 6])
def test_no_epoch_multiplies_by_the_propagator(task, watch, max_epochs):
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


def test_pseudo_labels_come_with_the_labeled_rows_and_are_used_from_their_layer_on(task, watch):
    fitted(task, pseudo_labels=7, variant=Variant(pseudo_label_from=2))
    n_train, n_stop = len(task.train), len(task.stop)
    assert watch.gathers == [[n_train + 7, n_stop]] * N_LAYERS
    assert watch.handed == [(n_train, n_stop)] * 2 + [(n_train + 7, n_stop)] * 2


def test_sparse_features_take_the_same_way(task, watch):
    values = np.where(task.graph.features > 2.5, task.graph.features, np.float32(0.0))
    thin = replace(task.graph, features=sparse.csr_array(values))
    settings = {"preset": "tuned", "pseudo_labels": 0, "hidden_units": 4, "max_epochs": 2}
    model = AdaGCNClassifier(thin, n_layers=N_LAYERS, random_state=0, **settings)
    model.fit(task.train, task.labels(task.train))
    assert watch.products == [False] * (N_LAYERS - 1)
    assert watch.gathers == [[len(task.train)]] * N_LAYERS


def test_one_layer_never_makes_the_propagator(task, watch, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a single hop needs no adjacency")

    monkeypatch.setattr(source, "make_propagator", refuse)
    given = {"preset": "tuned", "n_layers": 1, "max_epochs": 2, "pseudo_labels": 0}
    AdaGCNClassifier(task.graph, **given).fit(task.train, task.labels(task.train))
    assert watch.products == []


def test_all_nodes_are_scored_block_by_block(task, watch, monkeypatch):
    model = fitted(task)
    watch.gathers.clear()
    monkeypatch.setattr("adagcn.models.support.boosted_scoring.SCORED_AT_ONCE", 64)
    parts = model.predict_proba(task.graph.node_ids)
    voters = [gathered for gathered in watch.gathers if gathered]
    assert all(gathered == [64, 64, 22] for gathered in voters)
    monkeypatch.undo()
    np.testing.assert_allclose(parts, model.predict_proba(task.graph.node_ids), atol=1e-6)

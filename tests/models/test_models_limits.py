"""Models, hops and features that are too large end in an error of ours, before memory is taken."""

from __future__ import annotations

import tracemalloc
import warnings
from collections import deque
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from adagcn import AdaGCNClassifier, load_model
from adagcn.engines import memory
from adagcn.errors import InputError, ResourceError
from adagcn.models import MODELS, Variant
from adagcn.models.estimates import refusal
from adagcn.propagation.hops import hop_stream

# Which row of a study stands in for a graph is no fault.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")

WIDE = [key for key, model in MODELS.items() if "hidden_units" in model.settable()]


@pytest.fixture
def small_machine(monkeypatch):
    """A machine with one MiB of memory."""
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**20)


@pytest.mark.parametrize("hidden_units", [10**9, 10**30])
@pytest.mark.parametrize("key", WIDE)
def test_a_network_that_is_too_wide_is_refused_with_its_numbers(key, hidden_units, task):
    model = MODELS[key](task.graph, hidden_units=hidden_units)
    match = rf"parameters .* would take [\d,.]+ GiB, .*got \{{.*'hidden_units': {hidden_units}"
    with pytest.raises(ResourceError, match=match):
        model.fit(task.train, task.labels(task.train), **task.stopping())
    assert not hasattr(model, "params_")


@pytest.mark.parametrize(
    ("key", "given", "named"),
    [
        ("adagcn", {"variant": Variant(n_members=10**9)}, "hidden_units or variant.n_members"),
        ("gat", {"n_heads": 10**9}, "hidden_units or output_heads"),
        ("gat", {"output_heads": 10**9}, "n_heads"),
        ("ngcn", {"n_heads": 10**9}, "n_heads or hidden_units"),
        ("mixhop", {"hidden_widths": "1000000000/1"}, "hidden_widths"),
    ],
)
def test_so_are_too_many_members_and_heads(key, given, named, task):
    with pytest.raises(ResourceError, match=rf"would take .* GiB.* Lower .*{named}"):
        MODELS[key](task.graph, **given).fit(task.train, task.labels(task.train), **task.stopping())


@pytest.mark.parametrize("key", ["adagcn", "gcn", "gcnii"])
def test_the_layers_of_a_network_count_together(key, task, monkeypatch):
    given = {"hidden_units": 256, "max_epochs": 1}
    given |= {"preset": "tuned"} if key == "adagcn" else {}
    model = MODELS[key](task.graph, **given).fit(task.train, task.labels(task.train))
    parts = model.layers_[0].learner.learner.parameters() if key == "adagcn" else []
    sizes = [p.numel() for p in parts] or [t.size for t in model.fitted_.tensors().values()]
    monkeypatch.setattr(refusal, "check_fit", lambda *_: None)  # a whole fit takes more
    for missing, refused in ((0, False), (1, True)):
        there_is = 16 * sum(sizes) - missing
        monkeypatch.setattr(memory, "physical_memory", lambda there_is=there_is: there_is)
        again = MODELS[key](task.graph, **given)
        if refused:
            with pytest.raises(ResourceError, match=f"{sum(sizes):,} parameters"):
                again.fit(task.train, task.labels(task.train))
        else:
            again.fit(task.train, task.labels(task.train))


def test_a_file_cannot_ask_for_more_than_there_is(task, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: None)
    model = MODELS["gcn"](task.graph, hidden_units=1000, max_epochs=1)
    model.fit(task.train, task.labels(task.train)).save(tmp_path / "m.adagcn")
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000)
    with pytest.raises(ResourceError, match="hidden_units"):
        load_model(tmp_path / "m.adagcn", graph=task.graph)


def test_an_allocation_that_still_fails_is_our_error(task, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: None)
    model = MODELS["gcn"](task.graph, hidden_units=10**15)
    with pytest.raises(ResourceError, match="not enough memory for this computation"):
        model.fit(task.train, task.labels(task.train))


@pytest.mark.parametrize("features", ["dense", "identity"])
def test_a_hop_that_does_not_fit_is_refused_before_it_is_made(features, small_machine):
    n_nodes = 600  # a ring: hop after hop it fills up
    ring = sparse.csr_array(np.eye(n_nodes) + np.roll(np.eye(n_nodes), 1, axis=0), dtype=np.float32)
    X = np.eye(n_nodes, dtype=np.float32)
    stream = hop_stream(ring, X if features == "dense" else sparse.csr_array(X))
    tracemalloc.start()
    try:
        with pytest.raises(
            ResourceError, match=r"a hop with 600 feature columns of 600 nodes .*max_features"
        ):
            deque(islice(stream, 40), maxlen=0)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_meta_is_no_device(task):
    with pytest.raises(InputError, match=r"device cannot be used here.*got 'meta'"):
        AdaGCNClassifier(task.graph, device="meta").fit(
            task.train, task.labels(task.train), **task.stopping()
        )


@pytest.mark.parametrize("key", MODELS)
@pytest.mark.parametrize("factor", [1e30, 1e38])
def test_features_past_the_range_of_their_type_are_refused(key, factor, task):
    with np.errstate(over="ignore"):
        features = task.graph.features.astype(np.float32) * np.float32(factor)
    graph = replace(task.graph, features=features)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(InputError, match=r"features must be below \de\+17 in size.*float32"):
            MODELS[key](graph).fit(task.train, task.labels(task.train), **task.stopping())


def test_large_features_can_be_divided(task):
    graph = replace(task.graph, features=task.graph.features.astype(np.float32) * np.float32(1e30))
    model = AdaGCNClassifier(graph, feature_norm="l1", n_layers=2, max_epochs=2)
    model.fit(task.train, task.labels(task.train), **task.stopping())
    assert np.isfinite(model.predict_proba(task.rest)).all()


def test_a_matrix_past_the_range_is_refused_too():
    rows = np.random.default_rng(0).random((30, 4)) * 1e300
    with pytest.raises(InputError, match=r"features must be below \de\+15\d in size.*float64"):
        AdaGCNClassifier().fit(rows, np.arange(30) % 2)

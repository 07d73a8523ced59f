"""What a fit will cost: the numbers, and the refusal of what cannot fit."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import adagcn
from adagcn import AdaGCNClassifier, Graph, InputError, ResourceError, estimate
from adagcn.bench.memory import watched
from adagcn.data import planted_partition
from adagcn.engines import Serial, engine_named
from adagcn.engines.memory import MemoryLimit
from adagcn.engines.processes import Processes
from adagcn.engines.ray_cluster import RayTasks
from adagcn.models.estimates.cheaper import Change
from adagcn.models.estimates.file_sizes import sizes_of_data
from adagcn.models.estimates.fit_memory import fit_memory
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts
from adagcn.models.estimates.worker_memory import Workers
from adagcn.propagation.hop_workplace import hops_shared

DENSE = GraphSizes(
    n_nodes=200_000,
    n_stored=4_000_000,
    n_features=600,
    n_values=None,
    n_classes=10,
    n_labeled=5_000,
)
SPARSE = replace(DENSE, n_features=3_000, n_values=8_000_000)


@pytest.fixture(scope="module")
def graph():
    return planted_partition(n_nodes=300, n_classes=3, n_features=20, seed=0)


@pytest.mark.parametrize("preset", ["adaptive", "tuned", "instant", "paper", "boosted"])
@pytest.mark.parametrize("sizes", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("larger", ["n_nodes", "n_stored", "n_features", "n_classes"])
def test_a_larger_graph_never_takes_less(preset, sizes, larger):
    changes = {larger: 2 * getattr(sizes, larger)}
    if sizes.n_values is not None and larger in ("n_nodes", "n_features"):
        changes["n_values"] = 2 * sizes.n_values  # as full as before
    twice = replace(sizes, **changes)
    before, after = (estimate(each, preset=preset).peak_bytes for each in (sizes, twice))
    assert after >= before


@pytest.mark.parametrize("setting", ["n_layers", "max_features", "hidden_units"])
def test_larger_settings_never_take_less(setting):
    peaks = [
        estimate(DENSE, preset="tuned", settings={setting: value}).peak_bytes
        for value in (2, 20, 200)
    ]
    assert peaks == sorted(peaks)
    assert peaks[-1] > peaks[0] or setting == "n_layers"


def test_more_labels_take_more():
    few, many = (estimate(DENSE, n_train=n, n_stop=1_000).peak_bytes for n in (1_000, 150_000))
    assert many > few + 149_000 * 600 * 4


def test_a_dense_fit_holds_features_hop_and_edges():
    found = estimate(DENSE, preset="tuned", n_train=100, n_stop=100)
    beside = found.peak_bytes - found.base_bytes
    features, edges = 200_000 * 600 * 4, 4_000_000 * 8
    assert 2 * features + 2 * edges < beside < 2.5 * features + 4 * edges


def test_the_phases_are_those_of_the_fit():
    names = [phase.name for phase in estimate(DENSE).phases]
    assert names == ["look", "propagation", "training", "prediction"]
    assert "look" not in [phase.name for phase in estimate(DENSE, preset="tuned").phases]
    found = estimate(DENSE, n_stop=0)  # without stopping nodes, adaptive falls back to instant
    assert "look" not in [phase.name for phase in found.phases]


def test_a_model_and_its_key_cost_the_same(graph):
    model = AdaGCNClassifier(graph, preset="paper", n_layers=3)
    by_key = estimate(graph, preset="paper", settings={"n_layers": 3})
    assert estimate(graph, model).peak_bytes == pytest.approx(by_key.peak_bytes, rel=0.02)
    assert not hasattr(model, "params_")


def test_the_dictionary_is_plain(graph):
    import json

    facts = json.loads(json.dumps(estimate(graph).to_dict()))
    assert facts["peak_bytes"] == max(each["n_bytes"] for each in facts["phases"])
    assert facts["labels"] == {"train": 240, "stop": 60}
    assert facts["graph"]["nodes"] == 300


def test_the_sizes_are_those_of_the_arrays(graph):
    sizes = GraphSizes.of(graph)
    arrays = [graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr]
    arrays += [graph.features, graph.node_ids, graph.labels]
    assert sizes.graph_bytes == pytest.approx(sum(each.nbytes for each in arrays), rel=0.01)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"model": "gat"}, "cannot be told in advance; got 'gat'"),
        ({"model": 3}, "model must be a model of adagcn"),
        ({"n_train": 0}, "n_train must be a number of nodes from 1 to 300; got 0"),
        ({"n_stop": 301}, "n_stop must be a number of nodes from 0 to 300; got 301"),
        ({"settings": {"n_layer": 3}}, "adagcn has no setting n_layer"),
        ({"preset": "best"}, "preset must be one of"),
    ],
)
def test_odd_questions_are_refused(graph, words, match):
    with pytest.raises(InputError, match=match):
        estimate(graph, **words)


def test_only_a_graph_can_be_asked_about():
    with pytest.raises(InputError, match="graph must be a Graph"):
        estimate(np.eye(3))


def test_settings_belong_into_the_model(graph):
    with pytest.raises(InputError, match="for a model that is named by its key"):
        estimate(graph, AdaGCNClassifier(), preset="tuned")


def test_own_learners_cannot_be_estimated(graph):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InputError, match="cannot be told in advance; got LogisticRegression"):
        estimate(graph, AdaGCNClassifier(learner=LogisticRegression()))


def test_a_fit_that_cannot_fit_is_refused_before_it_starts(graph, monkeypatch):
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "1MB")
    model = AdaGCNClassifier(graph, preset="tuned", random_state=0)
    expected = r"this fit would take 0\.\d+ GiB more memory.*ADAGCN_MEMORY_LIMIT allows 0\.00 GiB"
    with pytest.raises(ResourceError, match=expected) as caught:
        model.fit(graph.node_ids[:90], graph.labels[:90])
    assert caught.value.code == "AGC-R2010"
    assert not hasattr(model, "params_")
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "none")
    assert model.set_params(n_layers=1, max_epochs=1).fit(graph.node_ids[:90], graph.labels[:90])


def test_what_is_wrong_with_the_call_is_left_to_the_fit(graph, monkeypatch):
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "1MB")
    with pytest.raises(InputError, match="hidden_units"):
        AdaGCNClassifier(graph, hidden_units=-1).fit(graph.node_ids[:9], graph.labels[:9])


def test_the_names_are_public():
    assert adagcn.estimate is estimate
    assert isinstance(estimate(DENSE), adagcn.Estimate)


# Other families, stores, files


@pytest.mark.parametrize("key", ["gcn", "gcn_es", "gcn_res", "appnp"])
@pytest.mark.parametrize("larger", ["n_nodes", "n_stored", "n_features", "n_classes"])
def test_a_larger_graph_never_takes_less_of_a_network(key, larger):
    twice = replace(DENSE, **{larger: 2 * getattr(DENSE, larger)})
    before, after = (estimate(each, key).peak_bytes for each in (DENSE, twice))
    assert after >= before


def test_a_store_takes_less_memory_and_some_disk():
    large = replace(DENSE, n_nodes=2_000_000, n_stored=40_000_000)
    stored = estimate(replace(large, is_stored=True), preset="tuned")
    in_memory = estimate(large, preset="tuned")
    assert stored.peak_bytes < 0.3 * in_memory.peak_bytes
    hops, blocks = 2 * 2_000_000 * 600 * 4, 42_000_000 * 8
    layers = 24 * 4 * (128 * 600 + 10 * 128)
    assert stored.disk_bytes == hops + blocks + 16 * 2_000_000 + layers
    assert in_memory.disk_bytes == 0


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_disk_of_a_store_is_told_with_and_without_room(tmp_path, is_shared):
    graph = planted_partition(n_nodes=2_000, n_classes=3, n_features=128, seed=0)
    graph.to_store(tmp_path / "store")
    stored = Graph.from_store(tmp_path / "store")
    settings = {"n_layers": 6, "max_epochs": 2}
    ids, labels = stored.ids_and_labels(np.arange(200))
    found = estimate(stored, preset="tuned", settings=settings, n_train=200, n_stop=0)
    model = AdaGCNClassifier(stored, preset="tuned", random_state=0, **settings)
    with watched(tmp_path / "store") as seen, hops_shared() if is_shared else nullcontext():
        model.fit(ids, labels)
        gc.collect()
        time.sleep(0.1)  # for the last look
    if is_shared:
        assert found.most_disk_bytes == pytest.approx(seen.disk, rel=0.1)
    else:  # both hops are there for an instant only
        assert seen.disk <= found.disk_bytes < 0.5 * found.most_disk_bytes


@pytest.fixture
def stored(tmp_path):
    """A store in which a fit writes 2 MB, half of it hops."""
    graph = planted_partition(n_nodes=1_000, n_classes=3, n_features=128, seed=0)
    graph.to_store(tmp_path / "store")
    return Graph.from_store(tmp_path / "store")


@pytest.fixture
def disk(monkeypatch):
    """Return what sets the bytes that are free on any disk."""

    def holds(free):
        usage = SimpleNamespace(free=free)
        monkeypatch.setattr("adagcn.models.estimates.disk_room.shutil.disk_usage", lambda _: usage)

    return holds


BRIEF = {"n_layers": 4, "max_epochs": 1, "random_state": 0}


def brief_fit(stored, **more):
    model = AdaGCNClassifier(stored, preset="tuned", **BRIEF, **more)
    return model.fit(*stored.ids_and_labels(np.arange(90)))


def asked_of(stored, **settings):
    settings = {**BRIEF, **settings}
    del settings["random_state"]
    return estimate(stored, preset="tuned", settings=settings, n_train=90, n_stop=0)


@pytest.mark.parametrize("limit", [None, "none"])
def test_a_fit_that_its_disk_cannot_hold_is_refused(stored, disk, monkeypatch, limit):
    if limit is not None:  # of memory: it says nothing of a disk
        monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", limit)
    needed = asked_of(stored).disk_bytes
    disk(needed - 1)
    expected = (
        r"would write \d\.\d\d MiB to the store '.*store'.* has \d\.\d\d MiB free; got '1,000 nodes"
    )
    with pytest.raises(ResourceError, match=expected) as caught:
        brief_fit(stored)
    assert caught.value.code == "AGC-R2012"
    assert "(hops, row blocks of Â, finished layers)" in str(caught.value)
    assert "max_features=100 (" in caught.value.fix
    assert "copy the store to a disk with more room; ADAGCN_DISK_LIMIT=none" in caught.value.fix
    assert not (stored.store / "hops").exists()
    disk(needed)
    assert brief_fit(stored).layers_


def test_no_change_is_named_that_would_not_fit_either(stored, disk):
    disk(asked_of(stored, max_features=50).disk_bytes)
    with pytest.raises(ResourceError) as caught:
        brief_fit(stored)
    assert "max_features=50 (" in caught.value.fix
    assert "max_features=100" not in caught.value.fix
    disk(1000)
    with pytest.raises(ResourceError, match=r"Free 1\.\d\d MiB more there") as caught:
        brief_fit(stored)
    assert "would fit" not in caught.value.fix


def test_what_is_in_the_store_already_needs_no_disk(stored, disk):
    before = asked_of(stored)
    assert before.missing_disk_bytes == before.disk_bytes
    brief_fit(stored)  # its row blocks of Â stay
    after = asked_of(stored)
    blocks = (stored.adjacency.nnz + 1_000) * 8 + 16 * 1_000
    assert after.disk_bytes == before.disk_bytes
    assert after.missing_disk_bytes == before.disk_bytes - blocks
    disk(after.missing_disk_bytes - 1)
    with pytest.raises(ResourceError, match="would write"):
        brief_fit(stored)
    disk(after.missing_disk_bytes)
    assert brief_fit(stored).layers_


def test_a_disk_that_does_not_tell_refuses_nothing(stored, monkeypatch):
    def silent(folder):
        raise OSError("no such thing here")

    monkeypatch.setattr("adagcn.models.estimates.disk_room.shutil.disk_usage", silent)
    assert asked_of(stored).fits_on_disk is None
    assert asked_of(stored).fits is True
    assert brief_fit(stored).layers_


def test_hops_may_be_on_another_disk(stored, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (stored.store / "hops").symlink_to(tmp_path / "elsewhere")
    free = {stored.store: 10, stored.store / "hops": 2**40}
    monkeypatch.setattr(
        "adagcn.models.estimates.disk_room.shutil.disk_usage",
        lambda folder: SimpleNamespace(free=free[folder]),
    )
    assert asked_of(stored).fits_on_disk is True


def test_an_estimate_says_what_the_disk_has_room_for(stored, disk):
    disk(asked_of(stored, max_features=50).disk_bytes)
    found = asked_of(stored)
    assert (found.fits, found.fits_on_disk) == (False, False)
    fits = {str(each.change): found.has_room_for(0, each.missing_bytes) for each in found.cheaper}
    assert (fits["max_features=100"], fits["max_features=50"]) == (False, True)
    found = estimate(sizes_of_data(str(stored.store)), preset="tuned")
    assert found.fits is False
    assert estimate(GraphSizes.of(stored), preset="tuned").fits_on_disk is None


def test_rows_beyond_their_memory_are_on_the_disk(stored):
    models = (AdaGCNClassifier(stored, preset="tuned", row_memory=n) for n in (10**9, 1000))
    in_memory, in_files = (estimate(stored, each, n_train=90, n_stop=10) for each in models)
    assert in_files.disk_bytes >= in_memory.disk_bytes + 100 * 128 * 4


def test_a_hop_that_stays_sparse_takes_little_disk(tmp_path):
    rng = np.random.default_rng(0)
    features = sparse.random(2_000, 3_000, 0.002, format="csr", rng=rng, dtype=np.float32)
    graph = Graph.from_edges(
        np.unique(rng.integers(0, 2_000, (3_000, 2)), axis=0),
        features=features,
        node_ids=np.arange(2_000),
        labels=rng.integers(0, 3, 2_000),
    )
    graph.to_store(tmp_path / "store")
    stored = Graph.from_store(tmp_path / "store")
    settings = {"n_layers": 2, "max_epochs": 1, "feature_norm": "graph"}
    model = AdaGCNClassifier(stored, preset="tuned", random_state=0, **settings)
    told = fit_memory(model, GraphSizes.of(stored), LabelCounts(90, 0)).disk_parts["hops"]
    with hops_shared():
        model.fit(*stored.ids_and_labels(np.arange(90)))
        files = sum(path.stat().st_size for path in (tmp_path / "store" / "hops").rglob("*.npy"))
    assert files == pytest.approx(told, rel=0.25)
    assert told < 0.1 * 2_000 * 1_000 * 4  # of a dense hop with the columns that are used


def test_the_environment_says_what_a_fit_may_write(stored, disk, monkeypatch):
    disk(10)
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "none")
    assert asked_of(stored).fits_on_disk is None
    assert brief_fit(stored).layers_
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "1GB")
    assert asked_of(stored).free_disk_bytes == 2**30
    assert brief_fit(stored).layers_
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "2KB")
    with pytest.raises(ResourceError, match=r"ADAGCN_DISK_LIMIT allows 0\.00 MiB"):
        brief_fit(stored)
    monkeypatch.setenv("ADAGCN_DISK_LIMIT", "much")
    with pytest.raises(InputError, match="ADAGCN_DISK_LIMIT is not a size; got 'much'"):
        brief_fit(stored)


def test_a_store_that_is_to_be_made_counts_with_its_files(graph, tmp_path):
    graph.to_store(tmp_path / "store")
    files = sum(path.stat().st_size for path in (tmp_path / "store").glob("*.npy"))
    assert GraphSizes.of(graph).array_bytes == pytest.approx(files, rel=0.05)
    found = estimate(DENSE, preset="tuned")
    (change,) = [each for each in found.cheaper if each.change.to_store]
    hops = estimate(replace(DENSE, is_stored=True), preset="tuned").disk_bytes
    assert change.disk_bytes == pytest.approx(DENSE.array_bytes + hops, abs=1)


def test_processes_on_this_machine_are_workers():
    assert Workers.of(Serial()) == Workers()
    assert Workers.of(engine_named("processes", workers=3)) == Workers(hops=3)
    ray = Workers.of(engine_named("ray", workers=2, train_workers=4))
    assert (ray.hops, ray.training) == (4, 4)  # Ray starts four, and all make blocks
    assert ray.base_bytes > 0
    assert Workers.of(engine_named("ray", workers=2, address="10.0.0.1:6379")) == Workers()


def test_workers_count_where_a_fit_is_refused(tmp_path, graph, monkeypatch):
    graph.to_store(tmp_path / "store")
    stored = Graph.from_store(tmp_path / "store")
    monkeypatch.setattr(
        "adagcn.models.estimates.refusal.tightest_limit",
        lambda: MemoryLimit(2**30, 2**30 - 300 * 2**20, "this machine has {size} of memory"),
    )
    brief = {"n_layers": 2, "max_epochs": 1, "pseudo_labels": 0}
    model = AdaGCNClassifier(stored, preset="tuned", **brief)
    assert model.fit(graph.node_ids[:90], graph.labels[:90])
    two = replace(DENSE, is_stored=True)
    serial, both = (estimate(two, preset="tuned", engine=each) for each in (None, Processes(2)))
    assert both.peak_bytes > serial.peak_bytes + 2 * 190 * 2**20
    assert both.n_workers == 2
    monkeypatch.setattr("adagcn.models.estimates.refusal.current_engine", lambda: RayTasks(2))
    with pytest.raises(ResourceError, match=r"would take 0\.\d+ GiB more memory"):
        model.fit(graph.node_ids[:90], graph.labels[:90])


def test_a_look_that_a_store_cannot_afford_is_not_counted(monkeypatch):
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "2GB")
    found = estimate(replace(DENSE, is_stored=True))
    assert "look" not in [phase.name for phase in found.phases]


def test_cheaper_settings_are_cheaper_and_can_be_set():
    found = estimate(DENSE, preset="adaptive")
    assert found.cheaper
    for each in found.cheaper:
        assert each.peak_bytes <= found.peak_bytes / 0.9
        words = dict(each.change.settings)
        preset = words.pop("preset", "adaptive")
        again = estimate(each.change.on(DENSE), preset=preset, settings=words)
        assert again.peak_bytes == pytest.approx(each.peak_bytes, rel=0.02)
    assert [each.peak_bytes for each in found.cheaper] == sorted(
        each.peak_bytes for each in found.cheaper
    )


def test_the_time_of_a_cheaper_network_is_its_own():
    """Seven in eight hidden units fewer save most of an epoch."""
    wide = {"hidden_units": 1024, "n_layers": 4}
    found = estimate(DENSE, preset="tuned", settings=wide, n_train=2_000, timed=True)
    (narrow,) = [each for each in found.cheaper if each.change.settings == {"hidden_units": 128}]
    assert narrow.seconds < 0.6 * found.fit_seconds


def test_a_change_to_a_network_costs_its_epochs():
    """The ridge of `instant` has none: that its own rates have no epochs must not help others."""
    few = replace(DENSE, n_nodes=2_000, n_stored=8_000, n_features=1_000)
    found = estimate(few, preset="instant", n_train=1_000, timed=True)
    assert "tuned" not in {each.change.settings.get("preset") for each in found.cheaper}


def test_wide_numbers_may_be_narrower():
    changes = [str(each.change) for each in estimate(replace(DENSE, value_bytes=8)).cheaper]
    assert "features in float32" in changes
    assert "features in float32" not in [str(each.change) for each in estimate(DENSE).cheaper]


def test_the_refusal_names_what_would_fit(monkeypatch):
    graph = planted_partition(n_nodes=20_000, n_classes=3, n_features=400, seed=0)
    monkeypatch.setattr(
        "adagcn.models.estimates.refusal.tightest_limit",
        lambda: MemoryLimit(2**30, 2**30 - 28 * 2**20, "this machine has {size} of memory"),
    )
    model = AdaGCNClassifier(graph, preset="tuned")
    with pytest.raises(ResourceError, match=r"One of these would fit: .*max_features=\d+ \(0\.0"):
        model.fit(graph.node_ids[:90], graph.labels[:90])


def test_the_refusal_says_what_a_store_would_take_of_a_disk(monkeypatch):
    graph = planted_partition(n_nodes=20_000, n_classes=3, n_features=400, seed=0)
    monkeypatch.setattr(
        "adagcn.models.estimates.refusal.possible_changes", lambda *_: [Change(to_store=True)]
    )
    monkeypatch.setattr(
        "adagcn.models.estimates.refusal.tightest_limit",
        lambda: MemoryLimit(2**30, 2**30, "this machine has {size} of memory"),
    )
    with pytest.raises(
        ResourceError, match=r"the graph in a store \(0\.\d+ GiB, and 0\.\d+ GiB of disk\)"
    ):
        AdaGCNClassifier(graph, preset="tuned").fit(graph.node_ids[:90], graph.labels[:90])


def test_time_is_told_where_it_is_asked_for(graph):
    assert estimate(graph).seconds is None
    found = estimate(graph, timed=True)
    assert set(found.seconds) == {"look", "propagation", "training", "prediction"}
    assert 0.0 < found.fit_seconds <= found.most_seconds
    longer = estimate(graph, settings={"max_epochs": 1000, "patience": 1000}, timed=True)
    assert longer.fit_seconds > found.fit_seconds
    assert estimate(graph, "gcn", timed=True).seconds is None


def test_headers_tell_the_sizes_of_a_file(tmp_path, graph):
    path = tmp_path / "mine.npz"
    graph.to_npz(path)
    assert sizes_of_data(str(path)).sizes == replace(GraphSizes.of(graph), name="mine.npz")
    cora = adagcn.load_dataset("cora")
    found, whole = sizes_of_data("cora").sizes, GraphSizes.of(cora)
    exact = ("n_nodes", "n_stored", "n_features", "n_classes", "feature_norm", "name")
    assert {name: getattr(found, name) for name in exact} == {
        name: getattr(whole, name) for name in exact
    }
    assert found.n_values == pytest.approx(whole.n_values, rel=0.05)


def test_a_store_tells_its_sizes(tmp_path, graph):
    graph.to_store(tmp_path / "store")
    found = sizes_of_data(str(tmp_path / "store")).sizes
    assert found.is_stored
    assert found.graph_bytes == 0
    assert (found.n_nodes, found.n_features) == (graph.n_nodes, graph.n_features)


# Real limits, and real peaks

_FIT = """
import resource, sys
from adagcn import AdaGCNClassifier, ResourceError
from adagcn.data import planted_partition
from adagcn.engines.memory import own_memory
graph = planted_partition(n_nodes=60_000, n_classes=3, n_features=1_000, seed=0)
if sys.argv[1] == "address space":
    limit = own_memory()["VmSize"] + 200 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    AdaGCNClassifier(graph, preset="tuned", random_state=0).fit(range(90), graph.labels[:90])
except ResourceError as error:
    print(error.code, error.problem)
"""


def _refused(kind, **more):
    found = subprocess.run(
        [sys.executable, "-c", _FIT, kind], capture_output=True, text=True, check=True, **more
    )
    return found.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_a_limited_address_space_refuses():
    said = _refused("address space")
    assert said.startswith("AGC-R2010 this fit would take 0.2")
    assert "the address space of this process is limited to" in said


@pytest.fixture
def memory_group():
    """Return a control group of version 1 or 2 that this test may make, and the file to enter."""
    root = Path("/sys/fs/cgroup/memory")
    limit = "memory.limit_in_bytes"
    if not root.is_dir():
        root, limit = Path("/sys/fs/cgroup"), "memory.max"
    group = root / f"adagcn-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text(str(700 * 2**20))
    except OSError as error:
        with suppress(OSError):
            group.rmdir()
        pytest.skip(f"no control group can be made here: {error}")
    yield group
    group.rmdir()


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are of Linux")
def test_a_control_group_refuses(memory_group):
    def enter():
        (memory_group / "cgroup.procs").write_text(str(os.getpid()))

    said = _refused("group", preexec_fn=enter)
    assert said.startswith("AGC-R2010 this fit would take 0.2")
    assert "the control group of this process allows 0.68 GiB of memory" in said


@pytest.mark.full
@pytest.mark.parametrize("name", ["tuned, dense", "instant, dense", "tuned, many edges"])
def test_peaks_are_within_a_fifth_of_what_is_measured(name):
    from adagcn.bench.estimates import CASES, EstimatesPlan, measure_estimates

    cases = [case for case in CASES if case.name == name]
    (section,) = measure_estimates(EstimatesPlan(cases), tick=lambda: None)
    ratio = section.rows[0].ratio
    if ratio is None:
        pytest.skip("the system does not tell the peak of a process")
    assert 1 / 1.2 <= ratio.median <= 1.2

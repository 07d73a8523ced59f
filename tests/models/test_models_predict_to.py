"""Predictions of a graph in a store, scored block by block in files, are those in memory."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from pyarrow import parquet
from sklearn.tree import DecisionTreeClassifier

from adagcn import (
    AdaGCNClassifier,
    AdaSGCClassifier,
    Graph,
    InputError,
    IntegrityError,
    ResourceError,
    Variant,
)
from adagcn.boosting import vote_files
from adagcn.data import make_split, planted_partition
from adagcn.engines import engine_named, using
from adagcn.models.sgc import SGCClassifier
from adagcn.models.support import boosted_scoring
from adagcn.propagation import stored_hops

QUICK = {"n_layers": 4, "max_epochs": 8, "hidden_units": 8, "preset": "tuned", "random_state": 0}


def planted(n_nodes=240, seed=2):
    return planted_partition(n_nodes, 3, 12, seed=seed, homophily=0.8, mean_degree=6)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    graph, folder = planted(), tmp_path_factory.mktemp("stores") / "store"
    graph.to_store(folder)
    return graph, Graph.from_store(folder)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 5000)
    monkeypatch.setattr(boosted_scoring, "SCORED_AT_ONCE", 32)
    monkeypatch.setattr(vote_files, "BLOCK_BYTES", 2 * 32 * 3 * 8)  # 64 nodes


@pytest.fixture
def steps(monkeypatch):
    """Every step that is done, as (layer, block)."""
    done, add = [], vote_files.add_votes

    def watched(step, plan):
        done.append((step.layer, step.block))
        return add(step, plan)

    monkeypatch.setattr(vote_files, "add_votes", watched)
    return done


def fitted(make, graph):
    split = make_split(graph, "stratified:0")
    ids, labels = graph.ids_and_labels(split.train_nodes)
    stop_ids, stop_labels = graph.ids_and_labels(split.stop_nodes)
    return make(graph).fit(ids, labels, X_val=stop_ids, y_val=stop_labels)


def tuned(graph):
    return AdaGCNClassifier(graph, **QUICK)


def variant(**switches):
    return lambda g: AdaGCNClassifier(g, variant=Variant(**switches), **QUICK)


all_vote = variant(voting_share=1.0)
MODELS = {
    "tuned": tuned,
    "adaptive": lambda g: AdaGCNClassifier(g, random_state=0, max_epochs=8),
    "instant": lambda g: AdaGCNClassifier(g, preset="instant", random_state=0),
    "boosted": lambda g: AdaGCNClassifier(g, **{**QUICK, "preset": "boosted"}),
    "calibrated": lambda g: AdaGCNClassifier(g, calibrate="temperature", **QUICK),
    "samme": lambda g: AdaGCNClassifier(g, combine="samme", **QUICK),
    "ema": lambda g: AdaGCNClassifier(g, combine="ema", variant=Variant(ema_teleport=0.3), **QUICK),
    "last": lambda g: AdaGCNClassifier(g, combine="last", **QUICK),
    "half": variant(voting_share=0.5, hop_scale="hop"),
    "row_l2": variant(hop_scale="row_l2"),
    "standard": lambda g: AdaGCNClassifier(g, feature_norm="standard", max_features=5, **QUICK),
    "trees": lambda g: AdaGCNClassifier(
        g, learner=DecisionTreeClassifier(max_depth=2), n_layers=3, preset="tuned", random_state=0
    ),
    "adasgc": lambda g: AdaSGCClassifier(g, random_state=0, n_layers=4, max_epochs=8),
}


def probabilities(path):
    table = parquet.read_table(path)
    columns = [name for name in table.column_names if name.startswith("proba_")]
    return table["id"].to_numpy(), np.column_stack([table[name].to_numpy() for name in columns])


def assert_nothing_left(graph):
    for folder in ("scores", "hops"):
        assert not any((graph.store / folder).iterdir()), folder


@pytest.mark.filterwarnings("ignore::adagcn.CalibrationNotice")
@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_a_store_has_the_bits_of_memory(graphs, name, tmp_path):
    memory, stored = (fitted(MODELS[name], graph) for graph in graphs)
    summary = stored.predict_to(tmp_path / "p.parquet", proba=True)
    ids, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(ids, graphs[0].node_ids)
    np.testing.assert_array_equal(proba, memory.predict_proba(ids))
    assert summary.n_nodes == 240
    assert summary.labels == {
        k: v for k, v in zip(*np.unique(memory.predict(ids), return_counts=True), strict=True)
    }
    assert parquet.ParquetFile(tmp_path / "p.parquet").metadata.num_row_groups == 4
    assert_nothing_left(graphs[1])


def test_files_are_alike_from_a_store_and_from_memory(graphs, tmp_path):
    memory, stored = (fitted(tuned, graph) for graph in graphs)
    for ending in (".csv", ".csv.gz", ".jsonl"):
        for name, model in {"memory": memory, "stored": stored}.items():
            model.predict_to(tmp_path / f"{name}{ending}", top=2)
        one, other = (tmp_path / f"{name}{ending}" for name in ("memory", "stored"))
        assert one.read_bytes() == other.read_bytes()


def test_a_frame_and_a_file_say_the_same(graphs, tmp_path):
    model = fitted(tuned, graphs[1])
    model.predict_to(tmp_path / "p.parquet", proba=True)
    frame = model.predict_frame(graphs[1].node_ids, proba=True, backend="pyarrow")
    assert parquet.read_table(tmp_path / "p.parquet").equals(frame)


def test_only_the_rows_of_some_nodes_are_gathered(graphs, tmp_path, monkeypatch):
    model = fitted(tuned, graphs[1])
    gathered, rows = [], stored_hops.HopRows.rows

    def watched(self, nodes):
        gathered.extend(np.asarray(nodes).tolist())
        return rows(self, nodes)

    monkeypatch.setattr(stored_hops.HopRows, "rows", watched)
    some = graphs[1].node_ids[[200, 3, 3, 77]]
    expected = model.predict_proba(some)
    assert set(gathered) == {200, 3, 77}
    gathered.clear()
    model.predict_to(tmp_path / "p.parquet", some, proba=True)
    assert set(gathered) == {200, 3, 77}
    ids, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(ids, some)
    np.testing.assert_array_equal(proba, expected)


def test_processes_write_what_one_process_writes(graphs, tmp_path):
    shallow = {**QUICK, "n_layers": 2}
    model = fitted(lambda g: AdaGCNClassifier(g, **shallow), graphs[1])
    model.predict_to(tmp_path / "one.parquet")
    with using(engine_named("processes", workers=2)):
        model.predict_to(tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


THROUGH_RAY = """
    import sys
    from adagcn import Graph, load_model
    from adagcn.boosting import vote_files
    from adagcn.engines import engine_named, using
    from adagcn.models.support import boosted_scoring
    from adagcn.propagation import stored_hops
    stored_hops.BLOCK_BYTES = 5000
    boosted_scoring.SCORED_AT_ONCE = 32
    vote_files.BLOCK_BYTES = 2 * 32 * 3 * 8
    model = load_model(sys.argv[1], graph=Graph.from_store(sys.argv[2]))
    with using(engine_named("ray", workers=2)):
        model.predict_to(sys.argv[3])
"""


@pytest.mark.full
def test_ray_writes_what_one_process_writes(ray_home, tmp_path):
    pytest.importorskip("ray")
    planted().to_store(tmp_path / "store")
    model = fitted(tuned, Graph.from_store(tmp_path / "store"))
    model.save(tmp_path / "m.adagcn")
    model.predict_to(tmp_path / "one.parquet")
    words = [tmp_path / "m.adagcn", tmp_path / "store", tmp_path / "two.parquet"]
    script = [sys.executable, "-c", textwrap.dedent(THROUGH_RAY), *map(str, words)]
    done = subprocess.run(script, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ray_home.token.exists(), "Ray has the home of the test"
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


KILLED = """
    import os, signal, sys
    from adagcn import Graph, load_model
    from adagcn.boosting import vote_files
    from adagcn.models.support import boosted_scoring
    from adagcn.propagation import stored_hops
    stored_hops.BLOCK_BYTES = 5000
    boosted_scoring.SCORED_AT_ONCE = 32
    vote_files.BLOCK_BYTES = 2 * 32 * 3 * 8
    add = vote_files.add_votes

    def deadly(step, plan):
        add(step, plan)
        if (step.layer, step.block) == (2, 1):  # written, but nobody was told
            os.kill(os.getpid(), signal.SIGKILL)

    vote_files.add_votes = deadly
    load_model(sys.argv[1], graph=Graph.from_store(sys.argv[2])).predict_to(sys.argv[3])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_prediction_goes_on(tmp_path, steps, monkeypatch):
    planted().to_store(tmp_path / "store")
    graph = Graph.from_store(tmp_path / "store")
    model = fitted(all_vote, graph)
    model.save(tmp_path / "m.adagcn")
    words = [tmp_path / "m.adagcn", tmp_path / "store", tmp_path / "p.parquet"]
    script = [sys.executable, "-c", textwrap.dedent(KILLED), *map(str, words)]
    done = subprocess.run(script, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "p.parquet").exists()
    made, make = [], stored_hops.make_block
    monkeypatch.setattr(
        stored_hops, "make_block", lambda step, plan: made.append(step.hop) or make(step, plan)
    )
    model.predict_to(tmp_path / "p.parquet", proba=True)
    assert steps == [(2, 2), (2, 3), *((3, block) for block in range(4))]
    assert set(made) == {3}, "hop 2 was there"
    _, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(proba, model.predict_proba(graph.node_ids))
    assert_nothing_left(graph)


def failing(monkeypatch, error):
    """Let the first part of a file be written, and no other."""
    write = parquet.ParquetWriter.write_table

    def fail(self, table, **how):
        if getattr(self, "has_rows", False):
            raise error
        self.has_rows = True
        write(self, table, **how)

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", fail)


@pytest.mark.parametrize(
    ("error", "told", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), ResourceError, "No space left"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
    ids=["full disk", "Ctrl-C"],
)
def test_what_was_scored_outlives_a_file_that_failed(
    tmp_path, monkeypatch, steps, error, told, said
):
    planted().to_store(tmp_path / "store")
    graph, path = Graph.from_store(tmp_path / "store"), tmp_path / "out" / "p.parquet"
    path.parent.mkdir()
    model = fitted(all_vote, graph)
    with monkeypatch.context() as patch:
        failing(patch, error)
        with pytest.raises(told, match=said):
            model.predict_to(path)
    assert not any(path.parent.iterdir())
    assert len(steps) == 4 * 4
    steps.clear()
    assert model.predict_to(path).n_nodes == 240
    assert steps == [], "all scores were there"
    assert_nothing_left(graph)


def test_an_interrupted_layer_goes_on(tmp_path, monkeypatch, steps):
    planted().to_store(tmp_path / "store")
    graph = Graph.from_store(tmp_path / "store")
    model = fitted(all_vote, graph)
    with monkeypatch.context() as patch:
        add = vote_files.add_votes

        def interrupted(step, plan):
            if (step.layer, step.block) == (1, 2):
                raise KeyboardInterrupt
            add(step, plan)

        patch.setattr(vote_files, "add_votes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.predict_to(tmp_path / "p.parquet")
    steps.clear()
    (scored,) = (tmp_path / "store" / "scores").iterdir()
    damaged = scored / "block-000001.layer-0001"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x00")
    model.predict_to(tmp_path / "p.parquet", proba=True)
    assert steps[:3] == [(0, 1), (1, 1), (1, 2)], "the damaged block starts over, block 0 does not"
    _, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(proba, model.predict_proba(graph.node_ids))


def test_a_sum_that_is_gone_is_told_of(graphs, tmp_path):
    files = vote_files.VoteFiles(tmp_path, 0, 32)
    with pytest.raises(IntegrityError, match=r"block 1, layer 2.*Run the same again"):
        files.sum_before(3, 1)


def test_scores_of_another_model_are_not_taken(tmp_path, monkeypatch):
    planted().to_store(tmp_path / "store")
    graph = Graph.from_store(tmp_path / "store")
    one = fitted(tuned, graph)
    other = fitted(lambda g: AdaGCNClassifier(g, **{**QUICK, "random_state": 1}), graph)
    with monkeypatch.context() as patch:
        failing(patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            one.predict_to(tmp_path / "p.parquet")
    other.predict_to(tmp_path / "p.parquet", proba=True)
    _, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(proba, other.predict_proba(graph.node_ids))


def test_memory_holds_a_block_and_not_all_probabilities(tmp_path, monkeypatch):
    n_nodes, n_classes, path = 6_000, 60, tmp_path / "p.parquet"
    small = planted_partition(900, n_classes, 8, seed=0, homophily=0.8, mean_degree=4)
    model = fitted(lambda g: AdaGCNClassifier(g, preset="instant", random_state=0), small)
    large = planted_partition(n_nodes, n_classes, 8, seed=1, homophily=0.8, mean_degree=4)
    large.to_store(tmp_path / "large")
    large = Graph.from_store(tmp_path / "large")
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 100_000)
    monkeypatch.setattr(boosted_scoring, "SCORED_AT_ONCE", 256)
    model.predict_to(path, large.node_ids[:9], graph=large)  # what is loaded only once
    tracemalloc.start()
    model.predict_to(path, graph=large)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n_nodes * n_classes * 8 / 2
    written = parquet.read_metadata(path)
    assert (written.num_rows, written.row_group(0).num_rows) == (n_nodes, 256)


def test_other_models_and_matrices_write_files_too(graphs, tmp_path):
    model = fitted(lambda g: SGCClassifier(g, random_state=0, max_epochs=5), graphs[0])
    model.predict_to(tmp_path / "p.parquet", proba=True)
    _, proba = probabilities(tmp_path / "p.parquet")
    np.testing.assert_array_equal(proba, model.predict_proba(graphs[0].node_ids))
    X, y = np.eye(6), np.arange(6) % 2
    plain = AdaGCNClassifier(preset="tuned", n_layers=1, max_epochs=2, random_state=0).fit(X, y)
    assert plain.predict_to(tmp_path / "rows.csv", X).n_nodes == 6
    with pytest.raises(InputError, match="no nodes to predict all of"):
        plain.predict_to(tmp_path / "all.csv")
    assert not (tmp_path / "all.csv").exists()


def test_wrong_wishes_are_refused_before_any_work(graphs, tmp_path, steps):
    model = fitted(tuned, graphs[1])
    with pytest.raises(InputError, match="top must be a whole number from 1 to 3"):
        model.predict_to(tmp_path / "p.csv", top=4)
    with pytest.raises(InputError, match="no calibration nodes"):
        model.predict_to(tmp_path / "p.csv", coverage=0.9)
    with pytest.raises(InputError, match="path must end in"):
        model.predict_to(tmp_path / "p.xlsx")
    with pytest.raises(InputError, match="the graph does not have"):
        model.predict_to(tmp_path / "p.csv", [999])
    assert steps == []
    assert not any(tmp_path.iterdir())


def test_no_nodes_are_a_file_without_rows(graphs, tmp_path):
    model = fitted(tuned, graphs[1])
    assert model.predict_to(tmp_path / "p.csv", []).n_nodes == 0
    assert (tmp_path / "p.csv").read_text() == '"id","label","probability","margin"\n'

"""A fit that was interrupted goes on after its last finished layer, with the bits of one go."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from adagcn import AdaGCNClassifier, AdaSGCClassifier, Callback, Checkpoint, Graph
from adagcn.data import make_split, planted_partition
from adagcn.engines import Serial, using
from adagcn.errors import CheckpointNotice, InputError, ResourceError
from adagcn.models import Variant
from adagcn.models.gcn import GCNClassifier
from adagcn.models.support.checkpoints import KeptFits, kept_until_done
from adagcn.propagation import stored_hops
from adagcn.training.hop_fitter import HopFitter

QUICK = {"n_layers": 4, "max_epochs": 8, "hidden_units": 8, "preset": "tuned", "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:from layer")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    folder = tmp_path_factory.mktemp("stores") / "store"
    graph.to_store(folder)
    return graph, Graph.from_store(folder)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 5000)


class Interrupts(Callback):
    """Ctrl-C in the middle of the training of a layer, or just behind one without epochs."""

    def __init__(self, layer, epoch=3):
        self.layer, self.epoch, self.seen = layer, epoch, []

    def on_epoch(self, event):
        if (event.layer, event.epoch) == (self.layer, self.epoch):
            raise KeyboardInterrupt

    def on_layer(self, event):
        self.seen.append(event.layer)
        if event.layer == self.layer:
            raise KeyboardInterrupt


class Follows(Callback):
    def __init__(self):
        self.layers = []

    def on_layer(self, event):
        self.layers.append(event.layer)


def fit(make, graph, *callbacks, order=slice(None)):
    split = make_split(graph, "stratified:0")
    ids, labels = graph.ids_and_labels(split.train_nodes)
    stop_ids, stop_labels = graph.ids_and_labels(split.stop_nodes)
    return make(graph).fit(
        ids[order], labels[order], X_val=stop_ids, y_val=stop_labels, callbacks=callbacks
    )


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_layers_of_a_store_that_cannot_be_written_to(tmp_path, monkeypatch, number):
    mkdir = Path.mkdir

    def refused(path, *args, **words):
        if path.name == "fits":
            raise OSError(number, os.strerror(number))
        mkdir(path, *args, **words)

    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    graph.to_store(tmp_path / "store")
    monkeypatch.setattr(Path, "mkdir", refused)
    match = rf"{os.strerror(number)}.*copy it to a folder that you may write to"
    with pytest.raises(ResourceError, match=match):
        fit(ada(), Graph.from_store(tmp_path / "store"))
    with pytest.raises(ResourceError, match="Name a folder that you may write to"):
        fit(ada(), graph, Checkpoint(tmp_path / "fits"))


def ada(**changes):
    return lambda graph: AdaGCNClassifier(graph, **{**QUICK, **changes})


def interrupted(make, graph, *callbacks, layer=2):
    stop = Interrupts(layer)
    with pytest.raises(KeyboardInterrupt):
        fit(make, graph, *callbacks, stop)
    return stop


MODELS = {
    "tuned": ada(),
    "boosted": ada(preset="boosted"),
    "auto depth": ada(n_layers="auto", variant=Variant(most_layers=5)),
    "adaptive": lambda g: AdaGCNClassifier(g, random_state=0, max_epochs=6, hidden_units=8),
    "instant": lambda g: AdaGCNClassifier(g, preset="instant", random_state=0, n_layers=4),
    "both": ada(variant=Variant(learner="both", pseudo_label_from=1), pseudo_labels=20),
    "pseudo-labels": ada(pseudo_labels=20, variant=Variant(pseudo_label_from=1)),
    "scaled hops": ada(variant=Variant(hop_scale="hop")),
    "carried": ada(variant=Variant(carry_optimizer=True, share_stopping=True, n_members=2)),
    "few columns": ada(max_features=5, feature_norm="l1"),
    "calibrated": ada(calibrate="temperature", dropout=0.3),
    "adasgc": lambda g: AdaSGCClassifier(g, random_state=0, n_layers=4, max_epochs=8),
}


IN_FULL = {"boosted", "adaptive", "carried", "few columns", "calibrated", "adasgc"}


@pytest.mark.parametrize(
    ("name", "where"),
    [
        *((name, "memory") for name in MODELS),
        *(
            pytest.param(name, "store", marks=[pytest.mark.full] if name in IN_FULL else [])
            for name in MODELS
        ),
    ],
)
def test_an_interrupted_fit_goes_on_with_the_bits_of_one_go(graphs, name, where, tmp_path):
    graph = graphs[where == "store"]
    given = [] if where == "store" else [Checkpoint(tmp_path)]
    place = graph.store / "fits" if where == "store" else tmp_path
    whole = fit(MODELS[name], graph, Checkpoint(None))
    interrupted(MODELS[name], graph, *given)
    follows = Follows()
    with pytest.warns(CheckpointNotice, match="going on after layer [23]"):
        found = fit(MODELS[name], graph, *given, follows)
    assert follows.layers[0] >= 2, "no layer is fitted twice"
    assert found.model_digest_ == whole.model_digest_
    assert found.stop_accuracy_ == whole.stop_accuracy_
    assert dict(found.params_) == dict(whole.params_)
    ids = graph.node_ids
    np.testing.assert_array_equal(found.predict_proba(ids), whole.predict_proba(ids))
    assert not place.exists() or not any(place.iterdir()), "nothing is left behind"


@dataclass(frozen=True)
class Together(Serial):
    """An engine on which several workers train a layer."""

    train_workers: int = 2


@pytest.mark.parametrize(("before", "now"), [(1, 2), (2, 1), (2, 3)])
def test_other_numbers_of_training_workers_never_meet(graphs, tmp_path, monkeypatch, before, now):
    """The last bits of a layer depend on how many train it."""
    monkeypatch.setattr(
        "adagcn.training.data_parallel.DataParallelFitter", lambda *how: HopFitter(*how[:-2])
    )
    with using(Together(before)):
        interrupted(ada(), graphs[0], Checkpoint(tmp_path))
    follows = Follows()
    said = f"train_workers was {before} and is {now}"
    with using(Together(now)), pytest.warns(CheckpointNotice, match=said):
        fit(ada(), graphs[0], Checkpoint(tmp_path), follows)
    assert follows.layers[0] == 0
    with using(Together(before)), pytest.warns(CheckpointNotice, match="going on after layer 2"):
        fit(ada(), graphs[0], Checkpoint(tmp_path))


def test_hops_of_an_interrupted_fit_are_not_made_again(graphs, monkeypatch):
    made = []
    make = stored_hops.make_block
    monkeypatch.setattr(
        stored_hops, "make_block", lambda step, plan: made.append(step.hop) or make(step, plan)
    )
    interrupted(ada(), graphs[1])
    assert set(made) == {1, 2}
    made.clear()
    with pytest.warns(CheckpointNotice, match="going on after layer 2 of 4"):
        fit(ada(), graphs[1])
    assert set(made) == {3}, "hop 2 is still there"
    assert not any((graphs[1].store / "hops").iterdir())


def test_hops_that_are_gone_are_made_again_but_no_layer_is(graphs):
    interrupted(ada(), graphs[1])
    for folder in (graphs[1].store / "hops").iterdir():
        for path in folder.glob("hop-*/block*"):
            path.unlink()
    follows = Follows()
    with pytest.warns(CheckpointNotice, match="going on after layer 2 of 4"):
        found = fit(ada(), graphs[1], follows)
    assert follows.layers == [2, 3]
    assert found.model_digest_ == fit(ada(), graphs[0]).model_digest_


OTHERS = {
    "settings": (ada(learning_rate=0.02), {}, "learning_rate was 0.01 and is 0.02"),
    "seed": (ada(random_state=1), {}, "random_state was 0 and is 1"),
    "order": (ada(), {"order": slice(None, None, -1)}, "in another order"),
    "nodes": (ada(), {"order": slice(5, None)}, "X lacks 5 earlier nodes"),
    "weights": (ada(class_weight={0: 2.0, 1: 1.0, 2: 1.0}), {}, "the share of node"),
    "model": (MODELS["adasgc"], {}, "model was adagcn and is adasgc"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_fit_is_never_gone_on_with(graphs, name, tmp_path):
    make, how, why = OTHERS[name]
    keep = Checkpoint(tmp_path)
    interrupted(ada(), graphs[0], keep)
    (theirs,) = tmp_path.iterdir()
    follows = Follows()
    with pytest.warns(CheckpointNotice, match=f"is another one.*{why}"):
        found = fit(make, graphs[0], keep, follows, **how)
    assert follows.layers == [0, 1, 2, 3]
    assert found.model_digest_ == fit(make, graphs[0], **how).model_digest_
    assert list(tmp_path.iterdir()) == [theirs], "the interrupted one can still go on"
    with pytest.warns(CheckpointNotice, match="going on after layer 2"):
        fit(ada(), graphs[0], keep)


def test_another_graph_and_other_versions_are_another_fit(graphs, tmp_path, monkeypatch):
    keep = Checkpoint(tmp_path)
    interrupted(ada(), graphs[0], keep)
    other = planted_partition(240, 3, 12, seed=3, homophily=0.8, mean_degree=6)
    with pytest.warns(CheckpointNotice, match="the graph or its features are not the same"):
        fit(ada(), other, keep)
    monkeypatch.setattr(
        "adagcn.models.support.checkpoints.version", lambda name: f"{name} of tomorrow"
    )
    with pytest.warns(CheckpointNotice, match=r"torch was \d.* and is torch of tomorrow"):
        fit(ada(), graphs[0], keep)


def test_a_fit_without_a_seed_goes_on_with_that_of_the_interrupted_one(graphs, tmp_path):
    keep, make = Checkpoint(tmp_path), ada(random_state=None)
    interrupted(make, graphs[0], keep)
    seed = int(next(tmp_path.iterdir()).name.rsplit("-", 1)[1])
    with pytest.warns(CheckpointNotice, match="going on after layer 2"):
        found = fit(make, graphs[0], keep)
    assert found.seed_ == seed
    assert found.model_digest_ == fit(ada(random_state=seed), graphs[0]).model_digest_


def test_fewer_and_more_layers_than_the_interrupted_fit_wanted(graphs, tmp_path):
    keep = Checkpoint(tmp_path)
    interrupted(ada(n_layers=3), graphs[0], keep)
    with pytest.warns(CheckpointNotice, match="1 layer of 1 are there already|going on"):
        found = fit(ada(n_layers=1), graphs[0], keep)
    assert found.model_digest_ == fit(ada(n_layers=1), graphs[0]).model_digest_
    interrupted(ada(n_layers=3), graphs[0], keep)
    with pytest.warns(CheckpointNotice, match="going on after layer 2 of 4"):
        found = fit(ada(), graphs[0], keep)
    assert found.model_digest_ == fit(ada(), graphs[0]).model_digest_


def test_a_warm_start_that_was_interrupted(graphs, tmp_path):
    keep, whole = Checkpoint(tmp_path), fit(ada(), graphs[0])
    fit(ada(n_layers=1), graphs[0]).save(tmp_path / "m.adagcn", continuable=True)

    def begun(graph):
        model = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=graph)
        return model.set_params(warm_start=True, n_layers=4)

    interrupted(begun, graphs[0], keep)
    follows = Follows()
    with pytest.warns(CheckpointNotice, match="going on after layer 2 of 4"):
        found = fit(begun, graphs[0], keep, follows)
    assert follows.layers == [2, 3]
    assert found.model_digest_ == whole.model_digest_


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "other layer"])
def test_a_damaged_layer_is_fitted_again(graphs, tmp_path, harm):
    keep = Checkpoint(tmp_path)
    interrupted(ada(), graphs[0], keep, layer=3)
    (folder,) = tmp_path.iterdir()
    path = folder / "layer-001.checkpoint"
    content = path.read_bytes()
    broken = {
        "cut": content[:-7],
        "flipped": content[:-7] + bytes([content[-7] ^ 1]) + content[-6:],
        "empty": b"",
        "other layer": (folder / "layer-000.checkpoint").read_bytes(),
    }
    path.write_bytes(broken[harm])
    follows = Follows()
    with (
        pytest.warns(CheckpointNotice, match="layer 1 .* is damaged"),
        pytest.warns(CheckpointNotice, match="going on after layer 1 of 4"),
    ):
        found = fit(ada(), graphs[0], keep, follows)
    assert follows.layers == [1, 2, 3]
    assert found.model_digest_ == fit(ada(), graphs[0]).model_digest_


def test_a_damaged_start_starts_over(graphs, tmp_path):
    interrupted(ada(), graphs[0], Checkpoint(tmp_path))
    (folder,) = tmp_path.iterdir()
    (folder / "fit.checkpoint").write_bytes(b"nonsense")
    follows = Follows()
    fit(ada(), graphs[0], Checkpoint(tmp_path), follows)
    assert follows.layers == [0, 1, 2, 3]


def test_resume_false_starts_over(graphs):
    interrupted(ada(), graphs[1])
    follows = Follows()
    fit(ada(), graphs[1], Checkpoint(resume=False), follows)
    assert follows.layers == [0, 1, 2, 3]
    assert not (graphs[1].store / "fits").exists()


def test_no_checkpoint_at_all(graphs):
    interrupted(ada(), graphs[1], Checkpoint(None))
    assert not (graphs[1].store / "fits").exists()


def test_two_processes_do_not_share_a_checkpoint(graphs, tmp_path):
    keep, inner = Checkpoint(tmp_path), []

    class FitsAgain(Callback):
        def on_layer(self, event):
            if event.layer == 1:
                with pytest.warns(CheckpointNotice, match="another process is at work"):
                    inner.append(fit(ada(), graphs[0], keep))

    outer = fit(ada(), graphs[0], keep, FitsAgain())
    assert inner[0].model_digest_ == outer.model_digest_
    assert not any(tmp_path.iterdir())


def test_what_comes_after_a_fit_can_be_interrupted_too(graphs, tmp_path):
    keep = Checkpoint(tmp_path)
    with suppress(KeyboardInterrupt), kept_until_done(KeptFits()):
        whole = fit(ada(), graphs[0], keep)
        raise KeyboardInterrupt
    follows = Follows()
    with kept_until_done(KeptFits()):
        with pytest.warns(CheckpointNotice, match="4 layers of 4 are there"):
            found = fit(ada(), graphs[0], keep, follows)
        assert any(tmp_path.iterdir())
    assert found.model_digest_ == whole.model_digest_
    assert not follows.layers
    assert not any(tmp_path.iterdir())


def test_a_disk_that_is_full_does_not_end_the_fit(graphs, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adagcn.models.support.checkpoints.write_layer", full)
    with pytest.warns(CheckpointNotice, match="layer 0 was not kept.*No space left"):
        found = fit(ada(), graphs[0], Checkpoint(tmp_path))
    assert len(found.layers_) == 4


def test_what_a_checkpoint_cannot_be(graphs, tmp_path):
    with pytest.raises(InputError, match="needs a folder"):
        fit(ada(), graphs[0], Checkpoint())
    with pytest.raises(InputError, match="must be a path"):
        Checkpoint(3)
    with pytest.raises(InputError, match="resume must be True or False"):
        Checkpoint("folder", "yes")
    with pytest.raises(InputError, match="in one place"):
        fit(ada(), graphs[0], Checkpoint(tmp_path), Checkpoint(None))
    with pytest.raises(InputError, match="has no layers to keep"):
        fit(lambda g: GCNClassifier(g), graphs[0], Checkpoint(tmp_path))
    with pytest.raises(InputError, match="scikit-learn classifier cannot be kept"):
        fit(ada(learner=LogisticRegression()), graphs[0], Checkpoint(tmp_path))
    fit(ada(learner=LogisticRegression()), graphs[1])  # a store keeps none then


KILLED = """
    import os, signal, sys
    from adagcn import AdaGCNClassifier, Callback, Graph
    from adagcn.data import make_split
    from adagcn.engines import engine_named, using
    from adagcn.propagation import stored_hops
    stored_hops.BLOCK_BYTES = 5000
    store, where, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])

    class Deadly(Callback):
        def on_epoch(self, event):
            if where == "training" and (event.layer, event.epoch) == (2, 4):
                os.kill(os.getpid(), signal.SIGKILL)

    add = stored_hops.Journal.add
    def deadly(journal, step, done):
        add(journal, step, done)
        if where == "hop" and step.hop == 3 and len(journal.whole()) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    stored_hops.Journal.add = deadly

    graph = Graph.from_store(store)
    split = make_split(graph, "stratified:0")
    ids, labels = graph.ids_and_labels(split.train_nodes)
    stop_ids, stop_labels = graph.ids_and_labels(split.stop_nodes)
    model = AdaGCNClassifier(
        graph, n_layers=4, max_epochs=8, hidden_units=8, preset="tuned", random_state=0
    )
    with using(engine_named(workers=workers)):
        model.fit(ids, labels, X_val=stop_ids, y_val=stop_labels, callbacks=[Deadly()])
    print(model.model_digest_)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("where", "workers"),
    [
        ("training", 1),
        pytest.param("hop", 1, marks=pytest.mark.full),
        pytest.param("training", 2, marks=pytest.mark.full),
        pytest.param("hop", 2, marks=pytest.mark.full),
    ],
)
def test_a_driver_that_is_killed_goes_on(tmp_path, where, workers, monkeypatch):
    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    graph.to_store(tmp_path / "store")
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "store")]
    done = subprocess.run([*script, where, str(workers)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = (tmp_path / "store" / "fits").iterdir()
    assert len(list(folder.glob("layer-*"))) == (2 if where == "training" else 3)
    made, make = [], stored_hops.make_block
    monkeypatch.setattr(
        stored_hops, "make_block", lambda step, plan: made.append(step) or make(step, plan)
    )
    follows = Follows()
    with pytest.warns(CheckpointNotice, match="going on after layer"):
        found = fit(ada(), Graph.from_store(tmp_path / "store"), follows)
    assert found.model_digest_ == fit(ada(), graph).model_digest_
    assert follows.layers == ([2, 3] if where == "training" else [3])
    assert {step.hop for step in made} == {3}
    if where == "hop":
        assert {0, 1}.isdisjoint(step.block for step in made) or workers > 1

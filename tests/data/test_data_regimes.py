"""Regimes: few, uneven or wrong labels, the same ones every time, and never a wrong scored one."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from adagcn.data import load_dataset, make_split
from adagcn.data.generators import planted_partition
from adagcn.data.nodesets import Regime, Split, fit_on_split, with_label_noise
from adagcn.errors import InputError


@pytest.fixture(scope="module")
def cora():
    return load_dataset("cora")


def noisy_split(graph, name, share, **options):
    return make_split(graph, name, regime=Regime(label_noise=share), **options)


def changed(graph, split):
    """Return how many training and stopping labels are wrong."""
    truth = graph.labels[split.train_nodes], graph.labels[split.stop_nodes]
    return tuple(
        int((seen != right).sum())
        for seen, right in zip((split.train_labels, split.stop_labels), truth, strict=True)
    )


@pytest.mark.parametrize("share", [0.2, 0.4])
@pytest.mark.parametrize("name", ["val:0", "fresh:3", "stratified:1", "holdout:2"])
def test_the_share_of_wrong_labels_is_exact(cora, share, name):
    split = noisy_split(cora, name, share)
    sizes = split.sizes
    assert changed(cora, split) == (round(share * sizes["train"]), round(share * sizes["stop"]))


def test_noise_changes_no_node_and_no_scored_label(cora):
    plain, split = make_split(cora, "val:3"), noisy_split(cora, "val:3", 0.4)
    for role in ("train_nodes", "stop_nodes", "score_nodes"):
        np.testing.assert_array_equal(getattr(plain, role), getattr(split, role))
    assert (plain.name, plain.train_labels, plain.stop_labels) == ("val:3", None, None)
    assert split.name == "val:3"
    assert not np.intersect1d(split.score_nodes, [*split.train_nodes, *split.stop_nodes]).size
    assert cora.digest == load_dataset("cora").digest  # the graph's own labels are untouched


def test_noise_is_the_same_every_time_and_other_for_other_names_and_shares(cora):
    again = [noisy_split(cora, "val:0", 0.2).digest for _ in range(2)]
    assert again[0] == again[1]
    others = [("val:0", 0.4), ("val:1", 0.2), ("val:0", 0.25)]
    digests = {noisy_split(cora, *each).digest for each in others} | {again[0]}
    assert len(digests | {make_split(cora, "val:0").digest}) == 5


def test_the_noise_on_record(cora):
    seen = noisy_split(cora, "val:0", 0.2)
    octets = np.concatenate([seen.train_labels, seen.stop_labels]).astype("<i8").tobytes()
    assert hashlib.sha256(octets).hexdigest()[:16] == "6a2e6c3175ce8cab"


def test_wrong_labels_are_of_all_other_classes_alike():
    labels = np.repeat([0, 2, 5], 4000)  # a class position may be unused
    split = with_label_noise(Split("mine", np.arange(12000), [], []), labels, 0.3)
    for own in (0, 2, 5):
        wrong = split.train_labels[(labels == own) & (split.train_labels != own)]
        values, counts = np.unique(wrong, return_counts=True)
        assert values.tolist() == [each for each in (0, 2, 5) if each != own]
        assert abs(counts[0] - counts[1]) < 150  # about four standard deviations


@pytest.mark.parametrize("number", range(20))
def test_every_class_keeps_a_right_training_label(cora, number):
    regime = Regime(imbalance=(20, 2), label_noise=0.4)
    split = make_split(cora, f"val:{number}", regime=regime)
    truth = cora.labels[split.train_nodes]
    assert set(truth[truth == split.train_labels].tolist()) == set(range(7))


def test_noise_that_cannot_be_is_refused():
    one_each = Split("mine", [0, 1], [], [])
    with pytest.raises(InputError, match="no right training label to some class of the split mine"):
        with_label_noise(one_each, [0, 1], 0.5)
    with pytest.raises(InputError, match="label_noise needs another class to draw from"):
        with_label_noise(one_each, [0, 0], 0.5)
    with pytest.raises(InputError, match="label_noise must be between 0 and 1; got 1"):
        with_label_noise(one_each, [0, 1], 1.0)


@pytest.mark.parametrize("labels", [[0], [0, -1], [[0, 1]], [0.5, 1.0]])
def test_labels_of_a_fit_are_one_class_for_each_node(labels):
    with pytest.raises(InputError, match=r"must (have a class position for each|be one whole)"):
        Split("mine", [0, 1], [], [], train_labels=labels)


def test_labels_of_a_fit_are_part_of_the_digest_and_read_only():
    plain = Split("mine", [0, 1], [2, 3], [])
    own = [
        Split("mine", [0, 1], [2, 3], [], train_labels=[0, 1]),
        Split("mine", [0, 1], [2, 3], [], stop_labels=[0, 1]),
        Split("mine", [0, 1], [2, 3], [], train_labels=[1, 1]),
    ]
    assert len({each.digest for each in (plain, *own)}) == 4
    with pytest.raises(ValueError, match="read-only"):
        own[0].train_labels[0] = 1


class Heard:
    """A model that only keeps what it is told."""

    def fit(self, X, y, *, X_val, y_val, callbacks):
        self.told = X, y, X_val, y_val


def test_a_fit_sees_the_labels_of_the_split():
    graph = planted_partition(90, 3, 6, seed=1)
    plain, split = make_split(graph, "stratified:0"), noisy_split(graph, "stratified:0", 0.4)
    model = Heard()
    fit_on_split(model, graph, split)
    X, y, _, y_val = model.told
    assert y.tolist() == graph.classes[split.train_labels].tolist()
    assert y_val.tolist() == graph.classes[split.stop_labels].tolist()
    assert (y != graph.ids_and_labels(split.train_nodes)[1]).sum() == round(0.4 * len(y))
    fit_on_split(model, graph, plain)
    assert model.told[0].tolist() == X.tolist()
    assert model.told[1].tolist() == graph.ids_and_labels(plain.train_nodes)[1].tolist()
    assert model.told[3].tolist() == graph.ids_and_labels(plain.stop_nodes)[1].tolist()


@pytest.mark.parametrize("name", ["val:0", "test:4", "fresh:7"])
def test_labels_as_they_fall(cora, name):
    split = make_split(cora, name, regime=Regime(n_train=600))
    counts = np.bincount(cora.labels[split.train_nodes], minlength=7)
    assert counts.sum() == 600
    shares = np.bincount(cora.labels) / cora.n_nodes
    assert np.abs(counts / 600 - shares).max() < 0.06  # as the classes are, not alike
    assert split.sizes["stop"] == 500
    assert split.digest == make_split(cora, name, regime=Regime(n_train=600)).digest


def test_a_class_that_got_none_gets_one_besides(cora):
    seen = [make_split(cora, f"val:{k}", regime=Regime(n_train=8)) for k in range(20)]
    assert all(set(cora.labels[each.train_nodes].tolist()) == set(range(7)) for each in seen)
    assert max(each.sizes["train"] for each in seen) > 8


def test_imbalance_halves_the_classes(cora):
    split = make_split(cora, "val:1", regime=Regime(imbalance=(20, 2)))
    assert np.bincount(cora.labels[split.train_nodes]).tolist() == [20, 20, 20, 20, 2, 2, 2]
    assert split.sizes["score"] == 1500 - 86 - 500


def test_at_most_takes_half_of_what_is_too_small(cora):
    everything = Regime(at_most=True)
    plain = make_split(cora, "val:0", train_per_class=60)
    assert make_split(cora, "val:0", train_per_class=60, regime=everything).digest == plain.digest
    with pytest.raises(InputError, match="needs 120 nodes to draw from in class"):
        make_split(cora, "val:0", train_per_class=120)
    split = make_split(cora, "val:0", train_per_class=120, regime=everything)
    counts = np.bincount(cora.labels[split.train_nodes])
    nodes = make_split(cora, "val:0")
    known = np.concatenate([nodes.train_nodes, nodes.stop_nodes, nodes.score_nodes])
    there = np.bincount(cora.labels[known])
    assert counts.tolist() == [120 if n >= 120 else n // 2 for n in there]
    assert counts.min() < 60


@pytest.mark.parametrize(
    ("name", "options", "regime", "match"),
    [
        ("holdout:0", {}, {"n_train": 60}, "n_train has no meaning for holdout splits; got 60"),
        ("stratified:0", {}, {"imbalance": (20, 2)}, "imbalance has no meaning for stratified"),
        ("val:0", {}, {"at_most": True}, "at_most needs train_per_class"),
        ("val:0", {"train_per_class": 5}, {"n_train": 60}, "n_train and train_per_class exclude"),
        ("val:0", {"train_per_class": 5}, {"imbalance": (5, 1)}, "imbalance and train_per_class"),
        ("val:0", {}, {"n_train": 1501}, "n_train is more than the 1,500 known nodes; got 1501"),
        ("val:0", {}, {"n_train": 1100}, "n_stop=500 leaves no known node to score"),
    ],
)
def test_a_regime_without_a_meaning_is_refused(cora, name, options, regime, match):
    with pytest.raises(InputError, match=match):
        make_split(cora, name, regime=Regime(**regime), **options)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"n_train": 5, "imbalance": (2, 1)}, "n_train and imbalance exclude each other"),
        ({"at_most": True, "n_train": 5}, "n_train and at_most exclude each other"),
        ({"n_train": 0}, "n_train must be at least 1; got 0"),
        ({"imbalance": (20, 0)}, "imbalance must be at least 1; got 0"),
        ({"label_noise": 0.0}, "label_noise must be between 0 and 1; got 0"),
    ],
)
def test_a_regime_that_cannot_be_is_refused(fields, match):
    with pytest.raises(InputError, match=match):
        Regime(**fields)


def test_a_regime_in_words():
    assert Regime().words == ""
    assert Regime(imbalance=(20, 2), label_noise=0.4).words == "imbalance 20 to 2, label noise 40 %"

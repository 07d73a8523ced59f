"""Splits: the paper's to the node, a user's own, the published ones; none ever overlaps."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adagcn.data.converted import write_converted
from adagcn.data.gasteiger import fresh_seed, fresh_share_seen, known_nodes, share_seen
from adagcn.data.generators import planted_partition
from adagcn.data.nodesets import Split, with_calibration, with_label_noise
from adagcn.data.splits import (
    gasteiger_split,
    make_split,
    parse_split,
    public_split,
    stratified_split,
)
from adagcn.errors import InputError

ROLES = ("train_nodes", "stop_nodes", "score_nodes")


def short_hash(nodes: np.ndarray) -> str:
    return hashlib.sha256(nodes.astype("<i8").tobytes()).hexdigest()[:16]


GOLDEN = {
    ("citeseer", "test:0"): ("b56edac9f4f6311a", "780036d5def9f86d", "31c3afe924ede569"),
    ("citeseer", "test:1"): ("fcd0a5eb4f62bbd6", "389c9b1eaf0ed699", "31c3afe924ede569"),
    ("citeseer", "test:19"): ("09e717240fdfb586", "bae448cb3dcbade7", "31c3afe924ede569"),
    ("citeseer", "val:0"): ("5909d6bf212c76c9", "ff3c1d20ded4e5af", "636881356d53e58d"),
    ("cora_ml", "test:0"): ("b6f8d913d7fce439", "482c0051cebd55a4", "0e6dd742e2bb5d01"),
    ("cora_ml", "test:1"): ("fcf983b599acb531", "52c296d9cb6767f0", "0e6dd742e2bb5d01"),
    ("cora_ml", "test:19"): ("a63c73bb906feaf4", "e45841a6e60284b8", "0e6dd742e2bb5d01"),
    ("cora_ml", "val:0"): ("c13dab85c6324ca2", "f803769f49e92265", "18d960cb8821b3c6"),
}


@pytest.mark.dataset
@pytest.mark.parametrize(("name", "text"), GOLDEN)
def test_the_papers_splits_to_the_node(dataset_dir, name, text):
    from adagcn.data import load_dataset

    split = make_split(load_dataset(name, data_dir=dataset_dir), text)
    assert tuple(short_hash(getattr(split, role)) for role in ROLES) == GOLDEN[name, text]


@pytest.mark.dataset
@pytest.mark.parametrize(
    ("name", "text", "sizes", "first"),
    [
        ("citeseer", "test:0", (120, 500, 610), [1773, 1495, 247, 1329, 726]),
        ("cora_ml", "test:0", (140, 500, 1310), [2479, 1147, 1371, 2399, 1250]),
        ("cora_ml", "val:0", (140, 500, 860), None),
        ("ms_academic", "test:0", (300, 500, 13333), None),
    ],
)
def test_sizes_and_first_nodes_of_the_papers_splits(dataset_dir, name, text, sizes, first):
    from adagcn.data import load_dataset

    split = make_split(load_dataset(name, data_dir=dataset_dir), text)
    assert tuple(len(getattr(split, role)) for role in ROLES) == sizes
    assert first is None or split.train_nodes[:5].tolist() == first


def labels_of(n_nodes: int, n_classes: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(n_classes, size=n_nodes)


def test_protocol_draws_the_same_known_nodes_for_every_split():
    labels = labels_of(2000)
    tests = [gasteiger_split(labels, "test", index) for index in range(20)]
    assert len({short_hash(split.score_nodes) for split in tests}) == 1
    assert len({short_hash(split.train_nodes) for split in tests}) == 20
    known = np.setdiff1d(np.arange(2000), tests[0].score_nodes)
    for index in range(20):
        split = gasteiger_split(labels, "val", index)
        parts = np.concatenate([getattr(split, role) for role in ROLES])
        assert np.array_equal(np.sort(parts), known)


def test_fresh_splits_have_known_and_scored_nodes_of_their_own():
    graph = planted_partition(2000, 3, 2, seed=0)
    splits = [make_split(graph, f"fresh:{index}") for index in range(20)]
    for role in ROLES:
        assert len({short_hash(getattr(split, role)) for split in splits}) == 20
    test = make_split(graph, "test:0")
    assert {tuple(split.sizes.values()) for split in splits} == {tuple(test.sizes.values())}
    assert {split.name for split in splits} == {f"fresh:{index}" for index in range(20)}
    for split in splits:
        assert np.array_equal(split.score_nodes, np.sort(split.score_nodes))


def test_a_fresh_split_is_one_stream_from_the_seed_of_its_name():
    """Drawn here in full by the rule as it is written, not by our code."""
    labels = labels_of(2000)
    seed = int.from_bytes(hashlib.sha256(b"adagcn fresh:3").digest()[:4], "big")
    rng = np.random.RandomState(seed)
    known = rng.choice(np.arange(2000), 1500, replace=False)
    train = [rng.choice(known[labels[known] == k], 20, replace=False) for k in range(3)]
    rest = np.array([node for node in known if node not in set(np.concatenate(train).tolist())])
    split = gasteiger_split(labels, "fresh", 3)
    assert fresh_seed(3) == seed
    assert np.array_equal(split.train_nodes, np.concatenate(train))
    assert np.array_equal(split.stop_nodes, rng.choice(rest, 500, replace=False))
    assert np.array_equal(split.score_nodes, np.setdiff1d(np.arange(2000), known))


def test_the_known_nodes_are_those_that_no_test_split_scores():
    graph = planted_partition(2000, 3, 2, seed=0)
    known = known_nodes(graph)
    test, val = make_split(graph, "test:4"), make_split(graph, "val:4")
    assert np.array_equal(known, np.setdiff1d(np.arange(2000), test.score_nodes))
    assert (share_seen(graph, test), share_seen(graph, val)) == (0, 1)
    shares = [share_seen(graph, make_split(graph, f"fresh:{k}")) for k in range(20)]
    assert fresh_share_seen(graph) == np.mean(shares)
    assert abs(np.mean(shares) - 0.75) < 0.02  # 1,500 of 2,000 nodes are known
    with pytest.raises(InputError, match=r"the paper's protocol draws from 1,500 .* got 900"):
        known_nodes(planted_partition(900, 3, 2, seed=0))


def test_protocol_takes_each_class_in_label_order():
    labels = labels_of(2000)
    split = gasteiger_split(labels, "val", 3, train_per_class=7, n_stop=100)
    assert labels[split.train_nodes].tolist() == [0] * 7 + [1] * 7 + [2] * 7
    assert len(split.stop_nodes) == 100


def test_unlabeled_nodes_are_in_no_split():
    labels = labels_of(3000)
    labels[::3] = -1
    for split in (
        gasteiger_split(labels, "test", 0),
        gasteiger_split(labels, "val", 0),
        stratified_split(labels, 0),
    ):
        for role in ROLES:
            assert (labels[getattr(split, role)] >= 0).all()


def test_protocol_says_when_the_graph_is_too_small():
    with pytest.raises(InputError, match=r"1,500 labeled nodes .* got 900\. Use holdout:0"):
        gasteiger_split(labels_of(900), "val", 0)


def test_protocol_names_the_class_that_is_too_small():
    labels = labels_of(2000)
    labels[labels == 2] = 0
    labels[:5] = 2
    classes = np.array(["ant", "bee", "cat"])
    with pytest.raises(InputError, match=r"class 'cat'; got [0-5]\..*holdout:0"):
        gasteiger_split(labels, "test", 0, classes=classes)


def test_protocol_leaves_something_to_score():
    with pytest.raises(InputError, match=r"n_stop=1,440 leaves no known node"):
        gasteiger_split(labels_of(2000), "val", 0, n_stop=1440)


@pytest.mark.parametrize(
    ("kind", "index"), [("val", 20), ("test", -1), ("fresh", 20), ("train", 0)]
)
def test_protocol_has_twenty_splits_of_each_kind(kind, index):
    with pytest.raises(InputError, match='kind must be "val", "test" or "fresh" and index'):
        gasteiger_split(labels_of(2000), kind, index)


@pytest.mark.parametrize("labels", [np.zeros(9), np.zeros((3, 3), int), ["a", "b"]])
def test_labels_must_be_whole_numbers(labels):
    with pytest.raises(InputError, match="labels must be one whole number per node"):
        stratified_split(labels, 0)


@pytest.mark.parametrize("count", [0, -3])
def test_counts_must_be_positive(count):
    with pytest.raises(InputError, match=f"train_per_class must be at least 1; got {count}"):
        stratified_split(labels_of(100), 0, train_per_class=count)
    with pytest.raises(InputError, match=f"n_stop must be at least 1; got {count}"):
        gasteiger_split(labels_of(2000), "val", 0, n_stop=count)


@given(
    labels=st.lists(st.integers(-1, 3), min_size=1, max_size=150),
    seed=st.integers(0, 2**32),
    stop_fraction=st.floats(0.01, 0.99),
)
def test_stratified_uses_every_label_once_or_names_a_small_class(labels, seed, stop_fraction):
    labels = np.array(labels)
    counts = np.bincount(labels[labels >= 0], minlength=1)
    if counts.max(initial=0) == 0 or counts[counts > 0].min() < 3:
        with pytest.raises(InputError, match=r"in class '\d'; got [12]|no node has one"):
            stratified_split(labels, seed, stop_fraction=stop_fraction)
        return
    split = stratified_split(labels, seed, stop_fraction=stop_fraction)
    parts = np.concatenate([getattr(split, role) for role in ROLES])
    assert np.array_equal(np.sort(parts), np.flatnonzero(labels >= 0))
    for role in ROLES:
        assert set(labels[getattr(split, role)]) == set(labels[labels >= 0])
    again = stratified_split(labels, seed, stop_fraction=stop_fraction)
    assert again.digest == split.digest


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_stratified_leaves_each_class_a_node_of_each_kind(fraction):
    labels = np.array([0, 1, 0, 1, 1, 0])
    split = stratified_split(labels, 0, stop_fraction=fraction)
    for role in ROLES:
        assert sorted(labels[getattr(split, role)]) == [0, 1]


def test_stratified_trains_on_as_many_per_class_as_asked():
    labels = labels_of(300)
    for asked, expected in ((None, 20), (7, 7)):
        split = stratified_split(labels, 1, train_per_class=asked)
        assert np.bincount(labels[split.train_nodes]).tolist() == [expected] * 3
    with pytest.raises(InputError, match=r"stratified:1 needs 202 nodes .* class 'a'; got \d+"):
        stratified_split(labels, 1, train_per_class=200, classes=["a", "b", "c"])


@pytest.mark.parametrize("fraction", [0, 1, -0.5, float("nan")])
def test_stop_fraction_is_a_share(fraction):
    with pytest.raises(InputError, match="stop_fraction must be between 0 and 1"):
        stratified_split(labels_of(100), 0, stop_fraction=fraction)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("val:0", ("val", 0)), ("test:19", ("test", 19)), ("stratified:77", ("stratified", 77)),
     ("public", ("public", 0)), ("holdout:3", ("holdout", 3)), ("file:12", ("file", 12)),
     ("fresh:19", ("fresh", 19))],
)  # fmt: skip
def test_names_of_splits(text, expected):
    assert parse_split(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "val", "val:", "val:20", "test:-1", "test:1.0", "Val:0", " val:0", "val:0\n", "public:1",
     "val:00", "val:٣", "stratified:99999999999", "random:0", "none", "holdout", "file:-1",
     "fresh:20", "fresh"],
)  # fmt: skip
def test_other_names_are_refused(text):
    with pytest.raises(InputError, match=r"no such split; got .*Write val:0 to val:19"):
        parse_split(text)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (([0, 1], [1, 2], [3]), r"train_nodes and stop_nodes share 1 node; got \[1\]"),
        (([0], [1], [0, 2]), r"train_nodes and score_nodes share"),
        ((range(9), [9], [10]), None),
        (([0], range(1, 9), range(2, 30)), r"share 7 nodes; got \[2, 3, 4, 5, 6\]"),
        (([0, 0], [1], [2]), r"train_nodes has a node twice; got \[0\]"),
        (([0], [], []), None),
        (([], [1], [2]), "train_nodes must be a non-empty list of node positions"),
        (([0], [1.0], [2]), "stop_nodes must be a list of node positions"),
        (([0], [True, False], [2]), "stop_nodes must be a list of node positions"),
        (([0], [[1]], [2]), "stop_nodes must be a list of node positions"),
        (([0], [[]], [2]), "stop_nodes must be a list of node positions"),
        (([0], [1], [-2]), r"score_nodes has negative positions; got \[-2\]"),
    ],
)
def test_a_split_never_overlaps(sets, message):
    sets = [np.array(nodes) for nodes in sets]
    if message is None:
        assert Split("mine", *sets).name == "mine"
        return
    with pytest.raises(InputError, match=message):
        Split("mine", *sets)


def test_a_split_stays_as_it_is():
    given_nodes = np.array([0, 1])
    split = Split("mine", given_nodes, np.array([2]), np.array([3], dtype=np.uint8))
    given_nodes[0] = 3
    assert split.train_nodes.tolist() == [0, 1]
    assert split.score_nodes.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        split.train_nodes[0] = 3
    with pytest.raises(InputError, match=r"beyond the graph's 3 nodes; got \[3\]"):
        split.check_range(3)
    other = Split("mine", np.array([1, 0]), np.array([2]), np.array([3]))
    assert other.digest != split.digest


def test_make_split_takes_each_kind():
    graph = planted_partition(2000, 4, 3, seed=0)
    assert make_split(graph, "val:2").digest == gasteiger_split(graph.labels, "val", 2).digest
    assert make_split(graph, "test:2", n_known=900).score_nodes.size == 1100
    assert make_split(graph, "fresh:2", n_known=900).score_nodes.size == 1100
    assert make_split(graph, "stratified:5").digest == stratified_split(graph.labels, 5).digest
    fewer = make_split(graph, "val:2", train_per_class=3, stop=50)
    assert (len(fewer.train_nodes), len(fewer.stop_nodes)) == (12, 50)


def test_public_split_is_read_from_the_file_that_carries_it(tmp_path):
    graph = planted_partition(60, 3, 4, seed=0)
    stored = stratified_split(graph.labels, 0)
    path = tmp_path / "mine.npz"
    write_converted(path, graph.adjacency, graph.features, graph.labels, stored)
    assert public_split(path).digest == stored.digest
    assert make_split(graph, "public", source=path).digest == stored.digest
    with pytest.raises(InputError, match="needs all of its 60 nodes; got 50"):
        make_split(planted_partition(50, 3, 4, seed=0), "public", source=path)


def test_public_split_of_another_graph_is_explained(tmp_path):
    graph = planted_partition(60, 3, 4, seed=0)
    with pytest.raises(InputError, match=r"Planetoid's own files.*packaged Cora"):
        make_split(graph, "public")
    path = tmp_path / "mine.npz"
    np.savez(path, labels=graph.labels)
    with pytest.raises(InputError, match="has no public split"):
        make_split(graph, "public", source=path)


def test_public_split_with_unlabeled_nodes_is_refused(tmp_path):
    graph = planted_partition(60, 3, 4, seed=0)
    stored = stratified_split(graph.labels, 0)
    labels = graph.labels.copy()
    labels[stored.score_nodes[0]] = -1
    path = tmp_path / "mine.npz"
    write_converted(path, graph.adjacency, graph.features, labels, stored)
    from dataclasses import replace

    with pytest.raises(InputError, match="nodes without a label"):
        make_split(replace(graph, labels=labels), "public", source=path)


def test_a_stratified_split_is_the_same_in_every_release():
    labels = np.arange(300) % 3
    hashes = [short_hash(getattr(stratified_split(labels, 0), role)) for role in ROLES]
    assert hashes == ["924a250807892f57", "046a7880a7ba0d9c", "5ceff7c274cc0718"]


def test_calibration_nodes_come_from_the_stopping_nodes_alone():
    split = make_split(planted_partition(400, 2, 4, seed=0), "holdout:0", stop=0.5)
    for amount, expected in ((0.5, 80), (0.25, 40), (3, 3)):
        parted = with_calibration(split, amount)
        assert len(parted.calibration_nodes) == parted.sizes["calibration"] == expected
        together = np.sort(np.concatenate([parted.stop_nodes, parted.calibration_nodes]))
        np.testing.assert_array_equal(together, np.sort(split.stop_nodes))
        np.testing.assert_array_equal(parted.train_nodes, split.train_nodes)
        np.testing.assert_array_equal(parted.score_nodes, split.score_nodes)
        assert parted.digest == with_calibration(split, amount).digest != split.digest
    other = Split("other", split.train_nodes, split.stop_nodes, split.score_nodes)
    assert set(with_calibration(other).stop_nodes) != set(with_calibration(split).stop_nodes)
    with pytest.raises(InputError, match="share 1 node"):
        Split("twice", [0], [1], [2], calibration_nodes=[1])


@pytest.mark.parametrize("amount", [0, -1, 1.5, 4, 0.01, float("nan"), float("inf"), "half", True])
def test_what_is_set_aside_leaves_some_to_stop_on(amount):
    with pytest.raises(InputError, match=r"share between 0 and 1.*there are 4.*AGC-I1361"):
        with_calibration(Split("mine", [0, 1], [2, 3, 4, 5], [6]), amount)


def test_wrong_labels_and_calibration_nodes_exclude_each_other():
    split = Split("mine", [0, 1, 2, 3], [4, 5, 6, 7], [8])
    noisy = with_label_noise(split, [0, 1] * 5, 0.25)
    for wrong in (noisy, with_calibration(split)):
        with pytest.raises(InputError, match="AGC-I1360"):
            with_calibration(wrong)

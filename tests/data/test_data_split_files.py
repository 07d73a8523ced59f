"""A benchmark's own splits: the same nodes from every layout, or one clear error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adagcn.data import make_split, planted_partition
from adagcn.data.split_files import n_stored_splits
from adagcn.errors import AdaGCNWarning, FormatError, InputError, IntegrityError

N = 60
GRAPH = planted_partition(N, 3, 4, seed=0)
ROLES = np.random.default_rng(0).integers(0, 4, size=(3, N))  # 3 splits; 3 is no role
TRAIN, VAL, TEST = (ROLES == role for role in range(3))


def words_of(roles, names=("train", "val", "test", "")):
    return [names[role] for role in roles]


def write_table(path, ids=None, words=None, sep=","):
    ids = [str(k) for k in range(N)] if ids is None else ids
    columns = [words_of(row) for row in ROLES] if words is None else words
    lines = [sep.join(["id", *(f"s{k}" for k in range(len(columns)))])]
    lines += [sep.join(row) for row in zip(ids, *columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def packed(masks):
    return np.packbits(masks, axis=1)


LAYOUTS = {
    "masks": {"train_masks": TRAIN, "val_masks": VAL, "test_masks": TEST},
    "mask by column": {"train_mask": TRAIN.T, "val_mask": VAL.T, "test_mask": TEST.T},
    "packed": {
        "train": packed(TRAIN), "stop": packed(VAL), "test": packed(TEST), "n_nodes": np.array(N)
    },
    "numbers for bits": {
        "train_masks": TRAIN.astype(np.uint8), "valid_masks": VAL * 1, "test_masks": TEST * 1
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_several_splits_gives_the_same_nodes(tmp_path, layout):
    path = tmp_path / "splits.npz"
    np.savez(path, **LAYOUTS[layout])
    assert n_stored_splits(path) == 3
    for number in range(3):
        split = make_split(GRAPH, f"file:{number}", splits_file=path)
        assert split.name == f"file:{number}"
        assert np.array_equal(split.train_nodes, np.flatnonzero(TRAIN[number]))
        assert np.array_equal(split.stop_nodes, np.flatnonzero(VAL[number]))
        assert np.array_equal(split.score_nodes, np.flatnonzero(TEST[number]))
    with pytest.raises(InputError, match=r"has 3 splits, numbered from 0; got 'file:3'\. Use at"):
        make_split(GRAPH, "file:3", splits_file=path)


SINGLE = {
    "one mask": {"train_mask": TRAIN[0], "val_mask": VAL[0], "test_mask": TEST[0]},
    "positions": {
        "train_idx": np.flatnonzero(TRAIN[0]),
        "valid_idx": np.flatnonzero(VAL[0]).astype(np.uint16),
        "test_idx": np.flatnonzero(TEST[0]),
    },
    "positions, other name": {
        "train_idx": np.flatnonzero(TRAIN[0]),
        "val_idx": np.flatnonzero(VAL[0]),
        "test_idx": np.flatnonzero(TEST[0]),
    },
}


@pytest.mark.parametrize("layout", SINGLE)
def test_every_layout_of_one_split_gives_the_same_nodes(tmp_path, layout):
    path = tmp_path / "splits.npz"
    np.savez(path, **SINGLE[layout])
    assert n_stored_splits(path) == 1
    split = make_split(GRAPH, "file:0", splits_file=path)
    assert np.array_equal(np.sort(split.train_nodes), np.flatnonzero(TRAIN[0]))
    assert np.array_equal(np.sort(split.stop_nodes), np.flatnonzero(VAL[0]))
    assert np.array_equal(np.sort(split.score_nodes), np.flatnonzero(TEST[0]))


def test_a_table_of_words_goes_by_id(tmp_path):
    order = np.random.default_rng(1).permutation(N)
    words = [words_of(row[order], ("Train", " validation", "score", "none")) for row in ROLES]
    write_table(tmp_path / "splits.csv", [str(k) for k in order], words)
    assert n_stored_splits(tmp_path / "splits.csv") == 3
    for number in range(3):
        split = make_split(GRAPH, f"file:{number}", splits_file=tmp_path / "splits.csv")
        assert np.array_equal(np.sort(split.train_nodes), np.flatnonzero(TRAIN[number]))
        assert np.array_equal(np.sort(split.stop_nodes), np.flatnonzero(VAL[number]))
        assert np.array_equal(np.sort(split.score_nodes), np.flatnonzero(TEST[number]))
    with pytest.raises(InputError, match="has 3 splits"):
        make_split(GRAPH, "file:3", splits_file=tmp_path / "splits.csv")


def test_a_graphs_own_file_may_hold_its_splits(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edges=np.zeros((1, 2), int), **LAYOUTS["masks"])
    named = replace(GRAPH, node_ids=np.array([f"n{k}" for k in range(N)]))
    split = make_split(named, "file:1", source=path)
    assert np.array_equal(split.train_nodes, np.flatnonzero(TRAIN[1]))


def test_masks_need_an_order_of_nodes(tmp_path):
    path = tmp_path / "splits.npz"
    np.savez(path, **LAYOUTS["masks"])
    turned = replace(GRAPH, node_ids=GRAPH.node_ids[::-1].copy())
    with pytest.raises(InputError, match=r"go by the position of the nodes.*Give a table"):
        make_split(turned, "file:0", splits_file=path)


def test_no_file_at_all():
    with pytest.raises(InputError, match=r"file:0 needs a file of masks\. Give it as splits_file"):
        make_split(GRAPH, "file:0")


def test_nodes_without_a_label_are_left_out_and_counted(tmp_path):
    path = tmp_path / "splits.npz"
    np.savez(path, **LAYOUTS["masks"])
    labels = GRAPH.labels.copy()
    labels[np.flatnonzero(ROLES[0] < 3)[:7]] = -1
    with pytest.warns(AdaGCNWarning, match=r"file:0 of .* has 7 nodes without a label"):
        split = make_split(replace(GRAPH, labels=labels), "file:0", splits_file=path)
    assert sum(split.sizes.values()) == (ROLES[0] < 3).sum() - 7
    labels[TRAIN[0]] = -1
    with (
        pytest.warns(AdaGCNWarning, match="without a label"),
        pytest.raises(InputError, match="trains on no node that has a label"),
    ):
        make_split(replace(GRAPH, labels=labels), "file:0", splits_file=path)


def test_stopping_nodes_may_be_missing(tmp_path):
    np.savez(tmp_path / "s.npz", train_mask=TRAIN[0], test_mask=TEST[0])
    split = make_split(GRAPH, "file:0", splits_file=tmp_path / "s.npz")
    assert split.sizes["stop"] == 0


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ({"a": np.zeros(3), "b": np.zeros((2, 2), int)}, FormatError,
         r"no splits in a known layout; got 'a: float64 \(3,\), b: int64 \(2, 2\)'"),
        ({"train": TRAIN, "stop": VAL, "test": TEST}, FormatError, "no splits in a known layout"),
        ({"train_masks": TRAIN}, FormatError, "no splits in a known layout"),
        ({"train_masks": TRAIN, "val_masks": VAL, "test_masks": TRAIN}, InputError,
         "train_nodes and score_nodes share"),
        ({"train_masks": TRAIN[:, 1:], "test_masks": TEST[:, 1:]}, InputError,
         r"train_masks must have one entry for each of the graph's 60 nodes; got 59"),
        ({"train_masks": ROLES, "test_masks": TEST}, FormatError, "train_masks must be a mask"),
        ({"train_mask": TRAIN * 0.5, "test_mask": TEST}, FormatError, "train_mask must be a mask"),
        ({"train_mask": TRAIN[:, :, None], "test_mask": TEST}, FormatError, "must be a mask"),
        ({"train_idx": [0, N], "test_idx": [1]}, InputError, r"beyond the graph's 60 .*got \[60\]"),
        ({"train_idx": [0, -2], "test_idx": [1]}, InputError, "has negative positions"),
        ({"train_idx": [0, 0], "test_idx": [1]}, InputError, "has a node twice"),
        ({"train_idx": [0.5], "test_idx": [1]}, FormatError, "train_idx must be one row"),
        ({"train_idx": [[0]], "test_idx": [1]}, FormatError, "train_idx must be one row"),
        ({**LAYOUTS["packed"], "n_nodes": np.array(500)}, FormatError, "must be rows of packed"),
        ({**LAYOUTS["packed"], "n_nodes": np.array([N])}, FormatError, "must be rows of packed"),
        ({**LAYOUTS["packed"], "n_nodes": np.array(N - 1)}, InputError, "one entry for each"),
        ({**LAYOUTS["packed"], "train": TRAIN}, FormatError, "must be rows of packed bits"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(tmp_path, arrays, error, message):
    path = tmp_path / "splits.npz"
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    with pytest.raises(error, match=message):
        make_split(GRAPH, "file:0", splits_file=path)


@pytest.mark.parametrize(
    ("ids", "word", "message"),
    [
        (None, "maybe", r"column 's0' of splits_file must hold train, stop, test.*got \['maybe'\]"),
        (["0"] * N, "train", "splits_file has 1 node in more than one row"),
        ([f"n{k}" for k in range(N)], "train", "n0"),
    ],
)
def test_other_tables_are_refused(tmp_path, ids, word, message):
    write_table(tmp_path / "splits.csv", ids, [["train", *[word] * (N - 1)]])
    with pytest.raises(InputError, match=message):
        make_split(GRAPH, "file:0", splits_file=tmp_path / "splits.csv")


def test_a_file_that_is_cut_off_is_damaged(tmp_path):
    path = tmp_path / "splits.npz"
    np.savez(path, **LAYOUTS["masks"])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(IntegrityError, match="truncated or damaged"):
        make_split(GRAPH, "file:0", splits_file=path)


@pytest.mark.dataset
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("minesweeper", (5000, 2500, 2500)), ("chameleon_filtered", (426, 278, 186))],
)
def test_the_published_splits_of_benchmarks(dataset_dir, name, sizes):
    from adagcn.data import load_graph

    folder = dataset_dir / "development"
    if not (folder / f"{name}.splits.npz").exists():
        pytest.skip(f"{name} is not in {folder}")
    graph = load_graph(folder / f"{name}.npz")
    split = make_split(graph, "file:9", splits_file=folder / f"{name}.splits.npz")
    assert tuple(split.sizes.values()) == sizes

"""Planetoid's files: genuine ones are put together right, hostile ones never run."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adagcn.data.planetoid import convert_planetoid, read_planetoid
from adagcn.data.splits import public_split
from adagcn.errors import AdaGCNError, FormatError, InputError, IntegrityError, UnsafeFileError

N_FEATURES, N_CLASSES = 5, 3
N_KNOWN, N_TRAIN = 12, 6
# The test nodes in a shuffled order, with node 14 left out as in CiteSeer.
TEST_NODES = np.array([16, 12, 15, 13])
N_NODES = 17
OLD_NAMES = {
    "numpy._core.multiarray": "numpy.core.multiarray",
    "scipy.sparse._csr": "scipy.sparse.csr",
    "builtins": "__builtin__",
}


class Python2Pickler(pickle._Pickler):
    """Writes protocol 2 the way Python 2 and the libraries of 2016 did."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_global(self, value, name=None):
        name = name or value.__qualname__
        module = OLD_NAMES.get(value.__module__, value.__module__)
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(value)

    def save_bytes(self, value):
        # What Python 2 called a string; today's pickles would ask for a codec instead.
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes
    dispatch[type(os.getcwd)] = save_global
    dispatch[type(save_bytes)] = save_global
    dispatch[type] = save_global


def python2_pickle(value: object) -> bytes:
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2).dump(value)
    return stream.getvalue()


def one_hot(labels: np.ndarray) -> np.ndarray:
    return np.eye(N_CLASSES, dtype=np.int32)[labels]


@pytest.fixture
def parts() -> dict[str, object]:
    rng = np.random.default_rng(0)
    allx = sparse.csr_matrix(rng.integers(0, 2, (N_KNOWN, N_FEATURES)).astype(np.float32))
    tx = sparse.csr_matrix(rng.integers(1, 9, (4, N_FEATURES)).astype(np.float32))
    ally, ty = one_hot(rng.integers(N_CLASSES, size=N_KNOWN)), one_hot(np.array([0, 1, 2, 0]))
    graph = defaultdict(list, {node: [(node + 1) % N_NODES] for node in range(N_NODES)})
    graph[3] += [3, 4, 4]
    return {"x": allx[:N_TRAIN], "y": ally[:N_TRAIN], "tx": tx, "ty": ty,
            "allx": allx, "ally": ally, "graph": graph}  # fmt: skip


@pytest.fixture
def folder(tmp_path, parts) -> Path:
    for part, value in parts.items():
        (tmp_path / f"ind.toy.{part}").write_bytes(python2_pickle(value))
    (tmp_path / "ind.toy.test.index").write_text("".join(f"{node}\n" for node in TEST_NODES))
    return tmp_path


def test_the_files_are_what_python_2_wrote(folder):
    import pickletools

    found = {
        argument
        for path in folder.glob("ind.toy.*[!x]")
        for opcode, argument, _ in pickletools.genops(path.read_bytes())
        if opcode.name == "GLOBAL"
    }
    assert found <= {
        "scipy.sparse.csr csr_matrix",
        "numpy.core.multiarray _reconstruct",
        "numpy ndarray",
        "numpy dtype",
        "collections defaultdict",
        "__builtin__ list",
    }


def test_everything_lands_at_its_node(folder, parts):
    files = read_planetoid(folder, "toy")
    features = files.features.toarray()
    np.testing.assert_array_equal(features[:N_KNOWN], parts["allx"].toarray())
    np.testing.assert_array_equal(features[TEST_NODES], parts["tx"].toarray())
    np.testing.assert_array_equal(files.labels[:N_KNOWN], parts["ally"].argmax(axis=1))
    np.testing.assert_array_equal(files.labels[TEST_NODES], [0, 1, 2, 0])


def test_nodes_left_out_are_empty_and_unlabeled(folder):
    files = read_planetoid(folder, "toy")
    assert files.features.shape == (N_NODES, N_FEATURES)
    assert files.features.toarray()[14].sum() == 0
    assert files.labels[14] == -1


def test_an_edge_joins_both_its_ends_once(folder):
    adjacency = read_planetoid(folder, "toy").adjacency.toarray()
    np.testing.assert_array_equal(adjacency, adjacency.T)
    assert set(np.unique(adjacency)) == {0, 1}
    assert adjacency[3, 4] == adjacency[4, 3] == adjacency[3, 3] == adjacency[16, 0] == 1
    assert adjacency.sum() == 2 * N_NODES + 1


def test_public_split(folder):
    split = read_planetoid(folder, "toy").split
    assert split.train_nodes.tolist() == list(range(N_TRAIN))
    assert split.stop_nodes.tolist() == list(range(N_TRAIN, N_KNOWN))
    assert split.score_nodes.tolist() == sorted(TEST_NODES)


def test_converted_file_carries_graph_and_split(folder, tmp_path):
    from adagcn.formats.npz import read_npz

    files = read_planetoid(folder, "toy")
    path = convert_planetoid(folder, "toy", tmp_path / "toy.npz")
    held = read_npz(path)
    assert public_split(path).digest == files.split.digest
    np.testing.assert_array_equal(held["labels"], files.labels)
    np.testing.assert_array_equal(held["attr_matrix.data"], files.features.data)
    first = path.read_bytes()
    assert convert_planetoid(folder, "toy", path).read_bytes() == first


@pytest.mark.parametrize("protocol", range(2, 5))
def test_todays_pickles_are_read_too(folder, parts, protocol):
    expected = read_planetoid(folder, "toy")
    # Below protocol 3, today's Python wraps bytes in a call of a codec, which is not allowed.
    dump = python2_pickle if protocol == 2 else partial(pickle.dumps, protocol=protocol)
    for part, value in parts.items():
        (folder / f"ind.toy.{part}").write_bytes(dump(value))
    found = read_planetoid(folder, "toy")
    assert (found.features != expected.features).nnz == 0
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_digests_are_checked_before_anything_is_decoded(folder, tmp_path):
    canary = tmp_path / "canary"
    digests = {
        path.name: "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("ind.toy.*")
    }
    assert read_planetoid(folder, "toy", digests=digests).labels.size == N_NODES
    (folder / "ind.toy.ty").write_bytes(pickle.dumps(Call(os.mkdir, str(canary))))
    with pytest.raises(IntegrityError, match=r"ind\.toy\.ty' is not the one expected"):
        read_planetoid(folder, "toy", digests=digests)
    assert not canary.exists()


@pytest.mark.parametrize("part", ["x", "graph", "test.index"])
def test_a_missing_file_is_named(folder, part):
    (folder / f"ind.toy.{part}").unlink()
    with pytest.raises(InputError, match=rf"missing; got '.*ind\.toy\.{part}'"):
        read_planetoid(folder, "toy")


class Call:
    """Unpickles to a call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def text_call(module: str, name: str, argument: str) -> bytes:
    """Return a protocol 0 pickle that calls ``module.name(argument)``."""
    return f"c{module}\n{name}\n(V{argument}\ntR.".encode()


def hostile_pickles(canary: str) -> dict[str, bytes]:
    run = f"mkdir {canary}"
    code = f"__import__('os').mkdir({canary!r})"
    calls = {
        "os.mkdir": Call(os.mkdir, canary),
        "os.system": Call(os.system, run),
        "builtins.eval": Call(eval, code),
        "builtins.exec": Call(exec, code),
        "functools.partial": Call(partial, os.mkdir, canary),
        "numpy.load": Call(np.load, canary, None, True),
        "numpy.save": Call(np.save, canary, 1),
        "nested in a list": [1, [2, {"a": Call(os.mkdir, canary)}]],
        "nested in a default dictionary": defaultdict(list, {0: [Call(os.mkdir, canary)]}),
        "default factory": Call(defaultdict, partial(os.mkdir, canary)),
        "getattr": Call(getattr, "", "join"),
        "open": Call(open, canary, "w"),
    }
    made = {f"{name}, protocol {protocol}": pickle.dumps(value, protocol)
            for name, value in calls.items() for protocol in range(6)}  # fmt: skip
    memo = b"\x80\x02cos\nmkdir\nq\x010h\x01X" + struct.pack("<I", len(canary))
    return made | {
        "subprocess": text_call("subprocess", "getoutput", run),
        "posix": text_call("posix", "system", run),
        "nt": text_call("nt", "system", run),
        "old eval": text_call("__builtin__", "eval", code),
        "dotted name": text_call("numpy", "dtype.__class__", code),
        "dotted module": text_call("numpy.lib.npyio", "load", canary),
        "unpickler": text_call("pickle", "loads", code),
        "copy_reg": text_call("copy_reg", "_reconstructor", code),
        "instance": f"(V{canary}\nios\nmkdir\n.".encode(),
        "object": f"(cos\nmkdir\nV{canary}\no.".encode(),
        "memo": memo + canary.encode() + b"\x85R.",
        "stack global": b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93\x8c"
        + bytes([len(canary)]) + canary.encode() + b"\x85R.",
        "extension registry": b"\x80\x02\x82\x01.",
        "persistent id": b"Pwhatever\n.",
    }  # fmt: skip


NAMES = list(hostile_pickles("/tmp/canary"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("part", ["graph", "allx"])
def test_hostile_files_never_run(folder, name, part, tmp_path):
    canary = tmp_path / "canary"
    (folder / f"ind.toy.{part}").write_bytes(hostile_pickles(str(canary))[name])
    expected = FormatError if name in ("extension registry", "persistent id") else UnsafeFileError
    with pytest.raises(expected, match=r"asks for something that is not plain data|not a readable"):
        read_planetoid(folder, "toy")
    assert not canary.exists()


def test_the_hostile_files_would_have_run(tmp_path):
    pickles = hostile_pickles(str(tmp_path / "canary"))
    for name in ("os.mkdir, protocol 0", "builtins.eval, protocol 5", "memo", "stack global"):
        pickle.Unpickler(io.BytesIO(pickles[name])).load()
        (tmp_path / "canary").rmdir()


def test_the_refused_name_is_shown(folder):
    (folder / "ind.toy.y").write_bytes(text_call("subprocess", "getoutput", "ls"))
    with pytest.raises(UnsafeFileError, match=r"got 'subprocess\.getoutput'"):
        read_planetoid(folder, "toy")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html></html>",
        b"\x80\x02N.",
        b"\x80\x02}.",
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # a memo position that would claim 32 GB
        b"\x80\x02cnumpy\nndarray\nM\xff\xff\x85R.",
        b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81.",
    ],
)
@pytest.mark.parametrize("part", ["graph", "allx", "ty"])
def test_damaged_files_are_a_format_error(folder, content, part):
    (folder / f"ind.toy.{part}").write_bytes(content)
    with pytest.raises(FormatError, match=r"do not fit together|not a readable Planetoid"):
        read_planetoid(folder, "toy")


@pytest.mark.parametrize("part", ["allx", "ally", "graph", "tx"])
def test_any_damage_is_an_error_of_ours_or_data(folder, part):
    path = folder / f"ind.toy.{part}"
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in range(0, len(whole), 2):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        for content in (bytes(changed), whole[:place]):
            path.write_bytes(content)
            try:
                files = read_planetoid(folder, "toy")
            except AdaGCNError:
                continue
            assert files.features.shape[0] == len(files.labels)


@pytest.mark.parametrize(
    "index",
    ["12\n12\n13\n15\n", "0\n12\n13\n15\n", "12\n13\n", "-1\n12\n13\n15\n", "a\n", "", "12.5\n",
     "12\n13\n15\n99999999999\n"],
)  # fmt: skip
def test_test_index_must_name_one_node_per_row(folder, index):
    (folder / "ind.toy.test.index").write_text(index)
    with pytest.raises(FormatError, match="do not fit together"):
        read_planetoid(folder, "toy")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("ally", np.ones((N_KNOWN, N_CLASSES), dtype=np.int32)),
        ("ally", one_hot(np.zeros(3, dtype=int))),
        ("ty", np.array([["a", "b", "c"]] * 4)),
        ("tx", sparse.csr_matrix((4, N_FEATURES + 1), dtype=np.float32)),
        ("graph", {0: [N_NODES + 5]}),
        ("graph", {0: [-1]}),
        ("graph", {"a": ["b"]}),
    ],
)
def test_parts_that_do_not_fit_are_refused(folder, part, value):
    (folder / f"ind.toy.{part}").write_bytes(python2_pickle(value))
    with pytest.raises(FormatError, match="do not fit together"):
        read_planetoid(folder, "toy")

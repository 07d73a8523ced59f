"""Hops in files have the bits of hops in memory, however they are made."""

from __future__ import annotations

import errno
import gc
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.data import planted_partition
from adagcn.engines import engine_named, using
from adagcn.errors import IntegrityError, ResourceError
from adagcn.formats.row_norms import hellinger_rows
from adagcn.propagation import hop_workplace, row_blocks, stored_hops
from adagcn.propagation.hop_workplace import Workplace, hops_shared
from adagcn.propagation.hops import Hop
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.row_blocks import RowBlocks, degrees_of, propagator_rows
from adagcn.propagation.source import MemorySource
from adagcn.propagation.stored_hops import StoredSource

N_HOPS = 5


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 4000)


def sparse_graph(directed=False):
    """Return a graph with sparse features, an isolated node, a self-loop and two components."""
    rng = np.random.default_rng(3)
    edges = rng.integers(0, 60, (150, 2))
    edges = np.unique(np.vstack([edges, [[5, 5]], rng.integers(61, 80, (30, 2))]), axis=0)
    features = sparse.random(81, 300, 0.02, format="csr", rng=rng, dtype=np.float32)
    how = "keep" if directed else "ignore"
    return Graph.from_edges(edges, features=features, node_ids=np.arange(81), directed=how)


def dense_graph():
    return planted_partition(200, 3, 17, seed=1, homophily=0.8, mean_degree=7)


def stored(graph, tmp_path, name="store"):
    graph.to_store(tmp_path / name)
    return tmp_path / name


def as_dense(rows):
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def assert_same_hops(memory: Hop, files: Hop, n_nodes: int) -> None:
    nodes = np.random.default_rng(0).permutation(n_nodes)[: n_nodes // 2]
    for _ in range(N_HOPS):
        ours, theirs = files.rows(nodes), memory.rows(nodes)
        assert type(ours) is type(theirs)
        np.testing.assert_array_equal(as_dense(ours), as_dense(theirs))
        if not isinstance(ours, np.ndarray):  # the order of values decides the bits of a product
            np.testing.assert_array_equal(ours.indices, theirs.indices)
        whole = np.vstack([as_dense(block) for block in files.blocks()])
        np.testing.assert_array_equal(whole[nodes], as_dense(theirs))
        assert files.size() == pytest.approx(memory.size(), rel=1e-6)
        memory, files = memory.next(), files.next()


@pytest.mark.parametrize("teleport", [0.0, 0.2])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize(
    "graph",
    [sparse_graph(), sparse_graph(directed=True), dense_graph()],
    ids=["sparse", "directed", "dense"],
)
def test_hops_in_files_have_the_bits_of_memory(tmp_path, graph, normalization, teleport):
    folder = stored(graph, tmp_path)
    memory = MemorySource(graph.features, graph.adjacency, normalization, teleport)
    files = StoredSource(folder, None, "none", None, normalization, teleport)
    assert len(files.first()._plan.blocks) > 3
    assert_same_hops(memory.first(), files.first(), graph.n_nodes)


def test_columns_and_norms_are_taken_row_by_row(tmp_path):
    graph, columns = sparse_graph(), np.arange(0, 300, 3)
    folder = stored(graph, tmp_path)
    memory = MemorySource(hellinger_rows(graph.features)[:, columns], graph.adjacency)
    files = StoredSource(folder, hellinger_rows, "hellinger", columns)
    assert_same_hops(memory.first(), files.first(), graph.n_nodes)


def test_columns_are_cut_where_a_halo_would_be_large(tmp_path, monkeypatch):
    monkeypatch.setattr("adagcn.propagation.row_blocks.HALO_BYTES", 1000)
    graph = dense_graph()
    folder = stored(graph, tmp_path)
    memory = MemorySource(graph.features, graph.adjacency, teleport=0.1)
    files = StoredSource(folder, None, "none", None, "symmetric", 0.1)
    assert_same_hops(memory.first(), files.first(), graph.n_nodes)


def test_columns_are_cut_into_few_parts_of_about_one_width(monkeypatch):
    monkeypatch.setattr(row_blocks, "HALO_BYTES", 1000)
    for column_bytes in (1, 99, 400, 5000):
        parts = row_blocks._columns_at_once(17, column_bytes)
        widths = [part.stop - part.start for part in parts]
        assert sum(widths) == 17
        assert max(widths) - min(widths) <= 1
        assert max(widths) * column_bytes <= 1000 or max(widths) == 1
        if len(parts) > 1:  # one part less would be too wide
            assert math.ceil(17 / (len(parts) - 1)) * column_bytes > 1000


def test_a_block_is_mapped_once_for_all_blocks_of_the_next_hop(tmp_path, monkeypatch):
    hop = StoredSource(stored(dense_graph(), tmp_path), None, "none", None).first().next()
    n_blocks = len(hop._plan.blocks)
    opened, open_file = [], row_blocks.mapped

    def counted(path, **words):
        opened.append(path)
        return open_file(path, **words)

    monkeypatch.setattr(row_blocks, "mapped", counted)
    hop.next()
    assert len(opened) == n_blocks > 3
    assert len(set(opened)) == n_blocks


def test_few_files_stay_open(tmp_path, monkeypatch):
    graph = dense_graph()
    hop = StoredSource(stored(graph, tmp_path), None, "none", None).first().next()
    expected = hop.next().rows(slice(None))
    monkeypatch.setattr(row_blocks, "_MOST_MAPPED", 2)
    files, read = [], row_blocks.HopFiles.read
    monkeypatch.setattr(
        row_blocks.HopFiles, "read", lambda self, block: files.append(self) or read(self, block)
    )
    again = StoredSource(tmp_path / "store", None, "none", None).first().next().next()
    np.testing.assert_array_equal(again.rows(slice(None)), expected)
    assert max(len(each._open) for each in files) == 2


@pytest.mark.full
def test_workers_give_the_bits_of_one_process(tmp_path, monkeypatch):
    monkeypatch.undo()  # other processes cut blocks as the driver does, which sends them along
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 4000)
    graph = dense_graph()
    folder = stored(graph, tmp_path)
    memory = MemorySource(graph.features, graph.adjacency, teleport=0.2)
    with using(engine_named("processes", workers=2)):
        files = StoredSource(folder, None, "none", None, "symmetric", 0.2)
        assert_same_hops(memory.first(), files.first(), graph.n_nodes)


def test_rows_of_the_propagator_are_those_of_the_whole(tmp_path):
    adjacency = sparse_graph(directed=True).adjacency
    blocks = RowBlocks.cut(adjacency.indptr, 40, 1000)
    whole = make_propagator(adjacency)
    degrees = degrees_of(adjacency, blocks, is_symmetric=False)
    for number in range(len(blocks)):
        rows = blocks.rows(number)
        block, halo = propagator_rows(adjacency, rows, degrees, "symmetric", np.float32)
        np.testing.assert_array_equal(block.toarray(), whole[rows][:, halo].toarray())
        assert block.nnz == whole[rows].nnz
        assert (np.diff(halo) > 0).all()


def test_nothing_is_left_when_a_stream_is_gone(tmp_path):
    folder = stored(dense_graph(), tmp_path)
    hop = StoredSource(folder, None, "none", None).first().next().next()
    (work,) = (folder / "hops").iterdir()
    assert [each.name for each in work.glob("hop-*")] == ["hop-0002"]  # the one before is gone
    del hop
    assert not any((folder / "hops").iterdir())


def test_two_streams_do_not_share_a_folder(tmp_path):
    graph = dense_graph()
    folder = stored(graph, tmp_path)
    source = StoredSource(folder, None, "none", None)
    one, other = source.first().next(), source.first().next()
    assert len(list((folder / "hops").iterdir())) == 2
    np.testing.assert_array_equal(one.rows([3, 1]), other.rows([3, 1]))


def test_a_folder_that_its_owner_removes_meanwhile_is_not_taken(tmp_path, monkeypatch):
    taken, is_held = [], hop_workplace.is_held

    def removed_first(handle):
        if not taken:
            shutil.rmtree(tmp_path / "work")
        taken.append(handle)
        return is_held(handle)

    monkeypatch.setattr(hop_workplace, "is_held", removed_first)
    place = Workplace(tmp_path / "work")
    assert len(taken) == 2
    assert place.folder == tmp_path / "work"
    assert (tmp_path / "work" / "lock").is_file()


def test_a_stream_that_outlives_its_command_leaves_nothing(tmp_path):
    folder = stored(dense_graph(), tmp_path)
    with hops_shared():
        hop = StoredSource(folder, None, "none", None).first().next()
    assert any((folder / "hops").iterdir())  # it is at work
    del hop
    assert not any((folder / "hops").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks on Windows")
def test_a_file_system_without_locks_is_worked_on_all_the_same(tmp_path, monkeypatch):
    import fcntl

    def refuses(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuses)
    graph = dense_graph()
    hop = StoredSource(stored(graph, tmp_path), None, "", None).first()
    np.testing.assert_array_equal(hop.rows(slice(0, 5)), graph.features[:5])


def test_a_hop_that_is_gone_says_so(tmp_path):
    hop = StoredSource(stored(dense_graph(), tmp_path), None, "none", None).first()
    hop.next()
    with pytest.raises(ValueError, match="only until the next one is asked for"):
        hop.rows([0])


KILLED = """
    import os, signal, sys
    from pathlib import Path
    import numpy as np
    from adagcn.propagation import row_blocks, stored_hops
    stored_hops.BLOCK_BYTES = 4000
    made = []
    make = stored_hops.make_block

    def deadly(step, plan):
        if step.hop == 2 and len([each for each in made if each.hop == 2]) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        made.append(step)
        return make(step, plan)

    stored_hops.make_block = deadly
    hop = stored_hops.StoredSource(Path(sys.argv[1]), None, "none", None).first()
    hop.next().next()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_stream_goes_on_and_a_damaged_block_is_made_again(tmp_path, monkeypatch):
    graph = dense_graph()
    folder = stored(graph, tmp_path)
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(folder)]
    done = subprocess.run(script, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (work,) = (folder / "hops").iterdir()
    finished = (work / "hop-0002" / "blocks.jsonl").read_text().splitlines()
    assert len(finished) == 3
    damaged = work / "hop-0002" / "block-000001.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x00")
    made = []
    make = stored_hops.make_block
    monkeypatch.setattr(
        stored_hops, "make_block", lambda step, plan: made.append(step) or make(step, plan)
    )
    source = StoredSource(folder, None, "none", None)
    hop = source.first().next().next()
    again = [step.block for step in made if step.hop == 2]
    assert 1 in again
    assert {0, 2}.isdisjoint(again)
    assert {json.loads(line)["block"] for line in finished} == {0, 1, 2}
    memory = MemorySource(graph.features, graph.adjacency).first().next().next()
    everything = np.arange(graph.n_nodes)
    np.testing.assert_array_equal(hop.rows(everything), memory.rows(everything))


def test_blocks_hold_every_row_once():
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 50, 100))])
    blocks = RowBlocks.cut(indptr, 8, 900)
    assert blocks.ends[0] == 0
    assert blocks.ends[-1] == 100
    assert (np.diff(blocks.ends) > 0).all()
    one_row_each = RowBlocks.cut(indptr, 8, 1)
    assert len(one_row_each) == 100
    nodes = np.array([99, 0, 40, 41, 0])
    places = np.empty(5, dtype=int)
    for block, which, rows in blocks.groups(nodes):
        places[which] = rows + blocks.ends[block]
    np.testing.assert_array_equal(places, nodes)


def test_the_folder_of_the_hops_cannot_be_written(tmp_path):
    folder = stored(dense_graph(), tmp_path)
    (folder / "hops").write_text("a file in the way")
    with pytest.raises(OSError, match="could not be made"):
        StoredSource(folder, None, "none", None).first()


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("name", ["hops", "propagator"])
def test_a_store_that_cannot_be_written_to_is_to_be_copied(tmp_path, monkeypatch, name, number):
    folder, mkdir = stored(dense_graph(), tmp_path), Path.mkdir

    def refused(path, *args, **words):
        if folder / name in path.parents:
            raise OSError(number, os.strerror(number))
        mkdir(path, *args, **words)

    monkeypatch.setattr(Path, "mkdir", refused)
    match = rf"{name}/.*{os.strerror(number)}.*copy it to a folder that you may write to"
    with pytest.raises(ResourceError, match=match):
        StoredSource(folder, None, "none", None).first()


def test_a_block_that_vanishes_is_made_by_the_same_command_again(tmp_path):
    graph = dense_graph()
    source = StoredSource(stored(graph, tmp_path), None, "none", None)
    hop = source.first().next()
    (source.store / "hops" / source.key / "hop-0001" / "block-000001.npy").unlink()
    expected = r"missing or damaged; got .*Run the same command again: it makes what is missing"
    with pytest.raises(IntegrityError, match=expected):
        hop.next()
    del hop
    memory = MemorySource(graph.features, graph.adjacency).first().next().next()
    again, nodes = source.first().next().next(), np.arange(graph.n_nodes)
    np.testing.assert_array_equal(again.rows(nodes), memory.rows(nodes))


def test_degrees_that_vanish_are_counted_by_the_same_command_again(tmp_path):
    source = StoredSource(stored(dense_graph(), tmp_path), None, "none", None)
    hop = source.first()
    for path in hop._plan.cut.folder.glob("*_degree.npy"):
        path.unlink()
    with pytest.raises(IntegrityError, match="Run the same command again"):
        hop.next()
    del hop
    assert source.first().next().number == 1


@pytest.mark.parametrize("name", ["lock", "hop-0001/blocks.jsonl"])
def test_a_file_of_the_hops_cannot_be_written(tmp_path, name):
    source = StoredSource(stored(dense_graph(), tmp_path), None, "none", None)
    (source.store / "hops" / source.key / name).mkdir(parents=True)  # in the way
    with pytest.raises(ResourceError, match=rf"{name}' could not be written: Is a directory"):
        source.first().next()


def test_a_full_disk_in_a_hop_costs_the_block_in_work(tmp_path, monkeypatch):
    graph = dense_graph()
    hop = StoredSource(stored(graph, tmp_path), None, "none", None).first().next()
    synced, sync = [], os.fsync

    def full_after_three_blocks(handle):
        synced.append(handle)
        if len(synced) > 6:  # a file and its folder each
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_after_three_blocks)
        with pytest.raises(ResourceError, match=r"block-000003\.npy' could not be written"):
            hop.next()
    made, make = [], stored_hops.make_block
    monkeypatch.setattr(
        stored_hops, "make_block", lambda step, plan: made.append(step.block) or make(step, plan)
    )
    n_blocks = len(hop._plan.blocks)
    rows = hop.next().rows(np.arange(graph.n_nodes))
    assert made == list(range(3, n_blocks))
    memory = MemorySource(graph.features, graph.adjacency).first().next().next()
    np.testing.assert_array_equal(rows, memory.rows(np.arange(graph.n_nodes)))


def test_hops_may_outlive_their_store(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    for shared in (nullcontext(), hops_shared()):
        folder = stored(dense_graph(), tmp_path)
        with shared:
            hop = StoredSource(folder, None, "none", None).first().next()
            shutil.rmtree(folder)
            del hop
            gc.collect()
    assert not said


def test_a_store_that_is_made_anew_is_read_anew(tmp_path):
    """A process may replace a store; what it had open belongs to files that are gone."""
    folder = tmp_path / "store"
    for seed in (1, 2):
        shutil.rmtree(folder, ignore_errors=True)
        graph = planted_partition(200, 3, 17, seed=seed, homophily=0.8, mean_degree=7)
        graph.to_store(folder)
        memory = MemorySource(graph.features, graph.adjacency, teleport=0.2)
        files = StoredSource(folder, None, "none", None, "symmetric", 0.2)
        assert_same_hops(memory.first(), files.first(), graph.n_nodes)


def test_what_is_left_of_other_blocks_is_not_taken(tmp_path, monkeypatch):
    source = StoredSource(stored(dense_graph(), tmp_path), None, "none", None)
    one = source.first()._plan.work
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 9000)
    assert StoredSource(source.store, None, "none", None).first()._plan.work != one

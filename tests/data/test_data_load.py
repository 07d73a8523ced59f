"""Data sets by name: found in order, always verified, cleaned as the paper does."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adagcn.data import (
    CATALOG,
    DataFile,
    dataset_info,
    load_dataset,
    load_graph,
    locate_dataset,
    planted_partition,
    verify_dataset,
)
from adagcn.data.digests import file_digest
from adagcn.errors import FormatError, InputError, IntegrityError, ResourceError
from adagcn.formats.npz import read_npz

PUBLISHED = ["citeseer", "cora_ml", "pubmed", "ms_academic"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Return the folder behind a local server that publishes the data set ``toy``."""
    folder = tmp_path / "served"
    folder.mkdir()
    planted_partition(40, 2, 3, seed=0).to_npz(folder / "toy.npz")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/toy.npz"
    file = DataFile("toy.npz", (file_digest(folder / "toy.npz"),), url)
    entry = replace(CATALOG["cora_ml"], key="toy", file=file)
    monkeypatch.setattr("adagcn.data.load.find_dataset", lambda _: entry)
    monkeypatch.setattr("adagcn.data.load.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("ADAGCN_DATA", raising=False)
    monkeypatch.delenv("ADAGCN_OFFLINE", raising=False)
    yield folder
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cache(tmp_path) -> Path:
    return tmp_path / "cache"


def test_a_file_that_is_nowhere_is_downloaded_once(served, cache):
    first = load_dataset("toy", raw=True)
    assert [path.name for path in cache.iterdir()] == ["toy.npz"]
    (served / "toy.npz").unlink()
    assert load_dataset("toy", raw=True).digest == first.digest


def test_folders_are_searched_in_order(served, cache, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "env").mkdir()
    monkeypatch.setenv("ADAGCN_DATA", str(tmp_path / "env"))
    look = partial(locate_dataset, "toy", data_dir=tmp_path / "mine")
    assert look().parent == cache
    shutil.copy(served / "toy.npz", tmp_path / "env")
    assert look().parent == tmp_path / "env"
    shutil.copy(served / "toy.npz", tmp_path / "mine")
    assert look().parent == tmp_path / "mine"


def test_another_file_under_the_name_is_not_used(served, tmp_path):
    planted_partition(40, 2, 3, seed=1).to_npz(tmp_path / "toy.npz")
    wrong, right = file_digest(tmp_path / "toy.npz"), file_digest(served / "toy.npz")
    with pytest.raises(IntegrityError, match=rf"toy\.npz' is not .*{right}.*{wrong}.*move|Move"):
        load_dataset("toy", data_dir=tmp_path)
    assert file_digest(tmp_path / "toy.npz") == wrong


def test_a_damaged_cache_is_renewed_and_kept_aside(served, cache):
    cache.mkdir()
    (cache / "toy.npz").write_bytes(b"damaged")
    assert load_dataset("toy", raw=True).n_nodes == 40
    assert (cache / "toy.npz.bad").read_bytes() == b"damaged"


def test_a_damaged_cache_is_an_error_without_a_network(served, cache):
    cache.mkdir()
    (cache / "toy.npz").write_bytes(b"damaged")
    with pytest.raises(IntegrityError, match="is not the one expected"):
        load_dataset("toy", offline=True)
    assert (cache / "toy.npz").read_bytes() == b"damaged"


def test_offline_names_the_file_and_the_folder(served, cache):
    with pytest.raises(ResourceError, match=r"offline mode.*Put toy\.npz into .*cache"):
        load_dataset("toy", offline=True)
    assert not cache.exists()


def test_a_data_dir_that_is_no_folder_is_an_error(served, tmp_path):
    with pytest.raises(InputError, match=r"data_dir is not a folder; got '.*absent'"):
        load_dataset("toy", data_dir=tmp_path / "absent")


def test_the_packaged_cora_needs_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("ADAGCN_OFFLINE", "1")
    monkeypatch.delenv("ADAGCN_DATA", raising=False)
    raw = load_dataset("cora", raw=True, data_dir=tmp_path)
    assert (raw.n_nodes, raw.n_features, raw.n_classes) == (2708, 1433, 7)
    assert set(raw.features.data) == {1.0}
    pairs = sparse.triu(raw.adjacency + raw.adjacency.T, k=1)
    assert (raw.adjacency.nnz, pairs.nnz) == (5429, 5278)
    assert np.bincount(raw.labels).tolist() == [818, 180, 217, 426, 351, 418, 298]
    assert raw.classes[0] == "Neural_Networks"
    assert {31336, 1061127} <= set(raw.node_ids.tolist())
    assert verify_dataset("cora").agrees


def test_cora_is_homophilous_which_shuffled_rows_would_not_be():
    graph = load_dataset("cora")
    arcs = graph.adjacency.tocoo()
    assert np.mean(graph.labels[arcs.row] == graph.labels[arcs.col]) > 0.8


def test_cora_can_be_packaged_again_to_the_same_arrays(tmp_path):
    if find_spec("graphdatascience") is None:
        pytest.skip("graphdatascience, the source of the packaged Cora, is not installed")
    script = Path(__file__).parents[2] / "tools" / "package_cora.py"
    package_cora = runpy.run_path(str(script))
    again = package_cora["read_cora"](package_cora["source_folder"]())
    packaged = read_npz(locate_dataset("cora"))
    assert set(again) == set(packaged)
    for key, array in packaged.items():
        np.testing.assert_array_equal(again[key], array)
        assert again[key].dtype == array.dtype


@pytest.mark.dataset
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files_hold_what_the_catalog_says(dataset_dir, name):
    checked = verify_dataset(name, data_dir=dataset_dir, offline=True)
    assert checked.agrees
    assert checked.raw_nodes == CATALOG[name].raw_nodes
    assert checked.digest in CATALOG[name].file.digests
    graph = load_dataset(name, data_dir=dataset_dir)
    assert graph.name == name
    assert not graph.is_directed
    assert graph.feature_norm == "l1"
    norms = abs(graph.features).sum(axis=1)
    np.testing.assert_allclose(norms[norms > 0], 1, rtol=1e-5)


@pytest.mark.dataset
def test_classes_carry_the_names_in_the_file(dataset_dir):
    graph = load_dataset("citeseer", data_dir=dataset_dir)
    assert graph.classes[:3].tolist() == ["AI", "Agents", "DB"]
    assert np.bincount(graph.labels).tolist() == [115, 463, 388, 304, 532, 308]


def test_reddit_says_how_to_convert_ones_own_copy():
    with pytest.raises(ResourceError, match=r"no digest.*Get .*Reddit2.*adagcn data convert"):
        load_dataset("reddit")


def test_a_converted_reddit_is_found_by_name_and_known_by_its_counts(tmp_path, monkeypatch):
    mine = planted_partition(40, 2, 3, seed=0)
    mine.to_npz(tmp_path / "reddit.npz")
    with pytest.raises(IntegrityError, match=r"is not Reddit, which has 232,965 nodes"):
        load_dataset("reddit", data_dir=tmp_path)
    small = replace(
        CATALOG["reddit"], raw_nodes=40, cleaned=replace(CATALOG["reddit"].cleaned, n_features=3)
    )
    monkeypatch.setattr("adagcn.data.load.find_dataset", lambda name: small)
    assert load_dataset("reddit", data_dir=tmp_path, raw=True).digest == mine.digest


def test_class_names_that_are_python_objects_are_left_unread(tmp_path):
    graph = planted_partition(40, 2, 3, seed=0)
    graph.to_npz(tmp_path / "plain.npz")
    arrays = dict(np.load(tmp_path / "plain.npz"))
    arrays["class_names"] = np.array(["a", "b"], dtype=object)
    np.savez(tmp_path / "objects.npz", **arrays)
    read = load_graph(tmp_path / "objects.npz")
    assert read.classes.tolist() == [0, 1]
    np.testing.assert_array_equal(read.labels, graph.labels)


@pytest.mark.parametrize("load", [load_dataset, load_graph])
def test_unknown_names_get_the_nearest(load):
    with pytest.raises(InputError, match=r"no data set has this name; got 'cora-ml'.*cora_ml"):
        load("cora-ml")


def test_load_graph_takes_names_and_files(tmp_path):
    assert load_graph("cora").name == "cora"
    mine = planted_partition(40, 2, 3, seed=0)
    mine.to_npz(tmp_path / "cora.npz")
    graph = load_graph(tmp_path / "cora.npz")
    assert graph.digest == mine.digest
    assert graph.name == "cora.npz"
    assert load_graph(str(tmp_path / "cora.npz")).digest == mine.digest


def test_load_graph_names_what_is_wrong_with_a_file(tmp_path):
    with pytest.raises(InputError, match=r"no such file; got '.*mine\.npz'"):
        load_graph(tmp_path / "mine.npz")
    (tmp_path / "mine.csv").write_text("a,b\n")
    with pytest.raises(FormatError, match=r"not a readable \.npz"):
        load_graph(tmp_path / "mine.csv")


@pytest.mark.parametrize("name", CATALOG)
def test_info_is_plain_and_reads_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr("adagcn.data.load.cache_folder", lambda: tmp_path)
    monkeypatch.delenv("ADAGCN_DATA", raising=False)
    info = json.loads(json.dumps(dataset_info(name)))
    assert info["paper"]["n_nodes"] == CATALOG[name].paper.n_nodes
    assert (info["path"] is not None) == (name == "cora")
    if name != "cora":
        (tmp_path / f"{name}.npz").write_bytes(b"")
        assert dataset_info(name)["path"] == str(tmp_path / f"{name}.npz")


def test_the_package_stays_light():
    heavy = (
        "{'torch', 'pandas', 'polars', 'networkx', 'matplotlib', 'sklearn', 'requests', 'pooch'}"
    )
    code = f"import sys, adagcn.data; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

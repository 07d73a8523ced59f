"""Columns of an experiment: graphs from files, tables and generators, and their splits."""

from __future__ import annotations

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.data import make_split
from adagcn.data.converted import write_converted
from adagcn.data.generators import planted_partition, weak_dense
from adagcn.data.nodesets import Split
from adagcn.errors import InputError
from adagcn.experiments.campaign import load_graphs, load_splits, plan
from adagcn.experiments.spec_files import load_spec

FILE = {"label": "File", "dataset": "mine", "file": "own/toy.npz"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a data folder with a graph, three splits of it, and tables."""
    own = tmp_path / "own"
    own.mkdir()
    toy.GRAPH.to_npz(own / "toy.npz")
    roles = np.random.default_rng(0).integers(0, 3, size=(3, toy.GRAPH.n_nodes))
    masks = {f"{name}_masks": roles == k for k, name in enumerate(("train", "val", "test"))}
    np.savez(own / "splits.npz", **masks)
    (own / "edges.csv").write_text("a,b\n" + "".join(f"{k},{k + 1}\n" for k in range(29)))
    rows = "".join(f"{k},x,{'even' if k % 2 == 0 else 'odd'}\n" for k in range(30))
    (own / "labels.csv").write_text("node,other,kind\n" + rows)
    monkeypatch.setenv("ADAGCN_DATA", str(tmp_path))
    return tmp_path


PLANTED = {"n_nodes": 50, "n_classes": 3, "n_features": 4, "seed": 7, "homophily": 0.3}
PLANTED |= {"mean_degree": 5.0, "feature_signal": 2.0}


def spec_with(*columns):
    rows = [{"label": "logistic", "model": "logistic"}]
    return toy.toy_spec(columns=list(columns), rows=rows, n_splits=3, n_inits=1)


def test_a_graph_is_a_file_or_tables_or_generated(folder):
    tables = {"edges": "own/edges.csv", "labels": "own/labels.csv", "id": "node", "label": "kind"}
    spec = spec_with(
        FILE,
        {"label": "T", "dataset": "mine too", "tables": tables},
        {"label": "G", "dataset": "weak", "generated": "weak_dense"},
        {"label": "P", "dataset": "planted", "planted": PLANTED},
    )
    graphs = load_graphs(spec)
    names = {"mine": "toy", "mine too": "mine too", "weak": "weak", "planted": "planted"}
    assert {name: graph.name for name, graph in graphs.items()} == names
    assert graphs["mine"].digest == toy.GRAPH.digest
    assert graphs["weak"].digest == weak_dense().digest
    assert graphs["planted"].digest == planted_partition(**PLANTED).digest
    assert (graphs["mine too"].n_nodes, graphs["mine too"].n_edges) == (30, 29)
    assert graphs["mine too"].classes.tolist() == ["even", "odd"]


def test_a_column_has_splits_of_its_own(folder):
    published = {"splits": "file", "splits_file": "own/splits.npz", "n_splits": 2}
    few = {"splits": "holdout", "train_per_class": 5, "stop": 30}
    spec = spec_with(FILE, {**FILE, "label": "F", **published}, {**FILE, "label": "H", **few})
    cells = plan(spec, load_graphs(spec))
    names = [[run.split for run in cell.runs] for cell in cells]
    assert names == [
        ["stratified:0", "stratified:1", "stratified:2"],
        ["file:0", "file:1"],
        ["holdout:0", "holdout:1", "holdout:2"],
    ]
    expected = make_split(toy.GRAPH, "file:1", splits_file=folder / "own" / "splits.npz")
    assert cells[1].runs[1].split_digest == expected.digest
    assert {tuple(split.sizes.values()) for split in cells[2].splits} == {(15, 30, 45)}


def test_files_are_searched_in_the_named_folder_first(folder, tmp_path_factory, monkeypatch):
    spec = spec_with({**FILE, "splits": "file", "splits_file": "own/splits.npz"})
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("ADAGCN_DATA", str(elsewhere))
    graphs = load_graphs(spec, data_dir=folder)
    assert len(load_splits(spec, graphs, data_dir=folder)["File"]) == 3
    with pytest.raises(InputError, match=r"column 'File': the data folder has no file own/toy"):
        load_splits(spec, graphs)
    with pytest.raises(InputError, match=rf"no file own/toy\.npz; got 'searched {elsewhere}'"):
        load_graphs(spec)
    monkeypatch.delenv("ADAGCN_DATA")
    with pytest.raises(InputError, match=r"ADAGCN_DATA is not set.*Set the environment variable"):
        load_graphs(spec)


def test_an_option_without_a_meaning_for_the_splits_is_refused(folder):
    spec = spec_with({**FILE, "splits_file": "own/splits.npz"})
    with pytest.raises(InputError, match="column 'File': splits_file has no meaning for the split"):
        plan(spec, load_graphs(spec))


@pytest.mark.dataset
@pytest.mark.filterwarnings("ignore::adagcn.errors.AdaGCNWarning")
def test_the_development_graphs_are_read_and_split(dataset_dir):
    if not (dataset_dir / "development").is_dir():
        pytest.skip(f"there is no folder development in {dataset_dir}")
    spec = load_spec("development")
    graphs = load_graphs(spec, data_dir=dataset_dir)
    splits = load_splits(spec, graphs, data_dir=dataset_dir)
    assert {label: len(each) for label, each in splits.items()} == {
        column.label: 10 for column in spec.columns
    }
    sizes = {label: each[0].sizes for label, each in splits.items()}
    assert sizes["ACM"] == {"train": 60, "stop": 500, "score": 2465}
    assert sizes["Minesweeper"] == {"train": 5000, "stop": 2500, "score": 2500}
    assert sizes["LastFM"]["stop"] == 500
    assert len({split.digest for each in splits.values() for split in each}) == 90


def test_the_public_split_of_a_file_is_one(folder):
    graph = toy.GRAPH
    parts = np.split(np.arange(graph.n_nodes), [12, 24])
    path = folder / "own" / "public.npz"
    write_converted(path, graph.adjacency, graph.features, graph.labels, Split("public", *parts))
    column = {"label": "P", "dataset": "mine", "file": "own/public.npz", "splits": "public"}
    spec = toy.toy_spec(
        columns=[column], rows=[{"label": "l", "model": "logistic"}], n_splits=1, n_inits=2
    )
    graphs = load_graphs(spec)
    (cell,) = plan(spec, graphs, splits=load_splits(spec, graphs))
    assert [run.split for run in cell.runs] == ["public", "public"]
    assert cell.splits[0].score_nodes.tolist() == parts[2].tolist()

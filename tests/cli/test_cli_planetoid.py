"""Planetoid's public split: converted by the documented command, with every row's own settings."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adagcn.cli import main
from adagcn.data.nodesets import Split
from adagcn.data.splits import make_split
from adagcn.errors import InputError
from adagcn.experiments.campaign import load_graphs, load_splits, plan
from adagcn.experiments.spec_files import load_spec
from adagcn.graph import Graph

N_KNOWN, N_TRAIN, N_TEST = 40, 6, 20

# What tells the settings of Cora and of PubMed apart, row by row; None: they are the same for both.
SETTINGS = {
    "AdaGCN, adaptive": None,
    "AdaGCN, instant": None,
    "AdaGCN, tuned": None,
    "GCN": None,
    "SGC": ({"weight_decay": 1.3027e-5}, {"weight_decay": 7.4039e-5}),
    "GAT": (
        {"output_heads": 1, "learning_rate": 0.005, "weight_decay": 5e-4},
        {"output_heads": 8, "learning_rate": 0.01, "weight_decay": 1e-3},
    ),
    "APPNP": None,
    "DAGNN": ({"n_steps": 10, "dropout": 0.8}, {"n_steps": 20, "dropout": 0.8}),
    "GCNII": (
        {"n_layers": 64, "hidden_units": 64, "dropout": 0.6},
        {"n_layers": 16, "hidden_units": 256, "dropout": 0.5},
    ),
    "GRAND": (
        {"n_steps": 8, "sharpening_temperature": 0.5, "batch_norm": False},
        {"n_steps": 5, "sharpening_temperature": 0.2, "batch_norm": True},
    ),
    "GB-GNN, adjacency (ours)": None,
}


def write_planetoid(folder, name, seed):
    """Write the eight files of a tiny data set whose neighbors are mostly of one class."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(N_KNOWN + N_TEST) % 3)
    labels[:N_TRAIN] = np.arange(N_TRAIN) % 3
    hot = np.eye(3, dtype=np.int32)[labels]
    rows = sparse.csr_matrix((rng.random((len(labels), 9)) < 0.4) | np.repeat(hot, 3, 1) > 0)
    rows = rows.astype(np.float32)
    near = [rng.choice(np.flatnonzero(labels == label), 3) for label in labels]
    graph = defaultdict(list, {node: found.tolist() for node, found in enumerate(near)})
    known = {"allx": rows[:N_KNOWN], "ally": hot[:N_KNOWN]}
    first = {"x": rows[:N_TRAIN], "y": hot[:N_TRAIN]}
    last = {"tx": rows[N_KNOWN:], "ty": hot[N_KNOWN:]}
    for part, value in {**known, **first, **last, "graph": graph}.items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol=4))
    places = "".join(f"{node}\n" for node in range(N_KNOWN, N_KNOWN + N_TEST))
    (folder / f"ind.{name}.test.index").write_text(places)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """Return a data folder with both files, made by the command that the spec names."""
    origin, place = tmp_path_factory.mktemp("origin"), tmp_path_factory.mktemp("data")
    (place / "planetoid").mkdir()
    for seed, name in enumerate(("cora", "pubmed")):
        write_planetoid(origin, name, seed)
    for name in ("cora", "pubmed"):
        out = place / "planetoid" / f"{name}.npz"
        assert main(["data", "convert", str(origin), str(out), "--name", name]) == 0
    return place


@pytest.fixture(scope="module")
def cells(data_dir):
    spec = load_spec("planetoid")
    graphs = load_graphs(spec, data_dir=data_dir)
    splits = load_splits(spec, graphs, data_dir=data_dir)
    return {(c.row.label, c.column.label): c for c in plan(spec, graphs, splits=splits)}


def test_every_row_of_the_experiment_is_looked_at(cells):
    assert {label for label, _ in cells} == set(SETTINGS)


@pytest.mark.parametrize("label", SETTINGS)
def test_a_row_has_the_settings_of_its_graph(cells, label):
    cora, pubmed = (cells[label, column].runs[0].params for column in ("Cora", "PubMed"))
    if SETTINGS[label] is None:
        assert cora == pubmed
        return
    for found, expected in zip((cora, pubmed), SETTINGS[label], strict=True):
        assert {name: found[name] for name in expected} == expected


def test_tables_and_ledgers_keep_the_names_of_the_spec(cells):
    runs = [run for cell in cells.values() for run in cell.runs]
    assert {run.dataset for run in runs} == {"planetoid_cora", "planetoid_pubmed"}
    assert {run.split for run in runs} == {"public"}
    assert len({run.data_digest for run in runs}) == 2


@pytest.mark.slow
def test_the_experiment_runs_on_converted_files(data_dir, tmp_path, capsys):
    words = ["reproduce", "planetoid", "--models", "sgc", "--inits", "1", "--format", "csv"]
    places = ["--data-dir", str(data_dir), "--ledger", str(tmp_path / "ledger.sqlite")]
    assert main([*words, *places, "--quiet"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["SGC", "SGC"]


def test_a_published_graph_does_not_take_the_split_of_a_file_with_its_name(data_dir):
    """PPNP's PubMed has as many nodes as Planetoid's, in another order."""
    path = data_dir / "planetoid" / "pubmed.npz"
    graph = Graph.from_npz(path, name="pubmed")
    assert isinstance(make_split(graph, "public", source=path), Split)
    turned = replace(graph, labels=graph.labels[::-1].copy())
    with pytest.raises(InputError, match="have another node order"):
        make_split(turned, "public", source=path)

"""The counts of a graph in tables that are streamed: those of the graph that is read whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adagcn import Graph, InputError
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.feature_tables import FeatureRules
from adagcn.formats.nodes import NodeSource
from adagcn.formats.store_build import EdgeTable
from adagcn.models.estimates.distinct import KEPT, Distinct, hashed_column, mixed, pairs
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.table_sizes import sizes_of_tables

COUNTS = ("n_nodes", "n_stored", "n_features", "n_classes", "n_labeled", "node_columns", "id_bytes")


@pytest.fixture(params=["integers", "strings"])
def tables(tmp_path, request):
    """Return tables with loops, edges that are listed twice, and nodes without labels."""
    rng = np.random.default_rng(0)
    ends = rng.integers(200, size=(2, 900))
    ends[1, :7] = ends[0, :7]
    name = str if request.param == "integers" else "node-{}".format
    lines = [f"{name(a)},{name(b)}" for a, b in ends.T]
    (tmp_path / "edges.csv").write_text("\n".join(["from,to", *lines, *lines[:50]]) + "\n")
    rows = [f"{name(i)},{rng.random():.3f},0.5,{i}" for i in range(200)]
    (tmp_path / "features.csv").write_text("\n".join(["id,x,y,z", *rows]) + "\n")
    labels = [f"{name(i)},{'abc'[i % 3] if i % 5 else '?'}" for i in range(0, 200, 2)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *labels]) + "\n")
    return tmp_path


def counts(sizes):
    return {name: getattr(sizes, name) for name in COUNTS}


@pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")
@pytest.mark.parametrize("directed", ["ignore", "keep"])
@pytest.mark.parametrize("self_loops", ["keep", "drop"])
@pytest.mark.parametrize("has_features", [True, False])
def test_few_nodes_are_counted_exactly(tables, directed, self_loops, has_features):
    paths = {"labels": tables / "labels.csv"}
    if has_features:
        paths["features"] = tables / "features.csv"
    rules = EdgeRules(directed=directed, self_loops=self_loops)
    source = NodeSource(**paths, unlabeled=["?"])
    found = sizes_of_tables(EdgeTable(tables / "edges.csv"), source, rules)
    whole = Graph.from_edges(
        tables / "edges.csv", **paths, unlabeled="?", directed=directed, self_loops=self_loops
    )
    assert found.is_exact
    assert counts(found.sizes) == counts(GraphSizes.of(whole))


def test_parquet_says_how_many_rows_it_has(tmp_path):
    edges = pa.table({"a": [0, 1, 2], "b": [1, 2, 3]})
    features = pa.table({"id": range(5), **{name: np.zeros(5) for name in "xyzw"}})
    pq.write_table(edges, tmp_path / "e.parquet")
    pq.write_table(features, tmp_path / "f.parquet")
    source = NodeSource(features=tmp_path / "f.parquet")
    found = sizes_of_tables(EdgeTable(tmp_path / "e.parquet"), source, EdgeRules()).sizes
    assert (found.n_nodes, found.n_features, found.n_stored) == (5, 4, 6)


@pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")
def test_labels_that_are_no_numbers_are_unknown(tables):
    labels = pa.table({"id": range(4), "label": [1.0, float("nan"), 2.0, None]})
    pq.write_table(labels, tables / "l.parquet")
    pq.write_table(pa.table({"a": [0, 1, 2], "b": [1, 2, 3]}), tables / "e.parquet")
    source = NodeSource(labels=tables / "l.parquet")
    found = sizes_of_tables(EdgeTable(tables / "e.parquet"), source, EdgeRules()).sizes
    whole = Graph.from_edges(tables / "e.parquet", labels=tables / "l.parquet")
    assert (found.n_classes, found.n_labeled) == (2, 2)
    assert counts(found) == counts(GraphSizes.of(whole))


def test_what_must_be_read_whole_is_refused(tables):
    source = NodeSource(features=tables / "features.csv", rules=FeatureRules(one_hot="all"))
    with pytest.raises(InputError, match="one_hot and missing need the whole feature table"):
        sizes_of_tables(EdgeTable(tables / "edges.csv"), source, EdgeRules())
    (tables / "long.csv").write_text("id,word\n1,2\n1,3\n2,3\n")
    source = NodeSource(features=tables / "long.csv")
    with pytest.raises(InputError, match="lists nodes more than once"):
        sizes_of_tables(EdgeTable(tables / "edges.csv"), source, EdgeRules())


# Counting different values


def test_few_values_are_counted_exactly_and_many_about():
    few, many = Distinct(), Distinct()
    for part in np.array_split(np.arange(3 * 10**5) % 60_000, 7):
        few.add(mixed(part))
    assert (few.is_exact, few.count) == (True, 60_000)
    for part in np.array_split(np.arange(2 * 10**6) % 10**6, 9):
        many.add(mixed(part))
    assert not many.is_exact
    assert many.count == pytest.approx(10**6, rel=4 * KEPT**-0.5)


def test_a_number_and_its_digits_are_one_value():
    numbers = hashed_column(pa.array([7, -3, 7]))
    assert (hashed_column(pa.array(["7", "-3", "7"])) == numbers).all()
    assert (hashed_column(pa.array(["7", "-3", "x"]))[:2] == numbers[:2]).all()


def test_pairs_know_their_order_only_if_it_matters():
    one, other = mixed(np.arange(5)), mixed(np.arange(5, 10))
    assert (pairs(one, other, ordered=False) == pairs(other, one, ordered=False)).all()
    assert not (pairs(one, other, ordered=True) == pairs(other, one, ordered=True)).any()

"""Columns of very different size are brought to one, which is said and remembered."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph, load_model
from adagcn.data import planted_partition
from adagcn.errors import FormatError, InputError, OtherGraphWarning, ScaleNotice
from adagcn.models import MODELS
from adagcn.models.support.column_scale import column_scale, scaled_columns
from adagcn.models.support.model_file import ModelFile, read_model, tensor_entry, to_bytes

SIZES = np.array([1.0, 50.0, 1e-2, 4e6])
QUICK = {"max_epochs": 30, "random_state": 0}


@pytest.fixture(scope="module")
def even() -> Graph:
    return planted_partition(n_nodes=200, n_classes=2, n_features=4, seed=0, feature_signal=2.0)


@pytest.fixture(scope="module")
def uneven(even) -> Graph:
    features = even.features * SIZES + np.array([0.0, 1e3, 1.0, 1e7])
    return Graph.from_scipy(even.adjacency, features, even.labels)


def fitted(graph, key="adagcn", **settings):
    known = np.arange(80)
    fixed = {"preset": "tuned"} if key == "adagcn" else {}
    return MODELS[key](graph, **QUICK, **fixed, **settings).fit(known, graph.labels[known])


def test_mean_and_deviation_of_columns(uneven):
    center, deviation = column_scale(uneven.features)
    np.testing.assert_allclose(center, uneven.features.mean(axis=0, dtype=np.float64))
    np.testing.assert_allclose(deviation, uneven.features.std(axis=0, dtype=np.float64), rtol=1e-6)
    scaled = scaled_columns(uneven.features, np.stack([center, deviation]))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.std(axis=0), 1.0, rtol=1e-3)
    constant = column_scale(np.full((5, 2), [3.0, 0.0]))
    assert constant.tolist() == [[3.0, 0.0], [1.0, 1.0]]


def test_zeros_of_sparse_columns_stay_zeros():
    features = sparse.csr_array(np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    scale = column_scale(features)
    np.testing.assert_allclose(scale, [[0.0, 0.0], [1.0, 2.5]])
    np.testing.assert_allclose(
        scaled_columns(features, scale).toarray(), features.toarray() / [1.0, 2.5]
    )


@pytest.mark.parametrize("key", ["adagcn", "gcn", "appnp", "sgc"])
def test_columns_of_very_different_size_are_scaled_and_it_is_said(even, uneven, key):
    with pytest.warns(ScaleNotice, match=r"4.*e\+06 in column 3, 0\.01.* in column 2\): each was"):
        model = fitted(uneven, key)
    assert model.params_["feature_norm"] == "standard"
    rest = np.arange(80, 200)
    assert model.score(rest, uneven.labels[rest]) > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(even, key).params_["feature_norm"] == "none"
        assert fitted(uneven, key, feature_norm="standard").params_["feature_norm"] == "standard"


def test_another_graph_is_scaled_by_the_fit(uneven, tmp_path):
    """Not by itself: a single node has no deviation."""
    model = fitted(uneven, feature_norm="standard")
    expected = model.predict_proba(np.arange(200))
    other = Graph.from_scipy(
        sparse.block_diag([uneven.adjacency, sparse.csr_array((1, 1))], format="csr"),
        np.vstack([uneven.features, 1e9 * np.ones((1, 4))]),
    )
    np.testing.assert_allclose(
        model.predict_proba(np.arange(200), graph=other), expected, atol=1e-6
    )
    model.save(tmp_path / "m.adagcn")
    with pytest.warns(OtherGraphWarning, match="inductive"):
        loaded = load_model(tmp_path / "m.adagcn", graph=other)
    np.testing.assert_allclose(loaded.predict_proba(np.arange(200)), expected, atol=1e-6)
    assert loaded.model_digest_ == model.model_digest_


@pytest.mark.parametrize("key", ["adagcn", "gcn"])
@pytest.mark.parametrize("forged", [None, np.ones((2, 3)), -np.ones((2, 4))])
def test_a_file_with_another_scale_is_refused(uneven, tmp_path, key, forged):
    fitted(uneven, key, feature_norm="standard").save(tmp_path / "m.adagcn")
    whole = read_model(tmp_path / "m.adagcn")
    tensors = {name: part for name, part in whole.tensors.items() if name != "column_scale"}
    tensors |= {} if forged is None else {"column_scale": forged}
    entries = {name: tensor_entry(tensor) for name, tensor in tensors.items()}
    manifest = whole.manifest.model_copy(update={"tensors": entries})
    (tmp_path / "m.adagcn").write_bytes(to_bytes(ModelFile(manifest, tensors)))
    with pytest.raises(FormatError, match="the scale of the feature columns"):
        load_model(tmp_path / "m.adagcn", graph=uneven)


def test_what_cannot_be_scaled(even):
    with pytest.raises(InputError, match=r"StandardScaler\(\) in front"):
        MODELS["adagcn"](feature_norm="standard").fit(even.features, even.labels)

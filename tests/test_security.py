"""What SECURITY.md promises: no code that could run a file's code, and what a model file holds."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adagcn import AdaGCNClassifier, Graph
from adagcn.data import planted_partition
from adagcn.data.planetoid import _ALLOWED
from adagcn.models.correct_and_smooth import CorrectAndSmoothClassifier
from adagcn.models.label_propagation import LabelPropagationClassifier
from adagcn.models.support.model_file import read_model

ROOT = Path(__file__).parent.parent
PROMISES = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
IDS = np.array([f"person-{i:02d}" for i in range(24)])
CLASSES = np.array(["ham", "spam"])[np.arange(24) % 2]
POSITIONS = {"nodes.train_nodes", "nodes.labels", "nodes.stop_nodes", "nodes.stop_labels"}


@pytest.fixture(scope="module")
def graph():
    ring = sparse.eye_array(24, k=1) + sparse.eye_array(24, k=-23)
    features = np.random.default_rng(0).random((24, 3))
    return Graph.from_scipy((ring + ring.T).tocsr(), features, node_ids=IDS, name="the office")


def saved(model, path, **options):
    model.fit(IDS[:12], CLASSES[:12], X_val=IDS[12:18], y_val=CLASSES[12:18])
    model.save(path, **options)
    return path.read_bytes(), read_model(path)


def test_a_model_file_holds_classes_but_no_node(graph, tmp_path):
    model = AdaGCNClassifier(graph, n_layers=2, max_epochs=3, random_state=0)
    content, file = saved(model, tmp_path / "m")
    assert b"ham" in content
    assert b"the office" in content
    assert b"person-" not in content
    learned = {"hidden", "output", "coefficients", "shares", "log_weight", "next_log_weight"}
    assert {name.split(".")[-1] for name in file.tensors} <= learned | {"columns"}
    assert {len(each) for name, each in file.tensors.items() if "log_weight" in name} == {12}


def test_a_file_to_be_continued_holds_positions_but_no_ids(graph, tmp_path):
    model = AdaGCNClassifier(graph, n_layers=2, max_epochs=3, random_state=0)
    content, file = saved(model, tmp_path / "m", continuable=True)
    assert b"person-" not in content
    assert set(file.tensors) >= POSITIONS
    assert file.tensors["nodes.train_nodes"].tolist() == list(range(12))


def test_what_a_file_holds_of_columns_and_of_a_graph_without_features(graph, tmp_path):
    named = replace(graph, feature_names=np.array(["age", "income", "height"]))
    settings = {"preset": "tuned", "n_layers": 1, "max_epochs": 1, "random_state": 0}
    content, file = saved(
        AdaGCNClassifier(named, feature_norm="standard", **settings), tmp_path / "m"
    )
    assert b"income" in content
    assert file.tensors["column_scale"].shape == (2, 3)
    large = planted_partition(600, 2, 2, seed=0, mean_degree=8.0).without_features()
    model = AdaGCNClassifier(large, max_features=100, **settings).fit(range(9), [0, 1, 0] * 3)
    model.save(tmp_path / "n")
    assert read_model(tmp_path / "n").tensors["coordinates"].shape == (600, 128)
    revealed = PROMISES.split("## What a model file reveals")[1]
    for words in ("their names", "mean and standard deviation", "128 coordinates of every node"):
        assert words in " ".join(revealed.split())


@pytest.mark.parametrize("kind", [LabelPropagationClassifier, CorrectAndSmoothClassifier])
def test_models_that_spread_labels_hold_the_training_nodes_alone(graph, tmp_path, kind):
    assert f"`{kind.model_key}`" in PROMISES.split("## What a model file reveals")[1]
    content, _ = saved(kind(graph, random_state=0), tmp_path / "m")
    assert [node.encode() in content for node in IDS] == [True] * 12 + [False] * 12


def called_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_nothing_is_unpickled_or_executed():
    forbidden = {"pickle.load", "pickle.loads", "joblib.load", "torch.load", "eval"}
    unpicklers = set()
    for path in (ROOT / "src" / "adagcn").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = set(called_names(tree))
        assert not calls & forbidden, path
        modules = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
        if any("pickle" in ast.unparse(each) for each in modules):
            unpicklers.add(path.name)
    assert unpicklers == {"planetoid.py"}
    assert len(_ALLOWED) == 9
    assert "an unpickler that knows nine names" in PROMISES

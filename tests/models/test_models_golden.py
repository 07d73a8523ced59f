"""Every model to the bit: what it learned and what it predicts, as before the last redesign.

``golden/golden.json`` holds SHA-256 digests of the parameters and of ``predict_proba`` of every
model on the packaged Cora (``val:0``, few epochs; AdaGCN as ``tuned`` unless a case says otherwise)
and of AdaGCN's presets on CiteSeer and Cora-ML.
They belong to one kind of processor and one set of libraries: ``arithmetic`` is a digest of what
these do with fixed numbers. Where it is another, the mean probability of each class is compared
instead.

``python tests/models/test_models_golden.py CASE …`` records the named cases anew. A refactoring
never needs that; a new model does, once.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import log_softmax

from adagcn.data import load_dataset, make_split
from adagcn.engines.threads import threads
from adagcn.models.support.registry import MODELS, build_model, model_class

RECORD = Path(__file__).parent / "golden" / "golden.json"

VARIANTS = {
    "members": {"variant.n_members": 2, "n_layers": 3},
    "carried": {"variant.carry_optimizer": True, "variant.share_stopping": True, "n_layers": 4},
    "samme": {"combine": "samme", "n_layers": 4, "reweight_rate": 1.0},
    "samme_logits": {
        "combine": "samme",
        "variant.vote": "logits",
        "n_layers": 4,
        "reweight_rate": 1.0,
    },
    "ema": {"combine": "ema", "n_layers": 4},
    "hastie": {
        "variant.weight_update": "hastie",
        "reweight_rate": 1.0,
        "n_layers": 4,
        "teleport": 0.0,
    },
    "scaled": {"variant.hop_scale": "hop", "n_layers": 4},
    "row_l2": {"variant.hop_scale": "row_l2", "n_layers": 4},
    "dropout": {"dropout": 0.5, "hidden_dropout": 0.5, "n_layers": 4},
    "auto": {"n_layers": "auto", "max_epochs": 20},
    "random_walk": {"variant.normalization": "random_walk", "n_layers": 4},
}
CASES = [
    *(f"cora/{key}" for key in MODELS),
    *(f"cora/adagcn/{name}" for name in VARIANTS),
    "cora/adagcn/adaptive",
    "cora/adagcn/instant",
    *(
        f"{graph}/adagcn/{preset}"
        for graph in ("citeseer", "cora_ml")
        for preset in ("tuned", "boosted", "unweighted", "paper", "released")
    ),
]


def digest_of(arrays) -> str:
    each = sorted(
        hashlib.sha256(f"{a.dtype.str}{a.shape}".encode() + np.ascontiguousarray(a).tobytes())
        .hexdigest()
        for a in arrays
    )  # fmt: skip
    return hashlib.sha256("".join(each).encode()).hexdigest()


@cache
def arithmetic() -> str:
    """Return a digest of products and functions of fixed numbers: of processor and libraries."""
    rng = np.random.default_rng(0)
    results = []
    for rows, inner, columns in ((140, 1000, 128), (500, 128, 7), (2485, 64, 16), (33, 17, 5)):
        a, b = rng.random((rows, inner)), rng.random((inner, columns))
        for kind in (np.float32, np.float64):
            x, y = torch.from_numpy(a.astype(kind)), torch.from_numpy(b.astype(kind))
            results += [(x @ y).numpy(), torch.log_softmax(x @ y, 1).numpy(), a.astype(kind) @ b]
            results += [log_softmax(a @ b, axis=1), np.exp(-a), np.log(a + 0.1)]
    thin = sparse.csr_array(rng.random((300, 200)) * (rng.random((300, 200)) < 0.1))
    results += [thin @ rng.random((200, 9)), torch.rand(50, generator=torch.Generator()).numpy()]
    versions = f"{torch.__version__} {np.__version__}"
    return hashlib.sha256((versions + digest_of(results)).encode()).hexdigest()


def fitted(case: str, data_dir=None):
    name, key, *rest = case.split("/")
    graph = load_dataset(name, data_dir=data_dir)
    split = make_split(graph, "val:0")
    given, preset = {"max_epochs": 5}, "tuned" if key == "adagcn" else None
    if key in ("adagcn", "adasgc"):
        given["n_layers"] = 10
    if rest and rest[0] in VARIANTS:
        given |= VARIANTS[rest[0]]
    elif rest:
        preset = rest[0]
        given["max_epochs"] = 4
        if preset in ("paper", "released"):
            given["hidden_units"] = 64
    given = {k: v for k, v in given.items() if k in model_class(key).settable()}
    model = build_model(key, graph, preset=preset, settings=given, random_state=0)
    X_val, y_val = graph.ids_and_labels(split.stop_nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*graph.ids_and_labels(split.train_nodes), X_val=X_val, y_val=y_val)
    return model, model.predict_proba(graph.node_ids)


def learned(model) -> list[np.ndarray]:
    if not hasattr(model, "layers_"):
        return list(model.fitted_.tensors().values())
    networks = [layer.learner.learner for layer in model.layers_]
    parameters = [p.detach().numpy() for network in networks for p in network.parameters()]
    return parameters + [layer.log_weight for layer in model.layers_]


def recorded(case: str, data_dir=None) -> dict[str, object]:
    with threads(1):
        model, proba = fitted(case, data_dir)
        return {
            "learnt": digest_of(learned(model)),
            "proba": digest_of([proba]),
            "mean_proba": [round(float(mean), 6) for mean in proba.mean(axis=0)],
        }


def test_every_model_is_on_record():
    assert set(CASES) <= set(json.loads(RECORD.read_text())["cases"])


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[] if c.startswith("cora/") else pytest.mark.dataset) for c in CASES],
)
def test_the_model_is_the_same_to_the_bit(case, request):
    data_dir = None if case.startswith("cora/") else request.getfixturevalue("dataset_dir")
    record = json.loads(RECORD.read_text())
    with threads(1):
        same_arithmetic = arithmetic() == record["arithmetic"]
    found, expected = recorded(case, data_dir), record["cases"][case]
    np.testing.assert_allclose(found["mean_proba"], expected["mean_proba"], atol=0.02)
    if same_arithmetic:
        assert found == expected


if __name__ == "__main__":
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"cases": {}}
    with threads(1):
        if not record.get("arithmetic"):
            record["arithmetic"] = arithmetic()
        assert record["arithmetic"] == arithmetic(), "another processor or other libraries"
    record["cases"] |= {case: recorded(case) for case in sys.argv[1:]}
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")

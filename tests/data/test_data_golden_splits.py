"""The splits of the packaged Cora, to the node: the protocol is checked without any download.

``golden_splits.json`` holds the SHA-256 of every split and its first nodes. It was written by::

    python tests/data/test_data_golden_splits.py

Write it anew only if the protocol is meant to change: every published number rests on it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adagcn.data import load_dataset, make_split
from adagcn.errors import InputError

GOLDEN = Path(__file__).parent / "golden_splits.json"
NAMES = [
    *(f"{kind}:{number}" for kind in ("val", "test") for number in range(20)),
    *(f"stratified:{seed}" for seed in range(3)),
]
ROLES = ("train_nodes", "stop_nodes", "score_nodes")


def facts(graph, name):
    """Return what the file says of a split; positions become the ids that users see."""
    split = make_split(graph, name)
    return {
        "sha256": split.digest,
        "sizes": [len(getattr(split, role)) for role in ROLES],
        "first_ids": [graph.node_ids[getattr(split, role)[:3]].tolist() for role in ROLES],
    }


@pytest.fixture(scope="module")
def cora():
    return load_dataset("cora")


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_graph_is_the_one_that_was_split(cora, golden):
    assert cora.digest == golden["graph_sha256"]
    assert list(golden["splits"]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_split_is_the_one_on_record(cora, golden, name):
    assert facts(cora, name) == golden["splits"][name]


def test_no_two_splits_on_record_are_equal(golden):
    assert len({each["sha256"] for each in golden["splits"].values()}) == len(NAMES)


def test_the_packaged_cora_has_no_public_split(cora):
    with pytest.raises(InputError, match="the public split belongs to Planetoid's own files"):
        make_split(cora, "public")


def record():
    """Write the file from what the code does now."""
    graph = load_dataset("cora")
    lines = [f'    "{name}": {json.dumps(facts(graph, name))}' for name in NAMES]
    head = f'{{\n  "graph_sha256": "{graph.digest}",\n  "splits": {{\n'
    GOLDEN.write_text(head + ",\n".join(lines) + "\n  }\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()

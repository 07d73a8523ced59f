"""The splits of the packaged Cora, to the node: the protocol is checked without any download.

``golden_splits.json`` holds the SHA-256 of every split and its first nodes, and
``golden_fresh.json`` that of the fresh splits on the paper's data. They were written by::

    python tests/data/test_data_golden_splits.py

Write it anew only if the protocol is meant to change: every published number rests on it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adagcn.data import load_dataset, make_split
from adagcn.data.gasteiger import fresh_share_seen
from adagcn.errors import InputError

GOLDEN = Path(__file__).parent / "golden_splits.json"
GOLDEN_FRESH = Path(__file__).parent / "golden_fresh.json"
# Share of the scored nodes of fresh splits that are known nodes of the paper's, in percent, as
# docs/experiments.md says it.
SEEN = {"citeseer": 71.1, "cora_ml": 53.4, "pubmed": 7.6, "ms_academic": 27.3}
FRESH = [f"fresh:{number}" for number in range(20)]
NAMES = [
    *(f"{kind}:{number}" for kind in ("val", "test", "fresh") for number in range(20)),
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


def fresh_facts(graph):
    """Return what the file of the fresh splits says of a graph."""
    splits = {name: make_split(graph, name) for name in FRESH}
    return {
        "graph_sha256": graph.digest,
        "sizes": [len(getattr(splits["fresh:0"], role)) for role in ROLES],
        "splits": {name: split.digest for name, split in splits.items()},
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


@pytest.mark.dataset
@pytest.mark.parametrize("name", SEEN)
def test_the_fresh_splits_of_the_papers_data_are_those_on_record(dataset_dir, name):
    graph = load_dataset(name, data_dir=dataset_dir)
    expected = json.loads(GOLDEN_FRESH.read_text(encoding="utf-8"))[name]
    assert fresh_facts(graph) == expected
    assert len(set(expected["splits"].values())) == 20
    assert round(100 * fresh_share_seen(graph), 1) == SEEN[name]


def test_the_packaged_cora_has_no_public_split(cora):
    with pytest.raises(InputError, match="the public split belongs to Planetoid's own files"):
        make_split(cora, "public")


def record():
    """Write the files from what the code does now; the second one needs ADAGCN_DATA."""
    fresh = {name: fresh_facts(load_dataset(name, offline=True)) for name in SEEN}
    GOLDEN_FRESH.write_text(json.dumps(fresh, indent=1) + "\n", encoding="utf-8")
    graph = load_dataset("cora")
    lines = [f'    "{name}": {json.dumps(facts(graph, name))}' for name in NAMES]
    head = f'{{\n  "graph_sha256": "{graph.digest}",\n  "splits": {{\n'
    GOLDEN.write_text(head + ",\n".join(lines) + "\n  }\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()

from __future__ import annotations

import csv

import pytest


@pytest.fixture
def store(run_cli, tmp_path):
    assert run_cli("store", "build", "cora", "--out", tmp_path / "s").code == 0
    return tmp_path / "s"


def test_a_fit_on_a_store_is_the_fit_on_the_graph(run_cli, store, tmp_path):
    words = ["--split", "val:0", "--preset", "instant", "--json"]
    plain = run_cli("fit", "cora", *words).facts
    out = ["--out", tmp_path / "m.adagcn"]
    stored = run_cli("fit", store, *words, "--engine", "serial", *out).facts
    assert stored["model_digest"] == plain["model_digest"]
    assert stored["graph"] == plain["graph"]
    table = tmp_path / "p.csv"
    assert run_cli("predict", tmp_path / "m.adagcn", store, "--out", table).code == 0
    with table.open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == plain["graph"]["nodes"]


def test_info_and_verify(run_cli, store):
    facts = run_cli("store", "info", store, "--json").facts
    assert (facts["nodes"], facts["bytes_of_hops"]) == (2485, 0)
    assert "as they were written" in run_cli("store", "verify", store).stdout
    path = store / "labels.npy"
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1
    path.write_bytes(bytes(octets))
    outcome = run_cli("store", "verify", store)
    assert outcome.code == 4
    assert "labels.npy" in outcome.stderr


def test_engine_options_of_a_graph_in_memory_are_refused(run_cli):
    outcome = run_cli("fit", "cora", "--workers", 2)
    assert outcome.code == 3
    assert "--workers would do nothing" in outcome.stderr


def test_a_folder_that_is_no_store(run_cli, tmp_path):
    outcome = run_cli("fit", tmp_path)
    assert outcome.code == 3
    assert "is no store" in outcome.stderr

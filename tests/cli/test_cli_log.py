"""What ``--log`` writes."""

from __future__ import annotations

import json
import logging
import os
import socket
from pathlib import Path

import pytest

from adagcn.propagation import stored_hops

FIT = ["--preset", "tuned", "--set", "n_layers=2", "--set", "max_epochs=2", "--split", "val:0"]


@pytest.fixture
def store(run_cli, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 500_000)
    assert run_cli("store", "build", "cora", "--out", tmp_path / "s").code == 0
    return tmp_path / "s"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_log_has_every_layer_hop_block_and_vote(run_cli, store, tmp_path):
    log, model = tmp_path / "log.jsonl", tmp_path / "m.adagcn"
    assert run_cli("fit", store, *FIT, "--log", log, "--out", model).code == 0
    told = lines(log)
    training = told[: 1 + max(n for n, line in enumerate(told) if line.get("event") == "layer")]
    assert [line["event"] for line in training if line["event"] != "block"] == [
        "start",
        "layer",
        "hop",
        "layer",
    ]
    (hop,) = [line for line in training if line["event"] == "hop"]
    assert hop["text"] == f"hop 1: 0 of {hop['blocks']} blocks are there"
    made = [line for line in training if line["event"] == "block"]
    assert [line["block"] for line in made] == list(range(hop["blocks"]))
    assert hop["blocks"] > 1
    for line in made:
        assert line["host"] == socket.gethostname()
        assert 0 < line["rows_read"] <= 2485
    assert {line["process"] for line in told} == {os.getpid()}
    before = len(told)
    words = ["predict", model, store, "--out", tmp_path / "p.csv", "--log", log]
    assert run_cli(*words).code == 0
    told = lines(log)
    assert {"votes", "voted", "block"} <= {line["event"] for line in told[before:]}
    assert not logging.getLogger("adagcn").handlers
    assert logging.getLogger("adagcn").level == logging.NOTSET


def test_a_graph_in_memory_has_a_log_too(run_cli, tmp_path):
    log = tmp_path / "log.jsonl"
    assert run_cli("fit", "cora", *FIT, "--log", log).code == 0
    assert [line["text"].split(":")[0] for line in lines(log)] == ["layer 0", "layer 1"]


def test_a_log_that_cannot_be_opened_is_refused_before_the_fit(run_cli, tmp_path):
    outcome = run_cli("fit", "cora", *FIT, "--log", tmp_path / "no" / "log")
    assert outcome.code == 5
    assert "could not be opened: No such file or directory. Check the path" in outcome.stderr
    assert not outcome.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_log_on_a_full_disk_is_told_of_once(run_cli):
    outcome = run_cli("fit", "cora", *FIT, "--log", "/dev/full")
    assert outcome.code == 0
    assert outcome.stderr.count("the log /dev/full is not complete") == 1

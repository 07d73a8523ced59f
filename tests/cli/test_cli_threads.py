"""``--threads`` limits PyTorch and BLAS alike, and only while a command runs."""

from __future__ import annotations

import pytest
import torch
from threadpoolctl import threadpool_info

from adagcn.engines.threads import threads
from adagcn.models.adagcn import AdaGCNClassifier

QUICK = ["--set", "n_layers=1", "--set", "max_epochs=2"]


def thread_counts():
    """Return the threads of PyTorch, and those of every BLAS and OpenMP library."""
    return torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info())


@pytest.fixture
def seen(monkeypatch):
    """The different thread counts under which models were fitted and asked."""
    counts = []

    def watch(name):
        original = getattr(AdaGCNClassifier, name)

        def spying(self, *args, **kwargs):
            counts.append(thread_counts())
            return original(self, *args, **kwargs)

        monkeypatch.setattr(AdaGCNClassifier, name, spying)

    watch("fit")
    watch("predict_proba")
    return counts


@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_limit_every_library_and_are_put_back(run_cli, tables, tmp_path, seen, n_threads):
    out = tmp_path / "model.adagcn"
    commands = [
        ["fit", *tables.with_labels, *QUICK, "--out", out],
        ["predict", out, *tables.options],
        ["evaluate", out, *tables.with_labels],
        ["compare", *tables.with_labels, *QUICK, "--models", "adagcn", "--splits", 1,
         "--ledger", tmp_path / "ledger.sqlite"],
    ]  # fmt: skip
    for command in commands:
        check_threads(run_cli, command, seen, n_threads)


@pytest.mark.full
def test_the_demo_keeps_to_its_threads_too(run_cli, tmp_path, seen):
    check_threads(run_cli, ["demo", "--out-dir", tmp_path], seen, 1)


def check_threads(run_cli, command, seen, n_threads):
    """Run a command while the caller has another number of threads."""
    seen.clear()
    with threads(3 - n_threads):
        outcome = run_cli(*command, "--threads", n_threads)
        assert set(thread_counts()) == {3 - n_threads}
    assert outcome.code == 0, outcome.stderr
    assert {count for counts in seen for count in counts} == {n_threads}, command[0]

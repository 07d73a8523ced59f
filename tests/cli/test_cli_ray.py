"""``--engine ray`` at the command line: the guide's steps, and what is left when they are over."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from adagcn.data import planted_partition

pytest.importorskip("ray", reason="Ray is not installed")

HERE = Path(__file__).parent
QUICK = ["--preset", "tuned", "--set", "max_epochs=5", "--set", "hidden_units=8", "--quiet"]
QUICK += ["--split", "stratified:0"]
THREE, ONE = (["--set", f"n_layers={n_layers}"] for n_layers in (3, 1))

pytestmark = pytest.mark.full


@pytest.fixture
def fit(tmp_path):
    """The words of a fit on a small store."""
    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    graph.to_store(tmp_path / "store")
    return ["fit", str(tmp_path / "store"), *QUICK]


def facts_of(*words):
    """Run a command of adagcn as a user would, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "adagcn.cli", *words, "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_ray_on_one_machine_gives_the_model_of_one_process(fit, ray_home):
    alone = facts_of(*fit, *THREE)
    assert not (ray_home.folder / ".ray").exists()
    through_ray = facts_of(*fit, *THREE, "--engine", "ray", "--workers", "2")
    assert through_ray["model_digest"] == alone["model_digest"]
    assert len(ray_home.token.read_text()) == 64
    assert any((ray_home.folder / "ray").glob("session_*"))
    assert not ray_home.left(within=10.0)


def test_a_layer_that_two_workers_train_predicts_as_that_of_one(fit, ray_home, tmp_path):
    """Only the last digits of the network differ: all that is printed is rounded."""
    alone, together = tmp_path / "alone.csv", tmp_path / "together.csv"
    facts_of(*fit, *ONE, "--predict-to", alone)
    facts_of(*fit, *ONE, "--predict-to", together, "--engine", "ray", "--train-workers", "2")
    (labels, numbers), (other_labels, other_numbers) = map(_predictions, (alone, together))
    assert other_labels == labels
    np.testing.assert_allclose(other_numbers, numbers, atol=2e-6)  # a unit of the last decimal
    assert ray_home.token.exists()
    assert not ray_home.left(within=10.0)


def _predictions(path):
    """Return the labels of a file of predictions, and its probabilities and margins."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = [[float(row[name]) for name in ("probability", "margin")] for row in rows]
    return {row["id"]: row["label"] for row in rows}, np.array(numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_nothing_is_left_running_when_a_fit_is_ended(fit, ray_home, tmp_path, number, code, word):
    """Ctrl-C reaches the whole group, SIGTERM the fit alone; both while blocks are computed."""
    out = tmp_path / "m.adagcn"
    more = [*THREE, "--engine", "ray", "--workers", "2", "--out", str(out)]
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    (tmp_path / "started").mkdir()
    process = subprocess.Popen(
        [sys.executable, HERE / "ray_jobs.py", *fit, *more],
        env={
            **os.environ,
            "STARTED": str(tmp_path / "started"),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 240
        while not any((tmp_path / "started").iterdir()) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert {"raylet", "gcs_server"} <= set(ray_home.processes().values())
        send = os.killpg if number == signal.SIGINT else os.kill
        send(process.pid, number)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, stdout) == (code, "")
    assert stderr == f"adagcn: {word}; {out} was not written\n"
    assert not ray_home.left(within=10.0)

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import engine_jobs as jobs
import pytest

from adagcn.engines import engine_named
from adagcn.errors import InputError, ResourceError

here = Path(__file__).parent


def collected(fn, items, shared, workers):
    found = {}
    engine_named(workers=workers).map(fn, items, shared, on_result=found.__setitem__)
    return found


def test_any_number_of_workers_gives_the_same():
    expected = {position: 10 * item for position, item in enumerate(range(5, 11))}
    assert collected(jobs.scaled, range(5, 11), 10, 1) == expected
    assert collected(jobs.scaled, range(5, 11), 10, 3) == expected


def test_workers_are_other_processes_with_one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = collected(jobs.pid_and_threads, range(4), None, 2)
    assert os.getpid() not in {pid for pid, _ in found.values()}
    assert {threads for _, threads in found.values()} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_back_whole_after_the_others(workers):
    found = {}
    with pytest.raises(InputError, match=r"item cannot be used; got 2\. Use another \[AGC-I999\]"):
        engine_named(workers=workers).map(
            jobs.refuses_two, range(5), None, on_result=found.__setitem__
        )
    assert found == {0: 0, 1: 1, 3: 3, 4: 4}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_receiver_ends_everything(workers):
    taken = []

    def receive(position, result):
        taken.append(result)
        raise ResourceError("AGC-R999", "the disk is full")

    with pytest.raises(ResourceError, match="the disk is full"):
        engine_named(workers=workers).map(jobs.scaled, range(50), 1, on_result=receive)
    assert len(taken) == 1


def test_what_a_dead_worker_took_along_is_done_again(tmp_path):
    assert collected(jobs.dies_once, range(6), tmp_path, 2) == {item: item for item in range(6)}
    assert (tmp_path / "died").exists()


def test_a_deadly_item_is_named_and_costs_no_other():
    found = {}
    with pytest.raises(ResourceError, match=r"died repeatedly on 1 of 6 items.*item: 3"):
        engine_named(workers=2).map(jobs.dies_always, range(6), {3}, on_result=found.__setitem__)
    assert found == {item: item for item in (0, 1, 2, 4, 5)}


def test_pools_that_finish_nothing_are_given_up():
    with pytest.raises(ResourceError, match="died repeatedly"):
        collected(jobs.dies_always, range(100), set(range(100)), 2)


def test_workers_must_be_positive():
    with pytest.raises(InputError, match="workers must be at least 1; got 0"):
        collected(jobs.scaled, [1], 1, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": "dask"}, "the engine must be one of serial, processes, ray; got 'dask'"),
        ({"name": "serial", "workers": 2}, "'serial' has one worker; got '2 workers'"),
        ({"name": "processes", "address": "a:1"}, "--address is of a Ray cluster"),
    ],
)
def test_engines_that_do_not_go_together(words, message):
    with pytest.raises(InputError, match=message):
        engine_named(**words)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_driver(tmp_path, ending):
    """Ctrl-C reaches the whole group, SIGKILL the driver alone; nobody works on after either."""
    driver = subprocess.Popen(
        [sys.executable, here / "engine_jobs.py", tmp_path],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        workers = _until(lambda: _started(tmp_path, 2))
        if ending == signal.SIGINT:
            os.killpg(driver.pid, ending)
        else:
            driver.kill()
        _, stderr = driver.communicate(timeout=10)
        assert driver.returncode == -ending
        _until(lambda: not any(map(_runs, workers)))
        assert stderr.count("KeyboardInterrupt") <= 1, "workers are silent"
    finally:
        with contextlib.suppress(ProcessLookupError):  # leave nobody behind, whatever failed
            os.killpg(driver.pid, signal.SIGKILL)


def _started(folder, n_workers):
    pids = [int(mark.name.partition("-")[2]) for mark in folder.glob("started-*")]
    return pids if len(pids) == n_workers else None


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that ended but that nobody waited for is still in the table.
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def _until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited too long")

"""Ray gives what one process gives, whoever dies."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import engine_jobs as jobs
import pytest

from adagcn.engines import engine_named
from adagcn.engines.ray_cluster import RayTasks
from adagcn.errors import InputError, ResourceError

ray = pytest.importorskip("ray", reason="Ray is not installed")

HERE = Path(__file__).parent


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Keep Ray's token out of the tester's home; let its workers find the jobs of the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    yield tmp_path
    assert not ray.is_initialized(), "nothing is left running"


def collected(engine, fn, items, shared):
    found = {}
    engine.map(fn, items, shared, on_result=found.__setitem__)
    return found


def test_nobody_answers_at_the_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(ResourceError, match=rf"no Ray cluster answers.*got '127.0.0.1:{port}'"):
            RayTasks(1, f"127.0.0.1:{port}").map(jobs.scaled, [1], 1, on_result=print)


@pytest.mark.parametrize("address", ["nonsense", "host:", ":6379", "host:port"])
def test_an_address_that_is_none(address):
    with pytest.raises(InputError, match="--address must be host:port"):
        RayTasks(1, address).map(jobs.scaled, [1], 1, on_result=print)


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ResourceError, match=r"needs Ray.*pip install 'adagcn\[ray\]'"):
        engine_named("ray").map(jobs.scaled, [1], 1, on_result=print)


def _in_a_process(body: str, home: Path) -> str:
    """Run a script with Ray in a process of its own: it is not made to start many times in one."""
    script = "import engine_jobs as jobs\nfrom adagcn.engines import engine_named\n"
    done = subprocess.run(
        [sys.executable, "-c", script + textwrap.dedent(body)],
        env={**os.environ, "HOME": str(home)},
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_tasks_give_what_one_process_gives_and_errors_come_back_whole(home):
    out = _in_a_process(
        """
        from adagcn.errors import InputError
        engine, found = engine_named("ray", workers=2), {}
        engine.map(jobs.scaled, range(5, 11), 10, on_result=found.__setitem__)
        print(sorted(found.items()) == [(i, 10 * (i + 5)) for i in range(6)])
        found.clear()
        try:
            engine.map(jobs.refuses_two, range(5), None, on_result=found.__setitem__)
        except InputError as error:
            print(error.code, sorted(found))
        """,
        home,
    )
    assert out == "True\nAGC-I999 [0, 1, 3, 4]\n"


@pytest.mark.full
def test_ray_starts_once_for_several_maps_and_results_alone_are_printed(home):
    out = _in_a_process(
        """
        import threading, ray
        from adagcn.engines import using
        engine, starts = engine_named("ray", workers=1), []
        once = ray.init
        ray.init = lambda *args, **more: starts.append(1) or once(*args, **more)
        with using(engine):
            for _ in range(2):
                engine.map(jobs.scaled, [1], 10, on_result=lambda i, done: print(done))
            other = threading.Thread(target=print, args=("a message",))
            other.start()
            other.join()
        print(len(starts), ray.is_initialized())
        """,
        home,
    )
    assert out == "10\n10\n1 False\n"


@pytest.mark.full
def test_a_dead_worker_costs_nothing_and_a_deadly_item_is_named(home):
    out = _in_a_process(
        f"""
        from adagcn.errors import ResourceError
        engine, found = engine_named("ray", workers=2), {{}}
        engine.map(jobs.dies_once, range(6), {str(home)!r}, on_result=found.__setitem__)
        print(found == {{item: item for item in range(6)}})
        found.clear()
        try:
            engine.map(jobs.dies_always, range(6), {{3}}, on_result=found.__setitem__, retries=1)
        except ResourceError as error:
            print(error, sorted(found))
        """,
        home,
    )
    assert out.startswith(
        "True\nworkers of Ray died repeatedly on 1 of 6 items; got 'first item: 3"
    )
    assert out.endswith("[0, 1, 2, 4, 5]\n")
    assert (home / "died").exists()


@pytest.mark.full
def test_a_machine_that_goes_takes_nothing_along(home):
    """Two nodes of a cluster on this machine; one is removed while tasks run on it."""
    out = _in_a_process(
        """
        import time, threading, ray
        from ray.cluster_utils import Cluster
        head = {"num_cpus": 1, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        node = cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        found = {}
        threading.Timer(3.0, lambda: cluster.remove_node(node)).start()
        engine = engine_named("ray", address=cluster.address)
        engine.map(jobs.slowly_scaled, range(8), 10, on_result=found.__setitem__, retries=3)
        print(found == {item: 10 * item for item in range(8)}, len(ray.nodes()))
        alive = sum(each["Alive"] for each in ray.nodes())
        print(alive)
        ray.shutdown()
        cluster.shutdown()
        """,
        home,
    )
    assert out == "True 2\n1\n"


@pytest.mark.full
def test_a_campaign_through_ray_has_the_digests_of_one_process(home, tmp_path):
    words = ["compare", "cora", "--models", "logistic,sgc", "--splits", "2", "--json"]
    script = "import sys; from adagcn.cli import main; sys.exit(main(sys.argv[1:]))"
    outputs = []
    for name in ("serial", "ray"):
        ledger = ["--ledger", str(tmp_path / f"{name}.sqlite"), "--engine", name]
        done = subprocess.run(
            [sys.executable, "-c", script, *words, *ledger],
            env={**os.environ, "HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]

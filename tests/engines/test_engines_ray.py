"""Ray gives what one process gives, whoever dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import engine_jobs as jobs
import pytest

from adagcn.engines import engine_named, ray_token
from adagcn.engines.ray_cluster import RayTasks
from adagcn.engines.ray_signals import signals_kept
from adagcn.errors import InputError, ResourceError

ray = pytest.importorskip("ray", reason="Ray is not installed")

HERE = Path(__file__).parent


@pytest.fixture
def home(ray_home, monkeypatch):
    """Let the workers of Ray find the jobs of the tests."""
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return ray_home


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


def _in_a_process(body: str, **more: str) -> str:
    """Run a script with Ray in a process of its own: it is not made to start many times in one."""
    script = "import engine_jobs as jobs\nfrom adagcn.engines import engine_named\n"
    done = subprocess.run(
        [sys.executable, "-c", script + textwrap.dedent(body)],
        env={**os.environ, **more},
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
        """
    )
    assert out == "True\nAGC-I999 [0, 1, 3, 4]\n"
    assert len(home.token.read_text()) == 64
    assert (home.folder / "ray").is_dir()
    assert not home.left(within=10.0)


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
        """
    )
    assert out == "10\n10\n1 False\n"


@pytest.mark.full
def test_a_dead_worker_costs_nothing_and_a_deadly_item_is_named(home, tmp_path):
    out = _in_a_process(
        f"""
        from adagcn.errors import ResourceError
        engine, found = engine_named("ray", workers=2), {{}}
        engine.map(jobs.dies_once, range(6), {str(tmp_path)!r}, on_result=found.__setitem__)
        print(found == {{item: item for item in range(6)}})
        found.clear()
        try:
            engine.map(jobs.dies_always, range(6), {{3}}, on_result=found.__setitem__, retries=1)
        except ResourceError as error:
            print(error, sorted(found))
        """
    )
    assert out.startswith(
        "True\nworkers of Ray died repeatedly on 1 of 6 items; got 'first item: 3"
    )
    assert out.endswith("[0, 1, 2, 4, 5]\n")
    assert (tmp_path / "died").exists()


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
        """
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
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextmanager
def _ray_start(*words: str, **more: str):
    """Run ``ray start`` until the block is left, and end what it has started."""
    given = [*words, "--block", "--num-cpus=1", "--object-store-memory=100000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", "start", *given],
        env={**os.environ, **more},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _head(**more: str):
    """Run the first machine of a cluster; give its address."""
    ports = [f"--port={(port := _free_port())}", f"--ray-client-server-port={_free_port()}"]
    with _ray_start("--head", *ports, "--include-dashboard=false", **more) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"


def _with_token(folder: Path, token: str) -> dict[str, str]:
    """Return the environment of a user whose home has a token."""
    (folder / ".ray").mkdir(parents=True)
    (folder / ".ray" / "auth_token").write_text(token)
    return {"HOME": str(folder)}


JOINS = """
    import os, sys
    from adagcn.errors import ResourceError
    engine, found = engine_named("ray", address={address!r}), {{}}
    before = os.environ.get("RAY_AUTH_MODE")
    try:
        engine.map(jobs.scaled, range(3), 10, on_result=found.__setitem__)
        print(found == {{item: 10 * item for item in range(3)}})
    except ResourceError as error:
        print(error.code)
    assert os.environ.get("RAY_AUTH_MODE") == before
"""
GENERATE = [sys.executable, "-m", "ray.scripts.scripts", "get-auth-token", "--generate"]


@pytest.mark.full
def test_a_cluster_with_a_token_takes_who_has_it_and_no_other(home, tmp_path):
    """The guide's way: a token is made, every machine has it, and the mode is set everywhere."""
    made = subprocess.run(GENERATE, capture_output=True, text=True, check=True)
    assert made.stdout == home.token.read_text()
    other, none = _with_token(tmp_path / "other", "0" * 64), {"HOME": str(tmp_path)}
    cases = [
        ({}, "True"),
        ({"RAY_AUTH_MODE": "token"}, "True"),
        ({"RAY_AUTH_MODE": "disabled"}, "AGC-R929"),
        (other, "AGC-R929"),
        ({**other, "RAY_AUTH_MODE": "token"}, "AGC-R929"),
        (none, "AGC-R929"),
        ({**none, "RAY_AUTH_MODE": "token"}, "AGC-R929"),
    ]
    with _head(RAY_AUTH_MODE="token") as address:
        found = [_in_a_process(JOINS.format(address=address), **more) for more, _ in cases]
        auto = _in_a_process(JOINS.format(address="auto"), **other)
    assert found == [f"{expected}\n" for _, expected in cases]
    assert auto == "AGC-R929\n"


@pytest.mark.full
def test_a_token_at_home_does_not_keep_one_from_an_open_cluster(home, tmp_path):
    """A driver in the mode of tokens would refuse the second machine, which has none."""
    body = """
        engine, found = engine_named("ray", address={address!r}), {{}}
        engine.map(jobs.size_and_node, range(8), bytes(2_000_000), on_result=found.__setitem__)
        sizes, nodes = zip(*found.values())
        print(set(sizes), len(set(nodes)))
    """
    with _head() as address, _ray_start(f"--address={address}"):
        _in_a_process(WAITS_FOR_TWO.format(address=address))
        more = _with_token(tmp_path / "home", "0" * 64)
        out = _in_a_process(body.format(address=address), **more)
    assert out == "{2000000} 2\n"


WAITS_FOR_TWO = """
    import ray, time
    ray.init(address={address!r}, log_to_driver=False, logging_level="error")
    while sum(node["Alive"] for node in ray.nodes()) < 2:
        time.sleep(0.2)
"""


def test_what_listens_may_not_be_ray(home, monkeypatch):
    monkeypatch.setattr(ray_token, "_ASK_WITHIN", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ResourceError, match=r"there did not answer .* within 0\.5 seconds"):
            RayTasks(1, address).map(jobs.scaled, [1], 1, on_result=print)


ACCEPTED, REFUSED, TRACEBACK, CRASHED = 0, 3, 1, -6


def _mode_by(answers, monkeypatch):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setattr(ray_token, "_answer", lambda address, mode: answers[mode])
    return ray_token.mode_at("10.0.0.5:6379")


def test_the_mode_is_one_in_which_the_cluster_accepts_us(monkeypatch):
    assert _mode_by({"disabled": ACCEPTED}, monkeypatch) == "disabled"
    assert _mode_by({"disabled": REFUSED, "token": ACCEPTED}, monkeypatch) == "token"
    with pytest.raises(ResourceError, match="AGC-R929"):
        _mode_by({"disabled": REFUSED, "token": REFUSED}, monkeypatch)


@pytest.mark.parametrize("code", [TRACEBACK, CRASHED])
def test_a_question_that_fails_is_no_answer(code, monkeypatch):
    with pytest.raises(ConnectionError, match="does not answer as Ray does"):
        _mode_by({"disabled": code}, monkeypatch)


def test_who_has_no_token_is_refused_in_the_mode_of_tokens(home):
    assert ray_token._answer("127.0.0.1:9", "token") == REFUSED


def test_the_token_of_the_moment_is_shown(monkeypatch):
    for token in ("a" * 64, "b" * 64):
        monkeypatch.setenv("RAY_AUTH_TOKEN", token)
        with ray_token.in_mode(ray, "token"):
            assert ray._raylet.AuthenticationTokenLoader.instance().get_raw_token() == token


def test_the_error_of_a_refusal_says_what_to_do():
    text = str(ray_token.refused("10.0.0.5:6379"))
    assert "the Ray cluster refuses this process" in text
    assert "got '10.0.0.5:6379'. Copy that file from the machine where" in text
    assert "export RAY_AUTH_MODE=token, and run again [AGC-R929]" in text


class EndedError(BaseException):
    """What the handlers of these tests raise."""


@pytest.fixture
def end_by():
    """Give a function that has a signal raise EndedError until the test is over."""
    before = {}

    def end(number, frame):
        raise EndedError

    def take(number):
        before[number] = signal.signal(number, end)
        return end

    yield take
    for number, handler in before.items():
        signal.signal(number, handler)


posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_handler_that_raises_ends_the_block_and_stays(name, end_by):
    """Ray drops what a handler raises, other than KeyboardInterrupt."""

    def ended():
        with signals_kept() as keep_signals:
            signal.signal(number, signal.SIG_IGN)  # as Ray does
            keep_signals()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
            signal.raise_signal(number)

    number = getattr(signal, name)
    end = end_by(number)
    with pytest.raises(EndedError):
        ended()
    assert signal.getsignal(number) is end


@posix
def test_a_signal_is_heard_of_though_its_exception_is_swallowed_or_converted(end_by):
    def swallowed():
        with signals_kept() as keep_signals:
            keep_signals()
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)

    def converted():
        with signals_kept() as keep_signals:
            keep_signals()
            try:
                signal.raise_signal(signal.SIGTERM)
            except KeyboardInterrupt:
                raise OSError from None

    end_by(signal.SIGTERM)
    for block in (swallowed, converted):
        with pytest.raises(EndedError):
            block()


@posix
@pytest.mark.parametrize(
    ("raised", "handled", "heard"),
    [
        (KeyboardInterrupt(), True, KeyboardInterrupt),
        (SystemExit(signal.SIGTERM), True, EndedError),
        (SystemExit(signal.SIGTERM), False, SystemExit),
    ],
)
def test_ray_that_is_interrupted_while_it_starts_is_shut_down(
    raised, handled, heard, end_by, monkeypatch
):
    """Until Ray runs, it makes SystemExit of SIGTERM."""
    calls = []

    def init(**options):
        calls.append("init")
        raise raised

    if handled:
        end_by(signal.SIGTERM)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: calls.append("shutdown"))
    with pytest.raises(heard), RayTasks().ready():
        pass
    assert calls == ["init", "shutdown"]

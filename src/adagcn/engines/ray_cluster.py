"""Items as tasks of Ray: on this machine, or on a cluster that is running."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

from adagcn.engines.ray_signals import signals_kept
from adagcn.engines.ray_token import in_mode, mode_at, refused, tells_of_a_refusal
from adagcn.errors import InputError, ResourceError, counted

ANSWER_WITHIN = 5.0  # seconds; Ray itself waits for minutes
TASKS_PER_CPU = 2  # in flight: one that runs, and one that is sent meanwhile
_HERE = "127.0.0.1"  # of a cluster that only this machine uses


@dataclass(frozen=True)
class RayTasks:
    """Runs each item as a task of Ray; see :class:`adagcn.engines.Engine`.

    A task whose worker or machine dies is sent again, elsewhere if need be. Ray keeps its logs
    below ``/tmp/ray`` (or ``RAY_TMPDIR``), and in ``~/.ray/auth_token`` the token that its machines
    know each other by; a cluster that wants a token gets that one. Everything that this engine
    starts ends with it (on Linux also if this process is killed); a cluster that was running goes
    on.

    Parameters
    ----------
    workers : int
        Tasks at the same time on this machine; on a running cluster, Ray decides by its CPUs.
    address : str or None
        ``"host:port"`` of a running cluster, ``"auto"`` for the one of this machine; None starts
        one for these items alone.
    train_workers : int
        Workers that train a layer together; see :mod:`adagcn.training.data_parallel`.
    """

    workers: int = 1
    address: str | None = None
    train_workers: int = 1

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Stay connected inside of a block: starting Ray takes seconds."""
        n_cpus = max(self.workers, self.train_workers)
        # Ray tells of dead workers on standard output, which is for results alone, and does so
        # until its shutdown is complete: so the connection is inside.
        with redirect_stdout(_OneThreadsOutput()), _connected(_ray(), n_cpus, self.address):
            yield

    def map(
        self,
        fn: Callable[[Any, Any], Any],
        items: Sequence[Any],
        shared: Any,
        *,
        on_result: Callable[[int, Any], None],
        retries: int = 2,
    ) -> None:
        """Call ``fn(item, shared)`` for every item; see :meth:`adagcn.engines.Engine.map`."""
        ray = _ray()
        with self.ready():
            task = ray.remote(num_cpus=1, max_retries=retries)(_call)
            kept = ray.put((fn, shared))  # sent to each machine once
            n_cpus = int(ray.cluster_resources().get("CPU", 1))
            _Flight(ray, on_result, items).fly(
                lambda item: task.remote(item, kept), TASKS_PER_CPU * max(n_cpus, 1)
            )


class _OneThreadsOutput:
    """Standard output for the thread that makes it; what others print goes to standard error.

    Ray prints its messages from a thread of its own.
    """

    def __init__(self) -> None:
        self._thread, self._out = threading.get_ident(), sys.stdout

    def write(self, text: str) -> int:
        mine = threading.get_ident() == self._thread
        return (self._out if mine else sys.stderr).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def _call(item: Any, kept: tuple[Callable[[Any, Any], Any], Any]) -> Any:
    fn, shared = kept
    return fn(item, shared)


class _Flight:
    """Sends items, a limited number at a time, and takes what comes back."""

    def __init__(
        self, ray: Any, on_result: Callable[[int, Any], None], items: Sequence[Any]
    ) -> None:
        self._ray = ray
        self._on_result = on_result
        self._items = items
        self._errors: list[BaseException] = []
        self._deadly: list[Any] = []

    def fly(self, send: Callable[[Any], Any], most: int) -> None:
        queue = deque(enumerate(self._items))
        flying: dict[Any, int] = {}
        while queue or flying:
            while queue and len(flying) < most:
                position, item = queue.popleft()
                flying[send(item)] = position
            done, _ = self._ray.wait(list(flying), num_returns=1)
            for reference in done:
                self._take(reference, flying.pop(reference))
        if self._deadly:
            raise ResourceError(
                "AGC-R921",
                f"workers of Ray died repeatedly on {len(self._deadly):,} of "
                f"{counted(len(self._items), 'item')}",
                got=f"first item: {self._deadly[0]}",
                fix="give the machines more memory or run fewer tasks at a time, and run again to "
                "continue",
            )
        if self._errors:
            raise self._errors[0]

    def _take(self, reference: Any, position: int) -> None:
        errors = self._ray.exceptions
        try:
            result = self._ray.get(reference)
        except errors.RayTaskError as error:  # raised by fn: the others are still worth having
            self._errors.append(error.cause)
        except errors.RayError:  # its worker or machine died, every time
            self._deadly.append(self._items[position])
        else:
            self._on_result(position, result)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ResourceError(
            "AGC-R922",
            "the engine 'ray' needs Ray, which is not installed",
            fix="install it with pip install 'adagcn[ray]', or use --engine processes",
        ) from None
    return ray


@contextmanager
def _connected(ray: Any, workers: int, address: str | None) -> Iterator[None]:
    """Start Ray or join a cluster, and leave nothing running that was not there."""
    if ray.is_initialized():  # the caller's own, which stays
        yield
        return
    with signals_kept() as keep_signals, in_mode(ray, _mode_at(address)):
        try:
            _start(ray, workers, address, keep_signals)
            yield
        finally:
            with redirect_stdout(sys.stderr):  # what Ray still says now, it says in any thread
                ray.shutdown()  # what was starting, and is not Ray's node yet, ends with us


def _start(ray: Any, workers: int, address: str | None, keep_signals: Callable[[], None]) -> None:
    """Start Ray or join a cluster; signals do what they did before, also while Ray starts."""
    try:
        _join(ray, workers, address)
    except SystemExit as error:  # what Ray makes of SIGTERM until it runs
        keep_signals()
        if error.code == signal.SIGTERM and callable(signal.getsignal(signal.SIGTERM)):
            signal.raise_signal(signal.SIGTERM)
        raise
    keep_signals()


def _join(ray: Any, workers: int, address: str | None) -> None:
    """Start Ray or join a cluster."""
    new = {"num_cpus": workers, "_node_ip_address": _HERE, "include_dashboard": False}
    try:
        with redirect_stdout(sys.stderr):
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if address else new),
            )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if tells_of_a_refusal(error):
            raise refused(address) from error
        raise _no_cluster(address, str(error).splitlines()[0]) from error


def _mode_at(address: str | None) -> str | None:
    """Return the mode of the cluster at ``"host:port"``; Ray finds out that of any other."""
    if address is None or address == "auto" or "://" in address:
        return None
    _check_answers(address)
    try:
        return mode_at(address)
    except ConnectionError as error:
        raise _no_cluster(address, str(error)) from None


def _check_answers(address: str) -> None:
    """Refuse an address that nobody answers at; Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(
            "AGC-I923",
            "--address must be host:port, or auto for a cluster of this machine",
            got=address,
            fix="use what 'ray start --head' printed, such as 10.0.0.5:6379",
        )
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from None


def _no_cluster(address: str | None, why: str) -> ResourceError:
    if address is None:
        return ResourceError(
            "AGC-R924", f"Ray could not be started here: {why}", fix="use --engine processes"
        )
    return ResourceError(
        "AGC-R925",
        f"no Ray cluster answers: {why}",
        got=address,
        fix="start one with 'ray start --head', and check the address, the port and the firewall",
    )

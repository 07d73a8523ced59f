"""Two hosts on one machine: network namespaces of Linux, joined by a cable of their own.

Each host has its own name, loopback and one network card; the cards are the two ends of a veth
pair. Nothing leads out of the pair. The files of the machine are those of both hosts.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

_CARD = "cable"  # the name of the card in each host
_PREFIX = 30  # bits of the network: two addresses


class NoHosts(Exception):  # noqa: N818 - a finding, not a failure
    """Why hosts cannot be made here."""


@dataclass
class Host:
    """One of the two hosts.

    Parameters
    ----------
    name : str
        What its processes see as the name of their machine.
    namespace : str
        Its network namespace.
    address : str
        Its address.
    """

    name: str
    namespace: str
    address: str
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def command(self, words: list[str]) -> list[str]:
        """Return a command that runs another one on this host, under the same process id."""
        called = ["sh", "-c", 'hostname "$0" && exec "$@"', self.name, *words]
        return ["nsenter", f"--net=/run/netns/{self.namespace}", "unshare", "--uts", *called]

    def start(self, words: list[str], **how: Any) -> subprocess.Popen[bytes]:
        """Start a command on this host, in a session of its own: Ctrl-C is for who waits."""
        self._started.append(subprocess.Popen(self.command(words), start_new_session=True, **how))
        return self._started[-1]

    def moved(self) -> int:
        """Return the bytes that have gone through its card so far, both ways."""
        said = _ip("-n", self.namespace, "-j", "-s", "link", "show", "dev", _CARD)
        counters = json.loads(said)[0]["stats64"]
        return int(counters["rx"]["bytes"]) + int(counters["tx"]["bytes"])

    def end(self) -> None:
        """Kill whatever still runs on this host."""
        while processes := self._processes():
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)

    def _processes(self) -> list[int]:
        for started in self._started:
            started.poll()  # one that has ended is gone only when somebody asks
        return [int(word) for word in _ip("netns", "pids", self.namespace).split()]


@contextmanager
def host_pair() -> Iterator[tuple[Host, Host]]:
    """Make two hosts; however the block is left, their processes are ended and they are removed.

    Raises
    ------
    NoHosts
        If they cannot be made here.
    """
    reason = _why_not()
    if reason is not None:
        raise NoHosts(reason)
    hosts = tuple(
        Host(f"host-{letter}", f"adagcn-{os.getpid()}-{letter}", f"10.77.0.{number}")
        for number, letter in ((1, "a"), (2, "b"))
    )
    one, other = hosts
    made: list[Host] = []
    try:
        try:
            for host in hosts:
                _ip("netns", "add", host.namespace)
                made.append(host)
            _ip("link", "add", _CARD, "netns", one.namespace, "type", "veth",
                "peer", "name", _CARD, "netns", other.namespace)  # fmt: skip
            for host in hosts:
                own = f"{host.address}/{_PREFIX}"
                _ip("-n", host.namespace, "address", "add", own, "dev", _CARD)
                for card in ("lo", _CARD):
                    _ip("-n", host.namespace, "link", "set", card, "up")
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise NoHosts(f"the system refuses network namespaces here: {said}") from error
        yield one, other
    finally:
        for host in made:
            host.end()
        for host in made:
            _ip("netns", "delete", host.namespace)


def _why_not() -> str | None:
    """Return why hosts cannot be made here, as far as that is known without trying."""
    missing = [name for name in ("ip", "nsenter", "unshare") if shutil.which(name) is None]
    if missing:
        return (
            f"two hosts on one machine need {' and '.join(missing)}, of Linux; install the "
            "packages iproute2 and util-linux"
        )
    if os.geteuid() != 0:
        return "two hosts on one machine are network namespaces, which only root may make"
    return None


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, check=True)
    return done.stdout.decode()

"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

# Where the real data sets lie next to a checkout; ADAGCN_DATA wins.
_BESIDE_CHECKOUT = Path(__file__).parents[2] / "shared" / "data"

collect_ignore_glob = ["conftest.py", "*/conftest.py"]  # fixtures, no doctests


@pytest.fixture(scope="session")
def dataset_dir() -> Path:
    """Return the folder of the real data sets, or skip where there is none."""
    folder = Path(os.environ.get("ADAGCN_DATA", _BESIDE_CHECKOUT))
    if not (folder / "cora_ml.npz").exists():
        pytest.skip(f"the real data sets are not in {folder}: set ADAGCN_DATA to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def usual_signals() -> None:
    """Let signals end child processes even where the tests themselves run under nohup or ``&``."""
    usual = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    for name, handler in usual.items():
        number = getattr(signal, name, None)  # no SIGHUP on Windows
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@dataclass(frozen=True)
class RayHome:
    """The folder where Ray of one test has its token and its temporary files."""

    folder: Path

    @property
    def token(self) -> Path:
        return self.folder / ".ray" / "auth_token"

    def processes(self) -> dict[int, str]:
        """Return the other processes whose environment or command line names the folder."""
        named = os.fsencode(self.folder)
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or it is another user's
                told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
                if named in told and process.name != str(os.getpid()):
                    found[int(process.name)] = (process / "comm").read_text().strip()
        return found

    def left(self, within: float) -> dict[int, str]:
        """Return the processes that still run after some seconds."""
        deadline = time.monotonic() + within
        while (found := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found


@pytest.fixture
def ray_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[RayHome]:
    """Keep Ray out of the tester's home; nothing of it may run when the test is over.

    The folder is not the test's own: sockets are in it, whose paths must be short.
    """
    with tempfile.TemporaryDirectory(prefix="agc-", ignore_cleanup_errors=True) as folder:
        home = RayHome(Path(folder))
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HOME", "RAY_TMPDIR"):
            monkeypatch.setenv(name, folder)
        monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        yield home
        left = home.left(within=20.0)
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    assert not left, "Ray is left running"

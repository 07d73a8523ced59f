"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
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

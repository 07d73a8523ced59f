from __future__ import annotations

import pytest

from adagcn.bench import timing


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    """Times do not matter here, so that nobody waits for a quiet machine."""
    monkeypatch.setattr(timing, "PAUSE_SECONDS", 0.0)

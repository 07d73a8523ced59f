"""Where a measurement was taken: processor, versions, threads, and how quiet it was."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from adagcn import __version__
from adagcn.bench.measures import Measure, measure
from adagcn.bench.timing import call_seconds

LIBRARIES = (
    "numpy", "scipy", "torch", "scikit-learn", "torch_geometric", "scikit-network",
)  # fmt: skip

_SIDE = 384  # of the calibration product
_SAMPLES = 15
_QUIET = 0.1  # the most that the calibration may drift and flicker


@dataclass(frozen=True)
class Noise:
    """The same dense product before and after everything else.

    Attributes
    ----------
    before, after : Measure
        Seconds of the product.
    drift : float
        After over before: 1 where the machine was as fast at the end as at the start.
    spread : float
        Interquartile range over the median, the larger of the two: how much times fluctuate.
    """

    before: Measure
    after: Measure
    drift: float
    spread: float

    @property
    def is_quiet(self) -> bool:
        """Whether the machine was calm enough for the figures to be quoted."""
        return abs(self.drift - 1.0) <= _QUIET and self.spread <= _QUIET


def machine() -> dict[str, Any]:
    """Return what is known about the processor and the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": _usable_cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str | None]:
    """Return the versions of everything that is measured; None if not installed."""
    libraries = {name: _version(name) for name in LIBRARIES}
    return {"adagcn": __version__, "python": platform.python_version(), **libraries}


def calibrate() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return seconds of one dense product of fixed size, several times."""
    left = np.random.default_rng(0).standard_normal((_SIDE, _SIDE), dtype=np.float32)
    found = call_seconds(
        {"product": lambda: left @ left},
        repetitions=_SAMPLES,
        sample_seconds=0.01,
        tick=lambda: None,
    )
    return found["product"]


def noise(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> Noise:
    """Return what two calibrations say about the time between them."""
    return Noise(
        before=measure(before),
        after=measure(after),
        drift=float(np.median(after) / np.median(before)),
        spread=max(_spread(before), _spread(after)),
    )


def _spread(samples: np.ndarray[Any, Any]) -> float:
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float((high - low) / middle)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the model's name; Linux keeps it where ``platform`` does not look."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _usable_cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _memory_gb() -> float | None:
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
    return round(n_bytes / 1024**3, 1)

"""Which code produced a result."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

from adagcn import __version__

_LIBRARIES = ("numpy", "scipy", "torch", "scikit-learn")


def code_versions() -> dict[str, str | None]:
    """Return the versions of this package, Python and the libraries, and the commit if any."""
    libraries = {name: version(name) for name in _LIBRARIES}
    return {
        "adagcn": __version__,
        "commit": code_commit(),
        "python": platform.python_version(),
        **libraries,
    }


@cache  # once a process: what is loaded does not change while it runs
def code_commit() -> str | None:
    """Return the commit of this checkout, with ``+changes`` if files differ; None if installed."""
    package = Path(__file__).parents[1]
    # A virtual environment may lie inside of another project's checkout: that commit is not ours.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit = _git(package, "rev-parse", "HEAD")
    changes = _git(package, "status", "--porcelain", "--", ".")
    return f"{commit}+changes" if commit and changes else commit


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "--no-optional-locks", *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

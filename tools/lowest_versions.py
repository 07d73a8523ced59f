"""Print the lowest supported version of every direct dependency, as constraints for pip.

The bounds are those of pyproject.toml: ``"numpy>=2.0"`` becomes ``numpy==2.0``. CI runs the tests
once with them, so that a bound that is too low is found here and not by a user::

    python tools/lowest_versions.py > lowest.txt
    pip install --constraint lowest.txt --editable '.[dev]'
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

# A name, extras, versions, and a marker such as "; python_version < '3.12'".
_REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[[^]]*\])?\s*([^;]*?)\s*(;.*)?")
_BOUND = re.compile(r"(?:>=|==|~=)\s*([\w.!+]+)")


def lowest_versions(project: Mapping[str, Any]) -> list[str]:
    """Return a constraint for each requirement of a ``[project]`` table, extras included."""
    return sorted({lowest(each) for each in _requirements(project)}, key=str.lower)


def lowest(requirement: str) -> str:
    """Return the constraint that pins a requirement to its lowest version."""
    found = _REQUIREMENT.fullmatch(requirement)
    bounds = [] if found is None else _BOUND.findall(found[2])
    if found is None or len(bounds) != 1:
        raise ValueError(f"{requirement!r} does not have one lowest version: write name>=version")
    return f"{found[1]}=={bounds[0]}{found[3] or ''}"


def _requirements(project: Mapping[str, Any]) -> Iterator[str]:
    own = re.compile(rf"{re.escape(project['name'])}\s*\[")  # an extra that names other extras
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        yield from (each for each in group if not own.match(each))


if __name__ == "__main__":
    constraints = lowest_versions(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])
    sys.stdout.write("\n".join(constraints) + "\n")

"""What ``pyproject.toml`` says about the package is true of its code."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

import adagcn

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "adagcn"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Where the name that is imported is not the one that is installed.
DISTRIBUTION = {
    "sklearn": "scikit-learn",
    "mlflow": "mlflow-skinny",
    "sknetwork": "scikit-network",
    "pydantic_core": "pydantic",  # one interface in two packages; pydantic pins the other
}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    return {normalized(re.match(r"[\w.-]+", each)[0]) for each in requirements} - {"adagcn"}


CORE = declared(PROJECT["dependencies"])
EXTRAS = {name: declared(each) for name, each in PROJECT["optional-dependencies"].items()}


def modules_named(nodes) -> set[str]:
    """Return the full names of the modules, or of what is in them, that some statements import."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def third_party(nodes) -> set[str]:
    """Return the distributions that some statements import, leaving out Python and ourselves."""
    roots = {name.split(".")[0] for name in modules_named(nodes)}
    roots -= {"adagcn", *sys.stdlib_module_names}
    return {normalized(DISTRIBUTION.get(name, name)) for name in roots}


def run_on_import(tree):
    """Yield the statements that run when a module is imported."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def imported_when(code: str) -> tuple[set[str], set[str]]:
    """Return what a module imports at all, and what it imports when it is imported itself."""
    tree = ast.parse(code)
    return third_party(ast.walk(tree)), third_party(run_on_import(tree))


CODE = {
    path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}
MODULES = {name: imported_when(code) for name, code in CODE.items()}


def test_imports_are_told_apart():
    code = """
import os, numpy.linalg
from . import near
from adagcn import graph
if TYPE_CHECKING:
    import pandas
else:
    import polars
class Kind:
    from sklearn import base
try:
    import torch_geometric
except ImportError:
    pass
def draw():
    from matplotlib.figure import Figure
"""
    at_once = {"numpy", "polars", "scikit-learn", "torch-geometric"}
    assert imported_when(code) == (at_once | {"pandas", "matplotlib"}, at_once)


def test_everything_imported_is_declared():
    known = CORE.union(*EXTRAS.values())
    missing = {name: found - known for name, (found, _) in MODULES.items() if found - known}
    assert len(MODULES) > 50
    assert not missing


def test_an_extra_is_imported_only_when_it_is_needed():
    # A module may need an extra as a whole; then others import that module inside functions.
    whole = {name for name, (_, found) in MODULES.items() if found - CORE}
    assert whole == {"bench/pyg_models.py"}
    for name, code in CODE.items():
        at_once = modules_named(run_on_import(ast.parse(code)))
        assert "adagcn.bench.pyg_models" not in at_once, f"{name}: import it inside the function"


def test_every_core_dependency_is_imported():
    used = set().union(*(found for found, _ in MODULES.values()))
    assert not CORE - used


def test_benchmarks_and_reports_alone_import_what_their_extras_bring():
    rooms = {"report": ("report/", "experiments/figures.py"), "bench": ("bench/",)}
    for extra, places in rooms.items():
        users = {name for name, (found, _) in MODULES.items() if found & (EXTRAS[extra] - CORE)}
        assert users, f"nothing uses the extra {extra}"
        assert all(name.startswith(places) for name in users)


def test_dev_brings_all_other_extras():
    (own,) = (each for each in PROJECT["optional-dependencies"]["dev"] if each.startswith("adagcn"))
    named = set(re.findall(r"\w+", own)) - {"adagcn"}
    assert named == set(EXTRAS) - {"dev"}


def test_the_version_stands_in_one_place():
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    path = ROOT / tool["hatch"]["version"]["path"]
    (found,) = re.findall(r'^__version__ = "(.+)"$', path.read_text(encoding="utf-8"), re.M)
    assert found == adagcn.__version__


def test_the_installed_metadata_has_the_version_of_the_code():
    assert distribution("adagcn").version == adagcn.__version__, "install the package again"


def test_the_citation_has_the_version_of_the_code():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.M) == [adagcn.__version__]


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_every_python_that_ci_runs_has_a_classifier(minor):
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f'"3.{minor}"' in workflow
    assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]

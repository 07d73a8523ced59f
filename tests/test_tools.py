"""The small programs in ``tools/`` that CI and releases run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *words):
    command = [sys.executable, str(TOOLS / f"{name}.py"), *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize(
    ("requirement", "constraint"),
    [
        ("numpy>=2.0", "numpy==2.0"),
        ("ruff==0.17.4", "ruff==0.17.4"),
        ("pyarrow >= 17 , < 30, != 18.1", "pyarrow==17"),
        ("a-b_c.d[x,y]~=1.2", "a-b_c.d==1.2"),
        ("tomli>=2.0; python_version < '3.11'", "tomli==2.0; python_version < '3.11'"),
    ],
)
def test_a_requirement_is_pinned_to_its_lowest_version(requirement, constraint):
    assert load("lowest_versions").lowest(requirement) == constraint


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=2, ==2.1", "!"])
def test_a_requirement_without_one_lowest_version_is_refused(requirement):
    with pytest.raises(ValueError, match="does not have one lowest version"):
        load("lowest_versions").lowest(requirement)


def test_lowest_versions_of_a_project_include_extras_but_not_the_project():
    project = {
        "name": "mine",
        "dependencies": ["b>=2", "A>=1"],
        "optional-dependencies": {"x": ["mine-too>=5", "c==3"], "all": ["mine[x]", "A>=1"]},
    }
    expected = ["A==1", "b==2", "c==3", "mine-too==5"]
    assert load("lowest_versions").lowest_versions(project) == expected


def test_lowest_versions_of_this_project_are_printed():
    outcome = run("lowest_versions")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    lines = outcome.stdout.splitlines()
    assert {line.split("==")[0] for line in lines} >= {"numpy", "torch", "matplotlib", "pytest"}
    assert not any(line.startswith("adagcn") for line in lines)


CHANGELOG = """# Changelog

Words.

## [Unreleased]

## [1.1.0] - 2030-01-02

### Added

- More ([1.0.0] had less).

## [1.0.0]

The first.
"""


@pytest.mark.parametrize(
    ("version", "text"),
    [("1.1.0", "### Added\n\n- More ([1.0.0] had less)."), ("1.0.0", "The first.")],
)
def test_the_section_of_a_version_ends_where_the_next_begins(version, text):
    assert load("changelog_section").section(CHANGELOG, version) == text


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.0", r"no section \[1\.0\]; it has Unreleased, 1\.1\.0, 1\.0\.0"),
        ("Unreleased", r"section \[Unreleased\] of the changelog is empty"),
    ],
)
def test_a_version_without_text_is_refused(version, message):
    with pytest.raises(ValueError, match=message):
        load("changelog_section").section(CHANGELOG, version)


def test_the_changelog_of_this_project_has_its_first_release():
    outcome = run("changelog_section", "0.1.0")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("The first release.\n")


@pytest.mark.parametrize(
    ("words", "message"), [(["0.0.0"], "no section [0.0.0]"), ([], "usage: python tools/")]
)
def test_the_release_stops_where_there_is_no_section(words, message):
    outcome = run("changelog_section", *words)
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert message in outcome.stderr


def test_the_picture_of_hops_shows_what_its_caption_says():
    votes = load("concept_pictures").votes_by_hop(7)
    assert votes[0] < 0 < votes[1:].min()  # its own words say orange, every later hop blue
    assert votes.sum() == pytest.approx(16.6, abs=1.0)


@pytest.mark.parametrize("name", ["architecture", "comparison"])
def test_the_pictures_of_the_concepts_are_drawn(name):
    drawing = load("concept_pictures")
    assert len(drawing.PICTURES[f"concept-{name}"]().axes) == 1


def test_pictures_of_the_guides_are_small_and_each_is_shown():
    docs = TOOLS.parent / "docs"
    pages = [page for page in docs.rglob("*.md") if "_build" not in page.parts]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    pictures = [*docs.glob("images/gallery-*"), *docs.glob("images/concept-*")]
    assert len(pictures) == 10
    for picture in pictures:
        assert picture.stat().st_size < 150_000, picture.name
        assert picture.name in text, f"no page shows {picture.name}"

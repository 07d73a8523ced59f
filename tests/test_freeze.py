"""No final number from an open recipe: test and fresh runs are made at or after their freeze.

``results/freezes.toml`` says which recipe was frozen at which commit, and the ledger which commit
made a run.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from adagcn.data.gasteiger import FINAL_KINDS
from adagcn.data.splits import parse_split

ROOT = Path(__file__).parents[1]
FREEZES = ROOT / "results" / "freezes.toml"
LEDGER = ROOT / "results" / "ledger.jsonl.gz"
KEYS = {"model", "preset", "commit", "settings"}


def faults(entries, freezes, is_at_or_after):
    """Return what is wrong with the runs of a ledger, a line for each entry that is broken.

    ``is_at_or_after(commit, freeze)`` says whether a commit is another one or its descendant.
    """
    found = []
    for entry in entries:
        run, commit = entry["run"], entry["result"]["versions"].get("commit")
        if parse_split(run["split"]).kind not in FINAL_KINDS:
            continue
        what = f"{run['model']} {run['preset']} on {run['dataset']} {run['split']} by {commit}"
        for freeze in freezes:
            if not is_of(run, freeze):
                continue
            if not freeze["commit"]:
                found.append(f"{what}: the recipe is not frozen yet")
            elif commit is None or "+" in commit:
                found.append(f"{what}: the code is not that of a commit")
            elif not is_at_or_after(commit, freeze["commit"]):
                found.append(f"{what}: not made at or after the freeze {freeze['commit']}")
    return found


def is_of(run, freeze):
    """Return whether a run is one of the recipe that an entry is about."""
    settings = freeze.get("settings", {})
    same = (run["model"], run["preset"]) == (freeze["model"], freeze["preset"])
    return same and settings.items() <= run["params"].items()


@cache
def git(*words):
    """Return whether git says yes, and what it prints; None where there is no git."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.returncode == 0, done.stdout.strip()


def is_at_or_after(commit, freeze):
    return git("merge-base", "--is-ancestor", freeze, commit)[0]


@pytest.fixture(scope="module")
def history():
    """Skip where the history of this repository is not there, or only its end."""
    answer = git("rev-parse", "--is-shallow-repository", "--show-toplevel")
    if answer is None or not answer[0]:
        pytest.skip("no git history: this is not a checkout of the repository")
    shallow, top = answer[1].splitlines()
    if Path(top).resolve() != ROOT.resolve():
        pytest.skip("no git history: the checkout around these files is another project's")
    if shallow == "true":
        pytest.skip("the git history is cut off: fetch it with git fetch --unshallow")


@pytest.fixture(scope="module")
def freezes():
    if not FREEZES.exists():
        pytest.skip("results/freezes.toml is part of the repository only")
    return tomllib.loads(FREEZES.read_text("utf-8"))["freeze"]


@pytest.fixture(scope="module")
def entries():
    if not LEDGER.exists():
        pytest.skip("results/ledger.jsonl.gz is part of the repository only")
    with gzip.open(LEDGER, "rt", encoding="utf-8") as lines:
        return [entry for entry in map(json.loads, lines) if "run" in entry]


def test_the_freezes_are_well_formed(freezes):
    for freeze in freezes:
        assert set(freeze) - {"settings"} == KEYS - {"settings"}
        assert len(freeze["commit"]) in (0, 40)  # in full: a short one may come to mean another
    recipes = [(f["model"], f["preset"], str(f.get("settings"))) for f in freezes]
    assert len(set(recipes)) == len(recipes)


def test_every_freeze_is_a_commit_of_this_history(history, freezes):
    for freeze in freezes:
        assert not freeze["commit"] or is_at_or_after("HEAD", freeze["commit"]), freeze


def test_every_final_run_is_made_at_or_after_its_freeze(history, freezes, entries):
    tuned = [freeze for freeze in freezes if freeze["preset"] == "tuned"]
    assert tuned
    for freeze in tuned:  # an entry that no run matches would check nothing
        assert any(is_of(entry["run"], freeze) for entry in entries), freeze
    assert faults(entries, freezes, is_at_or_after) == []


def test_no_recipe_that_is_open_and_no_uncommitted_code_has_a_final_run(freezes, entries):
    """The part of the check that needs no history."""
    assert faults(entries, freezes, lambda commit, freeze: True) == []


# The check itself

FROZEN = {"model": "adagcn", "preset": "new", "commit": "b"}
OPEN = {**FROZEN, "commit": ""}
OF_SETTING = {**FROZEN, "settings": {"teleport": 0.2}}


def in_order(commit, freeze):
    """Stand in for git: commits are letters, and a later letter is a later commit."""
    return commit >= freeze


def some_entry(split="test:0", commit="c", preset="new", model="adagcn", teleport=0.2):
    params = {"teleport": teleport}
    run = {"model": model, "preset": preset, "params": params, "dataset": "cora", "split": split}
    return {"run": run, "result": {"versions": {"commit": commit}}}


@pytest.mark.parametrize(
    ("entry", "freeze", "fault"),
    [
        (some_entry(), FROZEN, None),
        (some_entry(commit="b"), FROZEN, None),
        (some_entry(commit="a"), FROZEN, "test:0 by a: not made at or after the freeze b"),
        (some_entry("fresh:3", "a"), FROZEN, "fresh:3 by a: not made at or after"),
        (some_entry("val:3", "a"), FROZEN, None),
        (some_entry(commit="c+changes"), FROZEN, "by c.changes: the code is not that of a commit"),
        (some_entry(commit=None), FROZEN, "by None: the code is not that of a commit"),
        (some_entry("test:1"), OPEN, "test:1 by c: the recipe is not frozen yet"),
        (some_entry("fresh:1"), OPEN, "fresh:1 by c: the recipe is not frozen yet"),
        (some_entry("val:1"), OPEN, None),
        (some_entry(preset="other", commit="a"), FROZEN, None),
        (some_entry(model="adasgc", commit="a"), FROZEN, None),
        (some_entry(commit="a"), OF_SETTING, "not made at or after"),
        (some_entry(commit="a", teleport=0.1), OF_SETTING, None),
    ],
)
def test_what_is_a_fault(entry, freeze, fault):
    found = faults([some_entry("val:0"), entry], [{**FROZEN, "preset": "x"}, freeze], in_order)
    assert len(found) == (fault is not None)
    assert fault is None or re.search(fault, found[0])


def test_git_tells_what_came_first(history):
    first = git("rev-list", "--max-parents=0", "HEAD")[1].splitlines()[0]
    assert is_at_or_after("HEAD", first)
    assert is_at_or_after(first, first)
    assert not is_at_or_after(first, "HEAD")
    assert not is_at_or_after("0" * 40, first)

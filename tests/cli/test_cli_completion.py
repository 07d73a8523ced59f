"""What a shell completes after ``adagcn completion``; the script is run by a real bash."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
import typer

from adagcn.cli.app import app
from adagcn.data import CATALOG
from adagcn.models import MODELS

CASES = {
    ("",): ["demo", "fit", "predict", "data", "completion"],
    ("fi",): ["fit"],
    ("nothing",): [],
    ("--v",): ["--version"],
    ("data", ""): ["list", "get", "info", "verify", "convert"],
    ("data", "get", "cora"): ["cora", "cora_ml"],
    ("data", "verify", "a"): ["all"],
    ("data", "tables", "t"): ["twitch"],
    ("fit", "cit"): ["citeseer"],
    ("fit", "my.npz"): [],  # bash then completes files
    ("fit", "--edges", ""): [],
    ("fit", "--mod"): ["--model"],
    ("fit", "--model", "app"): ["appnp"],
    ("fit", "--model", "=", "app"): ["appnp"],  # as bash splits --model=app
    ("fit", "--model", "="): list(MODELS),
    ("fit", "cora", "--preset", "ins"): ["instant"],
    ("fit", "cora", "--directed", ""): ["ignore", "keep", "reverse", "error"],
    ("compare", "cora", "--models", "gcn,dag"): ["gcn,dagnn"],
    ("predict", "m.adagcn", "pub"): ["pubmed"],
    ("reproduce", "table"): ["table2", "table3", "table4"],
    ("completion", ""): ["bash", "zsh", "fish"],
    ("fit", "data", ""): list(CATALOG),  # "data" is an argument here, no command
}


@pytest.fixture(scope="module")
def bash() -> str:
    found = shutil.which("bash")
    if found is None:
        pytest.skip("there is no bash on this machine")
    return found


def completed(bash: str, script: str, cases) -> list[list[str]]:
    """Return what bash offers for each list of words after ``adagcn``."""
    lines = [script]
    for words in cases:
        quoted = " ".join(shlex.quote(word) for word in ("adagcn", *words))
        lines.append(f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _adagcn")
        lines.append('echo "${COMPREPLY[*]}"')
    done = subprocess.run(
        [bash, "--norc", "-u"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_completes_commands_options_and_their_words(run_cli, bash):
    script = run_cli("completion", "bash").stdout
    offered = completed(bash, script, CASES)
    for (words, expected), found in zip(CASES.items(), offered, strict=True):
        if words == ("",):
            assert set(expected) <= set(found)
        elif words == ("data", ""):
            assert set(expected) <= set(found)
        else:
            assert sorted(found) == sorted(expected), words
    registered = subprocess.run(
        [bash, "--norc"], input=f"{script}\ncomplete -p adagcn", capture_output=True, text=True
    )
    assert registered.stdout == "complete -o default -F _adagcn adagcn\n"


def test_every_option_of_every_command_is_offered(run_cli, bash):
    expected = {}

    def walk(command, words):
        options = {name for each in command.params for name in each.opts if name.startswith("--")}
        expected[(*words, "--")] = options | {"--help"}
        for name, each in getattr(command, "commands", {}).items():
            walk(each, (*words, name))

    walk(typer.main.get_command(app), ())
    offered = completed(bash, run_cli("completion", "bash").stdout, expected)
    for (words, options), found in zip(expected.items(), offered, strict=True):
        assert set(found) == options, words
    assert len(expected) > 15


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_no_word_can_break_out_of_its_quotes(run_cli, shell):
    outcome = run_cli("completion", shell)
    assert outcome.code == 0
    for name in ("fit", "--directed", "cora_ml", "correct_and_smooth", "instant"):
        assert re.search(rf"(?<![\w-]){name}\b|-l {name.removeprefix('--')}\b", outcome.stdout)
    for line in outcome.stdout.splitlines():
        assert line.count("'") % 2 == 0
        assert line.count('"') % 2 == 0
        assert "`" not in line


def test_fish_has_a_line_for_every_command_and_option(run_cli):
    lines = run_cli("completion", "fish").stdout.splitlines()[1:]
    assert all(line.startswith("complete -c adagcn -n '") for line in lines)
    (model,) = [line for line in lines if "subcommand_from fit'" in line and " -l model " in line]
    assert " -x -a 'adagcn " in model
    inside = "-n '__fish_seen_subcommand_from data; and __fish_seen_subcommand_from get'"
    assert any(inside in line and "-a 'cora " in line for line in lines)


def test_json_and_unknown_shells(run_cli):
    facts = run_cli("completion", "zsh", "--json").facts
    assert facts["shell"] == "zsh"
    assert "bashcompinit" in facts["script"]
    outcome = run_cli("completion", "tcsh")
    assert outcome.code == 2
    assert "bash" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1

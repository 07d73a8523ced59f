"""What the commands look like from outside, before any of them works."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adagcn

COMMANDS = [
    ["demo"],
    ["fit"],
    ["predict"],
    ["evaluate"],
    ["compare"],
    ["reproduce"],
    ["completion"],
    *(["ledger", name] for name in ("export", "import", "show")),
    *(["bench", name] for name in ("speed", "start")),
    *(["data", name] for name in ("list", "get", "info", "verify", "convert", "tables")),
]


def test_the_version_is_the_packages(run_cli):
    outcome = run_cli("--version")
    assert (outcome.code, outcome.stdout) == (0, f"adagcn {adagcn.__version__}\n")


def test_python_runs_the_package_as_the_command():
    command = [sys.executable, "-m", "adagcn"]
    done = subprocess.run([*command, "fit", "--nope"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("adagcn: error: ")
    assert "(see 'adagcn fit --help')" in done.stderr
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert helped.stdout.startswith("Usage: adagcn [OPTIONS]")


@pytest.mark.parametrize("words", [["--help"], []])
def test_help_lists_the_commands(run_cli, words):
    outcome = run_cli(*words)
    assert outcome.code == 0
    for command in ("demo", "fit", "predict", "evaluate", "data"):
        assert command in outcome.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_takes_the_same_options(run_cli, command):
    outcome = run_cli(*command, "--help")
    assert outcome.code == 0
    for option in ("--json", "--seed", "--threads", "--quiet", "--debug"):
        assert option in outcome.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fitt", "cora"], "No such command 'fitt'. Did you mean 'fit'? (see 'adagcn --help')"),
        (["data"], "Missing command (see 'adagcn data --help')"),
        (
            ["fit", "cora", "--seed", "-1"],
            "Invalid value for '--seed': should be greater than or equal to 0 "
            "(see 'adagcn fit --help')",
        ),
        (
            ["fit", "cora", "--self-loops", "both"],
            "Invalid value for '--self-loops': 'both' is not one of 'keep', 'drop', 'error' "
            "(see 'adagcn fit --help')",
        ),
        (["predict"], "Missing argument 'MODEL' (see 'adagcn predict --help')"),
    ],
)
def test_usage_errors_are_one_line(run_cli, words, message):
    outcome = run_cli(*words)
    assert outcome.code == 2
    assert outcome.stderr == f"adagcn: error: {message}\n"
    assert outcome.stdout == ""


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys; from adagcn.cli import main; main(sys.argv[1:]); "
        "heavy = {'torch', 'sklearn', 'scipy', 'numpy', 'pyarrow', 'matplotlib'} & {*sys.modules}; "
        "sys.exit(' '.join(sorted(heavy)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

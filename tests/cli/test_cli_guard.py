"""Whatever happens inside a command becomes an exit code and at most one line."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import warnings

import pytest
import typer

from adagcn.cli import guard
from adagcn.cli.command_state import current_state
from adagcn.cli.options import Debug, Quiet
from adagcn.cli.output import note
from adagcn.errors import (
    FormatError,
    GraphNotice,
    InputError,
    IntegrityError,
    NumericalError,
    ResourceError,
    UnsafeFileError,
)


@pytest.fixture
def replace_command(monkeypatch):
    """Put a function of the test's own in place of every command."""

    def replace(function):
        app = typer.Typer()

        @app.callback()
        def root(quiet: Quiet = False, debug: Debug = False) -> None: ...

        @app.command()
        def work(quiet: Quiet = False, debug: Debug = False) -> None:
            function()

        monkeypatch.setattr(guard, "app", app)

    return replace


def raising(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize(
    ("family", "code"),
    [
        (InputError, 3),
        (FormatError, 3),
        (IntegrityError, 4),
        (UnsafeFileError, 4),
        (ResourceError, 5),
        (NumericalError, 7),
    ],
)
def test_errors_of_the_library_end_in_one_line_and_their_code(
    replace_command, run_cli, family, code
):
    replace_command(raising(family("AGC-I000", "the thing is wrong", got=3, fix="mend it")))
    outcome = run_cli("work")
    assert outcome.code == code
    assert outcome.stdout == ""
    assert outcome.stderr == "adagcn: error: the thing is wrong; got 3. Mend it [AGC-I000]\n"


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), 5, "memory"),
        (PermissionError(13, "Permission denied", "x.csv"), 5, "x.csv"),
        (KeyError("lost"), 1, "unexpected KeyError: 'lost'. Run again with --debug"),
    ],
)
def test_other_errors_are_one_line_too(replace_command, run_cli, error, code, words):
    replace_command(raising(error))
    outcome = run_cli("work")
    assert outcome.code == code
    assert outcome.stderr.startswith("adagcn: error: ")
    assert outcome.stderr.count("\n") == 1
    assert words in outcome.stderr


def test_an_interrupted_command_says_so(replace_command, run_cli):
    replace_command(raising(KeyboardInterrupt()))
    outcome = run_cli("work")
    assert (outcome.code, outcome.stdout, outcome.stderr) == (130, "", "adagcn: interrupted\n")


@pytest.mark.parametrize("existed", [False, True])
def test_an_interrupted_command_says_that_its_file_was_not_written(
    replace_command, run_cli, tmp_path, existed
):
    out = tmp_path / "model.adagcn"
    if existed:
        out.touch()

    def work():
        current_state().out = out
        raise KeyboardInterrupt

    replace_command(work)
    rest = "" if existed else f"; {out} was not written"
    assert run_cli("work").stderr == f"adagcn: interrupted{rest}\n"


def test_a_command_that_said_that_it_was_interrupted_does_not_say_it_twice(
    replace_command, run_cli
):
    def work():
        note("interrupted; 3 new runs are kept in l.sqlite")
        raise KeyboardInterrupt

    replace_command(work)
    outcome = run_cli("work")
    assert outcome.code == 130
    assert outcome.stderr == "adagcn: note: interrupted; 3 new runs are kept in l.sqlite\n"


@pytest.mark.parametrize("where", ["before", "after"])
def test_quiet_leaves_out_notes_but_not_errors(replace_command, run_cli, where):
    def work():
        note("of no use")
        warn_twice()
        raise InputError("AGC-I000", "the thing is wrong")

    replace_command(work)
    words = ["--quiet", "work"] if where == "before" else ["work", "--quiet"]
    outcome = run_cli(*words)
    assert outcome.stderr == "adagcn: error: the thing is wrong [AGC-I000]\n"
    assert "note" in run_cli("work").stderr


@pytest.mark.parametrize("words", [["--debug", "work"], ["work", "--debug"]])
def test_debug_shows_the_trace_at_either_place(replace_command, run_cli, words):
    replace_command(raising(KeyError("lost")))
    outcome = run_cli(*words)
    assert outcome.code == 1
    assert "Traceback" in outcome.stderr


def test_debug_by_environment(replace_command, run_cli, monkeypatch):
    replace_command(raising(InputError("AGC-I000", "wrong")))
    monkeypatch.setenv("ADAGCN_DEBUG", "1")
    assert "Traceback" in run_cli("work").stderr
    monkeypatch.setenv("ADAGCN_DEBUG", "0")
    assert "Traceback" not in run_cli("work").stderr


def test_escapes_in_a_message_do_not_reach_the_terminal(replace_command, run_cli):
    replace_command(raising(InputError("AGC-I000", "node 'a\x1b[2J\nb' is unknown")))
    outcome = run_cli("work")
    assert "\x1b" not in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def warn_twice():
    for _ in range(2):
        warnings.warn("3 self-loops were removed", GraphNotice, stacklevel=1)
        warnings.warn("someone else's business", UserWarning, stacklevel=1)


def test_warnings_of_the_library_are_notes_shown_once(replace_command, run_cli):
    replace_command(warn_twice)
    outcome = run_cli("work")
    assert outcome.code == 0
    assert outcome.stderr == "adagcn: note: 3 self-loops were removed\n"


def test_debug_shows_the_warnings_of_other_libraries(replace_command, run_cli):
    replace_command(warn_twice)
    outcome = run_cli("work", "--debug")
    assert outcome.stderr.count("UserWarning: someone else's business") == 1


def test_the_process_gets_its_warnings_and_signals_back(replace_command, run_cli):
    before = warnings.showwarning, list(warnings.filters), signal.getsignal(signal.SIGTERM)
    replace_command(warn_twice)
    run_cli("work")
    after = warnings.showwarning, list(warnings.filters), signal.getsignal(signal.SIGTERM)
    assert before == after


_SLEEPER = """
import sys, time, typer
from adagcn.cli import guard

def work() -> None:
    print("ready", flush=True)
    time.sleep(60)

guard.app = typer.Typer()
guard.app.command()(work)
sys.exit(guard.run_guarded(["--"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated"), ("SIGHUP", 129, "hung up")],
)
def test_signals_end_the_process_with_one_line(number, code, word):
    process = subprocess.Popen(
        [sys.executable, "-c", _SLEEPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, number))
        _, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code
    assert stderr == f"adagcn: {word}\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("words", ["--help", "data list", "data list --json"])
def test_a_reader_that_leaves_early_is_no_error(words):
    command = f"{shlex.quote(sys.executable)} -m adagcn.cli {words} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

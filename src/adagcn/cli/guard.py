"""What surrounds a command: signals, warnings as notes, errors as one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, TextIO

from typer import Abort, TyperException

from adagcn.cli.app import app
from adagcn.cli.command_state import CommandState, running
from adagcn.cli.option_words import error_in_options, in_options
from adagcn.cli.output import note, one_line
from adagcn.errors import AdaGCNError, AdaGCNWarning

_INTERRUPTED = 128 + signal.SIGINT


class _Ended(BaseException):
    """A signal asked the process to end; not an Exception, so that nothing swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        self.word = "terminated" if number == signal.SIGTERM else "hung up"


def run_guarded(argv: Sequence[str]) -> int:
    """Run the command that ``argv`` names and return its exit code; see :mod:`adagcn.cli`."""
    state = CommandState(debug=os.environ.get("ADAGCN_DEBUG", "") not in ("", "0"))
    _survive_odd_encodings()
    with _ending_signals(), _warnings_as_notes(state), running(state), _same_streams():
        try:
            code = app(args=list(argv) or ["--help"], standalone_mode=False, prog_name="adagcn")
            sys.stdout.flush()
        except (BrokenPipeError, SystemExit) as error:  # Typer and rich exit on a broken pipe
            if not isinstance(error.__context__ or error, BrokenPipeError):
                raise
            _drop_stdout()
            return 0  # the reader, such as head, has seen enough
        except (Exception, KeyboardInterrupt, _Ended) as error:
            if state.debug:
                traceback.print_exc()
            return _report(error, state)
    if code == _INTERRUPTED:  # what Typer makes of Ctrl-C
        return _end_early("interrupted", _INTERRUPTED, state)
    return code if isinstance(code, int) else 0


def _report(error: BaseException, state: CommandState) -> int:
    """Print what happened on one line and return the exit code."""
    match error:
        case _Ended():
            return _end_early(error.word, error.exit_code, state)
        case KeyboardInterrupt() | Abort():
            return _end_early("interrupted", _INTERRUPTED, state)
        case AdaGCNError():
            return _fail(error_in_options(error), error.exit_code)
        case TyperException():
            return _fail(_usage(error), error.exit_code)
        case MemoryError():
            return _fail("not enough memory", 5)
        case OSError():
            return _fail(str(error), 5)
    return _fail(
        f"unexpected {type(error).__name__}: {error}. Run again with --debug for the traceback", 1
    )


def _end_early(word: str, code: int, state: CommandState) -> int:
    """Say that the command was ended, unless it said so itself, and what became of its file."""
    if not any(text.startswith("interrupted") for text in state.notes):
        unwritten = state.out is not None and not state.out.exists()
        rest = f"; {state.out} was not written" if unwritten else ""
        print(f"adagcn: {one_line(word + rest)}", file=sys.stderr)
    return code


def _usage(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = "adagcn" if context is None else context.command_path
    words = error.format_message().rstrip(".")
    for wrapping in ("Value error, ", "Input "):  # what the checker of types puts in front
        words = words.replace(f": {wrapping}", ": ")
    return f"{words} (see '{command} --help')"


def _fail(message: str, code: int) -> int:
    print(f"adagcn: error: {one_line(message)}", file=sys.stderr)
    return code


@contextmanager
def _ending_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an orderly end, unless the caller has other plans for them."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise _Ended(number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _warnings_as_notes(state: CommandState) -> Iterator[None]:
    """Show the library's warnings as notes, once each; other libraries' only with ``--debug``."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        ours = issubclass(category, AdaGCNWarning)
        text = f"{category.__name__}: {message} ({filename}:{lineno})"
        text = one_line(in_options(str(message)) if ours else text)
        if (ours or state.debug) and text not in state.notes:
            note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def _same_streams() -> Iterator[None]:
    """Take back the streams that Typer wraps when a pipe breaks."""
    streams = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def _survive_odd_encodings() -> None:
    """Let a terminal that cannot show a letter show its code point instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _drop_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush is silent."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)

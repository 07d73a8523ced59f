"""Recorded fits: a measurement of hours continues where it was stopped.

Each line of the file is a JSON object: what determines a fit (system, settings, graph, seed,
threads, processor, versions), and its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from adagcn.bench.machine import machine, versions
from adagcn.errors import FormatError, ResourceError
from adagcn.formats.atomic import write_bytes

Words = Mapping[str, Any]


class KeptFits:
    """Results by what determines them; the file is rewritten after every fit.

    Parameters
    ----------
    path : Path or None
        The file, which need not exist yet; None records nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[str] = []
        self._results: dict[str, dict[str, Any]] = {}
        if path is not None:
            self._read(path)

    def find(self, words: Words) -> dict[str, Any] | None:
        """Return the result of a fit, or None if it is not recorded."""
        return self._results.get(_key(words))

    def entries(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield every recorded fit: what determines it, and its result."""
        for key, result in self._results.items():
            yield json.loads(key), result

    def add(self, words: Words, result: Mapping[str, Any]) -> None:
        """Record a fit, at once."""
        key = _key(words)
        self._results[key] = dict(result)
        self._lines.append(f'{{"fit": {key}, "result": {json.dumps(result)}}}\n')
        if self._path is not None:
            write_bytes(self._path, "".join(self._lines).encode())

    def _read(self, path: Path) -> None:
        """Read the file, and check that it can be written before anything is measured."""
        try:
            path.touch()
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ResourceError(
                "AGC-R1201",
                f"{str(path)!r} cannot be read and written: {error.strerror}",
                fix="check the path given with --keep, and that its folder exists",
            ) from error
        except UnicodeDecodeError as error:
            raise _not_a_record(path, 1) from error
        self._lines = text.splitlines(keepends=True)
        for number, line in enumerate(self._lines, 1):
            try:
                entry = json.loads(line)
                self._results[_key(entry["fit"])] = dict(entry["result"])
            except (ValueError, KeyError, TypeError) as error:
                raise _not_a_record(path, number) from error


def _not_a_record(path: Path, number: int) -> FormatError:
    return FormatError(
        "AGC-F1202",
        f"line {number} of {str(path)!r} is not a recorded fit",
        fix="give --keep another file, or remove the line",
    )


def _key(words: Words) -> str:
    return json.dumps(words, sort_keys=True)


def circumstances() -> dict[str, Any]:
    """Return what determines a time besides the task: threads, processor and versions."""
    return {
        "threads": torch.get_num_threads(),
        "processor": machine()["processor"],
        "versions": versions(),
    }

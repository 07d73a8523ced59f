"""What a command did, in a file: ``--log``."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from adagcn.cli.output import note
from adagcn.errors import ResourceError


@dataclass(frozen=True)
class LogOption:
    """What a command did, in a file."""

    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Add a line of JSON to this file for every hop, block and layer: what was found "
            "finished, and what was done, on which machine.",
        ),
    ] = None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the log ``adagcn`` inside of the block; lines are added to those of a file."""
        if self.log is None:
            yield
            return
        logger, lines = logging.getLogger("adagcn"), _lines(self.log)
        before = logger.level
        logger.addHandler(lines)
        logger.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            logger.setLevel(before)
            logger.removeHandler(lines)
            with suppress(OSError):  # a full disk, which was told of
                lines.close()


class _Lines(logging.FileHandler):
    """Writes each message at once, so that a kill takes none along."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a message and its numbers as a JSON object."""
        numbers = record.args if isinstance(record.args, dict) else {}
        time = datetime.fromtimestamp(record.created, UTC).isoformat()
        said = {"time": time, "process": record.process, "text": record.getMessage()}
        return json.dumps({**said, **numbers})

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Say once that the file is not complete; the work itself goes on."""
        self.setLevel(logging.CRITICAL + 1)
        note(f"the log {self.baseFilename} is not complete: it could not be written")


def _lines(path: Path) -> logging.Handler:
    try:
        return _Lines(path, encoding="utf-8")
    except OSError as error:
        raise ResourceError(
            "AGC-R2103",
            f"the log {str(path)!r} could not be opened: {error.strerror}",
            fix="check the path given with --log, and that its folder exists",
        ) from error

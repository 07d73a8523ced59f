"""How a fit goes on after it was interrupted: ``--checkpoint``, ``--no-resume``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.output import note
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.graph import Graph


@dataclass(frozen=True)
class CheckpointOptions:
    """How a fit goes on after it was interrupted."""

    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Keep finished layers here until the command is done. If it is interrupted, run "
            "it again to go on after the last one.",
            show_default="inside the store; none for a graph in memory",
        ),
    ] = None
    no_resume: Annotated[
        bool,
        typer.Option("--no-resume", help="Start over, even if an interrupted fit could go on."),
    ] = False

    def callbacks(self, graph: Graph) -> list[Any]:
        """Return what a fit needs to be told; nothing where it does what it would do anyway."""
        if self.checkpoint is None and not self.no_resume:
            return []
        if self.checkpoint is None and graph.store is None:
            raise InputError(
                "AGC-I1707",
                "--no-resume would do nothing: a fit on a graph in memory keeps no layers",
                got=repr(graph),
                fix="name a folder with --checkpoint, or leave it out",
            )
        from adagcn.training.events import Checkpoint

        return [Checkpoint(self.checkpoint or "auto", resume=not self.no_resume)]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what fits have finished until the command is done; say so if it is interrupted."""
        from adagcn.models.support.checkpoints import KeptFits, kept_until_done

        fits = KeptFits()
        try:
            with kept_until_done(fits):
                yield
        except BaseException as error:
            if not isinstance(error, Exception) and fits.any_layer:
                note("interrupted; finished layers are kept: run the same command again to go on")
            raise

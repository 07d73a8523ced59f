"""Where work that falls into parts is done: ``--workers``, ``--engine``, ``--address``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.engines import Engine
    from adagcn.graph import Graph


@dataclass(frozen=True)
class EngineOptions:
    """Who does the parts of some work."""

    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, max=256, help="How many at the same time."),
    ] = 1
    engine: Annotated[
        Literal["serial", "processes", "ray"] | None,
        typer.Option(
            "--engine",
            help="Where they run.",
            show_default="processes for more than one worker, else serial",
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="HOST:PORT", help="A running Ray cluster; auto: of this machine."
        ),
    ] = None

    def make_engine(self, train_workers: int = 1) -> Engine:
        """Return the engine, which may also train layers."""
        from adagcn.engines import engine_named

        return engine_named(
            self.engine, workers=self.workers, address=self.address, train_workers=train_workers
        )

    def for_hops(self, graph: Graph, train_workers: int = 1) -> AbstractContextManager[None]:
        """Let hops of a stored graph use the engine; refuse options that would do nothing."""
        from adagcn.engines import using

        engine = self.engine_of(repr(graph), is_stored=graph.store is not None, also=train_workers)
        return using(engine)

    def engine_of(self, graph: str, *, is_stored: bool, also: int = 1) -> Engine:
        """Return the engine for a graph, and ``also`` workers that train; nothing is started."""
        given = {
            "--workers": self.workers != 1,
            "--engine": self.engine is not None,
            "--address": self.address is not None,
            "--train-workers": also != 1,
        }
        if not is_stored and any(given.values()):
            names = ", ".join(name for name, is_given in given.items() if is_given)
            raise InputError(
                "AGC-I1431",
                f"{names} would do nothing: hops of a graph in memory are not made in parts",
                got=graph,
                fix="put the graph into a store first (adagcn store build), or leave them out",
            )
        return self.make_engine(also)

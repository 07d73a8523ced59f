"""Runs many independent items: one after another, in processes, or as tasks of Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from adagcn.engines.processes import Processes
from adagcn.errors import InputError

__all__ = ["Engine", "EngineName", "Serial", "current_engine", "engine_named", "using"]

EngineName = Literal["serial", "processes", "ray"]


class Engine(Protocol):
    """Where independent items are worked on."""

    def ready(self) -> AbstractContextManager[None]:
        """Keep what several calls of :meth:`map` need running inside of a block."""

    def map(
        self,
        fn: Callable[[Any, Any], Any],
        items: Sequence[Any],
        shared: Any,
        *,
        on_result: Callable[[int, Any], None],
        retries: int = 2,
    ) -> None:
        """Call ``fn(item, shared)`` for every item and pass on each result as soon as it is ready.

        An item that fails does not stop the others: the first error is raised when all are done. An
        error in ``on_result`` ends everything at once, as does Ctrl-C.

        Parameters
        ----------
        fn : callable
            What to do with an item; where it runs elsewhere, a function defined in a module.
        items : sequence
            The items.
        shared : object
            What every call needs; sent to each process or machine once.
        on_result : callable
            Called in this process, one call at a time, with an item's position and result.
        retries : int
            How often an item is tried again after a worker died in its company.

        Raises
        ------
        ResourceError
            Workers died repeatedly.
        Exception
            The first error of ``fn``, as it was raised.
        """


@dataclass(frozen=True)
class Serial:
    """One item after another, in this process; see :class:`Engine`."""

    def ready(self) -> AbstractContextManager[None]:
        """Do nothing: there is nothing to start."""
        return nullcontext()

    def map(
        self,
        fn: Callable[[Any, Any], Any],
        items: Sequence[Any],
        shared: Any,
        *,
        on_result: Callable[[int, Any], None],
        retries: int = 2,  # nobody dies here but ourselves
    ) -> None:
        """Call ``fn(item, shared)`` for every item; see :meth:`Engine.map`."""
        errors = []
        for position, item in enumerate(items):
            try:
                result = fn(item, shared)
            except Exception as error:  # the others are still worth having
                errors.append(error)
            else:
                on_result(position, result)
        if errors:
            raise errors[0]


_current: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current_engine() -> Engine:
    """Return the engine of the :func:`using` block around the call, else a serial one."""
    return _current.get() or Serial()


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Let what computes block by block use an engine inside of this block."""
    with engine.ready():
        before = _current.set(engine)
        try:
            yield
        finally:
            _current.reset(before)


def engine_named(
    name: str | None = None, *, workers: int = 1, address: str | None = None, train_workers: int = 1
) -> Engine:
    """Return an engine.

    Parameters
    ----------
    name : {"serial", "processes", "ray"} or None
        None: ``"ray"`` with an address, else ``"serial"`` for one worker and ``"processes"`` for
        more.
    workers : int
        How many items at a time; on a running cluster of Ray, its CPUs decide.
    address : str, optional
        Of a running cluster of Ray.
    train_workers : int
        Workers of Ray Train that train a layer together.
    """
    if workers < 1:
        raise InputError("AGC-I900", "workers must be at least 1", got=workers, fix="use 1")
    if name is None:
        name = "ray" if address is not None else "serial" if workers == 1 else "processes"
    if name not in get_args(EngineName):
        known = ", ".join(get_args(EngineName))
        raise InputError("AGC-I926", f"the engine must be one of {known}", got=name)
    if address is not None and name != "ray":
        raise InputError(
            "AGC-I927", "--address is of a Ray cluster", got=f"engine {name}", fix="use ray"
        )
    if train_workers != 1 and (name != "ray" or train_workers < 1):
        raise InputError(
            "AGC-I1714",
            "--train-workers are 1, or more on the engine ray",
            got=f"{train_workers} on engine {name}",
            fix="add --engine ray, or leave it out",
        )
    if name == "serial" and workers > 1:
        raise InputError(
            "AGC-I928",
            "the engine 'serial' has one worker",
            got=f"{workers} workers",
            fix="use processes or ray, or one worker",
        )
    if name == "ray":
        from adagcn.engines.ray_cluster import RayTasks

        return RayTasks(workers, address, train_workers)
    return Serial() if name == "serial" else Processes(workers)

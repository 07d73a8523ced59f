"""Items in parallel, in worker processes that end with an interrupt or with their driver."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from adagcn.errors import ResourceError, counted

# Read by numeric libraries when they are loaded: workers side by side get one thread each.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

logger = logging.getLogger("adagcn")

_Ticket = tuple[int, Any]  # an item's position and the item


@dataclass(frozen=True)
class Processes:
    """Runs items in worker processes of this machine; see :class:`adagcn.engines.Engine`.

    When a worker dies, the items in flight are put aside and the others go on in a new pool. Those
    put aside are then tried alone: a death has one possible cause then.

    Parameters
    ----------
    workers : int
        Processes; each computes with one thread.
    """

    workers: int

    def ready(self) -> AbstractContextManager[None]:
        """Do nothing: every call of ``map`` has a pool of its own, with what its items share."""
        return nullcontext()

    def map(
        self,
        fn: Callable[[Any, Any], Any],
        items: Sequence[Any],
        shared: Any,
        *,
        on_result: Callable[[int, Any], None],
        retries: int = 2,
    ) -> None:
        """Call ``fn(item, shared)`` for every item; see :meth:`adagcn.engines.Engine.map`."""
        driver = _Driver(fn, shared, on_result)
        queue = deque(enumerate(items))
        suspects: list[_Ticket] = []
        tries = retries + 1
        barren = 0  # pools in a row that died before they finished anything
        while queue and barren < tries:
            finished = driver.n_finished
            suspects += driver.drain(queue, min(self.workers, len(queue)))
            barren = barren + 1 if driver.n_finished == finished else 0
        deadly = list(queue) or [each for each in suspects if not _survives(driver, each, tries)]
        if deadly:
            raise ResourceError(
                "AGC-R901",
                f"worker processes died repeatedly on {len(deadly):,} of "
                f"{counted(len(items), 'item')}",
                got=f"first item: {deadly[0][1]}",
                fix="free memory or use fewer workers, and run again to continue",
            )
        if driver.errors:
            raise driver.errors[0]


def _survives(driver: _Driver, ticket: _Ticket, tries: int) -> bool:
    """Return whether an item can be done alone, in a few tries."""
    for _ in range(tries):
        queue = deque([ticket])
        if not driver.drain(queue, 1) and not queue:
            return True
    return False


@dataclass
class _Driver:
    """Hands out items and takes results, whatever pool is alive."""

    fn: Callable[[Any, Any], Any]
    shared: Any
    on_result: Callable[[int, Any], None]
    errors: list[BaseException] = field(default_factory=list)
    n_finished: int = 0

    def drain(self, queue: deque[_Ticket], workers: int) -> list[_Ticket]:
        """Run the queue in one pool; return what was in flight if the pool died, else nothing."""
        flying: dict[Future[Any], _Ticket] = {}
        with _pool(self.fn, self.shared, workers) as pool:
            while queue or flying:
                # No more in flight than workers: then what a death takes along is known.
                while queue and len(flying) < workers:
                    try:
                        with _inheritance():
                            future = pool.submit(_call, queue[0][1])
                    except BrokenProcessPool:
                        return self._lost(flying)
                    flying[future] = queue.popleft()
                wait(flying, return_when=FIRST_COMPLETED)
                lost = self._lost(flying)
                if lost:
                    return lost
        return []

    def _lost(self, flying: dict[Future[Any], _Ticket]) -> list[_Ticket]:
        """Take what is done out of ``flying``; if the pool is dead, return what died with it."""
        if any(_died(future) for future in flying if future.done()):
            wait(flying)
        lost = []
        for future in [each for each in flying if each.done()]:
            ticket = flying.pop(future)
            if _died(future):
                lost.append(ticket)
            else:
                self._take(ticket[0], future)
        if lost:
            facts = {"event": "lost", "items": len(lost)}
            logger.info("a worker died: %(items)d items are done again", facts)
        return lost

    def _take(self, position: int, future: Future[Any]) -> None:
        self.n_finished += 1
        error = future.exception()
        if error is None:
            self.on_result(position, future.result())
        else:
            self.errors.append(error)


def _died(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


@contextmanager
def _pool(
    fn: Callable[[Any, Any], Any], shared: Any, workers: int
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool whose workers end at once when the block is left by an exception."""
    context = multiprocessing.get_context("spawn")  # fork and threads do not go together
    # Only the driver holds the writing end. It closes when the driver closes it or dies, and a
    # worker that sees it closed ends, whatever it is doing.
    lifeline, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start, initargs=(fn, shared, lifeline)
    )
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        end.close()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        end.close()
        lifeline.close()


@contextmanager
def _inheritance() -> Iterator[None]:
    """Let processes started meanwhile have one thread and never see Ctrl-C: the driver does."""
    before = {name: os.environ.get(name) for name in _THREADS}
    blocking = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocking else set()
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name in _THREADS:
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if value is not None})
        if blocking:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# In a worker

_work: dict[str, Any] = {}


def _start(fn: Callable[[Any, Any], Any], shared: Any, lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_driver, args=(lifeline,), daemon=True).start()
    _work.update(fn=fn, shared=shared)


def _end_with_driver(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except EOFError:
        os._exit(1)


def _call(item: Any) -> Any:
    return _work["fn"](item, _work["shared"])

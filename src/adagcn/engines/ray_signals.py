"""Signals while this process is connected to Ray: each does what it did before."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

_Handler = Callable[[int, FrameType | None], Any] | int


@contextmanager
def signals_kept() -> Iterator[Callable[[], None]]:
    """Let the handlers of this process end a block, which calls what it gets once Ray runs.

    Ray replaces the handler of SIGTERM by one that aborts the process. And while it waits, it hears
    of KeyboardInterrupt alone: whatever else a handler raises is lost. So the handlers raise
    KeyboardInterrupt inside of the block. However it ends then, their own exception comes out.
    """
    handlers = _handlers()
    raised: list[BaseException] = []

    def hear(number: int, frame: FrameType | None) -> None:
        handler = handlers[number]
        assert callable(handler)
        try:
            handler(number, frame)
        except BaseException as error:
            raised.append(error)
            raise KeyboardInterrupt from error

    def take() -> None:
        for number, handler in handlers.items():
            signal.signal(number, hear if callable(handler) else handler)

    try:
        yield take
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if raised:
            raise raised[0] from None


def _handlers() -> dict[int, _Handler]:
    """Return the handlers that Python can set again; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in _ENDING}
    return {number: handler for number, handler in found.items() if handler is not None}

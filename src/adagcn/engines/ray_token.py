"""Which mode of authentication a running cluster of Ray has, and whether it takes our token.

All processes of a cluster must have the same mode (``RAY_AUTH_MODE``): a driver that demands tokens
refuses workers that send none. For ``"host:port"`` Ray does not turn tokens on by itself, so the
cluster is asked. A token file here does not tell: whenever Ray starts for one process alone, it
leaves one in ``~/.ray/auth_token``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adagcn.errors import ResourceError

MODE = "RAY_AUTH_MODE"
_ASK_WITHIN = 30.0  # seconds, to load Ray and to ask; Ray itself goes on for minutes
_REFUSED = 3  # neither a traceback (1) nor Ray's own end of a process ends with it
# In a process of its own: Ray keeps the mode in which it was imported, and reports every refusal on
# standard error. It would end that process where it is to show a token and has none.
_ASK = f"""
import sys
try:
    from ray.exceptions import AuthenticationError
    from ray._raylet import AuthenticationMode, AuthenticationTokenLoader, GcsClient
    from ray._raylet import get_authentication_mode
except ImportError:  # Ray before 2.52 has no tokens
    sys.exit()
try:
    has_token = AuthenticationTokenLoader.instance().has_token()
    if get_authentication_mode() == AuthenticationMode.TOKEN and not has_token:
        sys.exit({_REFUSED})
    GcsClient(address=sys.argv[1])
except AuthenticationError:
    sys.exit({_REFUSED})
"""


def mode_at(address: str) -> str:
    """Return the mode of a cluster that takes us; a mode that the user has set is not changed.

    Raises
    ------
    ResourceError
        The cluster refuses us.
    ConnectionError
        What listens there is no cluster of Ray.
    """
    given = os.environ.get(MODE)
    for mode in ("disabled", "token") if given is None else (given,):
        answer = _answer(address, mode)
        if answer == 0:
            return mode
        if answer != _REFUSED:
            raise ConnectionError("what listens there does not answer as Ray does")
    raise refused(address)


def _answer(address: str, mode: str) -> int:
    try:
        return subprocess.run(
            [sys.executable, "-c", _ASK, address],
            env={**os.environ, MODE: mode},
            capture_output=True,
            timeout=_ASK_WITHIN,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        raise ConnectionError(
            f"what listens there did not answer as Ray does within {_ASK_WITHIN:g} seconds"
        ) from None


@contextmanager
def in_mode(ray: Any, mode: str | None) -> Iterator[None]:
    """Have Ray in a mode inside of a block; None leaves it to Ray.

    What Ray sets by itself is taken back as well: the next cluster may have another mode. And the
    token is read again, which may be another by now.
    """
    before = os.environ.get(MODE)
    if mode is not None:
        _set(ray, mode)
    if hasattr(ray._raylet, "AuthenticationTokenLoader"):  # Ray 2.52
        ray._raylet.AuthenticationTokenLoader.instance().reset_cache()
    try:
        yield
    finally:
        _set(ray, before)


def _set(ray: Any, mode: str | None) -> None:
    if os.environ.get(MODE) == mode:
        return
    if mode is None:
        del os.environ[MODE]
    else:
        os.environ[MODE] = mode
    ray._raylet.Config.initialize("")  # reads the variable again


def tells_of_a_refusal(error: BaseException) -> bool:
    """Return whether Ray could not connect because of a token."""
    return "AuthenticationError" in f"{error!r} {error.__cause__}"


def refused(address: str | None) -> ResourceError:
    """Return the error for a cluster that refuses us."""
    return ResourceError(
        "AGC-R929",
        "the Ray cluster refuses this process, whose token (RAY_AUTH_TOKEN, or else "
        "~/.ray/auth_token) is missing or not the cluster's",
        got=address,
        fix="copy that file from the machine where 'ray start --head' ran, export "
        f"{MODE}=token, and run again",
    )

"""Downloads: fetched into a temporary folder, verified, and only then moved into place."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from adagcn.data.catalog import DataFile
from adagcn.data.digests import check_digest, is_genuine
from adagcn.errors import AdaGCNError, ResourceError, UnsafeFileError

_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class FetchPolicy:
    """How patient a download is.

    Parameters
    ----------
    attempts : int
        How often a transfer is tried.
    backoff : float
        Seconds before the second attempt; doubled before each further one.
    timeout : float
        Seconds without a byte after which an attempt fails.
    max_seconds : float
        Seconds after which an attempt fails even if bytes still arrive.
    max_bytes : int
        Longest answer that is accepted.
    """

    attempts: int = 3
    backoff: float = 1.0
    timeout: float = 30.0
    max_seconds: float = 900.0
    max_bytes: int = 256 * 2**20


DEFAULT_POLICY = FetchPolicy()


def cache_folder() -> Path:
    """Return the user's folder for downloaded data sets; it need not exist yet."""
    import pooch

    return Path(pooch.os_cache("adagcn"))


def is_offline(offline: bool | None) -> bool:
    """Return ``offline``; if that is None, what the variable ``ADAGCN_OFFLINE`` says."""
    if offline is not None:
        return offline
    return os.environ.get("ADAGCN_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def fetch(
    file: DataFile,
    folder: Path,
    *,
    offline: bool | None = None,
    policy: FetchPolicy = DEFAULT_POLICY,
) -> Path:
    """Download a file whose digest is known.

    Parameters
    ----------
    file : DataFile
        The file to download.
    folder : Path
        Where to put it; created if missing.
    offline : bool, optional
        Never use the network; by default as the environment variable ``ADAGCN_OFFLINE`` says.
    policy : FetchPolicy
        Attempts, waiting times and the largest size.

    Returns
    -------
    Path
        The verified file under its final name.

    Raises
    ------
    ResourceError
        If the network, the server or the disk fails, or the network may not be used.
    IntegrityError
        If the digest is wrong twice; the last download is kept as ``*.bad``.
    UnsafeFileError
        If the answer is too long or redirects away from the web.
    """
    target = folder / file.name
    if file.url is None or not file.digests or is_offline(offline):
        raise ResourceError(
            "AGC-R260",
            f"the file {file.name} was not found and may not be downloaded",
            got="offline mode" if is_offline(offline) else "no address with a known digest",
            fix=_by_hand(target),
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".adagcn-", dir=folder) as room:
            draft = Path(room) / file.name
            _download_genuine(file.url, draft, target, file.digests, policy)
            draft.replace(target)
    except AdaGCNError:
        raise
    except OSError as error:
        raise ResourceError(
            "AGC-R261",
            f"the file {str(target)!r} could not be stored: {error.strerror or error}",
            fix="check that the folder is writable and the disk not full, or pass another data_dir",
        ) from error
    return target


def _download_genuine(
    url: str, draft: Path, target: Path, digests: Collection[str], policy: FetchPolicy
) -> None:
    """Download until the digest fits, at most twice; keep the last wrong bytes for inspection."""
    for _ in range(2):
        _download(url, draft, target, policy)
        if is_genuine(draft, digests):
            return
    kept = target.with_name(f"{target.name}.bad")
    draft.replace(kept)
    page = b"<html" in kept.read_bytes()[:1024].lower()
    check_digest(
        kept,
        digests,
        fix="the server sent a web page: check whether a login or proxy is in the way"
        if page
        else f"try again later, or get the file elsewhere and save it as {target}",
    )


def _download(url: str, draft: Path, target: Path, policy: FetchPolicy) -> None:
    """Download once, trying again after failures that may pass."""
    from requests.exceptions import RequestException

    for attempt in range(policy.attempts):
        if attempt:
            time.sleep(policy.backoff * 2 ** (attempt - 1))
        try:
            with draft.open("wb") as handle:
                _transfer(url, handle, policy)
            return
        except RequestException as error:
            failure = error
            if not _may_pass(error):
                break
    raise ResourceError(
        "AGC-R262",
        f"{url} could not be downloaded: {_in_words(failure)} (attempts: {attempt + 1})",
        fix=f"check the network, or {_by_hand(target)}",
    ) from failure


def _in_words(error: Exception) -> str:
    """Return why a transfer failed, without the chain of causes that such errors carry."""
    from requests.exceptions import ChunkedEncodingError, SSLError, Timeout
    from requests.exceptions import ConnectionError as NoConnection

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}".rstrip()
    if isinstance(error, Timeout):
        return "no answer in time"
    if isinstance(error, SSLError):
        return f"the server's certificate was not accepted ({error})"
    if isinstance(error, ChunkedEncodingError):
        return "the connection was lost"
    if isinstance(error, NoConnection):
        return "the server could not be reached"
    return str(error)


def _by_hand(target: Path) -> str:
    """Return how a user can provide the file without a download."""
    return f"put {target.name} into {target.parent} or into the folder that ADAGCN_DATA names"


def _transfer(url: str, handle: BinaryIO, policy: FetchPolicy) -> None:
    """Copy the answer to ``handle`` through pooch, whose requests verify TLS certificates."""
    import pooch
    from requests import Response
    from requests.exceptions import InvalidSchema, RequestException

    answers: list[Response] = []
    downloader = pooch.HTTPDownloader(
        chunk_size=2**16,
        timeout=policy.timeout,
        # The files are compressed already; a compressed answer could unfold.
        headers={"Accept-Encoding": "identity"},
        hooks={"response": lambda answer, **_: answers.append(answer)},
    )
    try:
        downloader(url, _Capped(handle, url, policy), None)
    except InvalidSchema as error:
        raise UnsafeFileError(
            "AGC-U263",
            f"{url} redirects to an address that is not on the web",
            got=str(error),
            fix="do not use this address",
        ) from error
    except (RequestException, AdaGCNError):
        raise
    except ValueError as error:
        raise ResourceError(
            "AGC-R266",
            f"{url} sent an invalid answer ({error})",
            fix="try again later, or download the file yourself",
        ) from error
    finally:
        for answer in answers:  # pooch leaves the connection open when a transfer fails
            answer.close()
    handle.flush()
    os.fsync(handle.fileno())


def _may_pass(error: Exception) -> bool:
    """Return whether trying again makes sense: not for addresses that are simply wrong."""
    response = getattr(error, "response", None)
    return response is None or response.status_code in _TRANSIENT_STATUS


class _Capped:
    """A file that refuses more bytes or more time than a data set can need."""

    def __init__(self, handle: BinaryIO, url: str, policy: FetchPolicy) -> None:
        self._handle = handle
        self._url = url
        self._policy = policy
        self._deadline = time.monotonic() + policy.max_seconds
        self._written = 0

    def write(self, chunk: bytes) -> None:
        self._written += len(chunk)
        if self._written > self._policy.max_bytes:
            raise UnsafeFileError(
                "AGC-U264",
                f"{self._url} sends more than the {self._policy.max_bytes:,} bytes allowed",
                fix="do not use this address: no data set of the catalog is that large",
            )
        if time.monotonic() > self._deadline:
            raise ResourceError(
                "AGC-R265",
                f"{self._url} took more than {self._policy.max_seconds:g} seconds",
                fix="try again later, or download the file yourself",
            )
        self._handle.write(chunk)

    def flush(self) -> None:
        self._handle.flush()

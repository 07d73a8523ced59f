"""Whether a file holds the expected bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from adagcn.errors import IntegrityError, ResourceError

_CHUNK = 2**20


def file_digest(path: Path, kind: str = "sha256") -> str:
    """Return the digest of a file, prefixed with its kind.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"sha256", "git-blob"}
        ``"git-blob"`` is git's own id of a file: the SHA-1 of a short header and the bytes.

    Returns
    -------
    str
        For example ``"sha256:9c72…"``.
    """
    try:
        with path.open("rb") as handle:
            if kind == "git-blob":
                content = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
            else:
                content = hashlib.new(kind)
            while chunk := handle.read(_CHUNK):
                content.update(chunk)
    except OSError as error:
        raise ResourceError(
            "AGC-R240",
            f"the file {str(path)!r} could not be read: {error.strerror}",
            fix="check that you may read it, and the disk that it is on",
        ) from error
    return f"{kind}:{content.hexdigest()}"


def is_genuine(path: Path, accepted: Collection[str]) -> bool:
    """Return whether the file has one of the accepted digests."""
    return any(file_digest(path, digest.split(":")[0]) == digest for digest in accepted)


def check_digest(path: Path, accepted: Collection[str], *, fix: str) -> None:
    """Refuse a file that has none of the accepted digests.

    Parameters
    ----------
    path : Path
        The file.
    accepted : collection of str
        Digests as :func:`file_digest` writes them.
    fix : str
        What the user can do about another file.

    Raises
    ------
    IntegrityError
        Naming the file, the accepted digests and the file's own.
    """
    if not is_genuine(path, accepted):
        kinds = sorted({digest.split(":")[0] for digest in accepted})
        raise IntegrityError(
            "AGC-G241",
            f"the file {str(path)!r} is not the one expected, with digest "
            f"{' or '.join(sorted(accepted))}",
            got=" / ".join(file_digest(path, kind) for kind in kinds),
            fix=fix,
        )

"""What the disk of a store has room for, and what earlier fits have left there already."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from adagcn.engines.memory import ASKED_DISK, asked_disk, in_gib
from adagcn.propagation.cut_rows import FOLDER

# What a fit writes to a store: the names of folders, and files without a name.
HOPS, BLOCKS, FITS, ROWS = "hops", FOLDER, "fits", ""


@dataclass(frozen=True)
class DiskRoom:
    """The disk that a store is on.

    Parameters
    ----------
    store : Path
        The folder of the store.
    free : int
        Bytes that are free where its hops are written, or that a fit may write.
    words : str
        Who says so, the beginning of a sentence; ``{size}`` stands for the bytes.
    """

    store: Path
    free: int
    words: str = "its disk has {size} free"

    @classmethod
    def of(cls, store: Path | None) -> DiskRoom | None:
        """Return the room for a store; None if there is no store or nobody tells.

        ``ADAGCN_DISK_LIMIT`` in the environment stands in for what the system says.
        """
        asked = asked_disk()
        if store is None or asked == "none":
            return None
        if asked is not None:
            return cls(store, asked, f"{ASKED_DISK} allows {{size}}")
        hops = store / HOPS  # may be a link to another disk
        with suppress(OSError):
            return cls(store, shutil.disk_usage(hops if hops.is_dir() else store).free)
        return None

    def __str__(self) -> str:
        """Return the room in words, such as ``its disk has 8.0 GiB free``."""
        return self.words.format(size=disk_words(self.free))

    @cached_property
    def left(self) -> Mapping[str, int]:
        """Bytes that are in each folder, of fits that were interrupted or for all fits."""
        return {name: _bytes_in(self.store / name) for name in (HOPS, BLOCKS, FITS)}

    def missing(self, needed: Mapping[str, float]) -> float:
        """Return the bytes that are still to be written, of those needed in each folder.

        What a folder holds counts as a part of it, whatever fit it is of: a fit that would have
        room is never refused for it.
        """
        return sum(max(n_bytes - self.left.get(name, 0), 0.0) for name, n_bytes in needed.items())


def disk_words(n_bytes: float) -> str:
    """Return a number of bytes in GiB, or in MiB where that would round most of it away.

    >>> disk_words(3 * 2**30), disk_words(4 * 2**20)
    ('3.0 GiB', '4.00 MiB')
    """
    return in_gib(n_bytes) if n_bytes >= 0.1 * 2**30 else f"{n_bytes / 2**20:,.2f} MiB"


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # gone meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total

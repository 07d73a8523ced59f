"""How many different values a long column has, in little memory: exact for some, else about.

Values are hashed to 64 bits, and the smallest :data:`KEPT` hashes are kept ("k minimum values",
Bar-Yossef and others, 2002). Where fewer are different, the count is exact; else the k-th smallest
of n hashes is expected at k/n of their range, with a standard error of n/√k: 0.4 %.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

KEPT = 2**16

Hashes = NDArray[np.uint64]


class Distinct:
    """Counts different hashes as they come."""

    def __init__(self) -> None:
        self._smallest: Hashes = np.empty(0, dtype=np.uint64)

    def add(self, hashes: Hashes) -> None:
        """Take in further hashes."""
        if not self.is_exact:
            hashes = hashes[hashes < self._smallest[-1]]
        if len(hashes):
            self._smallest = np.union1d(self._smallest, hashes)[:KEPT]

    @property
    def is_exact(self) -> bool:
        """Whether all hashes so far are kept."""
        return len(self._smallest) < KEPT

    @property
    def count(self) -> int:
        """How many different ones there have been."""
        if self.is_exact:
            return len(self._smallest)
        return round((KEPT - 1) / (float(self._smallest[-1]) / 2.0**64))


def mixed(numbers: NDArray[Any]) -> Hashes:
    """Return integers as hashes (SplitMix64), different ones of different integers."""
    found = numbers.astype(np.int64, copy=False).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


def hashed_column(column: pa.Array) -> Hashes:
    """Return a hash of every value of a column of ids or labels; a number and its digits agree."""
    if pa.types.is_integer(column.type):
        return mixed(column.to_numpy(zero_copy_only=False))
    with suppress(pa.ArrowInvalid):  # not all of them are digits
        return mixed(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
    encoded = column.cast(pa.string()).dictionary_encode()
    hashes: Hashes = _hashed_texts(encoded.dictionary.to_pylist())
    return np.asarray(hashes[encoded.indices.to_numpy(zero_copy_only=False)])


def pairs(one: Hashes, other: Hashes, *, ordered: bool) -> Hashes:
    """Return a hash of every pair; where the order does not matter, both orders have one."""
    if not ordered:
        one, other = np.minimum(one, other), np.maximum(one, other)
    return mixed((one ^ ((other << np.uint64(1)) | (other >> np.uint64(63)))).view(np.int64))


def _hashed_texts(texts: Sequence[str]) -> Hashes:
    found = np.empty(len(texts), dtype=np.uint64)
    numbers, places = [], []
    for place, text in enumerate(texts):
        plain = text.strip()
        if plain.removeprefix("-").isdecimal() and len(plain) < 19:
            numbers.append(int(plain))
            places.append(place)
        else:
            found[place] = _digest(plain)
    found[places] = mixed(np.array(numbers, dtype=np.int64))
    return found


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

"""Arrays in ``.npz`` files: never unpickled, and written to the same bytes each time."""

from __future__ import annotations

import io
import math
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adagcn.errors import (
    AdaGCNError,
    FormatError,
    InputError,
    IntegrityError,
    ResourceError,
    UnsafeFileError,
)
from adagcn.formats.atomic import atomic_file

# What a file may unpack to when the caller sets no limit: this much, or this many times its size.
_ALWAYS_ALLOWED_BYTES = 2 * 2**30
_ALLOWED_EXPANSION = 20
# The zip directory is read in one piece, arrays in far smaller ones; a longer read is an attack.
_LONGEST_READ = 2**20
_PART_BYTES = 2**22  # of an array that is read in parts
_MEMBER_NAME = re.compile(r"\w[\w .-]*\.npy")
_PLAIN_KINDS = "biufcSUmM"
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_END_RECORD_BYTES = 22  # the last record of a zip file, which counts the members
_EPOCH = (1980, 1, 1, 0, 0, 0)

_TO_PLAIN = (
    "if you trust the file, load it with numpy.load(..., allow_pickle=True), convert these arrays "
    "with astype(str) or to numbers (a sparse matrix to its data, indices, indptr and shape) and "
    "write it again with numpy.savez"
)

Member = zipfile.ZipInfo


class ArrayHeader(NamedTuple):
    """What a file says of one of its arrays."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """Return type and shape in a few letters, such as ``float32 (3, 4)``."""
        text = "object" if self.dtype.hasobject else "text" if self.dtype.kind in "US" else None
        return f"{text or self.dtype.name} {self.shape}"


def list_arrays(path: str | os.PathLike[str]) -> dict[str, ArrayHeader]:
    """Return the type and shape of every array of an ``.npz`` file, without reading any.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict of str to ArrayHeader
        By name, in the file's order; errors are those of :func:`read_npz`.
    """
    path = _checked_path(path)
    with _opened(path) as (archive, members):
        return {key: _checked_header(archive, member, path) for key, member in members.items()}


def read_npz(
    path: str | os.PathLike[str],
    *,
    keys: Collection[str] | None = None,
    required: Collection[str] = (),
    dispensable: Collection[str] = (),
    max_bytes: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file that may come from anywhere.

    Nothing is unpickled: object arrays are skipped unless they are asked for, and then refused.
    Sizes are checked before memory is allocated, and checksums before arrays are returned.

    Parameters
    ----------
    path : str or path-like
        The file.
    keys : collection of str, optional
        Names to read if they are there; all that are not object arrays by default.
    required : collection of str
        Names that must be there, in addition to ``keys``.
    dispensable : collection of str
        Further names to read, if they are there and are not object arrays.
    max_bytes : int, optional
        Limit on the total size of the arrays read. By default 2 GiB, or twenty times the file's
        size if that is more.

    Returns
    -------
    dict of str to ndarray
        The arrays in native byte order, in the file's order.

    Raises
    ------
    InputError
        If there is no such file.
    FormatError
        If the file is not an ``.npz`` file or lacks a required array.
    IntegrityError
        If it is truncated, or a checksum does not match.
    UnsafeFileError
        If an array asked for would have to be unpickled, or the file would exhaust memory.
    """
    path = _checked_path(path)
    with _opened(path) as (archive, members):
        _check_required(members, required, path)
        asked = {*(members if keys is None else keys), *required, *dispensable}
        wanted = _pick(members, asked)
        allowed = max(_ALWAYS_ALLOWED_BYTES, _ALLOWED_EXPANSION * path.stat().st_size)
        _check_total(wanted, path, allowed if max_bytes is None else max_bytes)
        may_skip = set(dispensable if keys is not None else members) - set(required)
        return _read_members(archive, wanted, may_skip, path)


def array_parts(
    path: str | os.PathLike[str], key: str, start: int, stop: int, whole: int = 1
) -> Iterator[NDArray[Any]]:
    """Yield some values of an array of numbers, in the order of the file, part by part.

    Parameters
    ----------
    path : str or path-like
        The file.
    key : str
        The name of the array, which :func:`list_arrays` has listed.
    start, stop : int
        Which of its values, counted row by row.
    whole : int
        Parts hold a multiple of so many values, such as a row.

    Yields
    ------
    ndarray of shape (n,)
        Values in native byte order. A damaged array is found when its end has been read.
    """
    path = _checked_path(path)
    with _opened(path) as (archive, members):
        _check_required(members, [key], path)
        dtype = _checked_header(archive, members[key], path).dtype
        if dtype.hasobject:
            raise _objects([key], path)
        with archive.open(members[key]) as stream:
            _, by_columns, _ = _READERS[npy.read_magic(stream)](stream)
            if by_columns:
                raise ValueError(f"{key} is stored column by column")
            for _ in _pieces(stream, start * dtype.itemsize):
                pass
            unit = whole * dtype.itemsize
            at_once = max(_PART_BYTES // unit, 1) * unit
            left = (stop - start) * dtype.itemsize
            while left:
                octets = b"".join(_pieces(stream, min(at_once, left)))
                left -= len(octets)
                yield np.frombuffer(octets, dtype).astype(dtype.newbyteorder("="), copy=False)
            if not stream.read(1):  # the end: zipfile has compared the checksum
                return


def _pieces(stream: IO[bytes], n_bytes: int) -> Iterator[bytes]:
    """Yield so many bytes, in reads that are short enough."""
    while n_bytes:
        piece = stream.read(min(n_bytes, _LONGEST_READ // 2))
        if not piece:
            raise EOFError("the array ends too early")
        n_bytes -= len(piece)
        yield piece


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Member]]]:
    """Open the file and check its directory; whatever is wrong inside is an error of ours."""
    try:
        with _open(path) as handle, zipfile.ZipFile(handle) as archive:
            _check_directory(handle, archive)
            yield archive, _members(archive, path)
    except AdaGCNError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _unreadable(path, error) from error
    except Exception as error:
        # Odd bytes surface as a dozen exception types of zipfile, tokenize and numpy.
        raise _no_npz(path, error) from error


def _unreadable(path: Path, error: Exception) -> AdaGCNError:
    """Return the error for a zip file that is cut off or damaged, or for what is none at all."""
    with _open(path) as handle:
        is_zip = handle.read(4) == b"PK\3\4"
    if not is_zip:
        return _no_npz(path, error)
    return IntegrityError(
        "AGC-G212",
        f"the file {str(path)!r} is truncated or damaged ({error})",
        fix="get the file again",
    )


def _no_npz(path: Path, error: Exception) -> FormatError:
    return FormatError(
        "AGC-F201",
        f"the file {str(path)!r} is not a readable .npz ({type(error).__name__}: {error})",
        fix="check that it was written by numpy.savez, or get it again",
    )


def write_npz(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a compressed ``.npz`` file; the same arrays give the same bytes.

    Parameters
    ----------
    path : str or path-like
        The file; it is written completely or not at all.
    arrays : mapping of str to ndarray
        The arrays by name; no object arrays.
    """
    for key, array in arrays.items():
        _check_writable(key, np.asarray(array))
    with atomic_file(path) as handle, zipfile.ZipFile(handle, "w") as archive:
        for key in sorted(arrays):
            array = np.asanyarray(arrays[key])
            member = Member(f"{key}.npy", _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # the default depends on the platform
            member.file_size = array.nbytes + 1024  # a hint: decides on the format for huge members
            with archive.open(member, "w") as stream:
                npy.write_array(stream, array, allow_pickle=False)


class _GuardedReader(io.BufferedReader):
    """A file that refuses reads so long that they could exhaust memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LONGEST_READ:
            raise UnsafeFileError(
                "AGC-U202",
                f"the directory inside {self.name!r} is longer than {_LONGEST_READ:,} bytes",
                got=size,
                fix="do not use this file; real graph files hold a few dozen arrays",
            )
        return super().read(size)


def _checked_path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        problem = "path must be the name of an .npz file"
        raise InputError("AGC-I216", problem, got=path, fix="give a string or a path")
    return Path(path)


def _open(path: Path) -> BinaryIO:
    try:
        return _GuardedReader(io.FileIO(path, "r"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        problem = "this is a folder, not an .npz file" if path.is_dir() else "there is no such file"
        raise InputError("AGC-I203", problem, got=str(path), fix="check the path") from error
    except OSError as error:
        raise ResourceError(
            "AGC-R204",
            f"the file {str(path)!r} could not be opened: {error.strerror}",
            fix="check that you may read it",
        ) from error


def _check_directory(handle: BinaryIO, archive: zipfile.ZipFile) -> None:
    """Refuse a directory that lists fewer members than it says; zipfile itself does not count."""
    handle.seek(-_END_RECORD_BYTES, os.SEEK_END)
    tail = handle.read()
    if tail[:4] != b"PK\5\6" or int.from_bytes(tail[10:12], "little") != len(archive.infolist()):
        raise zipfile.BadZipFile("its directory does not match its own count")


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, Member]:
    """Return the archive's members by key after checking their names."""
    members = archive.infolist()
    counts = Counter(member.filename.casefold() for member in members)
    for member in members:
        name = member.filename
        if ".." in name or not _MEMBER_NAME.fullmatch(name) or counts[name.casefold()] > 1:
            raise UnsafeFileError(
                "AGC-U205",
                f"the file {str(path)!r} has a member whose name is invalid or repeated",
                got=name,
                fix="write it again with numpy.savez, using plain and different names",
            )
        archive.open(member).close()  # compares the name with the one stored beside the data
    return {member.filename.removesuffix(".npy"): member for member in members}


def _pick(members: dict[str, Member], keys: Collection[str]) -> dict[str, Member]:
    return {key: member for key, member in members.items() if key in keys}


def _check_required(members: Collection[str], required: Collection[str], path: Path) -> None:
    missing = sorted(set(required) - set(members))
    if missing:
        raise FormatError(
            "AGC-F206",
            f"the file {str(path)!r} lacks {', '.join(missing)}",
            got=sorted(members)[:20],
            fix="check that it is a graph file with these keys",
        )


def _check_total(members: dict[str, Member], path: Path, allowed: int) -> None:
    declared = sum(member.file_size for member in members.values())
    if declared > allowed:
        raise UnsafeFileError(
            "AGC-U207",
            f"the file {str(path)!r} unpacks to {declared:,} bytes, more than the {allowed:,} "
            "allowed",
            fix="if you trust the file, allow more with max_bytes",
        )


def _read_members(
    archive: zipfile.ZipFile, members: dict[str, Member], may_skip: set[str], path: Path
) -> dict[str, NDArray[Any]]:
    dtypes = {key: _checked_header(archive, each, path).dtype for key, each in members.items()}
    objects = [key for key, dtype in dtypes.items() if dtype.hasobject]
    refused = [key for key in objects if key not in may_skip]
    if refused:
        raise _objects(refused, path)
    for key in objects:
        _drain(archive, members[key])
    return {key: _read_array(archive, members[key]) for key in members if key not in objects}


def _objects(keys: list[str], path: Path) -> UnsafeFileError:
    one = f"the array {keys[0]!r} of {str(path)!r} holds"
    several = f"the arrays {', '.join(map(repr, keys))} of {str(path)!r} hold"
    return UnsafeFileError(
        "AGC-U208",
        f"{one if len(keys) == 1 else several} Python objects, which could run code",
        fix=_TO_PLAIN,
    )


def _checked_header(archive: zipfile.ZipFile, member: Member, path: Path) -> ArrayHeader:
    """Return the member's header once it agrees with the size in the zip directory."""
    with archive.open(member) as stream:
        version = npy.read_magic(stream)
        if version not in _READERS:
            raise ValueError(f"array format {version} in {member.filename}")
        shape, _, dtype = _READERS[version](stream)
        held = member.file_size - stream.tell()
    if dtype.hasobject:
        return ArrayHeader(dtype, shape)
    needed = math.prod(shape) * dtype.itemsize
    if dtype.kind not in _PLAIN_KINDS or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise ValueError(f"dtype {dtype} of shape {shape} in {member.filename}")
    if needed != held:
        raise FormatError(
            "AGC-F209",
            f"the array {member.filename!r} of {str(path)!r} should have {needed:,} bytes",
            got=held,
            fix="get the file again; it may be damaged",
        )
    return ArrayHeader(dtype, shape)


def _read_array(archive: zipfile.ZipFile, member: Member) -> NDArray[Any]:
    with archive.open(member) as stream:
        # The header fits the size, so this reads to the end, where zipfile compares the checksum.
        array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _drain(archive: zipfile.ZipFile, member: Member) -> None:
    """Read to the end without keeping anything, so that the checksum vouches for the dtype."""
    with archive.open(member) as stream:
        while stream.read(_LONGEST_READ):
            pass


def _check_writable(key: str, array: NDArray[Any]) -> None:
    if ".." in key or not _MEMBER_NAME.fullmatch(f"{key}.npy"):
        raise InputError(
            "AGC-I210", "an array has an invalid name", got=key, fix="use letters, digits, _ and ."
        )
    if array.dtype.hasobject or array.dtype.kind not in _PLAIN_KINDS:
        raise InputError(
            "AGC-I211",
            f"the array {key!r} has a dtype that cannot be stored safely",
            got=array.dtype,
            fix="convert it to numbers or strings first",
        )

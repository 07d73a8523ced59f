"""Text files with one record per line, whatever separates their fields.

The first lines tell what a file is: its separator, whether comments come first, whether its first
line holds names. Nothing is guessed of values: a guess from the first lines can be wrong for the
last.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv as pacsv

from adagcn.errors import FormatError, InputError, ResourceError, counted

Progress: TypeAlias = Callable[[int, int], None]  # bytes read, bytes of the file

LONGEST_LINE = 16 * 2**20
_STREAMED_AT_ONCE = 4 * 2**20
LOOK = 2**18  # bytes that tell what a file is
_LINES = 100  # lines of them that must agree on a separator
_SPACES = " "  # stands for any run of spaces and tabs
_SEPARATORS: tuple[str, ...] = ("\t", ",", ";", "|", _SPACES)  # in the order they are tried
_UNIT = "\x1f"  # the character for separating units; what odd separators are turned into
_COMMENTS = "#%"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_WORDS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe", _SPACES: "space"}
_SVMLIGHT = re.compile(r"\S+(\s+\d+:\S+)+\s*(#.*)?")


@dataclass(frozen=True)
class TextRules:
    """What the user says of a text file; ``None`` leaves it to the file's content.

    Parameters
    ----------
    separator : str or None
        What stands between two fields; a space stands for any run of spaces and tabs.
    header : bool or None
        Whether the first line holds the names of the columns.
    progress : callable or None
        Told how many bytes of how many have been read.
    """

    separator: str | None = None
    header: bool | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Refuse a separator that cannot be one."""
        if self.separator is not None and (
            not isinstance(self.separator, str)
            or not self.separator
            or set(self.separator) & set('"\n\r')
        ):
            problem = "separator must be one character or a few, no quote and no line end"
            raise InputError("AGC-I1101", problem, got=self.separator)


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Parameters
    ----------
    separator : str
        What stands between two fields; a space stands for any run of spaces and tabs.
    first : tuple of str
        The fields of the first line that is no comment.
    has_names : bool
        Whether that line holds the names of the columns.
    n_skipped : int
        Lines before it: comments and empty ones.
    comment : str or None
        What comments start with.
    """

    separator: str
    first: tuple[str, ...]
    has_names: bool
    n_skipped: int = 0
    comment: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns; numbers where the file has none."""
        return [*self.first] if self.has_names else [str(i) for i in range(len(self.first))]

    def __str__(self) -> str:
        """Return what a user would say of the file."""
        word = _WORDS.get(self.separator)
        text = f"text separated by {self.separator!r}" if word is None else f"{word}-separated text"
        names = "" if self.has_names else " without column names"
        comments = "" if self.comment is None else f" with {self.comment} comments"
        return f"{text}{names}{comments}"


def open_bytes(path: Path, argument: str, progress: Progress | None = None) -> Any:
    """Open a file, decompressed as its first bytes say, for reading as a stream."""
    try:
        with path.open("rb") as handle:
            head = handle.read(4)
        raw: Any = pa.PythonFile(_Watched(path, progress), mode="r")
    except OSError as error:
        raise _cannot_open(error, path, argument) from error
    kinds = [kind for magic, kind in _COMPRESSED.items() if head.startswith(magic)]
    return pa.CompressedInputStream(raw, kinds[0]) if kinds else raw


def read_bytes(path: Path, argument: str, size: int = 2**62) -> bytes:
    """Return the first bytes of a file, or all of them, decompressed."""
    pieces: list[bytes] = []
    left = size
    try:
        with open_bytes(path, argument) as stream:
            while left and (piece := stream.read(min(left, LONGEST_LINE))):
                pieces.append(piece)
                left -= len(piece)
            return b"".join(pieces)
    except (pa.ArrowException, OSError) as error:
        problem = f"{argument} {str(path)!r} cannot be unpacked: {_first_line(error)}"
        raise FormatError("AGC-F1102", problem, fix="write the file again") from error


def dialect_of(path: Path, argument: str, rules: TextRules) -> Dialect:
    """Return how a text file is written, judged by its first lines.

    Raises
    ------
    FormatError
        If it is not UTF-8 text or has no line but comments.
    """
    lines, is_whole = _lines(path, argument)
    skipped, comment = _skipped(lines)
    body = [line for line in lines[skipped:] if line.strip() and not _starts(line, comment)]
    if not body:
        what = "holds nothing but comments" if comment else "is empty"
        problem = f"{argument} {str(path)!r} {what}"
        raise FormatError("AGC-F125", problem, fix="give a file with a line for each record")
    sample = body[:_LINES] if is_whole or len(body) == 1 else body[: min(_LINES, len(body) - 1)]
    separator = rules.separator or _separator(sample)
    first = tuple(field.strip() for field in split_line(sample[0], separator))
    has_names = rules.header if rules.header is not None else _looks_like_names(first, argument)
    return Dialect(separator, first, has_names, skipped, comment)


def split_line(line: str, separator: str) -> list[str]:
    """Return the fields of one line."""
    if separator == _SPACES:
        return line.split()
    if len(separator) > 1 or '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a field past the module's limit: not what separates this line
        return [line]


def is_svmlight(head: bytes) -> bool:
    """Return whether a file starts with lines such as ``1 3:0.5 17:2``."""
    lines = [line for line in head.decode("utf-8", "ignore").splitlines()[:5] if line.strip()]
    lines = [line for line in lines if not line.startswith("#")]
    return bool(lines) and all(_SVMLIGHT.fullmatch(line) for line in lines[:3])


def read_columns(
    path: Path, argument: str, dialect: Dialect, kinds: Mapping[str, Any], rules: TextRules
) -> pa.Table:
    """Read some columns of a text file.

    Parameters
    ----------
    path : Path
        The file.
    argument : str
        What to call it in messages.
    dialect : Dialect
        How it is written.
    kinds : mapping of str to Arrow type
        The columns to read and what they hold. Numbers that are none are read as text.
    rules : TextRules
        Whom to tell how far the reading is.

    Returns
    -------
    pyarrow.Table
        The columns.

    Raises
    ------
    FormatError
        If lines have different numbers of fields, or the file is not UTF-8.
    """

    def parsed(types: Mapping[str, Any], *, watched: bool, use_threads: bool = True) -> pa.Table:
        reading = _Reading(path, argument, dialect, rules.progress if watched else None)
        with reading.opened() as source:
            return pacsv.read_csv(source, *reading.options(types, use_threads))

    texts = dict.fromkeys(kinds, pa.string())
    for types, watched in ((kinds, True), (texts, False)):
        try:
            return parsed(types, watched=watched)
        except (pa.ArrowException, OSError):
            continue
    try:  # again in one thread, which knows the number of the line
        return parsed(texts, watched=False, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(path, argument, dialect, error) from error


def stream_columns(
    path: Path, argument: str, dialect: Dialect, kinds: Mapping[str, Any], rules: TextRules
) -> Iterator[pa.RecordBatch]:
    """Read some columns of a text file, some lines at a time.

    Parameters and errors are those of :func:`read_columns`, but what is not a number in a column
    of numbers is an ``ArrowInvalid``, since the lines before it have been handed out as numbers;
    so is a line of several megabytes, longer than what is read at a time.
    """
    reading = _Reading(path, argument, dialect, rules.progress)
    try:
        with reading.opened() as source:
            yield from pacsv.open_csv(source, *reading.options(kinds, False, _STREAMED_AT_ONCE))
    except (pa.ArrowException, OSError) as error:
        is_number = any(kind != pa.string() for kind in kinds.values())
        if "straddling" in str(error) or ("conversion error" in str(error) and is_number):
            raise
        raise _cannot_read(path, argument, dialect, error) from error


@dataclass(frozen=True)
class _Reading:
    """One reading of a text file by Arrow."""

    path: Path
    argument: str
    dialect: Dialect
    progress: Progress | None

    @property
    def _is_plain(self) -> bool:
        """Whether Arrow can read the file as it is."""
        separator = self.dialect.separator
        return len(separator) == 1 and separator != _SPACES and not self.dialect.comment

    def opened(self) -> Any:
        stream = open_bytes(self.path, self.argument, self.progress)
        if self._is_plain:
            return stream
        return pa.PythonFile(_Rewritten(stream, self.dialect), mode="r")

    def options(
        self, types: Mapping[str, Any], use_threads: bool = True, block_size: int = LONGEST_LINE
    ) -> tuple[Any, Any, Any]:
        dialect, plain = self.dialect, self._is_plain
        read = pacsv.ReadOptions(
            use_threads=use_threads,
            block_size=block_size,
            column_names=dialect.names,
            skip_rows=int(dialect.has_names) + (dialect.n_skipped if plain else 0),
        )
        convert = pacsv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""],  # "NA" and "null" are names like any other
            strings_can_be_null=True,
        )
        return read, pacsv.ParseOptions(delimiter=dialect.separator if plain else _UNIT), convert


def _cannot_read(path: Path, argument: str, dialect: Dialect, error: Exception) -> FormatError:
    problem = f"{argument} {str(path)!r} cannot be read: {_in_lines(error, dialect)}"
    fix = "use UTF-8 and the same number of fields in each line, or name the separator"
    return FormatError("AGC-F123", problem, fix=f"{fix} with separator=")


class _Watched(io.RawIOBase):
    """A file that tells how much of it has been read."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._file = path.open("rb", buffering=0)
        self._size = path.stat().st_size
        self._progress = progress
        self._done = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size)
        self._done += len(data)
        if self._progress is not None:
            self._progress(min(self._done, self._size), self._size)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()


class _Rewritten(io.RawIOBase):
    """A text file without its comments, with one character between fields."""

    def __init__(self, stream: Any, dialect: Dialect) -> None:
        self._stream = stream
        self._dialect = dialect
        self._rest = b""
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0:
            size = 2**62
        while not self._ready and not self._ended:
            block = self._stream.read(2**22)
            self._ended = not block
            whole, end, self._rest = (self._rest + block).replace(b"\r", b"\n").rpartition(b"\n")
            if self._ended:
                whole, self._rest = whole + end + self._rest, b""
            self._ready = self._rewritten(whole + (b"" if self._ended else end))
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def _rewritten(self, block: bytes) -> bytes:
        block = block.removeprefix(b"\xef\xbb\xbf")
        if self._dialect.comment is not None:
            mark = self._dialect.comment.encode()
            if mark in block:
                block = re.sub(rb"(?m)^[ \t]*" + mark + rb".*\n?", b"", block)
        separator = self._dialect.separator
        if separator != _SPACES:
            return block.replace(separator.encode(), _UNIT.encode())
        block = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", block)
        return re.sub(rb"[ \t]+", _UNIT.encode(), block)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _lines(path: Path, argument: str) -> tuple[list[str], bool]:
    """Return the first lines of a file, and whether they are all of it."""
    head = read_bytes(path, argument, LOOK)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head:
        problem = f"{argument} {str(path)!r} is not UTF-8 text"
        what = "UTF-16" if _is_utf16(head) else "binary data"
        raise FormatError("AGC-F1103", f"{problem}: it looks like {what}", fix="save it as UTF-8")
    is_whole = len(head) < LOOK
    if b"\n" not in head and b"\r" not in head and not is_whole:
        head = read_bytes(path, argument, LONGEST_LINE)
        is_whole = len(head) < LONGEST_LINE
    if not is_whole:  # the last letter may be cut
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if is_whole or error.start < len(head) - 4:
            problem = f"{argument} {str(path)!r} is not UTF-8 text: {_first_line(error)}"
            raise FormatError("AGC-F124", problem, fix="save it as UTF-8") from error
        text = head[: error.start].decode("utf-8-sig")
    return re.split(r"\r\n|\n|\r", text), is_whole


def _is_utf16(head: bytes) -> bool:
    """Return whether bytes are UTF-16: by its mark, or since every other byte is mostly zero."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    even, odd = (half.count(0) / max(len(half), 1) for half in (head[:64:2], head[1:64:2]))
    return max(even, odd) > 0.5 and min(even, odd) == 0


def _skipped(lines: Sequence[str]) -> tuple[int, str | None]:
    """Return how many lines come before the first record, and what comments start with.

    A file has comments only if it starts with one: further down, ``#`` may be part of an id.
    """
    written = next((line for line in lines if line.strip()), "")
    comment = next((mark for mark in _COMMENTS if written.lstrip().startswith(mark)), None)
    for number, line in enumerate(lines):
        if line.strip() and not _starts(line, comment):
            return number, comment
    return len(lines), comment


def _starts(line: str, comment: str | None) -> bool:
    return comment is not None and line.lstrip().startswith(comment)


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that gives every line the same number of fields, at least two."""
    for separator in _SEPARATORS:
        counts = {len(split_line(line, separator)) for line in lines}
        if len(counts) == 1 and counts != {1}:
            return separator
    # Lines that differ: the one that the first line has; the reader will say which line is odd.
    marks = [mark for mark in _SEPARATORS if mark in lines[0].strip()]
    return marks[0] if marks else ","


def _looks_like_names(fields: Sequence[str], argument: str) -> bool:
    """Return whether the first line holds names: not if numbers stand where names would.

    Features may be named 0, 1, 2, … (at least three of them), but not 0.5; edges and labels never
    are, from the third and the second column on.
    """
    if argument == "features" and len(fields) > 2:
        numbered = [str(number) for number in range(len(fields))]
        if list(fields) == numbered or list(fields[1:]) == numbered[:-1]:
            return True
    unlikely = {
        "edges": any(_is_number(field) for field in fields[2:]),
        "labels": any(_is_number(field) for field in fields[1:]),
        "features": any(_is_number(field) and not field.isdecimal() for field in fields[1:]),
    }
    return not _is_number(fields[0]) and not unlikely.get(argument, False)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _in_lines(error: Exception, dialect: Dialect) -> str:
    """Return Arrow's message with the number of the line in the file."""
    text = _first_line(error)
    match = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
    if match is None:
        return text
    row, expected, got = map(int, match.groups())
    line = f"line {row}" if dialect.comment is None else f"record {row}"
    return f"{line} has {counted(got, 'field')} instead of {expected}"


def _cannot_open(error: OSError, path: Path, argument: str) -> InputError | ResourceError:
    problem = f"{argument} cannot be opened: {error.strerror or error}"
    if path.parts[:1] in (("http:",), ("https:",)):
        problem = f"{argument} is a web address, and nothing is downloaded"
        return InputError("AGC-I127", problem, got=path.name, fix="download the file first")
    return InputError("AGC-I127", problem, got=str(path), fix="check the path")


def _first_line(error: Exception) -> str:
    lines: list[str] = str(error).splitlines()
    return lines[0] if lines else type(error).__name__

"""Files from outside: right arrays or one clear error, and never any code that runs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from adagcn.errors import (
    AdaGCNError,
    FormatError,
    InputError,
    IntegrityError,
    ResourceError,
    UnsafeFileError,
)
from adagcn.formats.atomic import atomic_file, write_bytes
from adagcn.formats.npz import list_arrays, read_npz, write_npz

ARRAYS = {
    "adj_matrix.data": np.ones(7, dtype=np.float32),
    "adj_matrix.indices": np.arange(7, dtype=np.int32),
    "labels": np.array([0, 1, 1, -1], dtype=np.int8),
    "class_names": np.array(["é", "two"]),
    "empty": np.zeros((0, 3)),
    "scalar": np.array(5),
}


class Canary:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert set(found) == set(expected)
    for key, array in expected.items():
        assert found[key].dtype == array.dtype
        np.testing.assert_array_equal(found[key], array)


def npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_what_is_written_is_read(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    assert_same(read_npz(tmp_path / "a.npz"), ARRAYS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as theirs:
        assert_same(dict(theirs), ARRAYS)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_reads_what_numpy_writes(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    assert_same(read_npz(tmp_path / "a.npz"), ARRAYS)


def test_same_arrays_give_same_bytes_in_any_order(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    write_npz(tmp_path / "b.npz", dict(reversed(ARRAYS.items())))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("layout", [">f8", ">i4", "<f2", ">U3"])
def test_any_layout_comes_back_in_native_order(tmp_path, layout):
    array = np.asfortranarray(np.arange(6).reshape(2, 3).astype(layout))
    np.savez(tmp_path / "a.npz", a=array)
    found = read_npz(tmp_path / "a.npz")["a"]
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, array)


def test_keys_limit_what_is_read(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    assert set(read_npz(tmp_path / "a.npz", keys=["labels", "absent"])) == {"labels"}
    assert set(read_npz(tmp_path / "a.npz", keys=[], required=["scalar"])) == {"scalar"}


def test_missing_array_is_named(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    with pytest.raises(FormatError, match=r"lacks attr_matrix\.data"):
        read_npz(tmp_path / "a.npz", required=["labels", "attr_matrix.data"])


def test_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"no such file.*nothing\.npz"):
        read_npz(tmp_path / "nothing.npz")
    with pytest.raises(InputError, match="is a folder"):
        read_npz(tmp_path)


@pytest.mark.parametrize(
    "payload",
    [
        lambda canary: np.array([canary], dtype=object),
        lambda canary: np.array([[canary, canary]], dtype=object),
        lambda canary: np.array([{"a": canary}], dtype=object),
        lambda canary: np.array(canary, dtype=object),
        lambda canary: np.array([(1, canary)], dtype=[("a", int), ("b", object)]),
    ],
)
def test_hostile_objects_never_run(tmp_path, payload):
    canary = tmp_path / "canary"
    np.savez(tmp_path / "a.npz", bad=payload(Canary(canary)), good=np.arange(3))
    assert_same(read_npz(tmp_path / "a.npz"), {"good": np.arange(3)})
    with pytest.raises(UnsafeFileError, match=r"'bad'.*could run code"):
        read_npz(tmp_path / "a.npz", required=["bad"])
    with pytest.raises(UnsafeFileError, match=r"'bad'.*could run code"):
        read_npz(tmp_path / "a.npz", keys=["bad"])
    assert not canary.exists()


def test_a_bare_pickle_under_an_array_name_never_runs(tmp_path):
    import pickle

    canary = tmp_path / "canary"
    path = zip_of(tmp_path / "a.npz", {"a.npy": pickle.dumps(Canary(canary))})
    with pytest.raises(FormatError, match=r"not a readable \.npz"):
        read_npz(path)
    assert not canary.exists()


@pytest.mark.parametrize(
    "name",
    ["../a.npy", "/a.npy", "a/b.npy", "a\\b.npy", "C:a.npy", "a..b.npy", ".a.npy", "a\x01.npy",
     "a∕b.npy", "plain.txt"],
)  # fmt: skip
def test_odd_member_names_are_refused(tmp_path, name):
    path = zip_of(tmp_path / "a.npz", {name: npy_bytes(np.arange(3))})
    with pytest.raises(UnsafeFileError, match="name is invalid or repeated"):
        read_npz(path)


@pytest.mark.parametrize("names", [("a.npy", "a.npy"), ("a.npy", "A.npy")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_are_there_twice_are_refused(tmp_path, names):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name in names:
            archive.writestr(name, npy_bytes(np.arange(3)))
    with pytest.raises(UnsafeFileError, match="invalid or repeated"):
        read_npz(tmp_path / "a.npz")


def test_size_limit_counts_what_is_asked_for(tmp_path):
    write_npz(tmp_path / "a.npz", {"long": np.zeros(10_000), "short": np.zeros(1)})
    with pytest.raises(UnsafeFileError, match=r"unpacks to 80,.* allow more with max_bytes"):
        read_npz(tmp_path / "a.npz", max_bytes=79_999)
    assert len(read_npz(tmp_path / "a.npz", max_bytes=90_000)["long"]) == 10_000
    assert set(read_npz(tmp_path / "a.npz", keys=["short"], max_bytes=1_000)) == {"short"}


def header_only(shape: tuple[int, ...], descr: str = "|u1") -> bytes:
    stream = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("shape", "descr"),
    [((2**62,), "|u1"), ((2**40, 2**40), "<f8"), ((-1,), "|u1"), ((-4, -4), "|u1"),
     ((10**12,), "|V0"), ((10**12,), "|S0"), ((3,), "|u1")],
)  # fmt: skip
def test_headers_that_promise_other_sizes_are_refused(tmp_path, shape, descr):
    path = zip_of(tmp_path / "a.npz", {"a.npy": header_only(shape, descr) + b"xxxx"})
    with pytest.raises(FormatError, match=r"should have|not a readable"):
        read_npz(path)


BOMB = """
import io, resource, sys, time, zipfile
import numpy as np
from adagcn.errors import UnsafeFileError
from adagcn.formats.npz import read_npz
stream = io.BytesIO()
header = {"descr": "|u1", "fortran_order": False, "shape": (2**32,)}
np.lib.format.write_array_header_1_0(stream, header)
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    with archive.open("a.npy", "w", force_zip64=True) as member:
        member.write(stream.getvalue())
        for _ in range(64):
            member.write(bytes(2**16))
# The directory is what a reader believes: declare four gigabytes there.
data = bytearray(open(sys.argv[1], "rb").read())
real = (64 * 2**16 + len(stream.getvalue())).to_bytes(4, "little")
place = data.rindex(real)
data[place:place + 4] = (2**32 - 2).to_bytes(4, "little")
open(sys.argv[1], "wb").write(data)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.monotonic()
try:
    read_npz(sys.argv[1])
except UnsafeFileError as error:
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(error, time.monotonic() - start < 1, grown < 50_000)
"""


def test_zip_bomb_is_refused_before_it_unpacks(tmp_path):
    command = [sys.executable, "-c", BOMB, str(tmp_path / "bomb.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "unpacks to 4,294,967,294 bytes" in done.stdout
    assert done.stdout.rstrip().endswith("True True")


def test_huge_directory_is_refused_unread(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}.npy", b"")
    with pytest.raises(UnsafeFileError, match=r"directory inside .* is longer than"):
        read_npz(tmp_path / "a.npz")


def test_truncation_anywhere_is_an_error_of_ours(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    whole = (tmp_path / "a.npz").read_bytes()
    for length in range(0, len(whole), 3):
        (tmp_path / "cut.npz").write_bytes(whole[:length])
        error = FormatError if length < 4 else IntegrityError  # too short to tell that it is a zip
        with pytest.raises(error, match=r"not a readable \.npz|truncated or damaged") as raised:
            read_npz(tmp_path / "cut.npz")
        assert raised.value.exit_code == (3 if length < 4 else 4)


def test_a_bad_checksum_is_an_integrity_error(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(100))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[content.index(np.int64(50).tobytes())] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(IntegrityError, match=r"is truncated or damaged .*CRC"):
        read_npz(tmp_path / "a.npz")


def test_arrays_are_listed_without_being_read(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 2), np.float32), names=np.array(["a", None]))
    found = list_arrays(tmp_path / "a.npz")
    assert {key: str(header) for key, header in found.items()} == {
        "x": "float32 (3, 2)",
        "names": "object (2,)",
    }


def test_every_array_of_objects_that_is_asked_for_is_named(tmp_path):
    objects = np.array([None], dtype=object)
    np.savez(tmp_path / "a.npz", adj=objects, x=np.arange(3), y=objects)
    with pytest.raises(UnsafeFileError, match=r"arrays 'adj', 'y' of .*allow_pickle=True.*astype"):
        read_npz(tmp_path / "a.npz", keys=["adj", "x", "y"])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_any_changed_byte_changes_nothing_or_is_an_error_of_ours(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS, objects=np.array([None], dtype=object))
    whole = (tmp_path / "a.npz").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= int(rng.integers(1, 256))
        (tmp_path / "changed.npz").write_bytes(changed)
        try:
            found = read_npz(tmp_path / "changed.npz", keys=ARRAYS)
        except AdaGCNError:
            refused += 1
        else:
            assert_same(found, ARRAYS)
    assert refused > len(whole) / 2


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x05\x06" + bytes(18), b"<html>login</html>", b"\x93NUMPY", os.urandom(500)],
)
def test_other_files_are_a_format_error(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FormatError, match=r"not a readable|lacks labels"):
        read_npz(tmp_path / "a.npz", required=["labels"])


@pytest.mark.parametrize("array", [np.array([None]), np.zeros(2, dtype=[("a", int)])])
def test_only_plain_arrays_are_written(tmp_path, array):
    with pytest.raises(InputError, match="'a' has a dtype that cannot be stored"):
        write_npz(tmp_path / "a.npz", {"a": array})
    assert list(tmp_path.iterdir()) == []


def test_only_plain_names_are_written(tmp_path):
    with pytest.raises(InputError, match=r"has an invalid name; got '\.\./a'"):
        write_npz(tmp_path / "a.npz", {"../a": np.arange(3)})


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    write_bytes(tmp_path / "a", b"old")

    def fail_halfway() -> None:
        with atomic_file(tmp_path / "a") as handle:
            handle.write(b"half")
            raise RuntimeError("power")

    with pytest.raises(RuntimeError, match="power"):
        fail_halfway()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_is_a_resource_error(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adagcn.formats.atomic.os.fsync", full)
    with pytest.raises(ResourceError, match=r"a\.npz.*No space left"):
        write_npz(tmp_path / "a.npz", ARRAYS)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_a_resource_error(tmp_path):
    with pytest.raises(ResourceError, match="could not be written: No such file"):
        write_bytes(tmp_path / "absent" / "a", b"")


def test_our_own_errors_pass_through(tmp_path):
    with (
        pytest.raises(InputError, match="mine"),
        atomic_file(tmp_path / "a"),
    ):
        raise InputError("AGC-I000", "mine")


@pytest.mark.dataset
@pytest.mark.parametrize("name", ["citeseer", "cora_ml", "pubmed", "ms_academic"])
def test_published_files_are_read_without_their_objects(dataset_dir, name):
    arrays = read_npz(dataset_dir / f"{name}.npz", required=["adj_matrix.data", "labels"])
    assert "metadata" not in arrays
    assert len(arrays["labels"]) == arrays["adj_matrix.shape"][0]

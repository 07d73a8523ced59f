"""Downloads from a real server that behaves, and from one that does not."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from adagcn.data.catalog import DataFile
from adagcn.data.digests import file_digest
from adagcn.data.download import FetchPolicy, cache_folder, fetch, is_offline
from adagcn.errors import AdaGCNError, IntegrityError, ResourceError, UnsafeFileError

CONTENT = bytes(range(256)) * 400
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
GIT_BLOB = "git-blob:" + hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
POLICY = FetchPolicy(backoff=0.001, timeout=0.5, max_bytes=2**20)


class Handler(BaseHTTPRequestHandler):
    """Answers each path with one kind of behavior."""

    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        requests = self.server.requests
        requests.append(self.path)
        getattr(self, self.path[1:].replace("-", "_"))(requests.count(self.path))

    def log_message(self, *_: object) -> None:
        pass

    def reply(
        self, content: bytes, *, status: int = 200, length: int | None = None, **headers: str
    ):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def right(self, _: int) -> None:
        self.reply(CONTENT)

    def other(self, _: int) -> None:
        self.reply(b"x" + CONTENT[1:])

    def other_once(self, count: int) -> None:
        self.reply(CONTENT if count > 1 else b"x" + CONTENT[1:])

    def empty(self, _: int) -> None:
        self.reply(b"")

    def html(self, _: int) -> None:
        self.reply(b"<!DOCTYPE html><HTML>Please log in</HTML>", Content_Type="text/html")

    def truncated(self, _: int) -> None:
        self.reply(CONTENT[:-100], length=len(CONTENT) - 100)

    def promises_more(self, _: int) -> None:
        self.reply(CONTENT, length=len(CONTENT) + 100)

    def promises_less(self, _: int) -> None:
        self.reply(CONTENT, length=len(CONTENT) - 100)

    def strange_length(self, _: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "many")
        self.end_headers()
        self.wfile.write(CONTENT)

    def dies(self, _: int) -> None:
        self.reply(CONTENT[:5000], length=len(CONTENT))
        self.wfile.flush()
        self.connection.close()

    def dies_once(self, count: int) -> None:
        self.right(0) if count > 1 else self.dies(0)

    def fails(self, _: int) -> None:
        self.reply(b"", status=500)

    def fails_twice(self, count: int) -> None:
        self.right(0) if count > 2 else self.fails(0)

    def absent(self, _: int) -> None:
        self.reply(b"", status=404)

    def silent(self, _: int) -> None:
        self.server.closing.wait(1.0)

    def trickles(self, _: int) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.closing.wait(0.02):
            self.wfile.write(bytes(2**16))

    def endless(self, _: int) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(2**16))
        except OSError:
            pass  # the client had enough

    def unfolds(self, _: int) -> None:
        self.reply(gzip.compress(bytes(2**24)), Content_Encoding="gzip")

    def to_file(self, _: int) -> None:
        self.reply(b"", status=302, Location=f"file://{self.server.secret}")

    def to_right(self, _: int) -> None:
        self.reply(b"", status=302, Location="/right")

    def in_circles(self, _: int) -> None:
        self.reply(b"", status=302, Location="/in-circles")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass  # broken pipes are what some of these tests are about


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.requests, server.closing = [], threading.Event()
    server.secret = tmp_path / "secret"
    server.secret.write_bytes(CONTENT)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "cache" / "inner"


def get(server: Server, path: str, folder: Path, policy: FetchPolicy = POLICY, **known: object):
    url = f"http://127.0.0.1:{server.server_port}/{path}"
    file = DataFile("a.npz", known.get("digests", (SHA256,)), url)
    return fetch(file, folder, policy=policy, offline=False)


@pytest.mark.parametrize("digest", [SHA256, GIT_BLOB])
def test_right_bytes_are_put_in_place(server, folder, digest):
    path = get(server, "right", folder, digests=("sha256:" + "0" * 64, digest))
    assert path == folder / "a.npz"
    assert path.read_bytes() == CONTENT
    assert [each.name for each in folder.iterdir()] == ["a.npz"]


def test_a_git_blob_id_is_what_git_computes(tmp_path):
    (tmp_path / "a").write_bytes(b"hello\n")
    assert file_digest(tmp_path / "a", "git-blob").endswith(
        "ce013625030ba8dba906f756967f9e9ca394464a"
    )


@pytest.mark.parametrize(
    ("path", "n_requests"),
    [("fails-twice", 3), ("dies-once", 2), ("other-once", 2), ("to-right", 2)],
)
def test_what_passes_is_tried_again(server, folder, path, n_requests):
    assert get(server, path, folder).read_bytes() == CONTENT
    assert len(server.requests) == n_requests


@pytest.mark.parametrize(
    ("path", "error", "message", "n_requests"),
    [
        ("other", IntegrityError, "is not the one expected", 2),
        ("empty", IntegrityError, "is not the one expected", 2),
        ("html", IntegrityError, "The server sent a web page", 2),
        ("truncated", IntegrityError, "is not the one expected", 2),
        ("promises-less", IntegrityError, "is not the one expected", 2),
        ("promises-more", ResourceError, r"the connection was lost \(attempts: 3\)", 3),
        ("dies", ResourceError, r"the connection was lost \(attempts: 3\)", 3),
        ("fails", ResourceError, r"the server answered 500 .*\(attempts: 3\)", 3),
        ("silent", ResourceError, r"no answer in time \(attempts: 3\)", 3),
        ("absent", ResourceError, r"the server answered 404 .*\(attempts: 1\)", 1),
        ("strange-length", ResourceError, "sent an invalid answer", 1),
        ("endless", UnsafeFileError, "sends more than the 1,048,576 bytes allowed", 1),
        ("unfolds", UnsafeFileError, "sends more than the 1,048,576 bytes allowed", 1),
        ("to-file", UnsafeFileError, "not on the web", 1),
        ("in-circles", ResourceError, "could not be downloaded", None),
    ],
)
def test_whatever_the_server_does_nothing_wrong_is_put_in_place(
    server, folder, path, error, message, n_requests
):
    with pytest.raises(error, match=message):
        get(server, path, folder)
    left = [each.name for each in folder.iterdir()]
    assert left == (["a.npz.bad"] if error is IntegrityError else [])
    if n_requests is not None:
        assert len(server.requests) == n_requests


def test_wrong_bytes_are_kept_and_both_digests_shown(server, folder):
    with pytest.raises(IntegrityError, match=SHA256) as caught:
        get(server, "other", folder)
    kept = folder / "a.npz.bad"
    assert kept.read_bytes() == b"x" + CONTENT[1:]
    assert file_digest(kept) in str(caught.value)


def test_an_older_file_survives_a_failed_download(server, folder):
    get(server, "right", folder)
    with pytest.raises(IntegrityError, match="not the one expected"):
        get(server, "other", folder)
    assert (folder / "a.npz").read_bytes() == CONTENT


def test_a_trickle_ends_at_the_deadline(server, folder):
    policy = FetchPolicy(timeout=5, max_seconds=0.2)
    start = time.monotonic()
    with pytest.raises(ResourceError, match=r"took more than 0\.2 seconds"):
        get(server, "trickles", folder, policy)
    assert time.monotonic() - start < 3


def test_a_server_that_is_not_there(folder):
    file = DataFile("a.npz", (SHA256,), "http://127.0.0.1:9/a.npz")
    told = r"the server could not be reached .*Check the network, or put a\.npz into .*inner"
    with pytest.raises(ResourceError, match=told):
        fetch(file, folder, policy=POLICY, offline=False)


def test_waits_double(server, folder, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr("adagcn.data.download.time.sleep", waits.append)
    with pytest.raises(ResourceError, match="attempts: 3"):
        get(server, "fails", folder, FetchPolicy(backoff=7))
    assert waits == [7, 14]


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_offline_mode_says_where_to_put_the_file(folder, how, monkeypatch):
    monkeypatch.setenv("ADAGCN_OFFLINE", "1")
    file = DataFile("a.npz", (SHA256,), "http://127.0.0.1:9/a.npz")
    with pytest.raises(ResourceError, match=r"offline mode.*Put a\.npz into .*inner"):
        fetch(file, folder, offline=True if how == "argument" else None)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("yes", True), ("", False), ("0", False), ("No", False)]
)
def test_offline_by_environment(monkeypatch, value, expected):
    monkeypatch.setenv("ADAGCN_OFFLINE", value)
    assert is_offline(None) is expected
    assert is_offline(not expected) is not expected


def test_a_file_without_a_digest_is_never_downloaded(server, folder):
    with pytest.raises(ResourceError, match="no address with a known digest"):
        get(server, "right", folder, digests=())
    assert server.requests == []


def test_a_folder_that_cannot_be_made_is_a_resource_error(server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ResourceError, match="could not be stored"):
        get(server, "right", tmp_path / "file" / "cache")


def test_two_downloads_at_once_leave_one_right_file(server, folder):
    failures: list[AdaGCNError] = []

    def run() -> None:
        try:
            get(server, "right", folder, FetchPolicy())
        except AdaGCNError as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [each.name for each in folder.iterdir()] == ["a.npz"]


def test_the_cache_is_the_users_own():
    assert cache_folder().name == "adagcn"

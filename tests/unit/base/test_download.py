"""Files from the network: served from this machine, kept, unpacked, and refused in our words."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from weft.base.download import download
from weft.base.errors import ArgumentError, FileError, FormatError
from weft.base.settings import settings

TEXT = bytes(range(256)) * 9


class Served(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        found = {"/plain": TEXT, "/packed": gzip.compress(TEXT), "/cut": gzip.compress(TEXT)[:-9]}
        body = found.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Handler", (Served,), {"asked": asked})
    listening = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    with settings.override(CACHE_DIR=str(tmp_path), CACHE=1):
        yield f"http://127.0.0.1:{listening.server_port}", asked
    listening.shutdown()
    listening.server_close()
    thread.join()


def test_a_file_is_fetched_once(server: tuple[str, list[str]], tmp_path: Path) -> None:
    address, asked = server
    path = download(address + "/plain")
    assert path.read_bytes() == TEXT and tmp_path in path.parents
    assert download(address + "/plain") == path and asked == ["/plain"]


def test_without_the_cache_it_is_fetched_again(server: tuple[str, list[str]]) -> None:
    address, asked = server
    with settings.override(CACHE=0):
        download(address + "/plain")
        download(address + "/plain")
    assert asked == ["/plain", "/plain"]


def test_packed_files_are_kept_apart_from_unpacked_ones(server: tuple[str, list[str]]) -> None:
    address, _ = server
    unpacked, packed = download(address + "/packed", gunzip=True), download(address + "/packed")
    assert unpacked.read_bytes() == TEXT and gzip.decompress(packed.read_bytes()) == TEXT


@pytest.mark.parametrize("name", ["/plain", "/cut"])
def test_an_invalid_archive_leaves_no_file(
    server: tuple[str, list[str]], tmp_path: Path, name: str
) -> None:
    address, _ = server
    with pytest.raises(FormatError) as error:
        download(address + name, gunzip=True)
    assert name in str(error.value.asked)
    assert not list((tmp_path / "downloads").iterdir())


def test_missing_files(server: tuple[str, list[str]], tmp_path: Path) -> None:
    address, _ = server
    with pytest.raises(FileError) as error:
        download(address + "/missing")
    assert "404" in str(error.value.because)
    assert not list((tmp_path / "downloads").iterdir())
    with pytest.raises(FileError):
        download((tmp_path / "missing").as_uri())


def test_a_file_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(TEXT)
    with settings.override(CACHE_DIR=str(tmp_path / "cache")):
        assert download((tmp_path / "here").as_uri()).read_bytes() == TEXT


@pytest.mark.parametrize("address", ["ftp://example.org/x", "x.bin", "", 3])
def test_other_addresses(address: str) -> None:
    with pytest.raises(ArgumentError):
        download(address)

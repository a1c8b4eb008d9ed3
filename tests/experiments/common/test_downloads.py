"""Data sets downloaded from a local server: kept complete and once, or an error that says what to do."""

import http.server
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tiny_datasets import ADULT_DATA, EXPECTED, SOURCES, change, put, zipped

from sharpley._support import cache as _cache
from sharpley_experiments.common import datasets, downloads
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.downloads import DownloadError


class Server(http.server.ThreadingHTTPServer):
    """Serves the adult archive, unless ``reply`` is replaced."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/adult.zip"
        self.content = SOURCES["adult"][1]["adult.zip"]
        self.requests = 0
        self.reply = lambda handler: answer(handler, self.content)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        self.server.reply(self)

    def log_message(self, *arguments):
        pass


def answer(handler, content, status=200, length=None):
    handler.send_response(status)
    if length != "unknown":
        handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def server(few_rows, place, monkeypatch):
    with Server() as running:
        change(monkeypatch, "adult", original=datasets._RECIPES["adult"].original._replace(url=running.url))
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def is_adult(found):
    return np.array_equal(found.X, EXPECTED["adult"][0]) and np.array_equal(found.y, EXPECTED["adult"][1])


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("length", [None, "unknown"])
def test_a_download_is_kept_and_not_repeated(length, server, place, capfd):
    server.reply = lambda handler: answer(handler, server.content, length=length)
    assert is_adult(load("adult"))
    assert names_in(place) == ["adult.zip"]
    assert "adult.zip" in capfd.readouterr().err
    assert is_adult(load("adult"))
    assert server.requests == 1


def test_nothing_is_kept_if_the_cache_is_off(server, monkeypatch):
    monkeypatch.setenv(_cache.VARIABLE, "")
    assert is_adult(load("adult"))
    assert is_adult(load("adult"))
    assert server.requests == 2


def test_a_damaged_file_in_the_cache_is_downloaded_again(server, place):
    put(place, {"adult.zip": server.content[:-9]})
    assert is_adult(load("adult"))
    assert (place / "adult.zip").read_bytes() == server.content


FAILURES = {
    "not found": (lambda handler: answer(handler, b"", status=404), r"HTTP Error 404"),
    "cut off": (lambda handler: answer(handler, b"x" * 99, length=1000), r"99 of 1,000 bytes"),
    "a page instead": (lambda handler: answer(handler, b"<html>"), r"cannot be read \(File is not a zip file\)"),
    "other data": (
        lambda handler: answer(handler, zipped({"adult.data": ADULT_DATA, "adult.test": b""})),
        r"does not hold the adult data, but 2 other rows of 20 columns",
    ),
    "silence": (lambda handler: time.sleep(0.5), r"timed out"),
    "no HTTP": (lambda handler: handler.wfile.write(b"hello"), r"hello"),
    "nothing": (lambda handler: None, r"Remote end closed connection"),
}


@pytest.mark.parametrize(("reply", "reason"), FAILURES.values(), ids=FAILURES)
def test_a_failed_download_says_what_to_do_and_leaves_nothing(reply, reason, server, place, monkeypatch):
    monkeypatch.setattr(downloads, "TIMEOUT_SECONDS", 0.2)
    server.reply = reply
    what_to_do = f"get {server.url}, save it as adult.zip in a folder DIR, and pass --data DIR"
    with pytest.raises(DownloadError, match=f"{reason}.*{what_to_do}"):
        load("adult")
    assert names_in(place) == []


def test_without_a_network_the_error_says_what_to_do(few_rows, place, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/x"
    change(monkeypatch, "year", original=datasets._RECIPES["year"].original._replace(url=url))
    with pytest.raises(OSError, match=f"refused.*get {url}, save it as yearpredictionmsd.zip .*--data DIR"):
        load("year")


def test_a_cache_folder_that_cannot_be_written_to_raises_an_error(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(DownloadError, match=r"cannot keep data in .*file.*set SHARPLEY_CACHE_DIR"):
        load("adult")
    assert server.requests == 0


def test_other_processes_never_see_a_partial_file(server, place):
    half_sent, go_on = threading.Event(), threading.Event()

    def in_halves(handler):
        answer(handler, server.content[:300], length=len(server.content))
        half_sent.set()
        go_on.wait(10)
        handler.wfile.write(server.content[300:])

    server.reply = in_halves
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(load, "adult")
        assert half_sent.wait(10)
        seen = names_in(place)
        server.reply = lambda handler: answer(handler, server.content)
        second = load("adult")  # while the first is not finished
        go_on.set()
        assert is_adult(second)
        assert is_adult(first.result())
    assert [name[:10] for name in seen] == [".download-"]  # on the same disk, so that the file can be renamed
    assert names_in(place) == ["adult.zip"]

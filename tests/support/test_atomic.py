"""Files that are replaced as a whole, or not at all."""

import errno
import multiprocessing
import os
import stat

import pytest

from sharpley._support.atomic import UNFINISHED_SUFFIX, replacing


@pytest.fixture
def path(tmp_path):
    """A file with old content, alone in its folder."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"old")
    return path


def names(path):
    return [found.name for found in path.parent.iterdir()]


def test_the_new_content_is_whole_and_alone_after_success(path):
    with replacing(path) as stream:
        stream.write(b"new " * 10_000)
        assert path.read_bytes() == b"old"  # until the end of the block
        assert stream.name.endswith(UNFINISHED_SUFFIX)
    assert path.read_bytes() == b"new " * 10_000
    assert names(path) == ["file.csv"]


def test_a_file_that_is_not_there_is_created_with_the_usual_permissions(tmp_path):
    with replacing(tmp_path / "new") as stream:
        stream.write(b"content")
    (tmp_path / "usual").touch()
    assert (tmp_path / "new").read_bytes() == b"content"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_permissions_are_kept(path):
    path.chmod(0o600)
    with replacing(path) as stream:
        assert stat.S_IMODE(os.stat(stream.name).st_mode) == 0o600  # before anything is written
        stream.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_in_the_middle_leaves_the_old_content_and_nothing_else(path, failure):
    with pytest.raises(failure), replacing(path) as stream:  # noqa: PT012 (the error comes after a write)
        stream.write(b"new " * 10_000)
        raise failure
    assert path.read_bytes() == b"old"
    assert names(path) == ["file.csv"]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_an_error_after_the_last_write_leaves_the_old_content_and_nothing_else(path, monkeypatch, name):
    """A disk may be found to be full only when its buffers are flushed."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, name, full)
    with pytest.raises(OSError, match="No space left"), replacing(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"old"
    assert names(path) == ["file.csv"]


def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(path):
    """A limit on the size of files acts as a full disk does: a part is written, then the system refuses."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"), replacing(path) as stream:
            stream.write(b"new " * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert names(path) == ["file.csv"]


def test_errors_name_the_file_and_not_the_temporary_one(path, tmp_path):
    missing, folder = tmp_path / "nowhere" / "file.csv", tmp_path / "folder"
    folder.mkdir()
    for wrong in (missing, folder):
        with pytest.raises(OSError, match=rf"'{wrong}'$") as caught, replacing(wrong) as stream:
            stream.write(b"new")
        assert caught.value.filename == str(wrong)
    assert sorted(names(path)) == ["file.csv", "folder"]


def test_two_writers_at_once_do_not_mix(path):
    """The one that finishes last wins, whoever started first."""
    with replacing(path) as first:
        first.write(b"first")
        with replacing(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert names(path) == ["file.csv"]


def write_often(path, letter, barrier):
    barrier.wait()
    for _ in range(50):
        with replacing(path) as stream:
            for _ in range(20):
                stream.write(letter * 10_000)
        content = path.read_bytes()
        if content not in (b"a" * 200_000, b"b" * 200_000):
            raise AssertionError("read a mixture, or a part")


def test_processes_see_whole_files_only(path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    writers = [context.Process(target=write_often, args=(path, letter, barrier)) for letter in (b"a", b"b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert names(path) == ["file.csv"]

"""Files that the command line writes: regular files are replaced atomically, all others are written to directly."""

import errno
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from command_line import call

from sharpley.app.files import write_array

ARRAY = np.array([[0, 2, 1], [1, 0, 2]])
CSV = b"0,2,1\n1,0,2\n"


def disk_full(descriptor):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", disk_full)
    path = tmp_path / "o.csv"
    assert "No space left" in call("sample", "-d", 3, "-n", 5, "--out", path, code=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_an_earlier_file_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "o.csv"
    write_array(str(path), ARRAY)
    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        write_array(str(path), ARRAY[:1])
    assert path.read_bytes() == CSV
    assert list(tmp_path.iterdir()) == [path]


def test_the_error_for_a_missing_folder_has_the_path_that_the_user_gave(tmp_path):
    path = tmp_path / "nowhere" / "o.csv"
    assert f"No such file or directory: '{path}'" in call("sample", "-d", 3, "-n", 5, "--out", path, code=2).stderr


def test_a_folder_is_not_replaced(tmp_path):
    assert "Is a directory" in call("sample", "-d", 3, "-n", 5, "--out", tmp_path, code=2).stderr
    assert tmp_path.is_dir()


def test_a_fifo_is_written_to_directly(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_array(str(path), ARRAY)
    reader.join(10)
    assert read == [CSV]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_symbolic_link_remains_a_link(tmp_path):
    path, link = tmp_path / "o.csv", tmp_path / "link.csv"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write_array(str(link), ARRAY)
    assert link.is_symlink()
    assert path.read_bytes() == CSV


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="the system has no /dev/stdout")
@pytest.mark.parametrize("to_file", [False, True])
def test_the_path_of_standard_output_is_written_to_directly(tmp_path, to_file):
    """Even if standard output is redirected to a regular file that another process, here this one, has open."""
    code = (
        "import numpy as np; from sharpley.app.files import write_array;"
        f"write_array('/dev/stdout', np.array({ARRAY.tolist()}))"
    )
    with (tmp_path / "out").open("w+b") as stream:
        out = stream if to_file else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
        assert (stream.read() if to_file else done.stdout) == CSV
    assert [found.name for found in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to everything")
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "o.csv"
    path.write_bytes(b"old")
    path.chmod(0o400)
    with pytest.raises(PermissionError, match=r"o\.csv"):
        write_array(str(path), ARRAY)
    assert path.read_bytes() == b"old"


def npy(header):
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy("{'descr': '<i8', 'fortran_order': False, 'shape': (10000000000000, 1), }"), "more than fits into memory"),
        (npy("{'descr': '<i8', 'fortran_order': False, 'shape': (100, 8), }"), "is not a valid NPY file"),
        (npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-3, 8), }"), "is not a valid NPY file"),
        (npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }"), "is not a valid NPY file: Object arrays"),
        (npy("nonsense"), "is not a valid NPY file"),
        (b"\x93NUMPY", "is not a valid NPY file"),
    ],
)
def test_damaged_npy_files_are_one_line_of_error(tmp_path, content, message):
    path = tmp_path / "o.npy"
    path.write_bytes(content)
    error = call("discrepancy", path, code=2).stderr
    assert message in error
    assert error.count("\n") == 1


def test_the_error_of_a_full_disk_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", disk_full)
    error = call("sample", "-d", 3, "-n", 5, "--out", tmp_path / "o.csv", code=2).stderr
    assert error == f"sharpley: [Errno 28] No space left on device: '{tmp_path / 'o.csv'}'\n"

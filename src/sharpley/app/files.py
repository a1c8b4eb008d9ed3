"""Files of orderings and weights: CSV (one ordering per line, no header) or NPY; ``-`` is standard input or output."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley._support.atomic import replacing
from sharpley._support.checks import check_choice

FORMATS = ("csv", "npy")
NPY_MAGIC = b"\x93NUMPY"


def read_array(path: str, dtype: type[np.generic]) -> NDArray[Any]:
    """Read a CSV or NPY file; the format is detected from the content."""
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    if raw.startswith(NPY_MAGIC):
        return _read_npy(path, raw)
    if not raw.strip():
        raise ValueError(f"{path} is empty; expected one ordering per line, such as 0,2,1")
    try:
        return np.loadtxt(io.BytesIO(raw), delimiter=",", dtype=dtype, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} is not a CSV file of numbers without a header: {error}") from None


def _read_npy(path: str, raw: bytes) -> NDArray[Any]:
    try:
        return np.asarray(np.load(io.BytesIO(raw), allow_pickle=False))
    except MemoryError:  # allocated before the content is read
        raise ValueError(f"{path} is not a valid NPY file: its header claims more than fits into memory") from None
    except Exception as error:  # a damaged header fails in a dozen ways
        raise ValueError(f"{path} is not a valid NPY file: {error}") from error


def write_array(path: str, array: NDArray[Any], file_format: str | None = None) -> None:
    """Write a CSV or NPY file; by default, NPY if the path ends in .npy, and CSV otherwise."""
    if file_format is None:
        file_format = "npy" if path.endswith(".npy") else "csv"
    check_choice("format", file_format, FORMATS)
    buffer = io.BytesIO()
    if file_format == "npy":
        np.save(buffer, array, allow_pickle=False)
    else:
        number = "%d" if np.issubdtype(array.dtype, np.integer) else "%.17g"
        np.savetxt(buffer, array, fmt=number, delimiter=",")
    if path == "-":
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()
    elif _is_replaceable(Path(path)):
        with replacing(Path(path)) as stream:
            stream.write(buffer.getvalue())
    else:
        Path(path).write_bytes(buffer.getvalue())


def _is_replaceable(path: Path) -> bool:
    """Return whether ``path`` does not exist, or is a regular file that may be replaced.

    Devices, FIFOs and symbolic links, such as /dev/stdout, must be written to directly.
    """
    if not os.path.lexists(path):
        return True
    is_regular = path.is_file() and not path.is_symlink()
    return is_regular and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)

"""Readers of the data sets' files: the public originals, and compact copies with the same rows in the same order."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley_experiments.common.downloads import check_size

Contents: TypeAlias = tuple[Floats, Floats, tuple[str, ...]]
"""Features, targets and the names of the features."""

ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
ADULT_CATEGORICAL = {
    *("workclass", "education", "marital-status", "occupation"),
    *("relationship", "race", "sex", "native-country"),
}
BANK_CATEGORICAL = {"job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"}
HOUSING_COLUMNS = ("MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude")
YEAR_COLUMNS = (*(f"TimbreAvg{i}" for i in range(1, 13)), *(f"TimbreCov{i}" for i in range(1, 79)))
YEAR_RANGE = (1922, 2011)
MAX_COPY_BYTES = 2**25  # of a compact copy when it is unpacked


def adult(train: IO[bytes], test: IO[bytes]) -> Contents:
    """Read ``adult.data`` and ``adult.test``; the latter starts with a comment, and its labels end with a dot."""
    rows = [row for stream in (train, test) for row in _rows(stream.read()) if len(row) > 1]
    if {len(row) for row in rows} != {len(ADULT_COLUMNS) + 1}:
        raise ValueError(f"expected {len(ADULT_COLUMNS) + 1} values per line")
    return _adult(rows)


def adult_copy(stream: IO[bytes]) -> Contents:
    """Read one gzipped CSV file with a header, which holds training and test rows."""
    header, *rows = _rows(_unpacked(stream))
    at = [header.index(name) for name in (*ADULT_COLUMNS, "y")]
    return _adult([[row[i] for i in at] for row in rows])


def _adult(rows: list[list[str]]) -> Contents:
    """Numeric columns, then an indicator per level ("?" is a level), without the last one: the paper's 107 columns."""
    *columns, labels = zip(*rows, strict=True)
    by_name = dict(zip(ADULT_COLUMNS, columns, strict=True))
    names = [name for name in ADULT_COLUMNS if name not in ADULT_CATEGORICAL]
    blocks = [_numbers([by_name[name] for name in names])]
    for name in (name for name in ADULT_COLUMNS if name in ADULT_CATEGORICAL):
        levels, codes = np.unique(by_name[name], return_inverse=True)
        blocks.append(np.eye(len(levels))[codes])
        names += [f"{name}_{level}" for level in levels]
    is_positive = [label in (">50K", ">50K.", "1") for label in labels]
    return np.hstack(blocks)[:, :-1].copy(), np.array(is_positive, dtype=np.float64), tuple(names[:-1])


def bank(stream: IO[bytes]) -> Contents:
    """Read ``bank-full.csv``, which is separated by semicolons."""
    return _bank(_rows(stream.read(), ";"))


def bank_copy(stream: IO[bytes]) -> Contents:
    """Read a gzipped copy that is separated by commas and has 0 and 1 for no and yes."""
    return _bank(_rows(_unpacked(stream)))


def _bank(rows: list[list[str]]) -> Contents:
    """Replace words by the codes of their sorted levels."""
    names, *rows = rows
    *columns, answers = zip(*rows, strict=True)
    numbers = [
        np.unique(column, return_inverse=True)[1] if name in BANK_CATEGORICAL else column
        for name, column in zip(names[:-1], columns, strict=True)
    ]
    is_yes = [answer in ("yes", "1") for answer in answers]
    return _numbers(numbers), np.array(is_yes, dtype=np.float64), tuple(names[:-1])


def housing(stream: IO[bytes]) -> Contents:
    """Read ``cal_housing.data``.

    As in scikit-learn, rooms, bedrooms and people are per household, and values are in units of 100,000.
    """
    raw = np.loadtxt(stream, delimiter=",", ndmin=2)
    longitude, latitude, age, rooms, bedrooms, population, households, income, value = raw.T
    columns = (income, age, rooms / households, bedrooms / households, population, population / households)
    return np.column_stack([*columns, latitude, longitude]), value / 100_000, HOUSING_COLUMNS


def housing_copy(stream: IO[bytes]) -> Contents:
    """Read arrays X and y."""
    return (*_arrays(stream), HOUSING_COLUMNS)


def year(stream: IO[bytes]) -> Contents:
    """Read ``YearPredictionMSD.txt``: the year, then 90 numbers."""
    raw = np.loadtxt(stream, delimiter=",", ndmin=2)
    y = raw[:, 0].copy()
    if not np.isfinite(raw).all() or y.min() < YEAR_RANGE[0] or y.max() > YEAR_RANGE[1]:
        raise ValueError(
            f"expected lines of finite numbers that start with a year from {YEAR_RANGE[0]} to {YEAR_RANGE[1]}"
        )
    return np.ascontiguousarray(raw[:, 1:]), y, YEAR_COLUMNS


def year_copy(stream: IO[bytes]) -> Contents:
    """Read arrays X and y, a sample of the rows."""
    return (*_arrays(stream), YEAR_COLUMNS)


def _unpacked(stream: IO[bytes]) -> bytes:
    with gzip.open(stream) as unpacked:
        content = unpacked.read(MAX_COPY_BYTES + 1)
    check_size("content", len(content), MAX_COPY_BYTES)
    return content


def _rows(content: bytes, separator: str = ",") -> list[list[str]]:
    """Lines of separated values, without blanks around the values; empty lines are skipped."""
    lines = io.StringIO(content.decode(), newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[value.strip() for value in row] for row in reader if row]


def _numbers(columns: Sequence[Sequence[str] | NDArray[Any]]) -> Floats:
    return np.column_stack([np.asarray(column).astype(np.float64) for column in columns])


def _arrays(stream: IO[bytes]) -> tuple[Floats, Floats]:
    with np.load(stream, allow_pickle=False) as archive:
        check_size("content", sum(member.file_size for member in archive.zip.infolist()), MAX_COPY_BYTES)
        x, y = np.ascontiguousarray(archive["X"], dtype=np.float64), archive["y"].astype(np.float64)
    if x.ndim != 2:
        raise ValueError("its array X does not have two dimensions")
    return x, y

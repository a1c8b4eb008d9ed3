"""Experiments in cells: stored as soon as they are finished, resumed, never measured twice."""

import json
from pathlib import Path

import pytest

from sharpley_experiments.common.cells import run_cells

CELLS = [{"method": method, "trial": trial} for method in ("a", "b") for trial in range(3)]


def square(*, method, trial, log):
    """Log every call, in whichever process."""
    with Path(log).open("a") as stream:
        stream.write(f"{method}{trial}\n")
    return [{"value": trial**2}, {"value": -trial}]


def fails_at_b1(*, method, trial, log):
    if (method, trial) == ("b", 1):
        raise RuntimeError("the power went off")
    return square(method=method, trial=trial, log=log)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


def run(tmp_path, log, measure=square, cells=CELLS, **arguments):
    return run_cells(measure, cells, tmp_path / "cells", context={"log": str(log)}, **arguments)


def test_rows_come_with_their_settings_in_order(tmp_path, log):
    rows = run(tmp_path, log)
    assert rows[2:4] == [{"method": "a", "trial": 1, "value": 1}, {"method": "a", "trial": 1, "value": -1}]
    assert [row["method"] for row in rows] == ["a"] * 6 + ["b"] * 6


def test_nothing_is_measured_twice(tmp_path, log):
    first = run(tmp_path, log)
    assert run(tmp_path, log) == first
    assert len(log.read_text().split()) == len(CELLS)


def test_cells_with_different_settings_are_different(tmp_path, log):
    run(tmp_path, log)
    run(tmp_path, log, cells=[{**cell, "d": 10} for cell in CELLS[:1]], measure=lambda d, **rest: square(**rest))
    assert len(log.read_text().split()) == len(CELLS) + 1


def test_interrupted_runs_resume(tmp_path, log):
    with pytest.raises(RuntimeError, match="power"):
        run(tmp_path, log, measure=fails_at_b1)
    assert log.read_text().split() == ["a0", "a1", "a2", "b0"]
    run(tmp_path, log)
    assert log.read_text().split() == ["a0", "a1", "a2", "b0", "b1", "b2"]


@pytest.mark.parametrize("damage", ["", "{", "[]", json.dumps({"cell": {"method": "z"}, "rows": [{"value": 7}]})])
def test_damaged_and_foreign_files_are_measured_again(tmp_path, log, damage):
    expected = run(tmp_path, log)
    for path in (tmp_path / "cells").iterdir():
        path.write_text(damage)
    assert run(tmp_path, log) == expected
    assert len(log.read_text().split()) == 2 * len(CELLS)


def test_processes_share_the_work(tmp_path, log):
    assert run(tmp_path, log, jobs=2) == run(tmp_path / "alone", log)


def test_cells_without_rows_are_not_measured_again(tmp_path, log):
    cells = [{"method": "a", "trial": 0}]
    for _ in range(2):
        assert run(tmp_path, log, measure=no_rows, cells=cells) == []
    assert log.read_text().split() == ["a0"]


def no_rows(**arguments):
    square(**arguments)
    return []

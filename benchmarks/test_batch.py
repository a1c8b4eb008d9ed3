"""Runs of files: memory and the overhead of parts, at full size with ``make bench`` only."""

import pytest

from sharpley_experiments.studies.batch import MILLION, QUICK_CASES, measured, overhead
from sharpley_experiments.studies.batch_setting import write_files

MAX_MEGABYTES = 1000
MAX_OVERHEAD = 0.05


def test_a_million_rows(benchmark, tmp_path):
    if not benchmark.enabled:
        pytest.skip("at full size with make bench only")
    write_files(tmp_path, [MILLION.rows], 100_000)
    assert benchmark.pedantic(measured, (MILLION, tmp_path), rounds=1).megabytes < MAX_MEGABYTES


def test_the_overhead_of_parts(benchmark, tmp_path):
    if not benchmark.enabled:
        pytest.skip("at full size with make bench only")
    write_files(tmp_path, [20_000], 100_000)
    assert benchmark.pedantic(overhead, (tmp_path, 20_000, 1000, 3), rounds=1).share < MAX_OVERHEAD


def test_a_few_rows(benchmark, tmp_path):
    write_files(tmp_path, [QUICK_CASES[0].rows], 500)
    assert benchmark.pedantic(measured, (QUICK_CASES[0], tmp_path), rounds=1).megabytes < MAX_MEGABYTES

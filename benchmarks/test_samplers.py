"""Seconds to draw samples, single-threaded: ``make bench``. The targets are those of the first release's plan."""

import subprocess
import sys

import pytest

from sharpley import SAMPLERS, MonteCarlo, discrepancy, quadrature_weights

CASES = [
    ("antithetic", 10, 1_000_000),
    ("orthogonal", 200, 1000),
    ("orthogonal", 10_000, 400),
    ("sobol", 200, 1000),
    ("sobol", 10_000, 100),
    ("herding", 10, 1000),
    ("herding", 50, 1000),
    ("herding", 200, 1000),
    ("sbq", 10, 1000),
    ("sbq", 200, 1000),
]


@pytest.mark.parametrize(("method", "d", "n"), CASES)
def test_draw(benchmark, method, d, n):
    SAMPLERS[method](5, rng=0).random(2)  # compiles and imports
    rounds = 3 if benchmark.enabled else 1
    orderings = benchmark.pedantic(lambda: SAMPLERS[method](d, rng=0).random(n), rounds=rounds)
    assert orderings.shape == (n, d)


@pytest.mark.parametrize(("d", "n"), [(10, 20_000), (200, 2000)])
def test_discrepancy(benchmark, d, n):
    orderings = MonteCarlo(d, rng=0).random(n)
    discrepancy(orderings[:2])
    benchmark.pedantic(discrepancy, (orderings,), rounds=1)


@pytest.mark.parametrize(("d", "n"), [(10, 1000), (10, 5000)])
def test_quadrature_weights(benchmark, d, n):
    orderings = MonteCarlo(d, rng=0).random(n)
    quadrature_weights(orderings[:2])
    benchmark.pedantic(quadrature_weights, (orderings,), rounds=1)


@pytest.mark.parametrize("module", ["numpy", "sharpley"])
def test_import(benchmark, module):
    """``import sharpley`` is to take less than twice as long as ``import numpy``: compare the two rows."""
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(subprocess.run, (command,), {"check": True}, rounds=10, warmup_rounds=2)


def test_scripts_run(tmp_path):
    """The comparison with shap and the coverage of intervals, at their smallest: they cannot rot."""
    import intervals
    import overhead

    overhead.main(["--quick", "--out", str(tmp_path / "overhead.md")])
    assert "| shap Permutation | 8 |" in (tmp_path / "overhead.md").read_text()
    intervals.main(["--quick", "--out", str(tmp_path / "coverage.md")])
    assert "| antithetic | " in (tmp_path / "coverage.md").read_text()

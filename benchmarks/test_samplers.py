"""Seconds to draw samples, single-threaded: ``make bench``. The targets are those of the first release's plan."""

import subprocess
import sys

import pytest

from sharpley import SAMPLERS, MonteCarlo, discrepancy, quadrature_weights
from sharpley.samplers import minimise
from sharpley.samplers._sweep import sweep

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
    options = {"fresh": True} if method in ("herding", "sbq") else {}
    SAMPLERS[method](5, rng=0, **options).random(2)  # compiles and imports
    rounds = 3 if benchmark.enabled else 1
    orderings = benchmark.pedantic(lambda: SAMPLERS[method](d, rng=0, **options).random(n), rounds=rounds)
    assert orderings.shape == (n, d)


DESIGNS = [(10, 1000), (50, 1000), (200, 1000)]


@pytest.mark.parametrize(("d", "n"), DESIGNS)
def test_one_sweep(benchmark, d, n):
    """The first sweep, from orthogonal directions: the most expensive one."""
    start = minimise.start_orderings(d, n, 0, with_negatives=False)
    tables = minimise.kernel_differences(minimise.whole_kernel_values(d, 4.0, False))
    sweep(start[:2].copy(), minimise.player_major_ranks(start[:2]), *tables, 1)

    def fresh():
        orderings = start.copy()
        return (orderings, minimise.player_major_ranks(orderings), *tables, 4 * n * n * d), {}

    benchmark.pedantic(sweep, setup=fresh, rounds=3 if benchmark.enabled else 1)


@pytest.mark.parametrize(("d", "n"), DESIGNS)
def test_find_design(benchmark, d, n):
    minimise.minimised("design", 5, 8, 4.0, paired=False)
    benchmark.pedantic(minimise.minimised, ("design", d, n, 4.0, False), rounds=1)


@pytest.mark.parametrize("method", ["antithetic", "design", "design-from-file"])
@pytest.mark.parametrize(("d", "n"), DESIGNS)
def test_draw_again(benchmark, method, d, n):
    """What a design costs once it is known, in the same process or from its file, beside antithetic pairs."""
    make = SAMPLERS[method.removesuffix("-from-file")]
    make(d, rng=0).random(n)

    def forget():
        if method == "design-from-file":
            minimise.design.cache_clear()

    benchmark.pedantic(lambda: make(d, rng=0).random(n), setup=forget, rounds=20 if benchmark.enabled else 1)


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

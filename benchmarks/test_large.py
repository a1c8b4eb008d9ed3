"""Large backgrounds, many players, slow models: time and memory, within the limits that the documentation states.

``make bench`` runs the cases of ``sharpley_experiments.studies.large`` at full size, ``make bench-smoke`` small ones.
"""

import pytest

import sharpley
from sharpley_experiments.studies.large import CASES, QUICK_CASES, measured_apart

MAX_MEGABYTES = 500  # beyond the data
MAX_RATIO = 1.05  # of a slow model's time
MAX_OWN_SECONDS = 0.1  # for a row with 30 players


def run(benchmark, name):
    return benchmark.pedantic(measured_apart, (name,), rounds=1)


@pytest.mark.parametrize("name", CASES)
def test_large(benchmark, name):
    if not benchmark.enabled:
        pytest.skip("at full size with make bench only")
    result = run(benchmark, name)
    benchmark.extra_info.update(result._asdict())
    assert result.peak < MAX_MEGABYTES
    if name == "slow model":
        assert result.ratio <= MAX_RATIO
    if name == "fast model":
        assert result.own < MAX_OWN_SECONDS


@pytest.mark.parametrize("name", QUICK_CASES)
def test_small(benchmark, name):
    result = run(benchmark, f"quick: {name}")
    assert result.predictions > 0
    assert result.peak < MAX_MEGABYTES


def test_ten_million_players_fail_at_once(benchmark):
    def fail():
        with pytest.raises(ValueError, match="too many"):
            sharpley.shapley_values(lambda coalitions: coalitions[:, 0] * 1.0, 10**7, max_evals=2 * 10**7, rng=0)

    benchmark.pedantic(fail, rounds=1)
    assert not benchmark.enabled or benchmark.stats["max"] < 1.0

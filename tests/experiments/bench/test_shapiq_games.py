"""shapiq's games in the benchmark, where shapiq is installed: Python 3.12 and sharpley[peers]."""

import numpy as np
import pytest

from sharpley.coalitions.enumeration import all_coalitions
from sharpley_experiments.bench import shapiq_games
from sharpley_experiments.bench.games import bench_game
from sharpley_experiments.bench.shapiq_games import SHAPIQ_GAMES, players_of, value_function


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda library: "1.7.3")
    value_function.cache_clear()
    with pytest.raises(ValueError, match=r"shapiq 1\.7\.3 is installed; these games need shapiq 1\.8 or later"):
        value_function("shapiq-soum")


def test_numbers_of_players():
    assert all(9 <= players_of(name) <= 15 for name in SHAPIQ_GAMES)


@pytest.fixture
def installed():
    pytest.importorskip("shapiq_games", reason="shapiq 1.8 or later is not installed")
    shapiq_games._check_version()


def test_exact_values_are_those_of_moebius_coefficients(installed, tmp_path):
    """An independent computation: shapiq knows the interactions of a SOUM, each of which is shared equally."""
    exact = np.zeros(12)
    coefficients = shapiq_games._soum(12, None).moebius_coefficients
    for members, position in coefficients.interaction_lookup.items():
        for player in members:
            exact[player] += coefficients.values[position] / len(members)
    game = bench_game("shapiq-soum", None, str(tmp_path))
    np.testing.assert_allclose(game.exact[0], exact, atol=1e-12)
    assert game.reference_variance == 0.0


def test_values_are_kept_and_read_again(installed, tmp_path, monkeypatch):
    made = bench_game("shapiq-random-table", None, str(tmp_path))
    assert len(list(tmp_path.glob("shapiq-random-table-*.npz"))) == 1
    bench_game.cache_clear()
    monkeypatch.setattr(shapiq_games, "value_function", None)
    again = bench_game("shapiq-random-table", None, str(tmp_path))
    np.testing.assert_array_equal(made.exact, again.exact)


@pytest.mark.parametrize("name", SHAPIQ_GAMES)
def test_games_are_made(installed, name):
    d = players_of(name)
    some = all_coalitions(d)[:: 2**d // 16]
    values = value_function(name)(some)
    assert values.shape == (len(some),)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values, value_function(name)(some))  # and not by chance

"""Every index estimated from fewer than all coalitions, against enumeration."""

import numpy as np
import pytest

import sharpley
from sharpley.estimators import OwenEstimator
from sharpley.games import UnanimitySum
from sharpley.indices import probabilistic_values

D = 8
GAME = UnanimitySum.random(D, n_terms=14, max_order=5, rng=3)
SAMPLED = ["banzhaf", "beta(4, 1)", "SII", "k-SII", "STII", "FSII", "BII", "FBII"]


def exact(index, game=GAME):
    return sharpley.estimate(game, index=index, method="exact", max_evals=2**game.d)


@pytest.mark.parametrize("index", [*SAMPLED, probabilistic_values([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])])
def test_owen_sampling_of_any_index_is_unbiased_with_honest_errors(index):
    truth, runs = exact(index).values[0], 60
    found = [sharpley.estimate(GAME, index=index, method="owen", max_evals=200, rng=seed) for seed in range(runs)]
    values = np.array([each.values[0] for each in found])
    variances = np.array([each.standard_errors[0] ** 2 for each in found])
    spread = values.std(axis=0, ddof=1)
    assert (np.abs(values.mean(axis=0) - truth) <= 5 * spread / np.sqrt(runs) + 1e-9).all()
    seen = spread > 1e-9
    assert seen.any()
    assert 0.6 < variances[:, seen].mean() / (spread[seen] ** 2).mean() < 1.7
    assert all(each.n_evals[0] <= 200 for each in found)


@pytest.mark.parametrize("index", ["banzhaf", "SII", "k-SII", "BII", "FBII"])
def test_complements_serve_symmetric_indices(index):
    truth = exact(index).values[0]
    found = [sharpley.estimate(GAME, index=index, method="owen-halved", max_evals=220, rng=seed) for seed in range(40)]
    values = np.array([each.values[0] for each in found])
    assert (np.abs(values.mean(axis=0) - truth) <= 5 * values.std(axis=0, ddof=1) / np.sqrt(40) + 1e-9).all()


def test_contributions_to_the_empty_coalition_are_known_exactly():
    found = sharpley.estimate(GAME, index="STII", method="owen", max_evals=200, rng=0)
    np.testing.assert_allclose(found.values[0, :D], exact("STII").values[0, :D], atol=1e-12)
    assert (found.standard_errors[0, :D] == 0.0).all()
    assert (found.standard_errors[0, D:] > 0.0).all()


def test_an_additive_game_has_no_interactions_in_any_sample():
    additive = UnanimitySum(np.eye(12, dtype=bool), np.arange(1.0, 13.0))
    for index in SAMPLED[2:]:
        found = sharpley.estimate(additive, index=index, method="owen", max_evals=400, rng=0)
        if index != "FSII":  # whose single players have a signed measure
            np.testing.assert_allclose(found.values[0, :12], np.arange(1.0, 13.0))
        np.testing.assert_allclose(found.values[0, 12:], 0.0, atol=1e-9)


def test_auto_finds_a_way_for_every_index():
    larger = UnanimitySum.random(14, n_terms=20, max_order=3, rng=0)
    for index in SAMPLED:
        found = sharpley.estimate(larger, index=index, rng=0)
        assert np.isfinite(found.standard_errors).all()
        assert found.method != "exact"


def test_a_method_that_cannot_do_the_index_is_an_error_that_names_those_that_can():
    with pytest.raises(ValueError, match=r"'antithetic' does not estimate 'banzhaf'; methods that do: \['owen', "):
        sharpley.estimate(GAME, index="banzhaf", method="antithetic")
    with pytest.raises(ValueError, match=r"'owen' does not estimate 'SII' of order 3; methods that do: \['exact'\]"):
        sharpley.estimate(GAME, index="SII", order=3, method="owen")
    with pytest.raises(ValueError, match="max_evals=20 is too small for method 'owen' with 8 players: it needs at le"):
        sharpley.estimate(GAME, index="SII", method="owen", max_evals=20)
    background = np.random.default_rng(0).normal(size=(50, 12))
    games = sharpley.MarginalGame(lambda x: x.sum(axis=1), background, background[:1])
    with pytest.raises(ValueError, match="draws='own' gives Shapley values only, not index 'banzhaf'"):
        sharpley.estimate(games, index="banzhaf", draws="own")


@pytest.mark.parametrize(("option", "message"), [({"rule": "trapezoid"}, "uniform q"), ({"adjust": True}, "Shapley")])
def test_options_for_shapley_values_are_errors_elsewhere(option, message):
    from functools import partial

    with pytest.raises(ValueError, match=message):
        sharpley.estimate(GAME, index="banzhaf", method=partial(OwenEstimator, **option), max_evals=200)

"""Outstanding interactions, in addition to the kernel of "gp": dense linear algebra, and games that have them."""

from functools import partial

import numpy as np
import pytest
from oracles import dense_gram, shapley_functional
from scipy.stats import multivariate_normal

from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.estimators import GaussianProcessEstimator, GPSettings
from sharpley.estimators.gp import fitting
from sharpley.estimators.gp import posterior as gp_posterior
from sharpley.estimators.gp.data import normalised, with_full_coalition
from sharpley.estimators.gp.kernel import Scales, prior_covariance
from sharpley.estimators.gp.learning import JITTER
from sharpley.estimators.gp.posterior import Conditioner
from sharpley.estimators.gp.triples import NO_TRIPLES, Evidence, Triples, _Candidates, _prices, outstanding
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, quotas
from sharpley.estimators.pairs.regression import LeastSquares, PairRegression

D = 10
SCALES = Scales(np.linspace(0.05, 0.3, D), 0.5, 0.05, 0.1, 0.02)
STRONG = np.array([[0, 3, 7], [1, 3, 8], [2, 5, 9]])


def signs_of(n, d=D, seed=0):
    return np.where(PairChooser(d, np.random.default_rng(seed)).extend(quotas(d, n)), 1.0, -1.0)


def product(signs, members):
    return np.stack([signs[:, list(triple)].prod(axis=1) for triple in members], axis=1)


def sparse_data(n=300, noise=0.1, seed=0):
    """A linear game with three interactions, and independent noise."""
    rng = np.random.default_rng(seed)
    signs = signs_of(n, seed=seed)
    slopes, coefficients = rng.standard_normal(D), np.array([2.0, -1.5, 1.0])
    odd = signs @ slopes + product(signs, STRONG) @ coefficients + noise * rng.standard_normal(n)
    return PairData(signs, odd[:, None], np.zeros((n, 1)), np.array([slopes.sum() + coefficients.sum()]))


def conditioned(data):
    return Conditioner(data, PairRegression(data.signs).fit(data.odd, data.delta))


def dense_precision(signs, noise, scales):
    """P: the inverse of K₀ with the linear part projected out."""
    gram = dense_gram(signs, signs, scales, 0.0) + np.diag(scales.noise * noise + JITTER)
    inverse = np.linalg.inv(gram)
    return inverse - inverse @ signs @ np.linalg.solve(signs.T @ inverse @ signs, signs.T @ inverse)


@pytest.fixture
def evidence_and_data():
    rng = np.random.default_rng(0)
    features, residuals = rng.standard_normal((30, 6)), rng.standard_normal(30)
    residuals += 2.0 * features[:, 2] - features[:, 4]
    # The degrees of freedom equal the sum of squares, so that the variance of the data is estimated as 1.
    return Evidence(features, residuals, np.full(6, 0.7), residuals @ residuals), features, residuals


def log_evidence(features, residuals, variances):
    return multivariate_normal.logpdf(residuals, cov=np.eye(len(residuals)) + (features * variances) @ features.T)


def test_gains_are_differences_of_log_evidence(evidence_and_data):
    evidence, features, residuals = evidence_and_data
    best, gains = evidence.best_of_each()
    for i in range(6):
        alone = np.zeros(6)
        alone[i] = best[i]
        gain = log_evidence(features, residuals, alone) - log_evidence(features, residuals, 0 * alone)
        if best[i] == 0.0:
            continue
        assert gains[i] == pytest.approx(gain - 0.7)
        for other in best[i] * np.array([0.3, 0.9, 1.1, 3.0]):
            alone[i] = other
            assert log_evidence(features, residuals, alone) - log_evidence(features, residuals, 0 * alone) < gain
    assert best[2] > 0
    assert best[4] > 0


def test_changes_of_variances_agree_with_dense_algebra(evidence_and_data):
    evidence, features, residuals = evidence_and_data
    for i, variance in [(2, 3.0), (4, 1.0), (1, 0.5), (4, 2.0), (1, 0.0)]:
        evidence.change(i, variance)
    np.testing.assert_array_equal(evidence.variances, [0, 0, 3, 0, 2, 0])
    inverse = np.linalg.inv(np.eye(30) + (features * evidence.variances) @ features.T)
    np.testing.assert_allclose(evidence._gram, features.T @ inverse @ features, atol=1e-10)
    np.testing.assert_allclose(evidence._projections, features.T @ inverse @ residuals, atol=1e-10)
    assert evidence._total == pytest.approx(residuals @ inverse @ residuals)
    used = features[:, [2, 4]]
    ridge = np.linalg.solve(used.T @ used + np.diag([1 / 3, 1 / 2]), used.T @ residuals)
    np.testing.assert_allclose(evidence.coefficients[[2, 4]], ridge, atol=1e-10)


def test_the_best_variance_of_a_feature_does_not_depend_on_its_current_one(evidence_and_data):
    evidence, features, residuals = evidence_and_data
    evidence.change(4, 2.0)
    inverse = np.linalg.inv(np.eye(30) + 2.0 * np.outer(features[:, 4], features[:, 4]))
    evidence.change(2, 3.0)
    s, q = features[:, 2] @ inverse @ features[:, 2], features[:, 2] @ inverse @ residuals
    variance = evidence._total / (residuals @ residuals)
    assert evidence.best_of_each()[0][2] == pytest.approx((q**2 / variance - s) / s**2)


def test_features_that_gain_more_than_their_price_are_used(evidence_and_data):
    _, features, residuals = evidence_and_data
    evidence = Evidence(features, residuals, np.full(6, 2.0), 30)
    evidence.maximise()
    assert set(np.flatnonzero(evidence.variances)) == {2, 4}


def test_a_repeated_feature_is_used_once():
    rng = np.random.default_rng(0)
    feature = rng.standard_normal((40, 1))
    evidence = Evidence(np.repeat(feature, 3, axis=1), 5.0 * feature[:, 0], np.ones(3), 40)
    evidence.maximise()
    assert np.isfinite(evidence.variances).all()
    assert np.count_nonzero(evidence.variances) == 1
    assert evidence.coefficients.sum() == pytest.approx(5.0, rel=1e-6)


def test_triples_of_players_that_interact_strongly_have_lower_prices():
    prices = _prices(np.array([0.1, 0.9, 0.5, 0.7, 0.2, 0.05]))
    np.testing.assert_allclose(prices, np.log(np.maximum([10, 0, 1, 0, 4, 20], 6) / 6))


def test_candidates_are_those_that_explain_most():
    signs, alpha = signs_of(200), np.random.default_rng(0).standard_normal(200)
    everything = np.array([(i, j, k) for i in range(D) for j in range(i + 1, D) for k in range(j + 1, D)])
    projections = np.abs(product(signs, everything).T @ alpha)
    five = GPSettings(triple_candidates=5)
    best = everything[np.argsort(-projections)]
    equal = _Candidates(signs, np.zeros(D), five)
    np.testing.assert_array_equal(equal.most_informative(alpha, NO_TRIPLES.members), best[:5])
    others = equal.most_informative(alpha, best[[1, 3]])
    np.testing.assert_array_equal(others, best[[0, 2, 4, 5, 6]])
    prices = np.zeros(D)
    prices[best[0]] = 1e6
    assert not np.isin(_Candidates(signs, prices, five).most_informative(alpha, NO_TRIPLES.members), best[0]).any()


def test_shapley_values_of_triples_agree_with_enumeration():
    triples = Triples(STRONG, np.ones(3))
    coalitions = all_coalitions(D)
    matrix = shapley_functional(coalitions)
    signs = np.where(coalitions, 1.0, -1.0)
    np.testing.assert_array_equal(triples.at(signs), product(signs, STRONG))
    np.testing.assert_allclose(triples.shapley(D), matrix @ product(signs, STRONG), atol=1e-12)


def test_outstanding_interactions_are_found():
    data = sparse_data()
    ((games, found),) = conditioned(data).posteriors(np.arange(1), SCALES)
    assert games == [0]
    order = np.argsort(-np.abs(found.coefficients[:, 0]))
    np.testing.assert_array_equal(found.triples.members[order[:3]], STRONG)
    np.testing.assert_allclose(found.coefficients[order[:3], 0], [2.0, -1.5, 1.0], atol=0.1)
    assert (np.abs(found.coefficients[order[3:], 0]) < 0.1).all()


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_outstanding_interactions(seed):
    rng = np.random.default_rng(seed)
    data = sparse_data(seed=seed)._replace(odd=rng.standard_normal((300, 1)))
    ((_, found),) = conditioned(data).posteriors(np.arange(1), SCALES._replace(noise=1.0))
    assert len(found.triples.members) == 0


def test_posterior_with_triples_agrees_with_dense_algebra(monkeypatch):
    settings = GPSettings(free_variance=50.0, held_out_pairs=20)
    monkeypatch.setattr(gp_posterior, "_misfit_held_out", lambda alpha, precisions: np.inf)
    triples = Triples(STRONG, np.array([0.5, 2.0, 1.0]))
    monkeypatch.setattr(gp_posterior, "outstanding", lambda *arguments, **options: triples)
    data = sparse_data(n=120)
    no_regression = LeastSquares(np.zeros((D, 1)), np.zeros((D, 1)), 1.0, np.ones((120, 1)), np.zeros((D, 120)))
    ((_, found),) = Conditioner(data, no_regression, settings).posteriors(np.arange(1), SCALES)
    assert found.triples is triples

    signs, values, noise = with_full_coalition(data)
    coalitions = all_coalitions(D)
    everything = np.where(coalitions, 1.0, -1.0)

    def gram(z, t):
        return dense_gram(z, t, SCALES, 50.0) + (product(z, STRONG) * triples.variances) @ product(t, STRONG).T

    inverse = np.linalg.inv(gram(signs, signs) + np.diag(SCALES.noise * noise + JITTER))
    across = shapley_functional(coalitions) @ gram(everything, signs)
    mean = across @ inverse @ values
    np.testing.assert_allclose(found.values, mean + (2 * data.delta - mean.sum(axis=0)) / D, atol=1e-6)
    shapley = triples.shapley(D)
    prior = prior_covariance(SCALES, 50.0) + (shapley * triples.variances) @ shapley.T
    misfit = (values * (inverse @ values)).sum() / (len(values) - D)
    variances = np.diag(prior - across @ inverse @ across.T) * misfit
    np.testing.assert_allclose(found.variances[:, 0], variances, rtol=1e-4)
    elsewhere = everything[[5, 170, 400]]
    np.testing.assert_allclose(found.predict(elsewhere), gram(elsewhere, signs) @ inverse @ values, atol=1e-3)
    held_out = np.linspace(0, 119, 20).round().astype(int)
    errors = (inverse @ values)[held_out, 0] / np.diag(inverse)[held_out]
    assert found.held_out_error[0] == pytest.approx((errors**2 / noise[held_out]).mean(), rel=1e-4)


def test_triples_are_chosen_on_all_pairs_that_are_not_held_out(monkeypatch):
    """The arguments of the choice agree with dense linear algebra on these pairs alone."""
    data = sparse_data()
    seen = {}

    def record(signs, residuals, scales, **options):
        seen.update(signs=signs, residuals=residuals, **options)
        return NO_TRIPLES

    monkeypatch.setattr(gp_posterior, "outstanding", record)
    list(conditioned(data).posteriors(np.arange(1), SCALES))
    held_out = np.unique(np.linspace(0, 299, GPSettings().held_out_pairs).round().astype(int))
    signs, values, noise = (np.delete(each, held_out, axis=0) for each in with_full_coalition(data))
    # The noise is a multiple of the inverse weights, which are computed from all pairs.
    precision = dense_precision(signs, noise, SCALES)
    np.testing.assert_array_equal(seen["signs"], signs)
    assert seen["degrees_of_freedom"] == len(signs) - D
    assert seen["residuals"] @ seen["residuals"] == pytest.approx(values[:, 0] @ precision @ values[:, 0], rel=1e-6)
    features, at = seen["whiten"](product(signs, STRONG)), product(signs, STRONG)
    np.testing.assert_allclose(features.T @ features, at.T @ precision @ at, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(features.T @ seen["residuals"], at.T @ precision @ values[:, 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(seen["unwhiten"](seen["residuals"]), precision @ values[:, 0], rtol=1e-4, atol=1e-4)


def test_triples_are_used_only_if_held_out_pairs_are_predicted_better(monkeypatch):
    data = sparse_data()
    conditioner = conditioned(data)
    plain = conditioner.posterior(np.arange(1), SCALES)
    ((_, found),) = conditioner.posteriors(np.arange(1), SCALES)
    assert found.held_out_error[0] < 0.2 * plain.held_out_error[0]
    wrong = Triples(np.array([[0, 1, 2], [3, 4, 5]]), np.ones(2))
    monkeypatch.setattr(gp_posterior, "outstanding", lambda *arguments, **options: wrong)
    ((_, kept),) = conditioner.posteriors(np.arange(1), SCALES)
    np.testing.assert_array_equal(kept.values, plain.values)
    assert len(kept.triples.members) == 0


def test_games_with_and_without_triples_are_yielded_once_each():
    data = sparse_data()
    rng = np.random.default_rng(1)
    odd = np.concatenate([data.odd, data.signs @ rng.standard_normal((D, 2)), data.odd + 0.1], axis=1)
    four = data._replace(odd=odd, delta=np.repeat(data.delta, 4))
    parts = list(conditioned(four).posteriors(np.arange(4), SCALES))
    assert sorted(np.concatenate([games for games, _ in parts])) == [0, 1, 2, 3]
    with_triples = [int(games[0]) for games, found in parts if len(found.triples.members)]
    assert with_triples == [0, 3]
    for games, found in parts:
        assert found.values.shape == found.variances.shape == (D, len(games))
        assert found.predict(data.signs).shape == (300, len(games))


def test_residuals_of_zero_have_no_outstanding_interactions():
    def never(columns):
        raise AssertionError("there is nothing to explain")

    options = {"degrees_of_freedom": 40, "whiten": never, "unwhiten": never}
    assert outstanding(signs_of(50), np.zeros(50), np.ones(D), **options) is NO_TRIPLES


@pytest.mark.parametrize("magnitude", [1e-12, 1.0, 1e12])
def test_additive_games_with_many_pairs_are_exact(magnitude):
    worth = magnitude * np.arange(1.0, 21.0)
    estimate = shapley_values(lambda coalitions: coalitions @ worth, 20, method="gp", max_evals=1000, rng=0)
    np.testing.assert_allclose(estimate.values, worth, rtol=1e-9)


@pytest.mark.parametrize(
    "game",
    [
        lambda c: np.full(len(c), 3.0),
        lambda c: 1e12 * (2 * c.sum(axis=1) > c.shape[1]),
        lambda c: 1e-12 * (c[:, 0] * c[:, 1] * c[:, 2]),
    ],
    ids=["constant", "huge votes", "tiny interaction"],
)
def test_estimates_of_hard_games_with_many_pairs_are_finite_and_efficient(game):
    estimate = shapley_values(game, 13, method="gp", max_evals=1000, rng=0)
    total = game(np.ones((1, 13), bool))[0] - game(np.zeros((1, 13), bool))[0]
    assert np.isfinite(estimate.standard_errors).all()
    np.testing.assert_allclose(estimate.values.sum(), total, rtol=1e-9, atol=1e-20)


def linear_with_interactions(d, count, seed):
    """A linear game with ``count`` interactions of three players, and its Shapley values."""
    rng = np.random.default_rng(seed)
    members = np.array([rng.choice(d, 3, replace=False) for _ in range(count)])
    slopes, coefficients = rng.standard_normal(d), rng.standard_normal(count)

    def game(coalitions):
        z = np.where(coalitions, 1.0, -1.0)
        return z @ slopes + product(z, members) @ coefficients

    return game, 2.0 * slopes + Triples(members, coefficients).shapley(d) @ coefficients


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("d", "count", "budget"), [(20, 8, 1000), (16, 8, 1000), (12, 4, 448)])
def test_linear_games_with_interactions_are_exact(d, count, budget, seed):
    """The residuals are 0, so prior variances must not grow until they fit rounding errors."""
    game, exact = linear_with_interactions(d, count, seed)
    estimate = shapley_values(game, d, method="gp", max_evals=budget, rng=seed)
    np.testing.assert_allclose(estimate.values, exact, atol=1e-7)


def test_only_the_players_that_interact_most_are_in_candidates():
    """With 150 players, 110 are candidates for triples, which contain the players' numbers among all 150."""
    rng = np.random.default_rng(0)
    signs = signs_of(400, d=150)
    alpha = signs[:, [3, 70, 149]].prod(axis=1) + 0.1 * rng.standard_normal(400)
    prices = _prices(np.where(np.isin(np.arange(150), [3, 70, 149]), 1.0, rng.random(150)))
    assert [3, 70, 149] in _Candidates(signs, prices).most_informative(alpha, NO_TRIPLES.members).tolist()
    assert [3, 70, 149] not in _Candidates(signs, prices).most_informative(alpha, np.array([[3, 70, 149]])).tolist()
    cheapest = np.argsort(prices, kind="stable")[:110]
    found = _Candidates(signs, prices).most_informative(rng.standard_normal(400), NO_TRIPLES.members)
    assert np.isin(found, cheapest).all()


def test_the_unbiased_form_finds_interactions():
    """Each fold of about 31 antithetic pairs is enough to explain the other."""
    game, exact = linear_with_interactions(14, 4, seed=0)
    estimate = shapley_values(game, 14, method="gp", unbiased=True, max_evals=1600, rng=0)
    np.testing.assert_allclose(estimate.values, exact, atol=1e-6)


WITHOUT_TRIPLES = partial(GaussianProcessEstimator, settings=GPSettings(fitted_pairs_per_player=np.inf))


def test_a_tolerance_is_met_sooner_with_triples():
    game, exact = linear_with_interactions(20, 8, seed=0)
    estimate = shapley_values(game, 20, method="gp", tol=1e-4, max_evals=4000, rng=0)
    assert estimate.converged
    assert abs(estimate.values - exact).max() < 1e-3
    with pytest.warns(RuntimeWarning, match="did not reach tol"):
        shapley_values(game, 20, method=WITHOUT_TRIPLES, tol=1e-4, max_evals=estimate.n_evals, rng=0)


def test_predictions_need_little_memory():
    import tracemalloc

    ((_, found),) = conditioned(sparse_data()).posteriors(np.arange(1), SCALES)
    many = Triples(np.repeat(found.triples.members, 50, axis=0), np.repeat(found.triples.variances, 50))
    found = found._replace(triples=many, coefficients=np.repeat(found.coefficients, 50, axis=0) / 50)
    signs = np.tile(signs_of(300), (100, 1))
    tracemalloc.start()
    found.predict(signs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 1000 * 8 * (300 * 4 + 2 * len(many.members))


def strong_interactions(coalitions):
    """Eight interactions of three players with different coefficients, in addition to a smooth game of all players."""
    z = np.where(coalitions, 1.0, -1.0)
    rng = np.random.default_rng(3)
    members = [rng.choice(16, 3, replace=False) for _ in range(8)]
    coefficients = rng.standard_normal(8)
    return np.tanh(z @ np.linspace(0.0, 0.3, 16)) + product(z, members) @ coefficients


def test_triples_reduce_the_error_of_games_with_strong_interactions():
    exact = shapley_values(strong_interactions, 16, method="exact", max_evals=2**16).values

    def error(method):
        runs = [shapley_values(strong_interactions, 16, method=method, max_evals=802, rng=seed) for seed in range(3)]
        coverage = np.mean([np.abs(run.values - exact) <= run.interval()[1] - run.values for run in runs])
        return np.mean([(run.values - exact) ** 2 for run in runs]), coverage

    with_triples, coverage = error("gp")
    assert coverage > 0.85
    without, _ = error(WITHOUT_TRIPLES)
    assert with_triples < 0.2 * without


def test_games_with_many_pairs_share_one_factorisation(monkeypatch):
    """With many pairs, games are not refitted, but may have triples; with many games too, they have none."""
    data = sparse_data()
    counted = []
    whiten = Conditioner._whiten
    monkeypatch.setattr(Conditioner, "_whiten", lambda *arguments: counted.append(1) or whiten(*arguments))

    def triples_of(games, settings):
        many = data._replace(
            odd=np.repeat(data.odd, games, axis=1),
            even=np.repeat(data.even, games, axis=1),
            delta=np.repeat(data.delta, games),
        )
        unit, _ = normalised(many)
        pilot = fitting.learn_from_pilots(unit, settings)
        counted.clear()
        return [len(found.triples.members) for _, found in fitting.posteriors(unit, pilot, settings)]

    assert min(triples_of(3, GPSettings())) >= 3
    assert len(counted) == 3
    assert min(triples_of(3, GPSettings(refitted_pairs=299))) >= 3
    assert len(counted) == 1
    assert triples_of(3, GPSettings(refitted_pairs=299, refitted_games=2)) == [0]
    assert len(counted) == 1

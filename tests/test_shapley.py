"""Shapley values of games: axioms, budgets, tolerances, given orderings and errors."""

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sharpley
from sharpley import METHODS, SAMPLERS, KernelHerding, Spearman, from_orderings, shapley_values
from sharpley.coalitions.store import CoalitionStore
from sharpley.engine.methods import as_method
from sharpley.estimators import OwenEstimator, OwenHalvedEstimator
from sharpley.games import Airport, Glove, UnanimitySum, WeightedVoting

OPEN = [m for m, record in METHODS.items() if not record.is_closed_form]
SAMPLED = [m for m in OPEN if m not in ("auto", "exact")]
NOT_ADAPTIVE = [m for m in OPEN if m not in ("auto", "stratified")]
EFFICIENT = [*SAMPLERS, "exact"]


class LookUpGame:
    """A game given by a look-up table of the values of all 2^d coalitions; it records which are evaluated."""

    def __init__(self, values):
        self.values, self.d = np.asarray(values), int(np.log2(len(values)))
        self.evaluated = []

    def __call__(self, coalitions):
        index = coalitions @ (1 << np.arange(self.d))
        self.evaluated += index.tolist()
        return self.values[index]


@st.composite
def look_up_games(draw, max_d=6):
    d = draw(st.integers(1, max_d))
    seed = draw(st.integers(0, 2**32 - 1))
    magnitude = draw(st.sampled_from([1e-9, 1.0, 1e9]))
    return LookUpGame(magnitude * np.random.default_rng(seed).normal(size=2**d))


def solve(game, method, seed=0, **options):
    budget = 60 * game.d**2 + 10
    return shapley_values(game, game.d, method=method, max_evals=budget, rng=seed, **options)


@pytest.mark.parametrize("method", EFFICIENT)
@settings(max_examples=25)
@given(game=look_up_games())
def test_efficiency(method, game):
    estimate = solve(game, method)
    total = game.values[-1] - game.values[0]
    assert estimate.values.sum() == pytest.approx(total, rel=1e-9, abs=1e-9 * np.abs(game.values).max())
    assert estimate.base_values == game.values[0]


@pytest.mark.parametrize("method", [m for m in OPEN if m not in ("auto", "gp-unbiased")])  # its control is inexact
@settings(max_examples=25)
@given(game=look_up_games(max_d=5), position=st.integers(0, 5))
def test_dummy_players_get_zero(method, game, position):
    d = game.d + 1
    player = position % d
    wider = lambda coalitions: game(np.delete(coalitions, player, axis=1))  # noqa: E731
    estimate = shapley_values(wider, d, method=method, max_evals=60 * d**2 + 10, rng=0)
    assert abs(estimate.values[player]) <= 1e-12 * np.abs(game.values).max()


@pytest.mark.parametrize("method", NOT_ADAPTIVE)
@settings(max_examples=25)
@given(game=look_up_games(max_d=5), seed=st.integers(0, 1000))
def test_linearity(method, game, seed):
    # With more players, "gp-unbiased" does not evaluate all coalitions, and learns hyperparameters from the values.
    assume(method != "gp-unbiased" or game.d <= 3)
    other = LookUpGame(np.random.default_rng(seed).normal(size=len(game.values)))
    both = LookUpGame(2 * game.values - 3 * other.values)
    parts = [solve(g, method).values for g in (game, other, both)]
    magnitude = np.abs(both.values).max() + 3 * np.abs(other.values).max()
    np.testing.assert_allclose(2 * parts[0] - 3 * parts[1], parts[2], atol=1e-9 * magnitude)


@settings(max_examples=25)
@given(game=look_up_games(max_d=6), data=st.data())
def test_symmetry_of_exact_values(game, data):
    """Relabelling the players relabels the values, so symmetric players get equal values."""
    relabelling = np.array(data.draw(st.permutations(range(game.d))))
    moved = lambda coalitions: game(coalitions[:, relabelling])  # noqa: E731
    values = solve(game, "exact").values
    again = shapley_values(moved, game.d, method="exact", max_evals=2**game.d).values
    np.testing.assert_allclose(again[relabelling], values, atol=1e-9 * np.abs(game.values).max())


@pytest.mark.parametrize("method", [m for m in OPEN if m != "auto"])
@pytest.mark.parametrize("d", [2, 3, 4, 7])
def test_every_coalition_is_evaluated_once_and_counted(method, d):
    game = LookUpGame(np.random.default_rng(d).normal(size=2**d))
    least = METHODS[method].least_budget(d)
    for budget in {least, least + 7, 2**d, 10_000}:
        if budget < least:
            continue
        game.evaluated.clear()
        estimate = shapley_values(game, d, method=method, max_evals=budget, rng=1)
        assert len(game.evaluated) == len(set(game.evaluated)) == estimate.n_evals <= min(budget, 2**d)
        assert {0, 2**d - 1} <= set(game.evaluated)


@pytest.mark.parametrize("method", ["monte-carlo", "antithetic", "orthogonal", "sobol", "owen"])
def test_the_budget_is_spent(method):
    """The remainder of the budget is less than the maximum cost of a step."""
    game = Airport(tuple(range(1, 13)))
    estimate = shapley_values(game, 12, method=method, max_evals=500, rng=0)
    cost_of_step = {"antithetic": 22, "orthogonal": 22, "owen": 16 * 13}.get(method, 11)
    assert 500 - cost_of_step < estimate.n_evals <= 500


@pytest.mark.parametrize("method", OPEN)
def test_a_single_player_gets_the_whole_value(method):
    estimate = shapley_values(lambda c: 3.0 + 2.0 * c[:, 0], 1, method=method, rng=0)
    assert estimate.values.tolist() == [2.0]
    assert estimate.standard_errors.tolist() == [0.0]
    assert estimate.n_evals == 2


@pytest.mark.parametrize("method", OPEN)
def test_several_outputs_are_estimated_as_separate_games(method):
    games = [Airport((1.0, 2.0, 3.0, 7.0, 9.0)), Glove(2, 3)]
    both = shapley_values(lambda c: np.stack([g(c) for g in games], axis=1), 5, method=method, max_evals=800, rng=0)
    assert both.values.shape == both.standard_errors.shape == (5, 2)
    assert both.base_values.shape == (2,)
    # Both outputs share the choice of coalitions of "stratified", and the hyperparameters of "gp-unbiased".
    if method not in ("stratified", "gp-unbiased"):
        for k, game in enumerate(games):
            alone = shapley_values(game, 5, method=method, max_evals=800, rng=0)
            np.testing.assert_allclose(both.values[:, k], alone.values, atol=1e-12)
            np.testing.assert_allclose(both.standard_errors[:, k], alone.standard_errors, atol=1e-12)


@pytest.mark.parametrize("method", OPEN)
def test_the_same_seed_gives_the_same_result(method):
    game = UnanimitySum.random(9, n_terms=20, max_order=4, rng=0)
    budget = 512 if method == "exact" else 300
    first, second, other = (shapley_values(game, 9, method=method, max_evals=budget, rng=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.standard_errors, second.standard_errors)
    if first.method != "exact":
        assert (first.values != other.values).any()


def test_auto_is_exact_if_all_coalitions_fit_the_budget():
    game = Glove(3, 4)
    assert shapley_values(game, 7, max_evals=128).method == "exact"
    sampled = shapley_values(game, 7, max_evals=127, rng=0)
    assert sampled.method == "gp"
    assert sampled.n_evals <= 127


def test_antithetic_pairs_are_exact_for_interactions_of_two_players():
    game = UnanimitySum.random(9, n_terms=30, max_order=2, rng=0)
    estimate = shapley_values(game, 9, method="antithetic", max_evals=60, rng=0)
    np.testing.assert_allclose(estimate.values, game.shapley_values(), atol=1e-12)
    # Not 0, since other orderings might tell of interactions of more players.
    assert (estimate.standard_errors > 0).all()
    assert (estimate.standard_errors < 0.02 * np.abs(estimate.values).max()).all()


VOTES = WeightedVoting((9, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2), quota=30)


@pytest.mark.parametrize("method", [*SAMPLERS, "owen", "owen-halved", "stratified"])
def test_a_tolerance_stops_early_and_is_met(method):
    game = UnanimitySum.random(12, n_terms=30, max_order=4, rng=2)
    loose, tight = (shapley_values(game, 12, method=method, tol=tol, rng=0) for tol in (0.2, 0.04))
    assert loose.converged
    assert tight.converged
    assert loose.n_evals <= tight.n_evals
    for run, tol in ((loose, 0.2), (tight, 0.04)):
        assert run.standard_errors.max() <= tol * np.ptp(run.values)


def test_tolerance_is_relative_to_the_values():
    game = UnanimitySum.random(12, n_terms=30, max_order=4, rng=2)
    runs = [
        shapley_values(lambda c, s=s: s * game(c), 12, method="antithetic", tol=0.05, rng=0) for s in (1e-6, 1, 1e6)
    ]
    assert runs[0].n_evals == runs[1].n_evals == runs[2].n_evals


def test_stratified_coalitions_have_the_given_size_and_do_not_contain_the_player():
    estimator = as_method("stratified").start(7, np.random.default_rng(0))
    strata = np.arange(49)
    coalitions = estimator._random_coalitions(strata // 7, strata % 7)
    assert coalitions.sum(axis=1).tolist() == (strata % 7).tolist()
    assert not coalitions[strata, strata // 7].any()


def test_a_tolerance_that_is_not_met_gives_a_warning():
    with pytest.warns(RuntimeWarning, match=r"1 of 1 rows did not reach tol=1e-06; raise max_evals"):
        estimate = shapley_values(VOTES, VOTES.d, method="monte-carlo", tol=1e-6, max_evals=300, rng=0)
    assert not estimate.converged
    assert estimate.n_evals <= 300


def test_auto_with_a_tolerance_spends_as_much_as_needed():
    game = UnanimitySum.random(13, n_terms=30, max_order=3, rng=2)
    assert shapley_values(game, 13, tol=0.3, rng=0).n_evals < 500
    precise = shapley_values(game, 13, tol=0.003, rng=0)
    assert precise.n_evals < 4000
    np.testing.assert_allclose(precise.values, game.shapley_values(), atol=1e-4)
    game = UnanimitySum.random(13, n_terms=30, max_order=6, rng=2)
    strict = shapley_values(game, 13, tol=1e-12, rng=0)  # only enumeration meets this tolerance
    assert strict.n_evals == 2**13
    assert strict.converged
    np.testing.assert_allclose(strict.values, game.shapley_values(), atol=1e-12)


@pytest.mark.parametrize("method", SAMPLED)
def test_estimates_from_all_coalitions_are_exact(method):
    game = WeightedVoting((3, 2, 2), quota=4)
    estimate = shapley_values(game, 3, method=method, max_evals=10**6, rng=0)
    if estimate.n_evals == 8:
        np.testing.assert_allclose(estimate.values, 1 / 3)
        assert (estimate.standard_errors == 0).all()
    assert shapley_values(game, 3, method=method, tol=0.001, rng=0).converged


def test_enumeration_is_limited_to_20_players():
    with pytest.raises(ValueError, match="method 'exact' is for at most 20 players, got 40; use another method"):
        shapley_values(lambda c: c[:, 0], 40, method="exact")


def test_constant_games_converge():
    estimate = shapley_values(lambda c: np.full(len(c), 4.0), 30, tol=0.01, rng=0)
    assert estimate.converged
    assert estimate.values.tolist() == [0.0] * 30


@pytest.mark.parametrize("estimator", [OwenEstimator, OwenHalvedEstimator])
def test_the_mean_of_rule_trapezoid_is_a_trapezoidal_sum(estimator):
    """With v(S) = |S|³: the trapezoidal sum of e_i(q) = 3 E[X²] + 3 E[X] + 1, where X ~ Bin(d−1, q)."""
    d, intervals = 10, 3
    top = 1.0 if estimator is OwenEstimator else 0.5
    q = np.linspace(0, top, intervals + 1)
    nodes = np.concatenate([q, 1 - q]) if top < 1 else q
    weights = np.tile([0.5, *[1.0] * (intervals - 1), 0.5], len(nodes) // len(q))
    others = d - 1
    contribution = 3 * (others * nodes * (1 - nodes) + (others * nodes) ** 2) + 3 * others * nodes + 1
    expected = np.average(contribution, weights=weights)

    method = partial(estimator, rule="trapezoid", intervals=intervals)
    cubes = lambda c: c.sum(axis=1).astype(float) ** 3  # noqa: E731
    runs = [shapley_values(cubes, d, method=method, max_evals=900, rng=seed).values.mean() for seed in range(200)]
    assert np.mean(runs) == pytest.approx(expected, abs=4 * np.std(runs) / np.sqrt(200))
    assert abs(expected - 100.0) > 5 * np.std(runs) / np.sqrt(200)  # the rule is biased: φ_i is d² = 100


def test_rule_trapezoid_is_biased_as_the_paper_states():
    """With one interval, the trapezoidal rule uses only coalitions next to ∅ and N, and is biased."""
    game = Airport((1.0, 2.0, 4.0, 8.0, 9.0, 10.0))
    trapezoid = partial(OwenEstimator, rule="trapezoid", intervals=1)
    biased = shapley_values(game, 6, method=trapezoid, max_evals=60, rng=0)
    errors = np.abs(biased.values - game.shapley_values())
    assert errors.max() > 0.5
    assert biased.standard_errors.max() < 0.1 * errors.max()  # the standard errors do not include the bias
    with pytest.raises(ValueError, match="unknown rule 'simpson'; choose one of 'uniform', 'trapezoid'"):
        OwenEstimator(4, rule="simpson")


def test_a_method_with_settings_is_given_by_partial():
    game = Glove(3, 4)
    method = partial(KernelHerding, kernel=Spearman(), n_candidates=3)
    estimate = shapley_values(game, 7, method=method, max_evals=100, rng=0)
    assert estimate.method == "KernelHerding"
    np.testing.assert_allclose(estimate.values, game.shapley_values(), atol=5 * estimate.standard_errors.max())


def test_from_orderings_is_the_weighted_mean_over_walks():
    game = UnanimitySum.random(5, n_terms=9, max_order=5, rng=3)
    orderings = sharpley.MonteCarlo(5, rng=0).random(20)
    weights = np.random.default_rng(0).random(20)
    expected = np.zeros(5)
    for ordering, weight in zip(orderings, weights / weights.sum(), strict=True):
        coalition = np.zeros((1, 5), dtype=bool)
        for player in ordering:
            before = game(coalition)[0]
            coalition[0, player] = True
            expected[player] += weight * (game(coalition)[0] - before)
    estimate = from_orderings(game, orderings, weights)
    np.testing.assert_allclose(estimate.values, expected)
    assert np.isnan(estimate.standard_errors).all()


def test_from_orderings_accepts_a_single_player():
    assert from_orderings(lambda c: 2.0 * c[:, 0], [[0], [0]]).values.tolist() == [2.0]


def test_weights_that_do_not_sum_to_one_raise_an_error():
    method = partial(sharpley.SequentialBayesianQuadrature, normalize=False)
    with pytest.raises(ValueError, match="must sum to 1; use normalize=True"):
        shapley_values(VOTES, VOTES.d, method=method, max_evals=200, rng=0)


def test_from_orderings_with_groups_has_standard_errors():
    game = UnanimitySum.random(5, n_terms=9, max_order=5, rng=3)
    orderings = sharpley.Antithetic(5, rng=0).random(40)
    estimate = from_orderings(game, orderings, groups=np.arange(40) // 2)
    of_pairs = np.array([from_orderings(game, orderings[i : i + 2]).values for i in range(0, 40, 2)])
    np.testing.assert_allclose(estimate.standard_errors, of_pairs.std(axis=0, ddof=1) / np.sqrt(20))
    np.testing.assert_allclose(from_orderings(game, sharpley.all_orderings(5)).values, game.shapley_values())


def test_intervals_use_students_t_distribution():
    from scipy.stats import t

    five = partial(sharpley.Sobol, replicates=5)
    estimate = shapley_values(VOTES, VOTES.d, method=five, max_evals=500, rng=0)
    lower, upper = estimate.interval(0.9)
    degrees_of_freedom = estimate.degrees_of_freedom
    np.testing.assert_allclose(degrees_of_freedom, 4, rtol=0.02)
    np.testing.assert_allclose(upper - estimate.values, t(degrees_of_freedom).ppf(0.95) * estimate.standard_errors)
    np.testing.assert_allclose(estimate.values - lower, upper - estimate.values)
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, got 95; for 95% give 0\.95"):
        estimate.interval(95)


def test_intervals_of_exact_values_have_zero_width():
    estimate = shapley_values(Glove(2, 2), 4)
    for limit in estimate.interval():
        np.testing.assert_array_equal(limit, estimate.values)


def test_results_are_immutable():
    with pytest.raises(AttributeError):
        shapley_values(Glove(1, 1), 2).values = 0


def test_the_store_keeps_each_coalition_once():
    store = CoalitionStore(10)
    rng = np.random.default_rng(0)
    coalitions = rng.random((300, 10)) < 0.5
    positions = store.add(coalitions)
    np.testing.assert_array_equal(store.since(0)[positions], coalitions)
    assert len(store) == len({tuple(c) for c in coalitions.tolist()} | {(False,) * 10, (True,) * 10})
    before = len(store)
    assert store.add_within(rng.random((40, 10)) < 0.5, before) is None
    assert len(store) == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"max_evals": 5},
            ValueError,
            r"max_evals=5 is too small for method 'auto' with 6 players: the least budget is max_evals=8",
        ),
        ({"max_evals": 5, "method": "monte-carlo"}, ValueError, "at least 12"),
        ({"max_evals": 63, "method": "exact"}, ValueError, "at least 64"),
        ({"max_evals": 20, "method": "stratified"}, ValueError, "at least 64"),
        ({"max_evals": 1}, ValueError, "max_evals must be at least 2, got 1"),
        ({"max_evals": 2.5}, TypeError, "max_evals must be an integer, got 2.5"),
        ({"tol": 0}, ValueError, "tol must lie between 0 and 1, got 0"),
        ({"tol": 5}, ValueError, "tol must lie between 0 and 1, got 5: it is a share of the range"),
        ({"tol": float("nan")}, ValueError, "tol must lie between 0 and 1"),
        ({"method": "shapley"}, ValueError, "unknown method 'shapley'; choose one of 'auto', 'monte-carlo'"),
        ({"method": 3}, TypeError, "method must be a name, or a class of samplers or estimators"),
        ({"method": lambda d, rng: 7}, TypeError, "must make a Sampler or a CoalitionEstimator"),
    ],
)
def test_invalid_arguments_raise_an_error_before_the_game_is_called(arguments, error, message):
    def never(coalitions):
        raise AssertionError("the game was called")

    with pytest.raises(error, match=message):
        shapley_values(never, 6, **arguments)


@pytest.mark.parametrize(
    ("game", "error", "message"),
    [
        (lambda c: c[:-1, 0], ValueError, r"shape \(2,\) or \(2, k\) for 2 coalitions, got \(1,\)"),
        (
            lambda c: np.full(len(c), np.nan),
            ValueError,
            r"finite values, got \[nan\] for the coalition of players \[\]",
        ),
        (lambda c: np.array(["a"] * len(c)), TypeError, "the game must return real numbers, got dtype <U1"),
        (7, TypeError, "game must be callable"),
    ],
)
def test_invalid_games_raise_specific_errors(game, error, message):
    with pytest.raises(error, match=message):
        shapley_values(game, 4)


@pytest.mark.parametrize("exponent", [-700, 700])
def test_values_from_orderings_may_have_any_magnitude(exponent):
    """Squares of such numbers are not finite, or 0."""
    orderings, groups = sharpley.MonteCarlo(6, rng=0).random(12), np.arange(12)
    costs = np.arange(1.0, 7.0)
    usual = sharpley.from_orderings(Airport(tuple(costs)), orderings, groups=groups)
    scaled = sharpley.from_orderings(Airport(tuple(np.ldexp(costs, exponent))), orderings, groups=groups)
    np.testing.assert_array_equal(np.ldexp(scaled.values, -exponent), usual.values)
    np.testing.assert_allclose(np.ldexp(scaled.standard_errors, -exponent), usual.standard_errors, rtol=1e-12)
    assert (usual.standard_errors > 0).all()

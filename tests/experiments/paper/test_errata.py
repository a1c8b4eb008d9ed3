"""The slips of the paper, one by one, as ``docs/errata.md`` lists them: what is printed, and what is right."""

import re
from pathlib import Path

import numpy as np
import pytest

import sharpley
from sharpley import (
    Kendall,
    KernelHerding,
    Mallows,
    MonteCarlo,
    Orthogonal,
    SequentialBayesianQuadrature,
    Sobol,
    Spearman,
)
from sharpley.games import UnanimitySum
from sharpley.permutations.orderings import all_orderings, discordant_pairs, ranks_of
from sharpley.permutations.quadrature import discrepancy
from sharpley.permutations.sphere import (
    dot_product_bounds,
    nearest_orderings,
    permutohedron,
    polar_to_cartesian,
    to_hyperplane,
    uniform_to_polar,
)
from sharpley_experiments.paper.evaluation.compare import AS_IN_CODE, IN_RANGE
from sharpley_experiments.paper.evaluation.series import ON_ORDERINGS, SAMPLERS_OF_SEQUENCES
from sharpley_experiments.paper.images.time_exhibit import LINEAR, PRINTED, STATED_SHARE
from sharpley_experiments.paper.tables.printed import discrepancies
from sharpley_experiments.paper.theory.propositions import _chi_squared as chi_squared

KERNEL = Mallows(4.0)
PAGE = Path(__file__).parents[3] / "docs" / "errata.md"


def mean_discrepancy(make, trials=25, n=100, d=10):
    return np.mean([discrepancy(make(seed, n, d), kernel=KERNEL) for seed in range(trials)])


# Conventions


def test_argsort_of_a_point_is_an_ordering_and_ranks_are_its_inverse():
    points = np.random.default_rng(0).standard_normal((50, 6))
    orderings = nearest_orderings(points)
    ranks = ranks_of(orderings)
    entered = np.take_along_axis(to_hyperplane(points), orderings, axis=1)
    assert (np.diff(entered, axis=1) > 0).all()  # the player with the smallest coordinate enters first
    np.testing.assert_array_equal(np.take_along_axis(orderings, ranks, axis=1), np.tile(np.arange(7), (50, 1)))


def test_kernels_of_orderings_instead_of_ranks_ruin_herding():
    """A sample that is well spread as ranks is not well spread as orderings."""
    right = mean_discrepancy(lambda seed, n, d: KernelHerding(d, fresh=True, rng=seed).random(n))
    wrong = mean_discrepancy(lambda seed, n, d: ranks_of(KernelHerding(d, fresh=True, rng=seed).random(n)))
    assert right == pytest.approx(0.0591, abs=0.001)
    assert wrong == pytest.approx(0.0888, abs=0.003)


def test_discordant_pairs_of_inverses_are_others():
    everything = all_orderings(4)
    assert (discordant_pairs(everything) != discordant_pairs(ranks_of(everything))).sum() == 296


def test_discordant_pairs_are_invariant_under_relabelling_alone():
    """n_dis(σ∘τ, σ'∘τ) = n_dis(σ, σ') for rank vectors; the printed n_dis(τσ, τσ') fails in 7,104 of 13,824 triples."""
    ranks = all_orderings(4)
    right = _discordant(ranks)
    relabelled = np.array([_discordant(ranks[:, tau]) for tau in ranks])
    printed = np.array([_discordant(tau[ranks]) for tau in ranks])
    assert (relabelled == right).all()
    assert (printed != right).sum() == 7104


def _discordant(ranks):
    signs = np.sign(ranks[:, :, None] - ranks[:, None, :])
    return (signs[:, None] != signs[None]).sum(axis=(2, 3)) // 2


def test_antithetic_is_the_reverse_and_not_the_inverse():
    def paired(other):
        def make(seed, n, d):
            first = MonteCarlo(d, rng=seed).random(n // 2)
            return np.concatenate([first, other(first)])

        return mean_discrepancy(make, trials=60)

    independent = mean_discrepancy(lambda seed, n, d: MonteCarlo(d, rng=seed).random(n), trials=60)
    assert paired(lambda first: first[:, ::-1]) == pytest.approx(0.085, abs=0.002)
    assert paired(ranks_of) == pytest.approx(independent, abs=0.003)


# Formulas


@pytest.mark.parametrize(("d", "expected"), [(10, 0.153035), (50, 0.137937), (200, 0.135949)])
def test_the_mean_of_the_mallows_kernel(d, expected):
    assert KERNEL.mean(d) == pytest.approx(expected, abs=5e-7)


def test_the_means_of_the_other_kernels():
    assert Spearman().mean(7) == 7 * 8**2 / 4
    assert Kendall().mean(7) == 0


def test_the_derivation_of_herding_has_a_wrong_sign():
    """D² falls by −K(I, I)/(n+1)² + …, where a plus is printed; at n = 1 that is ½ too much."""
    everything = all_orderings(3)
    for n in (1, 4):
        chosen = everything[np.random.default_rng(n).integers(6, size=n)]
        for pi in everything:
            fall = discrepancy(chosen, kernel=KERNEL) ** 2
            fall -= discrepancy(np.vstack([chosen, pi]), kernel=KERNEL) ** 2
            rest = (2 * n + 1) / (n * (n + 1)) ** 2 * KERNEL.gram(chosen).sum()
            rest -= 2 / (n + 1) ** 2 * KERNEL.gram(chosen, pi[None]).sum()
            assert fall == pytest.approx(rest - 1 / (n + 1) ** 2)
            assert rest + 1 / (n + 1) ** 2 - fall == pytest.approx(2 / (n + 1) ** 2)  # what is printed
    two = np.array([[0, 1, 2], [2, 0, 1]])  # two of three pairs are discordant
    fall = discrepancy(two[:1], kernel=KERNEL) ** 2 - discrepancy(two, kernel=KERNEL) ** 2
    assert fall == pytest.approx(0.465258, abs=1e-6)  # .965258 by the printed formula


def test_the_permutohedron_is_scaled_by_the_distance_from_its_centre():
    ranks = all_orderings(5) + 1.0
    lengths = np.linalg.norm(ranks - 3.0, axis=1)
    np.testing.assert_allclose(lengths, np.sqrt(5 * 24 / 12))
    np.testing.assert_allclose(np.linalg.norm(permutohedron(all_orderings(5)), axis=1), 1.0)
    assert not np.allclose(np.linalg.norm(ranks - 3.0, axis=1) / np.linalg.norm(ranks, axis=1), 1.0)


def test_the_variance_of_antithetic_pairs():
    """(σ²/n)(1 + Corr), with a square that the paper omits; and 1/n², not 1/n, before the sum of covariances."""
    game = UnanimitySum.random(4, n_terms=8, max_order=4, rng=0)
    everything = all_orderings(4)
    along = np.array([sharpley.from_orderings(game, ordering[None]).values for ordering in everything])
    reverse = np.array([sharpley.from_orderings(game, ordering[None, ::-1]).values for ordering in everything])
    pairs = (along + reverse) / 2
    variance, n = along.var(axis=0), 2
    covariance = ((along - along.mean(0)) * (reverse - along.mean(0))).mean(axis=0)
    np.testing.assert_allclose(pairs.var(axis=0), variance / n * (1 + covariance / variance))
    np.testing.assert_allclose(pairs.var(axis=0), (2 * variance + 2 * covariance) / n**2)


def test_efficiency_subtracts_the_empty_coalition():
    values = sharpley.shapley_values(lambda members: 7.0 + members @ [1.0, 2.0, 3.0], 3, rng=0).values
    assert values.sum() == pytest.approx(6.0)  # v(N) is 13


# Algorithms


def test_quadrature_weights_as_printed_do_not_add_up_to_one():
    sums, normalised, printed = [], [], []
    for seed in range(25):
        sampler = SequentialBayesianQuadrature(10, fresh=True, rng=seed)
        orderings = sampler.random(10)
        raw = sharpley.quadrature_weights(orderings, kernel=KERNEL, normalize=False)
        sums.append(raw.sum())
        printed.append(discrepancy(orderings, raw, kernel=KERNEL))
        normalised.append(discrepancy(orderings, sampler.weights(orderings), kernel=KERNEL))
    assert np.mean(sums) == pytest.approx(0.73, abs=0.01)
    assert np.mean(printed) == pytest.approx(0.204, abs=0.003)
    assert np.mean(normalised) == pytest.approx(0.240, abs=0.003)  # what the paper's table prints


def test_gram_schmidt_as_printed_leaves_no_vector():
    """The inner loop runs to i itself in print, which subtracts the vector from itself."""
    x = np.random.default_rng(0).standard_normal(3)
    x /= np.linalg.norm(x)
    x -= (x @ x) * x  # j = i, as printed
    assert np.linalg.norm(x) < 1e-9
    block = Orthogonal(4, rng=0).random(6)  # with the loop that ends before i, and QR
    assert len(np.unique(block, axis=0)) == 6
    assert chi_squared(Orthogonal(4, rng=0).random(12_000)) < 60


def test_the_matrix_of_algorithm_3_has_one_column_too_many():
    """Points of d coordinates on the sphere are orderings of d + 1 players."""
    points = np.random.default_rng(0).standard_normal((6, 4))
    assert nearest_orderings(points).shape == (6, 5)
    assert nearest_orderings(points[:, :3]).shape == (6, 4)


def test_the_rows_of_algorithm_3_are_off_by_one():
    k = 6
    filled = {row for i in range(1, k // 2 + 1) for row in (2 * i, 2 * i + 1)}
    assert filled == {2, 3, 4, 5, 6, 7}  # not 1, and beyond k
    assert {row for i in range(1, k // 2 + 1) for row in (2 * i - 1, 2 * i)} == set(range(1, k + 1))


def test_polar_coordinates_as_printed_are_not_on_the_sphere():
    """The printed condition i < d − 2 omits a cosine: some permutations never occur, and χ² is enormous."""
    angles = uniform_to_polar(np.random.default_rng(0).random((24_000, 2)))
    first, last = angles.T
    printed = np.stack([np.cos(first), np.sin(first), np.sin(first) * np.sin(last)], axis=1)
    right = polar_to_cartesian(angles)
    np.testing.assert_allclose(np.linalg.norm(right, axis=1), 1.0)
    assert not np.allclose(np.linalg.norm(printed, axis=1), 1.0)
    assert chi_squared(nearest_orderings(right)) < 60
    assert chi_squared(nearest_orderings(printed)) > 20_000
    assert len(np.unique(nearest_orderings(printed), axis=0)) < 24


def test_the_first_unscrambled_sobol_point_is_a_pole():
    pole = polar_to_cartesian(uniform_to_polar(np.zeros((1, 4))))
    assert np.sort(np.abs(pole[0]))[:-1] == pytest.approx(0.0)


def test_a_mean_over_a_grid_with_both_end_points_is_biased():
    """Owen's integral of e(q): the plain mean, the trapezoid rule and the midpoint rule with 16 points."""
    game = UnanimitySum.random(8, n_terms=30, max_order=6, rng=1)
    sizes, terms = game.members.sum(axis=1), game.coefficients[:, None] * game.members

    def at(q):
        return (q ** (sizes - 1))[None] @ terms

    grid, middles = np.linspace(0, 1, 16), (np.arange(16) + 0.5) / 16
    on_grid = np.concatenate([at(q) for q in grid])
    plain = on_grid.mean(axis=0)
    trapezoid = (on_grid[1:] + on_grid[:-1]).sum(axis=0) / 2 / 15
    midpoint = np.concatenate([at(q) for q in middles]).mean(axis=0)
    errors = [np.abs(rule - game.shapley_values()).max() for rule in (plain, trapezoid, midpoint)]
    assert errors[0] > 5 * errors[1] > 5 * errors[2]


def test_one_draw_in_each_stratum_has_no_variance():
    assert sharpley.METHODS["stratified"].least_budget(8) == 2 + 2 * 8 + 2 * 2 * 8 * 6  # two draws where there is one


def test_three_slips_leave_every_permutation_equally_likely():
    """A χ² test cannot see them: inverses instead of reverses, kernels of orderings, weights that do not add up."""
    first = MonteCarlo(4, rng=0).random(12_000)
    assert chi_squared(np.concatenate([first, ranks_of(first)])) < 90  # pairs are correlated
    herded = np.concatenate([KernelHerding(4, fresh=True, rng=seed).random(24) for seed in range(200)])
    assert chi_squared(ranks_of(herded)) < 60  # what kernels of orderings would have chosen
    sampler = SequentialBayesianQuadrature(4, fresh=True, rng=0)
    orderings = sampler.random(12)
    raw = sharpley.quadrature_weights(orderings, kernel=KERNEL, normalize=False)
    assert raw.sum() < 0.99  # a matter of weights, not of the orderings


# Counting


def test_orderings_share_the_ends():
    seen = set()
    orderings = MonteCarlo(6, rng=0).random(5)
    for ordering in orderings:
        seen |= {frozenset(ordering[:k].tolist()) for k in range(7)}
    assert len(seen) <= 5 * (6 - 1) + 2 < 5 * 7


def test_breast_cancer_has_569_rows_of_30_columns():
    from sharpley_experiments.common.datasets import load

    assert load("breast_cancer").X.shape == (569, 30)


def test_the_range_of_the_figures():
    """5,000 marginal evaluations are 46 orderings of adult by the text, 92 by the early code; 55 and 109 of year."""
    for view, adult, year in ((IN_RANGE, 46, 55), (AS_IN_CODE, 92, 109)):
        assert view.includes(adult, 107)
        assert not view.includes(adult + 1, 107)
        assert view.includes(year, 90)
        assert not view.includes(year + 1, 90)


# Proofs, tables


@pytest.mark.parametrize("d", [3, 4, 5, 6, 7])
def test_the_bounds_of_theorem_2_hold_for_all_permutations(d):
    points, orderings = permutohedron(all_orderings(d)), all_orderings(d)
    dot = points @ points[0]
    kendall = 1 - 2 * discordant_pairs(orderings, orderings[:1])[:, 0] / (d * (d - 1) / 2)
    low, high = dot_product_bounds(kendall)
    assert (dot >= low - 1e-12).all()
    assert (dot <= high + 1e-12).all()


def test_the_proof_of_theorem_2_swaps_its_bounds():
    """Σ weights is at least f(m) and at most f(M), so ν is at most ν(I) − f(m), where the paper prints f(M)."""
    d = 6
    everything = all_orderings(d) + 1
    loss = (np.arange(1, d + 1) ** 2).sum() - everything @ np.arange(1, d + 1)
    inversions = discordant_pairs(all_orderings(d), all_orderings(d)[:1])[:, 0]

    def f(s):
        return (d + 2 * s - 1) * (d - s + 1) * (d - s) // 6

    m = np.array([min(s for s in range(d + 1) if (d + s - 1) * (d - s) // 2 <= k) for k in inversions])
    most = np.array([max(s for s in range(d + 1) if (d - s) * (d - s + 1) // 2 >= k) for k in inversions])
    assert (f(m) <= loss).all()
    assert (loss <= f(most)).all()
    assert (loss < f(most)).any()  # so ν ≤ ν(I) − f(M), as printed, fails


def test_the_proof_of_theorem_2_interchanges_floor_and_ceiling():
    """m is the smallest and M the largest integer of an inequality: a ceiling and a floor."""
    wrong, pairs = np.zeros(2, dtype=int), 0
    for d in range(3, 40):
        k = np.arange(d * (d - 1) // 2 + 1)
        s = np.arange(d + 1)[:, None]
        m = np.maximum(1, ((d + s - 1) * (d - s) // 2 <= k).argmax(axis=0))  # the first; 0 and 1 have the same sum
        most = d - ((d - s) * (d - s + 1) // 2 >= k)[::-1].argmax(axis=0)  # the last
        lower, upper = (np.sqrt(4 * d**2 - 4 * d - 8 * k + 1) + 1) / 2, (2 * d - np.sqrt(8 * k + 1) + 1) / 2
        np.testing.assert_array_equal(np.ceil(lower - 1e-9), m)
        np.testing.assert_array_equal(np.floor(upper + 1e-9), most)
        wrong += (np.floor(lower + 1e-9) != m).sum(), (np.ceil(upper - 1e-9) != most).sum()
        pairs += len(k)
    assert (*wrong, pairs) == (9139, 9139, 9916)


def test_pairwise_halves_do_not_make_an_ordering_uniform():
    """The step of Theorem 1's proof: a coin between an ordering and its reverse has all pairwise probabilities ½."""
    both = np.array([[0, 1, 2], [2, 1, 0]])
    ranks = ranks_of(both)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert (ranks[:, i] < ranks[:, j]).mean() == 0.5
    assert len(np.unique(both, axis=0)) == 2  # of six


def test_the_caption_of_table_5_contradicts_its_numbers():
    shares = {method: PRINTED[method][0] / sum(PRINTED[method]) for method in LINEAR}
    assert shares["orthogonal"] == pytest.approx(0.0056, abs=1e-4)
    assert shares["orthogonal"] > STATED_SHARE > shares["antithetic"]


def test_table_4_has_the_printed_order_of_the_angles():
    """The printed order is nearer to what Table 4 prints, .069 and .018; the reverse order is significantly lower."""

    def reverse(seed, n, d):
        angles = uniform_to_polar(Sobol(d, rng=seed)._uniforms(n)[:, ::-1])  # the last one spans the circle
        return nearest_orderings(polar_to_cartesian(angles)[:, ::-1])

    for n, trials, here, there in ((100, 40, 0.0684, 0.0669), (1000, 25, 0.0177, 0.0169)):
        printed = [discrepancy(Sobol(10, rng=seed).random(n), kernel=KERNEL) for seed in range(trials)]
        other = [discrepancy(reverse(seed, n, 10), kernel=KERNEL) for seed in range(trials)]
        error = np.hypot(np.std(printed, ddof=1), np.std(other, ddof=1)) / trials**0.5
        assert np.mean(printed) - np.mean(other) > 3 * error
        assert np.mean(printed) == pytest.approx(here, rel=0.015)
        assert np.mean(other) == pytest.approx(there, rel=0.015)
        published = discrepancies()[10, n, "sobol"].mean
        assert abs(np.mean(printed) - published) < abs(np.mean(other) - published)


def test_spearman_on_orderings_herds_no_better_than_monte_carlo():
    """As in the early repository: the error is Monte Carlo's, where the kernel of ranks divides it by three."""
    game = UnanimitySum.random(8, n_terms=40, max_order=2, rng=0)

    def squared_error(make, trials=40):
        estimates = (sharpley.from_orderings(game, make(seed).random(100)).values for seed in range(trials))
        return np.mean([((values - game.shapley_values()) ** 2).mean() for values in estimates])

    random = squared_error(lambda seed: MonteCarlo(8, rng=seed))
    on_orderings = squared_error(lambda seed: SAMPLERS_OF_SEQUENCES[ON_ORDERINGS](8, rng=seed))
    on_ranks = squared_error(lambda seed: SAMPLERS_OF_SEQUENCES["spearman"](8, rng=seed))
    assert on_orderings == pytest.approx(random, rel=0.25)
    assert on_ranks < 0.4 * random


def test_the_example_after_theorem_2_omits_a_factor():
    d = 2_000
    k = round(d * 2 ** (-1 / 3))
    kendall = 1 - 2 * (k * (k - 1) / 2) / (d * (d - 1) / 2)
    assert kendall == pytest.approx(1 - 2 * 2 ** (-2 / 3), abs=1e-3)  # −0.26, where the paper prints 0.37


# The page


def test_the_repository_is_called_early_wherever_it_is_named():
    root = PAGE.parents[1]
    for path in [*(root / "src").rglob("*.py"), *(root / "docs").glob("*.md"), root / "README.md"]:
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert not re.search(r"authors' (?!early)(code|repository)", text), path


def test_every_item_of_the_page_names_a_check_that_exists():
    text = PAGE.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row.split("|")[1]) for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 40
    root = PAGE.parents[1]
    for row in rows:
        check = row.rsplit("|", 2)[1]
        names = re.findall(r"`(test_\w+)`", check)
        files = re.findall(r"`(tests/[\w/]+\.py)`", text)
        assert names or "not tested" in check, row
        sources = [Path(__file__), *(root / file for file in files)]
        for name in names:
            assert any(f"def {name}(" in source.read_text(encoding="utf-8") for source in sources), name

"""The paper's figures of Kendall correlations and of Sobol' points: tables, and findings that detect wrong tables."""

from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sharpley import Kendall, MonteCarlo, all_orderings
from sharpley.permutations.sphere import dot_product_bounds, permutohedron
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.geometry import (
    kendall_bounds,
    kendall_distribution,
    sobol_histogram,
    sobol_sphere,
)

NOWHERE = Path("nowhere")  # geometry stores nothing
QUICK = Context(PRESETS["quick"], NOWHERE)
XYZ = ["x", "y", "z"]


# Kendall correlations


def test_random_pairs_follow_the_exact_distribution():
    """Inversions of a random permutation: the coefficients of Π (1 + q + … + q^{j−1}) / d!."""
    preset = PRESETS["laptop"]
    table = kendall_distribution.compute(Context(preset, NOWHERE))
    random = table[table["relation"] == "random"]
    exact = np.array([1.0])
    for j in range(1, 11):
        exact = np.convolve(exact, np.ones(j) / j)
    inversions = np.rint((1 - random["kendall"]) * 22.5).astype(int)
    counts = np.bincount(inversions, weights=random["pairs"], minlength=46)
    assert counts.sum() >= preset.n_pairs - 1
    expected = counts.sum() * exact
    use = expected > 5
    # Pairs of one block share orderings, so χ² is not exact, but a wrong distribution gives thousands.
    assert ((counts - expected) ** 2 / expected)[use].sum() < 2 * use.sum()


def test_pairs_of_equal_permutations_are_omitted(monkeypatch):
    class Same(MonteCarlo):
        def _random(self, n):
            return np.tile(np.arange(self.d), (n, 1))

    monkeypatch.setattr(kendall_distribution, "MonteCarlo", Same)
    assert set(kendall_distribution.compute(QUICK)["sample"]) == {"orthogonal"}


def test_one_in_seventeen_pairs_is_of_opposite_vectors(geometry_tables):
    table = geometry_tables["kendall-distribution"]
    orthogonal = table[table["sample"] == "orthogonal"]
    shares = orthogonal.groupby("relation")["pairs"].sum() / orthogonal["pairs"].sum()
    assert shares["opposite"] == pytest.approx(1 / 17)


def test_density_integrates_to_one(geometry_tables):
    at = np.linspace(-1.5, 1.5, 3001)
    heights = kendall_distribution.density(geometry_tables["kendall-distribution"], at)
    assert np.trapezoid(heights, at) == pytest.approx(1, abs=1e-6)


def test_random_vectors_instead_of_orthogonal_ones_are_detected(geometry_tables):
    table = geometry_tables["kendall-distribution"]
    random = table[table["relation"] == "random"]
    fake = pd.concat([random.assign(relation="orthogonal"), table[table["relation"] != "orthogonal"]])
    assert [finding.verdict for finding in kendall_distribution.findings(fake)[:3]] == ["does not hold"] * 3


def test_points_have_the_given_angles():
    angles = np.linspace(0, np.pi, 9)
    first, second = kendall_bounds.points_at_angles(np.random.default_rng(0), angles)
    np.testing.assert_allclose(np.linalg.norm([first, second], axis=2), 1)
    np.testing.assert_allclose((first * second).sum(axis=1), np.cos(angles), atol=1e-12)


def test_pairs_are_compared_row_by_row():
    rng = np.random.default_rng(1)
    a, b = (rng.permuted(np.tile(np.arange(6), (8, 1)), axis=1) for _ in range(2))
    kendall, dot = kendall_bounds.compare(a, b)
    np.testing.assert_allclose(kendall, np.diagonal(Kendall().gram(a, b)))
    np.testing.assert_allclose(dot, np.diagonal(permutohedron(a) @ permutohedron(b).T), atol=1e-12)


@pytest.mark.parametrize("d", [3, 4, 5, 7])
def test_all_limits_hold_for_all_permutations_and_those_of_daniels_are_attained(d):
    everything = all_orderings(d)
    kendall, dot = kendall_bounds.compare(np.tile(np.arange(d), (len(everything), 1)), everything)
    inversions = np.rint((1 - kendall) / 2 * d * (d - 1) / 2).astype(int)
    at, lower, upper = kendall_bounds.counted_bounds(d)
    np.testing.assert_allclose(at[inversions], kendall)
    assert kendall_bounds.inside(dot, (lower[inversions], upper[inversions])).all()
    assert kendall_bounds.inside(dot, dot_product_bounds(kendall)).all()
    low, high = kendall_bounds.daniels_bounds(kendall, d)
    assert kendall_bounds.inside(dot, (low, high)).all()
    assert (dot - low).min() == pytest.approx(0, abs=1e-9)
    assert (high - dot).min() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("d", [3, 10, 15, 40])
def test_the_theorem_holds_without_its_term_in_one_over_d(d):
    kendall, lower, upper = kendall_bounds.counted_bounds(d)
    limits = dot_product_bounds(kendall)
    assert kendall_bounds.inside(lower, limits).all()
    assert kendall_bounds.inside(upper, limits).all()


def test_a_pair_outside_the_limits_is_detected(geometry_tables):
    table = geometry_tables["kendall-bounds"].copy()
    table.loc[0, ["kendall", "dot"]] = [0.0, 0.6]  # the limit is 2 − √2 = 0.586
    verdicts = [finding.verdict for finding in kendall_bounds.findings(table)]
    assert verdicts[0] == "does not hold"


def test_a_nonlinear_relation_to_the_angle_is_detected(geometry_tables):
    table = geometry_tables["kendall-bounds"].copy()
    table["kendall"] = np.where(table["source"] == "angle", np.cos(table["angle"]), table["kendall"])
    assert kendall_bounds.findings(table)[2].verdict == "does not hold"


def test_the_papers_example_by_counting():
    """Reversing k of d players reduces the dot product by 2 k(k²−1) / (d(d²−1)): from 1 to −1 if k = d."""
    d, k = 15, np.arange(1, 16)
    kendall, dot = kendall_bounds.compare(np.tile(np.arange(d), (d, 1)), kendall_bounds.prefix_reversed(d))
    np.testing.assert_allclose(kendall, 1 - 2 * k * (k - 1) / (d * (d - 1)))
    np.testing.assert_allclose(dot, 1 - 2 * k * (k * k - 1) / (d * (d * d - 1)), atol=1e-12)


# Sobol' points


def test_cap_discrepancy_is_the_mean_over_caps(geometry_tables):
    points = sobol_sphere._first(geometry_tables["sobol-sphere"], "random")
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(20_000, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    heights = rng.uniform(-1, 1, len(centres))
    shares = (centres @ points.T >= heights[:, None]).mean(axis=1)
    squares = (shares - (1 - heights) / 2) ** 2
    noise = 4 * squares.std() / np.sqrt(len(squares))
    assert sobol_sphere._measures(points)[0] ** 2 == pytest.approx(squares.mean(), abs=noise)


def test_the_smallest_angle_is_that_of_the_closest_points(geometry_tables):
    points = sobol_sphere._first(geometry_tables["sobol-sphere"], "Sobol'")
    closest = min(np.arccos(a @ b) for a, b in combinations(points, 2))
    assert sobol_sphere._measures(points)[1] == pytest.approx(closest)


def test_sobol_points_are_on_the_sphere_and_better_than_random_ones(geometry_tables):
    table = geometry_tables["sobol-sphere"]
    np.testing.assert_allclose(np.linalg.norm(table[XYZ].to_numpy(), axis=1), 1)
    assert (table.groupby(["sample", "trial"]).size() == 200).all()
    swapped = table.assign(sample=table["sample"].map({"Sobol'": "random", "random": "Sobol'"}))
    assert sobol_sphere.findings(swapped)[0].verdict == "does not hold"


def test_orderings_are_counted_in_lexicographic_order():
    orderings = np.random.default_rng(3).permuted(np.tile(np.arange(4), (100, 1)), axis=1)
    counter = Counter(map(tuple, orderings.tolist()))
    expected = [counter[ordering] for ordering in permutations(range(4))]
    np.testing.assert_array_equal(sobol_histogram._counts(orderings), expected)


def test_chi_square_agrees_with_scipy_and_is_as_expected_for_random_samples():
    table = sobol_histogram.compute(Context(PRESETS["laptop"], NOWHERE))
    assert (table.groupby(["sample", "trial"])["count"].agg(["sum", "size"]) == [1000, 24]).all(axis=None)
    first = table[(table["sample"] == "Sobol'") & (table["trial"] == 0)]["count"]
    assert sobol_histogram.chi_squares(table, "Sobol'")[0] == pytest.approx(stats.chisquare(first).statistic)
    random = sobol_histogram.chi_squares(table, "random")
    assert stats.chi2(23 * len(random)).sf(random.sum()) > 1e-3
    assert stats.chi2(23 * len(random)).cdf(random.sum()) > 1e-3


def test_random_permutations_instead_of_sobols_are_detected(geometry_tables):
    table = geometry_tables["sobol-histogram"]
    random = table[table["sample"] == "random"]
    fake = pd.concat([random, random.assign(sample="Sobol'")])
    assert sobol_histogram.findings(fake)[0].verdict == "does not hold"

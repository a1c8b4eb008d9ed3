import numpy as np
import pytest
from scipy import integrate, stats

from sharpley import Kendall, MonteCarlo, Orthogonal, all_orderings
from sharpley.permutations import sphere

POINTS = np.random.default_rng(0).normal(size=(20, 6))


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_basis_is_orthonormal_and_in_the_hyperplane(d):
    basis = sphere.hyperplane_basis(d)
    assert basis.shape == (d - 1, d)
    np.testing.assert_allclose(basis @ basis.T, np.eye(d - 1), atol=1e-14)
    np.testing.assert_allclose(basis.sum(axis=1), 0, atol=1e-14)


def test_embedding_is_multiplication_by_the_basis():
    np.testing.assert_allclose(sphere.to_hyperplane(POINTS), POINTS @ sphere.hyperplane_basis(7), atol=1e-14)


def test_nearest_ordering_has_the_largest_dot_product():
    """Equation 12 of the paper, by trying all vertices."""
    everything = all_orderings(5)
    points = POINTS[:, :4]
    best = np.argmax(sphere.to_hyperplane(points) @ sphere.permutohedron(everything).T, axis=1)
    np.testing.assert_array_equal(sphere.nearest_orderings(points), everything[best])


@pytest.mark.parametrize("d", [2, 3, 6])
def test_vertices_lie_on_the_unit_sphere_of_the_hyperplane(d):
    vertices = sphere.permutohedron(all_orderings(d))
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1.0)
    np.testing.assert_allclose(vertices.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5, 40])
def test_polar_points_are_on_the_sphere_and_uniform(m):
    """Each coordinate of a uniform point on the sphere in ℝ^{m+1} is distributed as 2B − 1, B ~ Beta(m/2, m/2)."""
    uniforms = np.random.default_rng(10 + m).random((4000, m))
    points = sphere.polar_to_cartesian(sphere.uniform_to_polar(uniforms))
    assert points.shape == (4000, m + 1)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
    for coordinate in points.T[[0, m // 2, m - 1, m]]:
        assert stats.kstest((coordinate + 1) / 2, stats.beta(m / 2, m / 2).cdf).pvalue > 1e-4


@pytest.mark.parametrize("m", [2, 3, 9])
def test_angles_invert_their_cumulative_distribution(m):
    """For every angle but the last, F_j is computed by numerical integration of sin^{m−j}."""
    u = 0.137
    angles = sphere.uniform_to_polar(np.full((1, m), u))[0]
    for j in range(1, m):
        area = [integrate.quad(lambda x, p=m - j: np.sin(x) ** p, 0, top)[0] for top in (angles[j - 1], np.pi)]
        assert area[0] / area[1] == pytest.approx(u, rel=1e-8)
    assert angles[-1] == pytest.approx(2 * np.pi * u)


def test_points_without_angles_have_one_coordinate():
    assert sphere.uniform_to_polar(np.empty((3, 0))).shape == (3, 0)
    assert sphere.polar_to_cartesian(np.empty((3, 0))).tolist() == [[1.0]] * 3


def exact_bounds(d):
    """Bounds on the dot product for each number of inversions k, as in the proof before its asymptotics.

    The k inversions are k distinct edges {a, b} of weight |a − b|: at best the lightest ones, at worst the heaviest.
    """
    weights = np.sort(np.concatenate([np.full(d - w, w) for w in range(1, d)]))
    lost = (
        np.concatenate([[0], np.cumsum(weights)]),
        np.concatenate([[0], np.cumsum(weights[::-1])]),
    )
    return 1 - lost[1] * 12 / (d * (d * d - 1)), 1 - lost[0] * 12 / (d * (d * d - 1))


@pytest.mark.parametrize("d", [3, 5, 7, 15, 50])
def test_theorem_2_bounds_the_dot_product_by_kendalls_tau(d):
    orderings = all_orderings(d) if d < 8 else np.concatenate([MonteCarlo(d, rng=0).random(2000), nearly_sorted(d)])
    identity = np.arange(d)[None]
    kendall = Kendall().gram(identity, orderings)[0]
    dot = (sphere.permutohedron(identity) @ sphere.permutohedron(orderings).T)[0]

    inversions = np.rint((1 - kendall) / 2 * d * (d - 1) / 2).astype(int)
    low, high = exact_bounds(d)
    assert (low[inversions] - 1e-12 <= dot).all()
    assert (dot <= high[inversions] + 1e-12).all()

    lower, upper = sphere.dot_product_bounds(kendall)
    assert (lower - 3 / d <= dot).all()
    assert (dot <= upper + 3 / d).all()


def nearly_sorted(d):
    """The paper's example of permutations close to the bound, with the first k players reversed, for every k."""
    return np.array([np.r_[np.arange(k)[::-1], np.arange(k, d)] for k in range(d + 1)])


def test_theorem_2_bounds_meet_at_equal_and_reversed_permutations():
    for bound in sphere.dot_product_bounds([1.0, -1.0]):
        np.testing.assert_allclose(bound, [1.0, -1.0])


def test_orthogonal_points_give_permutations_far_apart():
    """|K_τ| ≤ 1/2 + o(1) between directions of one block."""
    block = Orthogonal(60, rng=0).random(118)[::2]
    between = Kendall().gram(block)[np.triu_indices(59, 1)]
    assert np.abs(between).max() < 0.5

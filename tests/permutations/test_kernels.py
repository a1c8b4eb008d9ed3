from itertools import permutations

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import two_sets_of_orderings

from sharpley import Adjacency, Hamming, Kendall, Mallows, MonteCarlo, Spearman, all_orderings
from sharpley.permutations.kernels import KERNELS, kernel_by_name

NAMES = list(KERNELS)


@pytest.mark.parametrize("name", NAMES)
@given(two_sets_of_orderings(max_d=6))
def test_gram_matches_the_definition(name, sets):
    np.testing.assert_allclose(KERNELS[name]().gram(*sets), oracles.gram(name, *sets), atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", NAMES)
def test_mean_is_the_average_over_all_permutations_for_every_ordering(name, d):
    kernel, everything = KERNELS[name](), all_orderings(d)
    np.testing.assert_allclose(kernel.gram(everything).mean(axis=1), kernel.mean(d), atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.5, 20.0, 1000.0])
def test_mallows_mean_at_any_scale(scale):
    kernel = Mallows(scale)
    assert kernel.mean(5) == pytest.approx(kernel.gram(all_orderings(5))[0].mean(), rel=1e-12)


@pytest.mark.parametrize(("d", "mean"), [(10, 0.153035), (50, 0.137937), (200, 0.135949)])
def test_mallows_mean_at_the_papers_dimensions(d, mean):
    assert Mallows(4.0).mean(d) == pytest.approx(mean, abs=5e-7)


def test_mallows_mean_is_stable_at_large_d():
    """n_dis / N concentrates at 1/2 with variance ≈ 1/(9d), so the mean tends to exp(−λ/2)."""
    assert Mallows(4.0).mean(20_000) == pytest.approx(np.exp(-2.0), rel=1e-4)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", NAMES)
def test_gram_of_all_permutations_is_positive_semi_definite(name, d):
    eigenvalues = np.linalg.eigvalsh(KERNELS[name]().gram(all_orderings(d)))
    assert eigenvalues.min() > -1e-10 * max(1.0, eigenvalues.max())


def test_only_mallows_is_universal():
    everything = all_orderings(4)
    rank = {name: np.linalg.matrix_rank(KERNELS[name]().gram(everything)) for name in NAMES}
    assert rank == {"mallows": 24, "kendall": 6, "spearman": 4, "hamming": 10, "adjacency": 6}


@pytest.mark.parametrize("kernel", [Kendall(), Spearman()])
@given(sets=two_sets_of_orderings())
def test_features_reproduce_the_kernel(kernel, sets):
    a, b = sets
    np.testing.assert_allclose(kernel.features(a) @ kernel.features(b).T, kernel.gram(a, b), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_kernels_are_invariant_under_relabelling(name, data):
    a, b = data.draw(two_sets_of_orderings())
    relabelling = np.array(data.draw(st.permutations(range(a.shape[1]))))
    kernel = KERNELS[name]()
    np.testing.assert_allclose(kernel.gram(relabelling[a], relabelling[b]), kernel.gram(a, b))


@pytest.mark.parametrize("name", ["mallows", "kendall"])
def test_look_up_table_contains_the_kernel_for_each_number_of_discordant_pairs(name):
    kernel, a = KERNELS[name](), MonteCarlo(9, rng=0).random(20)
    from sharpley import discordant_pairs

    np.testing.assert_allclose(kernel.discordance_table(9)[discordant_pairs(a)], kernel.gram(a))


def test_there_is_no_look_up_table_beyond_the_memory_limit():
    assert Mallows().discordance_table(2_896) is not None
    assert Mallows().discordance_table(2_897) is None


@pytest.mark.parametrize("scale", [-1.0, float("nan"), float("inf")])
def test_invalid_scale_raises_an_error(scale):
    with pytest.raises(ValueError, match=f"scale must be finite and at least 0, got {scale}"):
        Mallows(scale)


def test_kernels_are_found_by_name():
    assert kernel_by_name("mallows", 2.5) == Mallows(2.5)
    assert kernel_by_name("kendall") == Kendall()
    with pytest.raises(
        ValueError, match="unknown kernel 'rbf'; choose one of 'mallows', 'kendall', 'spearman', 'hamming', 'adjacency'"
    ):
        kernel_by_name("rbf")
    with pytest.raises(ValueError, match=r"the kendall kernel has no scale, got 2\.0; only mallows has one"):
        kernel_by_name("kendall", 2.0)


def test_oracle_agrees_with_hand_computed_values():
    """On S₂ there is a single pair of players, concordant or discordant."""
    (a, b) = permutations(range(2))
    assert oracles.kernel_value("kendall", a, b) == -1
    assert oracles.kernel_value("mallows", a, b, scale=np.log(2)) == pytest.approx(0.5)
    assert oracles.kernel_value("spearman", a, b) == 4


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_directed_neighbours(d):
    kernel, everything = Adjacency(directed=True), all_orderings(d)
    gram = kernel.gram(everything)
    np.testing.assert_allclose(gram.mean(axis=1), kernel.mean(d), atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    if d > 2:
        assert gram[0, -1] == 0.0  # the reverse has no neighbours in this direction


@pytest.mark.parametrize("kernel", [Spearman(), Hamming(), Adjacency(), Adjacency(directed=True)])
def test_sums_over_many_orderings_follow_from_their_total(kernel):
    a, b = MonteCarlo(7, rng=0).random(20), MonteCarlo(7, rng=1).random(30)
    weights = np.random.default_rng(2).normal(size=30)
    np.testing.assert_allclose(kernel.sums(a, kernel.total(b, weights)), kernel.gram(a, b) @ weights)
    np.testing.assert_allclose(kernel.sums(a, kernel.total(b)), kernel.gram(a, b).sum(axis=1))

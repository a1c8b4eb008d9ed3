import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import orderings

from sharpley import Kendall, Mallows, MonteCarlo, Spearman, all_orderings, discrepancy
from sharpley import quadrature_weights as best_weights
from sharpley.permutations import quadrature
from sharpley.permutations.kernels import KERNELS


@pytest.mark.parametrize("name", list(KERNELS))
@given(data=st.data())
def test_discrepancy_matches_its_definition(name, data):
    a = data.draw(orderings(max_d=4))
    numbers = st.floats(-2, 2).map(lambda x: round(x, 3))
    weights = np.array(data.draw(st.lists(numbers, min_size=len(a), max_size=len(a))))
    expected = oracles.discrepancy(name, a, weights)
    assert discrepancy(a, weights, kernel=KERNELS[name]()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kernel", [Mallows(4.0), Mallows(0.0), Mallows(30.0), Kendall(), Spearman()])
def test_discrepancy_of_all_permutations_is_zero(kernel, d):
    assert discrepancy(all_orderings(d), kernel=kernel) < 1e-7


def test_discrepancy_is_invariant_under_relabelling():
    a = MonteCarlo(9, rng=0).random(40)
    relabelling = np.random.default_rng(1).permutation(9)
    assert discrepancy(relabelling[a]) == pytest.approx(discrepancy(a), rel=1e-12)


@pytest.mark.parametrize("kernel", [Mallows(4.0), Spearman()])
def test_blocks_of_the_gram_matrix_add_up(kernel, monkeypatch):
    a = MonteCarlo(6, rng=0).random(53)
    whole = discrepancy(a, kernel=kernel)
    monkeypatch.setattr(quadrature, "MAX_BLOCK_ELEMENTS", 64)
    assert discrepancy(a, kernel=kernel) == pytest.approx(whole, rel=1e-9)
    k = kernel.gram(a) - kernel.mean(6)
    assert whole == pytest.approx(np.sqrt(k.mean()), rel=1e-9)


def test_weights_solve_the_linear_system_of_the_paper():
    a = MonteCarlo(7, rng=0).random(30)
    kernel = Mallows(4.0)
    raw = best_weights(a, kernel=kernel, normalize=False)
    np.testing.assert_allclose(kernel.gram(a) @ raw, kernel.mean(7), atol=1e-8)
    np.testing.assert_allclose(best_weights(a, kernel=kernel), raw / raw.sum(), rtol=1e-8)


@pytest.mark.parametrize("kernel", [Mallows(4.0), Kendall(), Spearman()])
@given(data=st.data())
def test_normalised_weights_are_optimal_among_weights_that_sum_to_one(kernel, data):
    a = data.draw(orderings(max_d=6))
    weights = best_weights(a, kernel=kernel)
    assert weights.sum() == pytest.approx(1.0)
    least = discrepancy(a, weights, kernel=kernel)
    change = np.random.default_rng(0).normal(size=(20, len(a)))
    for direction in change - change.mean(axis=1, keepdims=True):
        assert discrepancy(a, weights + 0.1 * direction, kernel=kernel) >= least - 1e-4


def test_unnormalised_weights_have_lower_discrepancy_but_do_not_sum_to_one():
    a = MonteCarlo(10, rng=0).random(10)
    raw = best_weights(a, normalize=False)
    assert raw.sum() < 0.8
    assert discrepancy(a, raw) < discrepancy(a, best_weights(a)) < discrepancy(a)


def test_repeated_orderings_share_one_weight():
    a = MonteCarlo(5, rng=0).random(6)
    repeated = np.concatenate([a, a[:2], a[:1]])
    once, shared = best_weights(a), best_weights(repeated)
    np.testing.assert_allclose(shared[[6, 7, 8]], shared[[0, 1, 0]])
    np.testing.assert_allclose(shared[0] * 3, once[0])
    assert discrepancy(repeated, shared) == pytest.approx(discrepancy(a, once))


@pytest.mark.parametrize("kernel", [Mallows(4.0), Spearman()])
def test_conjugate_gradients_agree_with_factorisation(kernel, monkeypatch):
    a = MonteCarlo(7, rng=0).random(200)
    factorised = discrepancy(a, best_weights(a, kernel=kernel), kernel=kernel)
    monkeypatch.setattr(quadrature, "MAX_DENSE_ORDERINGS", 50)
    monkeypatch.setattr(quadrature, "MAX_BLOCK_ELEMENTS", 1000)
    iterated = best_weights(a, kernel=kernel)
    assert iterated.sum() == pytest.approx(1.0)
    assert discrepancy(a, iterated, kernel=kernel) == pytest.approx(factorised, rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("function", [discrepancy, best_weights])
def test_twenty_thousand_orderings_in_bounded_memory(function):
    """The Gram matrix alone would occupy 3.2 GB."""
    import tracemalloc

    a = MonteCarlo(8, rng=0).random(20_000)
    function(a[:2000])
    tracemalloc.start()
    function(a)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"shape \(2,\), one for each ordering, got \(1,\)"),
        ([[0.5, 0.5]], r"got \(1, 2\)"),
        ([0.5, np.nan], r"weights\[1\] is nan"),
        ([np.inf, 0.5], r"weights\[0\] is inf"),
    ],
)
def test_invalid_weights_raise_an_error(weights, message):
    with pytest.raises(ValueError, match=message):
        discrepancy([[0, 1], [1, 0]], weights)


@pytest.mark.parametrize("function", [discrepancy, best_weights])
def test_an_empty_set_of_orderings_raises_an_error(function):
    with pytest.raises(ValueError, match="at least one row, got 0 rows"):
        function(np.empty((0, 3), int))


@pytest.mark.parametrize("d", [4, 11, 12, 30, 100])
def test_tiles_and_threads_change_nothing(d, monkeypatch):
    """Numbers of orderings that are no multiples of a tile, codes of one word and of many."""
    a, weights = MonteCarlo(d, rng=0).random(70), np.random.default_rng(0).normal(size=70)
    gram = Mallows().gram(a)
    expected = np.sqrt(weights @ (gram - Mallows().mean(d)) @ weights + Mallows().mean(d) * (1 - weights.sum()) ** 2)
    assert discrepancy(a, weights) == pytest.approx(expected, rel=1e-9)
    monkeypatch.setattr(quadrature, "THREADED_WORDS", 0)
    assert discrepancy(a, weights) == pytest.approx(expected, rel=1e-9)


def test_long_computations_say_how_long_they_will_take(monkeypatch, capsys):
    monkeypatch.setattr(quadrature, "THREADED_WORDS", 0)
    discrepancy(MonteCarlo(12, rng=0).random(70), progress=True)
    assert "discrepancy of 70 orderings, about 0 s" in capsys.readouterr().err

"""The contract that every sampler in the registry satisfies."""

import copy
from functools import partial

import numpy as np
import pytest
from scipy import stats

from sharpley import (
    SAMPLERS,
    Antithetic,
    KernelHerding,
    Mallows,
    Orthogonal,
    PermutationDesign,
    SequentialBayesianQuadrature,
    Sobol,
    all_orderings,
)
from sharpley.engine.methods import as_sampler
from sharpley.permutations.orderings import as_orderings

NESTED_SAMPLERS = {
    **{name: make for name, make in SAMPLERS.items() if name != "design"},
    "nested-design": partial(PermutationDesign, nested=True),
    "nested-pairs": partial(PermutationDesign, nested=True, paired=True),
    "fresh-herding": partial(KernelHerding, fresh=True),
    "fresh-sbq": partial(SequentialBayesianQuadrature, fresh=True),
}
every_sampler = pytest.mark.parametrize("make", SAMPLERS.values(), ids=SAMPLERS)


@every_sampler
@pytest.mark.parametrize("d", [1, 2, 3, 7, 70])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 45])
def test_rows_are_permutations(make, d, n):
    orderings = make(d, rng=0).random(n)
    assert orderings.shape == (n, d)
    assert orderings.dtype == np.int64
    as_orderings(orderings)


@every_sampler
def test_equal_seeds_yield_equal_samples(make):
    np.testing.assert_array_equal(make(6, rng=3).random(9), make(6, rng=3).random(9))
    assert (make(6, rng=3).random(9) != make(6, rng=4).random(9)).any()


@every_sampler
def test_reusing_a_generator_yields_different_samples(make):
    generator = np.random.default_rng(0)
    assert (make(6, rng=generator).random(9) != make(6, rng=generator).random(9)).any()


@every_sampler
def test_restoring_a_generators_state_restores_the_sample(make):
    generator = np.random.default_rng(0)
    state = copy.deepcopy(generator.bit_generator.state)
    first = make(6, rng=generator).random(9)
    generator.bit_generator.state = state
    np.testing.assert_array_equal(make(6, rng=generator).random(9), first)


@pytest.mark.parametrize("make", NESTED_SAMPLERS.values(), ids=NESTED_SAMPLERS)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("parts", [(1, 1, 1), (3, 8, 0, 2), (31, 1, 40), (7, 8, 9)])
def test_calls_continue_one_sequence(make, d, parts):
    sampler = make(d, rng=0)
    pieces = np.concatenate([sampler.random(n) for n in parts])
    np.testing.assert_array_equal(pieces, make(d, rng=0).random(sum(parts)))


@every_sampler
def test_reset_restarts_the_sequence(make):
    sampler = make(5, rng=0)
    first = sampler.random(11)
    assert (sampler.random(11) != first).any()
    assert sampler.reset() is sampler
    np.testing.assert_array_equal(sampler.random(11), first)


@every_sampler
def test_spawned_samplers_are_independent_of_each_other_and_of_the_parent(make):
    parent = make(8, rng=0)
    children = parent.spawn(3)
    samples = [sampler.random(6) for sampler in (parent, *children)]
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        assert (samples[i] != samples[j]).any()
    np.testing.assert_array_equal(make(8, rng=0).spawn(3)[2].random(6), samples[3])
    np.testing.assert_array_equal(make(8, rng=0).random(6), samples[0])
    assert {type(child) for child in children} == {make}


def test_spawned_samplers_keep_their_settings():
    child = KernelHerding(5, kernel=Mallows(1.0), n_candidates=3, rng=0).spawn(1)[0]
    assert (child.d, child.kernel, child.n_candidates) == (5, Mallows(1.0), 3)


@every_sampler
def test_weights_sum_to_one(make):
    sampler = make(5, rng=0)
    orderings = sampler.random(12)
    weights = sampler.weights(orderings)
    assert weights.shape == (12,)
    assert weights.sum() == pytest.approx(1.0)


N_SEEDS = 2400


@pytest.mark.parametrize("make", (SAMPLERS | NESTED_SAMPLERS).values(), ids=SAMPLERS | NESTED_SAMPLERS)
def test_every_ordering_of_the_sequence_is_uniform(make):
    """χ² test over all of S₄ for each position of the sequence, with independent seeds; biased samplers fail by far."""
    generator = np.random.default_rng(20221)
    samples = np.stack([make(4, rng=generator).random(7) for _ in range(N_SEEDS)])
    index = {tuple(ordering): i for i, ordering in enumerate(all_orderings(4).tolist())}
    limit = stats.chi2(23).ppf(1 - 1e-4)
    for position in range(samples.shape[1]):
        counts = np.bincount([index[tuple(x)] for x in samples[:, position].tolist()], minlength=24)
        chi2 = ((counts - N_SEEDS / 24) ** 2 / (N_SEEDS / 24)).sum()
        assert chi2 < limit, f"ordering {position}: χ² = {chi2:.1f}"


@every_sampler
@pytest.mark.parametrize("d", [2, 3])
def test_small_dimensions_are_uniform(make, d):
    generator = np.random.default_rng(7)
    samples = np.concatenate([make(d, rng=generator).random(1) for _ in range(1200)])
    _, counts = np.unique(samples, axis=0, return_counts=True)
    assert len(counts) == len(all_orderings(d))
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("make", [Antithetic, Orthogonal])
def test_each_ordering_is_followed_by_its_reverse(make):
    orderings = make(6, rng=0).random(24)
    np.testing.assert_array_equal(orderings[1::2], orderings[::2, ::-1])


def test_orthogonal_blocks_shrink_at_large_d(monkeypatch):
    from sharpley.samplers import orthogonal

    monkeypatch.setattr(orthogonal, "MAX_MATRIX_ELEMENTS", 30)
    sampler = Orthogonal(11, rng=0)
    assert (sampler.n_directions, sampler.unit) == (3, 6)
    directions = orthogonal.random_directions(np.random.default_rng(0), 3, 10)
    np.testing.assert_allclose(directions @ directions.T, np.eye(3), atol=1e-12)
    as_orderings(sampler.random(20))


@every_sampler
@pytest.mark.parametrize(
    ("d", "error", "message"),
    [
        (0, ValueError, "d must be at least 1, got 0"),
        (-2, ValueError, "d must be at least 1, got -2"),
        (2.5, TypeError, "d must be an integer, got 2.5"),
        ("3", TypeError, "d must be an integer, got '3'"),
    ],
)
def test_invalid_d_raises_an_error(make, d, error, message):
    with pytest.raises(error, match=message):
        make(d)


@every_sampler
@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (-1, ValueError, "n must be at least 0, got -1"),
        (1.5, TypeError, r"n must be an integer, got 1\.5"),
    ],
)
def test_invalid_n_raises_an_error(make, n, error, message):
    with pytest.raises(error, match=message):
        make(3).random(n)


def test_unknown_method_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown method 'sobel'; choose one of 'monte-carlo', 'antithetic'"):
        as_sampler("sobel").start_sampler(4)


def test_sobol_dimension_limit():
    assert Sobol(21_203).d == 21_203
    with pytest.raises(ValueError, match=r"21,201 dimensions, so d must be at most 21,203, got 21,204"):
        Sobol(21_204)


@pytest.mark.parametrize("name", ["herding", "sbq"])
def test_invalid_settings_of_greedy_samplers_raise_an_error(name):
    with pytest.raises(ValueError, match="n_candidates must be at least 1, got 0"):
        SAMPLERS[name](4, n_candidates=0)
    with pytest.raises(TypeError, match="kernel must be a Kernel such as Mallows"):
        SAMPLERS[name](4, kernel="mallows")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["monte-carlo", "antithetic", "orthogonal", "sobol"])
def test_ten_thousand_players(name):
    as_orderings(SAMPLERS[name](10_000, rng=0).random(50))

import numpy as np
import oracles
import pytest
from hypothesis import given
from strategies import orderings, two_sets_of_orderings

from sharpley import MonteCarlo, all_orderings, discordant_pairs, ranks_of
from sharpley.permutations.orderings import as_orderings


@given(two_sets_of_orderings())
def test_discordant_pairs_match_counting_one_by_one(sets):
    a, b = sets
    expected = [[oracles.discordant_pairs(x, y) for y in b] for x in a]
    assert discordant_pairs(a, b).tolist() == expected


@pytest.mark.parametrize("d", [11, 12, 63, 64, 65, 128, 129, 200])
def test_discordant_pairs_across_word_boundaries(d):
    a = MonteCarlo(d, rng=d).random(12)
    ranks = np.argsort(a, axis=1)
    above = ranks[:, :, None] > ranks[:, None, :]
    expected = (above[:, None] != above[None]).sum(axis=(2, 3)) // 2
    np.testing.assert_array_equal(discordant_pairs(a), expected)
    np.testing.assert_array_equal(discordant_pairs(a, a[:, ::-1]), d * (d - 1) // 2 - expected)


@given(two_sets_of_orderings())
def test_discordant_pairs_are_invariant_under_relabelling(sets):
    a, b = sets
    relabelling = np.random.default_rng(0).permutation(a.shape[1])
    np.testing.assert_array_equal(discordant_pairs(relabelling[a], relabelling[b]), discordant_pairs(a, b))


def test_inverting_permutations_changes_the_number_of_discordant_pairs():
    """The paper's aside that it does not is false: it changes for 296 of 576 pairs of permutations (erratum 3)."""
    everything = all_orderings(4)
    assert (discordant_pairs(everything) != discordant_pairs(ranks_of(everything))).sum() == 296


@given(orderings())
def test_ranks_invert_orderings(a):
    np.testing.assert_array_equal(
        np.take_along_axis(ranks_of(a), a, axis=1), np.tile(np.arange(a.shape[1]), (len(a), 1))
    )


@pytest.mark.parametrize(("d", "count"), [(1, 1), (2, 2), (3, 6), (5, 120), (7, 5040)])
def test_all_orderings_are_complete_and_distinct(d, count):
    everything = all_orderings(d)
    assert everything.shape == (count, d)
    assert len(np.unique(as_orderings(everything), axis=0)) == count


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([0, 1], ValueError, r"shape \(n, d\).*got \(2,\)"),
        (np.empty((3, 0), int), ValueError, r"got \(3, 0\)"),
        ([[0.0, 1.0]], TypeError, "integers, got dtype float64"),
        ([["a", "b"]], TypeError, "integers"),
        ([[0, 1], [0, 2]], ValueError, "row 1 .* entry 1 is 2"),
        ([[0, 1], [0, -1]], ValueError, "row 1 .* entry 1 is -1"),
        ([[0, 1, 2], [2, 1, 1]], ValueError, "row 1 .* entry 2 repeats player 1"),
        ([[1, 2, 3]], ValueError, "entry 2 is 3; players are numbered from 0: subtract 1"),
    ],
)
def test_invalid_orderings_raise_an_error_that_names_the_entry(bad, error, message):
    with pytest.raises(error, match=message):
        as_orderings(bad)


def test_sets_with_different_numbers_of_players_raise_an_error():
    with pytest.raises(ValueError, match="the same number of players, got d=2 and d=3"):
        discordant_pairs([[0, 1]], [[0, 1, 2]])


def test_enumerating_too_many_orderings_raises_an_error():
    with pytest.raises(ValueError, match="11! orderings do not fit into memory: d must be at most 10, got 11"):
        all_orderings(11)

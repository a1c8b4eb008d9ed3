import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharpley import shapley_values
from sharpley.coalitions.enumeration import all_coalitions
from sharpley.games import Airport, Glove, UnanimitySum, WeightedVoting

small = st.integers(1, 7)
games = st.one_of(
    st.lists(st.floats(0, 10), min_size=1, max_size=7).map(lambda costs: Airport(tuple(costs))),
    st.builds(Glove, st.integers(0, 4), st.integers(1, 4)),
    st.builds(
        lambda weights, share: WeightedVoting(tuple(weights), quota=1 + int(share * sum(weights))),
        st.lists(st.integers(0, 6), min_size=1, max_size=7),
        st.floats(0, 0.99),
    ),
    st.builds(
        lambda d, terms, seed: UnanimitySum.random(d, n_terms=terms, max_order=d, rng=seed),
        small,
        st.integers(1, 12),
        st.integers(0, 1000),
    ),
)


@given(games)
def test_closed_forms_are_the_shapley_values(game):
    exact = shapley_values(game, game.d, method="exact", max_evals=2**game.d)
    np.testing.assert_allclose(game.shapley_values(), exact.values, atol=1e-12)


def test_values_by_hand():
    coalitions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    assert Airport((1.0, 2.0, 4.0))(coalitions).tolist() == [0, 1, 4, 4]
    assert Glove(1, 2)(coalitions).tolist() == [0, 0, 0, 1]
    assert WeightedVoting((3, 2, 2), quota=4)(coalitions).tolist() == [0, 0, 1, 1]
    terms = UnanimitySum(np.array([[1, 0, 0], [0, 1, 1]], dtype=bool), np.array([5.0, 7.0]))
    assert terms(coalitions).tolist() == [0, 5, 7, 12]


def test_enumeration_lists_every_coalition_once():
    coalitions = all_coalitions(5)
    assert coalitions.shape == (32, 5)
    assert len(np.unique(coalitions, axis=0)) == 32


def test_textbook_glove_game():
    """With one left-hand and two right-hand gloves, the Shapley values are 2/3, 1/6 and 1/6."""
    np.testing.assert_allclose(Glove(1, 2).shapley_values(), [2 / 3, 1 / 6, 1 / 6])


def test_power_indices_of_the_security_council():
    """Five permanent members with a veto and ten others have the Shapley–Shubik indices of the literature."""
    council = WeightedVoting((7,) * 5 + (1,) * 10, quota=39)
    np.testing.assert_allclose(council.shapley_values(), [0.1963] * 5 + [0.00186] * 10, atol=5e-5)

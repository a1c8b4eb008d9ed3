"""Hypothesis strategies."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def orderings(draw, max_d=8, max_n=6, min_n=1):
    d = draw(st.integers(1, max_d))
    n = draw(st.integers(min_n, max_n))
    return np.array([draw(st.permutations(range(d))) for _ in range(n)], dtype=int).reshape(n, d)


@st.composite
def two_sets_of_orderings(draw, max_d=8, max_n=5):
    """Two arrays of orderings of the same players, (n, d) and (m, d)."""
    d = draw(st.integers(1, max_d))
    rows = st.lists(st.permutations(range(d)), min_size=1, max_size=max_n)
    return np.array(draw(rows)), np.array(draw(rows))

"""The models of the second battery: their values by another way."""

import numpy as np
import pytest

import sharpley
from sharpley_experiments.battery.models import enumerated, stress_models


def test_values_of_terms_are_those_of_all_coalitions():
    rng = np.random.default_rng(0)
    background, row = rng.normal(size=(30, 4)), rng.normal(size=4)

    def function(x):
        return x[:, 0] * x[:, 1] + np.exp(x[:, 2]) * x[:, 3]

    games = sharpley.MarginalGame(function, background, row[None])
    expected = sharpley.estimate(games, method="exact", draws="shared").values[0]
    np.testing.assert_allclose(enumerated(function, background, row), expected, atol=1e-12)


@pytest.mark.parametrize("position", [3, 7, 9, 10, 14, 18, 23])
def test_values_add_up(position):
    model = stress_models(0)[position]
    total = model.predict(model.rows) - model.predict(model.background).mean()
    np.testing.assert_allclose(model.exact().sum(axis=1), total, rtol=1e-9, atol=1e-9 * np.abs(model.exact()).max())

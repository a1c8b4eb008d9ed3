"""Explainers with shap's interface and clusterings: as few evaluations as shap's own need are enough."""

import numpy as np
import pytest
import shap

from sharpley.adapters.shap import PermutationExplainer
from sharpley.adapters.shap.clustering import TreeOrderings

SHAPE = (4, 5, 3)
D = 60
IMAGE = np.random.default_rng(0).random((1, *SHAPE))
MASKER = shap.maskers.Image(np.zeros(SHAPE), SHAPE)


def brightness(images):
    return images[:, 0].mean(axis=(1, 2)) * images[:, 1, 1, 1]


def explain(max_evals, **arguments):
    seen = []

    def model(images):
        seen.append(len(images))
        return brightness(images)

    found = PermutationExplainer(model, MASKER, **arguments)(IMAGE, max_evals=max_evals, silent=True)
    return found, sum(seen)


@pytest.mark.parametrize("max_evals", [2 * D, 2 * D + 1, 4 * D - 3, 4 * D - 2, 10 * D])
def test_budgets_of_shaps_are_enough_and_are_not_exceeded(max_evals):
    found, calls = explain(max_evals)
    assert found.base_values[0] + found.values[0].sum() == pytest.approx(brightness(IMAGE)[0])
    assert 0 < found.error_std.max() < np.inf
    assert calls <= max_evals


def test_single_orderings_are_unbiased_and_their_errors_are_those_of_the_mean():
    runs = [explain(2 * D, seed=seed)[0] for seed in range(200)]
    values, errors = (np.array([getattr(run, name)[0].ravel() for run in runs]) for name in ("values", "error_std"))
    many = explain(4000, seed=1)[0]
    spread = values.std(axis=0, ddof=1)
    some = spread > 0.2 * spread.max()  # most pixels never matter
    away = (values.mean(axis=0) - many.values[0].ravel())[some]
    noise = np.hypot(spread / np.sqrt(len(runs)), many.error_std[0].ravel())[some]
    assert np.sqrt(np.mean((away / noise) ** 2)) < 1.7
    assert np.sqrt((errors[:, some] ** 2).mean() / (spread[some] ** 2).mean()) == pytest.approx(1, abs=0.25)


def test_less_than_that_is_an_error_with_the_least_budget():
    with pytest.raises(ValueError, match="too small for a tree of 60 players: it needs at least 120, and 60 more"):
        explain(2 * D - 1)


def test_a_long_text_is_explained_by_default():
    def model(texts):
        return np.array([float(text.count("good")) for text in texts])

    found = PermutationExplainer(model, shap.maskers.Text(r"\W"))(["good bad film " * 60], silent=True)
    np.testing.assert_allclose(found.values[0][:180], [1.0, 0.0, 0.0] * 60, atol=1e-9)


@pytest.mark.parametrize("paired", [True, False])
def test_orderings_respect_the_tree(paired):
    tree = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    orderings = TreeOrderings(3, clustering=tree, paired=paired, rng=0).random(400)
    every, counts = np.unique(orderings, axis=0, return_counts=True)
    assert every.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0]]
    assert counts.min() > 70
    reverses = (orderings[::2] == orderings[1::2, ::-1]).all(axis=1)
    assert reverses.all() == paired

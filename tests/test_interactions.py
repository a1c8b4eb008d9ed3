"""Interactions as people use them: from an explainer to matrices, frames, files, rankings, shap and shapiq."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import sharpley
from sharpley import InteractionEstimate, plotting
from sharpley.games import UnanimitySum

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(60, 4)), columns=["age", "sex", "income", "noise"])


def model(frame):
    x = np.asarray(frame)
    return x[:, 0] * x[:, 1] + 2.0 * x[:, 2]


@pytest.fixture(scope="module")
def explained():
    return sharpley.Explainer(model, FRAME[:20], rng=0).interactions(FRAME[40:43].set_axis(["p", "q", "r"]))


@pytest.fixture(scope="module")
def sampled():
    """One game of 14 players, with errors."""
    game = UnanimitySum.random(14, n_terms=25, max_order=3, rng=1)
    return sharpley.estimate(game, index="SII", max_evals=3000, rng=0).row(0)


def test_interactions_of_a_model_add_up_to_its_predictions(explained):
    assert isinstance(explained, InteractionEstimate)
    assert (explained.index, explained.order, explained.d) == ("k-SII", 2, 4)
    whole = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(whole, model(FRAME[40:43]))
    mean_product = (np.asarray(FRAME.iloc[40:43, [0]]) - np.asarray(FRAME.iloc[:20, 0])) * (
        np.asarray(FRAME.iloc[40:43, [1]]) - np.asarray(FRAME.iloc[:20, 1])
    )
    np.testing.assert_allclose(explained["age × sex"].values[:, 0], mean_product.mean(axis=1))
    assert np.abs(explained["age × income"].values).max() < 1e-12


def test_matrix_has_pairs_on_both_sides_and_main_effects_on_the_diagonal(explained, sampled):
    matrix = explained.matrix()
    assert matrix.shape == (3, 4, 4)
    np.testing.assert_array_equal(matrix, np.swapaxes(matrix, 1, 2))
    np.testing.assert_array_equal(matrix[:, 0, 1], explained["age × sex"].values[:, 0])
    np.testing.assert_array_equal(matrix[:, [0, 1, 2, 3], [0, 1, 2, 3]], explained.values[:, :4])
    errors, lower, upper = (sampled.matrix(name) for name in ("standard_error", "lower", "upper"))
    assert errors.shape == (14, 14)
    assert (lower <= sampled.matrix()).all()
    assert ((upper - lower)[errors > 0] > 0).all()
    with pytest.raises(ValueError, match="unknown quantity 'errors'; choose one of 'value'"):
        sampled.matrix("errors")


def test_frames_name_the_players_of_each_component(explained):
    frame = explained.to_frame()
    assert len(frame) == 3 * 10
    line = frame[(frame["row"] == "q") & (frame["players"] == "age × sex")].iloc[0]
    assert (line["order"], line["player_1"], line["player_2"]) == (2, "age", "sex")
    assert line["value"] == explained.values[1, 4]
    alone = frame[frame["order"] == 1]
    assert alone["player_2"].isna().all()
    assert explained.to_frame(wide=True)["value"]["age × sex"].tolist() == explained.values[:, 4].tolist()


def test_ranking_says_how_sure_it_is():
    def estimate(values, errors):
        labels = [(0, 1), (0, 2), (1, 2)]
        n = len(values)
        return InteractionEstimate(
            np.array(values), np.array(errors), np.zeros(()), 100, "owen", True, np.full(n, np.inf), None,
            index="SII", labels=labels, d=3,
        )  # fmt: skip

    sure = estimate([3.0, -2.0, 0.1], [0.0, 0.0, 0.0]).top(2)
    assert sure["players"].tolist() == ["Player 0 × Player 1", "Player 0 × Player 2"]
    assert sure["certainty"].tolist() == [1.0, 1.0]
    torn = estimate([1.0, -1.0001, 0.0], [0.3, 0.3, 0.0]).top(1)
    assert torn["players"].tolist() == ["Player 0 × Player 2"]
    assert torn["certainty"][0] == pytest.approx(0.5, abs=0.05)
    everybody = estimate([1.0, -1.0, 0.5], [0.3, 0.3, 0.3]).top(10)
    assert everybody["certainty"].tolist() == [1.0, 1.0, 1.0]


def test_ranking_is_for_one_game(explained, sampled):
    with pytest.raises(ValueError, match=r"one game and output, got values of shape \(3, 10\); select one"):
        explained.top(3)
    assert len(explained[0].top(3)) == 3
    assert len(sampled.top(5, order=1)) == 5
    with pytest.raises(ValueError, match="no components of 3 players; the estimate has order 2"):
        sampled.top(5, order=3)


def test_files_keep_everything(explained, sampled, tmp_path):
    for estimate in (explained, sampled, explained[1]):
        estimate.save(tmp_path / "found.parquet")
        loaded = sharpley.load(tmp_path / "found.parquet")
        assert type(loaded) is InteractionEstimate
        for field in fields(estimate):
            mine, theirs = getattr(estimate, field.name), getattr(loaded, field.name)
            assert type(mine) is type(theirs), field.name
            if field.name == "labels":
                assert mine == theirs
            else:
                np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
        assert repr(loaded) == repr(estimate)


def test_values_of_other_indices_keep_their_name(tmp_path):
    found = sharpley.estimate(sharpley.games.Airport((1.0, 2.0, 4.0)), index="banzhaf").row(0)
    assert repr(found).startswith("Banzhaf values of 3 players by exact, from 8 evaluations")
    assert plotting.intervals(found).get_xlabel() == "Banzhaf value"
    found.save(tmp_path / "found.parquet")
    assert sharpley.load(tmp_path / "found.parquet").index == "banzhaf"
    several = sharpley.estimate(sharpley.games.Airport((1.0, 2.0, 4.0, 5.0)), index="SII")
    assert repr(several).startswith("SII interactions of 1 row and 4 players by exact")
    assert "SII interactions" in several._repr_html_()


def test_selection_keeps_what_belongs_together():
    classes = np.digitize(model(FRAME), [-1.0, 1.0])
    classifier = RandomForestClassifier(5, random_state=0).fit(FRAME, classes)
    found = sharpley.Explainer(classifier, FRAME[:10], rng=0).interactions(FRAME[:2], index="STII")
    assert found.values.shape == (2, 10, 3)
    assert found.matrix().shape == (2, 4, 4, 3)
    one = found[1, :, "2"]
    assert one.values.shape == (10,)
    np.testing.assert_array_equal(one.matrix(), found.matrix()[1, :, :, 2])
    pairs = found[:, [4, 5]]
    assert pairs.labels == [(0, 1), (0, 2)]
    assert pairs.matrix()[0, 0, 1].tolist() == found.values[0, 4].tolist()
    whole = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(whole, classifier.predict_proba(FRAME[:2]), atol=1e-12)


@pytest.mark.parametrize("index", ["SII", "k-SII"])
def test_rows_of_shaps_interaction_values_add_up_to_shapley_values(index):
    explainer = sharpley.Explainer(lambda x: np.prod(np.asarray(x), axis=1), FRAME[:20], rng=0)
    values = explainer.interactions(FRAME[:2], index=index).to_shap()
    assert values.shape == (2, 4, 4)
    np.testing.assert_allclose(values.sum(axis=2), explainer.estimate(FRAME[:2]).values, atol=1e-12)


def test_shapiq_gets_every_component(explained, sampled):
    shapiq = pytest.importorskip("shapiq", minversion="1.3")
    for estimate in (sampled, explained.row(0)):
        values = estimate.to_shapiq()
        assert isinstance(values, shapiq.InteractionValues)
        for label, value in zip(estimate.labels, estimate.values, strict=True):
            assert values[label] == pytest.approx(value)
        assert values[()] == pytest.approx(float(estimate.base_values))
    assert len(explained.to_shapiq()) == 3


def test_a_single_player_and_a_single_pair():
    one = sharpley.Explainer(lambda x: x[:, 0] ** 2, [[0.0]]).interactions([[3.0]])
    assert one.values.tolist() == [[9.0]]
    assert one.matrix().tolist() == [[[9.0]]]
    two = sharpley.Explainer(lambda x: x[:, 0] * x[:, 1], [[0.0, 0.0]]).interactions([2.0, 3.0], index="FSII")
    np.testing.assert_allclose(two.matrix(), [[0.0, 6.0], [6.0, 0.0]], atol=1e-12)


def test_players_that_cannot_matter_have_no_interactions():
    explainer = sharpley.Explainer(lambda x: x[:, 0] * x[:, 3], np.zeros((1, 5)), rng=0)
    found = explainer.interactions(np.array([[1.0, 0.0, 0.0, 2.0, 5.0], [0.0, 0.0, 0.0, 2.0, 0.0]]))
    assert found.matrix()[0, 0, 3] == 2.0
    assert np.count_nonzero(found.values) == 1


def test_mistakes_have_clear_errors():
    explainer = sharpley.Explainer(lambda x: x.sum(axis=1), np.zeros((1, 4)))
    with pytest.raises(ValueError, match="index 'shapley' of order 1 has no interactions; choose one such as 'k-SII'"):
        explainer.interactions(np.ones((1, 4)), index="shapley")
    game = sharpley.games.CallableGame(lambda c: c.sum(axis=1), 2**15)
    with pytest.raises(ValueError, match=r"order 2 has 536,887,296 components for 32768 players; .* take 12.9 GB"):
        sharpley.estimate(game, index="SII", method="owen")
    gp = sharpley.Explainer(lambda x: x.sum(axis=1), np.zeros((1, 4)), method="regression")
    with pytest.raises(ValueError, match="'regression' does not estimate 'k-SII' of order 2; methods that do"):
        gp.interactions(np.ones((1, 4)))


def test_interactions_do_not_depend_on_workers_batches_or_other_rows():
    wide = np.random.default_rng(1).normal(size=(30, 12))

    def product(x):
        return x[:, 0] * x[:, 1] + np.sin(x[:, 2] * x[:, 3])

    first = sharpley.Explainer(product, wide[:5], rng=0).interactions(wide[10:13], max_evals=500)
    second = sharpley.Explainer(product, wide[:5], rng=0, n_jobs=2, batch_size=7).interactions(
        wide[10:13], max_evals=500
    )
    alone = sharpley.Explainer(product, wide[:5], rng=0).interactions(wide[11:12], max_evals=500)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.values[1:2], alone.values)


def test_the_matrix_hatches_what_is_not_sure(sampled):
    from matplotlib.patches import Rectangle

    ax = plotting.interaction_matrix(sampled, max_display=8)
    hatched = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]
    assert len(ax.get_yticklabels()) == 8
    drawn = [int(label.get_text().removeprefix("Player ")) for label in ax.get_yticklabels()]
    lower, upper = (sampled.matrix(side) for side in ("lower", "upper"))
    unsure = sum(lower[i, j] <= 0 <= upper[i, j] for i in drawn for j in drawn if i > j)
    assert 0 < len(hatched) == unsure
    assert "6 players with smaller interactions are not shown" in ax.get_title(loc="left")


def test_the_network_draws_a_band_and_a_line_for_each_pair(explained):
    ax = plotting.interaction_network(explained[0])
    assert len(ax.lines) == 2  # one pair interacts
    band, line = ax.lines
    assert band.get_linewidth() >= line.get_linewidth() > 1.0
    assert sorted(text.get_text() for text in ax.texts) == sorted(FRAME.columns)


def test_pictures_are_of_one_game(explained):
    for draw in (plotting.interaction_matrix, plotting.interaction_network):
        with pytest.raises(ValueError, match=r"one game and output, got values of shape \(3, 10\); select one"):
            draw(explained)
        with pytest.raises(TypeError, match="expected an InteractionEstimate, got ShapleyEstimate"):
            draw(sharpley.shapley_values(lambda c: c.sum(axis=1), 3))
        with pytest.raises(ValueError, match="one name for each of 4 players, got 1"):
            draw(explained[0], ["age"])

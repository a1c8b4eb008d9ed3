"""Explaining models: groups, outputs, workers, tolerance, progress."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tabular_data import DATA, FRAME, RNG, WIDE, interaction, slow_values, wide_model

from sharpley import METHODS, Explainer, MarginalGame


@pytest.mark.parametrize("method", [m for m in METHODS if m != "gp-unbiased"])  # to 1e-8, by its control variate
def test_linear_models_are_explained_exactly(method):
    model = LinearRegression().fit(DATA, DATA @ np.arange(5.0) + 1.0)
    explainer = Explainer(model.predict, DATA[:20], method=method, rng=0)
    estimate = explainer.estimate(DATA[30:33], max_evals=400)
    expected = model.coef_ * (DATA[30:33] - DATA[:20].mean(axis=0))
    np.testing.assert_allclose(estimate.values, expected, atol=1e-9)
    np.testing.assert_allclose(estimate.base_values, model.predict(DATA[:20]).mean())
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=1), model.predict(DATA[30:33]))
    assert (estimate.n_evals <= 400).all()


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("auto", "exact")])
def test_results_do_not_depend_on_how_the_work_is_divided(method):
    def run(rows=slice(20, 25), **options):
        explainer = Explainer(wide_model, WIDE[:9], method=method, rng=3, **options)
        return explainer.estimate(WIDE[rows], max_evals=900)

    reference = run()
    divided = [
        run(batch_size=17),
        run(batch_size=4),
        run(batch_size=100_000),
        run(n_jobs=2),
        run(n_jobs=2, batch_size=50),
    ]
    for estimate in divided:
        np.testing.assert_array_equal(estimate.values, reference.values)
        np.testing.assert_array_equal(estimate.standard_errors, reference.standard_errors)
    for row in range(5):
        alone = run(slice(20 + row, 21 + row))
        if METHODS[method].learns_from_rows:  # rows share what is learnt of the players' scales
            np.testing.assert_allclose(alone.values[0], reference.values[row], atol=6 * reference.standard_errors.max())
        else:
            np.testing.assert_array_equal(alone.values[0], reference.values[row])
        assert alone.n_evals[0] == reference.n_evals[row]


def test_tolerance_is_met_row_by_row_whatever_the_company():
    def model(table):
        return table[:, :3].prod(axis=1) + np.abs(table).max(axis=1) * table[:, 4]

    explainer = Explainer(model, WIDE[:9], method="antithetic", rng=3)
    together = explainer.estimate(WIDE[20:26], tol=0.02)
    assert together.converged.all()
    assert len(set(together.n_evals.tolist())) > 1
    for row in range(6):
        alone = explainer.estimate(WIDE[[20 + row]], tol=0.02)
        np.testing.assert_array_equal(alone.values[0], together.values[row])
    assert (together.standard_errors.max(axis=1) <= 0.02 * np.ptp(together.values, axis=1)).all()


def test_rows_that_must_be_enumerated_do_not_drag_others_along():
    """With 2^8 coalitions within the budget, rows that miss the tolerance are enumerated, and only these."""

    def model(table):
        return np.where(table[:, 0] > 0, table[:, :8].prod(axis=1), table[:, :8].sum(axis=1))

    table = WIDE[:, :8].copy()
    table[:9, 0], table[20:26, 0] = -1.0, [1.0, -2.0, 1.0, -2.0, 1.0, -2.0]
    explainer = Explainer(model, table[:9], method="antithetic", rng=3)
    together = explainer.estimate(table[20:26], tol=1e-6)
    assert together.converged.all()
    assert together.n_evals.tolist() == [256, 142, 256, 142, 256, 142]
    for row in range(6):
        alone = explainer.estimate(table[[20 + row]], tol=1e-6)
        np.testing.assert_array_equal(alone.values[0], together.values[row])
        assert alone.n_evals[0] == together.n_evals[row]


def test_threads_of_joblib_give_the_same():
    with joblib.parallel_config("threading"):
        threaded = Explainer(wide_model, WIDE[:9], rng=1, n_jobs=2, batch_size=30).estimate(WIDE[20:23])
    np.testing.assert_array_equal(threaded.values, Explainer(wide_model, WIDE[:9], rng=1).estimate(WIDE[20:23]).values)


def test_an_int_seed_repeats_and_a_generator_goes_on():
    seeded = Explainer(wide_model, WIDE[:9], rng=0)
    np.testing.assert_array_equal(seeded.estimate(WIDE[[20]]).values, seeded.estimate(WIDE[[20]]).values)
    running = Explainer(wide_model, WIDE[:9], rng=np.random.default_rng(0))
    assert (running.estimate(WIDE[[20]]).values != running.estimate(WIDE[[20]]).values).any()


def test_features_that_equal_the_background_cost_nothing():
    """A player who cannot matter is left out: its value is 0, and the budget is spent on the others."""
    table = WIDE.copy()
    table[:, 4:] = 1.5
    table[20, 9] = np.nan
    table[:9, 9] = np.nan
    explainer = Explainer(lambda t: wide_model(np.nan_to_num(t)), table[:9], rng=0)
    estimate = explainer.estimate(table[[20, 21]], max_evals=40)
    assert estimate.n_evals.tolist() == [16, 32]  # exact with 4 and with 5 players that matter
    assert (estimate.standard_errors == 0).all()
    assert (estimate.values[0, 4:] == 0).all()
    full = MarginalGame(lambda t: wide_model(np.nan_to_num(t)), table[:9], table[[20]])
    ends = full(np.array([[False] * 14, [True] * 14]))
    assert estimate.values[0].sum() == pytest.approx(ends[1] - ends[0])


def test_a_row_like_the_whole_background_gets_zeros():
    estimate = Explainer(interaction, np.tile(DATA[0], (3, 1)), rng=0).estimate(DATA[:2])
    assert (estimate.values[0] == 0).all()
    assert estimate.n_evals.tolist() == [2, 32]


@pytest.fixture(scope="module")
def pipeline():
    encode = ColumnTransformer(
        [("words", OneHotEncoder(), ["job", "size"]), ("numbers", StandardScaler(), ["age", "member"])]
    )
    target = (FRAME["age"] > 40) ^ (FRAME["job"] == "smith")
    return make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(FRAME, target)


def test_a_pipeline_on_strings_end_to_end(pipeline):
    explainer = Explainer(pipeline, FRAME.iloc[:25], rng=0)
    assert explainer.model_method == "predict_proba"
    estimate = explainer.estimate(FRAME.iloc[40:43])
    assert estimate.values.shape == (3, 5, 2)
    np.testing.assert_allclose(
        estimate.base_values + estimate.values.sum(axis=1), pipeline.predict_proba(FRAME.iloc[40:43]), atol=1e-9
    )
    np.testing.assert_allclose(estimate.values[:, FRAME.columns.get_loc("income")], 0, atol=1e-12)  # unused
    explanation = explainer(FRAME.iloc[40:43])
    assert explanation.output_names == ["False", "True"]
    assert explanation.feature_names == list(FRAME.columns)
    assert explanation.display_data[0, 1] == FRAME["job"].iloc[40]


def test_which_method_of_the_model_is_called():
    target = DATA[:, 0] > 0
    assert Explainer(SVC().fit(DATA, target), DATA[:5]).model_method == "decision_function"
    assert Explainer(Ridge().fit(DATA, DATA[:, 0]), DATA[:5]).model_method == "predict"
    assert Explainer(interaction, DATA[:5]).model_method == "interaction"
    with pytest.raises(TypeError, match="model must be callable or have one of the methods predict_proba"):
        Explainer("model", DATA[:5])


def test_groups_play_as_one():
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    groups = {"pair": ["a", "b"], "rest": ["d", "e"]}
    explainer = Explainer(lambda t: interaction(t.to_numpy()), frame.iloc[:10], groups=groups, rng=0)
    estimate = explainer.estimate(frame.iloc[20:22])
    assert estimate.values.shape == (2, 3)

    def game(coalitions):
        columns = coalitions[:, [0, 0, 1, 2, 2]]
        return slow_values(interaction, DATA[:10], DATA[20], columns)

    from sharpley import shapley_values

    np.testing.assert_allclose(estimate.values[0], shapley_values(game, 3).values)
    assert explainer(frame.iloc[20:22]).feature_names == ["pair", "c", "rest"]


def test_one_hot_groups_show_which_is_set():
    dummies = np.eye(3)[[0, 2, 1, 1, 0, 2]]
    table = np.column_stack([DATA[:6, 0], dummies])
    explainer = Explainer(lambda t: t @ np.array([1.0, 2.0, 3.0, 4.0]), table[:4], groups={"colour": [1, 2, 3]})
    explanation = explainer(table[4:])
    assert explanation.feature_names == ["x0", "colour"]
    assert explanation.data[:, 1].tolist() == [0.0, 2.0]


def test_feature_and_output_names():
    explainer = Explainer(lambda t: np.stack([t[:, 0], t[:, 1]], 1), DATA[:5, :2], feature_names=["u", "v"],
                          output_names=["first", "second"])  # fmt: skip
    explanation = explainer(DATA[5:7, :2])
    assert explanation.feature_names == ["u", "v"]
    assert explanation.output_names == ["first", "second"]
    explainer.feature_names = ["u"]
    with pytest.raises(ValueError, match="1 feature_names for 2 players"):
        explainer(DATA[5:7, :2])


def test_interrupting_leaves_the_explainer_usable():
    calls = []

    def model(table):
        calls.append(len(table))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return interaction(table)

    explainer = Explainer(model, DATA[:5], rng=0, batch_size=10)
    with pytest.raises(KeyboardInterrupt):
        explainer.estimate(DATA[5:7])
    again = explainer.estimate(DATA[5:7])
    np.testing.assert_array_equal(again.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_progress_is_silent_unless_asked_for(capsys):
    explainer = Explainer(interaction, DATA[:5], rng=0)
    explainer.estimate(DATA[5:7])
    explainer.estimate(DATA[5:7], progress=False)
    assert capsys.readouterr() == ("", "")
    explainer.estimate(DATA[5:7], progress=True)
    assert "Shapley:" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["antithetic", "stratified", "owen", "sobol"])
@pytest.mark.parametrize("tol", [None, 0.5])
def test_progress_ends_where_it_said_it_would(method, tol, monkeypatch):
    from sharpley.engine import progress as evaluation

    seen = []
    monkeypatch.setattr(evaluation.Progress, "__init__", lambda self, show, total: seen.append(-total))
    monkeypatch.setattr(evaluation.Progress, "advance", lambda self, count: seen.append(count))
    monkeypatch.setattr(evaluation.Progress, "close", lambda self: None)
    Explainer(wide_model, WIDE[:4], method=method, rng=0).estimate(WIDE[20:23], max_evals=800, tol=tol)
    assert sum(seen) == 0


def test_repr_says_what_is_called():
    assert repr(Explainer(interaction, DATA[:5], method="sobol")) == "Explainer(interaction, method='sobol')"


def test_one_column_of_output_is_one_output():
    column = Explainer(lambda t: interaction(t)[:, None], DATA[:5], rng=0).estimate(DATA[5:7])
    np.testing.assert_array_equal(column.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_tolerance_counts_the_players_that_cannot_matter():
    """Twelve alike players around 5 and eight at 0: the range of the values is 5, not the little among the twelve."""
    table = np.ones((40, 20))
    table[:, :12] = RNG.normal(size=(40, 12))
    model = lambda t: 5.0 * (t[:, :12] > 3).sum(axis=1) + 0.1 * t[:, :3].prod(axis=1)  # noqa: E731
    rows = table[[30]].copy()
    rows[:, :12] = 10.0
    assert Explainer(model, table[:5], method="antithetic", rng=0).estimate(rows, tol=0.5).converged.all()


def test_unconverged_rows_are_warned_of_at_the_users_line():
    explainer = Explainer(lambda t: np.abs(t).max(axis=1), WIDE[:5], method="monte-carlo", rng=0)
    with pytest.warns(RuntimeWarning, match="did not reach tol") as caught:
        explainer.estimate(WIDE[5:6], tol=1e-9, max_evals=100)
    assert caught[0].filename == __file__

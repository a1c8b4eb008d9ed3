"""Explanations of models: groups of columns, outputs, workers, tolerance and progress."""

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


# The control of "gp-unbiased" is accurate to 1e-8 only, and a function has no closed form.
@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("trees", "linear", "gp-unbiased")])
def test_linear_models_are_explained_exactly(method):
    model = LinearRegression().fit(DATA, DATA @ np.arange(5.0) + 1.0)
    explainer = Explainer(model.predict, DATA[:20], method=method, rng=0)
    estimate = explainer.estimate(DATA[30:33], max_evals=400)
    expected = model.coef_ * (DATA[30:33] - DATA[:20].mean(axis=0))
    np.testing.assert_allclose(estimate.values, expected, atol=1e-9)
    np.testing.assert_allclose(estimate.base_values, model.predict(DATA[:20]).mean())
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=1), model.predict(DATA[30:33]))
    assert (estimate.n_evals <= 400).all()


@pytest.mark.parametrize("method", [m for m, record in METHODS.items() if record.factory is not None and m != "exact"])
def test_results_do_not_depend_on_how_the_work_is_divided(method):
    def run(rows=slice(20, 25), **options):
        explainer = Explainer(wide_model, WIDE[:9], method=method, rng=3, **options)
        return explainer.estimate(WIDE[rows], max_evals=300 if method == "gp" else 900)

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
        if METHODS[method].learns_from_rows:  # all rows share the hyperparameters learnt from them
            np.testing.assert_allclose(alone.values[0], reference.values[row], atol=6 * reference.standard_errors.max())
        else:
            np.testing.assert_array_equal(alone.values[0], reference.values[row])
        assert alone.n_evals[0] == reference.n_evals[row]


def test_each_row_meets_the_tolerance_independently_of_the_others():
    def model(x):
        return x[:, :3].prod(axis=1) + np.abs(x).max(axis=1) * x[:, 4]

    explainer = Explainer(model, WIDE[:9], method="antithetic", rng=3)
    together = explainer.estimate(WIDE[20:26], tol=0.03)
    assert together.converged.all()
    assert len(set(together.n_evals.tolist())) > 1
    for row in range(6):
        alone = explainer.estimate(WIDE[[20 + row]], tol=0.03)
        np.testing.assert_array_equal(alone.values[0], together.values[row])
    assert (together.standard_errors.max(axis=1) <= 0.03 * np.ptp(together.values, axis=1)).all()


def test_only_rows_that_miss_the_tolerance_are_enumerated():
    """The budget pays for all 2^8 coalitions, so rows that miss the tolerance are enumerated, and only these."""

    def model(x):
        return np.where(x[:, 0] > 0, x[:, :8].prod(axis=1), x[:, :8].sum(axis=1))

    data = WIDE[:, :8].copy()
    data[:9, 0], data[20:26, 0] = -1.0, [1.0, -2.0, 1.0, -2.0, 1.0, -2.0]
    explainer = Explainer(model, data[:9], method="antithetic", rng=3)
    together = explainer.estimate(data[20:26], tol=0.003)
    assert together.converged.all()
    assert sorted(set(together.n_evals.tolist())) == [214, 256]
    for row in range(6):
        alone = explainer.estimate(data[[20 + row]], tol=0.003)
        np.testing.assert_array_equal(alone.values[0], together.values[row])
        assert alone.n_evals[0] == together.n_evals[row]


def test_joblib_threads_give_the_same_result():
    with joblib.parallel_config("threading"):
        threaded = Explainer(wide_model, WIDE[:9], rng=1, n_jobs=2, batch_size=30).estimate(WIDE[20:23])
    np.testing.assert_array_equal(threaded.values, Explainer(wide_model, WIDE[:9], rng=1).estimate(WIDE[20:23]).values)


def test_an_int_seed_repeats_and_a_generator_advances():
    seeded = Explainer(wide_model, WIDE[:9], rng=0)
    np.testing.assert_array_equal(seeded.estimate(WIDE[[20]]).values, seeded.estimate(WIDE[[20]]).values)
    running = Explainer(wide_model, WIDE[:9], rng=np.random.default_rng(0))
    assert (running.estimate(WIDE[[20]]).values != running.estimate(WIDE[[20]]).values).any()


def test_features_that_equal_the_background_cost_nothing():
    """A player who cannot matter is omitted: its value is 0, and the budget is spent on the others."""
    data = WIDE.copy()
    data[:, 4:] = 1.5
    data[20, 9] = np.nan
    data[:9, 9] = np.nan
    explainer = Explainer(lambda t: wide_model(np.nan_to_num(t)), data[:9], rng=0)
    estimate = explainer.estimate(data[[20, 21]], max_evals=40)
    assert estimate.n_evals.tolist() == [16, 32]  # enumerated, with 4 and with 5 players that can matter
    assert (estimate.standard_errors == 0).all()
    assert (estimate.values[0, 4:] == 0).all()
    full = MarginalGame(lambda t: wide_model(np.nan_to_num(t)), data[:9], data[[20]])
    ends = full(np.array([[False] * 14, [True] * 14]))
    assert estimate.values[0].sum() == pytest.approx(ends[1] - ends[0])


def test_a_row_that_equals_all_background_rows_gets_zeros():
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


def test_a_pipeline_on_strings_is_explained(pipeline):
    explainer = Explainer(pipeline, FRAME.iloc[:25], output="all", rng=0)
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


def test_the_first_available_method_of_the_model_is_called():
    target = DATA[:, 0] > 0
    assert Explainer(SVC().fit(DATA, target), DATA[:5]).model_method == "decision_function"
    assert Explainer(Ridge().fit(DATA, DATA[:, 0]), DATA[:5]).model_method == "predict"
    assert Explainer(interaction, DATA[:5]).model_method == "interaction"
    with pytest.raises(TypeError, match="model must be callable or have one of the methods predict_proba"):
        Explainer("model", DATA[:5])


def test_a_group_of_columns_is_one_player():
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    groups = {"first": ["a", "b"], "last": ["d", "e"]}
    explainer = Explainer(lambda t: interaction(t.to_numpy()), frame.iloc[:10], groups=groups, rng=0)
    estimate = explainer.estimate(frame.iloc[20:22])
    assert estimate.values.shape == (2, 3)

    def game(coalitions):
        columns = coalitions[:, [0, 0, 1, 2, 2]]
        return slow_values(interaction, DATA[:10], DATA[20], columns)

    from sharpley import shapley_values

    np.testing.assert_allclose(estimate.values[0], shapley_values(game, 3).values)
    assert explainer(frame.iloc[20:22]).feature_names == ["first", "c", "last"]


def test_one_hot_groups_show_the_column_that_is_set():
    dummies = np.eye(3)[[0, 2, 1, 1, 0, 2]]
    data = np.column_stack([DATA[:6, 0], dummies])
    explainer = Explainer(lambda t: t @ np.array([1.0, 2.0, 3.0, 4.0]), data[:4], groups={"colour": [1, 2, 3]})
    explanation = explainer(data[4:])
    assert explanation.feature_names == ["Feature 0", "colour"]
    assert explanation.data[:, 1].tolist() == [0.0, 2.0]
    assert explanation.display_data[:, 1].tolist() == ["Feature 1", "Feature 3"]


def test_explanations_have_the_given_feature_and_output_names():
    explainer = Explainer(lambda t: np.stack([t[:, 0], t[:, 1]], 1), DATA[:5, :2], feature_names=["u", "v"],
                          output_names=["first", "second"])  # fmt: skip
    explanation = explainer(DATA[5:7, :2])
    assert explanation.feature_names == ["u", "v"]
    assert explanation.output_names == ["first", "second"]
    explainer.feature_names = ["u"]
    with pytest.raises(ValueError, match=r"names must have one name for each of 2 players, got \['u'\]"):
        explainer(DATA[5:7, :2])


def test_an_explainer_can_be_used_after_an_interruption():
    calls = []

    def model(rows):
        calls.append(len(rows))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return interaction(rows)

    explainer = Explainer(model, DATA[:5], rng=0, batch_size=10)
    with pytest.raises(KeyboardInterrupt):
        explainer.estimate(DATA[5:7])
    again = explainer.estimate(DATA[5:7])
    np.testing.assert_array_equal(again.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_progress_is_shown_only_on_request(capsys):
    explainer = Explainer(interaction, DATA[:5], rng=0)
    explainer.estimate(DATA[5:7])
    explainer.estimate(DATA[5:7], progress=False)
    assert capsys.readouterr() == ("", "")
    explainer.estimate(DATA[5:7], progress=True)
    assert "Shapley:" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["antithetic", "stratified", "owen", "sobol"])
@pytest.mark.parametrize("tol", [None, 0.5])
def test_progress_ends_at_the_announced_total(method, tol, monkeypatch):
    from sharpley.engine.progress import Progress

    steps = []
    monkeypatch.setattr(Progress, "__init__", lambda self, show, total, is_limit: steps.append(-total))
    monkeypatch.setattr(Progress, "advance", lambda self, count: steps.append(count))
    monkeypatch.setattr(Progress, "close", lambda self: None)
    Explainer(wide_model, WIDE[:4], method=method, rng=0).estimate(WIDE[20:23], max_evals=800, tol=tol)
    assert sum(steps) == 0


def test_repr_names_the_function_and_the_method():
    assert repr(Explainer(interaction, DATA[:5], method="sobol")) == "Explainer(interaction, method='sobol')"


def test_an_output_of_shape_n_by_1_is_a_single_output():
    column = Explainer(lambda t: interaction(t)[:, None], DATA[:5], rng=0).estimate(DATA[5:7])
    np.testing.assert_array_equal(column.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_the_tolerance_is_relative_to_a_range_that_includes_players_that_cannot_matter():
    """Twelve values are about 5 and eight are 0: the range is 5, not the small range of the twelve."""
    data = np.ones((40, 20))
    data[:, :12] = RNG.normal(size=(40, 12))
    model = lambda t: 5.0 * (t[:, :12] > 3).sum(axis=1) + 0.1 * t[:, :3].prod(axis=1)  # noqa: E731
    rows = data[[30]].copy()
    rows[:, :12] = 10.0
    assert Explainer(model, data[:5], method="antithetic", rng=0).estimate(rows, tol=0.5).converged.all()


def test_the_warning_about_unconverged_rows_points_at_the_users_line():
    explainer = Explainer(lambda t: np.abs(t).max(axis=1), WIDE[:5], method="monte-carlo", rng=0)
    with pytest.warns(RuntimeWarning, match="did not reach tol") as caught:
        explainer.estimate(WIDE[5:6], tol=1e-9, max_evals=100)
    assert caught[0].filename == __file__

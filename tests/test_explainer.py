"""Explaining models: tables of every kind, groups, outputs, workers, mistakes."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sharpley import METHODS, Background, Explainer, MarginalGame
from sharpley.estimators.exact import all_coalitions

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(60, 5))


def interaction(table):
    table = np.asarray(table, dtype=float)
    return table[:, 0] * table[:, 1] + np.abs(table[:, 2] - table[:, 3]) * table[:, 4] + table[:, 3]


def slow_values(model, background, row, coalitions, weights=None):
    """v(S), one background row at a time."""
    values = []
    for coalition in coalitions:
        outputs = [model(np.where(coalition, row, b)[None])[0] for b in background]
        values.append(np.average(outputs, weights=weights, axis=0))
    return np.array(values)


def test_marginal_game_is_the_mean_prediction_over_the_background():
    coalitions = all_coalitions(5)
    game = MarginalGame(interaction, DATA[:7], DATA[[10]])
    np.testing.assert_allclose(game(coalitions), slow_values(interaction, DATA[:7], DATA[10], coalitions))


@pytest.mark.parametrize("batch_size", [1, 3, 7, 20, 1000])
def test_blocks_of_rows_and_any_batch_size(batch_size):
    coalitions = all_coalitions(5)[[3, 0, 31, 17, 3]]
    game = MarginalGame(interaction, DATA[:7], DATA[10:14], batch_size=batch_size)
    expected = [slow_values(interaction, DATA[:7], row, coalitions) for row in DATA[10:14]]
    np.testing.assert_allclose(game(coalitions), expected)


def test_background_rows_may_have_weights():
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    coalitions = all_coalitions(5)
    game = MarginalGame(interaction, Background(DATA[:4], weights), DATA[[10]])
    np.testing.assert_allclose(game(coalitions), slow_values(interaction, DATA[:4], DATA[10], coalitions, weights))
    with pytest.raises(ValueError, match="background weights must be 4 numbers of at least 0"):
        MarginalGame(interaction, Background(DATA[:4], weights - 1), DATA[[10]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8, bool])
def test_numbers_of_every_type_reach_the_model_as_they_are(dtype):
    table = (RNG.random((20, 12)) * 3).astype(dtype)
    seen = []

    def model(mixed):
        seen.append(mixed.dtype)
        return mixed @ np.arange(12)

    coalitions = RNG.random((40, 12)) < 0.5
    game = MarginalGame(model, table[:5], table[[9]])
    np.testing.assert_allclose(game(coalitions), slow_values(model, table[:5], table[9], coalitions))
    assert set(seen) == {np.dtype(dtype)}


@given(st.integers(0, 10_000))
def test_mixing_in_place_is_mixing_anew(seed):
    """Calls that follow each other change single columns of a buffer; any sequence of pairs must come out right."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(12, 20))
    game = MarginalGame(lambda mixed: mixed @ np.arange(1.0, 21.0), table[:4], table[4:], batch_size=12)
    evaluate = game.evaluator()
    masks = rng.random((9, 20)) < 0.5
    for _ in range(6):
        count = rng.integers(1, 4)
        for mask in masks:
            mask[rng.integers(20)] ^= True
        rows, chosen = rng.integers(0, 8, size=count), masks[rng.permutation(9)[:count]]
        expected = [
            np.where(mask, table[4 + row], table[:4]).mean(axis=0) @ np.arange(1.0, 21.0)
            for row, mask in zip(rows, chosen, strict=True)
        ]
        np.testing.assert_allclose(evaluate(rows, chosen)[:, 0], expected)


@pytest.mark.parametrize("method", METHODS)
def test_linear_models_are_explained_exactly(method):
    model = LinearRegression().fit(DATA, DATA @ np.arange(5.0) + 1.0)
    explainer = Explainer(model.predict, DATA[:20], method=method, rng=0)
    estimate = explainer.estimate(DATA[30:33], max_evals=400)
    expected = model.coef_ * (DATA[30:33] - DATA[:20].mean(axis=0))
    np.testing.assert_allclose(estimate.values, expected, atol=1e-9)
    np.testing.assert_allclose(estimate.base_values, model.predict(DATA[:20]).mean())
    np.testing.assert_allclose(estimate.base_values + estimate.values.sum(axis=1), model.predict(DATA[30:33]))
    assert (estimate.n_evals <= 400).all()


def wide_model(table):
    table = np.asarray(table)
    return table[:, 0] * table[:, 1] + np.sin(table).sum(axis=1) * table[:, 2]


WIDE = RNG.normal(size=(40, 14))


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


FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 80),
        "job": RNG.choice(["clerk", "smith", "pilot"], 80),
        "size": pd.Categorical(RNG.choice(["S", "M", "L"], 80), categories=["S", "M", "L"], ordered=True),
        "member": RNG.random(80) < 0.4,
        "income": np.where(RNG.random(80) < 0.1, np.nan, RNG.normal(size=80)),
    }
)


def frame_model(frame):
    assert list(frame.columns) == list(FRAME.columns)
    assert [str(t) for t in frame.dtypes] == [str(t) for t in FRAME.dtypes]
    income = frame["income"].fillna(-1.0).to_numpy()
    pilot = (frame["job"] == "pilot").to_numpy()
    return frame["age"].to_numpy() * (pilot + 1) / 50 + income * frame["member"].to_numpy() + frame["size"].cat.codes


def test_pandas_frames_keep_their_dtypes():
    estimate = Explainer(frame_model, FRAME.iloc[:20], rng=0).estimate(FRAME.iloc[30:34])
    assert estimate.method == "exact"
    np.testing.assert_allclose(
        estimate.base_values + estimate.values.sum(axis=1), frame_model(FRAME.iloc[30:34]), atol=1e-12
    )
    # The same game, played with rows mixed one by one.
    game = MarginalGame(frame_model, FRAME.iloc[:20], FRAME.iloc[[30]])
    for coalition in all_coalitions(5)[[0, 6, 13, 31]]:
        mixed = FRAME.iloc[:20].copy()
        for j, member in enumerate(coalition):
            if member:
                mixed.isetitem(j, FRAME.iloc[[30] * 20, j].set_axis(mixed.index))
        assert game(coalition[None])[0] == pytest.approx(frame_model(mixed).mean())


def test_frames_of_one_dtype_come_as_frames():
    frame = pd.DataFrame(DATA, columns=list("abcde"))

    def model(table):
        return (table["a"] * table["b"]).to_numpy() + interaction(table.to_numpy())

    by_frame = Explainer(model, frame.iloc[:10], rng=0).estimate(frame.iloc[20:22])
    by_array = Explainer(lambda t: t[:, 0] * t[:, 1] + interaction(t), DATA[:10], rng=0).estimate(DATA[20:22])
    np.testing.assert_allclose(by_frame.values, by_array.values)


def test_polars_frames():
    frame = pl.from_pandas(FRAME)

    def model(table):
        assert isinstance(table, pl.DataFrame)
        assert table.schema == frame.schema
        return frame_model(table.to_pandas().astype(FRAME.dtypes.to_dict()))

    estimate = Explainer(model, frame[:20], rng=0).estimate(frame[30:34])
    expected = Explainer(frame_model, FRAME.iloc[:20], rng=0).estimate(FRAME.iloc[30:34])
    np.testing.assert_allclose(estimate.values, expected.values)
    np.testing.assert_array_equal(estimate.n_evals, expected.n_evals)


@pytest.mark.parametrize(
    "kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array]
)
def test_sparse_matrices(kind):
    dense = np.where(RNG.random((30, 6)) < 0.5, RNG.normal(size=(30, 6)), 0.0)

    def model(table):
        assert isinstance(table, kind)
        return wide_model(table.toarray())

    estimate = Explainer(model, kind(dense[:8]), rng=0).estimate(kind(dense[20:23]))
    expected = Explainer(wide_model, dense[:8], rng=0).estimate(dense[20:23])
    np.testing.assert_allclose(estimate.values, expected.values)


def test_text_arrays():
    table = np.array([["a", "x"], ["b", "y"], ["a", "y"]])
    estimate = Explainer(lambda t: (t[:, 0] == "a") * 1.0 + (t[:, 1] == "y"), table[:2]).estimate(table[2:])
    np.testing.assert_allclose(estimate.values, [[0.5, 0.5]])


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


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["a", "zebra"]}, "group 'g' has an unknown column 'zebra'; the columns are"),
        ({"g": ["a", "b"], "h": ["b"]}, "column 'b' is in two groups, 'g' and 'h'"),
        ({"g": []}, "group 'g' has no columns"),
        ({"g": [7]}, "unknown column 7"),
        ({"c": ["a", "b"]}, r"names of columns outside them: \['c'\]"),
    ],
)
def test_bad_groups_are_named(groups, message):
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    with pytest.raises(ValueError, match=message):
        Explainer(interaction, frame.iloc[:5], groups=groups).estimate(frame.iloc[5:6])


def test_background_summaries():
    sample = Background.sample(FRAME, 10, rng=0)
    assert len(sample.rows) == 10
    assert sample.rows.index.isin(FRAME.index).all()
    pd.testing.assert_frame_equal(Background.sample(FRAME, 10, rng=0).rows, sample.rows)
    means = Background.kmeans(DATA, 6, rng=0)
    assert means.weights.sum() == pytest.approx(1.0)
    assert np.isin(means.rows, DATA).all()
    explainer = Explainer(interaction, means, rng=0)
    expected = slow_values(interaction, means.rows, DATA[0], [[False] * 5], weights=means.weights)
    assert explainer.estimate(DATA[:1]).base_values[0] == pytest.approx(expected[0])
    with pytest.raises(TypeError, match=r"got the number 100; say how to choose them: Background.sample\(data, 100\)"):
        Explainer(interaction, 100)
    with pytest.raises(TypeError, match=r"k-means needs a table of finite numbers; use Background\.sample"):
        Background.kmeans(FRAME, 5)


def test_feature_and_output_names():
    explainer = Explainer(lambda t: np.stack([t[:, 0], t[:, 1]], 1), DATA[:5, :2], feature_names=["u", "v"],
                          output_names=["first", "second"])  # fmt: skip
    explanation = explainer(DATA[5:7, :2])
    assert explanation.feature_names == ["u", "v"]
    assert explanation.output_names == ["first", "second"]
    explainer.feature_names = ["u"]
    with pytest.raises(ValueError, match="1 feature_names for 2 players"):
        explainer(DATA[5:7, :2])


def never(table):
    raise AssertionError("the model was called")


@pytest.mark.parametrize(
    ("background", "rows", "error", "message"),
    [
        (DATA[:5], DATA[:0], ValueError, "X must have at least one row, got none"),
        (DATA[:0], DATA[:1], ValueError, "the background must have at least one row, got none"),
        (DATA[:5], DATA[:1, :4], ValueError, "X has 4 columns, but the background has 5"),
        (DATA[:5], DATA[0], ValueError, r"X must be a table of shape \(rows, columns\), got shape \(5,\)"),
        (np.empty((3, 0)), np.empty((1, 0)), ValueError, "at least one column"),
        (FRAME[:5], FRAME[["job", "age", "size", "member", "income"]], ValueError, "in another order"),
        (FRAME[:5], FRAME.drop(columns="job"), ValueError, r"missing \['job'\], unexpected \[\]"),
        (
            FRAME[:5],
            FRAME.to_numpy(),
            TypeError,
            "X and background must be tables of one type, got ndarray and DataFrame",
        ),
        (
            FRAME.to_numpy(),
            FRAME[:2],
            TypeError,
            "X and background must be tables of one type, got DataFrame and ndarray",
        ),
        (FRAME[:5], FRAME[:2].astype({"job": "category"}), TypeError, "column 'job' is category in X but"),
    ],
)
def test_bad_tables_are_named_before_the_model_is_called(background, rows, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, background).estimate(rows)


def test_too_small_a_budget_is_told_before_the_model_is_called():
    with pytest.raises(ValueError, match="max_evals=20 is too small for method 'antithetic' with 14 players"):
        Explainer(never, WIDE[:3]).estimate(WIDE[5:6], max_evals=20)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (lambda t: t[:-1, 0], ValueError, r"must return shape \(5,\) or \(5, k\) for 5 rows, got \(4,\)"),
        (lambda t: t[:, :, None], ValueError, r"got \(5, 5, 1\)"),
        (lambda t: np.array(["yes"] * len(t)), TypeError, "must return real numbers, got dtype <U3"),
        (lambda t: np.full(len(t), np.nan), ValueError, r"returned \[nan\] for row 0 of the background"),
    ],
)
def test_bad_outputs_are_named(model, error, message):
    with pytest.raises(error, match=message):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


def test_a_nan_is_traced_to_its_row_and_coalition():
    def model(table):
        return np.where((table[:, 0] == DATA[6, 0]) & (table[:, 1] != DATA[6, 1]), np.nan, 1.0)

    with pytest.raises(ValueError, match=r"NaN or infinity for row 1 of X with the coalition of players \[0"):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


def test_a_model_that_raises_keeps_its_exception_and_gains_a_note():
    def model(table):
        if len(table) > 5:
            raise ZeroDivisionError("my own trouble")
        return table[:, 0]

    with pytest.raises(ZeroDivisionError, match="my own trouble") as caught:
        Explainer(model, DATA[:5]).estimate(DATA[5:7])
    assert "raised by model on" in caught.value.__notes__[0]
    assert "rows 0..1 of X" in caught.value.__notes__[0]


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


def test_memory_is_bounded_by_the_batch():
    """100 columns and 1,000 background rows: all pairs at once would be 400 MB a row."""
    import tracemalloc

    table = RNG.normal(size=(1010, 100))
    explainer = Explainer(lambda t: t[:, 0] * t[:, 1], table[:1000], method="antithetic", rng=0)
    explainer.estimate(table[1000:1001], max_evals=400)
    tracemalloc.start()
    explainer.estimate(table[1000:1003], max_evals=500)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


def doubled(table):
    table *= 2.0
    return interaction(table)


def doubled_frame(frame):
    frame.loc[:, "a"] *= 2.0
    return interaction(frame.to_numpy())


def clipped(table):
    table[table > 10] = 10
    return interaction(table)


@pytest.mark.parametrize(
    ("model", "twin", "as_frame"),
    [
        (doubled, lambda t: interaction(2.0 * t), False),
        (clipped, lambda t: interaction(np.minimum(t, 10)), False),  # which only rows of X make it do
        (doubled_frame, lambda t: interaction(t * np.array([2.0, 1, 1, 1, 1])), True),
    ],
)
def test_a_model_that_writes_to_its_input_harms_nobody(model, twin, as_frame):
    """Tables share memory from call to call; a model that writes to them must get its own, from the first write on."""
    original = DATA.copy()
    original[5:9, 2] = 50.0
    data = pd.DataFrame(original.copy(), columns=list("abcde")) if as_frame else original.copy()
    estimate = Explainer(model, data[:5], rng=0, batch_size=10).estimate(data[5:9])
    np.testing.assert_array_equal(np.asarray(data), original)
    expected = Explainer(twin, original[:5], rng=0, batch_size=10).estimate(original[5:9])
    np.testing.assert_allclose(estimate.values, expected.values)


def test_reused_memory_is_read_only():
    seen = []
    Explainer(lambda t: seen.append(t.flags.writeable) or t[:, 0], DATA[:5], rng=0, batch_size=10).estimate(DATA[5:7])
    assert seen[:2] == [True, True]  # copies of the background and of X
    assert not any(seen[2:])


def test_a_model_may_return_a_view_of_its_input():
    estimate = Explainer(lambda t: t[:, 0], DATA[:5], rng=0, batch_size=10).estimate(DATA[5:9])
    np.testing.assert_allclose(estimate.values[:, 0], DATA[5:9, 0] - DATA[:5, 0].mean())
    np.testing.assert_allclose(estimate.values[:, 1:], 0, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_of_any_layout(order):
    frozen = np.array(DATA[:20], order=order)
    frozen.flags.writeable = False
    expected = Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:9]).values
    np.testing.assert_allclose(Explainer(interaction, frozen[:5], rng=0).estimate(frozen[5:9]).values, expected)
    strided = np.repeat(DATA, 2, axis=1)[:, ::2]
    np.testing.assert_allclose(Explainer(interaction, strided[:5], rng=0).estimate(strided[5:9]).values, expected)
    as_list = Explainer(interaction, DATA[:5].tolist(), rng=0).estimate(DATA[5:9].tolist()).values
    np.testing.assert_allclose(as_list, expected)


def test_whole_numbers_against_a_background_of_floats():
    seen = set()

    def model(table):
        seen.add(table.dtype)
        return table[:, 0] * table[:, 1]

    Explainer(model, DATA[:5], rng=0).estimate(np.ones((2, 5), dtype=int))
    assert seen == {np.dtype(float)}


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
    from sharpley import evaluation

    seen = []
    monkeypatch.setattr(evaluation.Progress, "__init__", lambda self, show, total: seen.append(-total))
    monkeypatch.setattr(evaluation.Progress, "advance", lambda self, count: seen.append(count))
    monkeypatch.setattr(evaluation.Progress, "close", lambda self: None)
    Explainer(wide_model, WIDE[:4], method=method, rng=0).estimate(WIDE[20:23], max_evals=800, tol=tol)
    assert sum(seen) == 0


def test_repr_says_what_is_called():
    assert repr(Explainer(interaction, DATA[:5], method="sobol")) == "Explainer(interaction, method='sobol')"


def test_columns_of_one_name_stay_apart():
    frame = pd.DataFrame(DATA[:, :4], columns=["a", "a", "b", "c"])
    model = lambda t: t.to_numpy() @ np.array([1.0, 10.0, 100.0, 1000.0])  # noqa: E731
    grouped = Explainer(model, frame[:5], groups={"g": ["b", "c"]}).estimate(frame[5:7])
    assert grouped.values.shape == (2, 3)
    with pytest.raises(ValueError, match="there are several columns 'a'; give positions"):
        Explainer(model, frame[:5], groups={"g": ["a", "b"]}).estimate(frame[5:7])
    mixed = frame.assign(c=["x", "y"] * 30)
    counted = Explainer(lambda t: t.iloc[:, 0] * t.iloc[:, 1] + (t["c"] == "x"), mixed[:5]).estimate(mixed[5:7])
    assert counted.values.shape == (2, 4)


def test_column_labels_are_compared_as_they_are():
    numbers, words = FRAME.set_axis(range(5), axis=1), FRAME.set_axis(list("01234"), axis=1)
    with pytest.raises(ValueError, match="the columns of X are not the background's"):
        Explainer(never, words[:5]).estimate(numbers[:2])


@pytest.mark.parametrize("groups", [{"g": 1}, [[0, 1]]])
def test_groups_of_the_wrong_type(groups):
    with pytest.raises(TypeError, match=r"must be a (list|mapping)"):
        Explainer(never, DATA[:5], groups=groups).estimate(DATA[5:6])


@pytest.mark.parametrize(
    ("background", "rows", "error", "message"),
    [
        ([["a", 1.0]], [["b", 2.0]], TypeError, "mixes text and numbers, which an array would turn into text"),
        (np.array([["a", "b"]]), np.ones((1, 2)), TypeError, "X is float64 but the background is <U1"),
        (scipy.sparse.csr_matrix(DATA[:5]), FRAME[:2], TypeError, "tables of one type, got DataFrame and csr_matrix"),
    ],
)
def test_text_and_numbers_are_not_mixed_silently(background, rows, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, background).estimate(rows)


def test_sparse_background_with_dense_rows():
    sparse = Explainer(interaction, scipy.sparse.csr_matrix(DATA[:5]), rng=0).estimate(DATA[5:7].tolist())
    np.testing.assert_allclose(sparse.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_missing_values_of_every_kind_reach_shap():
    frame = pd.DataFrame({"n": pd.array([1, None, 3, 4], dtype="Int64"), "w": ["a", None, "b", "a"]})
    model = lambda t: t["n"].fillna(0).astype(float).to_numpy() * (t["w"] == "a").to_numpy()  # noqa: E731
    explanation = Explainer(model, frame[:2])(frame[1:])
    assert np.isnan(explanation.data[0]).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda t: t[:, : 1 + (t[0, 0] == DATA[5, 0])], "returned 2 outputs for rows 0..1 of X, expected 1"),
        (lambda t: t[:, :0], r"got \(5, 0\)"),
    ],
)
def test_outputs_that_change_their_number(model, message):
    with pytest.raises(ValueError, match=message):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


@pytest.mark.parametrize("output", [lambda t: t[:, 0] + 1j, lambda t: np.array(["1"] * len(t))])
def test_outputs_that_are_not_real_numbers(output):
    with pytest.raises(TypeError, match="must return real numbers"):
        Explainer(output, DATA[:5]).estimate(DATA[5:7])


def test_one_column_of_output_is_one_output():
    column = Explainer(lambda t: interaction(t)[:, None], DATA[:5], rng=0).estimate(DATA[5:7])
    np.testing.assert_array_equal(column.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"feature_names": ["u"]}, ValueError, "1 feature_names for 5 players"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a number of workers"),
        ({"n_jobs": "all"}, ValueError, "n_jobs must be a number of workers"),
    ],
)
def test_bad_options_are_told_before_the_model_is_called(options, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, DATA[:5], **options)(DATA[5:7])


def test_output_names_are_counted_at_the_first_call():
    with pytest.raises(ValueError, match=r"returned 1 outputs for rows 0\.\.4 of the background, expected 2"):
        Explainer(interaction, DATA[:5], output_names=["a", "b"]).estimate(DATA[5:7])


def test_background_summaries_of_every_table():
    assert Background.sample(DATA.tolist(), 4, rng=0).rows.shape == (4, 5)
    polars = Background.kmeans(pl.DataFrame(DATA, schema=list("abcde")), 4, rng=0)
    assert isinstance(polars.rows, pl.DataFrame)
    mixed = pd.DataFrame({"n": np.arange(60), "x": DATA[:, 0]})
    kept = Background.kmeans(mixed, 4, rng=0).rows
    assert kept.dtypes.tolist() == mixed.dtypes.tolist()
    assert kept["n"].isin(mixed["n"]).all()


def test_tolerance_counts_the_players_that_cannot_matter():
    """Twelve alike players around 5 and eight at 0: the range of the values is 5, not the little among the twelve."""
    table = np.ones((40, 20))
    table[:, :12] = RNG.normal(size=(40, 12))
    model = lambda t: 5.0 * (t[:, :12] > 3).sum(axis=1) + 0.1 * t[:, :3].prod(axis=1)  # noqa: E731
    rows = table[[30]].copy()
    rows[:, :12] = 10.0
    assert Explainer(model, table[:5], method="antithetic", rng=0).estimate(rows, tol=0.5).converged.all()


def test_the_game_of_several_rows_is_not_one_game():
    from sharpley import shapley_values

    with pytest.raises(ValueError, match=r"explain them with Explainer\.estimate"):
        shapley_values(MarginalGame(interaction, DATA[:5], DATA[5:7]), 5)
    assert MarginalGame(interaction, DATA[:5], DATA[[5]])(np.zeros((0, 5), dtype=bool)).shape == (0,)


def test_unconverged_rows_are_warned_of_at_the_users_line():
    explainer = Explainer(lambda t: np.abs(t).max(axis=1), WIDE[:5], method="monte-carlo", rng=0)
    with pytest.warns(RuntimeWarning, match="did not reach tol") as caught:
        explainer.estimate(WIDE[5:6], tol=1e-9, max_evals=100)
    assert caught[0].filename == __file__

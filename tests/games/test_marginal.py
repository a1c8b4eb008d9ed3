"""Marginal games: the model receives rows of every type in the type and with the dtypes that were given."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from tabular_data import DATA, FRAME, RNG, frame_model, interaction, never, slow_values, wide_model

from sharpley import Background, Explainer, MarginalGame
from sharpley.coalitions.enumeration import all_coalitions


def test_marginal_game_is_the_mean_prediction_over_the_background():
    coalitions = all_coalitions(5)
    game = MarginalGame(interaction, DATA[:7], DATA[[10]])
    np.testing.assert_allclose(game(coalitions), slow_values(interaction, DATA[:7], DATA[10], coalitions))


@pytest.mark.parametrize("batch_size", [1, 3, 7, 20, 1000])
def test_values_of_several_rows_do_not_depend_on_the_batch_size(batch_size):
    coalitions = all_coalitions(5)[[3, 0, 31, 17, 3]]
    game = MarginalGame(interaction, DATA[:7], DATA[10:14], batch_size=batch_size)
    expected = [slow_values(interaction, DATA[:7], row, coalitions) for row in DATA[10:14]]
    np.testing.assert_allclose(game(coalitions), expected)


def test_background_rows_may_have_weights():
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    coalitions = all_coalitions(5)
    game = MarginalGame(interaction, Background(DATA[:4], weights), DATA[[10]])
    np.testing.assert_allclose(game(coalitions), slow_values(interaction, DATA[:4], DATA[10], coalitions, weights))
    message = r"background weights must be 4 non-negative numbers with a positive sum, got \[-0\.5 -1\.   1\.   0\. \]"
    with pytest.raises(ValueError, match=message):
        MarginalGame(interaction, Background(DATA[:4], weights - 1), DATA[[10]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8, bool])
def test_the_model_receives_numbers_of_the_given_dtype(dtype):
    data = (RNG.random((20, 12)) * 3).astype(dtype)
    seen = []

    def model(mixed):
        seen.append(mixed.dtype)
        return mixed @ np.arange(12)

    coalitions = RNG.random((40, 12)) < 0.5
    game = MarginalGame(model, data[:5], data[[9]])
    np.testing.assert_allclose(game(coalitions), slow_values(model, data[:5], data[9], coalitions))
    assert set(seen) == {np.dtype(dtype)}


@given(st.integers(0, 10_000))
def test_mixing_in_a_reused_buffer_agrees_with_mixing_in_new_memory(seed):
    """Consecutive calls change single columns of a buffer; any sequence of rows and coalitions must be correct."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(12, 20))
    game = MarginalGame(lambda mixed: mixed @ np.arange(1.0, 21.0), data[:4], data[4:], batch_size=12)
    evaluate = game.evaluator()
    masks = rng.random((9, 20)) < 0.5
    for _ in range(6):
        count = rng.integers(1, 4)
        for mask in masks:
            mask[rng.integers(20)] ^= True
        rows, chosen = rng.integers(0, 8, size=count), masks[rng.permutation(9)[:count]]
        expected = [
            np.where(mask, data[4 + row], data[:4]).mean(axis=0) @ np.arange(1.0, 21.0)
            for row, mask in zip(rows, chosen, strict=True)
        ]
        np.testing.assert_allclose(evaluate(rows, chosen)[:, 0], expected)


def test_pandas_frames_keep_their_dtypes():
    estimate = Explainer(frame_model, FRAME.iloc[:20], rng=0).estimate(FRAME.iloc[30:34])
    assert estimate.method == "exact"
    np.testing.assert_allclose(
        estimate.base_values + estimate.values.sum(axis=1), frame_model(FRAME.iloc[30:34]), atol=1e-12
    )
    # The same game, with the columns of the rows mixed one by one.
    game = MarginalGame(frame_model, FRAME.iloc[:20], FRAME.iloc[[30]])
    for coalition in all_coalitions(5)[[0, 6, 13, 31]]:
        mixed = FRAME.iloc[:20].copy()
        for j, member in enumerate(coalition):
            if member:
                mixed.isetitem(j, FRAME.iloc[[30] * 20, j].set_axis(mixed.index))
        assert game(coalition[None])[0] == pytest.approx(frame_model(mixed).mean())


def test_frames_with_a_single_dtype_stay_frames():
    frame = pd.DataFrame(DATA, columns=list("abcde"))

    def model(mixed):
        return (mixed["a"] * mixed["b"]).to_numpy() + interaction(mixed.to_numpy())

    by_frame = Explainer(model, frame.iloc[:10], rng=0).estimate(frame.iloc[20:22])
    by_array = Explainer(lambda t: t[:, 0] * t[:, 1] + interaction(t), DATA[:10], rng=0).estimate(DATA[20:22])
    np.testing.assert_allclose(by_frame.values, by_array.values)


def test_polars_frames_keep_their_schema():
    frame = pl.from_pandas(FRAME)

    def model(mixed):
        assert isinstance(mixed, pl.DataFrame)
        assert mixed.schema == frame.schema
        return frame_model(mixed.to_pandas().astype(FRAME.dtypes.to_dict()))

    estimate = Explainer(model, frame[:20], rng=0).estimate(frame[30:34])
    expected = Explainer(frame_model, FRAME.iloc[:20], rng=0).estimate(FRAME.iloc[30:34])
    np.testing.assert_allclose(estimate.values, expected.values)
    np.testing.assert_array_equal(estimate.n_evals, expected.n_evals)


@pytest.mark.parametrize(
    "kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array]
)
def test_sparse_matrices_keep_their_type(kind):
    dense = np.where(RNG.random((30, 6)) < 0.5, RNG.normal(size=(30, 6)), 0.0)

    def model(mixed):
        assert isinstance(mixed, kind)
        return wide_model(mixed.toarray())

    estimate = Explainer(model, kind(dense[:8]), rng=0).estimate(kind(dense[20:23]))
    expected = Explainer(wide_model, dense[:8], rng=0).estimate(dense[20:23])
    np.testing.assert_allclose(estimate.values, expected.values)


def test_arrays_of_text_are_explained():
    data = np.array([["a", "x"], ["b", "y"], ["a", "y"]])
    estimate = Explainer(lambda t: (t[:, 0] == "a") * 1.0 + (t[:, 1] == "y"), data[:2]).estimate(data[2:])
    np.testing.assert_allclose(estimate.values, [[0.5, 0.5]])


def test_backgrounds_are_sampled_and_summarised():
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
    with pytest.raises(TypeError, match=r"got the number 100; choose rows by Background\.sample\(data, 100\)"):
        Explainer(interaction, 100)
    with pytest.raises(TypeError, match=r"k-means needs numbers, got dtype object; use Background\.sample"):
        Background.kmeans(FRAME, 5)
    with pytest.raises(
        TypeError, match=r"needs finite numbers, but the data contain NaN or infinity; use Background\.s"
    ):
        Background.kmeans(np.array([[1.0], [np.nan]]), 1)


def test_memory_is_bounded_by_the_batch():
    """100 columns and 1,000 background rows: all coalitions at once would take 400 MB for each row."""
    import tracemalloc

    data = RNG.normal(size=(1010, 100))
    explainer = Explainer(lambda t: t[:, 0] * t[:, 1], data[:1000], method="antithetic", rng=0)
    explainer.estimate(data[1000:1001], max_evals=400)
    tracemalloc.start()
    explainer.estimate(data[1000:1003], max_evals=500)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


def doubled(rows):
    rows *= 2.0
    return interaction(rows)


def doubled_frame(frame):
    frame.loc[:, "a"] *= 2.0
    return interaction(frame.to_numpy())


def clipped(rows):
    rows[rows > 10] = 10
    return interaction(rows)


@pytest.mark.parametrize(
    ("model", "pure_model", "as_frame"),
    [
        (doubled, lambda t: interaction(2.0 * t), False),
        (clipped, lambda t: interaction(np.minimum(t, 10)), False),  # only rows of X contain values above 10
        (doubled_frame, lambda t: interaction(t * np.array([2.0, 1, 1, 1, 1])), True),
    ],
)
def test_a_model_may_write_to_its_input(model, pure_model, as_frame):
    """Calls share memory; from the first time that a model writes to its input, it must get new memory in each call."""
    original = DATA.copy()
    original[5:9, 2] = 50.0
    data = pd.DataFrame(original.copy(), columns=list("abcde")) if as_frame else original.copy()
    estimate = Explainer(model, data[:5], rng=0, batch_size=10).estimate(data[5:9])
    np.testing.assert_array_equal(np.asarray(data), original)
    expected = Explainer(pure_model, original[:5], rng=0, batch_size=10).estimate(original[5:9])
    np.testing.assert_allclose(estimate.values, expected.values)


def test_reused_memory_is_read_only():
    seen = []
    Explainer(lambda t: seen.append(t.flags.writeable) or t[:, 0], DATA[:5], rng=0, batch_size=10).estimate(DATA[5:7])
    assert seen[:3] == [True, True, True]  # copies of the background, of some of its rows once more, and of X
    assert not any(seen[3:])


def test_a_model_that_hides_why_it_cannot_write_gets_memory_that_it_may_write_to():
    def hides(t):
        try:
            t[:, 0] *= 2.0
        except ValueError:
            raise RuntimeError("internal error 7") from None
        return interaction(t)

    found = Explainer(hides, DATA[:5], rng=0, batch_size=10).estimate(DATA[5:9])
    expected = Explainer(lambda t: interaction(t * [2.0, 1, 1, 1, 1]), DATA[:5], rng=0, batch_size=10).estimate(
        DATA[5:9]
    )
    np.testing.assert_allclose(found.values, expected.values)


def test_memory_is_reused_unless_the_model_itself_may_hand_it_to_torch(monkeypatch):
    torch = ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    monkeypatch.setitem(sys.modules, "torch", torch)  # imported by somebody else, which does not matter
    for names, is_new in (
        ({}, False),
        ({"torch": torch}, True),
        ({"net": type("Net", (), {"__module__": "torch.nn"})()}, True),
    ):
        seen = []
        scope = {"seen": seen, **names}
        exec("def model(t):\n    seen.append(t.flags.writeable)\n    return t[:, 0]", scope)
        Explainer(scope["model"], DATA[:5], rng=0, batch_size=10).estimate(DATA[5:7])
        assert all(seen[3:]) == is_new


def test_a_model_may_return_a_view_of_its_input():
    estimate = Explainer(lambda t: t[:, 0], DATA[:5], rng=0, batch_size=10).estimate(DATA[5:9])
    np.testing.assert_allclose(estimate.values[:, 0], DATA[5:9, 0] - DATA[:5, 0].mean())
    np.testing.assert_allclose(estimate.values[:, 1:], 0, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_data_may_have_any_memory_layout(order):
    frozen = np.array(DATA[:20], order=order)
    frozen.flags.writeable = False
    expected = Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:9]).values
    np.testing.assert_allclose(Explainer(interaction, frozen[:5], rng=0).estimate(frozen[5:9]).values, expected)
    strided = np.repeat(DATA, 2, axis=1)[:, ::2]
    np.testing.assert_allclose(Explainer(interaction, strided[:5], rng=0).estimate(strided[5:9]).values, expected)
    as_list = Explainer(interaction, DATA[:5].tolist(), rng=0).estimate(DATA[5:9].tolist()).values
    np.testing.assert_allclose(as_list, expected)


def test_integers_are_converted_to_the_floats_of_the_background():
    seen = set()

    def model(rows):
        seen.add(rows.dtype)
        return rows[:, 0] * rows[:, 1]

    Explainer(model, DATA[:5], rng=0).estimate(np.ones((2, 5), dtype=int))
    assert seen == {np.dtype(float)}


def test_columns_with_the_same_name_are_kept_apart():
    frame = pd.DataFrame(DATA[:, :4], columns=["a", "a", "b", "c"])
    model = lambda t: t.to_numpy() @ np.array([1.0, 10.0, 100.0, 1000.0])  # noqa: E731
    grouped = Explainer(model, frame[:5], groups={"g": ["b", "c"]}).estimate(frame[5:7])
    assert grouped.values.shape == (2, 3)
    with pytest.raises(ValueError, match="group 'g': several columns are named 'a'; give positions"):
        Explainer(model, frame[:5], groups={"g": ["a", "b"]}).estimate(frame[5:7])
    mixed = frame.assign(c=["x", "y"] * 30)
    counted = Explainer(lambda t: t.iloc[:, 0] * t.iloc[:, 1] + (t["c"] == "x"), mixed[:5]).estimate(mixed[5:7])
    assert counted.values.shape == (2, 4)


def test_column_labels_are_compared_without_conversion():
    numbers, words = FRAME.set_axis(range(5), axis=1), FRAME.set_axis(list("01234"), axis=1)
    with pytest.raises(ValueError, match=r"the columns of X differ from those of the background: missing \['0', '1'"):
        Explainer(never, words[:5]).estimate(numbers[:2])


def test_a_sparse_background_can_be_mixed_with_dense_rows():
    sparse = Explainer(interaction, scipy.sparse.csr_matrix(DATA[:5]), rng=0).estimate(DATA[5:7].tolist())
    np.testing.assert_allclose(sparse.values, Explainer(interaction, DATA[:5], rng=0).estimate(DATA[5:7]).values)


def test_missing_values_of_every_type_are_nan_in_explanations():
    frame = pd.DataFrame({"n": pd.array([1, None, 3, 4], dtype="Int64"), "w": ["a", None, "b", "a"]})
    model = lambda t: t["n"].fillna(0).astype(float).to_numpy() * (t["w"] == "a").to_numpy()  # noqa: E731
    explanation = Explainer(model, frame[:2])(frame[1:])
    assert np.isnan(explanation.data[0]).all()


def test_backgrounds_have_the_type_and_dtypes_of_the_data():
    assert Background.sample(DATA.tolist(), 4, rng=0).rows.shape == (4, 5)
    polars = Background.kmeans(pl.DataFrame(DATA, schema=list("abcde")), 4, rng=0)
    assert isinstance(polars.rows, pl.DataFrame)
    mixed = pd.DataFrame({"n": np.arange(60), "x": DATA[:, 0]})
    kept = Background.kmeans(mixed, 4, rng=0).rows
    assert kept.dtypes.tolist() == mixed.dtypes.tolist()
    assert kept["n"].isin(mixed["n"]).all()

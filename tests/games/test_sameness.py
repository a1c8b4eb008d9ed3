"""Values of a feature count as the same only if no model can tell them apart, and are converted without loss."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from sharpley import Background, Explainer, shapley_values
from sharpley.games.marginal.sameness import codes_of_objects

LARGE = 2**53
MASKED = np.ma.masked_array(np.arange(12.0).reshape(6, 2), mask=np.arange(12).reshape(6, 2) == 3)


def sign(rows):
    return np.copysign(1.0, np.asarray(rows, dtype=float)[:, 0])


ZEROS = [np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([[-0.0, 1.0]])]


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda data: data.astype(np.float32),
        lambda data: data.astype(object),
        lambda data: pd.DataFrame(data, columns=["a", "b"]),
        lambda data: pd.DataFrame(data, columns=["a", "b"]).assign(c="text"),
        lambda data: pd.DataFrame(data, columns=["a", "b"], dtype="Float64").assign(c="text"),
        lambda data: pd.DataFrame(data, columns=["a", "b"], dtype=object),
        lambda data: pl.DataFrame(data, schema=["a", "b"]),
    ],
)
def test_zero_and_minus_zero_differ(convert):
    background, rows = map(convert, ZEROS)
    to_array = (lambda t: sign(t[["a", "b"]].to_numpy())) if hasattr(rows, "columns") else sign
    np.testing.assert_array_equal(Explainer(to_array, background).estimate(rows).values[0, :2], [-2.0, 0.0])


@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame])
def test_true_and_1_and_a_float_of_1_differ(convert):
    def model(rows):
        first = rows[:, 0] if isinstance(rows, np.ndarray) else rows[0]
        return np.array([10.0 * isinstance(value, bool) + 5.0 * isinstance(value, float) for value in first])

    background = convert(np.array([[1, 5], [1, 6]], dtype=object))
    rows = convert(np.array([[True, 7], [1.0, 7], [1, 7]], dtype=object))
    np.testing.assert_array_equal(Explainer(model, background).estimate(rows).values, [[10, 0], [5, 0], [0, 0]])


@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", "Float64"])
def test_bool_beside_numbers_becomes_numbers_as_in_numpy(dtype):
    seen = []

    def model(frame):
        seen.append(frame["a"].dtype)
        return frame["a"].to_numpy(dtype=float) + frame["b"].to_numpy()

    numbers = pd.DataFrame({"a": pd.array([0, 3], dtype=dtype), "b": [5.0, 6.0]})
    flags = pd.DataFrame({"a": [True], "b": [7.0]})
    np.testing.assert_allclose(Explainer(model, numbers).estimate(flags).values, [[-0.5, 1.5]])
    np.testing.assert_allclose(Explainer(model, flags).estimate(numbers).values, [[-1.0, -2.0], [2.0, -1.0]])
    assert set(seen) == {pd.api.types.pandas_dtype(dtype)}


def test_the_same_values_have_the_same_number_whatever_their_type():
    groups = [
        *([1], [True], [1.0], [0.0], [-0.0], ["1"], [None], [float("nan"), float("nan")], [pd.NA]),
        *([[1, 2], [1, 2]], [[True, 2]], [(1, 2)], [{"a": [1]}, {"a": [1]}], [{1, 2}, {2, 1}]),
        *([np.arange(3000.0), np.arange(3000.0)], [np.arange(3000.0) + (np.arange(3000) == 1500) * 1e-12]),
        *([np.array([1, None], dtype=object)], [np.array([True, None], dtype=object)], [Unhashable()], [Unhashable()]),
    ]
    values = [value for group in groups for value in group]
    expected = [number for number, group in enumerate(groups) for _ in group]
    assert codes_of_objects(values).tolist() == expected
    assert codes_of_objects(np.array(["b", "a", "b"], dtype=object)).tolist() == [0, 1, 0]


class Unhashable:
    __hash__ = None


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_of_lists_and_of_many_types_are_explained_with_own_draws(make):
    rng = np.random.default_rng(0)
    columns = {"words": [["a", "b"], ["c"], []] * 70, **{f"x{j}": rng.normal(size=210) for j in range(8)}}
    table = make(columns)
    if make is dict:
        table = np.empty((210, 9), dtype=object)
        for j, column in enumerate(columns.values()):
            table[:, j] = np.fromiter(column, dtype=object, count=210)

    def model(rows):
        words = rows[:, 0] if isinstance(rows, np.ndarray) else list(rows["words"])
        return np.array([float(len(each)) for each in words])

    estimate = Explainer(model, table, rng=0).estimate(table[:3])
    np.testing.assert_allclose(estimate.values[:, 0], [1, 0, -1], atol=1e-9)


def test_objects_in_polars_are_explained():
    class Thing:
        def __init__(self, size):
            self.size = size

    things = pl.Series([Thing(1), Thing(5)], dtype=pl.Object)
    frame = pl.DataFrame({"thing": things, "x": [1.0, 2.0]})
    estimate = Explainer(lambda t: np.array([1.0 * each.size for each in t["thing"].to_list()]), frame).estimate(frame)
    np.testing.assert_allclose(estimate.values, [[-2, 0], [2, 0]])


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_text_and_numbers_are_not_converted_into_each_other(library, is_reversed):
    frames = [library.DataFrame({"a": ["1", "2"], "b": [1.0, 2.0]}), library.DataFrame({"a": [1], "b": [2.0]})]
    background, rows = frames[::-1] if is_reversed else frames
    with pytest.raises(TypeError, match=r"column 'a' is .* in X but .* in the background; convert them"):
        Explainer(lambda t: t["b"].to_numpy(), background).estimate(rows)


def first_column(rows):
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows["a"].to_numpy(), dtype=float).reshape(
        len(rows), -1
    )[:, 0]


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda values: np.array([[value, 1] for value in values]), "the background"),
        (lambda values: scipy.sparse.csr_matrix(np.array([[value, 1] for value in values])), "the background"),
        (lambda values: pd.DataFrame({"a": values, "s": "text"}), "column 'a' of the background"),
        (lambda values: pl.DataFrame({"a": values, "s": ["text"] * len(values)}), "column 'a' of the background"),
    ],
)
def test_integers_that_would_lose_digits_as_floats_raise_an_error(make, where):
    with pytest.raises(TypeError, match=f"{where} has the integer {LARGE + 1}, which would lose digits as a float"):
        Explainer(first_column, make([LARGE + 1, 7])).estimate(make([0.5]))
    with pytest.raises(TypeError, match=f"X has the integer {LARGE + 3}, which would lose digits as a float"):
        Explainer(first_column, make([0.5])).estimate(make([LARGE + 3]))
    if "column" in where:
        kept = Explainer(lambda t: np.array([float(int(v) - LARGE) for v in t["a"]]), make([LARGE + 1, LARGE + 3]))
        np.testing.assert_array_equal(kept.estimate(make([LARGE + 7])).values, [[5.0, 0.0]])
        np.testing.assert_array_equal(
            Explainer(first_column, make([LARGE + 2])).estimate(make([0.5])).base_values, [LARGE + 2]
        )


@pytest.mark.parametrize("library", [pd, pl])
def test_one_row_that_has_lost_digits_raises_an_error(library):
    frame = library.DataFrame({"a": [LARGE + 1, 7], "b": [0.5, 0.6]})
    row = frame.iloc[0] if library is pd else np.array([LARGE + 1, 0.5])
    with pytest.raises(
        TypeError, match=rf"X has the float {LARGE}, whose last digits may be lost; of a frame, .*\[\[0\]\]"
    ):
        Explainer(first_column, frame).estimate(row)


@pytest.mark.parametrize(
    "background",
    [
        pd.DataFrame({"a": [1, 3], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.array([1, 3], dtype="Int64"), "b": [1.0, 2.0]}),
        pd.DataFrame({"a": np.array([1, 3], dtype=np.uint8), "b": [1.0, 2.0]}),
        pl.DataFrame({"a": [1, 3], "b": [1.0, 2.0]}),
    ],
)
@pytest.mark.parametrize("value", [0.7, 300.0, -1.0, 2.0])
def test_numbers_beside_a_frame_of_integers_are_not_rounded(background, value):
    explainer = Explainer(first_column, background)
    for row in (np.array([[value, 1.0]]), np.array([[value, 1.0]], dtype=object), {"a": value, "b": 1.0}):
        np.testing.assert_allclose(np.ravel(explainer.estimate(row).values), [value - 2.0, 0.0])


@pytest.mark.parametrize("library", [pd, pl])
def test_text_beside_a_frame_of_flags_raises_an_error(library):
    background = library.DataFrame({"a": [True, False], "b": [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"column 'a' (has values that are not bool|is String in X but Boolean)"):
        Explainer(first_column, background).estimate({"a": "no", "b": 1.0})


@pytest.mark.parametrize(
    "call",
    [
        lambda: Explainer(first_column, MASKED.filled()).estimate(MASKED),
        lambda: Explainer(first_column, MASKED.filled()).estimate(MASKED[1]),
        lambda: Explainer(first_column, MASKED),
        lambda: Explainer(first_column, Background.sample(MASKED, 6)).estimate(MASKED.filled()),
        lambda: Background.kmeans(MASKED, 2),
    ],
)
def test_masked_values_in_data_raise_an_error(call):
    with pytest.raises(TypeError, match=r"has masked values, .* as in \w+\.filled\(np\.nan\)"):
        call()


def test_arrays_without_masked_values_are_explained():
    plain = np.ma.masked_array(MASKED.filled())
    expected = Explainer(first_column, plain.data).estimate(plain.data[:2]).values
    np.testing.assert_array_equal(Explainer(first_column, plain).estimate(plain[:2]).values, expected)


def test_masked_values_in_results_of_models_and_games_raise_an_error():
    def model(rows):
        return np.ma.masked_array(rows[:, 0], mask=rows[:, 0] > 3)

    with pytest.raises(ValueError, match="model must return finite numbers, but returned masked values"):
        Explainer(model, MASKED.filled()).estimate(MASKED.filled())
    with pytest.raises(ValueError, match="the game must return finite numbers, but returned masked values"):
        shapley_values(lambda S: np.ma.masked_array(S.sum(axis=1), mask=S[:, 0]), 3)  # noqa: N803


@pytest.mark.parametrize("make", [np.asarray, lambda x: x[0], lambda x: pd.DataFrame(x, columns=["a", "c"])])
def test_half_precision_beside_categories_of_numbers(make):
    background = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "c": pd.Categorical([0.5, 1.0, 0.5, 1.0])})
    rows = np.array([[1.5, 0.5], [0.25, 1.0]], dtype=np.float16)
    found = Explainer(lambda x: x["a"] * x["c"].astype(float), background, rng=0).estimate(make(rows))
    np.testing.assert_allclose(
        np.sum(found.values, axis=-1) + found.base_values, [0.75, 0.25][: np.size(found.n_evals)]
    )

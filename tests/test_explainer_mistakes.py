"""Errors of explanations: they are specific, and raised before the model is called where this is possible."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from tabular_data import DATA, FRAME, WIDE, interaction, never

import sharpley
from sharpley import Explainer, MarginalGame


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["a", "zebra"]}, "group 'g' has an unknown column 'zebra'; the columns are"),
        ({"g": ["a", "b"], "h": ["b"]}, "column 'b' is in two groups, 'g' and 'h'"),
        ({"g": ["a", "a"]}, "column 'a' is twice in group 'g'; list it once"),
        ({"g": []}, "group 'g' has no columns"),
        ({"g": [7]}, "group 'g' has an unknown column 7"),
        ({"c": ["a", "b"]}, r"groups must not have the names of columns outside them: \['c'\]; rename the groups"),
    ],
)
def test_invalid_groups_raise_specific_errors(groups, message):
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    with pytest.raises(ValueError, match=message):
        Explainer(interaction, frame.iloc[:5], groups=groups).estimate(frame.iloc[5:6])


@pytest.mark.parametrize(
    ("background", "rows", "error", "message"),
    [
        (DATA[:5], DATA[:0], ValueError, "X must have at least one row, got none"),
        (DATA[:0], DATA[:1], ValueError, "the background must have at least one row, got none"),
        (DATA[:5], DATA[:1, :4], ValueError, "X has 4 columns, but the background has 5"),
        (DATA[:5], DATA[0, :4], ValueError, "X has 4 columns, but the background has 5"),
        (DATA[:5], DATA[None], ValueError, r"X must have shape \(rows, columns\), got shape \(1, 60, 5\)"),
        (np.empty((3, 0)), np.empty((1, 0)), ValueError, "X must have at least one column, got none"),
        (
            FRAME[:5],
            FRAME[["job", "age", "size", "member", "income"]],
            ValueError,
            r"in a different order from those of the background; use X\[\['age', 'job'",
        ),
        (FRAME[:5], FRAME.drop(columns="job"), ValueError, r"missing \['job'\], unexpected \[\]"),
        (FRAME[:5], DATA[:2, :4], ValueError, "X has 4 columns, but the background has 5"),
        (FRAME[:5], DATA[:2].astype(str), TypeError, r"X does not fit the columns of the background, \['age', 'job'"),
        (FRAME[:5], FRAME[:2].astype({"job": "category"}), TypeError, "column 'job' is category in X but"),
    ],
)
def test_invalid_data_raise_an_error_before_the_model_is_called(background, rows, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, background).estimate(rows)


def test_too_small_a_budget_raises_an_error_before_the_model_is_called():
    with pytest.raises(
        ValueError, match=r"max_evals=8 is too small .* with 14 players: the least budget is max_evals=9$"
    ):
        Explainer(never, WIDE[:3]).estimate(WIDE[5:6], max_evals=8)
    with pytest.raises(
        ValueError, match=r"max_evals=15 is too small .* with 14 players: the least budget is max_evals=16$"
    ):
        Explainer(never, WIDE[:3], draws="shared").estimate(WIDE[5:6], max_evals=15)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (lambda t: t[:-1, 0], ValueError, r"must return shape \(5,\) or \(5, k\) for 5 rows, got \(4,\)"),
        (lambda t: t[:, :, None], ValueError, r"got \(5, 5, 1\)"),
        (lambda t: np.array(["yes"] * len(t)), TypeError, "returned labels such as .yes.; pass the classifier itself"),
        (lambda t: np.full(len(t), np.nan), ValueError, r"returned \[nan\] for row 0 of the background"),
    ],
)
def test_invalid_outputs_raise_specific_errors(model, error, message):
    with pytest.raises(error, match=message):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


def test_the_error_for_nan_names_the_row_and_the_coalition():
    def model(x):
        return np.where((x[:, 0] == DATA[6, 0]) & (x[:, 1] != DATA[6, 1]), np.nan, 1.0)

    with pytest.raises(ValueError, match=r"NaN or infinity for row 1 of X with the coalition of players \[0"):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


def test_an_exception_of_the_model_gets_a_note():
    def model(x):
        if len(x) > 5:
            raise ZeroDivisionError("raised by the user's code")
        return x[:, 0]

    with pytest.raises(ZeroDivisionError, match="raised by the user's code") as caught:
        Explainer(model, DATA[:5]).estimate(DATA[5:7])
    assert "raised by model on" in caught.value.__notes__[0]
    assert "rows 0..1 of X" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": 1}, "group 'g' must be a list of columns, got 1"),
        ([[0, 1]], r"groups must be a mapping such as .*, got \[\[0, 1\]\]"),
    ],
)
def test_groups_of_the_wrong_type_raise_specific_errors(groups, message):
    with pytest.raises(TypeError, match=message):
        Explainer(never, DATA[:5], groups=groups).estimate(DATA[5:6])


@pytest.mark.parametrize(
    ("background", "rows", "error", "message"),
    [
        ([["a", 1.0]], [["b", 2.0]], TypeError, "mixes text and numbers, which an array would convert to text"),
        (np.array([["a", "b"]]), np.ones((1, 2)), TypeError, "X is float64 but the background is <U1"),
        (
            scipy.sparse.csr_matrix(DATA[:5]),
            FRAME[:2],
            TypeError,
            "X is a DataFrame, but the background is a sparse matrix",
        ),
    ],
)
def test_text_and_numbers_or_different_types_are_not_mixed_silently(background, rows, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, background).estimate(rows)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda t: t[:, : 1 + (t[0, 0] == DATA[5, 0])], "returned 2 outputs for rows 0..1 of X, expected 1"),
        (lambda t: t[:, :0], r"got \(5, 0\)"),
    ],
)
def test_a_wrong_number_of_outputs_raises_an_error(model, message):
    with pytest.raises(ValueError, match=message):
        Explainer(model, DATA[:5]).estimate(DATA[5:7])


@pytest.mark.parametrize("output", [lambda t: t[:, 0] + 1j, lambda t: np.array(["1"] * len(t))])
def test_outputs_that_are_not_real_numbers_raise_an_error(output):
    with pytest.raises(TypeError, match=r"must return (real )?numbers"):
        Explainer(output, DATA[:5]).estimate(DATA[5:7])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"feature_names": ["u"]}, ValueError, r"names must have one name for each of 5 players, got \['u'\]"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a number of workers"),
        ({"n_jobs": "all"}, ValueError, "n_jobs must be a number of workers"),
    ],
)
def test_invalid_options_raise_an_error_before_the_model_is_called(options, error, message):
    with pytest.raises(error, match=message):
        Explainer(never, DATA[:5], **options)(DATA[5:7])


def test_the_number_of_output_names_is_checked_at_the_first_call():
    with pytest.raises(ValueError, match=r"returned 1 outputs for rows 0\.\.4 of the background, expected 2"):
        Explainer(interaction, DATA[:5], output_names=["a", "b"]).estimate(DATA[5:7])


def test_shapley_values_of_several_rows_raise_an_error():
    from sharpley import shapley_values

    with pytest.raises(ValueError, match=r"expected one game, got 2, one for each row; use sharpley\.estimate"):
        shapley_values(MarginalGame(interaction, DATA[:5], DATA[5:7]), 5)
    assert MarginalGame(interaction, DATA[:5], DATA[[5]])(np.zeros((0, 5), dtype=bool)).shape == (0,)


def test_a_random_part_of_too_many_background_rows_is_used_and_said_so(monkeypatch):
    from sharpley.games.marginal import background

    monkeypatch.setattr(background, "MAX_ROWS", 20)
    with pytest.warns(UserWarning, match="the background has 40 rows; a random part of 20 of them is used"):
        explainer = Explainer(lambda x: x.sum(axis=1), WIDE, rng=0)
    assert explainer.background.rows.shape == (20, 14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DATA[:5], interaction), "got a ndarray of data; the model comes first"),
        ((interaction, None), r"the background must be rows of data, got None; pass training data, as in Explainer"),
        ((LogisticRegression, DATA[:5]), r"model is the class LogisticRegression; pass a fitted object"),
    ],
)
def test_arguments_in_the_wrong_place_say_what_to_pass(arguments, message):
    with pytest.raises(TypeError, match=message):
        Explainer(*arguments)


def test_unbiased_is_true_or_false():
    with pytest.raises(TypeError, match="unbiased must be True or False, got 'no'"):
        Explainer(interaction, DATA[:5], unbiased="no")


def test_auto_is_no_budget():
    with pytest.raises(TypeError, match="max_evals must be an integer, got 'auto'; omit it for the default"):
        Explainer(interaction, DATA[:5]).estimate(DATA[:1], max_evals="auto")


def test_columns_of_lists_are_explained():
    frame = pd.DataFrame({"words": [["a", "b"], ["c"]] * 5, "number": range(10)})
    explainer = Explainer(lambda t: t["words"].map(len).to_numpy() * 1.0 + t["number"].to_numpy(), frame[:4])
    estimate = explainer.estimate(frame[6:8])
    np.testing.assert_allclose(estimate.values, [[0.5, 4.5], [-0.5, 5.5]])


def test_missing_values_of_pandas_in_arrays_are_explained():
    data = np.array([[pd.NA, 1.0], [2.0, 3.0], [pd.NA, 3.0]], dtype=object)
    explainer = Explainer(lambda t: np.array([0.0 if row[0] is pd.NA else row[0] for row in t]), data[:2])
    np.testing.assert_allclose(explainer.estimate(data).values, [[-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])


def test_groups_with_the_same_name_as_text_raise_an_error():
    with pytest.raises(ValueError, match=r"groups must have different names as text, got \[0, '0'\]; rename one"):
        Explainer(never, DATA[:5], groups={0: [0], "0": [1]}).estimate(DATA[:1])


@pytest.mark.parametrize("budget", [pd.NA, np.array([100, 200]), None.__class__, "100", [100]])
def test_budgets_that_are_no_numbers_raise_an_error(budget):
    with pytest.raises(TypeError, match="max_evals must be an integer, got"):
        Explainer(interaction, DATA[:5]).estimate(DATA[:1], max_evals=budget)


def test_choices_that_are_no_names_list_those_that_exist():
    from sharpley import estimate, shapley_values

    game = MarginalGame(interaction, DATA[:5], DATA[:1])
    with pytest.raises(ValueError, match=r"unknown index \['shapley'\]; choose one of 'shapley'"):
        estimate(game, index=["shapley"])
    with pytest.raises(TypeError, match="unbiased must be True or False, got 'no'"):
        shapley_values(game, unbiased="no")


@pytest.mark.parametrize(
    ("background", "arguments", "message"),
    [
        (DATA[:9], {"groups": {"a": [77]}}, "group 'a' has an unknown column 77; columns are numbered from 0 to"),
        (FRAME[:9], {"groups": {"a": ["nothing"]}}, "group 'a' has an unknown column 'nothing'; the columns are"),
        (DATA[:9], {"groups": {"a": [0], "b": [0]}}, "is in two groups, 'a' and 'b'"),
        (DATA[:8].reshape(4, 2, -1), {}, r"background must have shape \(rows, columns\), got shape \(4, 2, 5\)"),
        (DATA[0], {}, r"got shape \(5,\); for one row, pass background\[None\]"),
        (DATA[:0], {}, "the background must have at least one row, got none"),
        (sharpley.Background(DATA[:9], weights=[1.0]), {}, "background weights must be 9 non-negative numbers"),
        (DATA[:9], {"feature_names": ["a"]}, "names must have one name for each of 5 players"),
        (DATA[:9], {"draws": "mine"}, "unknown draws 'mine'; choose one of"),
        (DATA[:9], {"batch_size": 0}, "batch_size must be at least 1, got 0"),
    ],
)
def test_mistakes_of_the_constructor_show_there(background, arguments, message):
    with pytest.raises(ValueError, match=message):
        Explainer(lambda rows: np.asarray(rows)[:, 0], background, **arguments)


def test_groups_may_have_the_names_that_only_x_has():
    names = list("abcde")
    explainer = Explainer(lambda rows: rows[:, 0], DATA[:9], groups={"first": ["a", "b"]})
    assert explainer.estimate(pd.DataFrame(DATA[:2], columns=names)).names == ["first", "c", "d", "e"]
    with pytest.raises(ValueError, match="group 'first' has an unknown column 'a'; columns are numbered"):
        explainer.estimate(DATA[:2])


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("check_additivity", "use no argument: base value and values add up to the prediction"),
        ("interactions", r"use explainer\.interactions\(X\)"),
    ],
)
def test_arguments_of_shap_say_what_to_write(name, instead):
    with pytest.raises(TypeError, match=f"has no argument '{name}'; {instead}"):
        Explainer(lambda rows: rows[:, 0], DATA[:9])(DATA[:2], **{name: True})


def test_attributes_that_people_look_for_say_what_to_write():
    explainer = Explainer(lambda rows: rows[:, 0], DATA[:9])
    with pytest.raises(AttributeError, match=r"use explainer\.interactions\(X\)"):
        explainer.shap_interaction_values(DATA[:2])
    with pytest.raises(AttributeError, match=r"use sharpley\.plotting\.intervals\(estimate\), or shap's plots of"):
        explainer.estimate(DATA[:2]).plot()
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        _ = explainer.estimate(DATA[:2]).nothing

"""Results that people can use: frames, files, selection, printed text, HTML and a plot of intervals."""

import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tabular_data import FRAME, WIDE, wide_model

import sharpley
from sharpley import Explainer, ShapleyEstimate, plotting

NUMBERS = FRAME[["age", "member"]].assign(index=np.arange(80.0), last=WIDE[np.arange(80) % 40, 0])
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS["age"] + 20 * NUMBERS["last"], [35, 55])]
ROWS = NUMBERS.iloc[30:34].set_axis(["p", "q", "r", "s"])


@pytest.fixture(scope="module")
def several():
    """Four rows, four features, three outputs."""
    model = RandomForestClassifier(20, random_state=0).fit(NUMBERS, CLASSES)
    return Explainer(model, NUMBERS[:20], rng=0, method="antithetic").estimate(ROWS, max_evals=15)


@pytest.fixture(scope="module")
def sampled():
    """Three rows of 14 features without names, one output, with standard errors."""
    return Explainer(wide_model, WIDE[:9], method="antithetic", rng=0).estimate(WIDE[20:23], max_evals=200)


def same(first, second):
    """All fields of two estimates are equal, types included."""
    for field in fields(ShapleyEstimate):
        mine, theirs = getattr(first, field.name), getattr(second, field.name)
        assert type(mine) is type(theirs), field.name
        np.testing.assert_array_equal(mine, theirs, err_msg=field.name)


def test_a_long_frame_has_a_line_for_each_row_output_and_feature(several):
    frame = several.to_frame(level=0.9)
    assert list(frame.columns) == [
        "row", "output", "feature", "value", "standard_error", "lower", "upper", "base_value"
    ]  # fmt: skip
    assert len(frame) == 4 * 3 * 4
    lower, upper = several.interval(0.9)
    for i, row in enumerate("pqrs"):
        for j, feature in enumerate(NUMBERS.columns):
            for k, output in enumerate(several.output_names):
                line = frame[(frame["row"] == row) & (frame["output"] == output) & (frame["feature"] == feature)]
                found = line[["value", "standard_error", "lower", "upper", "base_value"]].to_numpy()[0]
                at = (i, j, k)
                expected = [several.values[at], several.standard_errors[at], lower[at], upper[at]]
                np.testing.assert_array_equal(found, [*expected, several.base_values[i, k]])


def test_a_wide_frame_has_a_line_for_each_row_and_output(several, sampled):
    frame = several.to_frame(wide=True)
    assert frame["value"]["age"]["q", "high"] == several["q", "age", "high"].values[0]
    assert frame["base_value"]["q", "high"] == several[1, :, "high"].base_values
    single = sampled.to_frame(wide=True)
    np.testing.assert_array_equal(single["value"], sampled.values)
    np.testing.assert_array_equal(single["upper"], sampled.interval()[1])
    assert list(single.index) == [0, 1, 2]
    assert sampled.row(1).to_frame(wide=True)["value"].shape == (1, 14)
    assert "row" not in sampled.row(1).to_frame()


@pytest.mark.parametrize("key", [slice(None), 0, (slice(None), "age"), (..., "high"), (1, slice(None), "low")])
def test_saved_estimates_are_loaded_as_they_were(several, key, tmp_path):
    estimate = several[key]
    estimate.save(tmp_path / "estimate.parquet")
    same(sharpley.load(tmp_path / "estimate.parquet"), estimate)


def test_estimates_of_other_kinds_are_saved(sampled, tmp_path):
    path = tmp_path / "estimate.parquet"
    for estimate in (
        sampled,
        sampled.row(2),
        replace(sampled, names=None, n_predictions=np.array([1, 2, 3])),
        replace(sampled.row(0), n_predictions=7, compute_time=None),
        replace(
            sampled, row_labels=[pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02"), pd.Timestamp("2021-01-01")]
        ),
        sharpley.shapley_values(sharpley.games.Airport((1.0, 2.0, 4.0))),
    ):
        estimate.save(path)
        same(sharpley.load(path), estimate)
    # Labels of several types become strings.
    replace(sampled, row_labels=[1, "b", 2.0]).save(path)
    assert sharpley.load(path).row_labels == ["1", "b", "2.0"]


def test_saved_estimates_are_tables_and_contain_no_pickles(several, tmp_path):
    path = tmp_path / "estimate.parquet"
    several.save(path)
    table = pd.read_parquet(path)
    assert len(table) == 48
    assert {"feature", "values", "standard_errors"} <= set(table.columns)
    other = tmp_path / "other.parquet"
    table.drop(columns="feature").to_parquet(other)
    with pytest.raises(ValueError, match=r"other\.parquet is a Parquet file, but not a result of sharpley"):
        sharpley.load(other)


def test_rows_players_and_outputs_are_selected_by_position_and_name(several):
    assert len(several) == 4
    assert len(several[0]) == 4
    np.testing.assert_array_equal(several[1].values, several.values[1])
    np.testing.assert_array_equal(several["q"].values, several.values[1])
    np.testing.assert_array_equal(several[-1].values, several.values[3])
    np.testing.assert_array_equal(several[1:3].values, several.values[1:3])
    np.testing.assert_array_equal(several[[3, 0]].base_values, several.base_values[[3, 0]])
    np.testing.assert_array_equal(several[several.base_values[:, 0] > 9].values, several.values[:0])
    np.testing.assert_array_equal(several["age"].values, several.values[:, :1])
    np.testing.assert_array_equal(several[:, ["last", "age"]].values, several.values[:, [3, 0]])
    np.testing.assert_array_equal(several["high"].values, several.values[:, :, 0])
    np.testing.assert_array_equal(several[2, "age", "low"].values, several.values[2, :1, 1])
    assert several[2, ["age"]].names == ["age"]
    assert several["high"].output_names == ["high"]
    assert several[2:].row_labels == ["r", "s"]
    assert several[2:].n_evals.tolist() == several.n_evals[2:].tolist()
    assert isinstance(several[2].n_evals, int)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (4, IndexError, "there are 4 rows, so there is no number 4"),
        ("colour", KeyError, r"no 'colour' among the players, which are \['age', 'member', 'index', 'last'\]"),
        ((0, 0, 0, 0), IndexError, "the result has the axes rows, players, outputs, but 4 were selected from"),
        (2.5, TypeError, "rows are selected by position or name, got 2.5"),
    ],
)
def test_what_cannot_be_selected_is_named(several, key, error, message):
    with pytest.raises(error, match=message):
        several[key]


def test_printed_estimates_have_values_errors_and_bars(several, sampled):
    text = str(sampled)
    largest = int(np.abs(sampled.values[0]).argmax())
    line = next(line for line in text.splitlines() if line.startswith(f"  Feature {largest} "))
    assert f"{sampled.values[0, largest]:+.4g}" in line
    assert f"± {sampled.standard_errors[0, largest]:.2g}" in line
    assert line.count("█") + line.count("▒") == 24
    assert "3 rows and 14 players by antithetic" in text
    assert "… 4 smaller" in text
    assert "row p, high: base value" in str(several)
    assert "… and 9 more; to_frame() has them all" in str(several)
    missed = replace(sampled, converged=np.array([True, False, False]))
    assert "2 rows did not meet the tolerance" in str(missed)


def test_html_has_every_shown_value_and_escapes_names(several):
    html = several._repr_html_()
    for value in several.values[0, :, 0]:
        assert f"{value:+.4g}" in html
    sneaky = replace(several, names=["<b>age</b>", "b", "c", "d"])._repr_html_()
    assert "<b>age" not in sneaky
    assert "&lt;b&gt;age" in sneaky


def test_intervals_are_drawn_for_several_rows_and_outputs(several, sampled):
    ax = plotting.intervals(several[:2])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [f"row {row}, {output}" for row in "pq" for output in several.output_names]
    few, many = plotting.intervals(sampled, max_display=3), plotting.intervals(sampled)
    assert len(few.get_yticklabels()) == 3
    assert few.get_xlabel() == "Shapley value (11 smaller ones are not shown)"
    heights = [ax.get_figure().get_figheight() for ax in (few, many)]
    assert heights[1] > heights[0] + 2
    with pytest.raises(ValueError, match=r"4 rows and 3 outputs are too many for one picture, .* as in estimate\[:8\]"):
        plotting.intervals(several)


def test_intervals_have_the_length_of_the_confidence_intervals(sampled):
    ax = plotting.intervals(sampled.row(0), max_display=2)
    largest = np.argsort(np.abs(sampled.values[0]))[-2:]
    lower, upper = (limit[0][largest] for limit in sampled.interval())
    drawn = [collection for collection in ax.collections if collection.get_label() == "95% interval"]
    segments = np.array(drawn[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(segments, np.stack([lower, upper], axis=1))


def test_pyarrow_is_named_where_it_is_missing(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None; import sharpley\n"
        "sharpley.shapley_values(sharpley.games.Airport((1.0, 2.0))).save('x.parquet')"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Parquet files need pyarrow: pip install 'sharpley[files]'" in run.stderr


def rows_with_text(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.normal(size=n), "kind": rng.choice(["a", "b"], n), "size": rng.normal(size=n)})


def of_text(rows):
    return rows["age"].to_numpy() * rows["size"].to_numpy() + (rows["kind"] == "a").to_numpy()


def test_a_saved_estimate_becomes_the_explanation_of_the_call(tmp_path):
    rows = rows_with_text()
    explainer = sharpley.Explainer(of_text, rows, rng=0)
    explainer.estimate(rows[:9]).save(tmp_path / "phi.parquet")
    found, expected = sharpley.load(tmp_path / "phi.parquet").to_explanation(rows[:9]), explainer(rows[:9])
    for name in ("values", "base_values", "data", "display_data", "error_std", "lower_bounds", "upper_bounds"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.feature_names == expected.feature_names
    assert found.instance_names == expected.instance_names
    assert sharpley.load(tmp_path / "phi.parquet").to_explanation().data is None


def test_one_row_and_several_outputs_become_explanations():
    rows = rows_with_text()
    explainer = sharpley.Explainer(
        lambda x: np.stack([of_text(x), -of_text(x)], axis=1), rows, output_names=["up", "down"]
    )
    one, expected = explainer.estimate(rows.iloc[3]).to_explanation(rows.iloc[3]), explainer(rows.iloc[3])
    np.testing.assert_array_equal(one.values, expected.values)
    assert one.display_data.tolist() == expected.display_data.tolist()
    assert list(one.output_names) == ["up", "down"]
    assert explainer.estimate(rows[:4])[..., "up"].to_explanation(rows[:4]).output_names == "up"
    with pytest.raises(ValueError, match=r"a value for each row and player, shape \(4, 3\), got \(5, 3\)"):
        explainer.estimate(rows[:4]).to_explanation(rows[:5])


def test_the_table_of_a_notebook_has_one_header():
    rows = rows_with_text()
    page = sharpley.Explainer(of_text, rows, rng=0).estimate(rows[:4])._repr_html_()
    assert page.count("<table") == page.count("<thead") == page.count("95% interval") == 1
    assert page.count("<tbody") == 4
    assert all(f"row {number}: base value" in page for number in range(4))


def test_costs_are_said_in_predictions_for_models_and_in_evaluations_for_games():
    rows = rows_with_text()
    found = sharpley.Explainer(of_text, rows, rng=0).estimate(rows[:4])
    assert f"from up to {found.n_predictions.max():,} predictions for each row" in str(found)
    assert f"from {found.n_predictions[0]:,} predictions" in str(found[0])
    assert "from 8 evaluations" in str(sharpley.shapley_values(sharpley.games.Airport((1.0, 2.0, 4.0))))


def test_labels_of_rows_that_are_integers_of_any_size_are_saved(tmp_path):
    rows = rows_with_text(3).set_axis([2**70, 2**70 + 1, 5], axis=0)
    sharpley.Explainer(of_text, rows, rng=0).estimate(rows).save(tmp_path / "phi.parquet")
    assert sharpley.load(tmp_path / "phi.parquet").row_labels == [str(label) for label in rows.index]

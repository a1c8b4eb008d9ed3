"""Every plot of shap for tables, on every kind of explanation; ``python tests/adapters/test_shap_plots.py FOLDER``
saves all of them as pictures to look at.
"""

import sys
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
import shap
from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import sharpley

MONTHS = ["jan", "may", "aug"]
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of shap itself


def _table():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(80, 4))
    month = rng.integers(0, 3, 80)
    dummies = {f"month_{name}": (month == j).astype(int) for j, name in enumerate(MONTHS)}
    place = {"latitude": rng.uniform(37, 38, 80).round(2), "longitude": rng.uniform(-122, -121, 80).round(2)}
    table = pd.DataFrame(numbers, columns=["age", "income", "rooms", "tax"]).assign(**dummies, **place)
    target = table["age"] * table["income"] + 2 * table["month_may"] + table["rooms"] + 3 * (table["latitude"] > 37.5)
    return table, target


@cache
def explanation(kind):
    """An explanation of 30 rows: of arrays, frames, groups, a binary and a multi-class classifier."""
    table, target = _table()
    if kind in ("arrays", "frames", "groups"):
        data = table.to_numpy() if kind == "arrays" else table
        model = RandomForestRegressor(20, random_state=0).fit(data, target)
        groups = {"month": [4, 5, 6], "place": [7, 8]} if kind == "groups" else None
        return sharpley.Explainer(model, data[:20], groups=groups, rng=0)(data[20:50])
    classes = np.where(target > target.median(), "yes", "no")
    if kind == "multi-class":
        classes = np.array(["low", "middle", "high"])[np.digitize(target, target.quantile([0.33, 0.67]))]
    model = RandomForestClassifier(20, random_state=0).fit(table, classes)
    found = sharpley.Explainer(model, table[:20], rng=0)(table[20:50])
    return found[:, :, "high"] if kind == "multi-class" else found


PLOTS = {
    "bar": lambda e: shap.plots.bar(e, show=False),
    "bar of one row": lambda e: shap.plots.bar(e[0], show=False),
    "bar of cohorts": lambda e: shap.plots.bar(e.cohorts(2).abs.mean(0), show=False),
    "beeswarm": lambda e: shap.plots.beeswarm(e, show=False),
    "violin": lambda e: shap.plots.violin(e, show=False),
    "heatmap": lambda e: shap.plots.heatmap(e, show=False),
    "waterfall": lambda e: shap.plots.waterfall(e[0], show=False),
    "scatter": lambda e: shap.plots.scatter(e[:, 0], show=False),
    "scatter of the last": lambda e: shap.plots.scatter(e[:, len(e.feature_names) - 1], show=False),
    "scatter coloured": lambda e: shap.plots.scatter(e[:, 0], color=e, show=False),
    "force": lambda e: shap.plots.force(e[0], matplotlib=True, show=False),
    "force of many": shap.plots.force,
    "decision": lambda e: shap.plots.decision(
        float(e.base_values[0]), e.values, feature_names=list(e.feature_names), show=False
    ),
    "embedding": lambda e: shap.plots.embedding(1, e.values, feature_names=list(e.feature_names), show=False),
    "group difference": lambda e: shap.plots.group_difference(
        e.values, e.data[:, 0] > 0, feature_names=list(e.feature_names), show=False
    ),
}
KINDS = ("arrays", "frames", "groups", "binary", "multi-class")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_of_tables_works(name, kind):
    PLOTS[name](explanation(kind))
    plt.close("all")


def _texts(draw):
    draw()
    texts = [text.get_text() for ax in plt.gcf().axes for text in ax.findobj(mpl.text.Text)]
    plt.close("all")
    return texts


def test_waterfall_names_the_active_column_and_the_values_of_a_group():
    table, _ = _table()
    first = table.iloc[20]
    month = next(name for name in MONTHS if first[f"month_{name}"] == 1)
    texts = _texts(lambda: PLOTS["waterfall"](explanation("groups")))
    assert f"{month} = month" in "".join(texts).replace("$", "") or month in texts
    assert any(f"{first['latitude']:g}, {first['longitude']:g}" in text for text in texts)
    assert not any("nan" in text.lower() for text in texts)


def test_force_and_scatter_show_labels_of_groups():
    assert any("place = (37." in text for text in _texts(lambda: PLOTS["force"](explanation("groups"))))
    month = explanation("groups")[:, explanation("groups").feature_names.index("month")]
    assert set(MONTHS) <= set(_texts(lambda: shap.plots.scatter(month, show=False)))


def test_the_plot_of_changes_over_time_accepts_explanations():
    rows = np.random.default_rng(0).normal(size=(150, 3))
    found = sharpley.Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2], rows[:50], rng=0)(rows)
    shap.plots.monitoring(0, found, rows, show=False)
    np.testing.assert_array_equal(np.asarray(found[:, 0]), found.values[:, 0])
    plt.close("all")


def test_array_features_have_names():
    assert explanation("arrays").feature_names == [f"Feature {j}" for j in range(9)]


def test_results_have_the_index_of_the_frame_and_the_time_they_took():
    assert explanation("frames").instance_names == [str(label) for label in range(20, 50)]
    assert explanation("frames").compute_time > 0
    assert explanation("binary").output_names == "yes"


def test_the_number_of_predictions_is_passed_on():
    from dataclasses import replace

    from sharpley.adapters.shap import to_explanation

    game = sharpley.MarginalGame(lambda rows: rows.sum(axis=1), np.zeros((1, 3)), np.ones((2, 3)))
    estimate = replace(sharpley.estimate(game), n_predictions=np.array([4, 5]))
    assert to_explanation(estimate, game.rows, game.players).n_predictions.tolist() == [4, 5]


def test_a_class_is_plotted_by_name_in_one_line():
    found = explanation("multi-class")
    assert found.shape == (30, 9)
    assert found.output_names == "high"


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_lists_are_plotted(library):
    frame = library.DataFrame({"words": [["a", "b"], ["c"], []] * 5, "x": np.arange(15.0)})
    found = sharpley.Explainer(lambda rows: np.array([float(len(each)) for each in rows["words"]]), frame)(frame[:4])
    for draw in (PLOTS["waterfall"], PLOTS["beeswarm"], PLOTS["scatter"]):
        draw(found)
    texts = _texts(lambda: PLOTS["waterfall"](found))
    assert any("['a'" in text for text in texts)


if __name__ == "__main__":
    mpl.use("agg")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        for name, draw in PLOTS.items():
            plt.figure()
            drawn = draw(explanation(kind))
            if name == "force of many":  # which shap draws in a browser
                shap.save_html(str(folder / f"{kind}-force-of-many.html"), drawn)
                continue
            plt.savefig(folder / f"{kind}-{name.replace(' ', '-')}.png", dpi=60, bbox_inches="tight")
            plt.close("all")

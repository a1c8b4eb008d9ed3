"""The exhibit that goes beyond the paper: its samplers with background rows of their own."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sharpley_experiments.paper import all_exhibits
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.evaluation import own_draws
from sharpley_experiments.paper.exhibits import Context


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Two samplers on data that scikit-learn generates, at up to 10 d evaluations."""
    preset = replace(PRESETS["quick"], n_few_players=500, n_own_trials=3, n_background=40, n_train=1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_draws, "DATASETS", ("make_regression",))
        patch.setattr(own_draws, "SERIES", ("antithetic", "orthogonal"))
        return own_draws.compute(Context(preset, tmp_path_factory.mktemp("cells")))


def test_rows_of_their_own_have_the_lower_errors(computed):
    means = computed.groupby(["series", "draws", "predictions"])["relative_mse"].mean().unstack("draws")
    assert set(computed["population"]) == {800}
    most = (10 * 10 + 2) * 40
    assert means.index.get_level_values("predictions").max() == most
    at_most = means.xs(most, level="predictions")
    assert (at_most["own"] < 0.2 * at_most["shared"]).all()


def test_shared_rows_stay_at_the_error_of_few_rows(computed):
    """More orderings on the same few rows help little; more rows do."""
    means = computed.groupby(["draws", "predictions"])["relative_mse"].mean()
    assert means["shared"].iloc[-1] > 0.3 * means["shared"].iloc[0]
    assert means["own"].iloc[-1] < 0.3 * means["own"].iloc[0]


def test_budgets_that_are_too_small_have_no_line(computed):
    """Two antithetic pairs on shared rows need more than 2 d evaluations."""
    least = computed.groupby("draws")["predictions"].min()
    assert least.to_dict() == {"own": 22 * 40, "shared": 52 * 40}


def test_each_sampler_has_its_colour_and_shared_rows_one_entry(computed):
    panel = own_draws.draw(computed, "preset: quick").axes[0]
    labels = panel.get_legend_handles_labels()[1]
    assert sorted(labels) == ["antithetic", "orthogonal", "shared rows (dotted)"]
    styles = {drawn.get_linestyle() for drawn in panel.get_lines()}
    assert styles == {"-", ":"}


def test_the_table_has_the_largest_budget(computed):
    table = own_draws.means_table(computed)
    assert list(table["rows"]) == ["own", "shared"]
    assert set(table["predictions"]) == {4080}
    assert all(float(value) > 0 for value in table["antithetic"])
    assert set(table["sobol"]) == {"–"}


def test_the_exhibit_is_no_figure_of_the_paper(computed):
    exhibit = all_exhibits()["own-draws"]
    assert exhibit.paper.startswith("It has no such figure")
    assert exhibit.findings(computed) == []


def test_the_documentation_shows_what_was_measured(results):
    """Own rows are better for every sampler and data set, as the page says."""
    table = pd.read_csv(results / "paper" / "tables" / "own-draws.csv")
    most = table.groupby("dataset")["predictions"].transform("max")
    means = table[table["predictions"] == most].groupby(["dataset", "series", "draws"])["relative_mse"].mean()
    ratios = means.xs("shared", level="draws") / means.xs("own", level="draws")
    assert set(table["series"]) == set(own_draws.SERIES)
    assert ratios.min() > 10
    assert np.isfinite(ratios).all()

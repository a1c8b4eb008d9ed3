"""Input as people have it: one row, frames beside arrays, tables of other libraries, links and budgets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shap
from sklearn.ensemble import RandomForestClassifier
from tabular_data import DATA, FRAME, frame_model, interaction

import sharpley
from sharpley import Explainer, MarginalGame

NAMED = pd.DataFrame(DATA, columns=list("abcde"))
LABELS = np.where(DATA[:, 0] + DATA[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize(
    "row", [FRAME.iloc[30], FRAME.iloc[30].to_dict(), FRAME.iloc[30].sample(frac=1, random_state=0)]
)
def test_one_row_of_a_frame_has_the_dtypes_of_the_background(row):
    explainer = Explainer(frame_model, FRAME.iloc[:20])
    expected = explainer.estimate(FRAME.iloc[[30]])
    found = explainer.estimate(row)
    np.testing.assert_array_equal(found.values, expected.values[0])
    assert explainer(row).shape == (5,)


def test_one_row_of_other_tables():
    expected = Explainer(interaction, DATA[:10]).estimate(DATA[30:31]).values[0]
    for row in (DATA[30], list(DATA[30]), NAMED.iloc[30]):
        np.testing.assert_array_equal(Explainer(interaction, DATA[:10]).estimate(row).values, expected)
    frame = pl.from_pandas(NAMED)
    found = Explainer(lambda t: interaction(t.to_numpy()), frame[:10]).estimate(frame.row(30))
    np.testing.assert_allclose(found.values, expected)
    with pytest.raises(ValueError, match=r"X is one row with other columns than the background: missing \['e'\]"):
        Explainer(interaction, NAMED[:10]).estimate(NAMED.iloc[30, :4])


@pytest.mark.filterwarnings("ignore")  # warnings of shap itself
def test_one_row_is_plotted_as_it_is():
    from matplotlib import pyplot as plt

    shap.plots.waterfall(Explainer(interaction, NAMED[:10])(NAMED.iloc[30]), show=False)
    plt.close("all")


def test_frames_and_arrays_go_together_where_their_columns_agree():
    def of_frames(rows):
        return interaction(rows[list("abcde")].to_numpy())

    expected = Explainer(interaction, DATA[:10]).estimate(DATA[20:23])
    arrays = Explainer(of_frames, NAMED[:10]).estimate(DATA[20:23])
    frames = Explainer(interaction, DATA[:10]).estimate(NAMED[20:23])
    for found in (arrays, frames):
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.names == list("abcde")
    assert frames.row_labels is None
    polars = Explainer(lambda t: interaction(t.to_numpy()), pl.from_pandas(NAMED)[:10]).estimate(DATA[20:23])
    np.testing.assert_allclose(polars.values, expected.values)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.Table.from_pandas(NAMED), r"X is a pyarrow Table, which is not read; convert it .* X\.to_pandas\(\)"),
        (pl.from_pandas(NAMED).lazy(), r"X is a polars LazyFrame, which is not read; call X\.collect\(\)"),
    ],
)
def test_tables_that_are_not_read_say_what_to_call(data, message):
    with pytest.raises(TypeError, match=message):
        Explainer(interaction, NAMED[:5]).estimate(data)
    with pytest.raises(TypeError, match=message.replace("X", "background")):
        Explainer(interaction, data)


def test_a_whole_number_may_be_written_as_a_float():
    explainer = Explainer(interaction, DATA[:5], rng=0)
    np.testing.assert_array_equal(
        explainer.estimate(DATA[:1], max_evals=1e3).values, explainer.estimate(DATA[:1], max_evals=1000).values
    )
    with pytest.raises(TypeError, match=r"max_evals must be an integer, got 10\.5"):
        explainer.estimate(DATA[:1], max_evals=10.5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("link", ["logit", shap.links.logit, lambda p: np.log(p / (1 - p))])
def test_a_link_maps_mean_predictions(link):
    def model(rows):
        return sigmoid(interaction(rows))

    estimate = Explainer(model, DATA[:10], link=link).estimate(DATA[20:23])
    np.testing.assert_allclose(sigmoid(estimate.base_values), model(DATA[:10]).mean())
    np.testing.assert_allclose(sigmoid(estimate.base_values + estimate.values.sum(axis=1)), model(DATA[20:23]))
    # The value of every coalition, not only of ∅ and N.
    kernel = shap.KernelExplainer(model, DATA[:10], link="logit")
    np.testing.assert_allclose(estimate.values, kernel.shap_values(DATA[20:23], l1_reg=0, silent=True), atol=1e-7)


def test_links_that_cannot_be_applied_say_why():
    with pytest.raises(
        ValueError, match=r"link='logit' needs predictions between 0 and 1, got .*; explain predict_proba"
    ):
        Explainer(interaction, DATA[:10], link="logit").estimate(DATA[20:21])
    with pytest.raises(ValueError, match="unknown link 'probit'; choose one of 'identity', 'logit'"):
        Explainer(interaction, DATA[:10], link="probit")
    with pytest.raises(ValueError, match="link returned nan for the value -"):
        Explainer(lambda t: -np.ones(len(t)), DATA[:10], link=np.log).estimate(DATA[20:21])
    with pytest.raises(ValueError, match=r"link must return the shape of its input, \(1, 2, 1\), got \(\)"):
        Explainer(interaction, DATA[:10], link=np.sum).estimate(DATA[20:21])


def test_probabilities_of_0_and_1_have_finite_log_odds():
    forest = RandomForestClassifier(10, random_state=0).fit(DATA, LABELS)
    estimate = Explainer(forest, DATA[:10], link="logit", output="yes").estimate(DATA[:5])
    assert np.isfinite(estimate.values).all()


def test_links_do_not_depend_on_workers_and_batches():
    options = {"link": "logit", "rng": 0, "method": "antithetic"}
    model = RandomForestClassifier(5, random_state=0).fit(DATA, LABELS)
    one = Explainer(model, DATA[:10], output="all", **options).estimate(DATA[20:23], max_evals=20)
    other = Explainer(model, DATA[:10], output="all", n_jobs=2, batch_size=25, **options)
    np.testing.assert_array_equal(other.estimate(DATA[20:23], max_evals=20).values, one.values)


def test_categories_that_differ_are_named():
    message = r"only X has \['XL'\], only the background has \['L'\]; use the same dtype, as in X\['size'\]"
    other = FRAME.assign(size=FRAME["size"].cat.rename_categories({"L": "XL"}))
    with pytest.raises(TypeError, match=message):
        Explainer(frame_model, FRAME[:5]).estimate(other[5:7])
    reversed_order = FRAME.assign(size=FRAME["size"].cat.reorder_categories(["L", "M", "S"]))
    with pytest.raises(TypeError, match=r"is category in X and in the background, .* their order differs"):
        Explainer(frame_model, FRAME[:5]).estimate(reversed_order[5:7])


def test_the_index_of_a_frame_is_on_the_results():
    frame = NAMED.set_axis([f"patient {j}" for j in range(60)])
    estimate = Explainer(lambda t: interaction(t.to_numpy()), frame[:5]).estimate(frame[7:9])
    assert estimate.row_labels == ["patient 7", "patient 8"]
    assert set(estimate.to_frame()["row"]) == {"patient 7", "patient 8"}


def test_the_game_accepts_the_same_rows():
    game = MarginalGame(interaction, DATA[:4], DATA[7])
    assert game.n_rows == 1
    assert game.player_names == [f"Feature {j}" for j in range(5)]


@pytest.mark.parametrize("background", [DATA[:5], NAMED[:5]])
def test_records_and_empty_lists_say_what_to_pass(background):
    explainer = Explainer(interaction, background)
    with pytest.raises(TypeError, match=r"X is a list of dicts, which is not read; call pandas\.DataFrame\(X\)"):
        explainer.estimate(NAMED[:2].to_dict("records"))
    with pytest.raises(ValueError, match="X must have at least one row, got none"):
        explainer.estimate([])


def test_names_of_shap_say_what_to_write():
    explainer = Explainer(interaction, DATA[:5])
    with pytest.raises(AttributeError, match=r"no attribute 'shap_values'; use explainer\.estimate\(X\)\.values, or"):
        explainer.shap_values(DATA[:1])
    with pytest.raises(AttributeError, match=r"no attribute 'expected_value'; use .*\.base_values"):
        explainer.expected_value  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'anything'$"):
        explainer.anything  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'plots'; use shap\.plots"):
        sharpley.plots  # noqa: B018
    with pytest.raises(
        AttributeError, match=r"no attribute 'KernelExplainer'; use .* sharpley\.adapters\.shap\.Kernel"
    ):
        sharpley.KernelExplainer  # noqa: B018

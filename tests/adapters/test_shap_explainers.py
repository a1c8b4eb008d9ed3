"""Explainers with the interface of shap's: the same values where shap's are exact, with all of its maskers and options.

``python scripts/run_shap_tests.py`` runs shap's own tests against them.
"""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import shap
from sklearn.linear_model import LogisticRegression
from tabular_data import DATA, FRAME, interaction

from sharpley import METHODS, Background, Explainer
from sharpley.adapters.shap import ExactExplainer, KernelExplainer, PermutationExplainer, SamplingExplainer

ROWS, BACKGROUND = DATA[20:23], DATA[:8]
CLASSIFIER = LogisticRegression().fit(DATA, DATA[:, 0] * DATA[:, 1] > 0)
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of shap itself


def exact(model, masker, rows=ROWS, **options):
    return shap.ExactExplainer(model, masker, **options)(rows, silent=True)


def agree(ours, theirs, atol=1e-8):
    np.testing.assert_allclose(ours.values, theirs.values, atol=atol)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, atol=atol)


@pytest.mark.parametrize("explainer", [PermutationExplainer, ExactExplainer])
@pytest.mark.parametrize("model", [interaction, CLASSIFIER.predict_proba])
def test_values_are_those_of_shaps_exact_explainer(explainer, model):
    agree(explainer(model, BACKGROUND)(ROWS, silent=True), exact(model, BACKGROUND))
    independent = shap.maskers.Independent(BACKGROUND)
    agree(explainer(model, independent)(ROWS, silent=True), exact(model, independent))


def test_frames_reach_the_model_as_frames():
    frame = pd.DataFrame(DATA, columns=list("abcde"))

    def model(rows):
        return interaction(rows[list("abcde")].to_numpy())

    found = PermutationExplainer(model, frame[:8])(frame[20:23], silent=True)
    agree(found, exact(interaction, BACKGROUND))
    assert found.feature_names == list("abcde")


def test_frames_of_strings_work_where_shaps_do_not():
    def model(rows):
        return (rows["job"] == "pilot") * 1.0 + rows["age"].astype(float) / 50

    data = FRAME[["age", "job"]]
    found = PermutationExplainer(model, data[:10])(data[20:22], silent=True)
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), model(data[20:22]))


def slow_owen(game, paths):
    """Owen values by their definition: the mean over all orderings in which every branch enters as a whole."""

    def orderings(tree):
        if isinstance(tree, int):
            return [[tree]]
        left, right = (orderings(branch) for branch in tree)
        return [a + b for a in left for b in right] + [b + a for a in left for b in right]

    every = orderings(paths)
    d = len(every[0])
    total = np.zeros(d)
    for ordering in every:
        members = np.zeros((d + 1, d), dtype=bool)
        for step, player in enumerate(ordering):
            members[step + 1 :, player] = True
        total[ordering] += np.diff(game(members))
    return total / len(every)


TREE = np.array([[0, 1, 1.0, 2], [3, 4, 1.0, 2], [2, 5, 2.0, 3], [6, 7, 3.0, 5]])
NESTED = ((3, 4), (2, (0, 1)))


def test_a_clustering_gives_owen_values():
    from sharpley import MarginalGame

    game = MarginalGame(interaction, BACKGROUND, ROWS[:1])
    masker = shap.maskers.Partition(BACKGROUND, clustering=TREE)
    found = PermutationExplainer(interaction, masker)(ROWS[:1], silent=True)
    np.testing.assert_allclose(found.values[0], slow_owen(game, NESTED))
    agree(found, exact(interaction, masker, ROWS[:1]))
    assert (found.error_std == 0).all()
    # With fewer evaluations than the formula needs, orderings that respect the tree are sampled.
    sampled = [
        PermutationExplainer(interaction, masker, seed=seed)(ROWS[:1], max_evals=18, silent=True) for seed in range(60)
    ]
    mean = np.mean([each.values[0] for each in sampled], axis=0)
    np.testing.assert_allclose(mean, found.values[0], atol=0.1)
    assert max(each.error_std.max() for each in sampled) > 0


def test_functions_are_maskers():
    def masker(mask, x):
        return np.where(mask, x, BACKGROUND)

    agree(PermutationExplainer(interaction, masker)(ROWS, silent=True), exact(interaction, BACKGROUND))


def test_text_is_masked_by_words():
    def model(texts):
        return np.array([("good" in text) * 2.0 - ("not" in text) * ("good" in text) * 3.0 for text in texts])

    masker = shap.maskers.Text(r"\W")
    found = PermutationExplainer(model, masker, seed=0)(["not a good film", "good"], silent=True)
    assert [len(values) for values in found.values] == [4, 1]
    words = [word.strip() for word in found.data[0]]
    for row in (0, 1):
        assert found.base_values[row] + found.values[row].sum() == pytest.approx([-1.0, 2.0][row])
    assert found.values[0][words.index("not")] < 0 < found.values[0][words.index("good")]


def test_images_are_masked_by_pixels():
    image = np.arange(12.0).reshape(2, 2, 3)
    masker = shap.maskers.Image(np.zeros((2, 2, 3)), (2, 2, 3))
    found = PermutationExplainer(lambda images: images.sum(axis=(1, 2, 3)), masker, seed=0)(image[None], silent=True)
    np.testing.assert_allclose(found.values[0], image, atol=1e-6)


def test_several_inputs_are_masked_by_a_composite():
    masker = shap.maskers.Composite(
        shap.maskers.Independent(BACKGROUND[:, :2]), shap.maskers.Independent(BACKGROUND[:, 2:])
    )

    def model(first, second):
        return interaction(np.concatenate([first, second], axis=1))

    first, second = PermutationExplainer(model, masker)(ROWS[:, :2], ROWS[:, 2:], silent=True)
    expected = exact(interaction, BACKGROUND)
    np.testing.assert_allclose(np.concatenate([first.values, second.values], axis=1), expected.values, atol=1e-8)


def test_what_cannot_mask_says_what_to_pass():
    with pytest.raises(TypeError, match=r"Impute masker masks no rows .* use shap\.maskers\.Independent"):
        PermutationExplainer(interaction, shap.maskers.Impute(BACKGROUND))
    with pytest.raises(ValueError, match="masker must not be None; pass background data"):
        PermutationExplainer(interaction, None)
    with pytest.raises(TypeError, match=r"unknown arguments \['max_eval'\]; those of a call are \['max_evals'"):
        PermutationExplainer(interaction, BACKGROUND, max_eval=100)


@pytest.mark.parametrize("linearize", [False, True])
@pytest.mark.parametrize("masker", [BACKGROUND, shap.maskers.Partition(BACKGROUND, clustering=TREE)])
def test_links_agree_with_shaps(linearize, masker):
    options = {"link": shap.links.logit, "linearize_link": linearize}
    if not isinstance(masker, np.ndarray) and linearize:
        pytest.skip("shap does not linearize links with clusterings")
    ours = PermutationExplainer(CLASSIFIER.predict_proba, masker, **options)(ROWS, silent=True)
    agree(ours, exact(CLASSIFIER.predict_proba, masker, **options), atol=1e-6)


def counting(model):
    def counted(rows):
        counted.calls += len(rows)
        return model(rows)

    counted.calls = 0
    return counted


@pytest.mark.parametrize("main_effects", [False, True])
@pytest.mark.parametrize("max_evals", [60, 100])
def test_no_more_is_spent_than_allowed(max_evals, main_effects):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(4, 12))
    model = counting(lambda rows: rows[:, 0] * rows[:, 1] * rows[:, 2] + rows.sum(axis=1))

    def masker(mask, x):
        return np.where(mask, x, 0.0)[None]

    found = PermutationExplainer(model, masker, seed=0)(
        data, max_evals=max_evals, main_effects=main_effects, silent=True
    )
    assert model.calls <= max_evals * len(data)
    if main_effects:
        np.testing.assert_allclose(found.main_effects, data)


@pytest.mark.parametrize("linearize", [False, True])
def test_links_cost_nothing(linearize):
    data = np.random.default_rng(0).normal(size=(4, 12))
    model = counting(lambda rows: 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] - rows.sum(axis=1))))
    options = {"link": shap.links.logit, "linearize_link": linearize, "seed": 0}
    PermutationExplainer(model, lambda mask, x: np.where(mask, x, 0.0)[None], **options)(
        data, max_evals=60, silent=True
    )
    assert model.calls <= 60 * len(data)


def test_call_arguments_may_be_given_to_the_constructor():
    wide = np.random.default_rng(0).normal(size=(3, 14))
    model = counting(lambda rows: rows.prod(axis=1))
    PermutationExplainer(model, np.zeros((1, 14)), max_evals=100, silent=True, seed=0)(wide)
    assert model.calls <= 3 * 100
    calls = model.calls
    PermutationExplainer(model, np.zeros((1, 14)), max_evals=100, silent=True, seed=0)(wide, max_evals="auto")
    assert 3 * 100 < model.calls - calls <= 3 * 280


def test_outputs_are_selected_by_position_or_by_an_operation():
    explainer = PermutationExplainer(CLASSIFIER.predict_proba, BACKGROUND)
    whole = explainer(ROWS, silent=True)
    np.testing.assert_allclose(explainer(ROWS, outputs=[1], silent=True).values, whole.values[..., 1])
    largest = explainer(ROWS, outputs=shap.Explanation.argsort.flip[:1], silent=True)
    likely = CLASSIFIER.predict_proba(ROWS).argmax(axis=1)
    np.testing.assert_allclose(largest.values, [whole.values[i, :, j] for i, j in enumerate(likely)])


def test_the_global_random_state_is_left_alone_and_seeds_repeat():
    data = np.random.default_rng(0).normal(size=(6, 14))
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    explainer = PermutationExplainer(lambda rows: rows.prod(axis=1), data[:4], seed=3, method="antithetic")
    first = explainer(data[4:], max_evals=200, silent=True)
    np.testing.assert_array_equal(first.values, explainer(data[4:], max_evals=200, silent=True).values)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_standard_errors_are_those_of_the_mean():
    """The spread of repeated estimates is that which error_std says; shap's is that of a single ordering."""
    data = np.random.default_rng(0).normal(size=(5, 14))

    def model(rows):
        return np.sin(rows).prod(axis=1) * 50 + rows[:, 0] * rows[:, 1]

    runs = [
        PermutationExplainer(model, data[:4], seed=seed, method="antithetic")(data[4:], max_evals=400, silent=True)
        for seed in range(40)
    ]
    spread = np.std([run.values for run in runs], axis=0)
    said = np.sqrt(np.mean([run.error_std**2 for run in runs], axis=0))
    assert 0.7 < np.sqrt((said**2).mean() / (spread**2).mean()) < 1.4
    assert (runs[0].lower_bounds <= runs[0].values).all()


def test_explainers_are_saved_and_loaded():
    for explainer in (PermutationExplainer(interaction, BACKGROUND), KernelExplainer(interaction, BACKGROUND)):
        stream = io.BytesIO()
        explainer.save(stream)
        stream.seek(0)
        again = type(explainer).load(stream)
        np.testing.assert_allclose(again(ROWS).values, exact(interaction, BACKGROUND).values)


def test_shap_values_and_expected_value():
    explainer = PermutationExplainer(interaction, BACKGROUND)
    np.testing.assert_allclose(explainer.shap_values(ROWS, silent=True), exact(interaction, BACKGROUND).values)
    assert explainer.expected_value == pytest.approx(interaction(BACKGROUND).mean())
    both = PermutationExplainer(CLASSIFIER.predict_proba, BACKGROUND)
    np.testing.assert_allclose(both.expected_value, CLASSIFIER.predict_proba(BACKGROUND).mean(axis=0))


@pytest.mark.parametrize("explainer", [KernelExplainer, SamplingExplainer])
def test_explainers_of_background_data(explainer):
    found = explainer(interaction, BACKGROUND)
    expected = exact(interaction, BACKGROUND)
    agree(found(ROWS), expected)
    np.testing.assert_allclose(found.shap_values(ROWS), expected.values, atol=1e-8)
    np.testing.assert_allclose(found.shap_values(ROWS[0]), expected.values[0], atol=1e-8)
    np.testing.assert_allclose(found.shap_values(scipy.sparse.csr_matrix(ROWS)), expected.values, atol=1e-8)
    assert found.expected_value == pytest.approx(interaction(BACKGROUND).mean())


def test_kernel_explainer_with_a_link_and_weights_agrees_with_shaps():
    summary = shap.kmeans(DATA, 5)
    ours = KernelExplainer(CLASSIFIER.predict_proba, summary, link="logit")
    theirs = shap.KernelExplainer(CLASSIFIER.predict_proba, summary, link="logit")
    np.testing.assert_allclose(ours.expected_value, theirs.expected_value)
    np.testing.assert_allclose(ours.shap_values(ROWS), theirs.shap_values(ROWS, l1_reg=0, silent=True), atol=1e-8)


def test_the_explainer_takes_summaries_and_maskers_with_data_as_background():
    expected = Explainer(interaction, BACKGROUND).estimate(ROWS).values
    np.testing.assert_allclose(
        Explainer(interaction, shap.maskers.Independent(BACKGROUND)).estimate(ROWS).values, expected
    )
    np.testing.assert_allclose(Explainer(interaction, shap.sample(BACKGROUND, 8)).estimate(ROWS).values, expected)
    summary = shap.kmeans(DATA, 5)
    weighted = Explainer(interaction, Background(summary.data, summary.weights)).estimate(ROWS).values
    np.testing.assert_allclose(Explainer(interaction, summary).estimate(ROWS).values, weighted)
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    model = LogisticRegression().fit(frame, DATA[:, 0] > 0)
    of_frame = Explainer(model, shap.maskers.Independent(frame[:8])).estimate(frame[20:23])
    assert of_frame.names == list("abcde")
    for masker in (shap.maskers.Partition(BACKGROUND, clustering=TREE), shap.maskers.Text(r"\W")):
        with pytest.raises(TypeError, match=r"use sharpley\.adapters\.shap\.PermutationExplainer"):
            Explainer(interaction, masker)


@pytest.mark.parametrize(
    "method", [name for name, record in METHODS.items() if record.factory is not None and name != "exact"]
)
def test_every_method_can_be_chosen(method):
    data = np.random.default_rng(0).normal(size=(5, 9))
    model = LogisticRegression().fit(DATA[:, :1] * np.ones((1, 9)), DATA[:, 0] > 0).predict_proba
    found = PermutationExplainer(model, data[:3], method=method, seed=0)(data[3:], max_evals=400, silent=True)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("explainer", [KernelExplainer, SamplingExplainer])
def test_all_coalitions_of_few_features_are_evaluated_on_all_background_rows(explainer):
    data = np.random.default_rng(0).normal(size=(250, 3))
    values = explainer(lambda rows: rows[:, 0] + 2.0 * rows[:, 1], data).shap_values(data[:5])
    np.testing.assert_allclose(values, (data[:5] - data.mean(axis=0)) * [1.0, 2.0, 0.0], atol=1e-12)

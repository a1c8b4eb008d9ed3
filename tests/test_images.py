"""Explaining images: estimates, maps over pixels, and explanations for shap's plots."""

import numpy as np
import pytest

import sharpley
from sharpley import ImageExplainer
from sharpley.games.tiles.digits import load_digits_network


@pytest.fixture(scope="module")
def digits():
    return load_digits_network()


@pytest.fixture(scope="module")
def explained(digits):
    explainer = ImageExplainer(digits.network, tile=2, class_names=digits.network.classes, method="exact")
    return explainer.estimate(digits.images[:6], max_evals=2**16)


def test_the_embedded_network_reads_digits_it_has_not_seen(digits):
    predicted = digits.network(digits.images).argmax(axis=1)
    assert np.mean([str(one) == label for one, label in zip(predicted, digits.labels, strict=True)]) > 0.97


def test_values_and_base_value_add_up_to_the_log_odds(digits, explained):
    logits = digits.network(digits.images[:6]).astype(np.float64)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True)).max(axis=1)
    found = explained.estimate
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), np.log(p / (1 - p)), atol=1e-6)
    assert explained.predicted == explained.explained == digits.labels[:6]


def test_every_method_agrees_with_enumeration_within_its_error_bars(digits, explained):
    for method in ("antithetic", "orthogonal", "sobol", "herding", "regression", "gp"):
        explainer = ImageExplainer(digits.network, tile=2, method=method, rng=0)
        found = explainer.estimate(digits.images[:6], max_evals=1500)
        z = (found.values - explained.values) / np.maximum(found.standard_errors, 1e-9)
        assert np.sqrt((z**2).mean()) < 2.5, method
        assert np.abs(found.values - explained.values).max() < 0.6, method


def test_a_tolerance_is_met(digits):
    explainer = ImageExplainer(digits.network, tile=1, method="antithetic", rng=0)
    found = explainer.estimate(digits.images[:2], tol=0.05)
    assert found.estimate.converged.all()
    assert (found.standard_errors.max(axis=1) <= 0.05 * np.ptp(found.values, axis=1)).all()


def test_maps_have_the_value_of_each_pixels_player(explained):
    assert explained.heat_maps.shape == explained.error_maps.shape == (6, 8, 8)
    for row, column in ((0, 0), (3, 5), (7, 7)):
        player = (row // 2) * 4 + column // 2
        np.testing.assert_array_equal(explained.heat_maps[:, row, column], explained.values[:, player])
    assert explained.pixel_values.shape == (6, 8, 8, 1)
    np.testing.assert_allclose(explained.pixel_values.sum(axis=(1, 2, 3)), explained.values.sum(axis=1))


def test_images_are_selected_by_position(explained):
    last = explained[-1]
    assert len(last) == 1
    np.testing.assert_array_equal(last.values[0], explained.values[-1])
    assert len(explained[2:4]) == 2
    assert explained[2:4].predicted == explained.predicted[2:4]
    assert "6 × 8 × 8 pixels, 16 players, 'exact'" in repr(explained)


@pytest.mark.filterwarnings("ignore")  # of shap and matplotlib
@pytest.mark.parametrize("output", ["predicted", [3, 8]])
def test_shap_plots_the_explanation(digits, output, tmp_path):
    import shap
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    explainer = ImageExplainer(digits.network, tile=2, class_names=digits.network.classes, output=output, rng=0)
    explanation = explainer(digits.images[:3])
    classes = 1 if output == "predicted" else 2
    assert explanation.values.shape == (3, 8, 8, 1, classes)
    total = explanation.base_values + explanation.values.sum(axis=(1, 2, 3))
    np.testing.assert_allclose(total, explainer.games(digits.images[:3]).endpoints()[:, 1], atol=1e-6)
    assert explanation.error_std.shape == explanation.values.shape
    shap.plots.image(explanation, show=False)
    axes = plt.gcf().axes
    titles = [ax.get_title() for ax in axes]
    assert len(axes) == 3 * (1 + classes) + 1
    if output == "predicted":
        assert titles[1:6:2] == digits.labels[:3]
    else:
        assert titles[1:3] == ["3", "8"]
    plt.close("all")


def test_colour_images_are_shared_among_channels():
    image = np.random.default_rng(0).uniform(size=(4, 6, 3))
    found = ImageExplainer(lambda x: x.sum(axis=(1, 2)) ** 2, tile=2, output=[0, 2], scale="logits").estimate(image)
    assert found.values.shape == (1, 6, 2)
    assert found.heat_maps.shape == (1, 4, 6, 2)
    assert found.pixel_values.shape == (1, 4, 6, 3, 2)
    np.testing.assert_allclose(found.pixel_values.sum(axis=(1, 2, 3)), found.values.sum(axis=1))
    assert found.estimate.output_names == ["class 0", "class 2"]


def test_settings_are_checked_when_the_explainer_is_made_or_called(digits):
    with pytest.raises(ValueError, match="unknown method 'magic'"):
        ImageExplainer(digits.network, method="magic")
    with pytest.raises(ValueError, match="unknown scale 'odds'; choose one of 'log-odds'"):
        ImageExplainer(digits.network, scale="odds").estimate(digits.images[:1])
    with pytest.raises(FileNotFoundError, match=r"no ONNX file 'missing.onnx'"):
        ImageExplainer("missing.onnx", tile=2).estimate(digits.images[:1])
    with pytest.raises(TypeError, match="model must be callable"):
        ImageExplainer(42, tile=2).estimate(digits.images[:1])


def test_progress_is_shown_on_demand(digits, capsys):
    ImageExplainer(digits.network, tile=2, rng=0).estimate(digits.images[:1], progress=True)
    assert "Shapley" in capsys.readouterr().err


def test_the_name_of_the_explainer_says_what_it_does(digits):
    assert repr(ImageExplainer(digits.network, tile=2)) == "ImageExplainer(DigitsNetwork, tile=2, method='auto')"
    assert sharpley.ImageEstimate.__doc__


def test_images_are_selected_by_any_kind_of_position():
    images = np.linspace(0, 1, 48).reshape(3, 4, 4, 1)
    found = sharpley.ImageExplainer(lambda each: each.sum(axis=(1, 2)), tile=2).estimate(images)
    for key in (1, np.int64(1), -2, [1], slice(1, 2), np.array([False, True, False])):
        one = found[key]
        np.testing.assert_array_equal(one.values, found.values[1:2])
        np.testing.assert_array_equal(one.images, found.images[1:2])
        assert (len(one), one.predicted) == (1, found.predicted[1:2])
    assert len(found[[2, 0]]) == 2
    with pytest.raises(IndexError, match="there are 3 images, so there is no number 5"):
        found[5]

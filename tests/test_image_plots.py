"""Plots of explained images, and the page that shows several."""

import re

import numpy as np
import pytest
from command_line import call

from sharpley import ImageExplainer, plotting
from sharpley.plotting.images import shown

IMAGES = np.random.default_rng(0).uniform(size=(3, 8, 8, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def found():
    def network(images):
        means = images.reshape(len(images), 2, 4, 2, 4, 3).mean(axis=(2, 4, 5)).reshape(len(images), 4)
        return np.stack([means @ [3.0, -1.0, 0.5, 0.0], means.prod(axis=1), -means[:, 0]], axis=1)

    explainer = ImageExplainer(network, tile=4, class_names=["cat", "<b>dog</b>", "cow"], method="antithetic", rng=0)
    return explainer.estimate(IMAGES, max_evals=14)


def test_each_panel_shows_its_map(found):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 4)
    assert plotting.picture(found, 1, ax=axes[0]) is axes[0]
    np.testing.assert_array_equal(axes[0].images[0].get_array(), IMAGES[1])
    assert axes[0].get_title() == found.predicted[1]
    heat = plotting.heat_map(found, 1, ax=axes[1]).images[0]
    np.testing.assert_array_equal(heat.get_array(), found.heat_maps[1])
    assert heat.get_clim()[0] == -heat.get_clim()[1] == -np.abs(found.values[1]).max()  # 0 is white
    over = plotting.overlay(found, 1, ax=axes[2]).images
    np.testing.assert_allclose(over[0].get_array(), IMAGES[1].mean(axis=-1), atol=1e-6)
    assert over[1].get_alpha().max() <= 0.75
    assert over[1].get_alpha().argmax() == np.abs(found.heat_maps[1]).argmax()
    errors = plotting.error_map(found, 1, ax=axes[3]).images[0]
    np.testing.assert_array_equal(errors.get_array(), found.error_maps[1])
    assert errors.get_clim()[0] == 0


def test_one_of_several_classes_is_chosen():
    explained = ImageExplainer(lambda x: x.sum(axis=(1, 2)), tile=4, output=[0, 2], scale="logits").estimate(IMAGES[:1])
    drawn = plotting.heat_map(explained, output=1).images[0].get_array()
    np.testing.assert_array_equal(drawn, explained.heat_maps[0, ..., 1])


def test_the_papers_figure_has_a_row_for_each_image_and_marks_the_lowest_error(found, tmp_path):
    errors = [{"monte-carlo": 0.3, "sobol": 0.1}, {"monte-carlo": 0.1, "sobol": 0.3}, {"sobol": 2.0, "mine": 1.0}]
    axes = plotting.three_columns(found, errors)
    assert axes.shape == (3, 3)
    bold = [[text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"] for ax in axes[:, 2]]
    assert bold == [["sobol"], ["monte-carlo"], ["mine"]]
    assert [bar.get_width() for bar in axes[0, 2].patches] == [0.3, 0.1]
    plotting.save(axes[0, 0], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="one mapping for each of 3 images, got 2"):
        plotting.three_columns(found, errors[:2])


def test_images_of_any_range_and_colour_are_shown():
    assert shown(np.full((2, 2, 1), 0.3, np.float32)).shape == (2, 2)
    wide = shown(np.array([[[-1.0, 0.0, 3.0]]], np.float32))
    np.testing.assert_allclose(wide, [[[0, 0.25, 1]]])


def test_the_page_is_one_file_with_every_image_and_escaped_labels(found, tmp_path):
    page = plotting.image_page(found, tmp_path / "page.html", title="A < B").read_text(encoding="utf-8")
    assert page.count("<section>") == page.count("data:image/png;base64,") == 3
    assert "A &lt; B" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    for row, label in enumerate(found.predicted):
        assert f"predicted {label.replace('<', '&lt;').replace('>', '&gt;')};" in page, row
    score = float(found.estimate.base_values[0] + found.values[0].sum())
    assert f"score {score:.2f};" in page


def test_the_demonstration_of_images(tmp_path):
    done = call("demo", "--image", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    inside = float(re.search(r"contain the exact value \(.*\): ([\d.]+)%", done.output.replace("\n", " "))[1])
    assert 85 <= inside <= 100
    assert (tmp_path / "index.html").read_text(encoding="utf-8").count("<section>") == 5

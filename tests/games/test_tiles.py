"""Images as games: tiles and superpixels are players, absent ones are replaced."""

import sys

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

import sharpley
from sharpley import BatchHalvedWarning
from sharpley.games import TileGame, superpixels
from sharpley.games.tiles.baselines import blurred
from sharpley.games.tiles.outputs import on_scale
from sharpley.games.tiles.segments import tile_segments

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0.05, 1.0, size=(3, 8, 12, 3)).astype(np.float32)
WEIGHTS = RNG.normal(size=(8 * 12 * 3, 4))
NAMES = ["cat, house cat", "crane", "dog", "crane"]


def network(images):
    """Logits of four classes, which are not additive in pixels."""
    hidden = np.tanh(images.reshape(len(images), -1) @ WEIGHTS / 4)
    return hidden @ np.array([[1.0, -2.0, 0.5, 1], [2, 1, 0, 0], [0, 1, 1, -1], [1, 1, -1, 3]])


def masked_slowly(image, absent, segments, coalition):
    out = absent.copy()
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            if coalition[segments[row, column]]:
                out[row, column] = image[row, column]
    return out


def coalitions_of(d, m=7):
    return RNG.uniform(size=(m, d)) < 0.5


# Players


def test_tiles_of_the_paper_are_256_players():
    assert TileGame(lambda x: x.mean(axis=(1, 2)), np.ones((224, 224, 3))).d == 256


@pytest.mark.parametrize("tile", [4, (2, 6), (8, 12), 1])
def test_values_are_those_of_images_masked_pixel_by_pixel(tile):
    high, wide = (tile, tile) if isinstance(tile, int) else tile
    segments = np.array([[(r // high) * (12 // wide) + c // wide for c in range(12)] for r in range(8)])
    game = TileGame(network, IMAGES, tile=tile, output=2, scale="logits")
    asked = coalitions_of(game.d)
    expected = [[network(masked_slowly(i, np.zeros_like(i), segments, c)[None])[0, 2] for c in asked] for i in IMAGES]
    np.testing.assert_allclose(game(asked), expected, atol=1e-6)


def test_tiles_that_do_not_divide_the_image_are_an_error_that_names_one_that_does():
    with pytest.raises(ValueError, match=r"8 × 12 pixels cannot be divided into tiles of 5 × 5.*such as 4 × 4.*pad"):
        TileGame(network, IMAGES, tile=5)
    with pytest.raises(ValueError, match=r"tiles of 4 × 5.*such as 4 × 4"):
        TileGame(network, IMAGES, tile=(4, 5))
    game = TileGame(network, IMAGES, tile=5, pad=True)
    assert game.d == 2 * 3
    assert np.bincount(game.pictures.segments[0].reshape(-1)).tolist() == [25, 25, 10, 15, 15, 6]
    with pytest.raises(ValueError, match="tile must be at least 1, got 0"):
        TileGame(network, IMAGES, tile=0)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        (2.5, "tile must be an integer, got 2.5"),
        (None, "tile must be an integer, got None"),
        ("14", "tile must be an integer, got '14'"),
        ((4, 2.5), "tile must be an integer, got 2.5"),
        ((4, 4, 3), r"a height and a width, got \(4, 4, 3\)"),
    ],
)
def test_tiles_are_numbers_of_pixels(tile, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TileGame(network, IMAGES, tile=tile)


def test_any_map_of_integers_gives_players_and_images_may_have_different_ones():
    one = tile_segments(8, 12, 4) * 10 - 5
    given = TileGame(network, IMAGES, segments=one)
    asked = coalitions_of(given.d)
    np.testing.assert_array_equal(given(asked), TileGame(network, IMAGES, tile=4)(asked))
    few = np.stack([one > 0, one > 20, one])  # 2, 2 and 6 players
    game = TileGame(network, IMAGES, segments=few.astype(int))
    assert game.d == 6
    np.testing.assert_array_equal(game.varying().sum(axis=1), [2, 2, 6])
    for row, image in enumerate(IMAGES):
        own = few[row].astype(int)
        alone = TileGame(network, image, segments=own, output=int(game.classes[row, 0]))
        wanted = asked[:, : alone.d]
        np.testing.assert_allclose(game(asked)[row], alone(wanted), atol=1e-6)
    found = sharpley.estimate(game, method="exact")
    np.testing.assert_array_equal(found.values[:2, 2:], 0)
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), game.endpoints()[:, 1, 0])


def test_segments_of_another_size_or_type_are_errors():
    with pytest.raises(ValueError, match=r"segments must have shape \(8, 12\).*got \(1, 8, 8\)"):
        TileGame(network, IMAGES, segments=np.zeros((8, 8), int))
    with pytest.raises(TypeError, match="segments must be integers"):
        TileGame(network, IMAGES, segments=np.zeros((8, 12)))


def test_superpixels_follow_the_colours():
    pytest.importorskip("skimage")
    image = np.zeros((32, 32, 3), np.float32)
    image[:, 20:] = (1.0, 0.2, 0.1)
    game = TileGame(lambda x: x.sum(axis=(1, 2)), 0.9 * image + 0.01, segments=superpixels(4))
    left = set(np.unique(game.pictures.segments[0][:, :19]))
    assert not left & set(np.unique(game.pictures.segments[0][:, 21:]))
    grey = TileGame(lambda x: x.sum(axis=(1, 2)), 0.9 * image[..., 0] + 0.01, segments=superpixels(4))
    assert grey.d >= 2


def test_superpixels_without_scikit_image_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(ImportError, match=r"pip install 'sharpley\[image\]'"):
        TileGame(network, IMAGES, segments=superpixels(4))


# What is seen in place of absent players


def test_absent_tiles_are_black_blurred_mean_coloured_or_of_another_image():
    asked, segments = coalitions_of(6), tile_segments(8, 12, 4)
    other = np.full((8, 12, 3), 0.25, np.float32)
    for baseline, absent in {
        "black": np.zeros_like,
        "blur": blurred,
        "mean": lambda image: np.broadcast_to(image.mean(axis=(0, 1)), image.shape),
        "callable": lambda image: image[::-1],
        "array": lambda image: other,
    }.items():
        given = {"callable": absent, "array": other}.get(baseline, baseline)
        game = TileGame(network, IMAGES, tile=4, baseline=given, scale="logits", output=1)
        expected = [[network(masked_slowly(i, absent(i), segments, c)[None])[0, 1] for c in asked] for i in IMAGES]
        np.testing.assert_allclose(game(asked), expected, atol=1e-5, err_msg=baseline)


def test_the_blur_removes_contrast_and_keeps_the_mean():
    checks = np.indices((40, 40)).sum(axis=0) // 4 % 2
    soft = blurred(np.repeat(checks[..., None], 3, axis=2).astype(np.float32))
    assert soft.std() < 0.2 * checks.std()
    assert abs(soft.mean() - checks.mean()) < 0.02
    red = np.zeros((40, 40, 3), np.float32) + np.array([1, 0, 0], np.float32)
    np.testing.assert_allclose(blurred(red), red, atol=1e-6)  # colours are not mixed


def test_background_images_are_draws_whose_mean_is_explained():
    background = RNG.uniform(size=(5, 8, 12, 3)).astype(np.float32)
    game = TileGame(network, IMAGES, tile=4, baseline=background, output=0)
    assert game.n_draws == 5
    asked = coalitions_of(6)
    single = [TileGame(network, IMAGES, tile=4, baseline=one, output=0)(asked) for one in background]
    np.testing.assert_allclose(game(asked), np.mean(single, axis=0), atol=1e-10)
    exact = sharpley.estimate(game, method="exact").values
    own = sharpley.estimate(game, method="antithetic", draws="own", max_predictions=20_000, rng=0)
    assert np.abs(own.values - exact).max() < 5 * own.standard_errors.max()
    assert own.standard_errors.max() < 0.1


def test_background_images_and_baselines_of_another_shape_are_errors():
    with pytest.raises(ValueError, match=r"background images must have the shape of the images, \(8, 12, 3\)"):
        TileGame(network, IMAGES, tile=4, baseline=np.zeros((2, 8, 8, 3)))
    with pytest.raises(ValueError, match="baseline must return an image of the shape of its input"):
        TileGame(network, IMAGES, tile=4, baseline=lambda image: image[:4])
    with pytest.raises(ValueError, match="unknown baseline 'grey'; choose one of 'black', 'blur', 'mean'"):
        TileGame(network, IMAGES, tile=4, baseline="grey")


def test_tiles_that_are_black_already_cannot_matter():
    image = IMAGES[0].copy()
    image[:4, :4] = 0
    game = TileGame(network, image, tile=4)
    np.testing.assert_array_equal(game.varying(), [[False, True, True, True, True, True]])
    background = np.stack([image, IMAGES[1]])
    game = TileGame(network, image, tile=4, baseline=background)
    np.testing.assert_array_equal(game.varying(), np.ones((1, 6), bool))
    np.testing.assert_array_equal(game.differing(np.zeros(2, int), np.arange(2)), [[False] * 6, [True] * 6])


# Classes and scales


def test_scales_are_those_of_the_softmax():
    logits = RNG.normal(size=(5, 4), scale=5)
    classes = np.array([[0], [3], [1], [2], [0]])
    p = np.take_along_axis(softmax(logits, axis=1), classes, axis=1)
    for returns, scores in {"logits": logits, "probabilities": softmax(logits, axis=1)}.items():
        np.testing.assert_allclose(on_scale(scores, classes, returns, "log-odds"), np.log(p / (1 - p)), atol=1e-9)
        np.testing.assert_allclose(on_scale(scores, classes, returns, "probabilities"), p)
    own = np.take_along_axis(logits, classes, axis=1)
    np.testing.assert_array_equal(on_scale(logits, classes, "logits", "logits"), own)
    logs = np.take_along_axis(log_softmax(logits, axis=1), classes, axis=1)
    np.testing.assert_allclose(on_scale(softmax(logits, axis=1), classes, "probabilities", "logits"), logs)


def test_log_odds_of_a_certain_class_are_finite():
    scores = np.array([[800.0, 0.0, -5.0]])
    found = on_scale(scores, np.array([[0, 1]]), "logits", "log-odds")
    np.testing.assert_allclose(found, [[800 - logsumexp([0.0, -5.0]), -logsumexp([800.0, -5.0])]])


def test_a_single_score_is_the_log_odds_of_a_binary_classifier():
    z = np.array([[0.3], [-2.0]])
    p = 1 / (1 + np.exp(-z))
    at = np.zeros((2, 1), int)
    np.testing.assert_allclose(on_scale(z, at, "logits", "probabilities"), p)
    np.testing.assert_allclose(on_scale(p, at, "probabilities", "log-odds"), z)


def test_probabilities_are_recognised_and_may_be_declared():
    asked = coalitions_of(6)
    logits = TileGame(network, IMAGES, tile=4)(asked)
    probabilities = TileGame(lambda x: softmax(network(x), axis=1), IMAGES, tile=4)(asked)
    np.testing.assert_allclose(probabilities, logits, atol=1e-8)
    half = TileGame(lambda x: np.full((len(x), 2), 0.5), IMAGES, tile=4, returns="logits", scale="logits", output=0)
    assert (half(asked) == 0.5).all()


def test_classes_by_position_name_or_prediction():
    scores = network(IMAGES)
    game = TileGame(network, IMAGES, tile=4, class_names=NAMES)
    np.testing.assert_array_equal(game.classes[:, 0], scores.argmax(axis=1))
    assert len(set(game.classes[:, 0].tolist())) > 1  # the images have different ones
    for output, position in (("dog", 2), ("House Cat", 0), ("cat, house cat", 0), (-1, 3), (np.int64(1), 1)):
        chosen = TileGame(network, IMAGES, tile=4, class_names=NAMES, output=output)
        assert (chosen.classes == position).all()
    several = TileGame(network, IMAGES, tile=4, class_names=NAMES, output=["dog", 1], scale="logits")
    np.testing.assert_allclose(several.endpoints()[:, 1], scores[:, [2, 1]], atol=1e-6)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("crane", r"several classes are called 'crane'; choose one of the positions \[1, 3\]"),
        ("do", "class 'do' does not exist; there are 4 classes, such as 'dog'"),
        (4, "class 4 does not exist: the network has 4 classes, 0 to 3"),
        ([], "output must name at least one class"),
    ],
)
def test_classes_that_do_not_exist_are_errors(output, message):
    with pytest.raises(ValueError, match=message):
        TileGame(network, IMAGES, tile=4, class_names=NAMES, output=output)


@pytest.mark.parametrize("output", [1.5, None, True, [0, None]])
def test_classes_are_positions_or_names(output):
    with pytest.raises(TypeError, match="output must be the position or the name of a class, or 'predicted', got"):
        TileGame(network, IMAGES, tile=4, output=output)


def test_names_are_needed_to_choose_by_name_and_must_be_complete():
    with pytest.raises(ValueError, match="class 'dog' is not known, since the classes have no names"):
        TileGame(network, IMAGES, tile=4, output="dog")
    with pytest.raises(ValueError, match="one name for each of the 4 scores of the model, got 2"):
        TileGame(network, IMAGES, tile=4, class_names=["a", "b"])


# Images


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((3, 8, 12)), r"channels last, .*got \(3, 8, 12\); np.moveaxis\(images, 0, -1\)"),
        (np.zeros((5, 3, 8, 12)), r"channels last, .*got \(5, 3, 8, 12\); np.moveaxis\(images, 1, -1\)"),
        (np.zeros((5, 8, 12, 7)), r"1 \(grey\), 3 \(RGB\) or 4 channels as their last axis, got 7"),
        (np.zeros((8, 12, 2)), r"RGB\) or 4 channels as their last axis, got 2 in \(8, 12, 2\); images\[..., None\]"),
        (np.zeros(9), r"must have shape \(n, height, width, channels\), got \(9,\)"),
        (np.zeros((0, 8, 12, 3)), "at least one image"),
        (IMAGES * 255, "values from 0 to 1, got .* to 25.*divide them by 255"),
        ((IMAGES * 60_000).astype(np.uint16), "values from 0 to 1, got .*; divide them by .*65535 for 16 bits"),
        (IMAGES * 4 - 2, "got -1.* to .*; pass them as they were before they were normalised"),
        (np.full((8, 12, 3), np.nan), "finite values"),
        ([IMAGES[0], IMAGES[0, :4]], r"must all have the same size, got \[\(8, 12, 3\), \(4, 12, 3\)\]"),
        (np.array([["a"]]), "must be arrays of numbers"),
    ],
)
def test_images_in_another_order_or_range_are_errors(images, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TileGame(network, images, tile=4)


def test_images_may_be_bytes_grey_single_or_of_another_range():
    seen = []

    def look(images):
        seen.append(images)
        return images.mean(axis=(1, 2))

    TileGame(look, np.full((8, 12, 3), 255, np.uint8), tile=4)
    assert seen[-1].shape == (1, 8, 12, 3)
    assert seen[-1].dtype == np.float32
    assert (seen[-1] == 1).all()
    TileGame(look, np.ones((8, 12)), tile=4)
    assert seen[-1].shape == (1, 8, 12, 1)
    TileGame(look, np.ones((5, 8, 12)), tile=4)
    assert seen[-1].shape == (5, 8, 12, 1)
    TileGame(look, np.full((8, 12, 3), 200.0), tile=4, value_range=(0, 255))
    assert (seen[-1] == 200).all()


@pytest.mark.parametrize("value_range", [(1, 0), (0, np.inf), 255, (0, 1, 2)])
def test_a_range_of_values_is_two_numbers(value_range):
    with pytest.raises(ValueError, match="value_range must be the smallest and the largest value of images, got"):
        TileGame(network, IMAGES, tile=4, value_range=value_range)


# The model


def test_a_transform_is_applied_after_masking():
    shifted = TileGame(network, IMAGES, tile=4, transform=lambda images: images - 0.5)
    asked = coalitions_of(6)
    np.testing.assert_allclose(shifted(asked), TileGame(lambda x: network(x - 0.5), IMAGES, tile=4)(asked))


@pytest.mark.parametrize("output", [np.zeros((2, 4)), np.zeros((3, 2, 2)), None, "text", np.array(["a"] * 3)])
def test_a_model_that_returns_the_wrong_shape_or_type_is_an_error(output):
    with pytest.raises((ValueError, TypeError), match="must return"):
        TileGame(lambda images: output, IMAGES, tile=4)


def test_a_model_that_returns_fewer_scores_later_is_an_error():
    game = TileGame(lambda x: np.zeros((len(x), 5 if x.all() else 4)), IMAGES, tile=4, output=2)
    with pytest.raises(ValueError, match="must return as many scores for every image, got 5 first and then 4"):
        sharpley.estimate(game)


def test_logits_that_are_called_probabilities_are_an_error():
    with pytest.raises(ValueError, match=r"does not return probabilities: its scores are from -.*returns='logits'"):
        TileGame(network, IMAGES, tile=4, returns="probabilities")


def test_an_unknown_precision_is_an_error_for_any_model():
    with pytest.raises(ValueError, match="unknown precision 'half'; choose one of 'auto', 'full', 'mixed'"):
        TileGame(network, IMAGES, tile=4, precision="half")


def test_scores_that_are_not_finite_are_an_error():
    with pytest.raises(ValueError, match="must return finite values"):
        sharpley.estimate(TileGame(lambda x: np.full((len(x), 2), np.nan), IMAGES, tile=4))


def test_errors_of_the_model_say_what_it_was_called_on():
    def broken(images):
        raise KeyError("weights")

    with pytest.raises(KeyError) as caught:
        TileGame(broken, IMAGES, tile=4)
    assert "images of shape (8, 12, 3)" in caught.value.__notes__[0]


@pytest.mark.parametrize("method", ["antithetic", "gp", "orthogonal"])
def test_numbers_do_not_depend_on_the_batch_size_and_batches_are_bounded(method):
    sizes = []

    def watched(images):
        sizes.append(len(images))
        return network(images)

    found = []
    for batch_size in (1, 7, 1000):
        sizes.clear()
        game = TileGame(watched, IMAGES, tile=(4, 3), batch_size=batch_size)
        found.append(sharpley.estimate(game, method=method, max_evals=60, rng=0).values)
        assert max(sizes) <= batch_size
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)
    np.testing.assert_allclose(found[2], found[0], atol=1e-12)


def test_default_batches_have_bounded_memory():
    assert TileGame(lambda x: x.mean(axis=(1, 2)), np.ones((224, 224, 3))).draws_per_call * 224 * 224 * 3 <= 2**19
    assert TileGame(lambda x: x.mean(axis=(1, 2)), np.ones((2000, 2000, 3)), tile=500).draws_per_call == 1


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"), OSError("std::bad_alloc")]
)
def test_out_of_memory_halves_the_batch_and_goes_on(error):
    sizes = []

    def small(images):
        sizes.append(len(images))
        if len(images) > 5:
            raise error
        return network(images)

    expected = sharpley.estimate(TileGame(network, IMAGES, tile=4), method="exact").values
    with pytest.warns(BatchHalvedWarning, match="do not fit into memory") as warned:
        game = TileGame(small, np.concatenate([IMAGES] * 8), tile=4, batch_size=40)
    assert sizes == [24, 12, 6, 3, *[3] * 7]
    assert "24 images at a time do not fit into memory; continuing with 12" in str(warned[0].message)
    assert warned[0].filename == __file__
    sizes.clear()
    found = sharpley.estimate(game, method="exact").values  # without further warnings, which would be errors
    assert max(sizes) == 3
    np.testing.assert_allclose(found[:3], expected, atol=1e-12)


def test_out_of_memory_with_a_single_image_is_an_error():
    def never(images):
        raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        TileGame(never, IMAGES[:1], tile=4)


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    calls = []

    def broken(images):
        calls.append(len(images))
        raise RuntimeError("expected 3 channels")

    with pytest.raises(RuntimeError, match="expected 3 channels"):
        TileGame(broken, IMAGES, tile=4)
    assert calls == [3]


def test_evaluations_are_counted_and_never_exceed_the_budget():
    counted = []

    def watched(images):
        counted.append(len(images))
        return network(images)

    found = sharpley.estimate(TileGame(watched, IMAGES[:1], tile=(4, 3)), method="antithetic", max_evals=50, rng=0)
    assert sum(counted) == found.n_predictions[0] <= 50

"""Networks of torch and ONNX for images; libraries that are not installed are skipped.

``make test-models`` installs all of them and runs this file.
"""

import numpy as np
import pytest

import sharpley
from sharpley import ImageExplainer
from sharpley.games import TileGame

IMAGES = np.random.default_rng(0).uniform(0.05, 1, size=(3, 16, 16, 3)).astype(np.float32)
COALITIONS = np.random.default_rng(1).uniform(size=(9, 16)) < 0.5


@pytest.fixture(scope="module")
def module():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.5),
        torch.nn.AdaptiveAvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32, 5),
    ).eval()


def as_function(module, transform=lambda tensor: tensor):
    """The same network as a function of arrays, channels last."""
    import torch

    def call(images):
        with torch.no_grad():
            return module(transform(torch.from_numpy(np.moveaxis(images, -1, 1).copy()))).numpy()

    return call


@pytest.mark.parametrize("baseline", ["black", "mean", IMAGES[::-1].copy()])
def test_masking_on_the_device_equals_masking_in_numpy(module, baseline):
    on_device = TileGame(module, IMAGES, tile=4, baseline=baseline, output=1)
    in_numpy = TileGame(as_function(module), IMAGES, tile=4, baseline=baseline, output=1)
    np.testing.assert_allclose(on_device(COALITIONS), in_numpy(COALITIONS), atol=1e-5)


@pytest.mark.parametrize("segments", [None, np.stack([np.arange(256).reshape(16, 16) // k for k in (16, 32, 64)])])
def test_masking_by_torch_equals_masking_by_numpy(module, segments):
    """The masking for a GPU, run in main memory: there is no GPU in most machines that run this."""
    import torch

    from sharpley.games.tiles.masking import mask_arrays
    from sharpley.games.tiles.torch_network import mask_on

    game = TileGame(module, IMAGES, tile=4, segments=segments, baseline=IMAGES[::-1].copy())
    rows, draws = np.array([0, 0, 2, 1, 1, 0]), np.array([2, 1, 0, 0, 1, 1])
    coalitions = np.random.default_rng(3).uniform(size=(6, game.d)) < 0.5
    by_torch = mask_on(torch.device("cpu"), game.pictures)(rows, coalitions, draws)
    by_numpy = mask_arrays(game.pictures)(rows, coalitions, draws)
    np.testing.assert_array_equal(by_torch.permute(0, 2, 3, 1).numpy(), by_numpy)


def test_images_with_segments_of_their_own_are_masked_on_the_device(module):
    maps = np.stack([np.arange(256).reshape(16, 16) // k for k in (16, 32, 64)])
    on_device = TileGame(module, IMAGES, segments=maps)
    in_numpy = TileGame(as_function(module), IMAGES, segments=maps)
    np.testing.assert_allclose(on_device(COALITIONS), in_numpy(COALITIONS), atol=1e-5)


def test_modules_are_in_inference_mode_during_calls_and_as_before_afterwards(module):
    import torch

    modes = []
    handle = module.register_forward_hook(
        lambda module, inputs, output: modes.append((module.training, torch.is_inference_mode_enabled()))
    )
    module.train()
    try:
        first, second = (TileGame(module, IMAGES, tile=4)(COALITIONS) for _ in range(2))
        assert module.training
    finally:
        handle.remove()
        module.eval()
    assert set(modes) == {(False, True)}
    np.testing.assert_array_equal(first, second)  # without dropout


def test_a_transform_is_applied_to_tensors(module):
    def normalise(tensor):
        return (tensor - 0.5) / 0.25

    game = TileGame(module, IMAGES, tile=4, transform=normalise, output=0)
    expected = TileGame(as_function(module, normalise), IMAGES, tile=4, output=0)(COALITIONS)
    np.testing.assert_allclose(game(COALITIONS), expected, atol=1e-5)


def test_modules_of_any_precision_are_called_in_theirs(module):
    import copy

    double = copy.deepcopy(module).double()
    found = TileGame(double, IMAGES, tile=4, output=0)(COALITIONS)
    np.testing.assert_allclose(found, TileGame(module, IMAGES, tile=4, output=0)(COALITIONS), atol=1e-5)
    half = TileGame(copy.deepcopy(module).bfloat16(), IMAGES, tile=4, output=0)(COALITIONS)
    np.testing.assert_allclose(half, found, atol=0.05)


def test_modules_that_do_not_say_whether_they_train_are_called(module):
    class Frozen(type(module)):
        @property
        def training(self):
            raise AttributeError("frozen")

        @training.setter
        def training(self, value):
            pass

    frozen = Frozen(*module)
    np.testing.assert_allclose(
        TileGame(frozen, IMAGES, tile=4)(COALITIONS), TileGame(module, IMAGES, tile=4)(COALITIONS), atol=1e-6
    )


def test_another_number_of_channels_is_an_error(module):
    with pytest.raises(ValueError, match=r"expects images with 3 channels, got 1; .*np.repeat"):
        TileGame(module, IMAGES[..., :1], tile=4)
    with pytest.raises(ValueError, match=r"expects images with 3 channels, got 4; images\[..., :3\]"):
        TileGame(module, np.concatenate([IMAGES, IMAGES[..., :1]], axis=-1), tile=4)


@pytest.mark.parametrize("method", ["antithetic", "gp"])
def test_values_hardly_depend_on_the_batch_size(module, method):
    found = [
        ImageExplainer(module, tile=4, method=method, rng=0, batch_size=size).estimate(IMAGES, max_evals=200).values
        for size in (1, 13, 200)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)
    np.testing.assert_allclose(found[2], found[0], atol=1e-5)


def test_mixed_precision_is_used_only_where_it_hardly_changes_scores(module):
    import torch

    kinds = []

    class Watched(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.inner, self.factor = module, factor

        def forward(self, images):
            kinds.append(torch.is_autocast_enabled("cpu"))
            # Rounding to 8 bits of such large numbers is a change that matters.
            offset = self.factor * torch.nn.functional.linear(images.mean((2, 3)), torch.ones(5, 3))
            return self.inner(images) + offset - offset.float() if self.factor == 0 else offset - self.factor * 1.5

    safe, unsafe = Watched(0.0), Watched(1e5)
    TileGame(safe, IMAGES, tile=4, precision="mixed")(COALITIONS)
    assert kinds[:2] == [False, True]  # the first batch is computed in both ways
    assert all(kinds[2:])
    kinds.clear()
    TileGame(unsafe, IMAGES * 1e-3 + 0.5, tile=4, precision="mixed")(COALITIONS)
    assert kinds[:2] == [False, True]
    assert not any(kinds[2:])
    kinds.clear()
    TileGame(safe, IMAGES, tile=4)(COALITIONS)  # "auto" on a processor
    assert not any(kinds)
    with pytest.raises(ValueError, match="unknown precision 'half'"):
        TileGame(safe, IMAGES, tile=4, precision="half")


def test_out_of_memory_of_torch_halves_the_batch(module):
    import torch

    def limited(inner, inputs):
        if len(inputs[0]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    expected = TileGame(module, IMAGES, tile=4)(COALITIONS)
    handle = module.register_forward_pre_hook(limited)
    try:
        with pytest.warns(sharpley.BatchHalvedWarning):
            found = TileGame(module, IMAGES, tile=4, batch_size=64)(COALITIONS)
    finally:
        handle.remove()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def onnx_file(path, shape, *, channels_first):
    """A network in a file: the mean of each channel times a matrix."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(2).normal(size=(3, 5)).astype(np.float32)
    axes = [2, 3] if channels_first else [1, 2]
    nodes = [
        helper.make_node("ReduceMean", ["x", "axes"], ["means"], keepdims=0),
        helper.make_node("Tanh", ["means"], ["curved"]),
        helper.make_node("MatMul", ["curved", "weights"], ["scores"]),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [shape[0], 5])],
        [numpy_helper.from_array(np.array(axes), "axes"), numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)
    return lambda images: np.tanh(images.mean(axis=(1, 2))) @ weights


@pytest.mark.parametrize("channels_first", [True, False])
@pytest.mark.parametrize("batch", ["n", 2])
@pytest.mark.parametrize("as_session", [True, False])
def test_onnx_files_and_sessions_in_both_orders_and_with_fixed_batches(tmp_path, channels_first, batch, as_session):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "network.onnx"
    shape = [batch, 3, 16, 16] if channels_first else [batch, 16, 16, 3]
    function = onnx_file(path, shape, channels_first=channels_first)
    model = onnxruntime.InferenceSession(str(path)) if as_session else path
    game, expected = (TileGame(each, IMAGES, tile=4, output=3) for each in (model, function))
    np.testing.assert_allclose(game(COALITIONS), expected(COALITIONS), atol=1e-5)


def test_onnx_networks_check_channels_and_size(tmp_path):
    pytest.importorskip("onnxruntime")
    path = tmp_path / "network.onnx"
    onnx_file(path, ["n", 3, 16, 16], channels_first=True)
    with pytest.raises(ValueError, match="expects images with 3 channels, got 1"):
        TileGame(str(path), IMAGES[..., :1], tile=4)
    with pytest.raises(ValueError, match="expects images of 16 × 16 pixels, got 8 × 8; resize them"):
        TileGame(str(path), IMAGES[:, :8, :8], tile=4)


def test_files_that_are_not_onnx_are_an_error(tmp_path):
    pytest.importorskip("onnxruntime")
    path = tmp_path / "network.onnx"
    path.write_bytes(b"not a network")
    with pytest.raises(ValueError, match=r"network.onnx' cannot be read as an ONNX file \(.*"):
        TileGame(str(path), IMAGES, tile=4)

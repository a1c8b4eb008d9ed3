"""The paper's experiment with images: loaders, errors from the spread over trials, claims, and a quick run."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sharpley_experiments.common.downloads import DownloadError
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.images import IMAGES, errors, networks, photographs
from sharpley_experiments.paper.images.claims import about_errors
from sharpley_experiments.paper.images.scales_exhibit import LINES
from sharpley_experiments.paper.images.time_exhibit import PRINTED, findings, summary, tabulate
from sharpley_experiments.paper.images.weights import fill, find_weights
from sharpley_experiments.paper.reproduce import reproduce

# Networks


@pytest.fixture
def resnet18():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return networks.ARCHITECTURES["resnet18"]()


@pytest.fixture(autouse=True)
def _fresh():
    networks._load.cache_clear()
    photographs.load_photographs.cache_clear()


def classes_in(folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"n{k:08d} name {k}, other" for k in range(1000)]
    (folder / "imagenet_synsets.txt").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("name", ["resnet50", "resnet18", "mobilenet_v2"])
def test_architectures_have_as_many_weights_as_published(name):
    pytest.importorskip("torch")
    published = {"resnet50": 25_557_032, "resnet18": 11_689_512, "mobilenet_v2": 3_504_872}
    assert sum(p.numel() for p in networks.ARCHITECTURES[name]().parameters()) == published[name]


def test_weights_of_torchvision_are_loaded_and_folding_changes_nothing(resnet18, tmp_path):
    import torch

    resnet18.eval()
    for module in resnet18.modules():  # statistics as after training
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    classes_in(tmp_path / "cnn")
    torch.save(resnet18.state_dict(), tmp_path / "cnn" / "resnet18-f37072fd.pth")
    loaded = networks.load_classifier("resnet18", str(tmp_path))
    images = torch.rand(2, 3, 64, 64)
    mean, deviation = torch.tensor(networks.MEAN).view(3, 1, 1), torch.tensor(networks.DEVIATION).view(3, 1, 1)
    with torch.no_grad():
        found, expected = loaded.model(loaded.transform(images)), resnet18((images - mean) / deviation)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))
    assert loaded.class_names[3] == "name 3, other"
    assert loaded.source == "resnet18-f37072fd.pth"


def test_weights_of_codebooks_are_expanded(resnet18, tmp_path):
    """As in files of permute-quantize-finetune, whose normalisations have their statistics folded in."""
    stored = {key: value.numpy() for key, value in resnet18.state_dict().items() if "running" not in key}
    stored = {key: value for key, value in stored.items() if "num_batches" not in key}
    codes = np.random.default_rng(0).integers(4, size=(128, 64 * 9 // 9))
    codebook = np.random.default_rng(1).normal(size=(4, 9)).astype(np.float16)
    del stored["layer2.0.conv1.weight"]
    path = tmp_path / "resnet18.npz"
    np.savez(path, **stored, **{"layer2.0.conv1.codes": codes, "layer2.0.conv1.codebook": codebook})
    filled = fill(networks.ARCHITECTURES["resnet18"](), path)
    weight = filled.layer2[0].conv1.weight.detach().numpy()
    np.testing.assert_array_equal(weight[5, 7].reshape(-1), codebook[codes[5, 7]].astype(np.float32))
    assert (filled.bn1.running_mean == 0).all()
    assert not filled.training


def test_weights_of_another_architecture_are_an_error(resnet18, tmp_path):
    import torch

    torch.save(resnet18.state_dict(), tmp_path / "resnet50.pth")
    with pytest.raises(ValueError, match=r"resnet50.pth holds the weights of another architecture than ResNet"):
        networks.load_classifier("resnet50", str(tmp_path))


@pytest.mark.parametrize("name", ["resnet18.pth", "resnet18.npz"])
def test_a_damaged_file_of_weights_is_an_error(tmp_path, name):
    pytest.importorskip("torch")
    classes_in(tmp_path)
    (tmp_path / name).write_bytes(b"not weights")
    with pytest.raises(ValueError, match=rf"{name} cannot be read as a file of weights"):
        networks.load_classifier("resnet18", str(tmp_path))


def test_missing_weights_and_classes_are_errors_that_say_what_to_do(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no weights of resnet50 in .*get https://download.pytorch.org/models/"
    ):
        networks.load_classifier("resnet50", str(tmp_path))
    (tmp_path / "imagenet_classes.txt").write_text("only\ntwo\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must have 1000 lines, one for each class, got 2"):
        networks._class_names(tmp_path)
    with pytest.raises(ValueError, match="unknown network 'vgg'; choose one of 'digits', 'resnet50'"):
        networks.load_classifier("vgg", None)


def test_a_download_that_cannot_be_had_says_what_to_do(place, monkeypatch):
    monkeypatch.setattr(networks, "URL", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"cannot download resnet50-0676ba61.pth .*save it as .* pass --data"):
        networks.load_classifier("resnet50", None)


def test_a_download_that_is_damaged_is_removed(place, monkeypatch):
    def damaged(original, folder):
        path = folder / original.archives[0]
        path.write_bytes(b"a login page")
        return path

    monkeypatch.setattr(networks, "download", damaged)
    with pytest.raises(DownloadError, match=r"what https://download.pytorch.org/.* sent is damaged"):
        networks.load_classifier("resnet50", None)
    assert list(place.iterdir()) == []


def test_without_torch_the_message_says_what_to_install(tmp_path, monkeypatch):
    classes_in(tmp_path)
    np.savez(tmp_path / "resnet18.npz", a=np.zeros(1))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs torch: pip install 'sharpley\[torch\]'; the preset quick"):
        networks.load_classifier("resnet18", str(tmp_path))


def test_files_of_networks_are_found_in_the_folder_or_in_cnn(tmp_path):
    assert find_weights("resnet18", tmp_path) is None
    (tmp_path / "cnn").mkdir()
    for name in ("resnet18_small.npz", "resnet50.npz"):
        (tmp_path / "cnn" / name).touch()
    assert find_weights("resnet18", tmp_path).name == "resnet18_small.npz"
    (tmp_path / "resnet18.onnx").touch()
    assert find_weights("resnet18", tmp_path).name == "resnet18.onnx"


@pytest.mark.filterwarnings("ignore")  # of torch's export
def test_an_exported_network_gives_the_same_scores(resnet18, tmp_path):
    import torch

    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from sharpley.games import TileGame

    torch.save(resnet18.eval().state_dict(), tmp_path / "resnet18.pth")
    (tmp_path / "exported").mkdir()
    networks.export_onnx("resnet18", str(tmp_path), tmp_path / "exported" / "resnet18.onnx")
    image, asked = np.random.default_rng(0).uniform(size=(224, 224, 3)), np.eye(4, dtype=bool)
    scores = []
    for folder in (tmp_path, tmp_path / "exported"):
        found = networks.load_classifier("resnet18", str(folder))
        scores.append(TileGame(found.model, image, tile=112, transform=found.transform, output=5)(asked))
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-3)


# Photographs


def test_photographs_are_cropped_to_the_centre_and_resized():
    wide = np.zeros((300, 500, 3), np.uint8)
    wide[:, 100:400] = (10, 200, 30)  # the square around the centre
    square = photographs.cropped(wide)
    assert square.shape == (224, 224, 3)
    assert (square == (10, 200, 30)).all()


def test_photographs_of_a_folder_or_of_scikit_learn(tmp_path):
    from PIL import Image

    folder = tmp_path / "images" / "imagenet"
    folder.mkdir(parents=True)
    for k in range(9):
        Image.fromarray(np.full((240, 300, 3), 20 * k, np.uint8)).save(folder / f"n0123456{k}_great_thing_{k}.JPEG")
    chosen = photographs.load_photographs("imagenet", 8, str(tmp_path))
    assert len({one.name for one in chosen}) == 8
    assert chosen[0].name.startswith("great thing ")
    assert chosen == photographs.load_photographs("imagenet", 8, str(tmp_path))  # the same choice every time
    with pytest.raises(FileNotFoundError, match=r"12 photographs \(imagenet\) are needed, but 9 were found"):
        photographs.load_photographs("imagenet", 12, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="but 0 were found; pass --data"):
        photographs.load_photographs("imagenet", 8, None)
    assert {"flower", "china"} <= {one.name for one in photographs._installed("free")}


# Errors and claims


def test_errors_are_the_variance_over_trials_and_biased_methods_are_compared_with_the_others():
    rng = np.random.default_rng(0)
    rows = [
        {"series": series, "trial": trial, "estimate": rng.normal(size=6).tolist()}
        for series in ("sobol", "antithetic", "gp")
        for trial in range(5)
    ]
    found = pd.DataFrame(errors._with_errors(rows))
    for series in ("sobol", "antithetic"):
        estimates = np.array([row["estimate"] for row in rows if row["series"] == series])
        mine = found[found["series"] == series]
        assert np.isclose(mine["mse"].mean(), estimates.var(axis=0, ddof=1).mean())
        assert set(mine["reference"]) == {"mean of trials"}
    centre = np.mean([row["estimate"] for row in rows if row["series"] != "gp"], axis=0)
    own = np.array([row["estimate"] for row in rows if row["series"] == "gp"])
    np.testing.assert_allclose(found[found["series"] == "gp"]["mse"], ((own - centre) ** 2).mean(axis=1))


def errors_table(factors, trials=10, network="resnet50", n=100):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {
                "image": image,
                "series": series,
                "trial": trial,
                "mse": factor * rng.uniform(0.9, 1.1),
                "network": network,
                "d": 256,
                "n": n,
            }
            for image in ("a", "b")
            for series, factor in factors.items()
            for trial in range(trials)
        ]
    )


AS_PRINTED = {"monte-carlo": 3.0, "antithetic": 1.0, "herding": 1.0, "orthogonal": 1.0, "sbq": 1.0, "sobol": 0.5}


def test_claims_hold_where_errors_are_as_printed_and_fail_where_they_are_not():
    found = about_errors(errors_table(AS_PRINTED))
    assert [one.verdict for one in found] == ["holds"] * 7
    other = about_errors(
        errors_table({**AS_PRINTED, "monte-carlo": 0.8, "orthogonal": 0.4, "herding": 0.7, "sbq": 0.7, "sobol": 1.0})
    )
    verdicts = {one.claim: one.verdict for one in other}
    assert verdicts["Images: sobol has the lowest error estimate on all images."] == "does not hold"
    assert verdicts["Images: orthogonal is not significantly better than antithetic sampling."] == "does not hold"
    assert [row[:2] for row in other[0].details.rows] == [("a", "orthogonal"), ("b", "orthogonal")]


def test_no_verdict_from_few_trials_or_from_digits():
    for table in (errors_table(AS_PRINTED, trials=4), errors_table(AS_PRINTED, network="digits")):
        assert {one.verdict for one in about_errors(table)} == {"not judged"}
        assert all("not judged" in one.evidence for one in about_errors(table))


def test_a_smaller_run_shows_its_evidence_without_a_verdict():
    found = about_errors(errors_table(AS_PRINTED, n=10))
    assert {one.verdict for one in found} == {"not judged"}
    assert "not judged at this size, 256 tiles and 10 orderings instead of 256 and 100" in found[0].evidence
    assert "--preset images judges it" in found[0].evidence
    assert found[0].details.rows[0][2].startswith("0.")


def test_scales_are_compared_with_that_of_the_paper_and_drawn_for_each_image():
    exhibit = IMAGES["images-lambda"]
    equal = errors_table(dict.fromkeys(LINES, 1.0), trials=25)
    assert [one.verdict for one in exhibit.findings(equal)] == ["holds"]
    apart = errors_table({line: 2.0 if line == "λ = 32" else 1.0 for line in LINES}, trials=25)
    (found,) = exhibit.findings(apart)
    assert found.verdict == "holds in part"
    assert found.details.rows[-1][0] == "λ = 32"
    assert found.details.rows[-1][1].startswith("2.0")
    figure = exhibit.draw(equal.assign(label="cat"), "preset: quick")
    assert [ax.get_title() for ax in figure.axes[:2]] == ["a: cat", "b: cat"]
    shown = exhibit.tabulate(equal.assign(label="cat", probability=0.5))
    assert list(shown.columns) == ["image", "label", "probability", *LINES]


def test_times_are_extrapolated_and_compared_with_those_printed():
    lines = [
        {"method": method, "repetition": k, "ordering_seconds": seconds, "network": "resnet50", "d": 256,
         "evaluations": 257, "other_seconds": 1.05, "network_seconds": 1.0}
        for method, (seconds, _) in PRINTED.items() for k in range(3)
    ]  # fmt: skip
    table = pd.DataFrame(lines)
    assert np.isclose(summary(table)["sobol"]["other"], 105.0)
    assert np.isclose(summary(table)["sobol"]["overhead"], 0.05)
    shown = tabulate(table)
    assert list(shown["paper: orderings (s)"]) == [f"{PRINTED[method][0]:.3f}" for method in PRINTED]
    assert "resnet50, extrapolated" in shown.columns[2]
    first, caption, second, remark = findings(table)
    assert first.verdict == caption.verdict == "does not hold"
    assert "orthogonal takes 0.56%" in caption.evidence
    assert second.verdict == "holds"
    assert remark.verdict == "remark"
    fast = table.assign(ordering_seconds=1e-3)
    assert [one.verdict for one in findings(fast)[:3]] == ["holds", "does not hold", "holds in part"]


# A quick run


def test_an_unfinished_run_shows_the_trials_that_every_method_has(tmp_path):
    """Cells are measured trial by trial; those of a trial that some method lacks do not count."""
    names = ("monte-carlo", "sobol")
    whole = Context(PRESETS["quick"], tmp_path / "cells")
    part = replace(whole, is_stored_only=True)
    with pytest.raises(ValueError, match=r"0 of 30 cells are in .*fewer than 2 trials of all methods on every image"):
        errors.measured(part, names)
    table = errors.measured(whole, names)
    for path in (tmp_path / "cells").glob("*.json"):
        cell = json.loads(path.read_text(encoding="utf-8"))["cell"]
        is_late = cell["trial"] > 2 or (cell["trial"] == 2 and cell["series"] == "sobol")
        if cell["image"] == 2 or (cell["image"] == 1 and is_late):
            path.unlink()
    left = errors.measured(part, names)
    assert left.groupby(["image", "series"]).size().to_dict() == {
        ("digit 0", "monte-carlo"): 5, ("digit 0", "sobol"): 5, ("digit 1", "monte-carlo"): 2, ("digit 1", "sobol"): 2
    }  # fmt: skip
    first = [frame[frame["image"] == "digit 0"]["mse"].tolist() for frame in (table, left)]
    assert first[0] == first[1]


def test_trials_of_the_image_with_the_fewest_count():
    table = errors_table(AS_PRINTED, trials=6)
    table = table[(table["image"] == "a") | (table["trial"] < 4)]
    assert {one.verdict for one in about_errors(table)} == {"not judged"}
    assert "4 trials" in about_errors(table)[0].evidence


def test_only_images_can_be_shown_unfinished(tmp_path):
    with pytest.raises(ValueError, match=r"--stored is for images, .*got kernels"):
        reproduce(["images", "kernels"], tmp_path / "out", preset="quick", stored=True)


def test_a_quick_run_is_resumed_and_drawn_from_its_table_alone(tmp_path, monkeypatch):
    context = Context(PRESETS["quick"], tmp_path / "cells")
    exhibit = IMAGES["images"]
    table = exhibit.compute(context)
    assert set(table["network"]) == {"digits"}
    assert table.groupby(["image", "series"]).size().unique().tolist() == [5]
    monkeypatch.setattr(errors, "measure", None)  # all cells are stored: nothing is measured again
    table.to_csv(tmp_path / "images.csv", index=False)
    read = pd.read_csv(tmp_path / "images.csv", engine="python")
    again = exhibit.compute(context)
    np.testing.assert_array_equal(again["mse"], read["mse"])
    figure = exhibit.draw(read, "preset: quick")
    assert len(figure.axes) == 3 * 3 + 3  # and the bars of colours
    best = read[read["image"] == "digit 0"].groupby("series")["mse"].mean().idxmin()
    assert figure.axes[1].get_title() == f"by {best}"
    assert list(exhibit.tabulate(read)["label"].astype(str)) == ["2", "5", "7"]
    assert {one.verdict for one in exhibit.findings(read)} == {"not judged"}

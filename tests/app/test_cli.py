"""The command line: samples, discrepancies, the demonstration and the cache."""

import html
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from command_line import call

from sharpley import MonteCarlo, SequentialBayesianQuadrature, Sobol, __version__, discrepancy


def test_sample_prints_csv():
    out = call("sample", "--method", "sobol", "-d", 10, "-n", 64, "--seed", 0).stdout
    np.testing.assert_array_equal(np.loadtxt(io.StringIO(out), delimiter=",", dtype=int), Sobol(10, rng=0).random(64))


@pytest.mark.parametrize("suffix", ["csv", "npy"])
def test_the_discrepancy_of_written_orderings_agrees_from_a_file_and_from_standard_input(tmp_path, suffix):
    path = tmp_path / f"orderings.{suffix}"
    call("sample", "--method", "monte-carlo", "-d", 6, "-n", 20, "--seed", 1, "--out", path)
    value = discrepancy(MonteCarlo(6, rng=1).random(20))
    assert float(call("discrepancy", path).stdout) == pytest.approx(value, rel=1e-5)
    assert float(call("discrepancy", "-", stdin=path.read_bytes()).stdout) == pytest.approx(value, rel=1e-5)


def test_sample_writes_npy_to_standard_output():
    arguments = ("sample", "--method", "monte-carlo", "-d", 4, "-n", 3, "--seed", 0)
    raw = call(*arguments, "--format", "npy").stdout_bytes
    np.testing.assert_array_equal(np.load(io.BytesIO(raw)), MonteCarlo(4, rng=0).random(3))


def test_the_weights_of_sbq_are_written_and_read(tmp_path):
    orderings, weights = tmp_path / "o.csv", tmp_path / "w.csv"
    call(
        "sample",
        "--method",
        "sbq",
        "-d",
        5,
        "-n",
        8,
        "--seed",
        0,
        "--out",
        orderings,
        "--weights",
        weights,
    )
    sampler = SequentialBayesianQuadrature(5, rng=0)
    drawn = sampler.random(8)
    expected = discrepancy(drawn, sampler.weights(drawn))
    out = call("discrepancy", orderings, "--weights", weights).stdout
    assert float(out) == pytest.approx(expected, rel=1e-5)


def test_the_kernel_and_its_scale_are_options(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("0,1,2\n")
    assert float(call("discrepancy", path, "--kernel", "kendall").stdout) == 1.0
    assert float(call("discrepancy", path, "--kernel", "mallows", "--scale", 0).stdout) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sample", "-d", 0, "-n", 1), "d must be at least 1, got 0"),
        (("sample", "-d", 3, "-n", -1), "n must be at least 0, got -1"),
        (("sample", "-d", 3, "-n", 1, "--method", "x"), "unknown method 'x'; choose one of"),
        (
            ("sample", "-d", 3, "-n", 1, "--format", "xml"),
            "unknown format 'xml'; choose one of 'csv', 'npy'",
        ),
        (("sample", "-d", 3, "-n", 1, "--weights", "-"), "cannot both go to '-'"),
        (("discrepancy", "missing.csv"), "No such file"),
        (("discrepancy", "-"), "- is empty"),
        (
            ("reproduce", "table-9"),
            "unknown exhibit 'table-9'; choose one of 'all', ",
        ),
    ],
)
def test_errors_are_one_line_on_standard_error(arguments, message):
    result = call(*arguments, code=2)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n0,0\n", "row 1 of orderings is not a permutation of 0..1: entry 1 repeats player 0"),
        ("a,b\n0,1\n", "- is not a CSV file of numbers without a header"),
        ("0,1\n0\n", "- is not a CSV file of numbers without a header"),
        ("1,2\n2,1\n", "subtract 1"),
    ],
)
def test_invalid_files_raise_specific_errors(text, message):
    assert message in call("discrepancy", "-", stdin=text, code=2).stderr


@pytest.mark.filterwarnings("ignore:The set_:PendingDeprecationWarning")  # from shap, about matplotlib's colour maps
def test_demo_writes_a_table_figures_and_a_page(tmp_path, monkeypatch):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from sharpley.app import demo

    monkeypatch.setattr(demo, "DEFAULT_SIZE", demo.Size(n_patients=8, n_seeds=2))
    before = mpl.get_backend(), plt.isinteractive()
    out = call("demo", "--out", tmp_path).stdout
    assert (mpl.get_backend(), plt.isinteractive(), plt.get_fignums()) == (*before, [])
    assert "body mass index" in out
    spent, of_shap = (
        int(number.replace(",", "")) for number in re.findall(r"([\d,]+) predictions; shap: ([\d,]+);", out)[0]
    )
    assert 0.9 * of_shap < spent <= of_shap
    assert (tmp_path / "index.html").as_uri() in out
    for name in ("beeswarm", "waterfall", "comparison", "errors"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000

    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64,') == page.count("src=") == 4
    code = html.unescape(page.partition("<pre><code>")[2].partition("</code></pre>")[0])
    monkeypatch.setattr(plt, "show", plt.close)
    namespace = {}
    exec(code, namespace)
    for name, value, exact in zip(demo.FEATURES, namespace["estimate"].values, namespace["exact"].values, strict=True):
        row = next(line for line in out.splitlines() if line.strip().startswith(f"{name}  "))
        assert f" {value:+.2f} ±" in row
        assert f" {exact:+.2f} " in row


def test_version_is_printed():
    assert call("--version").stdout == f"sharpley {__version__}\n"


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    from sharpley.samplers import minimise

    monkeypatch.setenv("SHARPLEY_CACHE_DIR", str(tmp_path / "cache"))
    minimise.design.cache_clear()
    return tmp_path / "cache"


def test_cache_is_warmed_listed_and_cleared(empty_cache):
    assert call("cache", "list").stdout.strip() == str(empty_cache)
    assert "2 new files in" in call("cache", "warm", "-d", 12, "-d", 13, "-n", 300).stdout
    listed = call("cache", "list").stdout
    assert "design-v1-d12-n300-scale4.0-plain  (300 orderings of 12)" in listed
    assert "design-v1-d13-n300" in listed
    (empty_cache / "design-v1-d12-n300-scale4.0-plain.orderings.npz").write_bytes(b"broken")
    assert "d12-n300-scale4.0-plain  (not valid, will be recomputed)" in call("cache", "list").stdout
    assert "removed 2 files" in call("cache", "clear").stdout
    assert list(empty_cache.iterdir()) == []


def test_data_sets_in_the_cache_are_listed_and_removed_on_request(empty_cache):
    (empty_cache / "data").mkdir(parents=True)
    (empty_cache / "data" / "bank.zip").write_bytes(b"x" * 2000)
    assert "2.0 kB  bank.zip  (data set)" in call("cache", "list").stdout
    assert "removed 0 files" in call("cache", "clear").stdout
    assert "removed 1 files" in call("cache", "clear", "--data").stdout
    assert "bank.zip" not in call("cache", "list").stdout


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "sharpley", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"sharpley {__version__}\n"


def test_warming_for_a_budget_stores_the_samples_that_explanations_use(empty_cache):
    from sharpley import shapley_values
    from sharpley.samplers import minimise

    call("cache", "warm", "-d", 12, "--max-evals", 2000)
    stored = sorted(path.name for path in empty_cache.iterdir())
    assert any(name.startswith("design-") for name in stored)
    assert any(name.startswith("nested-") for name in stored)
    minimise.design.cache_clear()
    shapley_values(lambda coalitions: coalitions.sum(axis=1) ** 2.0, 12, method="design", max_evals=2000, rng=0)
    assert sorted(path.name for path in empty_cache.iterdir()) == stored
    assert "give numbers of orderings" in call("cache", "warm", "-d", 12, code=2).stderr


def test_listing_a_disabled_cache_reports_that_it_is_off(monkeypatch):
    monkeypatch.setenv("SHARPLEY_CACHE_DIR", "")
    assert "the cache is off: SHARPLEY_CACHE_DIR is empty" in call("cache", "list").stdout


def test_warming_rejects_methods_without_cached_samples():
    result = call("cache", "warm", "-d", 5, "-n", 10, "--method", "sobol", code=2)
    assert "unknown method 'sobol'; choose one of 'herding', 'sbq', 'design'" in result.stderr

"""Promises of the package as a whole."""

import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import sharpley

ROOT = Path(__file__).parents[1]
HEAVY = (
    "scipy",
    "numba",
    "pandas",
    "matplotlib",
    "shap",
    "sklearn",
    "joblib",
    "typer",
    "rich",
    "torch",
    "onnxruntime",
    "PIL",
)


def test_import_is_light():
    code = f"import sys, sharpley; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_everything_public_is_exported_and_documented():
    public = {name for name in vars(sharpley) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(sharpley, name))}
    assert public - modules == set(sharpley.__all__) - {"games"}
    for name in sharpley.__all__:
        assert getattr(sharpley, name).__doc__, name


def test_plots_and_adapters_are_found_without_imports_of_their_own():
    code = "import sharpley; sharpley.plotting.intervals; sharpley.adapters.shap.PermutationExplainer"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
    with pytest.raises(AttributeError, match="module 'sharpley' has no attribute 'plot'"):
        sharpley.plot  # noqa: B018


@pytest.mark.parametrize("sampler", sharpley.SAMPLERS.values())
def test_every_sampler_is_public(sampler):
    assert getattr(sharpley, sampler.__name__) is sampler


def test_version_is_the_installed_one():
    assert sharpley.__version__ == version("sharpley")


def test_changelog_and_citation_name_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert re.fullmatch(rf"## {re.escape(sharpley.__version__)} - (unreleased|\d{{4}}-\d\d-\d\d)", newest)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r'^version: "(.*)"$', citation, re.MULTILINE) == [sharpley.__version__]


def test_readme_has_no_relative_links():
    """PyPI shows the README without the other files: relative links would lead nowhere.

    Pictures are shown where there is a source tree; elsewhere, their text takes their place.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"(?<!!)\[[^]]*\]\(([^)]*)\)", text)
    assert targets
    assert all(target.startswith("https://") for target in targets), targets
    for words, picture in re.findall(r"!\[([^]]*)\]\(([^)]*)\)", text):
        assert len(words) > 40
        assert (ROOT / picture).exists() or (ROOT / "PKG-INFO").exists()  # the sdist does not contain docs/results

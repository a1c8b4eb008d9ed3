"""Promises of the package as a whole."""

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import sharpley

HEAVY = ("scipy", "numba", "pandas", "matplotlib", "shap", "sklearn", "joblib", "typer", "rich")


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


@pytest.mark.parametrize("sampler", sharpley.SAMPLERS.values())
def test_every_sampler_is_public(sampler):
    assert getattr(sharpley, sampler.__name__) is sampler


def test_version_is_the_installed_one():
    assert sharpley.__version__ == version("sharpley")

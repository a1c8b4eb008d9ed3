import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first example compiles: no deadline. The same examples on every run: a failure is never a matter of luck.
settings.register_profile("sharpley", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sharpley")


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own(tmp_path_factory):
    """No test reads or writes the cache of the user who runs it."""
    os.environ["SHARPLEY_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def results():
    """The folder docs/results. A clone has it, the sdist does not."""
    root = Path(__file__).parents[1]
    if (root / "PKG-INFO").exists():
        pytest.skip("the sdist does not contain docs/results")
    return root / "docs" / "results"


@pytest.fixture(scope="session")
def fake(tmp_path_factory):
    """A folder with the results of exhibits that are made at once, and the outcome."""
    from fake_exhibits import FAKES

    from sharpley_experiments.paper.reproduce import reproduce

    out = tmp_path_factory.mktemp("fake")
    return out, reproduce(["all"], out, preset="quick", registry=FAKES)


@pytest.fixture(scope="session")
def geometry(tmp_path_factory):
    """A folder with two real exhibits made by the command line, and what it said."""
    from command_line import call

    out = tmp_path_factory.mktemp("geometry")
    return out, call("reproduce", "kendall-distribution", "cayley-graph-4", "--preset", "quick", "--out", out)


@pytest.fixture
def few_rows(monkeypatch):
    """A few rows stand for the data sets."""
    from tiny_datasets import EXPECTED, change

    from sharpley_experiments.common import datasets

    for name, content in EXPECTED.items():
        change(monkeypatch, name, notes={datasets._digest(*content): "a few rows"})


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder of downloaded data sets, in a cache of its own."""
    from sharpley._support import cache as _cache

    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "data"


@pytest.fixture(scope="session")
def geometry_tables():
    """Tables of all geometric figures at the quick preset."""
    from sharpley_experiments.paper.constants import PRESETS
    from sharpley_experiments.paper.exhibits import Context
    from sharpley_experiments.paper.geometry import GEOMETRY

    quick = Context(PRESETS["quick"], Path("nowhere"))  # geometry stores nothing
    return {name: exhibit.compute(quick) for name, exhibit in GEOMETRY.items()}


@pytest.fixture
def no_windows():
    """Pyplot draws without windows, and forgets its figures."""
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


pytest_plugins = ["small_files"]  # fixtures of the tests of batches

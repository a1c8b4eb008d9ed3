import os

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
def fake(tmp_path_factory):
    """A folder with the results of exhibits that are made at once, and the outcome."""
    from fake_exhibits import FAKES

    from sharpley.experiments.reproduce import reproduce

    out = tmp_path_factory.mktemp("fake")
    return out, reproduce(["all"], out, preset="quick", registry=FAKES)


@pytest.fixture(scope="session")
def geometry(tmp_path_factory):
    """A folder with two real exhibits made by the command line, and what it said."""
    from test_cli import call

    out = tmp_path_factory.mktemp("geometry")
    return out, call("reproduce", "kendall-distribution", "cayley-graph-4", "--preset", "quick", "--out", out)

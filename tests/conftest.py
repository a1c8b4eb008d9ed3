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

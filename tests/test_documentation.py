"""The code on the pages that people read first runs as it is printed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/index.md", "docs/images.md", "docs/interactions.md", "docs/valuation.md", "docs/shap.md"],
)
@pytest.mark.filterwarnings("ignore")  # of shap and matplotlib
def test_snippets_run_as_they_are(page, tmp_path, monkeypatch):
    """The snippets of README run each by itself; those of the other pages one after the other."""
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    blocks = [block for block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if ">>>" not in block]
    assert len(blocks) >= (2 if page == "README.md" else 1)
    namespace = {"__name__": "__main__"}
    for block in blocks:
        namespace = {"__name__": "__main__"} if page == "README.md" else namespace
        exec(compile(block, page, "exec"), namespace)
        plt.close("all")


def test_the_quick_start_of_readme_and_documentation_is_the_same():
    readme, index = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/index.md"))
    first = [BLOCK.findall(text)[0].splitlines()[:6] for text in (readme, index)]
    assert first[0] == first[1]

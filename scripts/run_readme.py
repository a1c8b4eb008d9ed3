"""Run the Python code blocks of a README, and of other pages, with the installed package.

Usage: ``python -I scripts/run_readme.py README.md [PAGE ...]``

Blocks with prompts (``>>>``) are run by doctest, all in one session, as somebody would type them from top to bottom.
The other blocks are snippets to paste: each runs by itself, in an empty namespace.
"""

import doctest
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# A snippet is pasted as it is. Only the plots differ: they open no window.
PRELUDE = """
import matplotlib
matplotlib.use("agg")

import warnings
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
"""


def python_blocks(text: str) -> list[tuple[int, str]]:
    """The line in front of each Python block's code, counted from 1, and the code."""
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in BLOCK.finditer(text)]


def run_session(blocks: list[tuple[int, str]], path: Path) -> int:
    """Run blocks with prompts in one session, print what differs, and return the number of failures."""
    parser, runner, session = doctest.DocTestParser(), doctest.DocTestRunner(), {"__name__": "__main__"}
    for line, code in blocks:
        test = parser.get_doctest(code, session, path.name, str(path), line)
        runner.run(test, clear_globs=False)
        session = test.globs  # doctest works on a copy
    return runner.summarize(verbose=False).failed


def run_snippet(line: int, code: str, path: Path) -> None:
    """Run a block without prompts; its lines have the README's numbers in tracebacks."""
    namespace = {"__name__": "__main__"}
    exec(compile(PRELUDE, "<prelude>", "exec"), namespace)
    exec(compile("\n" * line + code, str(path), "exec"), namespace)


def main(path: Path) -> None:
    """Run all blocks; exit code 1 if one of them fails, or if there are none."""
    blocks = python_blocks(path.read_text(encoding="utf-8"))
    with_prompts = [block for block in blocks if block[1].startswith(">>>")]
    snippets = [block for block in blocks if block not in with_prompts]
    if not snippets or (not with_prompts and path.name == "README.md"):
        found = f"{len(with_prompts)} and {len(snippets)}"
        raise SystemExit(f"{path}: expected Python blocks with and without prompts, found {found}")
    for line, code in snippets:
        run_snippet(line, code, path)
    if run_session(with_prompts, path):
        raise SystemExit(1)

    import sharpley

    print(f"{path}: ran {len(snippets)} snippets and {len(with_prompts)} blocks with prompts")
    print(f"with sharpley {sharpley.__version__} from {Path(sharpley.__file__).parent}")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(Path(argument))

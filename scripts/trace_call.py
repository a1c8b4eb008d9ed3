"""The size of the library, and the way of a call through it.

    python scripts/trace_call.py                       # this source tree
    python scripts/trace_call.py --src OTHER/src       # another one, such as an older worktree
    python scripts/trace_call.py --call gp             # one call only, with its files in the order of their first use

The first table counts lines, files, classes, constants and settings. The second counts, for six calls, the files and
functions of the library that run, and how deep they call each other. Nothing is left out: a function counts once,
however often it is called, and so do methods, properties, constructors and generators. The depth is the largest number
of frames of the library on the stack at a time. Compiled functions have no frames, so their callers are the deepest.
Every call is made once before it is traced, so that imports and compilation are not part of it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np


class Trace:
    """Functions of a package that run, with their files, and the depth of their calls."""

    def __init__(self, package: Path) -> None:
        self._root = str(package) + "/"
        self.functions: dict[tuple[str, str], None] = {}
        self.depth = 0

    @property
    def files(self) -> list[str]:
        """The files, in the order of their first use."""
        return list(dict.fromkeys(file for file, _ in self.functions))

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record a call, as ``sys.setprofile`` wants it."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._root):
            return
        self.functions[code.co_filename.removeprefix(self._root), code.co_qualname] = None
        depth, above = 0, frame
        while above is not None:
            depth += above.f_code.co_filename.startswith(self._root)
            above = above.f_back
        self.depth = max(self.depth, depth)


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the calls that are traced, by name."""
    import sharpley
    from sharpley.games import UnanimitySum

    rows = np.random.default_rng(0).normal(size=(400, 12))
    game = UnanimitySum.random(12, n_terms=30, max_order=4, rng=0)

    def model(table: np.ndarray) -> np.ndarray:
        return table[:, 0] * table[:, 1] * table[:, 2] + np.tanh(table).sum(axis=1)

    def explained(n_background: int) -> Any:
        return sharpley.Explainer(model, rows[:n_background], rng=0)(rows[300:304])

    return {
        "Orthogonal(10).random(36)": lambda: sharpley.Orthogonal(10, rng=0).random(36),
        "shapley_values, orthogonal": lambda: sharpley.shapley_values(game, method="orthogonal", rng=0),
        "shapley_values, gp": lambda: sharpley.shapley_values(game, method="gp", rng=0),
        "Explainer, 300 background rows": lambda: explained(300),
        "Explainer, 50 background rows": lambda: explained(50),
        "sharpley explain": lambda: _command_line(folder, rows),
    }


def _command_line(folder: Path, rows: np.ndarray) -> None:
    """Explain ten rows of a file."""
    import pandas as pd

    from sharpley.app.cli import app

    table = pd.DataFrame(rows[:60, :6], columns=list("abcdef"))
    table.to_csv(folder / "background.csv", index=False)
    table[:10].to_csv(folder / "rows.csv", index=False)
    (folder / "traced_model.py").write_text("def predict(frame):\n    return frame.prod(axis=1).to_numpy()\n")
    sys.path.insert(0, str(folder))
    files = ["--data", folder / "rows.csv", "--background", folder / "background.csv"]
    options = ["--model", "traced_model:predict", *files, "--out", folder / "out", "--restart"]
    with contextlib.redirect_stdout(io.StringIO()):
        app(["explain", *map(str, options)], standalone_mode=False)


def traced(call: Callable[[], Any], package: Path) -> Trace:
    """Trace a call."""
    call()
    trace = Trace(package)
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return trace


def size_of(package: Path) -> dict[str, int]:
    """Count lines, files, classes, functions, constants of modules, and settings of "gp"."""
    from sharpley.estimators import GPSettings

    sources = {path: path.read_text() for path in sorted(package.rglob("*.py"))}
    trees = [ast.parse(source) for source in sources.values()]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    assigned = [
        target
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {
        "lines": sum(source.count("\n") for source in sources.values()),
        "files": len(sources),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "functions": sum(isinstance(node, ast.FunctionDef) for node in nodes),
        "module constants": sum(isinstance(name, ast.Name) and name.id.isupper() for name in assigned),
        "settings of gp": _n_settings(GPSettings()),
        "lines of gp": sum(source.count("\n") for path, source in sources.items() if "gp" in path.parts),
    }


def _n_settings(settings: Any) -> int:
    """Count the fields of settings, those of settings within them included."""
    values = [getattr(settings, each.name) for each in fields(settings)]
    return sum(_n_settings(value) if hasattr(value, "__dataclass_fields__") else 1 for value in values)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--call", help="part of the name of a call: trace only this one, and list its files")
    options = parser.parse_args()
    sys.path.insert(0, str(options.src.resolve()))
    warnings.simplefilter("ignore")
    import sharpley

    package = Path(sharpley.__file__).parent
    if options.call is None:
        sizes = size_of(package)
        print("| " + " | ".join(sizes) + " |\n|" + "--:|" * len(sizes))
        print("| " + " | ".join(f"{count:,}" for count in sizes.values()) + " |\n")
    print("| call | files | functions | depth |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            if options.call is None or options.call in name:
                trace = traced(call, package)
                print(f"| {name} | {len(trace.files)} | {len(trace.functions)} | {trace.depth} |")
                if options.call is not None:
                    print("\n".join(trace.files))


if __name__ == "__main__":
    main()

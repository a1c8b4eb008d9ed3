"""The way of one call through the code: how many files, functions and rooms ``Explainer(...)(X)`` passes.

    python scripts/trace_call.py                       # this source tree
    python scripts/trace_call.py --src OTHER/src       # another one, such as an older worktree

A function counts once, however often it is called, and a *switch* is a call of a function in another file than that of
the function called before it; first visits are switches between functions that are called for the first time, which
is what a reader of the code follows (loops repeat the same way). A room is a folder, or a file of the package itself;
it is *entered* by a call from another room, unless it is already at work further up the stack; a generator that goes on
is not entered again. Four columns tell apart what an entry means:

- *flow*: rooms that do a part of the work, which should be entered once (samplers twice, to draw and to weigh);
- *made*: objects of such rooms that are made, to be set to work later, and declared facts that are read there, such as
  the least budget of a method;
- *games*: what the engine asks the games for, which are the evaluations and facts such as the number of draws;
- *vocabulary*: rooms at the bottom of the import contract, whose types and functions every room uses as it uses NumPy.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from inspect import CO_GENERATOR
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

METHODS = {"gp": "shared", "antithetic": "shared", "antithetic, own draws": "own"}
MAKES_OR_TELLS = ("__init__", "least_budget")
VOCABULARY = ("_support", "coalitions", "indices", "permutations", "result", "presentation")


class Trace:
    """Calls of a package's functions."""

    def __init__(self, package: Path) -> None:
        self._root = str(package) + "/"
        self.calls: list[tuple[str, str]] = []
        self.entries: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.rooms: list[str] = []
        self._generators: dict[int, FrameType] = {}

    def file_of(self, frame: FrameType) -> str | None:
        """The file of a frame, relative to the package; None if it is not the package's."""
        path = frame.f_code.co_filename
        return path.removeprefix(self._root) if path.startswith(self._root) else None

    def _goes_on(self, frame: FrameType) -> bool:
        """Return whether the frame is that of a generator that was called before."""
        if not frame.f_code.co_flags & CO_GENERATOR:
            return False
        known = id(frame) in self._generators
        self._generators[id(frame)] = frame  # kept, so that no other frame gets the same number
        return known

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record a call, as ``sys.setprofile`` wants it."""
        file = self.file_of(frame)
        if event != "call" or file is None or self._goes_on(frame):
            return
        self.calls.append((file, frame.f_code.co_qualname))
        room = room_of(file)
        above, at_work = frame.f_back, False
        while above is not None and not at_work:
            caller = self.file_of(above)
            at_work = caller is not None and room_of(caller) == room
            above = above.f_back
        if not at_work and frame.f_code.co_name in MAKES_OR_TELLS:
            self.made[room] += 1
        elif not at_work:
            self.entries[room] += 1
            if not self.rooms or self.rooms[-1] != room:
                self.rooms.append(room)


def room_of(file: str) -> str:
    """The folder of a file, or the file's own name."""
    return file.partition("/")[0].removesuffix(".py")


def switches(calls: list[tuple[str, str]]) -> int:
    """How often consecutive calls are of functions in different files."""
    return sum(first[0] != second[0] for first, second in pairwise(calls))


def traced(method: str, draws: str) -> Trace:
    """Trace the call of an explainer; a call before it compiles and imports."""
    import sharpley

    rows = np.random.default_rng(0).normal(size=(60, 12))

    def model(table: np.ndarray) -> np.ndarray:
        return table[:, 0] * table[:, 1] * table[:, 2] + np.tanh(table).sum(axis=1)

    def explainer() -> Any:
        return sharpley.Explainer(model, rows[:20], method=method, draws=draws, rng=0)

    explainer()(rows[30:34])
    fresh = explainer()
    trace = Trace(Path(sharpley.__file__).parent)
    sys.setprofile(trace)
    try:
        fresh(rows[30:34])
    finally:
        sys.setprofile(None)
    return trace


def named(entries: Counter[str]) -> str:
    """The rooms of the flow with their numbers of entries."""
    return ", ".join(f"{room} {count}" for room, count in entries.items() if room not in (*VOCABULARY, "games"))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=Path, default=Path(__file__).parents[1] / "src")
    sys.path.insert(0, str(parser.parse_args().src.resolve()))
    warnings.simplefilter("ignore")
    print("| method | files | functions | file switches | on first visits | flow | made | games | vocabulary |")
    print("|---|--:|--:|--:|--:|---|---|--:|--:|")
    for label, draws in METHODS.items():
        trace = traced(label.partition(",")[0], draws)
        distinct = list(dict.fromkeys(trace.calls))
        files = {file for file, _ in distinct}
        counts = f"{len(files)} | {len(distinct)} | {switches(trace.calls)} | {switches(distinct)}"
        flow, made = named(trace.entries), named(trace.made)
        everything = trace.entries + trace.made
        words = sum(everything[room] for room in VOCABULARY)
        print(f"| {label} | {counts} | {flow} | {made} | {everything['games']} | {words} |")


if __name__ == "__main__":
    main()

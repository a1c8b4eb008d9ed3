"""How deep a call goes: a reader who follows it from the public function to the arithmetic keeps its way in mind.

``python scripts/trace_call.py`` prints the same numbers, with those of files and functions.
"""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "trace_call.py"
DEEPEST = {
    "Orthogonal(10).random(36)": 5,
    "shapley_values, orthogonal": 13,
    "shapley_values, gp": 13,
    "Explainer, 300 background rows": 16,
    "Explainer, 50 background rows": 16,
    "sharpley explain": 21,
}


@pytest.fixture(scope="module")
def depths():
    """The depth of each call, from a process with its own profiler."""
    printed = subprocess.run([sys.executable, SCRIPT], check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines() if line.startswith("|")]
    return {row[0]: int(row[3]) for row in rows if row[0] in DEEPEST}


@pytest.mark.parametrize("call", DEEPEST)
def test_no_call_is_deeper_than_this(depths, call):
    assert depths[call] <= DEEPEST[call]

"""The way of a call: every room that does a part of the work is entered once."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "trace_call.py"


@pytest.fixture(scope="module")
def flows():
    """Entries of each room of the flow, by method; a process of its own, since tracing needs its own profiler."""
    printed = subprocess.run([sys.executable, SCRIPT], check=True, capture_output=True, text=True).stdout
    header, _, *lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines()]
    flow = header.index("flow")
    return {line[0]: {room: int(n) for room, n in map(str.split, line[flow].split(", "))} for line in lines}


@pytest.mark.parametrize("method", ["gp", "antithetic", "antithetic, own draws"])
def test_no_room_is_entered_twice(flows, method):
    entries = dict(flows[method])
    # Orderings are drawn, and weighed once their number is known.
    assert entries.pop("samplers", 1) <= 2
    assert entries == {"explainer": 1, "estimation": 1, "engine": 1, "estimators": 1, "adapters": 1}

"""Memory and processor time of processes and all that they started, from Linux's /proc; rows per second from files."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats

SECONDS_BETWEEN_LOOKS = 0.25
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # of the processor time in /proc, in a second


class Looks(NamedTuple):
    """What was seen while calls ran: one entry of each array for every look."""

    times: Floats
    """Seconds since 1970, as those of files."""
    processor: Floats
    """Processor time of all processes that this one has started, in seconds."""
    memory: Floats
    """Resident memory of the processes of the calls, in MB."""


def watched(commands: Sequence[Sequence[str]], folder: Path) -> Looks:
    """Run commands at the same time in a folder, and return what was seen of their processes until all had ended.

    Raises
    ------
    RuntimeError
        If one of them ended with an error.
    """
    looks = []
    calls = [subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) for command in commands]
    while any(call.poll() is None for call in calls):
        memory = sum(map(_resident, family({call.pid for call in calls})))
        looks.append((time.time(), _started_seconds(), memory))
        time.sleep(SECONDS_BETWEEN_LOOKS)
    for call, command in zip(calls, commands, strict=True):
        if call.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with code {call.returncode}")
    return Looks(*np.array(looks).T)


class Steady(NamedTuple):
    """What runs did once all their workers were busy, and before the first of them had nothing to do."""

    rate: float
    """Rows per second."""
    milliseconds: float
    """Processor time for a row."""


def steady(runs: Sequence[Path], rows_per_part: int, workers: int, looks: Looks) -> Steady:
    """Return what runs did in their middle, by the times of the files that they wrote.

    Parameters
    ----------
    runs : sequence of Path
        The folders of the results of runs that were made at the same time.
    rows_per_part : int
    workers : int
        Number of workers of each run, which has at least three parts for each worker, and one more.
    looks : Looks
        What was seen in the meantime.
    """
    finished = [sorted(path.stat().st_mtime for path in run.glob("*.parquet")) for run in runs]
    start = max(times[2 * workers - 1] for times in finished)
    end = min(times[-workers] for times in finished)
    if start >= end:  # runs so short that they were not busy at the same time: from the first file to the last
        start, end = min(times[0] for times in finished), max(times[-1] for times in finished)
    rows = rows_per_part * sum(start < moment <= end for times in finished for moment in times)
    used = np.interp([start, end], looks.times, looks.processor)
    return Steady(rows / (end - start), 1000 * float(used[1] - used[0]) / rows)


def family(pids: set[int]) -> set[int]:
    """Return processes with their descendants."""
    parents = dict(filter(None, map(_parent, Path("/proc").glob("[0-9]*"))))
    found = set(pids)
    while fresh := {child for child, parent in parents.items() if parent in found} - found:
        found |= fresh
    return found


def _parent(folder: Path) -> tuple[int, int] | None:
    fields = _fields(int(folder.name))
    return None if fields is None else (int(folder.name), int(fields[1]))


def _started_seconds() -> float:
    """Return the processor time of all processes that this one, or they, started, whether they run or have ended."""
    seen = [fields for pid in family({os.getpid()}) if (fields := _fields(pid)) is not None]
    own = os.times()
    return sum(int(ticks) for fields in seen for ticks in fields[11:15]) / TICKS - own.user - own.system


def _fields(pid: int) -> list[str] | None:
    """Return what /proc knows of a process, from its state on; None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _resident(pid: int) -> float:
    """Return the resident memory of a process in MB; pages that several share count for each."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:"))

"""Memory of a process and of all that it started, from Linux's /proc."""

from __future__ import annotations

from pathlib import Path


def tree_memory(pid: int) -> float:
    """Return the resident memory of a process and its descendants, in MB; pages that they share count once for each."""
    parents = dict(filter(None, map(_parent, Path("/proc").glob("[0-9]*"))))
    family = {pid}
    while fresh := {child for child, parent in parents.items() if parent in family} - family:
        family |= fresh
    return sum(map(_resident, family))


def _parent(folder: Path) -> tuple[int, int] | None:
    try:
        after_name = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return int(folder.name), int(after_name[1])
    except (OSError, IndexError):  # it has ended
        return None


def _resident(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:"))

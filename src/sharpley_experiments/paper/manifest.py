"""The manifest of a folder of results: preset, date, versions and run time of each exhibit."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sharpley import __version__
from sharpley._support.atomic import replacing
from sharpley_experiments.common.versions import installed_version

FILE_NAME = "manifest.json"
LIBRARIES = ("numpy", "scipy", "xgboost", "scikit-learn")


@dataclass(frozen=True)
class Record:
    """How one exhibit was produced.

    Attributes
    ----------
    preset : str
        Name of the preset.
    seconds : float
        Duration of the longest run with these settings: later runs reuse stored cells, so their duration says little.
    date : str
        Date and time at which the exhibit was finished.
    made_with : dict of str
        Versions of libraries, and the machine.
    error : str
        Why the exhibit could not be produced; empty if it was.
    """

    preset: str
    seconds: float
    date: str
    made_with: dict[str, str]
    error: str = ""


def environment() -> dict[str, str]:
    """Versions of the libraries that results depend on, and the machine."""
    found = {"sharpley": __version__, **{library: installed_version(library) for library in LIBRARIES}}
    return {**found, "python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}


def new_record(preset: str, seconds: float, error: str, earlier: Record | None) -> Record:
    """Make the record of an exhibit that has just been produced."""
    made_with = environment()
    if earlier and not earlier.error and (earlier.preset, earlier.made_with) == (preset, made_with):
        seconds = max(seconds, earlier.seconds)
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Record(preset, round(seconds, 2), date, made_with, error)


def read(folder: Path) -> dict[str, Record]:
    """Read the records of a folder by exhibit; there are none if the manifest is missing or cannot be read."""
    try:
        stored = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        return {name: Record(**record) for name, record in stored["exhibits"].items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write(folder: Path, records: dict[str, Record], last: Record) -> None:
    """Write all records; ``last`` is the record of the exhibit that was produced last."""
    content = {
        "preset": last.preset,
        "date": last.date,
        "made_with": last.made_with,
        "exhibits": {name: asdict(record) for name, record in records.items()},
    }
    with replacing(folder / FILE_NAME) as stream:  # the manifest is complete even if the run is killed
        stream.write((json.dumps(content, indent=1) + "\n").encode())

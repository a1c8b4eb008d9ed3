"""Check the sdist and the wheel in a folder: sizes, and that the wheel has every file of the packages, data included.

Usage: ``python scripts/check_dist.py dist``, from the root of the repository.
"""

import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

MAX_SDIST_BYTES = 1_000_000
SOURCE = Path("src")


def only(folder: Path, pattern: str) -> Path:
    """The one file in a folder that matches a pattern; more or fewer are an error."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = [path.name for path in found]
        raise SystemExit(f"{folder} must have exactly one {pattern}, but has {names}: run make dist")
    return found[0]


def package_files() -> set[str]:
    """Every file of the packages, relative to the source folder."""
    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCE).as_posix() for path in files}


def check_wheel(path: Path) -> None:
    """Raise SystemExit unless the wheel has the files of the packages and no others."""
    with ZipFile(path) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = package_files()
    if packed != expected:
        raise SystemExit(f"{path}: missing {sorted(expected - packed)}, unexpected {sorted(packed - expected)}")
    print(f"{path}: {path.stat().st_size:,} bytes, {len(packed)} files of the packages")


def check_sdist(path: Path) -> None:
    """Raise SystemExit unless the sdist is small."""
    size = path.stat().st_size
    if size >= MAX_SDIST_BYTES:
        with tarfile.open(path) as archive:
            largest = sorted(archive.getmembers(), key=lambda member: -member.size)[:5]
        names = ", ".join(f"{member.name} ({member.size:,})" for member in largest)
        raise SystemExit(f"{path}: {size:,} bytes, must be below {MAX_SDIST_BYTES:,}; the largest files are {names}")
    print(f"{path}: {size:,} bytes")


if __name__ == "__main__":
    dist = Path(sys.argv[1])
    check_sdist(only(dist, "*.tar.gz"))
    check_wheel(only(dist, "*.whl"))

"""Versions of installed libraries, on which results depend."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version(library: str) -> str:
    """Version of a library, or "not installed"."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def with_version(library: str) -> str:
    """Name and version of a library, such as "xgboost 3.2.0"."""
    return f"{library} {installed_version(library)}"

"""Versions of installed libraries: results depend on them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version(library: str) -> str:
    """Of a library, if it is there."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def with_version(library: str) -> str:
    """Such as "xgboost 3.2.0"."""
    return f"{library} {installed_version(library)}"

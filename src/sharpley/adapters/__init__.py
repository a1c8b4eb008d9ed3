"""Conversion of results to the types of other libraries, which are imported on first use."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name == "shap":
        return import_module("sharpley.adapters.shap")
    raise AttributeError(f"module 'sharpley.adapters' has no attribute {name!r}")

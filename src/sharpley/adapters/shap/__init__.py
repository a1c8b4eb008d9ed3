"""What shap's users know: its explanations, and explainers with the interface of shap's own.

``PermutationExplainer``, ``KernelExplainer``, ``ExactExplainer`` and ``SamplingExplainer`` import shap, so they are
loaded when they are asked for.
"""

from typing import Any

from sharpley.adapters.shap.explanation import to_explanation

EXPLAINERS = ("ExactExplainer", "KernelExplainer", "PermutationExplainer", "SamplingExplainer")

__all__ = ["ExactExplainer", "KernelExplainer", "PermutationExplainer", "SamplingExplainer", "to_explanation"]


def __getattr__(name: str) -> Any:
    if name not in EXPLAINERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = "kernel" if name in ("KernelExplainer", "SamplingExplainer") else "permutation"
    return getattr(import_module(f"{__name__}.{module}"), name)

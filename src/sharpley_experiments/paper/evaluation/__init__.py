"""The paper's evaluation: errors of Shapley values against the number of marginal evaluations, and the claims."""

from __future__ import annotations

from sharpley_experiments.paper.evaluation.figures import CURVES

__all__ = ["CURVES"]

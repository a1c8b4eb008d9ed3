"""The paper's evaluation: errors of Shapley values against the number of marginal evaluations, and the claims."""

from __future__ import annotations

from sharpley_experiments.paper.evaluation.blocks import BLOCKS
from sharpley_experiments.paper.evaluation.clustering import CLUSTERING
from sharpley_experiments.paper.evaluation.figures import CURVES as FIGURES
from sharpley_experiments.paper.evaluation.own_draws import OWN_DRAWS

CURVES = {**FIGURES, **{exhibit.name: exhibit for exhibit in (BLOCKS, CLUSTERING, OWN_DRAWS)}}

__all__ = ["CURVES"]

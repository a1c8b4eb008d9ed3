"""Accurate Shapley values from few model evaluations, with honest error bars.

Importing this package imports numpy and nothing heavier: scipy, numba and the rest are loaded on first use.
"""

import importlib as _importlib
from types import ModuleType as _ModuleType

from sharpley import games
from sharpley._support import shap_names as _shap_names
from sharpley.engine.methods import METHODS, SAMPLERS, MethodRecord
from sharpley.engine.progress import LongRunWarning
from sharpley.engine.timing import EstimatorTimeWarning
from sharpley.estimation import estimate
from sharpley.explainer import Explainer
from sharpley.forecast import Forecast
from sharpley.games import Background, Games, MarginalGame, RandomModelWarning
from sharpley.games.tiles.memory import BatchHalvedWarning
from sharpley.image_result import ImageEstimate
from sharpley.images import ImageExplainer
from sharpley.mean import PermutationMean, permutation_mean
from sharpley.permutations.kernels import Kendall, Kernel, Mallows, Spearman
from sharpley.permutations.orderings import all_orderings, discordant_pairs, ranks_of
from sharpley.permutations.quadrature import discrepancy, quadrature_weights
from sharpley.result import InteractionEstimate, ShapleyEstimate, load
from sharpley.samplers import (
    Antithetic,
    KernelHerding,
    MonteCarlo,
    Orthogonal,
    PermutationDesign,
    Sampler,
    SequentialBayesianQuadrature,
    Sobol,
)
from sharpley.shapley import from_orderings, shapley_values
from sharpley.valuation import DataValuation

__version__ = "0.2.0"

__all__ = [
    "METHODS",
    "SAMPLERS",
    "Antithetic",
    "Background",
    "BatchHalvedWarning",
    "DataValuation",
    "EstimatorTimeWarning",
    "Explainer",
    "Forecast",
    "Games",
    "ImageEstimate",
    "ImageExplainer",
    "InteractionEstimate",
    "Kendall",
    "Kernel",
    "KernelHerding",
    "LongRunWarning",
    "Mallows",
    "MarginalGame",
    "MethodRecord",
    "MonteCarlo",
    "Orthogonal",
    "PermutationDesign",
    "PermutationMean",
    "RandomModelWarning",
    "Sampler",
    "SequentialBayesianQuadrature",
    "ShapleyEstimate",
    "Sobol",
    "Spearman",
    "all_orderings",
    "discordant_pairs",
    "discrepancy",
    "estimate",
    "from_orderings",
    "games",
    "load",
    "permutation_mean",
    "quadrature_weights",
    "ranks_of",
    "shapley_values",
]


def __getattr__(name: str) -> _ModuleType:
    if name in ("adapters", "plotting"):  # they need matplotlib or shap, so they are loaded when they are asked for
        return _importlib.import_module(f"sharpley.{name}")
    raise AttributeError(f"module 'sharpley' has no attribute {name!r}{_shap_names.hint(name, _shap_names.OF_PACKAGE)}")

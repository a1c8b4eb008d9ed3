"""Accurate Shapley values from few model evaluations, with honest error bars.

Importing this package imports numpy and nothing heavier: scipy, numba and the rest are loaded on first use.
"""

from sharpley.kernels import Kendall, Kernel, Mallows, Spearman
from sharpley.mean import PermutationMean, permutation_mean
from sharpley.permutations import all_orderings, discordant_pairs, ranks_of
from sharpley.quadrature import discrepancy, quadrature_weights
from sharpley.samplers import (
    SAMPLERS,
    Antithetic,
    KernelHerding,
    MonteCarlo,
    Orthogonal,
    Sampler,
    SequentialBayesianQuadrature,
    Sobol,
)

__version__ = "0.1.0"

METHODS: tuple[str, ...] = tuple(SAMPLERS)
"""Every name that ``method=`` takes."""

__all__ = [
    "METHODS",
    "SAMPLERS",
    "Antithetic",
    "Kendall",
    "Kernel",
    "KernelHerding",
    "Mallows",
    "MonteCarlo",
    "Orthogonal",
    "PermutationMean",
    "Sampler",
    "SequentialBayesianQuadrature",
    "Sobol",
    "Spearman",
    "all_orderings",
    "discordant_pairs",
    "discrepancy",
    "permutation_mean",
    "quadrature_weights",
    "ranks_of",
]

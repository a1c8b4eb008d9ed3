"""Samplers of permutations, one family a file; ``sharpley.SAMPLERS`` has their names."""

from __future__ import annotations

from sharpley.samplers.base import Sampler
from sharpley.samplers.design import PermutationDesign
from sharpley.samplers.herding import KernelHerding
from sharpley.samplers.monte_carlo import Antithetic, MonteCarlo
from sharpley.samplers.orthogonal import Orthogonal
from sharpley.samplers.sbq import SequentialBayesianQuadrature
from sharpley.samplers.sobol import Sobol

__all__ = [
    "Antithetic",
    "KernelHerding",
    "MonteCarlo",
    "Orthogonal",
    "PermutationDesign",
    "Sampler",
    "SequentialBayesianQuadrature",
    "Sobol",
]

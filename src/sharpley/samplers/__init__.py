"""Samplers of permutations, one family a file, and the one registry of their names."""

from __future__ import annotations

from sharpley._support.checks import check_choice
from sharpley._support.typing import RNG
from sharpley.samplers.base import Sampler
from sharpley.samplers.design import PermutationDesign
from sharpley.samplers.herding import KernelHerding
from sharpley.samplers.monte_carlo import Antithetic, MonteCarlo
from sharpley.samplers.orthogonal import Orthogonal
from sharpley.samplers.sbq import SequentialBayesianQuadrature
from sharpley.samplers.sobol import Sobol

SAMPLERS: dict[str, type[Sampler]] = {
    "monte-carlo": MonteCarlo,
    "antithetic": Antithetic,
    "orthogonal": Orthogonal,
    "sobol": Sobol,
    "herding": KernelHerding,
    "sbq": SequentialBayesianQuadrature,
    "design": PermutationDesign,
}
"""Every permutation sampler by its ``method=`` name."""


def sampler_by_name(method: str, d: int, *, rng: RNG = None) -> Sampler:
    """Make a sampler with default settings; an unknown name is an error that lists the known ones."""
    return SAMPLERS[check_choice("method", method, SAMPLERS)](d, rng=rng)


__all__ = [
    "SAMPLERS",
    "Antithetic",
    "KernelHerding",
    "MonteCarlo",
    "Orthogonal",
    "PermutationDesign",
    "Sampler",
    "SequentialBayesianQuadrature",
    "Sobol",
    "sampler_by_name",
]

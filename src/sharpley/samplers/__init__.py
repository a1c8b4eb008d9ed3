"""Samplers of orderings, one module for each family, and the registry of their names."""

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
"""All samplers of orderings by the name that ``method=`` accepts, for instance ``SAMPLERS["sobol"](10, rng=0)``."""


def sampler_by_name(method: str, d: int, *, rng: RNG = None) -> Sampler:
    """Return a sampler with default settings; an unknown name raises an error that lists the known ones.

    Examples
    --------
    >>> sampler_by_name("antithetic", 5, rng=0)
    Antithetic(d=5)
    """
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

"""All settings of method "gp"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GPSettings:
    """Settings of "gp": how it chooses coalitions, learns hyperparameters and assesses its own accuracy.

    The defaults were chosen by measurements (``sharpley_experiments.studies.gp_versions``).
    """

    growth: float = 0.25
    pool: int = 1024
    judged_evals_per_player: float = 4.0
    hard_error_share: float = 0.3
    few_values: float = 0.3
    middle_share: float = 0.3
    learnt: int = 500
    first_iterations: int = 40
    iterations: int = 15
    pilot_games: int = 10
    refitted_games: int = 100
    typical_scale: float = 0.15
    scale_spread: float = 2.0**0.5
    other_spread: float = 3.0
    size_median: float = 0.01
    noise_median: float = 1e-4
    refit_narrowing: float = 0.4
    foreseen_share: float = 0.12
    foreseen_share_of_few: float = 0.6
    smaller_share: float = 1 / 3


DEFAULT_SETTINGS = GPSettings()

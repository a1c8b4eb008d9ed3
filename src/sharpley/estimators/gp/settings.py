"""All settings of method "gp"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GPSettings:
    """Settings of "gp": how it chooses coalitions, learns hyperparameters and assesses its own accuracy.

    The defaults were chosen by measurements; ``sharpley_experiments.studies.gp_versions`` compares others with them.

    Attributes
    ----------
    growth : float
        Number of coalitions that are chosen at a time, as a multiple of those that are known.
    pool : int
        Number of candidates from which they are chosen, in addition to complements of known coalitions.
    most_single : int
        Budget up to which single coalitions are chosen by information; with more, further ones come in pairs.
    judged_evals_per_player : float
        Evaluations for each player in the first stage, which decides between single coalitions and pairs.
    few_values : float
        Pairs are chosen if the values of the first stage have fewer distinct ones than this share.
    paired_evals_per_player : float
        Evaluations for each player below which single coalitions are chosen in any case.
    most_pairs : int
        Maximum number of pairs that the process is conditioned on; a regression on all others corrects it.
    learnt : int
        Maximum number of values that hyperparameters are learnt from.
    iterations : int
        Maximum number of L-BFGS iterations in searches that continue an earlier one.
    pilot_games : int
        Maximum number of games that hyperparameters are learnt from together.
    refitted_games : int
        Maximum number of games with hyperparameters of their own; the others share these.
    typical_scale : float
        Prior median of the geometric mean of the players' scales h_j.
    scale_spread : float
        Prior standard deviation of log h_j around the mean of all players.
    parity_spread : float
        Prior standard deviation of the log ratio of the variances of odd and even interactions.
    other_spread : float
        Prior standard deviation of the mean of log h_j, and of the logarithms of all variances.
    size_median, least_median : float
        Prior medians of the variance of effects of size, and of those of linear effects that vary with size and of
        noise; the medians of all other variances are 1.
    refit_narrowing : float
        Factor by which all prior standard deviations are multiplied when a game is refitted.
    foreseen_share, foreseen_share_of_few : float
        Share of a regression's variance, with the errors at coalitions that were foreseen before they were evaluated,
        that a value has at least; the latter if a game has few distinct values.

    Examples
    --------
    Pairs from the second stage on, whatever the errors of the first one:

    >>> from functools import partial
    >>> import sharpley
    >>> from sharpley.estimators import GaussianProcessEstimator, GPSettings
    >>> method = partial(GaussianProcessEstimator, settings=GPSettings(most_single=0))
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0, 8.0, 8.0, 9.0, 9.0, 10.0))
    >>> found = sharpley.shapley_values(game, method=method, max_evals=120, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 0.2)
    True
    """

    growth: float = 0.25
    pool: int = 1024
    most_single: int = 1600
    judged_evals_per_player: float = 1.0
    few_values: float = 0.7
    paired_evals_per_player: float = 10.0
    most_pairs: int = 3000
    learnt: int = 500
    iterations: int = 15
    pilot_games: int = 10
    refitted_games: int = 100
    typical_scale: float = 0.15
    scale_spread: float = 2.0**0.5
    parity_spread: float = 0.5
    other_spread: float = 3.0
    size_median: float = 0.01
    least_median: float = 1e-4
    refit_narrowing: float = 0.4
    foreseen_share: float = 0.18
    foreseen_share_of_few: float = 1.2


DEFAULT_SETTINGS = GPSettings()

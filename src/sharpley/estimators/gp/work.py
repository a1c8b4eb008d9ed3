"""The amount of linear algebra in "gp", computed in advance; a test compares it with the operations that are done."""

from __future__ import annotations

from sharpley.estimators.gp.estimator import least_budget, stage_size
from sharpley.estimators.gp.many import FIRST_ITERATIONS, REFITTED_VALUES, most_learnt
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings

OPERATIONS_PER_LIKELIHOOD = 2.0  # as a multiple of n³: a factor and its inverse


def work(d: int, budget: int, n_games: int, settings: GPSettings = DEFAULT_SETTINGS) -> float:
    """Return the approximate number of floating-point operations of an estimate.

    One core does 10 to 20 billion of them in a second. Games with few distinct values may take less, since their
    coalitions come in pairs.

    Parameters
    ----------
    d : int
        Number of players.
    budget : int
        Number of coalitions evaluated.
    n_games : int
        Number of games: rows times outputs.
    settings : GPSettings, optional
    """
    are_pairs = budget > settings.most_single
    n = float(least_budget(d))
    total = _search(n, d, FIRST_ITERATIONS, settings)
    while n < budget:
        more = float(min(stage_size(int(n), d, settings), budget - n))
        if are_pairs and n >= settings.judged_evals_per_player * d:
            more = min(2.0 * more, budget - n)
            n += more
            total += 2.0 * _search(n / 2.0, d, settings.iterations, settings)
            continue
        pool = min(2.0 ** min(d, 60), settings.pool + 2.0 * d + min(2.0 * n, settings.pool))
        total += n**3 / 3.0 + pool * (n + d) * (n + 2.0 * more)
        n += more
        total += _search(n, d, settings.iterations, settings)
    values, blocks = (min(n / 2.0, settings.most_pairs), 2.0) if are_pairs else (n, 1.0)
    conditioning = values**3 / 3.0 + values**2 * d + 10.0 * d**3
    foreseen = values**3 + values**2 * n_games
    if n_games == 1 or values > REFITTED_VALUES:
        return total + conditioning + foreseen + n_games * values**2
    refit = blocks * _search(values, d, settings.iterations, settings)
    if n_games <= settings.refitted_games:
        return total + foreseen + n_games * (refit + conditioning + values**2)
    # Every set is factorised twice: to see which games it suits, and for those games.
    judging = (1.0 + blocks) * conditioning + blocks * n_games * values**2
    return total + foreseen + settings.refitted_games * (refit + judging)


def _search(n: float, d: int, iterations: int, settings: GPSettings) -> float:
    """Return the number of operations of a search for hyperparameters that uses all of its iterations."""
    return iterations * OPERATIONS_PER_LIKELIHOOD * min(n, most_learnt(d, settings)) ** 3

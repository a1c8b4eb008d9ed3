"""The amount of linear algebra in "gp", computed in advance; a test compares it with the operations that are done."""

from __future__ import annotations

from sharpley.estimators.gp.estimator import is_unpaired
from sharpley.estimators.gp.fitting import Effort, pilot_effort, refit_effort
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.gp.unpaired import least_budget, stage_size

# Operations of an iteration, as a multiple of n³: factors and inverses for the odd and for the even part.
OPERATIONS_PER_LIKELIHOOD = 4.0
OPERATIONS_PER_WHOLE_LIKELIHOOD = 2.0  # as above, for whole games, which are not divided into two parts


def work(d: int, budget: int, n_games: int, settings: GPSettings = DEFAULT_SETTINGS) -> float:
    """Return the approximate number of floating-point operations of an estimate.

    One core does 10 to 20 billion of them in a second.

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
    if is_unpaired(d, budget, settings):
        return _work_unpaired(d, budget, n_games, settings)
    pairs = float(min(budget // 2, settings.most_pairs))
    pilot = _work_of_pilot(pairs, d, n_games, settings)
    conditioning = pairs**3 / 3.0 + 2.0 * pairs**2 * d + d**4 / 4.0
    of_game = _work_on_triples(pairs, d, settings) + 2.0 * pairs**2
    if not settings.refits(n_games, int(pairs)):
        if n_games > settings.refitted_games:
            return pilot + conditioning + 2.0 * n_games * pairs**2
        return pilot + conditioning + n_games * of_game
    refit = _work_of_search(pairs, refit_effort(d, settings))
    if n_games <= settings.refitted_games:
        return pilot + n_games * (refit + conditioning + of_game)
    # Every set of the bank is factorised twice: to see which games it suits, and for those games.
    suiting = n_games * pairs**2
    of_set = refit + 2.0 * conditioning + suiting
    bank = settings.refitted_games * of_set
    if (
        settings.own_set_error_for(d) > 0
    ):  # games may be too different for a bank: what is counted is the most that is done
        bank = max(bank, settings.first_refits * of_set + n_games * (refit + conditioning))
    return pilot + bank + n_games * of_game


def _work_of_pilot(pairs: float, d: int, n_games: int, settings: GPSettings) -> float:
    """Return the number of operations before games are looked at one by one, the first stage included."""
    effort = pilot_effort(d, n_games, settings)
    pilot = _work_of_search(pairs, effort)
    half = settings.first_stage(int(pairs), d)
    if half == pairs:
        return pilot
    judging = half**3 / 3.0 + half**2 * (2.0 * d + n_games) + d**4 / 4.0
    return pilot + _work_of_search(half, effort) + judging


def _work_of_search(pairs: float, effort: Effort) -> float:
    """Return the number of operations of a search for hyperparameters that uses all of its iterations."""
    return effort.iterations * OPERATIONS_PER_LIKELIHOOD * min(pairs, effort.pairs) ** 3


def _work_on_triples(pairs: float, d: int, settings: GPSettings) -> float:
    """Return the number of operations of choosing the interactions of one game."""
    if not settings.can_choose_triples(int(pairs), d):
        return 0.0
    ranking = min(d, settings.triple_players) ** 3 * 2.0 / 3.0
    return settings.triple_rounds * pairs * (settings.triple_candidates * pairs + ranking) + 10.0 * d**3


def _work_unpaired(d: int, budget: int, n_games: int, settings: GPSettings) -> float:
    """Return the number of operations for coalitions without their complements, which are chosen in stages."""
    mine = settings.unpaired
    n = least_budget(d)
    total = mine.first_iterations * OPERATIONS_PER_WHOLE_LIKELIHOOD * n**3
    while n < budget:
        more = min(stage_size(n, d, settings), budget - n)
        pool = min(2.0**d, mine.pool + 2.0 * d)
        total += n**3 / 3.0 + pool * (n + d) * (n + 2.0 * more)
        n += more
        total += mine.iterations * OPERATIONS_PER_WHOLE_LIKELIHOOD * n**3
    of_set = n**3 / 3.0 + n**2 * d + d**4 / 4.0
    foreseen = n**3 + n**2 * n_games
    if n_games == 1:
        return total + of_set + foreseen
    refit = mine.refit_iterations * OPERATIONS_PER_WHOLE_LIKELIHOOD * n**3
    if n_games <= settings.refitted_games:
        return total + foreseen + n_games * (refit + of_set)
    return total + foreseen + settings.refitted_games * (refit + 2.0 * of_set + n_games * n**2)

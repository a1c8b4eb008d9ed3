"""The settings of "gp", all in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GPSettings:
    """How "gp" chooses pairs, learns hyperparameters and judges itself. The defaults were measured.

    Attributes
    ----------
    many_players : int
        Number of players from which on the settings named "of many" apply.
    middle_share, middle_share_of_many : float
        Share of the pairs, singletons apart, whose coalitions hold half of the players.
    most_pairs : int
        Pairs that the process is conditioned on at most; a regression corrects it on the others.
    correction_pairs_per_player : int
        Pairs beyond ``most_pairs`` for each player that a correction needs.
    pool : int
        Candidates that pairs are actively chosen from.
    pilot_games, pilot_iterations : int
        Games that hyperparameters are learnt from together, and iterations of L-BFGS.
    pilot_pairs, pilot_pairs_of_many : int
        Pairs that they are learnt from; the latter also for a single game.
    refitted_games, refitted_pairs : int
        Games are refitted one by one if they, and their pairs, are at most this many: a factorisation for each game
        costs more than it gains beyond.
    refit_pairs, refit_iterations, refit_pairs_of_many, refit_iterations_of_many : int
        Pairs and iterations of each refit.
    learning_variance : float
        Prior variance τ² of the linear part while hyperparameters are learnt.
    free_variance : float
        The same in the posterior, if there are pairs enough to determine the linear part.
    typical_scale : float
        Prior median of the scale h_j of the player that matters most.
    least_importance : float
        Lower limit of a player's importance in its prior, relative to the largest.
    scale_spread : float
        Prior standard deviation of log h_j.
    other_median, other_spread : float
        Prior median and standard deviation of the logarithm of the other hyperparameters.
    refit_narrowing : float
        Factor of all prior standard deviations when a game is refitted.
    even_mean_variance : float
        Prior variance of the mean of the even part.
    held_out_pairs : int
        Pairs that are held out, one by one, to see how well they are predicted.
    fitted_pairs_per_player : float
        Pairs for each player, those held out not counted, that interactions of three players are chosen from.
    triple_improvement : float
        Share of the squared error on held-out pairs below which such interactions are used.
    held_out_power, smaller_share : float
        How the two variances of a value, by the posterior and by held-out pairs, are combined. With less of either,
        intervals of voting games become too narrow; with more, others too wide.
    triple_candidates, triple_rounds, triple_players, triple_steps : int
        Interactions looked at in a round, rounds, players that candidates are made of, steps in a round.
    triple_gain : float
        Least gain of log evidence in a step.
    """

    many_players: int = 50
    middle_share: float = 0.3
    middle_share_of_many: float = 0.5
    most_pairs: int = 3000
    correction_pairs_per_player: int = 3
    pool: int = 3000

    pilot_games: int = 10
    pilot_iterations: int = 20
    pilot_pairs: int = 300
    pilot_pairs_of_many: int = 600
    refitted_games: int = 50
    refitted_pairs: int = 1500
    refit_pairs: int = 200
    refit_iterations: int = 6
    refit_pairs_of_many: int = 300
    refit_iterations_of_many: int = 12

    learning_variance: float = 1e4
    free_variance: float = 1e10
    typical_scale: float = 0.15
    least_importance: float = 1e-3
    scale_spread: float = 2.0**0.5
    other_median: float = 0.01
    other_spread: float = 3.0
    refit_narrowing: float = 0.4
    even_mean_variance: float = 1e4

    held_out_pairs: int = 150
    fitted_pairs_per_player: float = 2
    triple_improvement: float = 0.85
    held_out_power: float = 1.25
    smaller_share: float = 1 / 3

    triple_candidates: int = 100
    triple_rounds: int = 4
    triple_players: int = 110
    triple_steps: int = 100
    triple_gain: float = 0.1

    def can_choose_triples(self, n_pairs: int, d: int) -> bool:
        """Whether enough of the pairs remain to choose interactions by when some are held out."""
        return n_pairs + 1 - min(n_pairs, self.held_out_pairs) >= self.fitted_pairs_per_player * d

    def refits(self, n_games: int, n_pairs: int) -> bool:
        """Whether each game has hyperparameters of its own; a single game is its own pilot."""
        return 1 < n_games <= self.refitted_games and n_pairs <= self.refitted_pairs


DEFAULT = GPSettings()

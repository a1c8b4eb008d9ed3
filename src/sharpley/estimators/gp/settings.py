"""All settings of method "gp"."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UnpairedSettings:
    """Settings of "gp" for tiny budgets: how it chooses coalitions without their complements, and learns from them.

    Attributes
    ----------
    growth, growth_per_player : float
        Number of coalitions that are chosen at a time, as a multiple of those that are known or of the number of
        players, whichever is more.
    pool : int
        Number of candidates from which they are chosen.
    first_iterations, iterations : int
        Maximum number of L-BFGS iterations in the first search for hyperparameters, and in those that continue it.
    refit_iterations : int
        The same in a search that starts from the hyperparameters of all games.
    typical_scale, typical_spread : float
        Prior median of the geometric mean of the players' scales h_j, and prior standard deviation of its logarithm.
    scale_spread : float
        Prior standard deviation of log h_j around the mean of all players.
    size_median, noise_median : float
        Prior medians of the variances of size effects and of noise; those of all other variances are 1.
    other_spread : float
        Prior standard deviation of the logarithms of all variances.
    constant_variance : float
        Prior variance of the constant part, which is practically flat.
    foreseen_share, foreseen_share_of_few : float
        Share of a regression's variance, with the errors at coalitions that were foreseen before they were evaluated,
        that a Shapley value has at least; the latter if a game has few distinct values.
    unforeseen_share, unforeseen_degrees : float
        Factor by which the posterior's variance is multiplied as long as nothing was foreseen, and its degrees of
        freedom.
    """

    growth: float = 0.2
    growth_per_player: float = 0.25
    pool: int = 1024
    first_iterations: int = 40
    iterations: int = 15
    refit_iterations: int = 10
    typical_scale: float = 0.15
    typical_spread: float = 3.0
    scale_spread: float = 2.0**0.5
    size_median: float = 0.01
    noise_median: float = 1e-4
    other_spread: float = 3.0
    constant_variance: float = 1e4
    foreseen_share: float = 0.12
    foreseen_share_of_few: float = 0.6
    unforeseen_share: float = 1.5
    unforeseen_degrees: float = 4.0


@dataclass(frozen=True)
class GPSettings:
    """Settings of "gp": how it chooses pairs, learns hyperparameters and assesses its own accuracy.

    The defaults were chosen by measurements.

    Attributes
    ----------
    many_players : int
        Number of players from which on the settings whose names end in ``of_many`` apply.
    middle_share, middle_share_of_many : float
        Share of the pairs, singletons not counted, from class ⌊d/2⌋, whose coalitions contain half of the players.
    singleton_pairs_per_player : float
        Pairs per player from which on all singletons are among them.
    staged_pairs_per_player : float
        Half of the pairs are chosen, and learnt from, before the other half if there are so many per player in a half.
    hard_error_share, hard_error_share_of_few : float
        Squared error of the process at pairs that are left out, relative to that of the regression, above which it
        hardly predicts a game; the latter for games with few distinct values. If most games are of this kind, further
        pairs come from the sizes where the regression errs.
    error_smoothing : float
        Standard deviation of the sizes, relative to the number of players, over which errors are averaged for that.
    most_pairs : int
        Maximum number of pairs that the process is conditioned on; a regression on all others corrects it.
    correction_pairs_per_player : int
        Minimum number of pairs per player, in excess of ``most_pairs``, for that correction.
    pool : int
        Number of candidates from which pairs are chosen actively.
    pilot_games, pilot_iterations : int
        Maximum number of games that hyperparameters are learnt from jointly, and of L-BFGS iterations.
    pilot_pairs, pilot_pairs_of_many : int
        Maximum number of pairs that they are learnt from; the latter also applies to a single game.
    refitted_games : int
        Maximum number of games that are refitted; if there are more, each of the others takes over the hyperparameters
        of one of these.
    first_refits, further_refits : int
        Number of the games refitted first, if there are more than ``refitted_games``, and at a time after that.
    own_set_error : float
        Squared error of the games refitted first, at held-out pairs, with hyperparameters of their own, relative to
        that with those of another game, below which all games are refitted, each from the best set so far; 0 for
        never. With ``many_players``, that gained nothing.
    refitted_pairs : int
        Maximum number of pairs with which games are refitted. With more, it costs more than it gains, and more than
        ``refitted_games`` games have no interactions of their own either.
    refit_pairs, refit_iterations, refit_pairs_of_many, refit_iterations_of_many : int
        Maximum numbers of pairs and of L-BFGS iterations in each refit.
    learning_variance : float
        Prior variance τ² of the linear part while hyperparameters are learnt, and in the posterior of small samples.
    free_variance : float
        Prior variance τ² of the linear part in the posterior if there are enough pairs to determine it; so large that
        the prior is practically flat.
    free_pairs_per_player : float
        Pairs per player, the full coalition included, above which ``free_variance`` is used.
    log_range : float
        Hyperparameters are sought within a factor of e to this power of their prior medians.
    typical_scale : float
        Prior median of the scale h_j of the most important player.
    least_importance : float
        Lower limit of a player's importance in its prior, relative to the largest importance.
    scale_spread : float
        Prior standard deviation of log h_j.
    other_median, other_spread : float
        Prior median of the other hyperparameters, and prior standard deviation of their logarithms.
    refit_narrowing : float
        Factor by which all prior standard deviations are multiplied in a refit.
    even_mean_variance : float
        Prior variance of the mean of the even part.
    held_out_pairs : int
        Maximum number of pairs that are held out, one by one, to measure how well they are predicted.
    fitted_pairs_per_player : float
        Minimum number of pairs per player, held-out pairs not counted, for choosing interactions of three players.
    triple_improvement : float
        Such interactions are used if they lower the squared error on held-out pairs to less than this share.
    halved_pairs : int
        Maximum number of pairs with which hyperparameters are also learnt from either half of them; 0 for never.
    held_out_share, smaller_share : float
        How the two variances of a Shapley value, from the posterior and from held-out pairs, are combined: the variance
        from held-out pairs is ``held_out_share`` times that of a regression on the errors at these pairs, and the
        larger of the two is added to ``smaller_share`` times the smaller. With smaller settings, intervals are too
        narrow in voting games; with larger ones, too wide in other games.
    triple_candidates, triple_rounds, triple_players, triple_steps : int
        Maximum numbers of candidate interactions in a round, of rounds, of players that candidates are formed from,
        and of steps in a round.
    triple_gain : float
        Minimum gain of log evidence in a step.
    unpaired_evals_per_player, most_unpaired : float
        Evaluations for each player, and in all, up to which coalitions are evaluated without their complements; 0 for
        never.
    unpaired : UnpairedSettings
        Settings of that form.

    Examples
    --------
    Condition the process on at most 20 pairs, and correct it by a regression on the others:

    >>> from functools import partial
    >>> import sharpley
    >>> from sharpley.estimators import GaussianProcessEstimator, GPSettings
    >>> method = partial(GaussianProcessEstimator, settings=GPSettings(most_pairs=20))
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0, 8.0, 8.0, 9.0, 9.0, 10.0))
    >>> found = sharpley.shapley_values(game, method=method, max_evals=120, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 0.2)
    True
    """

    many_players: int = 50
    middle_share: float = 0.3
    middle_share_of_many: float = 0.5
    singleton_pairs_per_player: float = 1.5
    staged_pairs_per_player: float = 2.0
    hard_error_share: float = 0.6
    hard_error_share_of_few: float = 0.3
    error_smoothing: float = 0.05
    most_pairs: int = 3000
    correction_pairs_per_player: int = 3
    pool: int = 3000

    pilot_games: int = 10
    pilot_iterations: int = 20
    pilot_pairs: int = 300
    pilot_pairs_of_many: int = 600
    refitted_games: int = 100
    first_refits: int = 25
    further_refits: int = 10
    own_set_error: float = 0.85
    refitted_pairs: int = 1500
    refit_pairs: int = 200
    refit_iterations: int = 6
    refit_pairs_of_many: int = 300
    refit_iterations_of_many: int = 12

    learning_variance: float = 1e4
    free_variance: float = 1e10
    free_pairs_per_player: float = 1.5
    log_range: float = 8.0
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
    halved_pairs: int = 1500
    held_out_share: float = 0.5
    smaller_share: float = 1 / 3

    triple_candidates: int = 100
    triple_rounds: int = 4
    triple_players: int = 110
    triple_steps: int = 100
    triple_gain: float = 0.1

    unpaired_evals_per_player: float = 10
    most_unpaired: float = 400
    unpaired: UnpairedSettings = UnpairedSettings()

    def first_stage(self, n_pairs: int, d: int) -> int:
        """Return how many of ``n_pairs`` pairs are learnt from before the others are chosen; all if these are few."""
        half = min(n_pairs, self.most_pairs) // 2
        return half if half >= self.staged_pairs_per_player * d else n_pairs

    def can_choose_triples(self, n_pairs: int, d: int) -> bool:
        """Return whether there are enough pairs, apart from those held out, to choose interactions of three players."""
        return n_pairs + 1 - min(n_pairs, self.held_out_pairs) >= self.fitted_pairs_per_player * d

    def own_set_error_for(self, d: int) -> float:
        """Return the error below which all games of d players are refitted; 0 for never."""
        return self.own_set_error if d < self.many_players else 0.0

    def refits(self, n_games: int, n_pairs: int) -> bool:
        """Return whether games are refitted; a single game is not, since it is the only pilot game."""
        return n_games > 1 and n_pairs <= self.refitted_pairs


DEFAULT_SETTINGS = GPSettings()

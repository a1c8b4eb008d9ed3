"""The estimator of method "gp": Bayesian quadrature over coalitions.

A coalition for each player comes first. Then hyperparameters are learnt, further coalitions are chosen, a quarter of
those known at a time, and so on until the budget is spent. They are single coalitions chosen by information, unless the
first stage shows games with few distinct values, such as votes, or the budget is so large that choosing takes long:
then the complements of all coalitions are evaluated, and further ones in pairs. All rows share their coalitions, which
are chosen by hyperparameters that pilot games share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import ROUNDING, Moments
from sharpley.coalitions.store import EMPTY, FULL, coalition_keys, unseen
from sharpley.estimators.base import CoalitionEstimator
from sharpley.estimators.control import Fitted
from sharpley.estimators.gp.designs import Pairs, candidates, completed, first_coalitions, most_informative
from sharpley.estimators.gp.kernel import Parity, Scales, is_inner, sizes_of
from sharpley.estimators.gp.learning import Values
from sharpley.estimators.gp.many import learn_pilots, sets_of_scales
from sharpley.estimators.gp.posterior import (
    Posterior,
    Stage,
    condition,
    foreseen_errors,
    has_few_values,
    judged,
    telling,
)
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs.base import by_game
from sharpley.estimators.pairs.regression import LeastSquares, PairRegression, class_weights
from sharpley.indices import UNIFORM, Measure

FREE_VARIANCE = 1e4  # of the linear part, practically flat, if there are enough pairs to determine it
FREE_PAIRS_PER_PLAYER = 1.5
CORRECTION_PAIRS_PER_PLAYER = 3  # pairs beyond those that the process is conditioned on, for a regression on them


class Learnt(NamedTuple):
    """Normalised games, and what was learnt from them."""

    blocks: list[Values]
    """Values of all games: one block of coalitions, or the odd and the even values of pairs."""
    magnitudes: Floats
    """What the games were divided by, (g,); 0 for a constant game."""
    scales: Scales
    """Hyperparameters that the pilot games share."""


def least_budget(d: int) -> int:
    """Return the smallest budget for games of d players: ∅, N and a coalition for each player, at most 2^d."""
    return min(d + 2, 2**d)


def stage_size(n_known: int, d: int, settings: GPSettings = DEFAULT_SETTINGS) -> int:
    """Return how many coalitions are chosen at a time once ``n_known`` are known."""
    return max(1, int(settings.growth * max(n_known, d)))


@final
class GaussianProcessEstimator(CoalitionEstimator):
    """Bayesian quadrature over coalitions: accurate from few evaluations, at the cost of some linear algebra.

    Parameters
    ----------
    d : int
        Number of players.
    settings : GPSettings, optional
        Settings of the Gaussian process.
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0, 8.0, 8.0, 9.0))
    >>> found = sharpley.shapley_values(game, method=GaussianProcessEstimator, max_evals=40, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 0.1)
    True
    """

    choices_depend_on = "rows"

    def __init__(self, d: int, *, settings: GPSettings = DEFAULT_SETTINGS, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._settings = settings
        self._members = np.array([[False] * self.d, [True] * self.d])
        self._positions: NDArray[np.int64] = np.array([EMPTY, FULL])
        self._stages: list[Stage] = []
        self._learnt: Learnt | None = None
        self._pairs: Pairs | None = None

    @property
    def least_budget(self) -> int:
        """One evaluation for each player, and those of ∅ and N."""
        return least_budget(self.d)

    def first_checkpoint(self, most: int) -> int:
        """Return two evaluations for each player, of which the second half was foreseen."""
        return min(2 * self.d + 2, 2**self.d)

    def _choose(self, budget: Budget) -> bool:
        """Choose the first coalitions or, given what was learnt from them, the next ones."""
        n = len(self._members)
        missing = min(budget.now, 2**self.d) - n
        if missing <= 0:
            return False
        if self._learnt is None:
            self._append(first_coalitions(self.d, self._rng)[:missing])
            return True
        if self._pairs is None and self._calls_for_pairs(budget):
            self._pairs = Pairs(self.d, self._rng)
            self._members, self._stages = completed(self._members), []
            self._positions = self.store.add(self._members)
            if len(self._members) > n:
                return True
        if self._pairs is not None:
            return self._add_pairs(missing)
        self._append(self._informative(min(missing, stage_size(n, self.d, self._settings)), self._learnt))
        return True

    def _append(self, fresh: Coalitions) -> None:
        self._members = np.concatenate([self._members, fresh])
        self._positions = np.concatenate([self._positions, self.store.add(fresh)])

    def _informative(self, count: int, learnt: Learnt) -> Coalitions:
        """Choose the most informative coalitions, or complements if many are known, and note the hyperparameters."""
        n = len(self._members)
        if n < self._settings.most_single:
            pool = candidates(self.d, self._members, self._rng, self._settings.pool)
            fresh = most_informative(learnt.blocks[0], pool, learnt.scales, count, self.index.measure)
        else:  # choosing takes long: the missing complements, after which further coalitions come in pairs
            closed = completed(self._members)
            fresh = closed[unseen(closed, set(coalition_keys(self._members)))][:count]
        self._stages.append(Stage(n, n + len(fresh), learnt.scales))
        return fresh

    def _add_pairs(self, missing: int) -> bool:
        """Choose further pairs, if the budget pays for any, and note what is known before."""
        assert self._pairs is not None
        assert self._learnt is not None
        n = len(self._members)
        count = min(missing, 2 * stage_size(n, self.d, self._settings)) // 2
        fresh = self._pairs.more(self._members, count)
        if len(fresh) == 0:
            return False
        self._append(np.stack([fresh, ~fresh], axis=1).reshape(-1, self.d))
        self._stages.append(Stage(n // 2, len(self._members) // 2, self._learnt.scales))
        return True

    def _calls_for_pairs(self, budget: Budget) -> bool:
        """Return whether further coalitions come in pairs, and complements of the first ones before them.

        They do if there are so many that choosing them one by one takes long, or if most games had few distinct values
        in the first stage.
        """
        n, settings, first = len(self._members), self._settings, round(self._settings.judged_evals_per_player * self.d)
        if n < first or max(len(completed(self._members)), settings.paired_evals_per_player * self.d) > budget.now:
            return False
        assert self._learnt is not None
        few = has_few_values(self._learnt.blocks[0].values[:first], settings.few_values)
        return budget.now > settings.most_single or bool(2 * np.count_nonzero(few) > len(few))

    def _learn(self) -> None:
        """Learn the hyperparameters that the pilot games share, starting from those found in the stage before."""
        blocks, magnitudes = self._blocks()
        start = None if self._learnt is None else self._learnt.scales
        self._learnt = Learnt(blocks, magnitudes, learn_pilots(blocks, self._settings, start))

    def estimate(self) -> Moments:
        """Compute the posterior mean of the Shapley values of all games, and their variances."""
        if self._learnt is None or self.is_complete:  # nothing is learnt from all coalitions, which need no estimate
            self._learn()
        assert self._learnt is not None
        found = estimated(self._learnt, self._stages, self._settings, self.index.measure)
        return Moments(*(by_game(np.broadcast_to(part, found[0].shape), self.values) for part in found))

    def _blocks(self) -> tuple[list[Values], Floats]:
        """Return normalised games, and what they were divided by."""
        columns = np.moveaxis(self.values, 1, 0).reshape(self.values.shape[1], -1)
        return blocks_of(self._members, columns[self._positions], are_pairs=self._pairs is not None)


def estimated(
    learnt: Learnt, stages: Sequence[Stage], settings: GPSettings, measure: Measure
) -> tuple[Floats, Floats, Floats]:
    """Return the index of all games, its variances, (d, g) each, and their degrees of freedom, (g,)."""
    blocks, magnitudes, pilot = learnt
    seen = [block.at(slice(settings.most_pairs + 1)) for block in blocks]
    first, n_games = blocks[0], blocks[0].values.shape[1]
    n, d = first.signs.shape
    are_pairs = first.parity is Parity.ODD
    adds_up = measure == UNIFORM  # Shapley values, which the regression estimates, too
    is_beyond = adds_up and are_pairs and n > settings.most_pairs + CORRECTION_PAIRS_PER_PLAYER * d
    phi, variances, degrees = np.empty((d, n_games)), np.empty((d, n_games)), np.full(n_games, float(n))
    for games, scales in sets_of_scales(seen, pilot, settings, measure):
        used = scales._replace(linear=FREE_VARIANCE) if are_pairs and n > FREE_PAIRS_PER_PLAYER * d else scales
        found = condition([block.games(games) for block in telling(seen, used, measure)], used, measure)
        phi[:, games], variances[:, games] = found.values, found.variances[:, None]
        if is_beyond:
            left = first.values[:, games] - found.predict(first.signs, Parity.ODD)
            correction = _regression(first._replace(values=left), settings.most_pairs)
            phi[:, games], variances[:, games] = _corrected(found, correction)
    # The first two values are those of ∅ and N, or the first one is half of their difference.
    whole = 2.0 * first.values[0] if are_pairs else first.values[1] - first.values[0]
    phi += (whole - phi.sum(axis=0)) / d if adds_up else 0.0
    if not is_beyond:
        variances, degrees = judged(first.values, variances, foreseen_errors(first, stages), settings)
        if adds_up and are_pairs:
            phi, variances = _averaged(phi, variances, _regression(first))
    linear, is_additive = _linear_fit(first)
    phi[:, is_additive] = linear[:, is_additive]
    return phi * magnitudes, variances * magnitudes**2, degrees


def _regression(odd: Values, n_settled: int = 0) -> LeastSquares:
    """Fit the regression to odd values at pairs, of which the first one is that of N and ∅."""
    side = np.where(odd.signs[1:].sum(axis=1) > 0, -1.0, 1.0)[:, None]  # the smaller coalition of each pair
    return PairRegression(side * odd.signs[1:], n_settled).fit(side * odd.values[1:], odd.values[0])


def _averaged(phi: Floats, variances: Floats, linear: LeastSquares) -> tuple[Floats, Floats]:
    """Return values and variances (d, g) of the process, averaged with those of the regression.

    The regression makes no use of interactions, but does not mistake anything for one either. The weights are the same
    for all players of a game, so that the values add up to v(N) − v(∅). They depend on the squares of the variances:
    both estimates are made from the same pairs, so the worse of the two adds little. For the same reason, the variance
    of the average is taken to be that of one of them.
    """
    of_process, of_regression = (each.mean(axis=0) ** 2 for each in (variances, linear.variances))
    total = of_process + of_regression
    weight = np.where(total > 0, of_regression / np.where(total > 0, total, 1.0), 1.0)
    return weight * phi + (1.0 - weight) * linear.values, weight * variances + (1.0 - weight) * linear.variances


def _corrected(found: Posterior, correction: LeastSquares) -> tuple[Floats, Floats]:
    """Return the values of the process plus a share of the regression's correction, and their variances, (d, g).

    The share depends on the variances of both. A squared correction larger than its variance shows that the process was
    overconfident. The share is the same for all players of a game, so that the values add up to v(N) − v(∅). It tends
    to 1 as the number of pairs grows.
    """
    stated, other = found.variances.mean(), correction.variances.mean(axis=0)
    own = np.maximum(stated, (correction.values**2).mean(axis=0) - other)
    share = np.where(own > 0, own / np.where(own > 0, own + other, 1.0), 1.0)
    of_process = np.outer(found.variances, own / (stated if stated > 0 else 1.0))
    return found.values + share * correction.values, (1.0 - share) ** 2 * of_process + share**2 * correction.variances


def blocks_of(coalitions: Coalitions, values: Floats, *, are_pairs: bool) -> tuple[list[Values], Floats]:
    """Return blocks of independent values of normalised games, and what the games were divided by, (g,).

    Parameters
    ----------
    coalitions : (n, d) bool
        Coalitions, of which ∅ and N are the first two.
    values : (n, g) float
        Values of games.
    are_pairs : bool
        Whether each coalition in an even position is followed by its complement.
    """
    values, magnitudes = normalised(values)
    signs = np.where(coalitions, 1.0, -1.0)
    if not are_pairs:
        return [Values(signs, values, is_inner(signs), Parity.WHOLE)], magnitudes
    one, other, signs = values[1::2], values[::2], signs[1::2]
    sizes = np.minimum(sizes_of(signs), sizes_of(-signs))[1:]
    noise = np.append(0.0, 0.5 / class_weights(sizes, signs.shape[1]))
    odd, even = (one - other) / 2.0, (one + other) / 2.0
    return [Values(signs, odd, noise, Parity.ODD), Values(signs, even, noise, Parity.EVEN)], magnitudes


def process_fit(coalitions: Coalitions, values: Floats, everywhere: Coalitions, settings: GPSettings) -> Fitted:
    """Fit the process to games with values (n, g) at complete pairs of coalitions, and predict them everywhere.

    Parameters
    ----------
    coalitions : (n, d) bool
        ∅, N, and further coalitions, each followed by its complement.
    values : (n, g) float
        Values of games.
    everywhere : (m, d) bool
        Coalitions at which the games are predicted.
    settings : GPSettings
    """
    blocks, magnitudes = blocks_of(coalitions, values, are_pairs=True)
    signs = np.where(everywhere, 1.0, -1.0)
    predicted, index = np.empty((len(signs), values.shape[1])), np.empty((signs.shape[1], values.shape[1]))
    pilot = learn_pilots(blocks, settings, None)
    for games, scales in sets_of_scales(blocks, pilot, settings, UNIFORM):
        found = condition([block.games(games) for block in blocks], scales, UNIFORM)
        predicted[:, games], index[:, games] = found.predict(signs), found.values
    return Fitted(predicted * magnitudes, index * magnitudes)


def normalised(values: Floats) -> tuple[Floats, Floats]:
    """Return games (n, g) with mean 0 and root mean square 1, or 0 if they are constant, and their magnitudes, (g,)."""
    centred = values - values.mean(axis=0)
    # Differences that are nothing but rounding have nothing to tell.
    is_constant = np.abs(centred).max(axis=0) <= ROUNDING * np.abs(values).max(axis=0)
    centred[:, is_constant] = 0.0
    magnitudes = np.sqrt((centred**2).mean(axis=0))
    return centred / np.where(magnitudes > 0, magnitudes, 1.0), magnitudes


def _linear_fit(block: Values) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the Shapley values of linear fits to all games, (d, g), and which games are linear but for rounding.

    The process knows such games to six digits only, because of the jitter of its Gram matrix.
    """
    design = np.column_stack([np.ones(len(block.signs)), block.signs]) if block.parity is Parity.WHOLE else block.signs
    coefficients = np.stack([np.linalg.lstsq(design, column, rcond=None)[0] for column in block.values.T], axis=1)
    errors = np.abs(block.values - design @ coefficients).max(axis=0)
    return 2.0 * coefficients[-block.signs.shape[1] :], errors <= ROUNDING * np.abs(block.values).max(axis=0)

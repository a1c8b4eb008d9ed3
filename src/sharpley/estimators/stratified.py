"""Stratified sampling with two-stage allocation (Castro, Gómez, Molina and Tejada 2017).

φ_i is the mean over positions ℓ = 0 .. d−1 of the mean contribution of player i to random coalitions of ℓ
others. These (i, ℓ) are the strata. The first stage spends half of the budget evenly over the strata. The second stage
spends the rest where it lowers the error most: the total number of samples from a stratum, both stages together,
becomes proportional to its estimated standard deviation (Neyman allocation). At the first and the last position there
is only one coalition, and no variance.

Var φ_i = Σ_ℓ s²_iℓ / n_iℓ / d², with the degrees of freedom of Welch and Satterthwaite. Since the second stage depends
on the values of the first, the estimate is unbiased only asymptotically. The values add up to v(N) − v(∅) only on
average; with ``adjust=True``, they are moved to the nearest point that does: what is missing from the sum is divided
equally among the players.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_flag
from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import EMPTY, FULL
from sharpley.estimators.base import SAMPLED_PER_EVALUATION, CoalitionEstimator

FIRST_STAGE_SHARE = 0.5  # of the budget, spent evenly
MEAN_DEVIATION_SHARE = 0.25  # of the mean predicted deviation, added to the deviation predicted for each stratum
PRIOR_DEGREES_OF_FREEDOM = 1.0  # weight of the position's mean variance in the variance of a stratum


@final
class StratifiedEstimator(CoalitionEstimator):
    """Stratified sampling of the contributions of every player at every position, with two-stage allocation.

    Parameters
    ----------
    d : int
        Number of players.
    adjust : bool, default False
        Whether to adjust the values so that they add up to v(N) − v(∅).
    rng : int, Generator, SeedSequence or None
        Source of randomness.

    References
    ----------
    Castro, Gómez, Molina and Tejada (2017). Improving polynomial estimation of the Shapley value by stratified random
    sampling with optimum allocation. Computers & Operations Research 82.

    Examples
    --------
    >>> import sharpley
    >>> method = StratifiedEstimator
    >>> sharpley.shapley_values(lambda S: S @ [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 6, method=method, rng=0).values
    array([ 1.,  2.,  4.,  8., 16., 32.])
    """

    choices_depend_on = "row"

    def __init__(self, d: int, *, adjust: bool = False, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._adjust = check_flag("adjust", adjust)
        self._strata: list[NDArray[np.int64]] = []  # player · d + position, of each sample
        self._positions: list[NDArray[np.int64]] = []  # in the store, without and with the player

    @property
    def least_budget(self) -> int:
        """Number of evaluations for two samples from each stratum that has a variance, and one from the others."""
        return min(2 + 2 * self.d + 4 * self.d * max(0, self.d - 2), 2**self.d)

    def _choose(self, budget: Budget) -> bool:
        """Sample evenly in the first stage, then in proportion to the standard deviations learnt so far."""
        before = len(self._strata)
        if not self._strata:
            self._first_stage(budget.now)
            return True
        counts = np.bincount(np.concatenate(self._strata), minlength=self.d**2)
        target = self._allocation(self._deviations, counts, budget.now - len(self.store))
        # In random order, so that no stratum is favoured when the budget runs out.
        waiting = self._rng.permutation(np.repeat(np.arange(self.d**2), np.maximum(0, target - counts)))
        while len(waiting):
            now = max(
                1, (budget.now - len(self.store)) // 2
            )  # these fit in any case: a sample adds at most two coalitions
            if not self._sample(waiting[:now], budget.now):
                break
            waiting = waiting[now:]
        return len(self._strata) > before

    def _learn(self) -> None:
        """Predict the standard deviations of the strata of the single row, (d²,)."""
        self._deviations = self._predicted_deviations(self.values[0])

    def _first_stage(self, budget: int) -> None:
        """Sample twice from each stratum that has a variance, then evenly up to half the budget."""
        every = np.arange(self.d**2)
        position = every % self.d
        fixed, random = (
            every[(position == 0) | (position == self.d - 1)],
            every[(position > 0) & (position < self.d - 1)],
        )
        self._sample(fixed, None)
        for sweep in range(max(2, SAMPLED_PER_EVALUATION * budget // max(1, len(random)))):
            limit = None if sweep < 2 else int(FIRST_STAGE_SHARE * budget)
            if len(random) == 0 or not self._sample(random, limit):
                break

    def _sample(self, strata: NDArray[np.int64], limit: int | None) -> bool:
        """Sample one coalition for each stratum, and register it without and with the player."""
        players, sizes = strata // self.d, strata % self.d
        without = self._random_coalitions(players, sizes)
        joined = without.copy()
        joined[np.arange(len(strata)), players] = True
        both = np.concatenate([without, joined])
        positions = self.store.add(both) if limit is None else self.store.add_within(both, limit)
        if positions is None:
            return False
        self._strata.append(strata)
        self._positions.append(positions.reshape(2, -1).T)
        return True

    def _random_coalitions(self, players: NDArray[np.int64], sizes: NDArray[np.int64]) -> Coalitions:
        """Sample uniformly distributed coalitions of the given sizes that do not contain the given players."""
        keys = self._rng.random((len(players), self.d))
        keys[np.arange(len(players)), players] = 2.0  # sorted last, so never among the first d − 1
        return np.argsort(np.argsort(keys, axis=1), axis=1) < sizes[:, None]

    def _allocation(self, deviations: Floats, counts: NDArray[np.int64], evals: int) -> NDArray[np.int64]:
        """Return the number of samples from each stratum, both stages together, after ``evals`` // 2 further ones."""
        further = evals // 2
        wanted = counts.astype(np.float64)
        growing = deviations > 0
        if further <= 0 or not growing.any():
            return counts
        # Strata that already have more than their share keep it; all others get level · deviation samples.
        while True:
            level = (further + counts[growing].sum()) / deviations[growing].sum()
            over = growing & (counts > level * deviations)
            if not over.any():
                break
            growing &= ~over
        wanted[growing] = level * deviations[growing]
        return np.floor(wanted).astype(np.int64)

    def _moments(self, values: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the number of samples, the mean and the variance of each stratum: (d²,), (r, d², k), (r, d², k)."""
        strata, positions = np.concatenate(self._strata), np.concatenate(self._positions)
        gains = values[:, positions[:, 1]] - values[:, positions[:, 0]]
        counts = np.bincount(strata, minlength=self.d**2)
        order = np.argsort(strata, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        mean = np.add.reduceat(gains[:, order], starts, axis=1) / counts[:, None]
        squares = np.add.reduceat((gains - mean[:, strata])[:, order] ** 2, starts, axis=1)
        return counts, mean, squares / np.maximum(1, counts - 1)[:, None]

    def _predicted_deviations(self, values: Floats) -> Floats:
        """Predict the standard deviation of each stratum from the *other* strata of its player and of its position.

        A stratum's own samples must not decide how often it is sampled again. Two samples are often equal by chance,
        and where contributions are rare (a pivotal vote), strata in which none was observed would not be sampled
        again. Their means would stay too low with an apparent error of 0, and intervals would cover far too little.
        """
        variances = self._moments(values[None])[2][0].sum(axis=-1).reshape(self.d, self.d)
        by_player = variances.sum(axis=1, keepdims=True) - variances
        by_position = variances.sum(axis=0, keepdims=True) - variances
        predicted = (by_player * by_position) ** 0.25
        predicted += MEAN_DEVIATION_SHARE * predicted.mean()  # no stratum is abandoned after a few samples
        predicted[:, [0, -1]] = 0.0  # there is only one coalition
        return np.asarray(predicted.reshape(-1))

    def _shrunk(self, variances: Floats, counts: NDArray[np.int64]) -> Floats:
        """Shrink the variances of strata slightly towards the mean variance of all players at the same position.

        A few samples of a player who contributes rarely may all be 0; that does not make the mean certain.
        """
        shape = (len(variances), self.d, self.d, variances.shape[2])
        position = np.repeat(variances.reshape(shape).mean(axis=1, keepdims=True), self.d, axis=1).reshape(
            variances.shape
        )
        own = (counts - 1.0)[:, None]
        shrunk = (own * variances + PRIOR_DEGREES_OF_FREEDOM * position) / (own + PRIOR_DEGREES_OF_FREEDOM)
        return np.asarray(np.where(own > 0, shrunk, 0.0))

    def estimate(self) -> Moments:
        """Average the means of the strata of each player over positions."""
        values = self.values
        counts, mean, variance = self._moments(values)
        variance = self._shrunk(variance, counts)
        shape = (len(values), self.d, self.d, values.shape[2])
        parts = (variance / counts[:, None]).reshape(shape) / self.d**2
        total = parts.sum(axis=2)
        penalty = (parts**2 / np.maximum(1, counts - 1).reshape(1, self.d, self.d, 1)).sum(axis=2)
        phi = mean.reshape(shape).mean(axis=2)
        if self._adjust:
            phi += (values[:, [FULL]] - values[:, [EMPTY]] - phi.sum(axis=1, keepdims=True)) / self.d
            # φ_i keeps 1 − 1/d of its own error, and has 1/d of that of every other player, which is independent.
            own, other = (1.0 - 1.0 / self.d) ** 2, 1.0 / self.d**2
            total = (own - other) * total + other * total.sum(axis=1, keepdims=True)
            penalty = (own**2 - other**2) * penalty + other**2 * penalty.sum(axis=1, keepdims=True)
        repeated = np.maximum(0, counts - 1).reshape(self.d, self.d).sum(axis=1)[None, :, None]
        without_spread = np.broadcast_to(np.where(repeated > 0, repeated, np.inf), total.shape).copy()
        return Moments(phi, total, np.divide(total**2, penalty, out=without_spread, where=penalty > 0))

"""Method "gp" on pairs: Bayesian quadrature over coalitions and their complements.

Pairs are chosen as a fixed mixture: all singletons, a share from class ⌊d/2⌋, and the rest spread evenly over sizes.
Once half of them are known, the other half is distributed in another way if the process can hardly predict the games
(``allocation``). In a run with a tolerance, from the second checkpoint on, half of the further pairs of all other games
are chosen actively, given the hyperparameters learnt so far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.budget import Budget
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.active import candidates, most_informative
from sharpley.estimators.gp.allocation import shares_of_classes
from sharpley.estimators.gp.data import normalised
from sharpley.estimators.gp.fitting import Pilot, estimate_games, learn_from_pilots
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings
from sharpley.estimators.pairs.base import PairData, PairedEstimator, by_game, evaluations_of
from sharpley.estimators.pairs.choosing import pairs_per_class, quotas, quotas_towards

SPARE_PAIRS = 2  # pairs in excess of one per player, in the smallest sample


class Learnt(NamedTuple):
    """What was learnt from the values of a run."""

    unit: PairData
    """Normalised games at the pairs."""
    magnitudes: Floats
    """Root mean squares that the games were divided by, (g,)."""
    pilot: Pilot
    """The fit to the pilot games."""


def fewest_pairs(d: int) -> int:
    """Return the smallest number of pairs that gives an estimate with an error bar."""
    return min(d + SPARE_PAIRS, int(pairs_per_class(d).sum()))


def least_budget(d: int) -> int:
    """Return the smallest budget for pairs of games of d players."""
    return evaluations_of(fewest_pairs(d), d)


def mixture_quotas(d: int, n_pairs: int, settings: GPSettings = DEFAULT_SETTINGS) -> NDArray[np.int64]:
    """Return the number of pairs of each class in the mixture of ``n_pairs``, (⌊d/2⌋,)."""
    middle = settings.middle_share if d < settings.many_players else settings.middle_share_of_many
    first = min(n_pairs, settings.most_pairs)
    singletons = first >= settings.singleton_pairs_per_player * d
    mixed = quotas(d, first, singletons=singletons, middle=middle)
    return mixed if n_pairs == first else quotas(d, n_pairs, already=mixed)


@final
class ProcessOnPairs(PairedEstimator):
    """Bayesian quadrature over coalitions that are evaluated with their complements.

    Parameters
    ----------
    d : int
        Number of players.
    settings : GPSettings, optional
        Settings of the Gaussian process.
    rng : int, Generator, SeedSequence or None
        Source of randomness.
    """

    choices_depend_on = "rows"

    def __init__(self, d: int, *, settings: GPSettings = DEFAULT_SETTINGS, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._settings = settings
        self._learnt: Learnt | None = None
        self._n_requested = 0  # pairs of the mixture, whether used or skipped

    @property
    def _fewest_pairs(self) -> int:
        return fewest_pairs(self.d)

    def _wanted_now(self, wanted: int, budget: Budget) -> int:
        """Return how many pairs to choose before learning: half of them if they tell where the others should be.

        In a run with a tolerance, something is learnt at every checkpoint anyway.
        """
        is_first = self._learnt is None and not budget.may_stop
        return self._settings.first_stage(wanted, self.d) if is_first else wanted

    def _next_pairs(self, wanted: int, budget: Budget) -> Coalitions:
        """Choose from the mixture or, once something is learnt, where the games call for it.

        The process is conditioned on the first ``most_pairs`` pairs; those after these are chosen in a further call.
        """
        most, learnt = self._settings.most_pairs, self._learnt
        is_conditioned = self._n_pairs < most
        missing = (min(wanted, most) if is_conditioned else wanted) - self._n_pairs
        if learnt is None or not is_conditioned:
            return self._of_mixture(missing)
        shares = shares_of_classes(learnt.unit, learnt.pilot, self._settings)
        if shares is not None:
            return self._of_classes(missing, shares)
        if not budget.may_stop:
            return self._of_mixture(missing)
        fixed = self._of_mixture(missing - missing // 2)
        known = np.concatenate([*self._members, fixed])
        return np.concatenate([fixed, self._informative(known, missing // 2, learnt.pilot.scales)])

    def _informative(self, known: Coalitions, count: int, scales: Scales) -> Coalitions:
        """Choose the most informative pairs, (count, d), given those that are known."""
        pool = candidates(self.d, known, self._rng, self._settings.pool)
        return np.asarray(pool[most_informative(known, pool, scales, count, self._settings)])

    def _of_mixture(self, count: int) -> Coalitions:
        """Return the next ``count`` pairs of the mixture."""

        def counts_with(more: int) -> NDArray[np.int64]:
            self._n_requested += more
            return mixture_quotas(self.d, self._n_requested, self._settings)

        return self._fresh(count, counts_with)

    def _of_classes(self, count: int, shares: Floats) -> Coalitions:
        """Return ``count`` further pairs, so that all pairs come as nearly as possible in these shares from classes."""

        def counts_with(more: int) -> NDArray[np.int64]:
            already = self._chooser.counts
            return quotas_towards(self.d, int(already.sum()) + more, shares, already)

        return self._fresh(count, counts_with)

    def _fresh(self, count: int, counts_with: Callable[[int], NDArray[np.int64]]) -> Coalitions:
        """Return ``count`` pairs; those that were chosen actively before are skipped.

        ``counts_with`` returns the number of pairs of each class, with as many more of them as it is given.
        """
        known = {key for part in self._members for key in coalition_keys(part)}
        parts: list[Coalitions] = []
        while (missing := count - sum(map(len, parts))) > 0:
            fresh = self._chooser.extend(counts_with(missing))
            parts.append(fresh[unseen(fresh, known)][:missing])
            if len(fresh) == 0 and self._chooser.counts.sum() == pairs_per_class(self.d).sum():
                # A defect, since callers never ask for more pairs than there are.
                raise RuntimeError(f"all pairs of {self.d} players have been chosen, but {missing} more were requested")
        return np.concatenate(parts) if parts else np.empty((0, self.d), dtype=bool)

    def _learn(self) -> None:
        """Learn the hyperparameters that the games of all rows share."""
        unit, magnitudes = normalised(self._data())
        pilot = learn_from_pilots(unit.pairs(slice(self._settings.most_pairs)), self._settings)
        self._learnt = Learnt(unit, magnitudes, pilot)

    @property
    def _known(self) -> Learnt:
        if self._learnt is None:
            self._learn()
        assert self._learnt is not None
        return self._learnt

    def estimate(self) -> Moments:
        """Compute the posterior mean and variance of the Shapley values of all games."""
        known, values = self._known, self.values
        found = estimate_games(known.unit, known.pilot, self._settings)
        phi = by_game(found.values * known.magnitudes, values)
        variances = by_game(found.variances * known.magnitudes**2, values)
        degrees_of_freedom = np.broadcast_to(found.degrees_of_freedom, found.values.shape)
        return Moments(phi, variances, by_game(degrees_of_freedom, values))

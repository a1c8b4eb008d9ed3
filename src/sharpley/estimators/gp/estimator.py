"""The estimator "gp": Bayesian quadrature over coalitions.

Pairs are chosen as a mixture: all singletons, a share that halves the players, the rest spread evenly over sizes. If a
run with a tolerance goes on, half of the further pairs are chosen actively, by the hyperparameters learnt so far.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import coalition_keys, unseen
from sharpley.estimators.gp.active import candidates, most_informative
from sharpley.estimators.gp.data import unit_sized
from sharpley.estimators.gp.fitting import Pilot, estimate_games, learn_from_pilots
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.settings import DEFAULT, GPSettings
from sharpley.estimators.pairs.base import PairData, PairedEstimator, as_games, evaluations_of
from sharpley.estimators.pairs.choosing import class_sizes, quotas

SINGLETONS_FROM = 1.5  # pairs for each player, from which on all singletons are among them
SPARE_PAIRS = 2  # beyond one for each player, in the smallest sample


class Learnt(NamedTuple):
    """What the values of a run have shown."""

    unit: PairData
    """The games at the pairs, scaled to unit size."""
    magnitudes: Floats
    """(g,): what the games were divided by."""
    pilot: Pilot


def fewest_pairs(d: int) -> int:
    """Pairs that give an estimate with an error bar."""
    return min(d + SPARE_PAIRS, int(class_sizes(d).sum()))


def least_budget(d: int) -> int:
    """Smallest budget of "gp" for games of d players."""
    return evaluations_of(fewest_pairs(d), d)


@final
class GaussianProcessEstimator(PairedEstimator):
    """Bayesian quadrature over coalitions: accurate from few evaluations, at the cost of some linear algebra.

    Parameters
    ----------
    d : int
        Number of players.
    settings : GPSettings, optional
    rng : int, Generator, SeedSequence or None

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0, 8.0, 8.0, 9.0))
    >>> found = sharpley.shapley_values(game, method=GaussianProcessEstimator, max_evals=40, rng=0)
    >>> bool(abs(found.values - game.shapley_values()).max() < 0.1)
    True
    """

    choices_depend_on = "rows"

    def __init__(self, d: int, *, settings: GPSettings = DEFAULT, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._settings = settings
        self._asked = 0  # pairs of the mixture, used or skipped

    @property
    def _fewest_pairs(self) -> int:
        return fewest_pairs(self.d)

    def _quotas(self, n_pairs: int) -> NDArray[np.int64]:
        settings = self._settings
        middle = settings.middle_share if self.d < settings.many_players else settings.middle_share_of_many
        first = min(n_pairs, settings.most_pairs)
        mixed = quotas(self.d, first, singletons=first >= SINGLETONS_FROM * self.d, middle=middle)
        return mixed if n_pairs == first else quotas(self.d, n_pairs, already=mixed)

    def _choose(self, wanted: int, learnt: Learnt | None) -> Coalitions:
        """The mixture or, once something was learnt, half of it followed by the most informative pairs.

        The pairs that the process is conditioned on come first.
        """
        most = self._settings.most_pairs
        is_conditioned = self._n_pairs < most
        missing = (min(wanted, most) if is_conditioned else wanted) - self._n_pairs
        if learnt is None or not is_conditioned:
            return self._of_mixture(missing)
        fixed = self._of_mixture(missing - missing // 2)
        known = np.concatenate([*self._members, fixed])
        return np.concatenate([fixed, self._informative(known, missing // 2, learnt.pilot.scales)])

    def _informative(self, known: Coalitions, count: int, scales: Scales) -> Coalitions:
        pool = candidates(self.d, known, self._rng, self._settings.pool)
        return np.asarray(pool[most_informative(known, pool, scales, count, self._settings)])

    def _of_mixture(self, count: int) -> Coalitions:
        """The next pairs of the mixture; those that were chosen actively are skipped."""
        known = {key for part in self._members for key in coalition_keys(part)}
        parts: list[Coalitions] = []
        while (missing := count - sum(map(len, parts))) > 0:
            self._asked += missing
            fresh = self._chooser.extend(self._quotas(self._asked))
            parts.append(fresh[unseen(fresh, known)][:missing])
            if len(fresh) == 0 and self._asked > class_sizes(self.d).sum():
                raise RuntimeError(f"no pairs of {self.d} players are left to choose")  # cannot be: more are wanted
        return np.concatenate(parts) if parts else np.empty((0, self.d), dtype=bool)

    def learn(self, values: Floats) -> Learnt:
        """Hyperparameters that the games of all rows have in common."""
        unit, magnitudes = unit_sized(self._data(values))
        pilot = learn_from_pilots(unit.pairs(slice(self._settings.most_pairs)), self._settings)
        return Learnt(unit, magnitudes, pilot)

    def estimate(self, values: Floats, learnt: Any = None) -> Moments:
        """Posterior mean and variance of all games."""
        known = self.learn(values) if learnt is None else learnt
        found = estimate_games(known.unit, known.pilot, self._settings)
        phi = as_games(found.values * known.magnitudes, values)
        variances = as_games(found.variances * known.magnitudes**2, values)
        return Moments(phi, variances, np.full_like(phi, found.degrees_of_freedom))

"""The estimator "gp": Bayesian quadrature over coalitions, for many games at once.

All rows and outputs of a run are games that share their coalitions. Hyperparameters are learnt on a few pilot
games together, and one factorisation then serves all. A handful of games is refitted one by one from there,
in a few iterations, since games of one model differ in which players interact; and each of a handful of games may
have interactions that stand out (``triples``).

**Beyond ``MOST_PAIRS`` pairs** the process is conditioned on the first so many. What its mean leaves unexplained is a
game too, whose Shapley values the regression estimates: pairs that the process has seen stand for themselves, later
ones for all the others of their class. The two are combined by their variances. That is consistent, because the
regression is and its variance falls to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import RNG, Coalitions, Floats
from sharpley.coalitions.moments import Moments
from sharpley.coalitions.store import coalition_keys
from sharpley.estimators.gp.active import candidates, most_telling
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.gp.learning import Sample, learn_scales
from sharpley.estimators.gp.posterior import Conditioner, Posterior, are_enough_for_triples, with_full_coalition
from sharpley.estimators.gp.triples import CANDIDATES, MOST_PLAYERS, ROUNDS
from sharpley.estimators.pairs.base import PairData, PairedEstimator, as_games
from sharpley.estimators.pairs.choosing import class_sizes, quotas
from sharpley.estimators.pairs.regression import LeastSquares, PairRegression

MANY_PLAYERS = 50
MIDDLE, MIDDLE_OF_MANY = 0.3, 0.5  # share of pairs that halve the players
PILOTS, PILOT_ITERATIONS = 10, 20
PILOT_PAIRS, MORE_PILOT_PAIRS = 300, 600  # more for many players, and for a game alone
REFITTED = 50  # games at most
REFITTED_PAIRS = 1500  # beyond these a factorisation for each game costs more than it gains
REFIT_PAIRS, REFIT_ITERATIONS = 200, 6
REFIT_PAIRS_OF_MANY, REFIT_ITERATIONS_OF_MANY = 300, 12
MOST_PAIRS = 3000
REST_FOR_EACH_PLAYER = 3  # pairs beyond these, before a regression on them says anything


@final
class GaussianProcessEstimator(PairedEstimator):
    """Bayesian quadrature over coalitions: few evaluations go far, at the cost of some linear algebra."""

    def __init__(self, d: int, *, rng: RNG = None) -> None:
        super().__init__(d, rng=rng)
        self._asked = 0  # pairs of the mixture, used or passed over
        self._scales: Scales | None = None  # of the last estimate, for the choice of further pairs

    @property
    def _fewest_pairs(self) -> int:
        return min(self.d + 2, int(class_sizes(self.d).sum()))

    def _quotas(self, n_pairs: int) -> NDArray[np.int64]:
        middle = MIDDLE if self.d < MANY_PLAYERS else MIDDLE_OF_MANY
        first = min(n_pairs, MOST_PAIRS)
        mixed = quotas(self.d, first, singletons=first >= 1.5 * self.d, middle=middle)
        return mixed if n_pairs == first else quotas(self.d, n_pairs, already=mixed)

    def _choose(self, wanted: int) -> Coalitions:
        """The mixture; in a further batch half of it, and then what tells most by the scales found so far.

        The pairs that the process sees come first.
        """
        seen = min(wanted, MOST_PAIRS) if self._n_pairs < MOST_PAIRS else wanted
        missing = seen - self._n_pairs
        if self._scales is None or self._n_pairs >= MOST_PAIRS:
            return self._of_mixture(missing)
        known = np.concatenate(self._members)
        fixed = self._of_mixture(missing - missing // 2)
        known = np.concatenate([known, fixed])
        pool = candidates(self.d, known, self._rng)
        return np.concatenate([fixed, pool[most_telling(known, pool, self._scales, missing // 2)]])

    def _of_mixture(self, count: int) -> Coalitions:
        """The next pairs of the mixture; those that were chosen otherwise are passed over."""
        known = {key for part in self._members for key in coalition_keys(part)}
        parts: list[Coalitions] = []
        while (missing := count - sum(map(len, parts))) > 0:
            self._asked += missing
            fresh = self._chooser.extend(self._quotas(self._asked))
            new = np.array([key not in known for key in coalition_keys(fresh)], dtype=bool)
            parts.append(fresh[new][:missing])
            if len(fresh) == 0 and self._asked > class_sizes(self.d).sum():
                raise RuntimeError(f"no pairs of {self.d} players are left to choose")  # cannot be: more are wanted
        return np.concatenate(parts) if parts else np.empty((0, self.d), dtype=bool)

    @staticmethod
    def work(d: int, budget: int, games: int) -> float:
        """Floating-point operations of the estimate, roughly; 10 to 20 billion take a second on one core."""
        pairs = float(min(budget // 2, MOST_PAIRS))
        pilot = PILOT_ITERATIONS * 4.0 * min(pairs, MORE_PILOT_PAIRS) ** 3
        conditioning = pairs**3 / 3.0 + 2.0 * pairs**2 * d + d**4 / 4.0
        if games > REFITTED:
            return pilot + conditioning + 2.0 * games * pairs**2
        one_by_one = 0.0
        if are_enough_for_triples(int(pairs), d):
            one_by_one = ROUNDS * pairs * (CANDIDATES * pairs + min(d, MOST_PLAYERS) ** 3 * 2.0 / 3.0) + 10.0 * d**3
        if not _are_refitted(games, int(pairs)):
            return pilot + conditioning + games * one_by_one
        learning = REFIT_ITERATIONS_OF_MANY * 4.0 * min(pairs, REFIT_PAIRS_OF_MANY) ** 3
        return pilot + games * (learning + conditioning + one_by_one)

    def estimate(self, values: Floats) -> Moments:
        """Posterior mean and variance of all games."""
        unit, sizes = unit_sized(self._data(values))
        pilot = learn_from_pilots(unit.pairs(slice(MOST_PAIRS)))
        self._scales = pilot.scales
        found = estimate_games(unit, pilot)
        phi, variances = as_games(found.values * sizes, values), as_games(found.variances * sizes**2, values)
        return Moments(phi, variances, np.full_like(phi, found.degrees_of_freedom))


def unit_sized(data: PairData) -> tuple[PairData, Floats]:
    """Games scaled to unit size, and the sizes (g,) that odd values were divided by."""
    sizes = _root_mean_square(np.concatenate([data.odd, data.delta[None]]))
    even = data.even - data.even.mean(axis=0)
    return PairData(data.signs, data.odd / sizes, even / _root_mean_square(even), data.delta / sizes), sizes


class Estimates(NamedTuple):
    """Shapley values of games, which are columns."""

    values: Floats
    """(d, g)."""
    variances: Floats
    """(d, g)."""
    degrees_of_freedom: float


class Pilot(NamedTuple):
    """What games of unit size have in common."""

    linear: LeastSquares
    scales: Scales


def learn_from_pilots(unit: PairData) -> Pilot:
    """Fit the regression to all games, and hyperparameters to a few of them."""
    linear = PairRegression(unit.signs).fit(unit.odd, unit.delta)
    n_games = unit.odd.shape[1]
    games = np.unique(np.linspace(0, n_games - 1, min(PILOTS, n_games)).round().astype(np.int64))
    pairs = PILOT_PAIRS if unit.d < MANY_PLAYERS and n_games > 1 else MORE_PILOT_PAIRS
    return Pilot(linear, _learn(unit, np.abs(linear.values), games, pairs, PILOT_ITERATIONS, start=None))


def estimate_games(unit: PairData, pilot: Pilot) -> Estimates:
    """Shapley values of games of unit size."""
    values, variances = np.empty((unit.d, unit.odd.shape[1])), np.empty((unit.d, unit.odd.shape[1]))
    seen = unit.pairs(slice(MOST_PAIRS))
    n_rest = len(unit.signs) - len(seen.signs)
    regression = PairRegression(unit.signs, len(seen.signs)) if n_rest >= REST_FOR_EACH_PLAYER * unit.d else None
    for games, found in posteriors(seen, pilot):
        values[:, games], variances[:, games] = found.values, found.variances
        if regression is not None:
            at_full = found.predict(np.ones((1, unit.d)))[0]
            correction = regression.fit(unit.odd[:, games] - found.predict(unit.signs), unit.delta[games] - at_full)
            values[:, games], variances[:, games] = _corrected(found, correction)
    return Estimates(values, variances, float(max(1, len(seen.signs) - unit.d)))


def _corrected(found: Posterior, correction: LeastSquares) -> tuple[Floats, Floats]:
    """The process's values plus a part of the regression's correction, by their variances.

    A correction larger than its own variance shows that the process was surer than it should be. The part is the same
    for all players of a game, so that values add up. It tends to 1 with many pairs.
    """
    said, other = found.variances.mean(axis=0), correction.variances.mean(axis=0)
    own = np.maximum(said, (correction.values**2).mean(axis=0) - other)
    part = np.where(own > 0, own / np.where(own > 0, own + other, 1.0), 1.0)
    values = found.values + part * correction.values
    of_process = found.variances * (own / np.where(said > 0, said, 1.0))
    return values, (1.0 - part) ** 2 * of_process + part**2 * correction.variances


def posteriors(unit: PairData, pilot: Pilot) -> Iterator[tuple[NDArray[np.int64], Posterior]]:
    """Condition games of unit size; yields games that share all they are predicted by together."""
    conditioner = Conditioner(unit, pilot.linear)
    everyone = np.arange(unit.odd.shape[1])
    if len(everyone) > REFITTED:
        yield everyone, conditioner.posterior(everyone, pilot.scales)
    elif not _are_refitted(len(everyone), len(unit.signs)):
        yield from conditioner.posteriors(everyone, pilot.scales)
    else:
        importance = np.abs(pilot.linear.values)
        few = unit.d < MANY_PLAYERS
        pairs, iterations = (REFIT_PAIRS, REFIT_ITERATIONS) if few else (REFIT_PAIRS_OF_MANY, REFIT_ITERATIONS_OF_MANY)
        for game in everyone[:, None]:
            own = _learn(unit, importance, game, pairs, iterations, start=pilot.scales)
            yield from conditioner.posteriors(game, own)


def _are_refitted(n_games: int, n_pairs: int) -> bool:
    """Whether each game has hyperparameters of its own; a game alone is its own pilot."""
    return 1 < n_games <= REFITTED and n_pairs <= REFITTED_PAIRS


def _learn(
    unit: PairData, importance: Floats, games: NDArray[np.int64], pairs: int, iterations: int, start: Scales | None
) -> Scales:
    signs, odd, noise = with_full_coalition(unit.games(games))
    n = len(signs) - 1
    # The same pairs every time: results do not depend on what was drawn before.
    chosen = np.arange(n) if n <= pairs else np.sort(np.random.default_rng(0).choice(n, pairs, replace=False))
    rows = np.append(chosen, n)
    sample = Sample(signs[rows], odd[rows], unit.even[np.ix_(chosen, games)], noise[rows])
    return learn_scales(sample, importance[:, games].mean(axis=1), iterations=iterations, start=start)


def _root_mean_square(columns: Floats) -> Floats:
    """Of each column; 1 where it is 0."""
    sizes = np.sqrt((columns**2).mean(axis=0))
    return np.where(sizes == 0.0, 1.0, sizes)

"""Shapley values of games: the run from a budget and a tolerance to an estimate.

Rows are explained together: they share the coalitions, which are drawn once, so model calls can be large. Yet
the result for a row depends on that row alone. Rows in which a player cannot matter (its value is that of all
background rows) leave it out, so rows are first sorted by the players that can.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._checks import check_count, check_weights
from sharpley._typing import RNG, ArrayLike, Coalitions, Floats
from sharpley.estimators.base import Estimator
from sharpley.estimators.permutation import add_walks, walk_moments
from sharpley.evaluation import CoalitionStore, Progress, evaluate, progress_bar
from sharpley.games.base import Game
from sharpley.games.plain import PlainGame
from sharpley.methods import Method, check_method, make_estimator, method_name, resolve
from sharpley.permutations import as_orderings
from sharpley.result import ShapleyEstimate
from sharpley.samplers.replicates import GroupedOrderings
from sharpley.statistics import Moments

EVALS_PER_PLAYER = 20  # default budget without a tolerance: ten pairs of orderings
EVALS_PER_PLAYER_WITH_TOL = 1000
GROWTH = 1.5  # of the budget from one check of the tolerance to the next
VALUES_AT_ONCE = 2**23  # coalition values held for a block of rows: 64 MB


@dataclass(frozen=True)
class Settings:
    """How a run is done, apart from the game."""

    method: Method
    max_evals: int | None
    tol: float | None
    seed: NDArray[np.uint32]
    n_jobs: int | None = None
    progress: bool | None = None


def make_settings(
    method: Method,
    max_evals: int | None,
    tol: float | None,
    rng: RNG,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Settings:
    """Check the arguments of a run and draw its seed."""
    check_method(method)
    if max_evals is not None:
        max_evals = check_count("max_evals", max_evals, minimum=2)
    if tol is not None and not (np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be positive, such as 0.01, got {tol!r}")
    seed = np.random.default_rng(rng).integers(2**32, size=4, dtype=np.uint32)
    return Settings(method, max_evals, tol, seed, n_jobs, progress)


def shapley_values(
    game: Game,
    d: int,
    *,
    method: Method = "auto",
    max_evals: int | None = None,
    tol: float | None = None,
    rng: RNG = None,
    progress: bool | None = None,
) -> ShapleyEstimate:
    """Estimate the Shapley values of a game.

    Parameters
    ----------
    game : callable
        Bool coalitions (m, d) -> values (m,) or (m, k).
    d : int
        Number of players.
    method : str, default "auto"
        A name in ``sharpley.METHODS``, or a sampler class or ``functools.partial`` of one. "auto" enumerates
        all 2^d coalitions if the budget allows, and samples pairs of orderings otherwise.
    max_evals : int, optional
        Distinct coalitions to evaluate at most, v(∅) and v(N) included. 20 d + 2 by default, 1000 d + 2 with ``tol``.
    tol : float, optional
        Stop when the largest standard error is at most ``tol`` times the range (largest minus smallest) of the values.
    rng : int, Generator, SeedSequence or None
    progress : bool, optional
        Show a progress bar: by default on a terminal.

    Returns
    -------
    ShapleyEstimate

    Examples
    --------
    >>> from sharpley.games import Airport
    >>> estimate = shapley_values(Airport((1.0, 2.0, 4.0)), d=3, rng=0)
    >>> estimate.values.round(3), estimate.method, estimate.n_evals
    (array([0.333, 0.833, 2.833]), 'exact', 8)
    """
    d = check_count("d", d, minimum=1)
    settings = make_settings(method, max_evals, tol, rng, progress=progress)
    plain = PlainGame(game, d)
    estimate = estimate_rows(plain, settings).row(0)
    return estimate.without_output_axis() if plain.is_scalar else estimate


def from_orderings(
    game: Game, orderings: ArrayLike, weights: ArrayLike | None = None, *, groups: ArrayLike | None = None
) -> ShapleyEstimate:
    """Shapley values from given orderings: the weighted mean of contributions along their walks.

    Parameters
    ----------
    game : callable
        Bool coalitions (m, d) -> values (m,) or (m, k).
    orderings : (n, d) orderings
    weights : (n,) float, optional
        Equal by default; they are scaled to sum to 1.
    groups : (n,) int, optional
        Which independent group each ordering belongs to. Without it the standard errors are unknown: NaN.

    Examples
    --------
    >>> from sharpley import all_orderings
    >>> from sharpley.games import Glove
    >>> from_orderings(Glove(1, 2), all_orderings(3)).values.round(3)
    array([0.667, 0.167, 0.167])
    """
    orderings = as_orderings(orderings)
    n, d = orderings.shape
    if n == 0:
        raise ValueError("orderings must have at least one row, got none")
    w = np.ones(n) if weights is None else check_weights(weights, n)
    if w.sum() <= 0:
        raise ValueError(f"weights must have a positive sum, got {w.sum()}")
    labels = np.zeros(n, np.int64) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one for each ordering, got {labels.shape}")
    plain, store = PlainGame(game, d), CoalitionStore(d)
    walks = add_walks(store, orderings)
    ends = plain.endpoints()
    with progress_bar(False, 0) as bar:
        rest = evaluate(plain, np.zeros(1, np.int64), store.since(2), n_jobs=None, progress=bar)
    values = np.concatenate([ends, rest], axis=1) if len(store) > 2 else ends
    moments = walk_moments(values, walks, GroupedOrderings(orderings, w / w.sum(), labels))
    estimate = ShapleyEstimate(
        moments.values[0],
        np.sqrt(moments.variances[0]),
        ends[0, 0],
        len(store),
        "orderings",
        True,
        moments.degrees_of_freedom[0],
    )
    return estimate.without_output_axis() if plain.is_scalar else estimate


def estimate_rows(game: Any, settings: Settings) -> ShapleyEstimate:
    """Estimate the Shapley values of every row of ``game`` (see ``RowGames``): arrays (rows, d, k)."""
    varying = game.varying()
    sizes = varying.sum(axis=1)
    # Made before the model is called: a budget that is too small is told at once.
    plans = {d: _plan(settings, d) for d in sorted(set(sizes.tolist()))}
    ends = game.endpoints()
    n_rows, _, k = ends.shape
    result = _Rows(n_rows, game.d, k)
    with progress_bar(settings.progress, sum(plans[d].budget - 2 for d in sizes.tolist())) as bar:
        for rows, players in _blocks(varying, plans, k):
            _Run(_Reduced(game, players), rows, ends[rows], plans[len(players)], settings, bar).into(result, players)
    _warn_unconverged(result.converged, settings)
    name = method_name(plans[max(plans)].method)
    return ShapleyEstimate(
        result.values, np.sqrt(result.variances), ends[:, 0], result.n_evals, name, result.converged, result.freedom
    )


class _Plan(NamedTuple):
    """What is done for games of so many players that matter."""

    method: Method
    budget: int
    adaptive: bool


def _plan(settings: Settings, d: int) -> _Plan:
    """Settle method and budget; a budget that is too small is an error."""
    per_player = EVALS_PER_PLAYER if settings.tol is None else EVALS_PER_PLAYER_WITH_TOL
    budget = settings.max_evals if settings.max_evals is not None else per_player * d + 2
    method = resolve(settings.method, d, budget)
    if d < 2:  # nothing to estimate
        return _Plan(method, 2, adaptive=False)
    trial = make_estimator(method, d, np.random.default_rng(0))
    if settings.max_evals is None:
        budget = max(budget, trial.minimum)
    if budget < trial.minimum:
        raise ValueError(
            f"max_evals={budget} is too small for method {method_name(method)!r} with {d} players: "
            f"it needs at least {trial.minimum}"
        )
    return _Plan(method, min(budget, 2**d), trial.adaptive)


def _blocks(
    varying: Coalitions, plans: dict[int, _Plan], k: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows that are run together, with the players that matter in them."""
    patterns, which = np.unique(varying, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        players, rows = np.flatnonzero(pattern), np.flatnonzero(which.reshape(-1) == index)
        plan = plans[len(players)]
        size = 1 if plan.adaptive else max(1, VALUES_AT_ONCE // (plan.budget * k))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], players


class _Reduced:
    """A game restricted to the players that matter; the others are taken as absent, which changes nothing."""

    def __init__(self, game: Any, players: NDArray[np.int64]) -> None:
        self._game, self._players = game, players
        self.d = len(players)
        self.pairs_per_call = game.pairs_per_call

    def evaluator(self) -> Any:
        evaluate_pairs = self._game.evaluator()
        if self.d == self._game.d:
            return evaluate_pairs

        def reduced(rows: NDArray[np.int64], coalitions: Coalitions) -> Floats:
            whole = np.zeros((len(coalitions), self._game.d), dtype=bool)
            whole[:, self._players] = coalitions
            return np.asarray(evaluate_pairs(rows, whole))

        return reduced


class _Rows:
    """Results of all rows, filled as they are ready."""

    def __init__(self, n: int, d: int, k: int) -> None:
        self.values, self.variances = np.zeros((n, d, k)), np.zeros((n, d, k))
        self.freedom = np.full((n, d, k), np.inf)
        self.n_evals = np.full(n, 2, dtype=np.int64)
        self.converged = np.ones(n, dtype=bool)


class _Run:
    """One run of a method on rows that share their coalitions."""

    def __init__(
        self, game: _Reduced, rows: NDArray[np.int64], ends: Floats, plan: _Plan, settings: Settings, progress: Progress
    ) -> None:
        self._game, self._rows, self._settings, self._progress = game, rows, settings, progress
        self._method, self._budget = plan.method, plan.budget
        self._values = ends  # (active rows, coalitions, k)
        self._active = np.arange(len(rows))

    def into(self, result: _Rows, players: NDArray[np.int64]) -> None:
        """Run, and write the rows into ``result`` as they are done."""
        if self._game.d < 2:  # nothing to estimate: the only player that matters makes all the difference
            result.values[self._rows[:, None], players] = self._values[:, 1:] - self._values[:, :1]
            return
        # The same seed for every block: a row's result does not depend on the rows beside it.
        estimator = make_estimator(self._method, self._game.d, np.random.default_rng(self._settings.seed))
        estimator.prepare(self._budget)
        store = CoalitionStore(self._game.d)
        for budget in self._checkpoints(estimator):
            while estimator.extend(store, budget, self._values[0] if estimator.adaptive else None):
                self._evaluate(store)
            moments = estimator.estimate(self._values)
            met = self._met(moments)
            last = budget == self._budget or bool(met.all())
            self._write(result, players, moments, np.ones_like(met) if last else met, met, len(store))
            if last:
                break

    def _checkpoints(self, estimator: Estimator) -> list[int]:
        """Budgets at which the tolerance is checked, up to the whole."""
        if self._settings.tol is None:
            return [self._budget]
        checks, budget = [], estimator.first_checkpoint
        while budget < self._budget:
            checks.append(budget)
            budget = int(GROWTH * budget) + 1
        return [*checks, self._budget]

    def _evaluate(self, store: CoalitionStore) -> None:
        fresh = store.since(self._values.shape[1])
        if len(fresh):
            rows = self._rows[self._active]
            new = evaluate(self._game, rows, fresh, n_jobs=self._settings.n_jobs, progress=self._progress)
            self._values = np.concatenate([self._values, new], axis=1)

    def _met(self, moments: Moments) -> NDArray[np.bool_]:
        """Whether each active row's largest standard error is within tolerance of the range of its values."""
        if self._settings.tol is None:
            return np.ones(len(self._active), dtype=bool)
        spread = np.ptp(moments.values, axis=1)
        return np.asarray(
            (np.sqrt(moments.variances).max(axis=1) <= self._settings.tol * spread).all(axis=1), dtype=bool
        )

    def _write(
        self,
        result: _Rows,
        players: NDArray[np.int64],
        moments: Moments,
        done: NDArray[np.bool_],
        met: NDArray[np.bool_],
        n_evals: int,
    ) -> None:
        rows = self._rows[self._active[done]]
        at = (rows[:, None], players)
        result.values[at], result.variances[at] = moments.values[done], moments.variances[done]
        result.freedom[at] = moments.degrees_of_freedom[done]
        result.n_evals[rows], result.converged[rows] = n_evals, met[done]
        self._progress.advance((self._budget - n_evals) * len(rows))
        self._active, self._values = self._active[~done], self._values[~done]


def _warn_unconverged(converged: NDArray[np.bool_], settings: Settings) -> None:
    missed = int((~converged).sum())
    if missed:
        warnings.warn(
            f"{missed} of {len(converged)} rows did not reach tol={settings.tol}; raise max_evals, or look at "
            "`converged` and the standard errors",
            RuntimeWarning,
            stacklevel=4,
        )

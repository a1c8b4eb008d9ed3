"""One cell of the benchmark: a method on a game with a budget and a seed. Its error, and its time without the game."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpley import METHODS, Games
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.store import coalition_keys
from sharpley.games.base import Evaluate
from sharpley_experiments.bench.games import BenchGame, bench_game
from sharpley_experiments.bench.peers import Peer, TooFewEvaluationsError, available_peers
from sharpley_experiments.common.quiet import estimated

OURS: tuple[str, ...] = tuple(name for name in METHODS if name not in ("auto", "exact"))


def measure(
    *, game: str, method: str, multiple: int, seed: int, data: str | None, folder: str, version: str = ""
) -> list[dict[str, Any]]:
    """Run a method with ``multiple`` · d + 2 evaluations on every row; no rows if it needs more than that.

    A method that evaluates more than that is an error of the benchmark.
    """
    chosen = bench_game(game, data, folder)
    timed = Timed(chosen.games)
    budget = multiple * timed.d + 2
    if method in OURS and budget < METHODS[method].least_budget(int(timed.varying().sum(axis=1).max())):
        return []
    start = time.perf_counter()
    estimate = _ours if method in OURS else _peers
    try:
        values = estimate(timed, method, budget, seed)
    except TooFewEvaluationsError:
        return []
    seconds = time.perf_counter() - start
    if timed.evaluations > budget * len(chosen.exact):
        raise RuntimeError(f"{method} evaluated {timed.evaluations} coalitions of {game}, more than {budget} a row")
    return [_row(chosen, timed, values, seconds)]


def _row(chosen: BenchGame, timed: Timed, values: Floats, seconds: float) -> dict[str, Any]:
    rows = len(chosen.exact)
    return {
        "d": timed.d,
        "mse": float(((values - chosen.exact) ** 2).mean()),
        "size": float((chosen.exact**2).mean()),
        "reference_variance": chosen.reference_variance,
        "evaluations": timed.evaluations / rows,
        "own_seconds": (seconds - timed.seconds) / rows,
        "seconds": seconds / rows,
    }


def _ours(timed: Timed, method: str, budget: int, seed: int) -> Floats:
    return estimated(timed, method, budget, seed).values


def _peers(timed: Timed, method: str, budget: int, seed: int) -> Floats:
    """Row by row, each with the players that matter in it."""
    peer = available_peers()[method]
    varying = timed.varying()
    values = np.zeros(varying.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row, players in enumerate(varying):
            values[row, players] = _one_row(timed, peer, row, players, budget, seed)
    return values


def _one_row(timed: Timed, peer: Peer, row: int, players: NDArray[np.bool_], budget: int, seed: int) -> Floats:
    evaluate = timed.evaluator()

    def game(coalitions: Coalitions) -> Floats:
        whole = np.zeros((len(coalitions), timed.d), dtype=bool)
        whole[:, players] = coalitions
        return evaluate(np.full(len(whole), row), whole, None)[:, 0]

    return peer(game, int(players.sum()), budget, 1000 * seed + row)


class Timed(Games):
    """Games that time their evaluations, and count the distinct coalitions that they are asked for."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self.d, self.n_rows, self.n_draws = games.d, games.n_rows, games.n_draws
        self.draws_per_call, self.draw_weights = games.draws_per_call, games.draw_weights
        self.player_names = games.player_names
        self.seconds = 0.0
        self._known: set[bytes] = set()

    @property
    def evaluations(self) -> int:
        """Number of distinct coalitions of all rows."""
        return len(self._known)

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        return self._games.evaluator()(rows, coalitions, draws)

    def endpoints(self) -> Floats:
        """Values of ∅ and N, counted and timed."""
        start = time.perf_counter()
        ends = self._games.endpoints()
        for members in (False, True):
            self._count(np.arange(len(ends)), np.full((len(ends), self.d), members))
        self.seconds += time.perf_counter() - start
        return ends

    def varying(self) -> Coalitions:
        """Players that may matter."""
        return self._games.varying()

    def evaluator(self) -> Evaluate:
        """Evaluate, count and time."""
        evaluate = self._games.evaluator()

        def values(rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64] | None = None) -> Floats:
            start = time.perf_counter()
            out = evaluate(rows, coalitions, draws)
            self._count(rows, coalitions)
            self.seconds += time.perf_counter() - start
            return out

        return values

    def _count(self, rows: NDArray[np.int64], coalitions: Coalitions) -> None:
        keys = coalition_keys(coalitions)
        self._known.update(row.to_bytes(8) + key for row, key in zip(rows.tolist(), keys, strict=True))

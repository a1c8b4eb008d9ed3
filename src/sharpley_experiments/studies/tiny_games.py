"""The games of the study ``tiny``: three models of diabetes, and rough games, all of few players."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Coalitions, Floats
from sharpley.coalitions.enumeration import all_coalitions
from sharpley_experiments.battery.games import MAX_ENUMERATED, battery

BACKGROUND_ROWS = 100
INSTANCE = 300  # of the rough games: none that a setting was chosen on


class SmallGame(NamedTuple):
    """A game of few players, all of whose values are known."""

    name: str
    is_model: bool
    table: Floats
    """Values of all coalitions, in the order of ``all_coalitions``, (2^d,)."""
    exact: Floats
    """Shapley values, (d,)."""

    @property
    def d(self) -> int:
        """Number of players."""
        return len(self.exact)

    def __call__(self, coalitions: Coalitions) -> Floats:
        """Look values up."""
        return np.asarray(self.table[np.asarray(coalitions, dtype=np.int64) @ (1 << np.arange(self.d))])


def _diabetes_models() -> dict[str, Callable[[], Any]]:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    def scaled(model: Any) -> Any:
        return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())

    return {
        "forest": lambda: RandomForestRegressor(random_state=0),
        "support vectors": lambda: scaled(SVR()),
        "network": lambda: scaled(MLPRegressor(max_iter=1000, random_state=0)),
    }


def model_games(n_rows: int, *, quick: bool = False) -> Iterator[SmallGame]:
    """Yield the games of rows of diabetes, explained for a forest, a network and support vectors."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    chosen = np.random.default_rng(3).permutation(len(data.data))
    rows, background = data.data[chosen[:n_rows]], data.data[chosen[-BACKGROUND_ROWS:]]
    for name, make in _diabetes_models().items():
        predict = make().fit(data.data, data.target).predict
        for number, row in enumerate(rows):
            yield _tabulated(f"{name}, row {number}", partial(_mean, predict, row, background), len(row))
        if quick:
            return


def _mean(predict: Callable[[Floats], Floats], row: Floats, background: Floats, coalitions: Coalitions) -> Floats:
    """Return the mean prediction over the background of coalitions of a row's features."""
    mixed = np.where(coalitions[:, None], row, background).reshape(-1, len(row))
    return np.asarray(predict(mixed)).reshape(len(coalitions), len(background)).mean(axis=1)


def rough_games(*, quick: bool = False) -> Iterator[SmallGame]:
    """Yield the rough games of few players."""
    few = [game for game in battery(INSTANCE) if game.d <= MAX_ENUMERATED]
    for game in few[:1] if quick else few:
        table = np.asarray(game.games(all_coalitions(game.d)), dtype=np.float64)
        yield SmallGame(game.name, False, table, game.exact)


def _tabulated(name: str, value: Callable[[Coalitions], Floats], d: int) -> SmallGame:
    """Return the game of a model, with all of its values, each of which is computed once."""
    game = SmallGame(name, True, value(all_coalitions(d)), np.zeros(d))
    return game._replace(exact=sharpley.shapley_values(game, d, method="exact", max_evals=2**d).values)

"""The value of data: players are training rows, or groups of them, and v(S) is the score of a model refit on S.

A refit is slow, so every one is done once: scores are kept in memory and, if asked for, in a file, from which an
interrupted run resumes. A refit that raises an error, or whose score is not finite, is kept out of both. If refits are
random, each seed is a draw, and the game is the mean over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count
from sharpley._support.typing import Coalitions, Floats
from sharpley._support.workers import in_workers
from sharpley.games.base import Games
from sharpley.games.marginal.background import number_of_rows, take_rows
from sharpley.games.values import describe

REFITS_PER_WORKER = 8  # in one call, after which progress is shown
Key: TypeAlias = tuple[bytes, int]
"""A coalition, packed, and the number of a draw."""
Groups: TypeAlias = Mapping[Any, Sequence[int]] | Sequence[Any]
"""What ``groups=`` accepts: rows of each group by its name, or the group of each row."""


class Refit(NamedTuple):
    """What a refit needs, apart from the rows: it is sent to workers."""

    model: Any
    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: Any
    scorer: Callable[[Any, Any, Any], float]

    def __call__(self, rows: NDArray[np.int64], seed: int | None) -> float:
        """Return the score of the model, fitted to some of the rows."""
        from sklearn.base import clone

        fitted = clone(self.model)
        states = [name for name in fitted.get_params() if name.split("__")[-1] == "random_state"]
        current = fitted.get_params()
        # Without seeds, a random model still has to have the same value for the same coalition.
        changed = states if seed is not None else [name for name in states if current[name] is None]
        fitted.set_params(**dict.fromkeys(changed, 0 if seed is None else seed))
        fitted.fit(take_rows(self.X, rows), self.y[rows])
        return float(self.scorer(fitted, self.X_test, self.y_test))


@final
class ValuationGame(Games):
    """The score of a model as a game of its training rows, or of groups of these.

    Parameters
    ----------
    model, X, y, X_test, y_test, scorer, groups, seeds, default, least_rows, cache, n_jobs
        As for ``DataValuation``.

    Attributes
    ----------
    n_refits : int
        Number of refits so far, those in the file not included.
    default : float
        The value of coalitions that a model cannot be fitted to.
    """

    def __init__(
        self,
        model: Any,
        X: Any,  # noqa: N803 (scikit-learn's name)
        y: Any,
        X_test: Any,  # noqa: N803
        y_test: Any,
        *,
        scorer: str | Callable[[Any, Any, Any], float] | None = None,
        groups: Groups | None = None,
        seeds: int | Sequence[int] | None = None,
        default: float | None = None,
        least_rows: int = 1,
        cache: str | Path | None = None,
        n_jobs: int | None = None,
    ) -> None:
        from joblib import effective_n_jobs

        labels = np.asarray(y)
        if labels.ndim == 0 or number_of_rows(X) != len(labels):
            raise ValueError(f"X has {number_of_rows(X)} rows, but y has shape {labels.shape}; each row needs a label")
        if not hasattr(model, "fit"):
            raise TypeError(
                f"the model must have a method fit, got {model!r}; pass an estimator of scikit-learn's kind"
            )
        self._refit = Refit(model, X, labels, X_test, y_test, _as_scorer(model, scorer))
        self._rows = _rows_of_players(groups, X, len(labels))
        self.d, self.player_names = len(self._rows), [str(name) for name in self._rows]
        self._members = list(self._rows.values())
        self._seeds = _as_seeds(model, seeds)
        self.n_draws = len(self._seeds)
        self._least_rows = check_count("least_rows", least_rows, minimum=1)
        self.default = _score_of_constant(self._refit) if default is None else float(default)
        self._n_jobs, self.n_refits = n_jobs, 0
        self.draws_per_call = REFITS_PER_WORKER * effective_n_jobs(n_jobs)
        self._scores = _Scores(cache, self._fingerprint if cache is not None else None)

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> Floats:
        keys = list(zip((row.tobytes() for row in np.packbits(coalitions, axis=1)), draws.tolist(), strict=True))
        missing = {key: coalition for key, coalition in zip(keys, coalitions, strict=True) if key not in self._scores}
        tasks = {key: (self._rows_of(coalition), self._seeds[key[1]]) for key, coalition in missing.items()}
        degenerate = [key for key, (members, _) in tasks.items() if self._is_degenerate(members)]
        for key in degenerate:
            self._scores.keep(key, self.default)
            del tasks[key]
        named = ((*task, describe(missing[key])) for key, task in tasks.items())
        for key, score in zip(tasks, self._scored(named), strict=True):
            if not np.isfinite(score):
                raise ValueError(f"the scorer returned {score} for the refit on {describe(missing[key])}")
            self._scores.keep(key, score)
            self.n_refits += 1
        return np.array([self._scores[key] for key in keys])

    def _scored(self, tasks: Iterable[tuple[NDArray[np.int64], int | None, str]]) -> Iterator[float]:
        """Yield the scores of refits, one after the other, or computed by parallel workers."""
        if self._n_jobs in (None, 1):
            return (_named(self._refit, *task) for task in tasks)
        return in_workers(_named, tasks, self._n_jobs, shared=(self._refit,))

    def _rows_of(self, coalition: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the rows of the members of a coalition, in the order of the data."""
        members = [np.empty(0, np.int64), *compress(self._members, coalition)]
        return np.sort(np.concatenate(members))

    def _is_degenerate(self, rows: NDArray[np.int64]) -> bool:
        """Whether a model cannot be fitted to rows: too few of them, or of a single class."""
        from sklearn.base import is_classifier

        if len(rows) < self._least_rows:
            return True
        return bool(is_classifier(self._refit.model) and len(np.unique(self._refit.y[rows])) < 2)

    @property
    def _fingerprint(self) -> str:
        """What the scores in a file depend on."""
        import joblib

        refit = self._refit
        parts = [refit.model, np.asarray(refit.X), refit.y, np.asarray(refit.X_test), np.asarray(refit.y_test)]
        rules = [self._members, self._seeds, self.default, self._least_rows]
        return str(joblib.hash([*parts, *rules, getattr(refit.scorer, "__name__", repr(refit.scorer))]))


def _named(refit: Refit, rows: NDArray[np.int64], seed: int | None, name: str) -> float:
    """Return the score of a refit; an error names the coalition."""
    try:
        return refit(rows, seed)
    except Exception as error:
        message = f"the refit on {name}, {len(rows)} rows, raised {type(error).__name__}: {error}; "
        raise RuntimeError(message + "least_rows= and default= give small coalitions a value") from error


class _Scores:
    """Scores by coalition and draw, in memory and, if there is a file, in it."""

    def __init__(self, path: str | Path | None, fingerprint: str | None) -> None:
        self._known: dict[Key, float] = {}
        self._path = None if path is None else Path(path)
        if self._path is None:
            return
        with self._open() as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS about (fingerprint TEXT)")
            file.execute("CREATE TABLE IF NOT EXISTS scores (coalition BLOB, draw INTEGER, score REAL)")
            known = file.execute("SELECT fingerprint FROM about").fetchone()
            if known is None:
                file.execute("INSERT INTO about VALUES (?)", (fingerprint,))
            elif known[0] != fingerprint:
                raise ValueError(
                    f"{self._path} has the scores of another model, other data or other settings; use another file"
                )
            for coalition, draw, score in file.execute("SELECT coalition, draw, score FROM scores"):
                self._known[coalition, draw] = score

    def _open(self) -> closing[Any]:
        import sqlite3

        return closing(sqlite3.connect(str(self._path)))

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def __getitem__(self, key: Key) -> float:
        return self._known[key]

    def keep(self, key: Key, score: float) -> None:
        """Keep a score; in a file, it is safe before the next refit is waited for."""
        self._known[key] = score
        if self._path is not None:
            with self._open() as file, file:
                file.execute("INSERT INTO scores VALUES (?, ?, ?)", (*key, score))


def _score_of_constant(refit: Refit) -> float:
    """Return the score of the best constant: the most frequent class, or the mean, of all training rows."""
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor

    constant = DummyClassifier(strategy="prior") if is_classifier(refit.model) else DummyRegressor()
    return refit._replace(model=constant)(np.arange(len(refit.y)), None)


def _as_scorer(model: Any, scorer: Any) -> Callable[[Any, Any, Any], float]:
    from sklearn.metrics import get_scorer

    if scorer is None:
        if not hasattr(model, "score"):
            raise TypeError(f"{type(model).__name__} has no method score; pass scorer=, such as 'accuracy'")
        return _own_score
    if isinstance(scorer, str):
        found: Callable[[Any, Any, Any], float] = get_scorer(scorer)
        return found
    if not callable(scorer):
        raise TypeError(f"scorer must be a name such as 'accuracy', or a function of (model, X, y), got {scorer!r}")
    checked: Callable[[Any, Any, Any], float] = scorer
    return checked


def _own_score(model: Any, rows: Any, labels: Any) -> float:
    return float(model.score(rows, labels))


def _as_seeds(model: Any, seeds: int | Sequence[int] | None) -> list[int | None]:
    """Return the seed of each draw; None if refits are not random."""
    if seeds is None:
        return [None]
    if not any(name.split("__")[-1] == "random_state" for name in model.get_params()):
        raise ValueError(f"seeds are for models with a random_state, which {type(model).__name__} has not; omit seeds")
    if isinstance(seeds, Sequence):
        return [int(seed) for seed in seeds]
    return list(range(check_count("seeds", seeds, minimum=1)))


def _rows_of_players(groups: Groups | None, data: Any, n: int) -> dict[Any, NDArray[np.int64]]:
    """Return the rows of each player, by its name; every row belongs to one."""
    if groups is None:
        names = data.index.tolist() if hasattr(data, "iloc") else range(n)
        return {name: np.array([row]) for row, name in enumerate(names)}
    if isinstance(groups, Mapping):
        found = {name: np.asarray(rows, dtype=np.int64).reshape(-1) for name, rows in groups.items()}
    else:
        of_row = np.asarray(groups)
        if of_row.shape != (n,):
            raise ValueError(f"groups must have one entry for each of {n} rows, got shape {of_row.shape}")
        found = {name: np.flatnonzero(of_row == name) for name in dict.fromkeys(of_row.tolist())}
    every = np.sort(np.concatenate(list(found.values()))) if found else np.empty(0, np.int64)
    if not np.array_equal(every, np.arange(n)):
        raise ValueError(f"every one of {n} rows must belong to one group; groups have {len(every)} entries, {every}")
    return found

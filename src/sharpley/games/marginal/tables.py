"""The numbers that a model of a known library sees in rows, and the columns that they come from.

Frames are converted as the libraries do it: categories become numbers. The earlier steps of a pipeline are applied, so
that the last step sees its own columns. A closed form needs to know the player of each of these: they must come from
the columns of a single one, as those of scalers, imputers and encoders do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.mixing import Mixer, is_sparse
from sharpley.games.marginal.players import Players

Numbers: TypeAlias = Callable[[Any], Floats]
"""Returns the numbers that a model sees in rows, (n, columns)."""

UNKNOWN = -1


class NotExactError(ValueError):
    """Raised with the reason why a model has no closed form."""


class Seen(NamedTuple):
    """A model of a known library, and what it sees."""

    model: Any
    """The model itself, or the last step of a pipeline."""
    numbers: Numbers
    """Its numbers."""
    is_plain: bool
    """Whether its columns are those of the rows."""


def look_into(model: Any) -> Seen:
    """Return the last step of a model, and how rows are converted for it."""
    steps = getattr(model, "steps", None)
    if _is_class(model, "sklearn", "Pipeline") and steps:
        front, last = model[:-1], steps[-1][1]
        if not len(front.steps):
            return look_into(last)
        inner = look_into(last)
        return Seen(inner.model, lambda rows: inner.numbers(front.transform(rows)), is_plain=False)
    preprocessor = getattr(model, "_preprocessor", None)
    if _is_class(model, "sklearn", "BaseHistGradientBoosting") and preprocessor is not None:
        return Seen(model, lambda rows: as_numbers(preprocessor.transform(rows)), is_plain=False)
    if _is_class(model, "xgboost", "XGBModel") or _is_class(model, "xgboost", "Booster"):
        missing = getattr(model, "missing", np.nan)
        return Seen(model, lambda rows: _of_xgboost(rows, missing), is_plain=True)
    if _is_class(model, "lightgbm", "LGBMModel") or _is_class(model, "lightgbm", "Booster"):
        booster = model.booster_ if hasattr(model, "booster_") else model
        return Seen(model, lambda rows: as_numbers(rows, booster.pandas_categorical), is_plain=True)
    return Seen(model, as_numbers, is_plain=True)


def _is_class(model: Any, library: str, name: str) -> bool:
    return any(cls.__name__ == name and cls.__module__.startswith(library) for cls in type(model).__mro__)


def _of_xgboost(rows: Any, missing: float) -> Floats:
    if is_sparse(rows):
        raise NotExactError("XGBoost takes the zeros of sparse matrices for missing values; pass dense rows")
    numbers = as_numbers(rows)
    numbers[numbers == missing] = np.nan
    return numbers


def as_numbers(rows: Any, categories: list[list[Any]] | None = None) -> Floats:
    """Return rows as numbers, (n, columns); categories as their positions among the given ones, or among their own."""
    try:
        return _as_numbers(rows, categories)
    except (TypeError, ValueError) as error:
        raise NotExactError(f"its columns are not all numbers or categories: {error}") from error


def _as_numbers(rows: Any, categories: list[list[Any]] | None) -> Floats:
    if is_sparse(rows):
        return np.asarray(rows.toarray(), dtype=np.float64)
    if hasattr(rows, "iloc"):
        known = iter(categories or ())
        return np.column_stack([_of_pandas(rows.iloc[:, j], known) for j in range(rows.shape[1])])
    if hasattr(rows, "get_columns"):
        return np.column_stack([_of_polars(series) for series in rows.get_columns()])
    return np.array(rows, dtype=np.float64)


def _of_pandas(column: Any, known: Any) -> Floats:
    if not hasattr(column, "cat"):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    codes, expected = column.cat.codes.to_numpy(), next(known, None)
    if expected is not None:
        places = {kind: place for place, kind in enumerate(expected)}
        among = np.array([*(places.get(kind, -1) for kind in column.cat.categories), -1])
        codes = among[codes]
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def _of_polars(series: Any) -> Floats:
    if str(series.dtype).startswith(("Categorical", "Enum")):
        series = series.to_physical()
    return np.asarray(series.cast(float).to_numpy(), dtype=np.float64)


def owners_of(
    numbers: Numbers, mixer: Mixer, players: Players, background: Floats, rows: Floats
) -> NDArray[np.int64] | None:
    """Return the player that each of a model's columns comes from, (columns,); None if one comes from several.

    ``background`` and ``rows`` have the numbers of all background rows and rows. For every column, a row and a
    background row are found in which it differs. It comes from a player if it changes when the row takes that player's
    values from the background row. A column that is the same everywhere has the owner ``UNKNOWN``.
    """
    theirs, ours = (np.where(np.isnan(table), np.inf, table) for table in (background, rows))
    of_row = np.concatenate([ours.argmax(axis=0), ours.argmin(axis=0)])
    of_background = np.concatenate([theirs.argmin(axis=0), theirs.argmax(axis=0)])
    n, columns = len(of_row), np.tile(np.arange(background.shape[1]), 2)
    owners = np.full(background.shape[1], UNKNOWN)
    before = numbers(mixer.mix_single(of_row, np.ones((n, mixer.n_columns), dtype=bool), of_background))
    for player in range(players.d):
        masks = np.tile(players.of_column != player, (n, 1))
        after = numbers(mixer.mix_single(of_row, masks, of_background))
        changed = ~((before == after) | (np.isnan(before) & np.isnan(after))).all(axis=0)
        if (owners[changed] != UNKNOWN).any():
            return None
        owners[changed] = player
    differs = np.zeros(len(owners), dtype=bool)
    differs[columns[ours[of_row, columns] != theirs[of_background, columns]]] = True
    return None if (differs & (owners == UNKNOWN)).any() else owners

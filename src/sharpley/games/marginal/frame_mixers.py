"""Mixing pandas and polars data frames with columns of any dtype.

The background rows and the rows to be explained are concatenated into one *pool*. Each value of a mixed row is taken
from a row of the pool, so the dtypes of the columns are preserved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.marginal.array_mixer import ArrayMixer
from sharpley.games.marginal.mixing import Mix, Mixer, Numbers
from sharpley.games.marginal.numbering import numbered


def pandas_mixer(rows: Any, background: Any) -> Mixer:
    """Return a mixer of pandas frames: as arrays, which is faster, if they have a single dtype; else by column."""
    import pandas as pd

    dtypes = {*rows.dtypes, *background.dtypes}
    if len(dtypes) > 1 or not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return PandasMixer(rows, background)
    return ArrayMixer(
        rows.to_numpy(),
        background.to_numpy(),
        names=[str(c) for c in rows.columns],
        wrap=partial(pd.DataFrame, columns=rows.columns, copy=False),
    )


class PoolMixer(ABC):
    """Base class of the mixers of frames, which take values from a pool."""

    may_reuse = False
    n_rows: int
    n_background: int
    n_columns: int
    names: list[str] | None

    @abstractmethod
    def _take(self, positions: list[NDArray[np.int64]]) -> Any:
        """Return the frame whose column j has the values of the pool's column j at ``positions[j]``."""

    @abstractmethod
    def _codes(self) -> list[NDArray[Any]]:
        """Return codes of the values in each column of the pool: equal for equal values, and for missing values."""

    @abstractmethod
    def _values(self) -> list[Any]:
        """Return the columns of the pool."""

    @cached_property
    def _all_codes(self) -> NDArray[Any]:
        return np.stack(self._codes(), axis=1)

    def varying(self) -> Coalitions:
        """Return whether each column of a row differs from any background row, (n_rows, columns)."""
        background, rows = self._all_codes[: self.n_background], self._all_codes[self.n_background :]
        # Only in columns that are constant in the background can a row be equal to all background rows.
        constant = (background == background[0]).all(axis=0)
        return np.asarray(~constant | (rows != background[0]))

    def differing(self, rows: NDArray[np.int64], background: NDArray[np.int64]) -> Coalitions:
        """Return which columns of rows differ from those of single background rows, (p, columns)."""
        return np.asarray(self._all_codes[self.n_background + rows] != self._all_codes[background])

    def numbers(self) -> Numbers | None:
        """Return all values as numbers."""
        split = [(column[: self.n_background], column[self.n_background :]) for column in self._values()]
        return numbered([background for background, _ in split], [rows for _, rows in split])

    def mixing(self) -> Mix:
        """Return a function that mixes rows with a part of the background."""

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            background = np.arange(part.start, part.stop)
            return self._take(self._positions(rows[:, None], masks[:, None], background[None]))

        return mix

    def mix_single(self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]) -> Any:
        """Mix each row with one background row."""
        return self._take(self._positions(rows, masks, background))

    def _positions(
        self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """Return, for each column, the positions in the pool (background, then rows) of the mixed frame's values."""
        columns = np.moveaxis(masks, -1, 0)
        return [np.where(mask, self.n_background + rows, background).reshape(-1) for mask in columns]


@final
class PandasMixer(PoolMixer):
    """Mix pandas frames."""

    def __init__(self, rows: Any, background: Any) -> None:
        import pandas as pd

        for name, mine, theirs in zip(rows.columns, rows.dtypes, background.dtypes, strict=True):
            numbers = pd.api.types.is_numeric_dtype(mine) and pd.api.types.is_numeric_dtype(theirs)
            if mine != theirs and not numbers:
                raise TypeError(f"column {name!r} {dtypes_differ(name, mine, theirs)}")
        self.n_rows, self.n_columns = rows.shape
        self.n_background = len(background)
        self.names = [str(c) for c in rows.columns]
        # Positions serve as labels, since the original labels may repeat.
        frames = (frame.set_axis(range(self.n_columns), axis=1) for frame in (background, rows))
        self._pool = pd.concat(frames, ignore_index=True)
        self._columns = rows.columns

    def fresh_rows(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the rows to be explained."""
        return self._pool.iloc[self.n_background + which].set_axis(self._columns, axis=1)

    def fresh_background(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the background rows."""
        return self._pool.iloc[which].set_axis(self._columns, axis=1)

    def _values(self) -> list[Any]:
        import pandas as pd

        columns = [self._pool[j] for j in range(self.n_columns)]
        is_number = pd.api.types.is_numeric_dtype
        return [c.to_numpy(np.float64, na_value=np.nan) if is_number(c.dtype) else c.to_numpy() for c in columns]

    def _codes(self) -> list[NDArray[Any]]:
        return [_factorized(self._pool[j]) for j in range(self.n_columns)]

    def _take(self, positions: list[NDArray[np.int64]]) -> Any:
        import pandas as pd

        columns = {j: self._pool[j].array.take(position) for j, position in enumerate(positions)}
        return pd.DataFrame(columns).set_axis(self._columns, axis=1)


def _factorized(column: Any) -> NDArray[Any]:
    """Return codes of the values of a pandas column; those without a hash, such as lists, are compared as text."""
    import pandas as pd

    try:
        return np.asarray(pd.factorize(column)[0])
    except TypeError:
        return np.asarray(pd.factorize(column.map(repr))[0])


@final
class PolarsMixer(PoolMixer):
    """Mix polars frames."""

    def __init__(self, rows: Any, background: Any) -> None:
        import polars as pl

        self.n_rows, self.n_columns = rows.shape
        self.n_background = background.height
        self.names = list(rows.columns)
        try:
            self._pool = pl.concat([background, rows], how="vertical_relaxed")
        except Exception as error:
            error.add_note("sharpley: the columns of X and of the background must have the same dtypes")
            raise

    def fresh_rows(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the rows to be explained."""
        return self._pool[self.n_background + which]

    def fresh_background(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the background rows."""
        return self._pool[which]

    def _values(self) -> list[Any]:
        return [s.to_numpy() if s.dtype.is_numeric() else s.cast(str) for s in self._pool.get_columns()]

    def _codes(self) -> list[NDArray[Any]]:
        import polars as pl

        ranked = (pl.Categorical, pl.Enum)
        columns = [s.cast(pl.String) if isinstance(s.dtype, ranked) else s for s in self._pool.get_columns()]
        return [s.rank("dense").fill_null(0).to_numpy() for s in columns]

    def _take(self, positions: list[NDArray[np.int64]]) -> Any:
        import polars as pl

        columns = zip(self._pool.get_columns(), positions, strict=True)
        return pl.DataFrame([series.gather(position) for series, position in columns])


def dtypes_differ(name: Any, mine: Any, theirs: Any) -> str:
    """Say how the dtype of a pandas column of X differs from that of the background, and what to do."""
    if not (hasattr(mine, "categories") and hasattr(theirs, "categories")):
        return f"is {mine} in X but {theirs} in the background; convert them to the same dtype"
    extra = [level for level in mine.categories if level not in theirs.categories]
    missing = [level for level in theirs.categories if level not in mine.categories]
    how = f"only X has {extra}, only the background has {missing}" if extra or missing else "their order differs"
    remedy = f"use the same dtype, as in X[{name!r}] = X[{name!r}].astype(background[{name!r}].dtype)"
    return f"is category in X and in the background, but with other categories: {how}; {remedy}"


MIXERS: dict[str, Callable[[Any, Any], Mixer]] = {"pandas": pandas_mixer, "polars": PolarsMixer}

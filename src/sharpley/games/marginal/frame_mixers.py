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
from sharpley.games.marginal.dtypes import align_pandas, check_polars
from sharpley.games.marginal.mixing import Mix, Mixer, Numbers
from sharpley.games.marginal.numbering import numbered
from sharpley.games.marginal.sameness import codes_of_floats, codes_of_objects


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

        self.n_rows, self.n_columns = rows.shape
        self.n_background = len(background)
        self.names = [str(c) for c in rows.columns]
        self._columns = rows.columns
        rows, background = align_pandas(rows, background)
        self._pool = pd.concat([background, rows], ignore_index=True)

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
        return [_pandas_codes(self._pool[j]) for j in range(self.n_columns)]

    def _take(self, positions: list[NDArray[np.int64]]) -> Any:
        import pandas as pd

        columns = {j: self._pool[j].array.take(position) for j, position in enumerate(positions)}
        return pd.DataFrame(columns).set_axis(self._columns, axis=1)


def _pandas_codes(column: Any) -> NDArray[Any]:
    import pandas as pd

    if pd.api.types.is_float_dtype(column.dtype):
        return codes_of_floats(column.to_numpy(np.float64, na_value=np.nan), column.isna().to_numpy())
    try:
        return codes_of_objects(column.to_numpy()) if column.dtype == object else np.asarray(pd.factorize(column)[0])
    except TypeError:  # extension types with values that have no hash
        return codes_of_objects(column.to_list())


@final
class PolarsMixer(PoolMixer):
    """Mix polars frames."""

    def __init__(self, rows: Any, background: Any) -> None:
        import polars as pl

        self.n_rows, self.n_columns = rows.shape
        self.n_background = background.height
        self.names = list(rows.columns)
        check_polars(rows, background)
        self._pool = pl.concat([background, rows], how="vertical_relaxed")

    def fresh_rows(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the rows to be explained."""
        return self._pool[self.n_background + which]

    def fresh_background(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the background rows."""
        return self._pool[which]

    def _values(self) -> list[Any]:
        return [_polars_values(series) for series in self._pool.get_columns()]

    def _codes(self) -> list[NDArray[Any]]:
        return [_polars_codes(series) for series in self._pool.get_columns()]

    def _take(self, positions: list[NDArray[np.int64]]) -> Any:
        import polars as pl

        columns = zip(self._pool.get_columns(), positions, strict=True)
        return pl.DataFrame([series.gather(position) for series, position in columns])


def _polars_codes(series: Any) -> NDArray[Any]:
    import polars as pl

    if series.dtype.is_float():
        return codes_of_floats(series.to_numpy(), series.is_null().to_numpy())
    if series.dtype == pl.Object or series.dtype.is_nested():  # polars cannot sort objects
        return codes_of_objects(series.to_list())
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    return np.asarray(series.rank("dense").fill_null(0).to_numpy())


def _polars_values(series: Any) -> NDArray[Any]:
    import polars as pl

    if series.dtype.is_numeric():
        return np.asarray(series.to_numpy())
    plain = series.dtype != pl.Object and not series.dtype.is_nested()
    return np.fromiter((series.cast(str) if plain else series).to_list(), dtype=object, count=len(series))


MIXERS: dict[str, Callable[[Any, Any], Mixer]] = {"pandas": pandas_mixer, "polars": PolarsMixer}

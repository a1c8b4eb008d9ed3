"""Mixing pandas and polars frames: columns of any dtypes, each taken from a pool of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.marginal.array_mixer import ArrayMixer
from sharpley.games.marginal.mixing import Mix, Mixer


def pandas_mixer(rows: Any, background: Any) -> Mixer:
    """Mix frames of one dtype as arrays, which is faster, and others column by column."""
    import pandas as pd

    dtypes = {*rows.dtypes, *background.dtypes}
    if len(dtypes) > 1 or not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return PandasMixer(rows, background)
    columns = rows.columns
    return ArrayMixer(
        rows.to_numpy(),
        background.to_numpy(),
        names=[str(c) for c in columns],
        wrap=lambda array: pd.DataFrame(array, columns=columns, copy=False),
    )


@final
class PandasMixer:
    """Mixes pandas frames."""

    may_reuse = False

    def __init__(self, rows: Any, background: Any) -> None:
        import pandas as pd

        for name, mine, theirs in zip(rows.columns, rows.dtypes, background.dtypes, strict=True):
            numbers = pd.api.types.is_numeric_dtype(mine) and pd.api.types.is_numeric_dtype(theirs)
            if mine != theirs and not numbers:
                raise TypeError(f"column {name!r} is {mine} in X but {theirs} in the background; give both one dtype")
        self.n_rows, self.n_columns = rows.shape
        self.n_background = len(background)
        self.names: list[str] | None = [str(c) for c in rows.columns]
        # Positions as labels: true labels may repeat.
        tables = (table.set_axis(range(self.n_columns), axis=1) for table in (rows, background))
        self._pool = pd.concat(tables, ignore_index=True)
        self._columns = rows.columns

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained."""
        return self._pool.iloc[: self.n_rows].iloc[part].copy().set_axis(self._columns, axis=1)

    def fresh_background(self, part: slice) -> Any:
        """Background rows."""
        return self._pool.iloc[self.n_rows :].iloc[part].copy().set_axis(self._columns, axis=1)

    def varying(self) -> Coalitions:
        """Compare codes of equal values; missing values equal each other."""
        import pandas as pd

        return _varying([pd.factorize(self._pool[j])[0] for j in range(self.n_columns)], self.n_rows)

    def mixing(self) -> Mix:
        """Take each column from the pool, which keeps its dtype."""
        import pandas as pd

        arrays = [self._pool[j].array for j in range(self.n_columns)]

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            taken = zip(arrays, _pool_indices(rows, masks, self.n_rows, part), strict=True)
            mixed = pd.DataFrame({j: array.take(index) for j, (array, index) in enumerate(taken)})
            return mixed.set_axis(self._columns, axis=1)

        return mix


@final
class PolarsMixer:
    """Mixes polars frames."""

    may_reuse = False

    def __init__(self, rows: Any, background: Any) -> None:
        import polars as pl

        self.n_rows, self.n_columns = rows.shape
        self.n_background = background.height
        self.names: list[str] | None = list(rows.columns)
        try:
            self._pool = pl.concat([rows, background], how="vertical_relaxed")
        except Exception as error:
            error.add_note("sharpley: the dtypes of X and of the background must agree")
            raise

    def fresh_rows(self, part: slice) -> Any:
        """Rows to be explained."""
        return self._pool[: self.n_rows][part]

    def fresh_background(self, part: slice) -> Any:
        """Background rows."""
        return self._pool[self.n_rows :][part]

    def varying(self) -> Coalitions:
        """Compare codes of equal values; missing values equal each other."""
        import polars as pl

        ranked = (pl.Categorical, pl.Enum)
        columns = [s.cast(pl.String) if isinstance(s.dtype, ranked) else s for s in self._pool.get_columns()]
        return _varying([s.rank("dense").fill_null(0).to_numpy() for s in columns], self.n_rows)

    def mixing(self) -> Mix:
        """Gather each column from the pool, which keeps its dtype."""
        import polars as pl

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            indices = _pool_indices(rows, masks, self.n_rows, part)
            return pl.DataFrame([s.gather(i) for s, i in zip(self._pool.get_columns(), indices, strict=True)])

        return mix


MIXERS: dict[str, Callable[[Any, Any], Mixer]] = {"pandas": pandas_mixer, "polars": PolarsMixer}


def _varying(codes: list[NDArray[Any]], n_rows: int) -> Coalitions:
    """Which columns of the first ``n_rows`` differ from any of the rows behind them, by codes of columns."""
    table = np.stack(codes, axis=1)
    return np.array([(row != table[n_rows:]).any(axis=0) for row in table[:n_rows]])


def _pool_indices(rows: NDArray[np.int64], masks: Coalitions, n_rows: int, part: slice) -> list[NDArray[np.int64]]:
    """For each column, where in the pool (rows, then background) the mixed table's entries stand."""
    behind = n_rows + np.arange(part.start, part.stop)
    return [np.where(mask[:, None], rows[:, None], behind[None, :]).reshape(-1) for mask in masks.T]

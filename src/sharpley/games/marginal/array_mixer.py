"""Mixing numpy arrays, scipy sparse matrices, and data frames with a single dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Coalitions
from sharpley.games.marginal.dtypes import common_dtype
from sharpley.games.marginal.mixing import Mix, Numbers, is_sparse
from sharpley.games.marginal.numbering import numbered
from sharpley.games.marginal.sameness import differ

MAX_ELEMENTS_AT_ONCE = 2**22  # values that are compared at a time


@final
class ArrayMixer:
    """Mix arrays or sparse matrices.

    Parameters
    ----------
    rows, background : (n_rows, columns) and (n_background, columns) array or sparse matrix
    names : list of str, optional
        Names of the columns.
    wrap : callable, optional
        Converts a mixed array to the type that the model expects. By default, sparse matrices are converted to the type
        of ``rows``, and arrays are passed as they are.
    """

    def __init__(
        self, rows: Any, background: Any, *, names: list[str] | None = None, wrap: Callable[[Any], Any] | None = None
    ) -> None:
        if rows.shape[1] != background.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} columns, but the background has {background.shape[1]}")
        self.n_rows, self.n_columns = rows.shape
        self.n_background, self.names = background.shape[0], names
        self._is_sparse = is_sparse(rows)
        self._wrap = wrap or (rows.__class__ if self._is_sparse else _unchanged)
        self._dtype = common_dtype(rows, background)
        # Sparse rows stay sparse, since there may be many, and are converted to dense rows as needed.
        self._rows = rows.tocsr() if self._is_sparse else np.ascontiguousarray(rows, dtype=self._dtype)
        self._background = (
            background.tocsr() if is_sparse(background) else np.ascontiguousarray(background, dtype=self._dtype)
        )
        self.may_reuse = self._dtype.kind in "biuf" and self._dtype.itemsize <= 8

    def _dense_rows(self, which: Any) -> NDArray[Any]:
        """Return some of the rows to be explained, as an array."""
        return self._dense(self._rows[which])

    def _dense_background(self, which: Any) -> NDArray[Any]:
        """Return some of the background rows, as an array."""
        return self._dense(self._background[which])

    def _dense(self, chosen: Any) -> NDArray[Any]:
        return np.asarray(chosen.toarray(), dtype=self._dtype) if is_sparse(chosen) else chosen

    def fresh_rows(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the rows to be explained."""
        return self._wrap(self._dense_rows(which))

    def fresh_background(self, which: NDArray[np.int64]) -> Any:
        """Return a copy of some of the background rows."""
        return self._wrap(self._dense_background(which))

    def varying(self) -> Coalitions:
        """Return whether each column of a row differs from any background row, (n_rows, columns)."""
        # Only in columns that are constant in the background can a row be equal to all background rows.
        first = self._dense_background([0])
        constant = ~np.any([differ(self._dense_background(p), first).any(axis=0) for p in self._parts()], axis=0)
        return np.concatenate(
            [~constant | differ(self._dense_rows(p), first) for p in _parts(self.n_rows, self.n_columns)]
        )

    def differing(self, rows: NDArray[np.int64], background: NDArray[np.int64]) -> Coalitions:
        """Return which columns of rows differ from those of single background rows, (p, columns)."""
        return differ(self._dense_rows(rows), self._dense_background(background))

    def numbers(self) -> Numbers | None:
        """Return all values as numbers; of arrays of numbers these are the values themselves, not copies."""
        if self._is_sparse or is_sparse(self._background):
            return None
        categories = np.full(self.n_columns, self._dtype.kind not in "biuf")
        if not categories.any():
            return Numbers(self._rows, self._background, categories)
        return numbered(list(self._background.T), list(self._rows.T))

    def _parts(self) -> list[slice]:
        return _parts(self.n_background, self.n_columns)

    def mixing(self) -> Mix:
        """Return a function that mixes rows with a part of the background.

        It uses compiled code and a buffer if memory may be reused, and otherwise numpy and new memory.
        """
        buffer = _Buffer(self._dtype) if self.may_reuse else None

        def mix(rows: NDArray[np.int64], masks: Coalitions, part: slice) -> Any:
            present, which = np.unique(rows, return_inverse=True)
            foreground = np.ascontiguousarray(self._dense_rows(present))
            which = which.reshape(-1)
            if buffer is None:
                mixed = np.where(masks[:, None, :], foreground[which][:, None, :], self._dense_background(part))
            else:
                mixed = buffer.fill(foreground, which, rows, masks, self._dense_background(part), part)
            return self._wrap(mixed.reshape(-1, masks.shape[1]))

        return mix

    def mix_single(self, rows: NDArray[np.int64], masks: Coalitions, background: NDArray[np.int64]) -> Any:
        """Mix each row with one background row, in new memory."""
        present, which = np.unique(rows, return_inverse=True)
        foreground = self._dense_rows(present)
        mixed = self._dense_background(background)
        np.copyto(mixed, foreground[0] if len(present) == 1 else foreground[which.reshape(-1)], where=masks)
        return self._wrap(mixed)


def _unchanged(array: NDArray[Any]) -> NDArray[Any]:
    return array


def _parts(n: int, n_columns: int) -> list[slice]:
    """Divide n rows into parts of bounded memory."""
    size = max(1, MAX_ELEMENTS_AT_ONCE // max(1, n_columns))
    return [slice(start, min(n, start + size)) for start in range(0, max(n, 1), size)]


class _Buffer:
    """Memory for mixed rows that is reused by every call: allocating new memory would cost more than the mixing."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._mixed = np.empty((0, 0, 0), dtype=dtype)
        self._part = slice(0, 0)

    def fill(
        self,
        foreground: NDArray[Any],
        which: NDArray[Any],
        rows: NDArray[Any],
        masks: Coalitions,
        background: NDArray[Any],
        part: slice,
    ) -> NDArray[Any]:
        """Mix p rows, each by its mask, with part of the background: (p, b, c), read-only since the buffer is kept."""
        from sharpley.games.marginal._blend import blend

        shape = (len(rows), *background.shape)
        if shape[0] > len(self._mixed) or shape[1:] != self._mixed.shape[1:]:
            self._mixed = np.empty(shape, dtype=self._dtype)
            self._part = slice(0, 0)
        if part != self._part:  # the buffer holds other background rows: discard it
            self._part = part
            self._last_rows = np.full(len(self._mixed), -1, dtype=np.int64)
            self._last_masks = np.zeros((len(self._mixed), masks.shape[1]), dtype=bool)
        bits = f"u{self._dtype.itemsize}"
        background_bits, mixed_bits = background.view(bits), self._mixed.view(bits)
        last = self._last_rows, self._last_masks
        blend(foreground.view(bits), which, rows, masks, background_bits, mixed_bits, *last)
        mixed = self._mixed[: len(rows)]
        mixed.flags.writeable = False
        return mixed

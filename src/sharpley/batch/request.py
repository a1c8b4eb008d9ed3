"""What is to be explained: the files, checked as far as their names, beginnings and ends tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

from sharpley._support.checks import check_count
from sharpley.batch import models, tables
from sharpley.batch.frames import background_frame, first_rows, frame_of
from sharpley.batch.recipe import Options, Recipe
from sharpley.presentation.parquet import pyarrow


@dataclass(frozen=True)
class Request:
    """A model, data and background in files, and the settings of the explanation."""

    model: models.ModelSource
    data: tables.Table
    background: tables.Table
    id_column: str | None
    options: Options

    @cached_property
    def features(self) -> list[str]:
        """Columns that are explained: those that the model names, or all of the background but the ids of rows."""
        chosen = models.columns(self.model.load(), self.background.feature_names, self.id_column)
        missing = [name for name in chosen if name not in self.data.schema.names]
        if missing:
            raise ValueError(f"the data have no columns {missing}, which the background has")
        return chosen

    def recipe(self, key: str) -> Recipe:
        """Return what is needed to explain rows, with a key that identifies it."""
        background = background_frame(self.background, self.features, self.options.seed)
        return Recipe(self.model, background, self.options, key)

    def tables(self, ranges: Sequence[tuple[int, int]]) -> Iterator[Any]:
        """Yield the features of the rows in ascending ranges, as tables of pyarrow."""
        return self.data.ranges(ranges, self.features)

    def ids(self, ranges: Sequence[tuple[int, int]]) -> Iterator[Any]:
        """Yield the ids of the rows in ascending ranges, as arrays of pyarrow; None without a column of ids."""
        return repeat(None) if self.id_column is None else self.data.ids(ranges, self.id_column)

    def first_row(self, background: Any) -> Any:
        """Return the first row as a frame like the background."""
        return frame_of(next(self.tables([(0, 1)])), background, range(1))


def _types(schema: Any, model: models.ModelSource, id_column: str | None) -> Any:
    """Return the types of the data in CSV files: the background's, but ids that are no feature are text."""
    if id_column is None or id_column in (models.feature_names(model.load()) or ()):
        return schema
    pa, _ = pyarrow()
    others = [field for field in schema if field.name != id_column]
    return pa.schema([*others, pa.field(id_column, pa.string())])


def make_request(
    model: str,
    data: str,
    background: str,
    *,
    options: Options | None,
    id_column: str | None,
    trust_pickle: bool,
    trusted_types: Sequence[str],
) -> Request:
    """Find the files, and check what can be checked without reading them as a whole."""
    options = options or Options()
    check_count("seed", options.seed, minimum=0)
    source = models.find(model, trust_pickle=trust_pickle, trusted_types=trusted_types)
    of_background = tables.find(background, "background")
    source.check(first_rows(of_background), id_column)
    of_data = tables.find(data, "data", _types(of_background.schema, source, id_column))
    if id_column is not None and id_column not in of_data.schema.names:
        raise ValueError(f"the data have no column {id_column!r} for the ids of rows; they have {of_data.schema.names}")
    if of_data.n_rows == 0:
        raise ValueError(f"{of_data.paths[0]} has no rows")
    return Request(source, of_data, of_background, id_column, options)

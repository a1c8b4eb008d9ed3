"""Selection of rows, players and outputs of a result, by position or by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Axis(NamedTuple):
    """An axis of a result."""

    name: str
    """What is along the axis, for messages: rows, players or outputs."""
    length: int
    labels: list[Any] | None
    """Names along the axis, if there are any."""

    def position(self, key: Any) -> Any:
        """Return a position, or a list of positions, for a position, a name, a slice, a mask, or a list of these."""
        if isinstance(key, slice):
            return list(range(self.length))[key]
        if isinstance(key, str):
            return self._of_name(key)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -self.length <= key < self.length:
                raise IndexError(f"there are {self.length} {self.name}, so there is no number {key}")
            return int(key) % self.length
        if isinstance(key, np.ndarray) and key.dtype == bool:
            if key.shape != (self.length,):
                raise IndexError(f"a mask of {self.name} must have shape ({self.length},), got {key.shape}")
            return np.flatnonzero(key).tolist()
        if isinstance(key, list | tuple | np.ndarray):
            return [self.position(each) for each in key]
        raise TypeError(f"{self.name} are selected by position or name, got {key!r}")

    def _of_name(self, name: str) -> int:
        if self.labels is not None and name in self.labels:
            return self.labels.index(name)
        known = "have no names" if self.labels is None else f"are {self.labels}"
        raise KeyError(f"no {name!r} among the {self.name}, which {known}")

    def knows(self, name: str) -> bool:
        """Return whether there is such a name along the axis."""
        return self.labels is not None and name in self.labels


def positions(key: Any, axes: list[Axis]) -> list[Any]:
    """Return what ``result[key]`` selects along each axis: a position, a list of positions, or None for everything.

    A single name is looked up along all axes, the players first; ``...`` stands for axes that are not mentioned.
    """
    if isinstance(key, str):
        order = sorted(range(len(axes)), key=lambda number: axes[number].name != "players")
        where = next((number for number in order if axes[number].knows(key)), order[0])
        return [axis.position(key) if number == where else None for number, axis in enumerate(axes)]
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [each.to_numpy() if hasattr(each, "to_numpy") else each for each in keys]  # a Series, such as a mask of rows
    if (at := next((number for number, each in enumerate(keys) if each is Ellipsis), None)) is not None:
        keys[at : at + 1] = [slice(None)] * (len(axes) - len(keys) + 1)
    if len(keys) > len(axes):
        names = ", ".join(axis.name for axis in axes)
        raise IndexError(f"the result has the axes {names}, but {len(keys)} were selected from")
    keys += [slice(None)] * (len(axes) - len(keys))
    return [None if _is_everything(each) else axis.position(each) for each, axis in zip(keys, axes, strict=True)]


def _is_everything(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)


def select(result: dict[str, Any], key: Any) -> dict[str, Any]:
    """Return the fields of a result, restricted to what ``key`` selects.

    A single row or output has no axis; players always have one. Base values do not depend on players.
    """
    has_rows = np.ndim(result["n_evals"]) == 1
    labels = [("rows", "row_labels")] * has_rows + [("players", "names"), ("outputs", "output_names")]
    shape = result["values"].shape
    axes = [Axis(name, n, result[field]) for (name, field), n in zip(labels, shape, strict=False)]
    chosen = positions(key, axes)
    chosen[int(has_rows)] = None if chosen[int(has_rows)] is None else np.atleast_1d(chosen[int(has_rows)]).tolist()
    selected = dict(result)
    for name in ("values", "standard_errors", "degrees_of_freedom"):
        selected[name] = _taken(result[name], chosen)
    selected["base_values"] = _taken(result["base_values"], [each for j, each in enumerate(chosen) if j != has_rows])
    if has_rows:
        for name in ("n_evals", "converged", "n_predictions"):
            selected[name] = _of_rows(result[name], chosen[0])
    if "labels" in result and chosen[int(has_rows)] is not None:  # the players of each component of interactions
        selected["labels"] = [result["labels"][each] for each in chosen[int(has_rows)]]
    for (_, field), which in zip(labels, chosen, strict=False):
        if which is not None and result[field] is not None:
            selected[field] = [result[field][each] for each in np.atleast_1d(which)]
    return selected


def _taken(array: Any, chosen: list[Any]) -> Any:
    """Return an array, restricted along each axis; from the last axis on, since a single position removes its axis."""
    for axis in reversed(range(len(chosen))):
        array = array if chosen[axis] is None else np.take(array, chosen[axis], axis=axis)
    return array


def _of_rows(field: Any, rows: Any) -> Any:
    """Return what is known of each row, restricted to some rows; of a single row, as a plain number."""
    if rows is None or np.ndim(field) == 0:
        return field
    taken = np.asarray(field)[rows]
    return taken.item() if isinstance(rows, int) else taken

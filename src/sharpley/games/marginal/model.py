"""Calls of a model: which of its methods is called, what it must return, and which of its outputs are explained."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from types import CellType, ModuleType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.calls import LABEL, MARGIN, find_call, margin_call
from sharpley.games.marginal.outputs import Output, as_outputs, positions_of

EMPTY_CELL = CellType()
PROBABILITY_ROUNDING = 1e-3  # by which the sum of probabilities in single precision may differ from 1


@dataclass
class CallTime:
    """How often a model was called in this process, and how long it took."""

    calls: int = 0
    seconds: float = 0.0

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the block as a call."""
        start = perf_counter()
        try:
            yield
        finally:
            self.calls += 1
            self.seconds += perf_counter() - start


@final
class ModelFunction:
    """A model as a function from rows to numbers, whose output is checked at every call.

    Parameters
    ----------
    model : callable, or model of a known library
        ``calls.find_call`` says what is called.
    output : str, int, sequence of these, or None
        The outputs that are returned, by name or position, or "margin" for log-odds and other sums before a link. By
        default all, and of a binary classifier that of its second class.
    output_names : sequence of str, optional
        Names of all outputs of the model. By default, those that it is known to have.

    Attributes
    ----------
    call : callable
        The function or method that is called.
    name : str
        Its name.
    time : CallTime
        How often it was called, and how long it took.
    is_margin : bool
        Whether the margin is explained instead of predictions.
    """

    def __init__(self, model: Any, output: Output | None = None, output_names: Sequence[str] | None = None) -> None:
        self.time = CallTime()
        self.is_margin = isinstance(output, str) and output == MARGIN
        if self.is_margin:
            found, output = margin_call(model), None
        else:
            found = find_call(model, labels=isinstance(output, str) and output == LABEL)
            output = None if found.instead_of_labels is not None else output
        self.call, self.name, self._positive = found.function, found.name, found.positive
        names = found.output_names if output_names is None else output_names
        self._names = None if names is None else [str(name) for name in names]
        self._names_are_given, self._is_settled = output_names is not None, False
        self._n_outputs = len(output_names) if output_names is not None else None
        self._is_default = output is None
        self._output = self._positive if output is None else output
        self._positions: NDArray[np.int64] | None = None
        if self._output is not None and self._names is not None:
            self._positions = self._chosen(self._output, len(self._names))

    @property
    def positions(self) -> NDArray[np.int64] | None:
        """Positions of the outputs that are returned among all; None for all, or before the first call."""
        return self._positions

    @property
    def output_names(self) -> list[str] | None:
        """Names of the outputs that are returned; None if they have none, or not before the first call."""
        if self._names is None or self._positions is None:
            return self._names
        return [self._names[position] for position in self._positions]

    def __call__(self, rows: Any, n: int, describe_rows: Callable[[], str]) -> Floats:
        """Call the model on n rows and return the chosen outputs, (n, k) float.

        ``describe_rows`` returns a description of the rows for error messages.
        """
        with note_rows(self.name, n, describe_rows), self.time.measure():
            output, names = as_outputs(self.call(rows), n, self.name)
        k = output.shape[1]
        if self._n_outputs is not None and k != self._n_outputs:
            raise ValueError(f"{self.name} returned {k} outputs for {describe_rows()}, expected {self._n_outputs}")
        if not self._is_settled:
            self._settle(output, names)
        if self._output is None:
            return output
        if self._positions is None:
            self._positions = self._chosen(self._output, k)
        return output[:, self._positions]

    def _chosen(self, output: Output, k: int) -> NDArray[np.int64]:
        """Return the positions of the chosen outputs among k; that of the positive class is never one of its names."""
        return np.array([output]) if self._is_default else positions_of(output, self._names, k)

    def _settle(self, output: Floats, names: list[str] | None) -> None:
        """Settle what the outputs are, when the first are there.

        Names of classes are given up if there are not as many outputs, as for scores of pairs of classes, or if those
        of two classes do not add up to 1, as for two labels that are predicted at once.
        """
        self._is_settled, self._n_outputs = True, output.shape[1]
        is_choice = self._positive is None or np.allclose(output.sum(axis=1), 1.0, atol=PROBABILITY_ROUNDING)
        if not self._names_are_given and not (is_choice and len(self._names or ()) == self._n_outputs):
            self._names, self._positions = names, None
        if not is_choice and self._is_default:
            self._output = self._positions = None
        elif self._is_default and self._positive is not None and self._names is not None:
            positive, other = self._names[self._positive], self._names[1 - self._positive]
            say_once(
                f"explaining {self.name} of the class {positive!r}; "
                f"output={other!r} selects the other class, and output='all' both"
            )


@contextmanager
def note_rows(name: str, n: int, describe_rows: Callable[[], str]) -> Iterator[None]:
    """Add a note to any exception of a model: for how many and which rows it was called.

    The panics of libraries that are written in Rust, such as polars, are not of the class ``Exception``.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        error.add_note(f"sharpley: raised by {name} on {n} rows: {describe_rows()}")
        raise


@cache
def say_once(text: str) -> None:
    """Tell users something that they need to know once; ``logging.getLogger("sharpley")`` is where to silence it."""
    logging.getLogger("sharpley").warning("sharpley: %s", text)


def reaches_torch(call: Callable[..., Any]) -> bool:
    """Return whether a function may hand its input to torch, which writes to memory that numpy protects.

    It may if torch is known where the function was defined, or where the class of an object that it refers to was.
    """
    function = getattr(call, "func", call)  # of a partial
    function = getattr(function, "__func__", function)  # of a method
    if not hasattr(function, "__globals__"):  # an object that can be called
        function = type(function).__call__
    names = dict(getattr(function, "__globals__", {}))
    cells = getattr(function, "__closure__", None) or ()
    known = [*names.values(), *(cell.cell_contents for cell in cells if cell != EMPTY_CELL)]
    return any(_is_of_torch(each) for each in known)


def _is_of_torch(value: Any) -> bool:
    """Return whether a value is torch, from torch, or of a class in a module that imports torch."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] == "torch"
    module = sys.modules.get(type(value).__module__)
    return type(value).__module__.partition(".")[0] == "torch" or isinstance(getattr(module, "torch", None), ModuleType)

"""The prediction of a model behind one of shap's maskers as a game.

A masker replaces the absent inputs of one sample: ``masker(mask, *inputs)`` returns one or more masked samples, and the
value of a coalition is the mean prediction for these, passed through a link. With ``linearize``, the link is applied to
every prediction, with weights that make the mean of the linked background predictions equal the link of their mean:

    v(S) = Σ_b w_b link(f_b(S)) / n,   w_b ∝ link′(f̄) (f_b − f̄) / (link(f_b) − link(f̄)),

where f_b are the predictions for the empty coalition and f̄ is their mean.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import ArrayLike, Coalitions, Floats
from sharpley.games.base import Games
from sharpley.games.linked import LinkFunction
from sharpley.games.marginal.model import note_rows
from sharpley.games.marginal.outputs import as_outputs
from sharpley.games.values import describe

STEP = 1e-4  # of the numerical derivative of a link
DEFAULT_BATCH = 10  # masks in one model call, as in shap


@final
class MaskedGame(Games):
    """One game: a model at one sample, behind a masker.

    Parameters
    ----------
    model : callable
        Called with masked inputs, as many as there are ``inputs``.
    masker : callable
        Called as ``masker(mask, *inputs)``.
    inputs : tuple
        The sample to explain, one value for each input of the model.
    link : callable or None
        Function of arrays of predictions or means.
    linearize : bool
        Whether to apply the link to single predictions, with weights.
    batch_size : int or "auto"
        Number of masks in one model call.
    all_vary : bool
        Whether to treat every player as one that can matter, as orderings of a tree of players require.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        masker: Any,
        inputs: tuple[Any, ...],
        *,
        link: LinkFunction | None = None,
        linearize: bool = False,
        batch_size: Any = "auto",
        all_vary: bool = False,
    ) -> None:
        self._model, self._masker, self._inputs = model, masker, inputs
        self._link, self._linearize, self._all_vary = link, linearize, all_vary
        self._weights: Floats | None = None
        self.d = n_players(masker, inputs)
        default = getattr(masker, "default_batch_size", DEFAULT_BATCH)
        self.draws_per_call = int(default if batch_size == "auto" else batch_size)

    def varying(self) -> Coalitions:
        """Return which players can matter, (1, d): those for which the masker does not say that they cannot."""
        invariants = getattr(self._masker, "invariants", None)
        if self._all_vary or not callable(invariants):
            return super().varying()
        return np.asarray(~np.asarray(invariants(*self._inputs)).all(axis=0), dtype=bool)[None]

    def endpoints(self) -> Floats:
        """Return the values of ∅ and N, (1, 2, k)."""
        ends = np.array([[False] * self.d, [True] * self.d])
        return np.asarray(self._draws(np.zeros(2, np.int64), ends, np.zeros(2, np.int64)))[None]

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        predictions = self._predictions(coalitions)
        if self._linearize and self._link is not None and self._weights is None:
            empty = np.flatnonzero(~coalitions.any(axis=1))  # usually there, since ∅ is the first to be evaluated
            background = predictions[empty[0]] if len(empty) else self._predictions(np.zeros((1, self.d), bool))[0]
            self._weights = linearizing_weights(background, self._link)
        return np.stack([self._value(each) for each in predictions])

    def _value(self, predictions: Floats) -> Floats:
        """Return the value of a coalition from the predictions for its masked samples: (b, k) -> (k,)."""
        if self._link is None:
            return np.asarray(predictions.mean(axis=0))
        if self._weights is None:
            return np.asarray(self._link(predictions.mean(axis=0)))
        return np.asarray((self._weights * np.asarray(self._link(predictions))).mean(axis=0))

    def _predictions(self, coalitions: Coalitions) -> list[Floats]:
        """Return the predictions for the masked samples of each coalition, from one model call: a list of (b, k)."""
        masked = [self._masked(coalition) for coalition in coalitions]
        sizes = [len(inputs[0]) for inputs in masked]
        together = [join([inputs[j] for inputs in masked]) for j in range(len(masked[0]))]
        with note_rows("the model", sum(sizes), lambda: f"masked samples, starting with {describe(coalitions[0])}"):
            output, _ = as_outputs(self._model(*together), sum(sizes), "the model")
        return np.split(output, np.cumsum(sizes)[:-1])

    def _masked(self, coalition: NDArray[np.bool_]) -> tuple[Any, ...]:
        masked = self._masker(coalition, *self._inputs)
        masked = masked if isinstance(masked, tuple) else (masked,)
        # Most maskers write into the same memory in every call.
        return masked if getattr(self._masker, "immutable_outputs", False) else copy.deepcopy(masked)


def n_players(masker: Any, inputs: tuple[Any, ...]) -> int:
    """Return the number of players of a sample: what the masker says, or the number of elements of the inputs."""
    shape = getattr(masker, "shape", None)
    if shape is None:
        return int(sum(np.prod(np.shape(each)) for each in inputs))
    return int((shape(*inputs) if callable(shape) else shape)[1])


def mask_shapes(masker: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Return the shape of the mask of each input; a composite's are those of its parts, which shap 0.51 mixes up."""
    if hasattr(masker, "maskers"):
        ends = np.cumsum(masker.arg_counts)
        parts = zip(masker.maskers, ends - masker.arg_counts, ends, strict=True)
        return [shape for part, start, end in parts for shape in mask_shapes(part, inputs[start:end])]
    shapes = getattr(masker, "mask_shapes", None)
    return list(shapes(*inputs)) if callable(shapes) else [np.shape(each) for each in inputs]


def join(parts: list[Any]) -> Any:
    """Return masked samples one below the other, in the type that the masker made."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(parts[0], "toarray"):
        from scipy import sparse

        return sparse.vstack(parts)
    return np.concatenate([np.asarray(part) for part in parts])


def linearizing_weights(background: Floats, link: LinkFunction) -> Floats:
    """Return weights w (b, k) with mean(w · link(f)) = link(mean(f)) for background predictions f (b, k)."""
    mean = background.mean(axis=0)
    slope = (np.asarray(link(mean + STEP)) - np.asarray(link(mean))) / STEP
    change = np.asarray(link(background)) - np.asarray(link(mean))
    safe = np.where(change == 0, 1.0, change)
    weights = np.where(change == 0, 1.0, slope * (background - mean) / safe)
    return np.asarray(weights * len(weights) / weights.sum(axis=0))

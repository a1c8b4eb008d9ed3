"""The quality of a model as a game: which features its predictions need (SAGE).

The value of a coalition S is the negative mean loss of predictions that know the features in S alone,

    v(S) = −E ℓ(mean over b of f(x_S, b), y),

over data rows (x, y), with absent features from background rows b. This is the loss of a mean, so a draw of a single
background row would be biased. A draw here is a data row with m fresh background rows, a *visit*, whose value is
corrected for the variance s² of the m predictions about their mean p̄, sampled from B background rows:

- squared error: (p̄ − y)² − c s² with c = 1/m − 1/B, which is exactly unbiased;
- cross-entropy: −log p̄ − c s² / (2 p̄²), unbiased to second order;
- any other loss: the jackknife, which is an estimate of the second derivative from the same m predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count
from sharpley._support.typing import RNG, ArrayLike, Coalitions, Floats
from sharpley.games.base import ENDLESS, Games
from sharpley.games.marginal.game import MarginalGame

VISIT_ROWS = 8  # background rows of a visit; the correction of cross-entropy is useless with 2
SMALLEST_PROBABILITY = float(np.finfo(np.float32).eps)  # as in scikit-learn's log_loss of float32
ROUNDING = 1e-3  # by which probabilities may leave [0, 1], or their sum 1
SQUARED_ERROR, LOG_LOSS, ABSOLUTE_ERROR = LOSSES = ("squared_error", "log_loss", "absolute_error")

LossFunction: TypeAlias = Callable[[Any, Any], Any]
"""``loss(y (n,), predictions (n,))`` -> losses (n,), one for each row."""


@dataclass(frozen=True)
class Targets:
    """What predictions are compared with: true numbers, or the classes of rows among the outputs."""

    numbers: Floats
    """True numbers, (n, k); for classes, 1 for the class of each row and 0 for all others."""
    classes: NDArray[np.int64] | None
    """Position of each row's class among the outputs, (n,); with one output, 0 or 1; None for numbers."""


@final
class LossGame(Games):
    """The negative mean loss of a model that knows some of the features: the game of global importance.

    Parameters
    ----------
    model, background, groups, batch_size, names, output_names
        As for ``MarginalGame``.
    rows : (n, columns) array, DataFrame or sparse matrix
        Data rows.
    y : (n,) or (n, outputs)
        Their true numbers, or classes.
    loss : {"squared_error", "log_loss", "absolute_error"} or callable, optional
        By default "log_loss" for probabilities of classes, else "squared_error". A callable accepts y and predictions,
        (n,) each, and returns the loss of every row, (n,).
    visit_rows : int, default 8
        Number m of background rows of a visit.
    rng : int, Generator, SeedSequence or None
        Chooses the background rows of the visits.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> game = sharpley.games.LossGame(lambda x: 2 * x[:, 0] + x[:, 1], X, X, 2 * X[:, 0] + X[:, 1], rng=0)
    >>> sharpley.estimate(game, max_evals=20_000, rng=0).values.round(0)
    array([[4., 1., 0.]])
    """

    n_draws = ENDLESS

    def __init__(
        self,
        model: Any,
        background: Any,
        rows: Any,
        y: Any,
        *,
        loss: str | LossFunction | None = None,
        visit_rows: int = VISIT_ROWS,
        groups: Mapping[str, Any] | None = None,
        batch_size: int | None = None,
        names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        rng: RNG = None,
    ) -> None:
        outputs = "all" if _is_classifier(model) else None
        common: dict[str, Any] = {"batch_size": batch_size, "names": names, "output_names": output_names}
        self.predictions = MarginalGame(model, background, rows, groups=groups, output=outputs, **common)
        """The model's predictions for the data rows, as games."""
        self.d, self.player_names = self.predictions.d, self.predictions.player_names
        self.n_data = self.predictions.n_rows
        """Number of data rows."""
        n_background, weights = self.predictions.n_draws, self.predictions.draw_weights
        self._weights = None if weights is None or np.ptp(weights) < 1e-12 / n_background else np.asarray(weights)
        self.visit_rows = min(check_count("visit_rows", visit_rows, minimum=2), n_background)
        is_whole, is_equal = self.visit_rows == n_background, self._weights is None
        self._excess = 0.0 if is_whole else 1.0 / self.visit_rows - (1.0 / n_background if is_equal else 0.0)
        self.draws_per_call = max(1, self.predictions.draws_per_call // self.visit_rows)
        self._seed = np.random.default_rng(rng).integers(2**32, size=4)
        self._shuffled: dict[int, NDArray[np.int64]] = {}
        self.outputs = self.predictions.endpoints()
        """Mean prediction for the background, and the prediction for each data row, (n, 2, k)."""
        self._of_background = self.predictions.draw_facts().empty
        is_classes = _is_classifier(model) or loss == LOG_LOSS
        self.targets = _as_targets(y, self.n_data, self.outputs.shape[2], self.predictions.output_names, is_classes)
        self.loss = _checked_loss(loss, self.targets, self.outputs)

    def subset(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the background rows of visits, (p,) -> (p, m).

        Consecutive numbers divide the background, in random order, into equal parts: all rows occur equally often.
        """
        n, m = self.predictions.n_draws, self.visit_rows
        if n == m:
            return np.tile(np.arange(n), (len(numbers), 1))
        order, part = np.divmod(numbers, n // m)
        found = np.empty((len(numbers), m), dtype=np.int64)
        for which in np.unique(order).tolist():
            mine = order == which
            found[mine] = self._order(which)[part[mine, None] * m + np.arange(m)]
        return found

    def _order(self, number: int) -> NDArray[np.int64]:
        """Return one random order of all background rows; with weights, that many rows drawn by their weights."""
        if number not in self._shuffled:
            rng, n = np.random.default_rng([*self._seed, number]), self.predictions.n_draws
            if len(self._shuffled) >= 64:
                self._shuffled.clear()
            self._shuffled[number] = rng.permutation(n) if self._weights is None else rng.choice(n, n, p=self._weights)
        return self._shuffled[number]

    def _draws(self, rows: NDArray[np.int64], coalitions: Coalitions, draws: NDArray[np.int64]) -> ArrayLike:
        number, row = np.divmod(draws, self.n_data)
        m, subset = self.visit_rows, self.subset(number)
        every = np.repeat(row, m), np.repeat(coalitions, m, axis=0), subset.reshape(-1)
        predictions = self.predictions.evaluator()(*every).reshape(len(row), m, -1)
        return self._value(predictions, row, subset)

    def _value(self, predictions: Floats, row: NDArray[np.int64], subset: NDArray[np.int64]) -> Floats:
        """Return the value of visits from predictions for their background rows, (p, m, k) -> (p,)."""
        weights = None if self._weights is None or self._excess else self._weights[subset[0]]
        return -self.corrected_loss(predictions, row, weights)

    def ends_of(self, draws: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the values of ∅ and N in visits, (p,) each, which need no further predictions."""
        number, row = np.divmod(draws, self.n_data)
        subset = self.subset(number)
        return self._value(self._of_background[subset], row, subset), self.ends_of_rows[1][row]

    @cached_property
    def ends_of_rows(self) -> tuple[Floats, Floats]:
        """The values of ∅ and N for every data row, with all background rows, (n,) each."""
        rows = np.arange(self.n_data)
        empty, full = (-self.loss_of(self.outputs[:, end], rows) for end in (0, 1))
        return empty, full

    def endpoints(self) -> Floats:
        """Return the exact values of ∅ and N, (1, 2, 1)."""
        return np.array([part.mean() for part in self.ends_of_rows]).reshape(1, 2, 1)

    @property
    def endpoint_draws(self) -> int:
        """What the values of ∅ and N cost, in visits."""
        return -(-(self.n_data + self.predictions.n_draws) // self.visit_rows)

    def loss_of(self, predictions: Floats, row: NDArray[np.int64]) -> Floats:
        """Return the losses of predictions for data rows, (p, k) and (p,) -> (p,)."""
        if self.loss == LOG_LOSS:
            return -np.log(self._of_class(predictions, row))
        y = self.targets.numbers[row]
        if self.loss == SQUARED_ERROR:
            return np.asarray(((predictions - y) ** 2).mean(axis=-1))
        if self.loss == ABSOLUTE_ERROR:
            return np.asarray(np.abs(predictions - y).mean(axis=-1))
        return np.asarray(
            _called(self.loss, y.reshape(-1), predictions.reshape(-1)).reshape(predictions.shape).mean(-1)
        )

    def _of_class(self, predictions: Floats, row: NDArray[np.int64]) -> Floats:
        """Return the probabilities of the true classes, (p, …, k) -> (p, …)."""
        assert self.targets.classes is not None
        classes = self.targets.classes[row].reshape(-1, *[1] * (predictions.ndim - 1))
        if predictions.shape[-1] == 1:
            chosen = np.where(classes == 1, predictions, 1.0 - predictions)
        else:
            chosen = np.take_along_axis(predictions, np.broadcast_to(classes, (*predictions.shape[:-1], 1)), axis=-1)
        return np.clip(chosen[..., 0], SMALLEST_PROBABILITY, 1.0)

    def corrected_loss(self, predictions: Floats, row: NDArray[np.int64], weights: Floats | None = None) -> Floats:
        """Return the loss of the mean prediction, without the bias from using m background rows: (p, m, k) -> (p,)."""
        m = predictions.shape[1]
        mean = predictions.mean(axis=1) if weights is None else np.einsum("m,pmk->pk", weights, predictions)
        plain = self.loss_of(mean, row)
        if self._excess == 0.0:
            return plain
        if self.loss == SQUARED_ERROR:
            return np.asarray(plain - self._excess * predictions.var(axis=1, ddof=1).mean(axis=-1))
        if self.loss == LOG_LOSS:
            spread = self._of_class(predictions, row).var(axis=1, ddof=1)
            return np.asarray(plain - self._excess * spread / (2.0 * self._of_class(mean, row) ** 2))
        left_out = (m * mean[:, None] - predictions) / (m - 1)
        without = self.loss_of(left_out.reshape(-1, left_out.shape[2]), np.repeat(row, m)).reshape(-1, m).mean(axis=1)
        return np.asarray(plain - (m - 1) * m * self._excess * (without - plain))


def _is_classifier(model: Any) -> bool:
    return hasattr(model, "predict_proba") and hasattr(model, "classes_")


def _as_targets(y: Any, n: int, k: int, names: list[str] | None, is_classes: bool) -> Targets:
    """Return true numbers or classes of n rows, which fit k outputs."""
    labels = np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if len(labels) != n:
        raise ValueError(f"y must have one entry for each of the {n} rows of X, got {len(labels)}")
    if is_classes and labels.ndim == 1:
        return _as_classes(labels, k, names)
    try:
        numbers = labels.astype(np.float64).reshape(n, -1)
    except (TypeError, ValueError):
        raise ValueError(f"y has values such as {labels[0]!r}, which are no numbers; give loss='log_loss'") from None
    if numbers.shape[1] != k:
        raise ValueError(f"y has {numbers.shape[1]} columns, but the model returns {k} outputs for each row")
    if not np.isfinite(numbers).all():
        raise ValueError(f"y must have finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return Targets(numbers, None)


def _as_classes(labels: NDArray[Any], k: int, names: list[str] | None) -> Targets:
    """Return the positions of classes, given by their names, or by their positions if they have none."""
    known = names if names is not None and len(names) == max(k, 2) else [str(place) for place in range(max(k, 2))]
    places = {name: place for place, name in enumerate(known)}
    texts = [_text(label) for label in labels.tolist()]
    unknown = sorted({text for text in texts if text not in places})
    if unknown:
        raise ValueError(f"y has labels that are not classes of the model: {unknown[:5]}; its classes are {known[:20]}")
    classes = np.array([places[text] for text in texts], dtype=np.int64)
    numbers = classes[:, None].astype(np.float64) if k == 1 else np.eye(k)[classes]
    return Targets(numbers, classes)


def _text(label: Any) -> str:
    """Return the name of a class: whole numbers and flags have the name of the integer if they are floats."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def _checked_loss(loss: str | LossFunction | None, targets: Targets, of_rows: Floats) -> str | LossFunction:
    """Return the loss, or the default one, if it fits the outputs for the rows, (n, 2, k)."""
    total = of_rows.sum(axis=2)
    inside = of_rows.min() >= -ROUNDING and of_rows.max() <= 1.0 + ROUNDING
    are_probabilities = inside and (of_rows.shape[2] == 1 or bool(np.allclose(total, 1.0, atol=ROUNDING)))
    if loss is None:
        return LOG_LOSS if targets.classes is not None and are_probabilities else SQUARED_ERROR
    if callable(loss):
        return loss
    if check_choice("loss", loss, LOSSES) == LOG_LOSS and not are_probabilities:
        raise ValueError(
            f"loss 'log_loss' needs probabilities, which lie between 0 and 1 and sum to 1, but the outputs are between "
            f"{of_rows.min():.4g} and {of_rows.max():.4g}; pass a model with predict_proba, or loss='squared_error'"
        )
    return loss


def _called(loss: Any, y: Floats, predictions: Floats) -> Floats:
    """Return what a user's loss returns, if it is a finite number for each row."""
    losses = np.asarray(loss(y, predictions), dtype=np.float64)
    if losses.shape != y.shape:
        raise ValueError(
            f"loss must return one number for each of {len(y)} rows, not their mean; it returned shape {losses.shape}"
        )
    if not np.isfinite(losses).all():
        first = int(np.flatnonzero(~np.isfinite(losses))[0])
        raise ValueError(f"loss returned {losses[first]} for y = {y[first]:.6g}, prediction = {predictions[first]:.6g}")
    return losses

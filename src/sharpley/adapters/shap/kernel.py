"""Explainers with the interface of shap's ``KernelExplainer`` and ``SamplingExplainer``, and Sharpley's methods."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, final

import numpy as np
import shap

from sharpley._support.typing import Floats
from sharpley.adapters.shap.explanation import of_one_row, to_explanation
from sharpley.coalitions.enumeration import can_be_enumerated
from sharpley.engine.methods import Method
from sharpley.estimation import estimate
from sharpley.games.base import Games
from sharpley.games.linked import LinkedGames, LinkFunction, as_link
from sharpley.games.marginal.background import Background, as_background
from sharpley.games.marginal.containers import is_one_row
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.mixing import is_sparse
from sharpley.result import ShapleyEstimate

ROUNDING = 1e-12  # relative to the largest value of a row
EXTRA_EVALS = 2048  # shap's nsamples="auto" is 2 d + 2048


class BackgroundExplainer(shap.Explainer):  # type: ignore[misc]
    """Base class of the explainers with background data; shap's users know their methods."""

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        feature_names: Any,
        nsamples: int | Literal["auto"],
        seed: Any,
        method: Method,
        link: Any = "identity",
        keep_index: bool = False,
    ) -> None:
        self.model, self.data, self.link = model, data, link
        self.nsamples, self.seed, self.method = nsamples, seed, method
        self.data_feature_names = feature_names
        background = as_background(data)
        if hasattr(background.rows, "to_numpy") and not (keep_index or wants_frames(model)):
            self.data_feature_names = feature_names or [str(name) for name in background.rows.columns]
            background = Background(background.rows.to_numpy(), background.weights)
        self._background, self._link = background, as_link(getattr(link, "f", link))
        first = background.rows[:1]
        base = _linked(self._game(first), self._link).endpoints()[0, 0]
        self.expected_value: float | Floats = float(base[0]) if len(base) == 1 else base

    def __call__(self, X: Any, l1_reg: Any = None, silent: bool = True) -> shap.Explanation:  # noqa: N803
        """Explain rows, and return a ``shap.Explanation``; every feature gets a value, so ``l1_reg`` has no effect."""
        game, found = self._estimate(X, "auto", silent)
        explanation = to_explanation(found, game.rows, game.players, self._background.rows)
        return of_one_row(explanation) if is_one_row(X) else explanation

    def shap_values(
        self,
        X: Any,  # noqa: N803 (shap's name)
        nsamples: int | Literal["auto"] = "auto",
        l1_reg: Any = None,
        silent: bool = True,
        gc_collect: bool = False,
    ) -> Floats:
        """Return plain values, (rows, d) or (rows, d, outputs), from ``nsamples`` coalitions for each row."""
        _, found = self._estimate(X, nsamples, silent)
        return found.values[0] if is_one_row(X) else found.values

    def explain(self, incoming_instance: Any, nsamples: int | Literal["auto"] = "auto") -> Floats:
        """Return the values of one row (1, d): (d,) or (d, outputs)."""
        return self.shap_values(incoming_instance, nsamples=nsamples)[0]

    @staticmethod
    def not_equal(i: Any, j: Any) -> bool:
        """Return whether two values differ; numbers that are close, and missing values, do not."""
        if isinstance(i, int | float) and isinstance(j, int | float):
            return not np.isclose(i, j, equal_nan=True)
        return bool(i != j)

    def _estimate(self, rows: Any, nsamples: Any, silent: bool) -> tuple[MarginalGame, ShapleyEstimate]:
        start = perf_counter()
        game = self._game(rows.toarray() if is_sparse(rows) and not is_sparse(self._background.rows) else rows)
        wanted = self.nsamples if nsamples == "auto" else nsamples
        most = 2 * game.d + EXTRA_EVALS if wanted == "auto" else int(wanted)
        all_fit = can_be_enumerated(game.d, most)
        found = estimate(
            _linked(game, self._link),
            method=self.method,
            max_evals=2**game.d if all_fit else most,
            draws="shared" if all_fit else "auto",  # one of max_evals then pays for all background rows, as in shap
            rng=self.seed,
            progress=None if not silent else False,
        )
        seconds, names = perf_counter() - start, game.output_names
        return game, replace(found, values=without_rounding(found.values), compute_time=seconds, output_names=names)

    def _game(self, rows: Any) -> MarginalGame:
        return MarginalGame(self.model, self._background, rows, names=self.data_feature_names, output="all")


def _linked(game: MarginalGame, link: LinkFunction | None) -> Games:
    return game if link is None else LinkedGames(game, link)


def without_rounding(values: Floats) -> Floats:
    """Return values (rows, d) or (rows, d, k), with 0 for those that are nothing but rounding errors, as in shap."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    return np.asarray(np.where(np.abs(values) <= ROUNDING * largest, 0.0, values))


def wants_frames(model: Any) -> bool:
    """Return whether a model, or the object whose method it is, was fitted to a frame with named columns."""
    return any(
        getattr(each, "feature_names_in_", None) is not None for each in (model, getattr(model, "__self__", None))
    )


@final
class KernelExplainer(BackgroundExplainer):
    """Use Sharpley wherever ``shap.KernelExplainer`` is used.

    Parameters
    ----------
    model : callable, or model of a known library
        Called with arrays or, if it was fitted to frames, with frames.
    data : array, DataFrame, sparse matrix, or ``shap.kmeans`` summary
        Background rows, which may have weights.
    feature_names : list of str, optional
        Names of the features.
    link : {"identity", "logit"} or callable
        Function that mean predictions pass through.
    keep_index, keep_index_ordered : bool
        Whether the model receives frames; their index counts from 0.
    nsamples : int or "auto"
        Maximum number of coalitions for each row; "auto" is 2 d + 2048.
    l1_reg
        Accepted for shap's sake: every feature gets a value.
    random_state : int, optional
        Source of randomness.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators.

    Examples
    --------
    >>> import numpy as np
    >>> explainer = KernelExplainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 2)))
    >>> explainer.shap_values(np.array([[2.0, 3.0]])), explainer.expected_value
    (array([[3., 3.]]), 0.0)
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        feature_names: Any = None,
        link: Any = "identity",
        *,
        keep_index: bool = False,
        keep_index_ordered: bool = False,
        nsamples: int | Literal["auto"] = "auto",
        l1_reg: Any = None,
        random_state: int | None = None,
        method: Method = "auto",
    ) -> None:
        super().__init__(
            model,
            data,
            feature_names=feature_names,
            link=link,
            keep_index=keep_index or keep_index_ordered,
            nsamples=nsamples,
            seed=random_state,
            method=method,
        )


@final
class SamplingExplainer(BackgroundExplainer):
    """Use Sharpley wherever ``shap.SamplingExplainer`` is used.

    Parameters
    ----------
    model, data, feature_names, nsamples, random_state, method
        As for ``KernelExplainer``; there is no link.

    Examples
    --------
    >>> import numpy as np
    >>> SamplingExplainer(lambda X: X.sum(axis=1), np.zeros((1, 2))).shap_values(np.array([[2.0, 3.0]]))
    array([[2., 3.]])
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        feature_names: Any = None,
        nsamples: int | Literal["auto"] = "auto",
        random_state: int | None = None,
        method: Method = "auto",
    ) -> None:
        super().__init__(model, data, feature_names=feature_names, nsamples=nsamples, seed=random_state, method=method)

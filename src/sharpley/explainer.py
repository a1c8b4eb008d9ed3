"""Explain the predictions of any model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sharpley._support.typing import RNG
from sharpley.engine.auto import Draws
from sharpley.engine.methods import Method, check_method, method_name
from sharpley.estimation import estimate
from sharpley.forecast import Forecast, TimedModel, forecast, pilot_positions
from sharpley.games.marginal.background import as_background, number_of_rows, take_rows
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.model import ModelFunction
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap


class Explainer:
    """Explain the predictions of a model by Shapley values, with error bars.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
        Maps rows, of the type of the background, to predictions (rows,) or (rows, outputs). Of an object, the first of
        these methods that it has is called; ``explainer.model_method`` is its name. The model must not keep a
        reference to its input after it returns, since that memory is reused.
    background : Background, or (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
        Rows that absent features take their values from: best all of the training data. Each of them is predicted once
        for an explainer; apart from that, the cost of an explanation does not depend on their number.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators, or a ``functools.partial`` of one. "auto"
        enumerates all 2^d coalitions if the budget allows; otherwise it uses "gp", or "regression" where that would
        take long compared with the model (``sharpley.engine.auto`` has the rule).
    draws : {"auto", "shared", "own"}, default "auto"
        Whether every coalition is evaluated for all background rows ("shared"), or each ordering has a background row
        of its own ("own"). "auto" does the former for up to 100 background rows, and the latter for more, unless the
        budget pays for all of them. Either way, what is estimated is the mean over all background rows.
    groups : mapping of str to list of columns, optional
        Columns, by name or position, that form a single player, such as the dummy variables of one category.
    rng : int, Generator, SeedSequence or None
        Source of randomness. With an int, every call makes the same random choices.
    unbiased : bool, default False
        Whether to use only methods whose mean over all random choices is the Shapley value; see ``estimate``.
    n_jobs : int, optional
        Number of parallel workers of joblib's current backend; -1 for all cores. Results do not depend on it.
    batch_size : int, optional
        Maximum number of rows in one model call; it bounds memory. Results do not depend on it.
    feature_names : list of str, optional
        Names of the players. By default, those of the columns and groups, if they have any.
    output_names : list of str, optional
        Names of the outputs. By default, the model's ``classes_``, if it has them.

    Examples
    --------
    >>> import numpy as np
    >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], np.zeros((1, 3)), rng=0)
    >>> estimate = explainer.estimate(np.array([[2.0, 3.0, 1.0]]))
    >>> estimate.values, estimate.standard_errors, estimate.method
    (array([[3., 3., 1.]]), array([[0., 0., 0.]]), 'exact')
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        method: Method = "auto",
        draws: Draws = "auto",
        groups: Mapping[str, Any] | None = None,
        rng: RNG = None,
        unbiased: bool = False,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self.model = model
        function = ModelFunction(model)
        self.model_method = function.name
        self.background = as_background(background, rng=rng)
        self._known = KnownBackground()
        check_method(method)
        self.method = method
        self.draws = draws
        self.groups = groups
        self.rng = rng
        self.unbiased = unbiased
        self.n_jobs = n_jobs
        self.batch_size = batch_size
        self.feature_names = feature_names
        self.output_names = output_names if output_names is not None else function.output_names

    def __call__(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
        progress: bool | None = None,
    ) -> shap.Explanation:
        """Explain rows, and return a ``shap.Explanation`` for shap's plots.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain, of the same type as the background.
        max_evals : int, optional
            Maximum number of distinct coalitions to evaluate for each row, v(∅) and v(N) included: 20 d + 2 by default,
            1000 d + 2 with ``tol``. Each pays for one prediction for every background row, but for at most 100 unless
            draws="shared".
        max_predictions : int, optional
            Maximum number of predictions for each row.
        tol : float, optional
            Stop evaluating a row once its largest standard error is at most ``tol`` times the range of its values.
        progress : bool, optional
            Whether to show a progress bar: by default on a terminal.

        Returns
        -------
        shap.Explanation
            ``values``, (rows, d) or (rows, d, outputs), with standard errors in ``error_std``, and 95% confidence
            limits in ``lower_bounds`` and ``upper_bounds``.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 2)), feature_names=["width", "height"])
        >>> explanation = explainer(np.array([[2.0, 3.0], [1.0, 4.0]]))
        >>> explanation.values, explanation.feature_names
        (array([[3., 3.],
               [2., 2.]]), ['width', 'height'])
        """
        from sharpley.adapters.shap import to_explanation

        games = self._games(X)
        found = self._estimate(games, max_evals, max_predictions, tol, progress)
        return to_explanation(found, X, games.players, self.output_names)

    def estimate(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
        progress: bool | None = None,
    ) -> ShapleyEstimate:
        """Explain rows, and return plain arrays.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain, of the same type as the background.
        max_evals : int, optional
            Maximum number of distinct coalitions to evaluate for each row, v(∅) and v(N) included: 20 d + 2 by default,
            1000 d + 2 with ``tol``. Each pays for one prediction for every background row, but for at most 100 unless
            draws="shared".
        max_predictions : int, optional
            Maximum number of predictions for each row.
        tol : float, optional
            Stop evaluating a row once its largest standard error is at most ``tol`` times the range of its values.
        progress : bool, optional
            Whether to show a progress bar: by default on a terminal.

        Returns
        -------
        ShapleyEstimate
            With arrays of shape (rows, d), or (rows, d, outputs) for several outputs.

        Examples
        --------
        >>> import numpy as np
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 2)))
        >>> estimate = explainer.estimate(np.array([[2.0, 3.0], [1.0, 4.0]]))
        >>> estimate.values
        array([[3., 3.],
               [2., 2.]])
        >>> estimate.base_values
        array([0., 0.])
        """
        return self._estimate(self._games(X), max_evals, max_predictions, tol, progress)

    def plan(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
    ) -> Forecast:
        """Forecast what explaining rows will cost and how accurate it will be, from a pilot of a few of them.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows that are to be explained. Up to three of them are explained for the forecast, and the background is
            predicted, if it has not been yet.
        max_evals, max_predictions, tol
            As for the explanation that is planned.

        Returns
        -------
        Forecast
            Its printed form is meant to be read.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(1000, 8))
        >>> explainer = Explainer(lambda x: x[:, 0] * x[:, 1] + x[:, 2], X, rng=0)
        >>> forecast = explainer.plan(X)
        >>> forecast.predictions <= 1000 * 16_200, forecast.relative_error < 0.05
        (True, True)
        """
        from time import perf_counter

        n_rows, function = number_of_rows(X), ModelFunction(self.model)
        pilot = take_rows(X, pilot_positions(n_rows))
        self._games(pilot).endpoints()  # predicts the background, which is not part of what is extrapolated
        timed, start = TimedModel(function.call), perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a tolerance that the pilot rows miss
            found = self._estimate(self._games(pilot, timed), max_evals, max_predictions, tol, False)
        return forecast(n_rows, found, timed, perf_counter() - start, self.model)

    def _games(self, rows: Any, model: Any = None) -> MarginalGame:
        return MarginalGame(
            self.model if model is None else model,
            self.background,
            rows,
            groups=self.groups,
            batch_size=self.batch_size,
            n_outputs=None if self.output_names is None else len(self.output_names),
            names=self.feature_names,
            known=self._known,
        )

    def _estimate(
        self,
        games: MarginalGame,
        max_evals: int | None,
        max_predictions: int | None,
        tol: float | None,
        progress: bool | None,
    ) -> ShapleyEstimate:
        return estimate(
            games,
            method=self.method,
            draws=self.draws,
            max_evals=max_evals,
            max_predictions=max_predictions,
            tol=tol,
            rng=self.rng,
            unbiased=self.unbiased,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def __repr__(self) -> str:
        return f"Explainer({self.model_method}, method={method_name(self.method)!r})"

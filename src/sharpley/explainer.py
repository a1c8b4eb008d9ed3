"""Explain the predictions of any model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sharpley._support.checks import check_flag
from sharpley._support.shap_names import OF_CALL, OF_CONSTRUCTOR, OF_EXPLAINER, hint, with_hints
from sharpley._support.typing import RNG
from sharpley.engine.auto import Draws
from sharpley.engine.facts import check_method, method_name
from sharpley.engine.methods import AUTO, METHODS, Method
from sharpley.estimation import estimate
from sharpley.estimators.draws.surrogate import SurrogateChoice
from sharpley.forecast import EXACT_PILOT_ROWS, PILOT_ROWS, Forecast, forecast, pilot_positions
from sharpley.games.base import Games
from sharpley.games.linked import Link, LinkedGames, as_link, check_link
from sharpley.games.marginal.background import as_background, number_of_rows, take_rows
from sharpley.games.marginal.containers import is_one_row, row_labels_of
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.model import ModelFunction
from sharpley.games.marginal.outputs import Output
from sharpley.indices import SHAPLEY
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap


class Explainer:
    """Explain the predictions of a model by Shapley values, with error bars.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
        Maps rows, of the type of the background, to predictions (rows,) or (rows, outputs). Of an object, the first of
        these methods that it has is called; ``explainer.model_method`` is its name. Models of torch and Keras,
        Boosters of XGBoost and LightGBM and sessions of ONNX are called in their own way. The model must not keep a
        reference to its input after it returns, since that memory is reused.
    background : Background, or (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
        Rows that absent features take their values from: best all of the training data. Each of them is predicted once
        for an explainer; apart from that, the cost of an explanation does not depend on their number.
        ``shap.kmeans(data, 20)`` and ``shap.maskers.Independent(data)`` are backgrounds, too.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators, or a ``functools.partial`` of one. "auto"
        computes exact values of models that are sums of trees ("trees") or linear ("linear") without sampling. Else it
        enumerates all 2^d coalitions if the budget allows; otherwise it uses "gp", or "regression" where that would
        take long compared with the model (``sharpley.engine.auto`` has the rule). Every other method samples.
    draws : {"auto", "shared", "own"}, default "auto"
        Whether every coalition is evaluated for all background rows ("shared"), or each ordering has a background row
        of its own ("own"; with "regression", each background row has coalitions of its own). "auto" does the former if
        the budget pays for enough coalitions, as the default budget does for up to 100 background rows. Either way,
        what is estimated is the mean over all background rows.
    link : {"identity", "logit"} or callable, optional
        Function that the mean predictions of all coalitions pass through: with "logit", values add up to the log-odds
        of the prediction. With a link, all background rows are used for every coalition.
    output : str, int, or list of these, optional
        Outputs to explain: names, positions, or "all". By default all, but only the second, positive class of a binary
        classifier. Classes that are numbers have these as text for names: output="1". With "margin", the sum before a
        link is explained, such as the log-odds of a boosted classifier, which are a sum of trees.
    groups : mapping of str to list of columns, optional
        Columns, by name or position, that form a single player, such as the dummy variables of one category.
    rng : int, Generator, SeedSequence or None
        Source of randomness. With an int, every call makes the same random choices.
    unbiased : bool, default False
        Whether to use only methods whose mean over all random choices is the Shapley value; see ``estimate``.
    independent_rows : bool, default False
        Whether the result of a row must not depend on which rows, and how many, are explained with it, to the last
        bit. Methods that learn from several rows, such as "gp", then learn from each by itself, which takes longer.
    n_jobs : int, optional
        Number of parallel workers of joblib's current backend; -1 for all cores. Results do not depend on it.
    batch_size : int, optional
        Maximum number of rows in one model call; it bounds memory. Results do not depend on it.
    feature_names : list of str, optional
        Names of the players. By default, those of the columns and groups; "Feature 0", … for arrays.
    output_names : list of str, optional
        Names of all outputs of the model. By default its ``classes_``, or the columns of the frame that it returns.

    Examples
    --------
    >>> import numpy as np
    >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], np.zeros((1, 3)), rng=0)
    >>> estimate = explainer.estimate(np.array([[2.0, 3.0, 1.0]]))
    >>> estimate.values, estimate.standard_errors, estimate.method
    (array([[3., 3., 1.]]), array([[0., 0., 0.]]), 'exact')
    """

    @with_hints(OF_CONSTRUCTOR)
    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        method: Method = "auto",
        draws: Draws = "auto",
        link: Link | None = None,
        output: Output | None = None,
        groups: Mapping[str, Any] | None = None,
        rng: RNG = None,
        unbiased: bool = False,
        independent_rows: bool = False,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self.model = model
        self.model_method = ModelFunction(model, output, output_names).name
        self.background = as_background(background, rng=rng)
        check_method(method)
        self.method = method
        self.draws = draws
        check_link(link, number_of_rows(self.background.rows))
        self.link = link
        self.output = output
        self.groups = groups
        self.rng = rng
        self.unbiased = check_flag("unbiased", unbiased)
        self.independent_rows = check_flag("independent_rows", independent_rows)
        self.n_jobs = n_jobs
        self.batch_size = batch_size
        self.feature_names = feature_names
        self.output_names = output_names
        self._known = KnownBackground()
        self._known_of: tuple[Any, ...] = (self.model, self.background, self.groups, self.output)

    @with_hints(OF_CALL)
    def __call__(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
        surrogate: SurrogateChoice = None,
        progress: bool | None = None,
    ) -> shap.Explanation:
        """Explain rows, and return a ``shap.Explanation`` for shap's plots.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain, usually of the same type as the background. For one row, such as ``X[0]`` or
            ``frame.iloc[0]``, the result has no axis of rows.
        max_evals : int, optional
            Maximum number of distinct coalitions to evaluate for each row, v(∅) and v(N) included: 20 d + 2 by default,
            1000 d + 2 with ``tol``. Each pays for one prediction for every background row, but for at most 100 unless
            draws="shared".
        max_predictions : int, optional
            Maximum number of predictions for each row.
        tol : float, optional
            Stop evaluating a row once its largest standard error is at most ``tol`` times the range of its values.
        surrogate : "auto", tree regressor or None, default None
            A regressor that learns the model from its predictions for mixed rows, so that these only have to show what
            it misses. For models that take more than about 0.1 ms for a prediction; "auto" fits one for each row, and
            uses it where it lowers the variance. See ``estimate``.
        progress : bool, optional
            Whether to show a progress bar: by default on a terminal. (``n_jobs`` is an argument of the explainer.)

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
        from sharpley.adapters.shap.explanation import of_one_row, to_explanation

        games = self._games(X)
        found = self._estimate(games, max_evals, max_predictions, tol, surrogate, progress)
        explanation = to_explanation(found, games.rows, games.players, self.background.rows)
        return of_one_row(explanation) if is_one_row(X) else explanation

    @with_hints(OF_CALL)
    def estimate(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
        surrogate: SurrogateChoice = None,
        progress: bool | None = None,
    ) -> ShapleyEstimate:
        """Explain rows, and return plain arrays.

        Parameters
        ----------
        X, max_evals, max_predictions, tol, surrogate, progress
            As for a call of the explainer. For one row, the result has no axis of rows.

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
        found = self._estimate(self._games(X), max_evals, max_predictions, tol, surrogate, progress)
        return found.row(0) if is_one_row(X) else found

    @with_hints(OF_CALL)
    def plan(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
        surrogate: SurrogateChoice = None,
        pilot_rows: int = PILOT_ROWS,
        n_rows: int | None = None,
    ) -> Forecast:
        """Forecast what explaining rows will cost and how accurate it will be, from a pilot of a few of them.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows that are to be explained. A few of them are explained for the forecast, and the background is
            predicted, if it has not been yet.
        max_evals, max_predictions, tol, surrogate
            As for the explanation that is planned.
        pilot_rows : int, default 3
            Maximum number of rows that are explained for the forecast. More of them give a better forecast of the time
            that many rows take, which are explained together.
        n_rows : int, optional
            Number of rows that are to be explained, if X is only a sample of them.

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
        everyone = self._games(X)
        pilot = self._games(take_rows(everyone.rows, pilot_positions(everyone.n_rows, pilot_rows)))
        exact_seconds = self._exact_seconds(pilot)
        if exact_seconds is None:
            everyone.predict_background()  # once for the explainer, so that it is not part of what is extrapolated
        else:
            pilot = self._games(take_rows(everyone.rows, pilot_positions(everyone.n_rows, EXACT_PILOT_ROWS)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a tolerance that the pilot rows miss
            found = self._estimate(pilot, max_evals, max_predictions, tol, surrogate, False, in_workers=False)
        return forecast(n_rows or everyone.n_rows, found, pilot.model_time, exact_seconds)

    def _exact_seconds(self, games: MarginalGame) -> float | None:
        """Return how long a closed form takes for the background and a few rows; None if values are estimated."""
        is_open = self.method == AUTO or (isinstance(self.method, str) and METHODS[self.method].is_closed_form)
        start = perf_counter()
        if as_link(self.link) is not None or not is_open or games.closed_form(SHAPLEY) is None:
            return None
        return perf_counter() - start

    def map_partitions(
        self,
        frame: Any,
        *,
        max_evals: int | None = None,
        max_predictions: int | None = None,
        tol: float | None = None,
    ) -> Any:
        """Explain the partitions of a Dask dataframe, lazily.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
            Rows to explain, with the columns of the background, which must be a pandas frame.
        max_evals, max_predictions, tol
            As for ``estimate``.

        Returns
        -------
        dask.dataframe.DataFrame
            With the partitions and the index of ``frame``: one line for each row and output, with columns such as
            "value_age" and "standard_error_age". Nothing is explained before it is computed, except for one row of
            the background, which shows what the model returns. Results do not depend on the partitions.
        """
        from sharpley.partitions import ExplainFrame, map_partitions

        explain = ExplainFrame(self, max_evals=max_evals, max_predictions=max_predictions, tol=tol)
        return map_partitions(explain, frame)

    def _games(self, rows: Any) -> MarginalGame:
        of = (self.model, self.background, self.groups, self.output)
        if not all(one is other for one, other in zip(of, self._known_of, strict=True)):  # an attribute was changed
            self._known, self._known_of = KnownBackground(), of
        return MarginalGame(
            self.model,
            self.background,
            rows,
            groups=self.groups,
            batch_size=self.batch_size,
            names=self.feature_names,
            output=self.output,
            output_names=self.output_names,
            known=self._known,
        )

    def _estimate(
        self,
        games: MarginalGame,
        max_evals: int | None,
        max_predictions: int | None,
        tol: float | None,
        surrogate: SurrogateChoice,
        progress: bool | None,
        *,
        in_workers: bool = True,
    ) -> ShapleyEstimate:
        start = perf_counter()
        linked: Games = games if as_link(self.link) is None else LinkedGames(games, self.link or "identity")
        found = estimate(
            linked,
            method=self.method,
            draws=self.draws,
            max_evals=max_evals,
            max_predictions=max_predictions,
            tol=tol,
            rng=self.rng,
            unbiased=self.unbiased,
            surrogate=surrogate,
            independent_rows=self.independent_rows,
            n_jobs=self.n_jobs if in_workers else None,
            progress=progress,
        )
        labels = row_labels_of(games.rows)
        seconds = perf_counter() - start
        return replace(found, output_names=games.output_names, row_labels=labels, compute_time=seconds)

    if not TYPE_CHECKING:  # for which all names would then exist

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"'Explainer' object has no attribute {name!r}{hint(name, OF_EXPLAINER)}")

    def __repr__(self) -> str:
        output = "" if self.output is None else f", output={self.output!r}"
        return f"Explainer({self.model_method}, method={method_name(self.method)!r}{output})"

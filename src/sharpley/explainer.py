"""Explain the predictions of any model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count, check_flag
from sharpley._support.shap_names import OF_CALL, OF_CONSTRUCTOR, OF_EXPLAINER, hint, with_hints
from sharpley._support.typing import RNG
from sharpley.engine.methods import Method, as_method
from sharpley.engine.options import Draws, Limits, Options, check_options, documented
from sharpley.engine.run import run
from sharpley.engine.settings import make_settings
from sharpley.forecast import PILOT_ROWS, Forecast, choose_pilot, make_forecast, sorted_sample
from sharpley.games.base import Games
from sharpley.games.linked import Link, LinkedGames, as_link, check_link
from sharpley.games.marginal.background import as_background, number_of_rows, take_rows
from sharpley.games.marginal.containers import check_table, column_names_of, is_one_row, row_labels_of
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.model import CallTime, ModelFunction
from sharpley.games.marginal.outputs import Output
from sharpley.games.marginal.players import check_players
from sharpley.indices import SHAPLEY, Index, index_by_name
from sharpley.result import InteractionEstimate, ShapleyEstimate

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
        link is explained, such as the log-odds of a boosted classifier, which are a sum of trees. Labels of classes or
        clusters are explained only if you ask for them, as numbers, by output="label".
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
        check_table("background", self.background.rows)
        self.background.weights_of(number_of_rows(self.background.rows))  # an error now, if they do not fit
        width = np.shape(self.background.rows)[1]
        check_players(width, column_names_of(self.background.rows), groups, feature_names)
        as_method(method)  # an error now, if there is no such method
        self.method = method
        check_choice("draws", draws, get_args(Draws))
        self.draws = draws
        check_link(link, number_of_rows(self.background.rows))
        self.link = link
        self.output = output
        self.groups = groups
        self.rng = rng
        self.unbiased = check_flag("unbiased", unbiased)
        self.independent_rows = check_flag("independent_rows", independent_rows)
        self.n_jobs = n_jobs
        self.batch_size = None if batch_size is None else check_count("batch_size", batch_size, minimum=1)
        self.feature_names = feature_names
        self.output_names = output_names
        self._known = KnownBackground()
        self._known_of: tuple[Any, ...] = (self.model, self.background, self.groups, self.output)

    @documented(Limits)
    def __call__(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        **limits: Unpack[Limits],
    ) -> shap.Explanation:
        """Explain rows, and return a ``shap.Explanation`` for shap's plots.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain, usually of the same type as the background. For one row, such as ``X[0]`` or
            ``frame.iloc[0]``, the result has no axis of rows.
        {options}

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

        check_options(limits, Limits, "Explainer.__call__", OF_CALL)
        games = self._games(X)
        found = self._estimate(games, limits)
        explanation = to_explanation(found, games.rows, games.players, self.background.rows)
        return of_one_row(explanation) if is_one_row(X) else explanation

    @documented(Limits)
    def estimate(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        **limits: Unpack[Limits],
    ) -> ShapleyEstimate:
        """Explain rows, and return plain arrays.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain. For one row, the result has no axis of rows.
        {options}

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
        check_options(limits, Limits, "Explainer.estimate", OF_CALL)
        found: ShapleyEstimate = self._estimate(self._games(X), limits)
        return found.row(0) if is_one_row(X) else found

    @documented(Limits, without=("surrogate",))
    def interactions(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        index: str | Index = "k-SII",
        order: int | None = None,
        **limits: Unpack[Limits],
    ) -> InteractionEstimate:
        """Explain rows by the interactions of pairs of features, with error bars.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows to explain. For one row, the result has no axis of rows.
        index : {"k-SII", "SII", "STII", "FSII", "BII", "FBII"} or Index, default "k-SII"
            The kind of interaction. Those of "k-SII", "STII" and "FSII", with the main effects, add up to the
            prediction less the base value; those of "SII" and "k-SII" extend Shapley values, "BII" and "FBII" Banzhaf
            values, and "FSII" and "FBII" approximate the model best.
        order : int, optional
            Number of features in the largest sets: 2 by default; 3 with method "exact".
        {options}

        Returns
        -------
        InteractionEstimate
            With one component for every feature and every pair of features.

        Examples
        --------
        >>> explainer = Explainer(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]], feature_names=["width", "height"])
        >>> explainer.interactions([[2.0, 3.0], [1.0, 4.0]], index="SII")["width × height"].values
        array([[6.],
               [4.]])
        """
        check_options(limits, Limits, "Explainer.interactions", OF_CALL)
        resolved = index_by_name(index, order)
        if resolved.order < 2:
            raise ValueError(
                f"index {resolved.name!r} of order {resolved.order} has no interactions; choose one such as 'k-SII', "
                "of order 2"
            )
        found: InteractionEstimate = self._estimate(self._games(X), limits, index=resolved)
        return found.row(0) if is_one_row(X) else found

    @documented(Limits)
    def plan(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        pilot_rows: int = PILOT_ROWS,
        n_rows: int | None = None,
        **limits: Unpack[Limits],
    ) -> Forecast:
        """Forecast what explaining rows will cost and how accurate it will be, from a random pilot of a few of them.

        Parameters
        ----------
        X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
            Rows that are to be explained. Up to 10,000 of them are predicted, a few with different predictions are
            explained, and the background is predicted, if it has not been yet.
        pilot_rows : int, default 20
            Number of rows that are explained for the forecast, which is better with more of them.
        n_rows : int, optional
            Number of rows that are to be explained, if X is only a sample of them.
        {options}

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
        check_options(limits, Limits, "Explainer.plan", OF_CALL)
        everyone = self._games(X)
        everyone.predict_background()  # once for the explainer, so that it is not part of what is extrapolated
        rng = np.random.default_rng(self.rng)
        known = sorted_sample(everyone.n_rows, rng)
        predictions = self._games(take_rows(everyone.rows, known)).endpoints()[:, 1]
        pilot = choose_pilot(predictions, check_count("pilot_rows", pilot_rows, minimum=1), rng)
        pilot = pilot._replace(positions=known[pilot.positions])

        def explain(which: NDArray[np.int64]) -> tuple[ShapleyEstimate, CallTime]:
            games = self._games(take_rows(everyone.rows, which))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a tolerance that the pilot rows miss
                found = self._estimate(games, {**limits, "progress": False}, in_workers=False)
            return found, games.model_time

        n = n_rows or everyone.n_rows
        return make_forecast(n, pilot, rng.permutation(known), explain, everyone.draws_per_call, rng)

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

    def _estimate(self, games: MarginalGame, limits: Limits, *, in_workers: bool = True, index: Index = SHAPLEY) -> Any:
        start = perf_counter()
        linked: Games = games if as_link(self.link) is None else LinkedGames(games, self.link or "identity")
        options: Options = {
            "method": self.method,
            "draws": self.draws,
            "rng": self.rng,
            "unbiased": self.unbiased,
            "independent_rows": self.independent_rows,
            "n_jobs": self.n_jobs if in_workers else None,
            **limits,
        }
        found = run(linked, make_settings(options, index))
        labels = row_labels_of(games.rows)
        seconds = perf_counter() - start
        return replace(
            found,
            output_names=games.output_names,
            row_labels=labels,
            compute_time=seconds,
            background_predictions=games.background_predictions,
        )

    if not TYPE_CHECKING:  # for which all names would then exist

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"'Explainer' object has no attribute {name!r}{hint(name, OF_EXPLAINER)}")

    def __repr__(self) -> str:
        output = "" if self.output is None else f", output={self.output!r}"
        return f"Explainer({self.model_method}, method={as_method(self.method).name!r}{output})"

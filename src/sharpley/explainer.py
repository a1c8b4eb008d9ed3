"""Explain the predictions of any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sharpley._support.typing import RNG
from sharpley.engine.methods import Method, check_method, method_name
from sharpley.estimation import estimate
from sharpley.games.marginal.background import as_background
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.model import ModelFunction
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap


class Explainer:
    """Shapley values of a model's predictions, with error bars.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
        Takes tables like the background and returns (rows,) or (rows, outputs). It may not rely on its input after it
        returned: that memory is used again. Of an object the first of
        these methods that it has is called; ``explainer.model_method`` says which.
    background : table of rows, or Background
        Features that are absent take the values of these rows: array, pandas or polars frame, or scipy sparse
        matrix. Use ``Background.sample`` or ``Background.kmeans`` to choose rows from more data.
    method : str, default "auto"
        A name in ``sharpley.METHODS``. "auto" enumerates all coalitions if the budget allows; otherwise it takes "gp",
        or "regression" where that would be much work beside a cheap model (``sharpley.engine.auto`` has the rule).
    groups : mapping of str to list of columns, optional
        Columns, by name or index, that play as one player: the dummies of one category, say.
    rng : int, Generator, SeedSequence or None
        With an int every call uses the same orderings.
    unbiased : bool, default False
        Only methods whose mean over all random choices is the Shapley value; see ``shapley_values``.
    n_jobs : int, optional
        Parallel workers of joblib's current backend; -1 for all cores. Results do not depend on it.
    batch_size : int, optional
        Rows in one model call at most; bounds memory. Results do not depend on it.
    feature_names, output_names : list of str, optional
        By default those of the frame and of the model's ``classes_``.

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
        groups: Mapping[str, Any] | None = None,
        rng: RNG = None,
        unbiased: bool = False,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        feature_names: list[str] | None = None,
        output_names: list[str] | None = None,
    ) -> None:
        self.model = model
        n_outputs = None if output_names is None else len(output_names)
        self._model_function = ModelFunction(model, n_outputs)
        self.model_method = self._model_function.name
        self.background = as_background(background)
        check_method(method)
        self.method = method
        self.groups = groups
        self.rng = rng
        self.unbiased = unbiased
        self.n_jobs = n_jobs
        self.batch_size = batch_size
        self.feature_names = feature_names
        self.output_names = output_names if output_names is not None else self._model_function.output_names

    def __call__(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        tol: float | None = None,
        progress: bool | None = None,
    ) -> shap.Explanation:
        """Explain rows as a ``shap.Explanation`` for shap's plots.

        Parameters
        ----------
        X : table
            Rows to explain, of the background's type.
        max_evals : int, optional
            Distinct coalitions to evaluate for each row at most, v(∅) and v(N) included: 20 d + 2 by default,
            1000 d + 2 with ``tol``.
        tol : float, optional
            Stop with a row when its largest standard error is at most ``tol`` times the range of its values.
        progress : bool, optional
            Show a progress bar: by default on a terminal.

        Returns
        -------
        shap.Explanation
            ``error_std`` are standard errors, ``lower_bounds`` and ``upper_bounds`` 95% confidence limits.
        """
        from sharpley.adapters.shap import to_explanation

        games = self._games(X)
        found = self._estimate(games, max_evals, tol, progress)
        return to_explanation(found, X, games.players, self.output_names)

    def estimate(
        self,
        X: Any,  # noqa: N803 (scikit-learn's name)
        *,
        max_evals: int | None = None,
        tol: float | None = None,
        progress: bool | None = None,
    ) -> ShapleyEstimate:
        """Explain rows as plain arrays: values (rows, d), or (rows, d, outputs). The parameters are those of a call."""
        return self._estimate(self._games(X), max_evals, tol, progress)

    def _games(self, rows: Any) -> MarginalGame:
        games = MarginalGame(
            self._model_function,
            self.background,
            rows,
            groups=self.groups,
            batch_size=self.batch_size,
        )
        if self.feature_names is not None:
            if len(self.feature_names) != games.d:
                raise ValueError(f"{len(self.feature_names)} feature_names for {games.d} players")
            games.player_names = list(self.feature_names)
        return games

    def _estimate(
        self, games: MarginalGame, max_evals: int | None, tol: float | None, progress: bool | None
    ) -> ShapleyEstimate:
        return estimate(
            games,
            method=self.method,
            max_evals=max_evals,
            tol=tol,
            rng=self.rng,
            unbiased=self.unbiased,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def __repr__(self) -> str:
        return f"Explainer({self.model_method}, method={method_name(self.method)!r})"

"""The result for single players, such as Shapley values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sharpley._support.shap_names import OF_ESTIMATE, hint
from sharpley.result.base import Estimate
from sharpley.result.importance import Importance, importance_of_values

if TYPE_CHECKING:
    import shap


@final
@dataclass(frozen=True, repr=False)
class ShapleyEstimate(Estimate):
    """Estimated Shapley values, or other values of single players, with their standard errors and their cost.

    For one game, the arrays have shape (d,), or (d, k) for k outputs. For several rows, the first axis is that of rows.
    ``len(estimate)`` is the number of rows (of one game: of players), and ``estimate[rows, players, outputs]`` selects,
    by position or by name, as in ``estimate[0]``, ``estimate["age"]`` and ``estimate[:, ["age", "sex"], "yes"]``.

    Attributes
    ----------
    values : float
        Estimated values.
    standard_errors : float, of the same shape as ``values``
        Estimated standard deviations of ``values``; 0 where these are exact.
    base_values : float
        v(∅), of the shape of ``values`` without the axis of players. Base value and values add up to v(N), except for
        the methods "owen", "owen-halved" and "stratified" (``sharpley.METHODS[name].adds_up`` is False), whose values
        do so only on average.
    n_evals : int, or (rows,) int
        Number of distinct coalitions evaluated, v(∅) and v(N) included.
    method : str
        The method used; several are joined, as in "gp and exact", if rows in which few players matter were enumerated.
    converged : bool, or (rows,) bool
        Whether ``tol`` was met; True if no tolerance was given.
    degrees_of_freedom : float, of the same shape as ``values``
        Degrees of freedom behind the standard errors; infinite where these are exact.
    names : list of str or None
        Names of the players, if the games have them.
    n_predictions : int, (rows,) int, or None
        Number of single draws evaluated, which for a model are predictions, those of v(∅) and v(N) included. With own
        draws, the predictions for the background, one for each of its rows once per explainer, are not.
    output_names : list of str or None
        Names of the outputs, if the model has them.
    row_labels : list or None
        Labels of the rows: the index of a frame.
    compute_time : float or None
        Seconds that an explainer took for all rows.
    index : str
        Name of the index: "shapley", or that of other values, such as "banzhaf".
    background_predictions : int or None
        Number of predictions for background rows that an explainer made for all rows together: one for each background
        row in its first call, and in every call four, which show whether the model is random or was fitted again.

    Examples
    --------
    >>> import sharpley
    >>> game = sharpley.games.Airport((1.0, 2.0, 4.0))
    >>> sharpley.shapley_values(game, names=["a", "b", "c"])
    Shapley values of 3 players by exact, from 8 evaluations
    base value 0
      c   +2.833 ± 0       ████████████████████████
      b  +0.8333 ± 0       ███████
      a  +0.3333 ± 0       ███
    """

    def importance(self, *, absolute: bool = True, by: Any = None) -> Importance:
        """Return the mean size of the values over rows, without the upward bias of noisy values, with errors.

        Parameters
        ----------
        absolute : bool, default True
            Whether to take means of the sizes of values, or means of values.
        by : (rows,) labels, optional
            Cohorts of rows, each of which has an importance of its own; ``Importance.difference`` compares them.

        Returns
        -------
        Importance
            Its intervals are for the population that the rows are a sample of, or for these rows. ``n_predictions``
            is the sum of those of the rows.

        Examples
        --------
        >>> import sharpley
        >>> explainer = sharpley.Explainer(lambda X: X[:, 0] - X[:, 1], [[0.0, 0.0]])
        >>> explainer.estimate([[2.0, 3.0], [-1.0, 4.0]]).importance().values
        array([1.5, 3.5])
        """
        if not self.has_rows:
            raise ValueError("importance is a mean over rows, but this estimate has a single one; explain several rows")
        return importance_of_values(
            self.values,
            np.nan_to_num(self.standard_errors),
            self.component_names,
            absolute=absolute,
            by=by,
            shared=True,
            n_predictions=None if self.n_predictions is None else int(np.sum(self.n_predictions)),
            output_names=self.output_names if self.values.ndim == 3 else None,
        )

    def to_explanation(self, data: Any = None) -> shap.Explanation:
        """Return the estimate as a ``shap.Explanation``, for shap's plots; a saved estimate, too.

        Parameters
        ----------
        data : (rows, d) array or DataFrame, optional
            The rows that were explained, which a saved estimate does not have: plots colour points by these values,
            and print them.

        Returns
        -------
        shap.Explanation
            With standard errors in ``error_std``, and 95% confidence limits in ``lower_bounds`` and ``upper_bounds``.

        Examples
        --------
        >>> import numpy as np, sharpley
        >>> explainer = sharpley.Explainer(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]])
        >>> rows = np.array([[2.0, 3.0], [1.0, 4.0]])
        >>> explanation = explainer.estimate(rows).to_explanation(rows)
        >>> explanation.values[0], explanation.data[0], explanation.feature_names
        (array([3., 3.]), array([2., 3.]), ['Feature 0', 'Feature 1'])
        """
        from sharpley.presentation.explanation import with_table

        explanation = with_table(self._fields(), self.interval(), data)
        explanation._estimate = self
        return explanation

    if not TYPE_CHECKING:  # for which all names would then exist

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"'ShapleyEstimate' object has no attribute {name!r}{hint(name, OF_ESTIMATE)}")

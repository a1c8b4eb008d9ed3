"""Explainers with the interface of shap's ``PermutationExplainer`` and ``ExactExplainer``, and Sharpley's methods."""

from __future__ import annotations

from typing import Any, Literal, final

from sharpley.adapters.shap.masker_explainer import MaskerExplainer
from sharpley.engine.methods import Method


@final
class PermutationExplainer(MaskerExplainer):
    """Use Sharpley wherever ``shap.PermutationExplainer`` is used, with any of shap's maskers.

    Values have lower errors from the same number of evaluations, ``error_std`` is a true standard error, and the global
    random state is left alone. With a masker that has a clustering, values are Owen values, as in shap.

    Parameters
    ----------
    model : callable, or model of a known library
        Called with masked samples.
    masker : array, DataFrame, or one of shap.maskers, or callable
        Background data, or what replaces absent inputs: ``masker(mask, *inputs)`` returns masked samples.
    link : callable, default shap.links.identity
        Function that predictions pass through.
    feature_names : list of str, optional
        Names of the features.
    linearize_link : bool, default True
        Whether to apply the link to single predictions, weighted so that the base value is the link of their mean.
    seed : int, optional
        Source of randomness.
    method : str or factory, default "auto"
        A name in ``sharpley.METHODS``, or a class of samplers or estimators.
    **call_args
        Other defaults for the arguments of calls.

    Examples
    --------
    >>> import numpy as np
    >>> explainer = PermutationExplainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 2)))
    >>> explainer(np.array([[2.0, 3.0]])).values
    array([[3., 3.]])
    """

    def __init__(
        self,
        model: Any,
        masker: Any,
        link: Any = None,
        feature_names: Any = None,
        linearize_link: bool = True,
        seed: int | None = None,
        method: Method = "auto",
        **call_args: Any,
    ) -> None:
        super().__init__(
            model, masker, link, linearize_link, feature_names, seed=seed, method=method, call_args=call_args
        )

    def __call__(
        self,
        *args: Any,
        max_evals: int | Literal["auto"] | None = None,
        main_effects: bool | None = None,
        error_bounds: bool | None = None,
        batch_size: int | Literal["auto"] | None = None,
        outputs: Any = None,
        silent: bool | None = None,
    ) -> Any:
        """Explain samples, and return a ``shap.Explanation``, or one for each input of the model.

        Parameters
        ----------
        *args : array, DataFrame or list
            Samples, one argument for each input of the model.
        max_evals : int or "auto", default 500
            Maximum number of masks evaluated for each sample, never exceeded; "auto" is 20 for each feature.
        main_effects : bool, default False
            Whether to compute v({i}) − v(∅), too; these evaluations count.
        error_bounds : bool
            Accepted for shap's sake: standard errors cost nothing and are always given.
        batch_size : int or "auto"
            Number of masks in one model call.
        outputs : list of int, or operation such as ``shap.Explanation.argsort.flip[:3]``, optional
            Outputs to explain; all by default.
        silent : bool, default False
            Whether to show no progress bar.
        """
        given = {
            "max_evals": max_evals,
            "main_effects": main_effects,
            "error_bounds": error_bounds,
            "batch_size": batch_size,
            "outputs": outputs,
            "silent": silent,
        }
        return self._explain(args, given)

    def shap_values(
        self,
        X: Any,  # noqa: N803 (shap's name)
        npermutations: int = 10,
        main_effects: bool = False,
        error_bounds: bool = False,
        batch_evals: bool = True,
        silent: bool = False,
    ) -> Any:
        """Return plain values, from ``npermutations`` evaluations for each feature, as shap's method does."""
        return self(
            X, max_evals=npermutations * X.shape[1], main_effects=main_effects, error_bounds=error_bounds, silent=silent
        ).values

    def __str__(self) -> str:
        return "sharpley.adapters.shap.PermutationExplainer()"


@final
class ExactExplainer(MaskerExplainer):
    """Use Sharpley wherever ``shap.ExactExplainer`` is used: all coalitions are evaluated.

    Parameters
    ----------
    model, masker, link, linearize_link, feature_names
        As for ``PermutationExplainer``.

    Examples
    --------
    >>> import numpy as np
    >>> ExactExplainer(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 2)))(np.array([[2.0, 3.0]])).values
    array([[3., 3.]])
    """

    def __init__(
        self, model: Any, masker: Any, link: Any = None, linearize_link: bool = True, feature_names: Any = None
    ) -> None:
        super().__init__(
            model, masker, link, linearize_link, feature_names, method="exact", call_args={"max_evals": 100_000}
        )

    def __call__(
        self,
        *args: Any,
        max_evals: int | Literal["auto"] | None = None,
        main_effects: bool | None = None,
        error_bounds: bool | None = None,
        batch_size: int | Literal["auto"] | None = None,
        interactions: bool | int = 1,
        silent: bool | None = None,
    ) -> Any:
        """Explain samples, as ``PermutationExplainer`` does; interactions are not computed."""
        if interactions is True or interactions > 1:
            raise NotImplementedError("interactions are not computed here; use shap.ExactExplainer for these")
        given = {
            "max_evals": max_evals,
            "main_effects": main_effects,
            "error_bounds": error_bounds,
            "batch_size": batch_size,
            "silent": silent,
        }
        return self._explain(args, given)

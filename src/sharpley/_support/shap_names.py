"""Names that people know from shap, and what to write instead: the end of the message that a name does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
OF_EXPLAINER = {
    "shap_values": "explainer.estimate(X).values, or sharpley.adapters.shap.PermutationExplainer, which has it",
    "expected_value": "explainer.estimate(X).base_values, or sharpley.adapters.shap.PermutationExplainer, which has it",
    "masker": "explainer.background",
    "data": "explainer.background.rows",
    "shap_interaction_values": "explainer.interactions(X)",
}
OF_ESTIMATE = {
    "plot": "sharpley.plotting.intervals(estimate), or shap's plots of estimate.to_explanation(X)",
    "data": "the rows that you explained; estimate.to_explanation(X) keeps them for shap's plots",
    "error_std": "standard_errors",
    "lower_bounds": "interval()[0]",
    "upper_bounds": "interval()[1]",
    "feature_names": "names",
    "expected_value": "base_values",
    "shap_values": "values",
}
OF_CONSTRUCTOR = {
    "seed": "rng=0",
    "masker": "background rows as the second argument, or sharpley.adapters.shap.PermutationExplainer, which has it",
    "data": "background rows as the second argument",
    "algorithm": "method=, for which 'auto' is the default",
    "max_evals": "it in calls, as in explainer(X, max_evals=500)",
    "max_predictions": "it in calls, as in explainer(X, max_predictions=50_000)",
    "tol": "it in calls, as in explainer(X, tol=0.01)",
    "progress": "it in calls, as in explainer(X, progress=True)",
}
OF_CALL = {
    "nsamples": "max_evals=",
    "npermutations": "max_evals=",
    "silent": "progress=False",
    "error_bounds": "no argument: error_std, lower_bounds and upper_bounds are always there",
    "check_additivity": "no argument: base value and values add up to the prediction by construction",
    "interactions": "explainer.interactions(X)",
    "main_effects": "sharpley.adapters.shap.PermutationExplainer, which has it",
    "outputs": "output= of the explainer",
    "link": "link= of the explainer",
    "batch_size": "batch_size= of the explainer",
    "n_jobs": "n_jobs= of the explainer",
    "rng": "rng= of the explainer",
    "method": "method= of the explainer",
    "output": "output= of the explainer",
}
OF_PACKAGE = {
    "plots": "shap.plots, which draws the explanations of sharpley.Explainer, or sharpley.plotting.intervals",
    "Explanation": "shap.Explanation, which sharpley.Explainer returns",
    "maskers": "shap.maskers, for the explainers in sharpley.adapters.shap",
    "kmeans": "sharpley.Background.kmeans",
    "sample": "sharpley.Background.sample",
    "TreeExplainer": "sharpley.Explainer(model, X), which is exact for trees; output='margin' for boosted classifiers",
    **{
        f"{name}Explainer": f"sharpley.Explainer(model, X), or sharpley.adapters.shap.{name}Explainer"
        for name in ("Permutation", "Kernel", "Sampling", "Exact")
    },
}


def hint(name: str, known: dict[str, str]) -> str:
    """Return what to write instead of a name, for the end of a message; nothing if there is nothing to say."""
    return f"; use {known[name]}" if name in known else ""


def with_hints(known: dict[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: the error about an argument that only shap's function has says what to write instead."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name in known:
                    raise TypeError(f"{function.__qualname__}() has no argument {name!r}{hint(name, known)}")
            return function(*args, **kwargs)

        return checked

    return decorate

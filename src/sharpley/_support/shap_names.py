"""Names that people know from shap, and what to write instead: the end of the message that a name does not exist."""

from __future__ import annotations

OF_EXPLAINER = {
    "shap_values": "explainer.estimate(X).values, or sharpley.adapters.shap.PermutationExplainer, which has it",
    "expected_value": "explainer.estimate(X).base_values, or sharpley.adapters.shap.PermutationExplainer, which has it",
    "masker": "explainer.background",
    "data": "explainer.background.rows",
}
OF_PACKAGE = {
    "plots": "shap.plots, which draws the explanations of sharpley.Explainer, or sharpley.plotting.intervals",
    "Explanation": "shap.Explanation, which sharpley.Explainer returns",
    "maskers": "shap.maskers, for the explainers in sharpley.adapters.shap",
    "kmeans": "sharpley.Background.kmeans",
    "sample": "sharpley.Background.sample",
    "TreeExplainer": "sharpley.Explainer(model, X), or sharpley.games.TreeGame for exact values of XGBoost models",
    **{
        f"{name}Explainer": f"sharpley.Explainer(model, X), or sharpley.adapters.shap.{name}Explainer"
        for name in ("Permutation", "Kernel", "Sampling", "Exact")
    },
}


def hint(name: str, known: dict[str, str]) -> str:
    """Return what to write instead of a name, for the end of a message; nothing if there is nothing to say."""
    return f"; use {known[name]}" if name in known else ""

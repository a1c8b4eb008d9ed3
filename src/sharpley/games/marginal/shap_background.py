"""Background rows of shap's maskers and summaries, recognised without importing shap."""

from __future__ import annotations

from typing import Any

from sharpley.games.marginal.mixing import is_from

USE_ADAPTER = "use sharpley.adapters.shap.PermutationExplainer, which takes it as it is"


def rows_and_weights(background: Any) -> tuple[Any, Any] | None:
    """Return rows and weights of a ``shap.kmeans`` summary or a masker with data; None for what is not shap's."""
    if is_from("shap.utils._legacy", background, "Data"):
        return _named(background.data, background.group_names), background.weights
    if not is_from("shap.maskers", background, "Masker"):
        return None
    kind = type(background).__name__
    if getattr(background, "clustering", None) is not None:
        raise TypeError(f"the background is a {kind} masker with a clustering of features; {USE_ADAPTER}")
    if not is_from("shap.maskers", background, "Independent"):
        raise TypeError(f"the background is a {kind} masker, which has no background rows; {USE_ADAPTER}")
    return named_rows(background), None


def named_rows(masker: Any) -> Any:
    """Return the background rows of a tabular masker, as a frame if it was made of one."""
    return _named(masker.data, masker.feature_names if masker.output_dataframe else None)


def _named(data: Any, names: Any) -> Any:
    """Return data as a pandas frame if they come from one; the columns of an array are named by their positions."""
    if names is None or list(names) == [str(j) for j in range(len(names))]:
        return data
    import pandas as pd

    return pd.DataFrame(data, columns=list(names)).infer_objects()

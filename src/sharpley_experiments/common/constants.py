"""What several experiments are made of: seeds, data sets, parameters of models."""

from __future__ import annotations

SEED = 2022
"""Of every run: tables can be made again to the last digit."""

REVISION = 2
"""Of our methods: raised when their numbers change, so that stored results are measured again."""

LATER_REVISIONS = {"gp": 3, "gp-unbiased": 3}
"""Of methods whose numbers changed since."""


def revision_of(method: str) -> str:
    """What a stored result of one of our methods depends on."""
    return f"revision {LATER_REVISIONS.get(method, REVISION)}"


PLAYERS = {"cal_housing": 8, "make_regression": 10, "bank": 16, "breast_cancer": 30, "year": 90, "adult": 107}
"""Of the data sets, by their number."""

XGBOOST = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.3}
"""The library's defaults, spelled out, so that a change of them is no change of the experiments."""

MANY_PLAYERS = 50
"""Beyond these, fewer orderings and seeds."""

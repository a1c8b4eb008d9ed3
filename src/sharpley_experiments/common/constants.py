"""Constants that several experiments share: seeds, data sets, parameters of models."""

from __future__ import annotations

SEED = 2022
"""Seed of every run, so that tables can be reproduced to the last digit."""

REVISION = 2
"""Revision of our methods. It is raised when their numbers change, so that stored results are measured again."""

LATER_REVISIONS = {"auto": 5, "gp": 5, "gp-unbiased": 3, "population": 6}
"""Revisions of methods whose numbers have changed since; "population" stands for what "auto" does with own draws."""


def revision_of(method: str) -> str:
    """Revision of one of our methods, which is part of the settings of its stored results."""
    return f"revision {LATER_REVISIONS.get(method, REVISION)}"


PLAYERS = {"cal_housing": 8, "make_regression": 10, "bank": 16, "breast_cancer": 30, "year": 90, "adult": 107}
"""Numbers of players of the data sets, in ascending order."""

XGBOOST = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.3}
"""The defaults of XGBoost, spelled out so that the experiments do not change if the defaults do."""

MANY_PLAYERS = 50
"""Games with more players than this use fewer orderings and seeds."""

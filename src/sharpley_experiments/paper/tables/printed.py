"""The numbers that the paper prints in its tables."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

METHODS = ("antithetic", "orthogonal", "sobol", "herding", "sbq")
"""Methods of Table 4."""


class Printed(NamedTuple):
    """A cell of the paper's Table 4."""

    mean: float
    std: float
    seconds: float


@cache
def discrepancies() -> dict[tuple[int, int, str], Printed]:
    """Cells of the paper's Table 4 by (d, n, method); sequential Bayesian quadrature has none at n = 1000."""
    text = files("sharpley_experiments.paper.tables").joinpath("paper_discrepancy.csv").read_text(encoding="utf-8")
    columns = "discrepancy_mean", "discrepancy_std", "seconds_mean"
    return {
        (int(row["d"]), int(row["n"]), row["algorithm"]): Printed(*(float(row[name]) for name in columns))
        for row in csv.DictReader(text.splitlines())
    }


DATA: dict[str, tuple[int, int, str]] = {
    "adult": (48_842, 107, "classification"),
    "breast_cancer": (699, 30, "classification"),
    "bank": (45_211, 16, "classification"),
    "cal_housing": (20_640, 8, "regression"),
    "make_regression": (1_000, 10, "regression"),
    "year": (515_345, 90, "regression"),
}
"""Rows, columns and task of the data sets (Table 2)."""

EXPONENTS = {"monte-carlo": 1, "antithetic": 1, "orthogonal": 1, "sobol": 1, "herding": 2, "sbq": 3}
"""Exponents of n in the time of each method: from Table 1, and for the first two, which Section 5.5 calls linear."""

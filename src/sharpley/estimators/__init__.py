"""Estimators of indices, one method per module; ``sharpley.METHODS`` maps ``method=`` names to them."""

from __future__ import annotations

from sharpley.coalitions.budget import Budget
from sharpley.estimators.base import CoalitionEstimator, Estimator
from sharpley.estimators.control import CrossFittedEstimator
from sharpley.estimators.exact import ExactEstimator
from sharpley.estimators.gp.estimator import GaussianProcessEstimator
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.owen import OwenEstimator, OwenHalvedEstimator
from sharpley.estimators.pairs.regression import RegressionEstimator
from sharpley.estimators.stratified import StratifiedEstimator
from sharpley.estimators.walks import PermutationEstimator

__all__ = [
    "Budget",
    "CoalitionEstimator",
    "CrossFittedEstimator",
    "Estimator",
    "ExactEstimator",
    "GPSettings",
    "GaussianProcessEstimator",
    "OwenEstimator",
    "OwenHalvedEstimator",
    "PermutationEstimator",
    "RegressionEstimator",
    "StratifiedEstimator",
]

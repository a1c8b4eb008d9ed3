"""Estimators of Shapley values, one method a file, and the registry of those that are not permutation samplers."""

from __future__ import annotations

from sharpley.estimators.base import Estimator
from sharpley.estimators.crossfit import CrossFittedEstimator
from sharpley.estimators.exact import ExactEstimator
from sharpley.estimators.gp import GaussianProcessEstimator
from sharpley.estimators.multilinear import OwenEstimator, OwenHalvedEstimator
from sharpley.estimators.permutation import PermutationEstimator
from sharpley.estimators.regression import RegressionEstimator
from sharpley.estimators.stratified import StratifiedEstimator

ESTIMATORS: dict[str, type[Estimator]] = {
    "owen": OwenEstimator,
    "owen-halved": OwenHalvedEstimator,
    "stratified": StratifiedEstimator,
    "exact": ExactEstimator,
    "regression": RegressionEstimator,
    "gp": GaussianProcessEstimator,
}
"""Every estimator that is not a permutation sampler by its ``method=`` name."""

__all__ = [
    "ESTIMATORS",
    "CrossFittedEstimator",
    "Estimator",
    "ExactEstimator",
    "GaussianProcessEstimator",
    "OwenEstimator",
    "OwenHalvedEstimator",
    "PermutationEstimator",
    "RegressionEstimator",
    "StratifiedEstimator",
]

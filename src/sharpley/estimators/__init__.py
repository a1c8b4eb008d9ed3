"""Estimators of Shapley values, one method a file, and the registry of those that are not permutation samplers."""

from __future__ import annotations

from sharpley.estimators.base import Estimator
from sharpley.estimators.exact import ExactEstimator
from sharpley.estimators.gp.control_variate import CrossFittedEstimator
from sharpley.estimators.gp.estimator import GaussianProcessEstimator
from sharpley.estimators.owen import OwenEstimator, OwenHalvedEstimator
from sharpley.estimators.pairs.regression import RegressionEstimator
from sharpley.estimators.stratified import StratifiedEstimator
from sharpley.estimators.walks import PermutationEstimator

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

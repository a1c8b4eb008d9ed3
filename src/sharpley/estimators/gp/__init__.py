"""Bayesian quadrature over coalitions: a Gaussian process on whole games, and the posterior of their index."""

from sharpley.estimators.gp.estimator import GaussianProcessEstimator
from sharpley.estimators.gp.settings import GPSettings

__all__ = ["GPSettings", "GaussianProcessEstimator"]

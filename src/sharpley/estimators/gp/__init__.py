"""Bayesian quadrature over coalitions: the estimator "gp" and its unbiased form."""

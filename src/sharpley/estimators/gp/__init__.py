"""Bayesian quadrature over coalitions: the estimator "gp" and its unbiased form.

``settings`` and ``work`` say how it is done and what it takes; ``kernel`` is the prior, ``learning`` finds its
hyperparameters, ``posterior`` conditions it (``cholesky``, ``triples``), ``fitting`` does so for many games,
``estimator`` chooses pairs (``active``) and estimates, ``control_variate`` is the unbiased form.
"""

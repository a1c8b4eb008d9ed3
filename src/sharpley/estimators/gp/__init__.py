"""Bayesian quadrature over coalitions: the method "gp" and its unbiased form.

- ``settings`` has all settings, and ``work`` counts the operations of an estimate.
- ``kernel`` is the prior, and ``learning`` finds its hyperparameters.
- ``posterior`` conditions the process on values, with the help of ``cholesky``, ``whitened`` and ``triples``;
  ``fitting`` does so for many games, which share the hyperparameters of a ``bank``.
- ``of_pairs`` chooses pairs, with the help of ``active``, and estimates.
- ``unpaired`` does all of this for tiny budgets, without pairs; ``estimator`` chooses between the two.
- ``control_variate`` is the unbiased form.
"""

"""Orderings of players, kernels between them, discrepancy and quadrature weights, and points on the sphere."""

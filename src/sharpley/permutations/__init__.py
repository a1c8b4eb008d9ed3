"""Permutations: orderings, kernels between them, discrepancy and weights of samples, points on the sphere."""

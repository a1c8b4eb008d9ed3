"""First steps: draw orderings, measure their discrepancy, and estimate a mean over all permutations."""

import numpy as np

import sharpley

# Orderings of ten players. Samplers continue their sequence, like the engines of scipy.stats.qmc.
sampler = sharpley.Orthogonal(d=10, rng=0)
orderings = sampler.random(36)
print(f"the first three of {len(orderings)} orderings:\n{orderings[:3]}")

# How well do they represent all 3,628,800 permutations? Compare them with as many independent random orderings.
random = sharpley.MonteCarlo(d=10, rng=0).random(36)
print(f"discrepancy: orthogonal {sharpley.discrepancy(orderings):.3f}, random {sharpley.discrepancy(random):.3f}")

# The mean of any function of an ordering, with its standard error: here the length of a tour that visits ten cities in
# random order.
cities = np.random.default_rng(1).random((10, 2))


def tour_length(tours: np.ndarray) -> np.ndarray:
    """Length of each closed tour, (m, d) -> (m,)."""
    steps = cities[np.roll(tours, -1, axis=1)] - cities[tours]
    return np.linalg.norm(steps, axis=2).sum(axis=1)


mean, error = sharpley.permutation_mean(tour_length, 10, n=720, rng=0)
print(f"mean length of a random tour: {mean:.4f} ± {error:.4f}")

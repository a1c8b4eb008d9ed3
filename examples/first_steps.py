"""First steps: draw orderings, measure how good they are, and use them for a mean over permutations."""

import numpy as np

import sharpley

# Orderings of ten players. Samplers continue their sequence, like the engines of scipy.stats.qmc.
sampler = sharpley.Orthogonal(d=10, rng=0)
orderings = sampler.random(36)
print("three orderings of", orderings.shape, "\n", orderings[:3])

# How well do they represent all 3,628,800 permutations? Compare with as many random ones.
random = sharpley.MonteCarlo(d=10, rng=0).random(36)
print(f"discrepancy: orthogonal {sharpley.discrepancy(orderings):.3f}, random {sharpley.discrepancy(random):.3f}")

# The mean of any function of an ordering, with its standard error: the length of a tour through ten cities
# when the order is random.
cities = np.random.default_rng(1).random((10, 2))


def tour_length(tours: np.ndarray) -> np.ndarray:
    """Length of each closed tour, (m, d) -> (m,)."""
    steps = cities[np.roll(tours, -1, axis=1)] - cities[tours]
    return np.linalg.norm(steps, axis=2).sum(axis=1)


mean, error = sharpley.permutation_mean(tour_length, 10, n=720, rng=0)
print(f"mean length of a random tour: {mean:.4f} ± {error:.4f}")

"""A noisy game: what each feature contributes to the score of a model that is trained on a random half of the data."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import sharpley

data = load_diabetes()


def score(coalitions: np.ndarray, seed: int) -> np.ndarray:
    """Return the R² on one half of the rows of a model of the coalition's features that was trained on the other half.

    All coalitions of a repetition share the split, which does not disturb the differences between them.
    """
    order = np.random.default_rng(seed).permutation(len(data.data))
    train, test = np.array_split(order, 2)
    values = np.zeros(len(coalitions))
    for i, members in enumerate(coalitions):
        if members.any():
            model = Ridge(alpha=0.1).fit(data.data[np.ix_(train, members)], data.target[train])
            values[i] = model.score(data.data[np.ix_(test, members)], data.target[test])
    return values


game = sharpley.games.NoisyGame(score, d=10, seeded=True, names=data.feature_names)
estimate = sharpley.estimate(game, max_evals=3000, rng=0)

print(f"R² of all features: {estimate.base_values[0] + estimate.values[0].sum():.3f}, with {estimate.method}")
for name, value, error in zip(estimate.names, estimate.values[0], estimate.standard_errors[0], strict=True):
    print(f"{name:>4} {value:7.4f} ± {error:.4f}")

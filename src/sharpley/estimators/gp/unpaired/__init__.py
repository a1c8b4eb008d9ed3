"""Method "gp" for tiny budgets: coalitions without their complements, chosen by what they tell about Shapley values.

- ``kernel`` is the prior on whole games, and ``learning`` finds its hyperparameters.
- ``posterior`` conditions the process on values, and ``errors`` says how far it can be trusted.
- ``choosing`` has the first coalitions, and the most informative further ones.
- ``fitting`` does the same for many games; ``estimator`` puts the steps together.
"""

from sharpley.estimators.gp.unpaired.estimator import UnpairedProcess, least_budget, stage_size

__all__ = ["UnpairedProcess", "least_budget", "stage_size"]

"""What ``sharpley demo`` computes: estimates by Sharpley and by shap from as many predictions, and exact values.

A model of the progression of diabetes is trained on data that come with scikit-learn. It has only 10 features, so all
2^10 = 1024 coalitions can be evaluated for all rows of the training data, and the exact Shapley values are known: both
estimates can be judged. shap uses 100 background rows, as its users do, and Sharpley the whole training data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from sharpley._support.typing import Floats
from sharpley.explainer import Explainer
from sharpley.games.marginal.known import REPEATED_ROWS
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap

FEATURES = [
    "age",
    "sex",
    "body mass index",
    "blood pressure",
    "cholesterol",
    "LDL",
    "HDL",
    "cholesterol / HDL",
    "log triglycerides",
    "blood sugar",
]
ROWS_FOR_SHAP = 100  # of background, which is the default of shap's maskers


@dataclass(frozen=True)
class Size:
    """How much the demonstration computes."""

    n_patients: int = 20
    """Patients who are held out from training, and explained."""
    n_pairs: int = 2
    """Pairs of orderings of shap's PermutationExplainer, whose number of predictions is the budget."""
    n_seeds: int = 20
    """Repetitions, from which the coverage of the intervals is measured."""


@dataclass(frozen=True)
class Study:
    """Everything that the demonstration computes.

    Attributes
    ----------
    score : float
        R² of the model for the held-out patients.
    estimate : ShapleyEstimate
        Sharpley's estimates for all patients, by "auto".
    explanation : shap.Explanation
        The same for shap's plots.
    of_shap : (patients, d) float
        The values of shap's PermutationExplainer.
    exact : (patients, d) float
        Exact Shapley values, for all rows of the training data.
    predictions : (patients,) float
        The model's predictions.
    n_predictions, n_predictions_of_shap : int
        Model predictions that each of the two spent on all patients.
    n_background : int
        Rows of the training data.
    max_predictions : int
        The budget of ``estimate``, for each patient.
    inside : (seeds, patients, d) bool
        Whether each exact value lies in its 95% interval.
    """

    score: float
    estimate: ShapleyEstimate
    explanation: shap.Explanation
    of_shap: Floats
    exact: Floats
    predictions: Floats
    n_predictions: int
    n_predictions_of_shap: int
    n_background: int
    max_predictions: int
    inside: NDArray[np.bool_]

    @property
    def patient(self) -> int:
        """The patient with the largest prediction, who is presented in detail."""
        return int(np.argmax(self.predictions))

    @property
    def error(self) -> float:
        """Root mean squared error of Sharpley's values."""
        return float(np.sqrt(np.mean((self.estimate.values - self.exact) ** 2)))

    @property
    def error_of_shap(self) -> float:
        """Root mean squared error of shap's values."""
        return float(np.sqrt(np.mean((self.of_shap - self.exact) ** 2)))


class Counted:
    """A model whose predictions are counted."""

    def __init__(self, model: Any) -> None:
        self._model, self.count = model, 0

    def __call__(self, rows: Any) -> Any:
        """Return the predictions for rows."""
        self.count += len(rows)
        return self._model.predict(rows)


def make_study(report: Callable[[str], None], size: Size) -> Study:
    """Train the model and explain its predictions; ``report`` is called with a line of text at each step."""
    report("Training gradient boosting on scikit-learn's diabetes data")
    model, train, patients, score = _model(size.n_patients)
    report(f"Its R² is {score:.2f} for {len(patients)} held-out patients")
    report("Explaining these predictions with shap's PermutationExplainer")
    of_shap, spent_by_shap = _explain_with_shap(model, train, patients, size.n_pairs)
    budget = (spent_by_shap - len(train) - REPEATED_ROWS) // len(patients)
    report(f"Explaining them with Sharpley, from no more than the same {spent_by_shap:,} model predictions")
    counted = Counted(model)
    explainer = Explainer(counted, train, rng=0)
    estimate = explainer.estimate(patients, max_predictions=budget)
    spent = counted.count
    report(f"Computing the exact values, from all {2 ** len(FEATURES)} coalitions on {len(train)} rows, to judge both")
    exact = Explainer(model, train, method="exact", draws="shared").estimate(patients).values
    report(f"Repeating Sharpley's estimates with {size.n_seeds} seeds, to measure the coverage of the intervals")
    seeds = tqdm(range(size.n_seeds), leave=False, disable=None)
    inside = np.array([_inside(model, train, patients, exact, budget, seed) for seed in seeds])
    explanation, predictions = explainer(patients, max_predictions=budget), model.predict(patients)
    spendings = spent, spent_by_shap, len(train), budget
    return Study(score, estimate, explanation, of_shap, exact, predictions, *spendings, inside)


def _model(n_patients: int) -> tuple[Any, Any, Any, float]:
    """Return a trained model, the data that it was trained on, the patients to explain, and R² for these."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import train_test_split

    data, target = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    data.columns = FEATURES
    train, test, train_target, test_target = train_test_split(data, target, test_size=n_patients, random_state=0)
    model = GradientBoostingRegressor(n_estimators=60, max_depth=5, random_state=0).fit(train, train_target)
    return model, train, test, model.score(test, test_target)


def _explain_with_shap(model: Any, train: Any, patients: Any, n_pairs: int) -> tuple[Floats, int]:
    """Return the values of shap's PermutationExplainer, (patients, d), and the predictions that they cost."""
    import shap

    counted = Counted(model)
    masker = shap.maskers.Independent(train, max_samples=ROWS_FOR_SHAP)
    state = np.random.get_state()  # noqa: NPY002 (shap seeds the global generator)
    try:
        explainer = shap.PermutationExplainer(counted, masker, seed=0)
        found = explainer(patients, max_evals=n_pairs * (2 * len(FEATURES) + 1), silent=True)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return found.values, counted.count


def _inside(model: Any, train: Any, patients: Any, exact: Floats, budget: int, seed: int) -> NDArray[np.bool_]:
    """Return whether each exact value lies in its 95% interval, with the random choices of one seed: (patients, d)."""
    explainer = Explainer(model.predict, train, rng=seed)  # the model itself would be solved exactly
    lower, upper = explainer.estimate(patients, max_predictions=budget, progress=False).interval()
    return (lower <= exact) & (exact <= upper)

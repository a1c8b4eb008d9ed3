"""``sharpley demo``: explain a model, with error bars, and compare these with the exact values.

A model of the progression of diabetes is trained on data that come with scikit-learn. It has only 10 features, so all
2^10 = 1024 coalitions can be evaluated, and the exact Shapley values are known. The demonstration estimates them from a
tenth of these coalitions, and compares the exact values with the confidence intervals: in a table, in figures, and on
a page to view in a browser.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from tqdm import tqdm

from sharpley import __version__, plotting
from sharpley._support.typing import Floats
from sharpley.engine.methods import SAMPLERS
from sharpley.explainer import Explainer
from sharpley.games import Background
from sharpley.permutations.quadrature import discrepancy
from sharpley.plotting.axes import from_pyplot, require_matplotlib
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    import shap
    from matplotlib.axes import Axes

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
N_PATIENTS = 50  # held out from training, and explained
MAX_EVALS = 100
N_SEEDS = 20  # all patients share their orderings, so the coverage of the intervals with a single seed is noisy
NUMBERS_OF_ORDERINGS = (10, 20, 50, 100, 200)  # in the comparison of samplers
N_TRIALS = 3  # in the comparison of samplers
HEADINGS = ("feature", "measured", "Shapley value", "95% interval", "exact", "inside")


@dataclass(frozen=True)
class Study:
    """Everything that the demonstration computes, for the table, the figures and the page.

    Attributes
    ----------
    score : float
        R² of the model for the held-out patients.
    explanation : shap.Explanation
        Estimates for all patients.
    exact : (patients, d) float
        Exact Shapley values.
    patient : int
        The patient with the largest prediction, who is presented in detail.
    prediction : float
        The model's prediction for this patient.
    estimate : ShapleyEstimate
        The estimate for this patient; ``explanation`` has the same values, without their cost.
    inside : (seeds, patients, d) bool
        Whether each exact value lies in its 95% interval; the first seed is that of ``explanation``.
    """

    score: float
    explanation: shap.Explanation
    exact: Floats
    patient: int
    prediction: float
    estimate: ShapleyEstimate
    inside: NDArray[np.bool_]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the patient's table, largest value first, with a string for each of ``HEADINGS``."""
        one, values, errors = self.patient, self.estimate.values, self.estimate.standard_errors
        lower, upper = self.estimate.interval()
        return [
            (
                FEATURES[j],
                f"{self.explanation.data[one, j]:.4g}",
                f"{values[j]:+.2f} ± {errors[j]:.2f}",
                f"{lower[j]:+.2f} … {upper[j]:+.2f}",
                f"{self.exact[one, j]:+.2f}",
                "yes" if self.inside[0, one, j] else "no",
            )
            for j in np.argsort(-np.abs(values))
        ]


def run(out: Path) -> None:
    """Explain a model's predictions: print a table, and save figures and a page ``index.html`` in ``out``."""
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    study = make_study(lambda text: console.print(f"[bold cyan]•[/] {text}"))
    console.print()
    console.print(_table(study))
    console.print(*_summary(study), sep="\n", end="\n\n")
    samplers = track(SAMPLERS, "Comparing samplers", console=console, transient=True, disable=not console.is_terminal)
    curves = {name: [_mean_discrepancy(name, n) for n in NUMBERS_OF_ORDERINGS] for name in samplers}
    images = {name: _save_as_uri(ax, out / f"{name}.png") for name, ax in _plots(study, curves).items()}
    page = out / "index.html"
    page.write_text(_page(study, images), encoding="utf-8")
    console.print(f"Figures: {len(images)} PNG files in {out}", soft_wrap=True)
    console.print(f"[bold green]Page:[/] {page.resolve().as_uri()}", soft_wrap=True)


def make_study(report: Callable[[str], None]) -> Study:
    """Train the model and explain its predictions; ``report`` is called with a line of text at each step."""
    report("Training gradient boosting on scikit-learn's diabetes data")
    model, background, patients, score = _model()
    report(f"Its R² is {score:.2f} for {len(patients)} held-out patients")
    report(f"Estimating the Shapley values of these predictions from {MAX_EVALS} coalitions each")
    explainer = Explainer(model.predict, background, method="antithetic", rng=0)
    explanation = explainer(patients, max_evals=MAX_EVALS)
    report(f"Computing the exact values, from all {2 ** len(FEATURES)} coalitions, for comparison")
    exact = Explainer(model.predict, background, method="exact").estimate(patients).values
    report(f"Repeating the estimates with {N_SEEDS} seeds, to measure the coverage of the intervals")
    inside = [
        _inside(model, background, patients, exact, seed) for seed in tqdm(range(N_SEEDS), leave=False, disable=None)
    ]
    predictions = model.predict(patients)
    patient = int(np.argmax(predictions))
    estimate = explainer.estimate(patients.iloc[[patient]], max_evals=MAX_EVALS).row(0)
    return Study(score, explanation, exact, patient, float(predictions[patient]), estimate, np.array(inside))


def _inside(model: Any, background: Background, patients: Any, exact: Floats, seed: int) -> NDArray[np.bool_]:
    """Return whether each exact value lies in its 95% interval, with the orderings of one seed: (patients, d)."""
    explainer = Explainer(model.predict, background, method="antithetic", rng=seed)
    lower, upper = explainer.estimate(patients, max_evals=MAX_EVALS, progress=False).interval()
    return (lower <= exact) & (exact <= upper)


def _model() -> tuple[Any, Background, Any, float]:
    """Return a trained model, background rows, the patients to explain, and R² for these."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import train_test_split

    data, target = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    data.columns = FEATURES
    train, test, train_target, test_target = train_test_split(data, target, test_size=N_PATIENTS, random_state=0)
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(train, train_target)
    return model, Background.sample(train, 100, rng=0), test, model.score(test, test_target)


def _mean_discrepancy(name: str, n: int) -> float:
    """Return the mean discrepancy of n orderings from a sampler."""

    def trial(seed: int) -> float:
        sampler = SAMPLERS[name](len(FEATURES), rng=seed)
        orderings = sampler.random(n)
        return discrepancy(orderings, sampler.weights(orderings))

    return float(np.mean([trial(seed) for seed in range(N_TRIALS)]))


def _table(study: Study) -> Table:
    title = f"The patient with the largest prediction, {study.prediction:.1f}"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # narrow enough for a terminal of 80 columns
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("feature", "inside") else "right", no_wrap=True)
    for row in study.rows():
        table.add_row(*row, style=None if row[-1] == "yes" else "yellow")
    return table


def _summary(study: Study) -> list[str]:
    estimate, inside = study.estimate, study.inside
    base, total = float(estimate.base_values), float(estimate.values.sum())
    covered = inside[0, study.patient].sum()
    return [
        f"Base value {base:.2f} + sum of values {total:.2f} = {base + total:.2f}; the model predicts "
        f"{study.prediction:.2f}.",
        f"Method {estimate.method}: {estimate.n_evals} evaluations instead of {2 ** len(FEATURES)}.",
        f"95% intervals that contain the exact value: {covered} of {len(FEATURES)} for this patient,",
        f"{inside.mean():.1%} of {inside.size} for {N_PATIENTS} patients and {N_SEEDS} seeds.",
    ]


def _plots(study: Study, curves: dict[str, list[float]]) -> dict[str, Axes]:
    """Draw every figure, and return their axes by name."""
    import shap

    explanation, one = study.explanation, study.patient
    beeswarm = from_pyplot(lambda: shap.plots.beeswarm(explanation, show=False), size=(6.4, 5))
    waterfall = from_pyplot(lambda: shap.plots.waterfall(explanation[one], show=False), size=(6.4, 5.6))
    low, high = waterfall.get_xlim()
    for ax in waterfall.figure.axes:  # shap's labels of small negative values need space on the left
        ax.set_xlim(low - 0.12 * (high - low), high)
    intervals = plotting.intervals(study.estimate, FEATURES, exact=study.exact[one])
    convergence = plotting.convergence(NUMBERS_OF_ORDERINGS, curves, ylabel="discrepancy (Mallows, λ = 4)")
    return {"beeswarm": beeswarm, "waterfall": waterfall, "intervals": intervals, "discrepancy": convergence}


def _save_as_uri(ax: Axes, path: Path) -> str:
    """Save a figure as a PNG file, and return it as a data URI."""
    plotting.save(ax, path)
    return f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"


def _page(study: Study, images: dict[str, str]) -> str:
    """Return the page as HTML; ``images`` has the data URI of each figure."""
    template = Template(files("sharpley.app").joinpath("demo_page.html").read_text(encoding="utf-8"))
    estimate, inside = study.estimate, study.inside
    base, total = float(estimate.base_values), float(estimate.values.sum())
    return template.substitute(
        images,
        head="".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS),
        rows="\n".join(f"<tr>{''.join(f'<td>{_cell(text)}</td>' for text in row)}</tr>" for row in study.rows()),
        features=_listing(FEATURES),
        patients=N_PATIENTS,
        seeds=N_SEEDS,
        max_evals=MAX_EVALS,
        n_evals=estimate.n_evals,
        all_evals=2 ** len(FEATURES),
        score=f"{study.score:.2f}",
        prediction=f"{study.prediction:.2f}",
        base=f"{base:.2f}",
        total=f"{total:.2f}",
        sum=f"{base + total:.2f}",
        inside_one=inside[0, study.patient].sum(),
        d=len(FEATURES),
        all_intervals=f"{inside.size:,}",
        coverage=f"{inside.mean():.1%}",
        trials=N_TRIALS,
        version=__version__,
    )


def _cell(text: str) -> str:
    """Return the HTML of a cell whose text, on a narrow screen, breaks only before ± and …."""
    return escape(text).replace("± ", "±&nbsp;").replace("… ", "…&nbsp;")


def _listing(names: list[str], per_line: int = 5) -> str:
    """Return names as lines of a Python list."""
    quoted = [f'"{name}",' for name in names]
    return "\n".join("    " + " ".join(quoted[i : i + per_line]) for i in range(0, len(quoted), per_line))

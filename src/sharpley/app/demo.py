"""``sharpley demo``: explain a model, with error bars, and check them against the exact values.

A model of the progression of diabetes is trained on data that come with scikit-learn. Every prediction has only
10 features, so all 2^10 = 1024 coalitions can be evaluated and the true Shapley values are known. The demonstration
estimates them from a tenth of that and shows where the truth lies in the intervals: as a table, as pictures, and as
a page to read in a browser.
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

from sharpley import __version__
from sharpley._support.typing import Floats
from sharpley.engine.methods import SAMPLERS
from sharpley.explainer import Explainer
from sharpley.games import Background
from sharpley.permutations.quadrature import discrepancy
from sharpley.plotting import figures as plotting
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
PATIENTS = 50  # explained, and not used for training
MAX_EVALS = 100
SEEDS = 20  # one set of orderings serves all patients, so the share of intervals that hold is noisy with one seed
SIZES = (10, 20, 50, 100, 200)  # orderings, in the comparison of samplers
TRIALS = 3
HEADINGS = ("feature", "measured", "Shapley value", "95% interval", "exact", "inside")


@dataclass(frozen=True)
class Study:
    """What the demonstration computes; tables and pictures only show it.

    Attributes
    ----------
    score : float
        R² of the model for patients that it has not seen.
    explanation : shap.Explanation
        Estimates for all patients.
    exact : (patients, d) float
        The exact Shapley values.
    patient : int
        The one shown in detail: that of the largest prediction.
    prediction : float
        The model's for that patient.
    estimate : ShapleyEstimate
        Of that patient; ``explanation`` has the same values, without their cost.
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
        """The table of the patient, largest value first: one text for each of ``HEADINGS``."""
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
    """Explain a model's predictions: print a table, and save pictures and a page ``index.html`` in ``out``."""
    plotting.require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    study = make_study(lambda text: console.print(f"[bold cyan]•[/] {text}"))
    console.print()
    console.print(_table(study))
    console.print(*_summary(study), sep="\n", end="\n\n")
    samplers = track(SAMPLERS, "Comparing samplers", console=console, transient=True, disable=not console.is_terminal)
    curves = {name: [_mean_discrepancy(name, n) for n in SIZES] for name in samplers}
    pictures = {name: _picture(ax, out / f"{name}.png") for name, ax in _plots(study, curves).items()}
    page = out / "index.html"
    page.write_text(_page(study, pictures), encoding="utf-8")
    console.print(f"Pictures: {len(pictures)} PNG files in {out}", soft_wrap=True)
    console.print(f"[bold green]Page:[/] {page.resolve().as_uri()}", soft_wrap=True)


def make_study(say: Callable[[str], None]) -> Study:
    """Train the model and explain its predictions; ``say`` is told each step."""
    say("Training gradient boosting on scikit-learn's diabetes data")
    model, background, patients, score = _model()
    say(f"Its R² is {score:.2f} for {len(patients)} patients that it has not seen")
    say(f"Estimating the Shapley values of these predictions from {MAX_EVALS} coalitions each")
    explainer = Explainer(model.predict, background, method="antithetic", rng=0)
    explanation = explainer(patients, max_evals=MAX_EVALS)
    say(f"Computing them exactly, from all {2 ** len(FEATURES)} coalitions, to check")
    exact = Explainer(model.predict, background, method="exact").estimate(patients).values
    say(f"Estimating them again with {SEEDS} seeds, to count the intervals that hold")
    inside = [
        _inside(model, background, patients, exact, seed) for seed in tqdm(range(SEEDS), leave=False, disable=None)
    ]
    predictions = model.predict(patients)
    patient = int(np.argmax(predictions))
    estimate = explainer.estimate(patients.iloc[[patient]], max_evals=MAX_EVALS).row(0)
    return Study(score, explanation, exact, patient, float(predictions[patient]), estimate, np.array(inside))


def _inside(model: Any, background: Background, patients: Any, exact: Floats, seed: int) -> NDArray[np.bool_]:
    """Whether each exact value lies in its 95% interval, with the orderings of one seed."""
    explainer = Explainer(model.predict, background, method="antithetic", rng=seed)
    lower, upper = explainer.estimate(patients, max_evals=MAX_EVALS, progress=False).interval()
    return (lower <= exact) & (exact <= upper)


def _model() -> tuple[Any, Background, Any, float]:
    """A trained model, background rows, the patients to explain, and R² for these."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import train_test_split

    table, target = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    table.columns = FEATURES
    train, test, train_target, test_target = train_test_split(table, target, test_size=PATIENTS, random_state=0)
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(train, train_target)
    return model, Background.sample(train, 100, rng=0), test, model.score(test, test_target)


def _mean_discrepancy(name: str, n: int) -> float:
    def one(seed: int) -> float:
        sampler = SAMPLERS[name](len(FEATURES), rng=seed)
        orderings = sampler.random(n)
        return discrepancy(orderings, sampler.weights(orderings))

    return float(np.mean([one(seed) for seed in range(TRIALS)]))


def _table(study: Study) -> Table:
    title = f"The patient with the largest prediction, {study.prediction:.1f}"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # narrow: terminals have 80 columns
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("feature", "inside") else "right", no_wrap=True)
    for row in study.rows():
        table.add_row(*row, style=None if row[-1] == "yes" else "yellow")
    return table


def _summary(study: Study) -> list[str]:
    estimate, inside = study.estimate, study.inside
    base, total = float(estimate.base_values), float(estimate.values.sum())
    held = inside[0, study.patient].sum()
    return [
        f"Base value {base:.2f} + sum of values {total:.2f} = {base + total:.2f}; the model predicts "
        f"{study.prediction:.2f}.",
        f"Method {estimate.method}: {estimate.n_evals} evaluations instead of {2 ** len(FEATURES)}.",
        f"95% intervals that hold the exact value: {held} of {len(FEATURES)} for this patient,",
        f"{inside.mean():.1%} of {inside.size} for {PATIENTS} patients and {SEEDS} seeds.",
    ]


def _plots(study: Study, curves: dict[str, list[float]]) -> dict[str, Axes]:
    """Every picture by its name."""
    import shap

    explanation, one = study.explanation, study.patient
    beeswarm = plotting.from_pyplot(lambda: shap.plots.beeswarm(explanation, show=False), size=(6.4, 5))
    waterfall = plotting.from_pyplot(lambda: shap.plots.waterfall(explanation[one], show=False), size=(6.4, 5.6))
    low, high = waterfall.get_xlim()
    for ax in waterfall.figure.axes:  # shap's labels of small negative values need room on the left
        ax.set_xlim(low - 0.12 * (high - low), high)
    intervals = plotting.intervals(study.estimate, FEATURES, exact=study.exact[one])
    convergence = plotting.convergence(SIZES, curves, ylabel="discrepancy (Mallows, λ = 4)")
    return {"beeswarm": beeswarm, "waterfall": waterfall, "intervals": intervals, "discrepancy": convergence}


def _picture(ax: Axes, path: Path) -> str:
    """Save a picture and return it as a data URI."""
    plotting.save(ax, path)
    return f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"


def _page(study: Study, pictures: dict[str, str]) -> str:
    template = Template(files("sharpley.app").joinpath("demo_page.html").read_text(encoding="utf-8"))
    estimate, inside = study.estimate, study.inside
    base, total = float(estimate.base_values), float(estimate.values.sum())
    return template.substitute(
        pictures,
        head="".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS),
        rows="\n".join(f"<tr>{''.join(f'<td>{_cell(text)}</td>' for text in row)}</tr>" for row in study.rows()),
        features=_listing(FEATURES),
        patients=PATIENTS,
        seeds=SEEDS,
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
        trials=TRIALS,
        version=__version__,
    )


def _cell(text: str) -> str:
    """Text of a cell that breaks, on a narrow screen, before ± and … only."""
    return escape(text).replace("± ", "±&nbsp;").replace("… ", "…&nbsp;")


def _listing(names: list[str], per_line: int = 5) -> str:
    """Names as lines of Python code."""
    quoted = [f'"{name}",' for name in names]
    return "\n".join("    " + " ".join(quoted[i : i + per_line]) for i in range(0, len(quoted), per_line))

"""``sharpley demo``: explain a model with error bars, beside shap's explainer, and judge both by exact values.

It prints a table, saves figures, and writes a page to view in a browser.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sharpley import __version__, plotting
from sharpley._support.atomic import replace_text
from sharpley.app.demo_figures import figures
from sharpley.app.demo_study import FEATURES, ROWS_FOR_SHAP, Size, Study, make_study
from sharpley.plotting.axes import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADINGS = ("feature", "value", "95% interval", "exact", "inside", "shap")
DEFAULT_SIZE = Size()


def run(out: Path, size: Size | None = None) -> None:
    """Explain a model's predictions: print a table, and save figures and a page ``index.html`` in ``out``."""
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    study = make_study(lambda text: console.print(f"[bold cyan]•[/] {text}"), size or DEFAULT_SIZE)
    console.print()
    console.print(_table(study))
    console.print(*_summary(study), sep="\n", end="\n\n")
    images = {name: _save_as_uri(ax, out / f"{name}.png") for name, ax in figures(study).items()}
    page = out / "index.html"
    replace_text(page, _page(study, images))
    console.print(f"Figures: {len(images)} PNG files in {out}", soft_wrap=True)
    console.print(f"[bold green]Page:[/] {page.resolve().as_uri()}", soft_wrap=True)


def table_rows(study: Study) -> list[tuple[str, ...]]:
    """Return the rows of the patient's table, largest value first, with a string for each of ``HEADINGS``."""
    one = study.patient
    values, errors = study.estimate.values[one], study.estimate.standard_errors[one]
    lower, upper = (limit[one] for limit in study.estimate.interval())
    return [
        (
            FEATURES[j],
            f"{values[j]:+.2f} ± {errors[j]:.2f}",
            f"{lower[j]:+.2f} … {upper[j]:+.2f}",
            f"{study.exact[one, j]:+.2f}",
            "yes" if lower[j] <= study.exact[one, j] <= upper[j] else "no",
            f"{study.of_shap[one, j]:+.2f}",
        )
        for j in np.argsort(-np.abs(values))
    ]


def _table(study: Study) -> Table:
    title = f"The patient with the largest prediction, {study.predictions[study.patient]:.1f}"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # narrow enough for a terminal of 80 columns
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("feature", "inside") else "right", no_wrap=True)
    for row in table_rows(study):
        table.add_row(*row, style=None if row[4] == "yes" else "yellow")
    return table


def _summary(study: Study) -> list[str]:
    inside, times = study.inside, study.error_of_shap / study.error
    of_exact = 2 ** len(FEATURES) * study.n_background * len(study.exact)
    return [
        f"Method {study.estimate.method}: {study.n_predictions:,} predictions; "
        f"shap: {study.n_predictions_of_shap:,}; exact: {of_exact:,}.",
        f"Error (root mean square over all values): {study.error:.2f}; shap: {study.error_of_shap:.2f}, "
        f"{times:.1f} times as large.",
        f"95% intervals that contain the exact value: {inside.mean():.1%} of {inside.size:,}, for {inside.shape[1]} "
        f"patients and {inside.shape[0]} seeds.",
    ]


def _save_as_uri(ax: Axes, path: Path) -> str:
    """Save a figure as a PNG file, and return it as a data URI."""
    plotting.save(ax, path)
    return f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"


def _page(study: Study, images: dict[str, str]) -> str:
    """Return the page as HTML; ``images`` has the data URI of each figure."""
    template = Template(files("sharpley.app").joinpath("demo_page.html").read_text(encoding="utf-8"))
    one, inside = study.patient, study.inside
    base, total = float(study.estimate.base_values[one]), float(study.estimate.values[one].sum())
    return template.substitute(
        images,
        head="".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS),
        rows="\n".join(f"<tr>{''.join(f'<td>{_cell(text)}</td>' for text in row)}</tr>" for row in table_rows(study)),
        features=_listing(FEATURES),
        d=len(FEATURES),
        patients=len(study.exact),
        seeds=len(inside),
        background=study.n_background,
        rows_for_shap=ROWS_FOR_SHAP,
        method=study.estimate.method,
        max_predictions=study.max_predictions,
        all_evals=2 ** len(FEATURES),
        n_predictions=f"{study.n_predictions:,}",
        n_predictions_of_shap=f"{study.n_predictions_of_shap:,}",
        error=f"{study.error:.2f}",
        error_of_shap=f"{study.error_of_shap:.2f}",
        times=f"{study.error_of_shap / study.error:.1f}",
        score=f"{study.score:.2f}",
        prediction=f"{study.predictions[one]:.2f}",
        base=f"{base:.2f}",
        total=f"{total:.2f}",
        sum=f"{base + total:.2f}",
        inside_one=sum(row[4] == "yes" for row in table_rows(study)),
        all_intervals=f"{inside.size:,}",
        coverage=f"{inside.mean():.1%}",
        version=__version__,
    )


def _cell(text: str) -> str:
    """Return the HTML of a cell whose text, on a narrow screen, breaks only before ± and …."""
    return escape(text).replace("± ", "±&nbsp;").replace("… ", "…&nbsp;")


def _listing(names: list[str], per_line: int = 5) -> str:
    """Return names as lines of a Python list."""
    quoted = [f'"{name}",' for name in names]
    return "\n".join("    " + " ".join(quoted[i : i + per_line]) for i in range(0, len(quoted), per_line))

"""A page about the results of a run: what matters, how sure that is, and how it was computed.

Means are over all rows, one file at a time; points are those of a sample of rows, evenly spread over all.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sharpley._support.atomic import replace_text
from sharpley._support.typing import Floats
from sharpley.batch.outcome import Outcome
from sharpley.plotting.axes import from_pyplot, literal, require_matplotlib
from sharpley.presentation import row_table
from sharpley.presentation.parquet import pyarrow
from sharpley.result import ShapleyEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_ROWS = 1000  # points for each feature
SHOWN_OUTPUTS = 6
DPI = 110


class Summary(NamedTuple):
    """What is known of all rows, and the estimates of some."""

    sizes: Floats
    """Means of absolute values over all rows, (outputs, d)."""
    errors: Floats
    """Roots of the mean squares of standard errors, (outputs, d)."""
    sample: ShapleyEstimate
    """The estimates of a sample of rows, with an axis of outputs."""
    settings: dict[str, Any]
    """What the results depend on."""


def summarise(folder: Path) -> Summary:
    """Read the results in a folder, one file at a time."""
    pa, _ = pyarrow()
    known = row_table.parts_in(folder)
    first = known[0][1]
    k, names, total = first["outputs"], first["names"], first["of_rows"]
    step = -(-total // SHOWN_ROWS)
    sizes, squares, shown = np.zeros((k, len(names))), np.zeros((k, len(names))), []
    for path, facts in known:
        table = row_table.read_part(path, facts)
        for j, name in enumerate(names):
            sizes[:, j] += np.abs(table[f"value_{name}"].to_numpy()).reshape(-1, k).sum(axis=0)
            squares[:, j] += (table[f"standard_error_{name}"].to_numpy() ** 2).reshape(-1, k).sum(axis=0)
        shown.append(table.filter(pa.array(table["row"].to_numpy() % step == 0)))
    with_outputs = [{**each, "has_outputs": True} for _, each in known]
    sample = ShapleyEstimate(**row_table.fields_of(pa.concat_tables(shown), with_outputs))
    return Summary(sizes / total, np.sqrt(squares / total), sample, first["settings"])


def check_report(path: Path) -> None:
    """Raise an error, before a run that may take hours, if the page could not be written after it."""
    require_matplotlib()
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise ValueError(f"the page cannot be written to {path}: give the name of a file in a folder that exists")


def write_report(outcome: Outcome, path: str | Path) -> Path:
    """Write the page, a single file without references to others, and return where it is."""
    template = Template(files("sharpley.batch").joinpath("report_page.html").read_text(encoding="utf-8"))
    summary = summarise(outcome.folder)
    out = Path(path)
    text = template.substitute(
        rows=f"{outcome.rows:,}",
        method=escape(summary.sample.method),
        facts="\n".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _facts(outcome)),
        sections="\n".join(_sections(summary)),
        settings="\n".join(_line(name, str(value)) for name, value in summary.settings.items()),
    )
    replace_text(out, text)
    return out


def _facts(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "rows", f"{outcome.rows:,}"
    yield "predictions", f"{outcome.predictions:,}"
    yield "rows that did not reach the tolerance", f"{outcome.unconverged:,}"
    if outcome.new_rows:
        yield "rows per second", f"{outcome.new_rows / outcome.seconds:,.0f}"


def _sections(summary: Summary) -> Iterator[str]:
    names = summary.sample.output_names or [f"Output {number}" for number in range(len(summary.sizes))]
    several = len(names) > 1
    for number, name in enumerate(names[:SHOWN_OUTPUTS]):
        title = f"What matters for {escape(name)}" if several else "What matters"
        order = np.argsort(-summary.sizes[number])
        head = "<tr><th>feature</th><th>mean absolute value</th><th>typical standard error</th></tr>"
        lines = "".join(
            _line(summary.sample.names[j], f"{summary.sizes[number, j]:.4g}", f"{summary.errors[number, j]:.2g}")
            for j in order
            if summary.sample.names is not None
        )
        yield (
            f'<section><h2>{title}</h2><figure><img alt="values of {len(summary.sample):,} rows by feature" '
            f'src="{_uri(_points(summary, number))}"></figure>'
            f'<div class="scroll"><table>{head}{lines}</table></div></section>'
        )
    if len(names) > SHOWN_OUTPUTS:
        yield f"<section><p>{len(names) - SHOWN_OUTPUTS} further outputs are in the files.</p></section>"


def _points(summary: Summary, output: int) -> Axes:
    """Draw the values of the sample, by shap."""
    import shap

    one = summary.sample[:, :, output]
    names = [literal(name) for name in one.names or ()]
    explanation = shap.Explanation(values=one.values, base_values=one.base_values, feature_names=names)
    return from_pyplot(lambda: shap.plots.violin(explanation, plot_type="violin", show=False), size=(7.2, 4.8))


def _uri(ax: Axes) -> str:
    stream = BytesIO()
    ax.get_figure(root=True).savefig(  # type: ignore[union-attr] # from_pyplot has a figure
        stream, dpi=DPI, metadata={"Software": None}, bbox_inches="tight"
    )
    return f"data:image/png;base64,{b64encode(stream.getvalue()).decode()}"


def _line(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"

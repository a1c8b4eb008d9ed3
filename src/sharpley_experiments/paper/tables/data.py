"""The data sets of the experiments (the paper's Table 2), as printed and as loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley_experiments.common.datasets import load
from sharpley_experiments.paper.exhibits import Context, Exhibit, Finding, Verdict
from sharpley_experiments.paper.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def compute(context: Context) -> DataFrame:
    """A row for each data set: name, rows, columns, task, target_mean, note, paper_rows, paper_columns, paper_task."""
    from pandas import DataFrame

    rows = []
    for name, (paper_rows, paper_columns, paper_task) in DATA.items():
        dataset = load(name, context.data)
        rows.append(
            {
                "name": name,
                "rows": dataset.X.shape[0],
                "columns": dataset.X.shape[1],
                "task": "classification" if dataset.is_classification else "regression",
                "target_mean": float(dataset.y.mean()),
                "note": dataset.note,
                "paper_rows": paper_rows,
                "paper_columns": paper_columns,
                "paper_task": paper_task,
            }
        )
    return DataFrame(rows)


def tabulate(table: DataFrame) -> DataFrame:
    """Rows and columns next to those of the paper, and the share of positives or the mean of a regression's target."""
    from pandas import DataFrame

    return DataFrame(
        {
            "data set": table["name"],
            "rows": table["rows"].map("{:,}".format),
            "paper's rows": table["paper_rows"].map("{:,}".format),
            "columns": table["columns"].astype(str),
            "paper's columns": table["paper_columns"].astype(str),
            "task": table["task"],
            "target": [
                f"{mean:.1%} positive" if task == "classification" else f"mean {mean:.6g}"
                for mean, task in zip(table["target_mean"], table["task"], strict=True)
            ],
            "note": [_text(note) for note in table["note"]],
        }
    )


def _text(note: object) -> str:
    """Return a note; an empty one is read from CSV as NaN."""
    return note if isinstance(note, str) else ""


def findings(table: DataFrame) -> list[Finding]:
    """Compare the numbers of rows, and the numbers of columns with the tasks."""
    rows = table["rows"] == table["paper_rows"]
    others = (table["columns"] == table["paper_columns"]) & (table["task"] == table["paper_task"])
    return [
        _finding("The data sets have the printed numbers of rows.", table, rows),
        _finding("They have the printed numbers of columns, and the printed tasks.", table, others),
    ]


def _finding(claim: str, table: DataFrame, right: Series) -> Finding:
    verdict: Verdict = "holds" if right.all() else "holds in part" if right.any() else "does not hold"
    wrong = [
        f"{row.name} has {row.rows:,} rows, {row.columns} columns, {row.task}"
        + (f" ({_text(row.note)})" if _text(row.note) else "")
        for row in table[~right].itertuples(index=False)
    ]
    return Finding(claim, verdict, "; ".join([f"true for {right.sum()} of {len(table)} data sets", *wrong]))


DATA_SETS = Exhibit(
    name="datasets",
    title="Tabular data sets",
    paper="Six data sets with 8 to 107 columns and 699 to 515,345 rows, three for classification and three for "
    "regression.",
    compute=compute,
    tabulate=tabulate,
    findings=findings,
)

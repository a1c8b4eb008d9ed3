"""The data sets of the experiments (the paper's Table 2), as printed and as loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley.experiments.datasets import load
from sharpley.experiments.exhibits import Context, Exhibit, Finding, Verdict
from sharpley.experiments.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame


def compute(context: Context) -> DataFrame:
    """One row a data set: name, rows, columns, task, target_mean, note, and the paper's sizes and task."""
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
    """Sizes beside the paper's; of a class the share of positives, of a regression the mean of the target."""
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
            "note": table["note"].fillna(""),  # an empty note comes back from a CSV as NaN
        }
    )


def findings(table: DataFrame) -> list[Finding]:
    """Rows, and columns with tasks."""
    rows = table["rows"] == table["paper_rows"]
    others = (table["columns"] == table["paper_columns"]) & (table["task"] == table["paper_task"])
    shape = " × ".join
    wrong = [
        f"{row.name} is {shape([f'{row.rows:,}', str(row.columns)])} {row.task}"
        + (f" ({row.note})" if isinstance(row.note, str) and row.note else "")
        for row in table[~(rows & others)].itertuples(index=False)
    ]
    return [
        _finding("The printed numbers of rows.", int(rows.sum()), len(table), wrong),
        _finding(
            "The printed numbers of columns and tasks.",
            int(others.sum()),
            len(table),
            wrong if not others.all() else [],
        ),
    ]


def _finding(claim: str, agree: int, total: int, wrong: list[str]) -> Finding:
    verdict: Verdict = "holds" if agree == total else "holds in part" if agree else "does not hold"
    return Finding(claim, verdict, "; ".join([f"true of {agree} of {total} data sets", *wrong]))


DATA_SETS = Exhibit(
    name="datasets",
    title="Tabular data sets",
    paper="Six data sets with 8 to 107 columns and 699 to 515,345 rows, three of classes and three of regression.",
    compute=compute,
    tabulate=tabulate,
    findings=findings,
)

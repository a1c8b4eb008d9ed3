"""The data sets of the experiments (the paper's Table 2), as printed and as loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharpley_experiments.paper.data import load_for_paper
from sharpley_experiments.paper.exhibits import Context, Details, Exhibit, Finding, Verdict
from sharpley_experiments.paper.tables.printed import DATA

if TYPE_CHECKING:
    from pandas import DataFrame


def compute(context: Context) -> DataFrame:
    """A row for each data set: name, rows, columns, task, target_mean, note, paper_rows, paper_columns, paper_task."""
    from pandas import DataFrame

    rows = []
    for name, (paper_rows, paper_columns, paper_task) in DATA.items():
        dataset = load_for_paper(name, context.data)
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
    """Compare columns and tasks; numbers of rows, which depend on what files are at hand, are a remark."""
    right = (table["columns"] == table["paper_columns"]) & (table["task"] == table["paper_task"])
    same = table["rows"] == table["paper_rows"]
    verdict: Verdict = "holds" if right.all() else "holds in part" if right.any() else "does not hold"
    return [
        Finding(
            "The data sets have the printed numbers of columns, and the printed tasks.",
            verdict,
            f"true for {right.sum()} of {len(table)} data sets",
            _others(table[~right]),
        ),
        Finding(
            "The data sets have the printed numbers of rows.",
            "remark",
            f"true for {same.sum()} of {len(table)} data sets",
            _others(table[~same]),
        ),
    ]


def _others(table: DataFrame) -> Details | None:
    """What differs from the printed numbers, if anything does."""
    rows = [
        (row.name, f"{row.rows:,}", f"{row.paper_rows:,}", str(row.columns), str(row.task), _text(row.note))
        for row in table.itertuples(index=False)
    ]
    return Details(("data set", "rows", "paper's rows", "columns", "task", "note"), tuple(rows)) if rows else None


DATA_SETS = Exhibit(
    name="datasets",
    title="Tabular data sets",
    paper="Six data sets with 8 to 107 columns and 699 to 515,345 rows, three for classification and three for "
    "regression.",
    compute=compute,
    tabulate=tabulate,
    findings=findings,
    source="Table 2",
    rule="holds if it is true of every data set, in part if of some",
)

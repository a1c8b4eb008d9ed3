"""The command ``sharpley explain``: files in, files out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sharpley.app.errors import plain_errors
from sharpley.engine.methods import METHODS
from sharpley.engine.options import summary

MODEL_HELP = (
    "A file: XGBoost .json or .ubj, LightGBM .txt, CatBoost .cbm, .onnx, .skops; or module:function, which is called "
    "on pandas frames."
)
DATA_HELP = "Rows to explain: a Parquet, Feather or CSV file, a folder of these, or a pattern such as 'X/*.parquet'."
OUTPUT_HELP = "Output to explain, by name or number; may be repeated. label: the labels of a classifier, as numbers."
GROUPS_HELP = 'Columns that play as one, as JSON or a file of it: {"place": ["latitude", "longitude"]}'


def explain(
    model: Annotated[str, typer.Option(help=MODEL_HELP)],
    data: Annotated[str, typer.Option(help=DATA_HELP)],
    background: Annotated[str, typer.Option(help="Rows that absent features take their values from, in such files.")],
    out: Annotated[Path, typer.Option(help="Folder for the results; an unfinished run in it goes on.")],
    method: Annotated[str, typer.Option(help="One of: " + ", ".join(METHODS))] = "auto",
    draws: Annotated[str, typer.Option(help="auto, shared or own. " + summary("draws"))] = "auto",
    link: Annotated[str | None, typer.Option(help="identity or logit.")] = None,
    max_evals: Annotated[int | None, typer.Option(help=summary("max_evals"))] = None,
    max_predictions: Annotated[int | None, typer.Option(help=summary("max_predictions"))] = None,
    tol: Annotated[float | None, typer.Option(help=summary("tol"))] = None,
    unbiased: Annotated[bool, typer.Option("--unbiased", help=summary("unbiased"))] = False,
    groups: Annotated[str | None, typer.Option(help=GROUPS_HELP)] = None,
    output: Annotated[list[str] | None, typer.Option(help=OUTPUT_HELP)] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of the data that identifies rows in results.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for one per core.")] = 1,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://…:8786.")] = None,
    rows_per_part: Annotated[int | None, typer.Option(help="Rows of each file; by default 100 to 10,000.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Maximum number of rows in one model call.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost, and stop.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write a page with plots to this file.")] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Discard what is in the folder.")] = False,
    trust_pickle: Annotated[bool, typer.Option("--trust-pickle", help="Load a model from a pickle.")] = False,
    trust_type: Annotated[list[str] | None, typer.Option(help="Type that a skops file may have; repeatable.")] = None,
) -> None:
    """Explain the predictions of a model for all rows of files, and write Parquet files.

    Interrupted or killed, the same command goes on where it stopped, and gives the same results as an undisturbed run.
    Results do not depend on --jobs, --scheduler and --rows-per-part. Read them by sharpley.load(OUT), or with pandas,
    polars or DuckDB.
    """
    with plain_errors():
        from sharpley.batch import Options, explain_files, forecast_files
        from sharpley.batch.report import check_report, write_report

        options = Options(
            method=method,
            draws=draws,
            link=link,
            unbiased=unbiased,
            max_evals=max_evals,
            max_predictions=max_predictions,
            tol=tol,
            groups=_groups(groups),
            output=_outputs(output),
            seed=seed,
            batch_size=batch_size,
        )
        files: dict[str, Any] = {"model": model, "data": data, "background": background, "options": options}
        trust: dict[str, Any] = {"trust_pickle": trust_pickle, "trusted_types": trust_type or ()}
        if plan:
            typer.echo(forecast_files(**files, id_column=id_column, jobs=jobs, **trust))
            return
        if report is not None:
            check_report(report)
        outcome = explain_files(
            **files,
            out=out,
            id_column=id_column,
            rows_per_part=rows_per_part,
            jobs=jobs,
            scheduler=scheduler,
            restart=restart,
            **trust,
        )
        typer.echo(outcome)
        if report is not None:
            typer.echo(f"Page: {write_report(outcome, report).resolve().as_uri()}")


def _groups(given: str | None) -> dict[str, list[str]] | None:
    """Return groups from JSON, or from a file of it."""
    if given is None:
        return None
    text = given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
    try:
        groups = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"--groups is not JSON: {error}") from None
    if not isinstance(groups, dict) or not all(isinstance(columns, list) for columns in groups.values()):
        raise ValueError('--groups must map names to lists of columns, as {"place": ["latitude", "longitude"]}')
    return groups


def _outputs(given: list[str] | None) -> Any:
    """Return outputs by number where they are numbers, and otherwise by name; None for the default."""
    if not given:
        return None
    if given in (["all"], ["label"]):
        return given[0]
    return [int(name) if name.isdecimal() else name for name in given]

"""The command line: each command parses its arguments, calls the library and prints the result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sharpley import SAMPLERS, __version__, discrepancy
from sharpley._support import cache as _cache
from sharpley._support.checks import check_choice
from sharpley.app.errors import plain_errors
from sharpley.app.explain import explain
from sharpley.app.files import read_array, write_array
from sharpley.engine.methods import METHODS, as_method, as_sampler, sample_for_budget
from sharpley.permutations.kernels import KERNELS, kernel_by_name

app = typer.Typer(
    help="Shapley values, samples of permutations and their discrepancies.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
METHOD_HELP = "One of: " + ", ".join(SAMPLERS)
KERNEL_HELP = "One of: " + ", ".join(KERNELS)
CACHED_METHODS = [name for name, record in METHODS.items() if record.keeps_samples]
"""Methods whose samples are computed once and stored."""
FILE_HELP = "CSV (one ordering per line, no header) or NPY; - for standard input."


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sharpley {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Shapley values, samples of permutations and their discrepancies."""


@app.command()
def sample(
    d: Annotated[int, typer.Option("-d", "--players", help="Number of players.")],
    n: Annotated[int, typer.Option("-n", "--number", help="Number of orderings.")],
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "orthogonal",
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same orderings.")] = None,
    out: Annotated[str, typer.Option(help="File to write, .csv or .npy; - for standard output.")] = "-",
    file_format: Annotated[str | None, typer.Option("--format", help="csv or npy.")] = None,
    weights: Annotated[str | None, typer.Option(help="Also write the weights to this file.")] = None,
) -> None:
    """Draw orderings of players 0 .. d-1.

    The orderings of method sbq must be used with their weights: write these to a file as well, with --weights.
    """
    with plain_errors():
        if weights == out:
            raise ValueError(f"orderings and weights cannot both go to {out!r}; choose another file for the weights")
        sampler = as_sampler(method).start_sampler(d, seed)
        orderings = sampler.random(n)
        if weights is not None:
            write_array(weights, sampler.weights(orderings)[:, None])
        write_array(out, orderings, file_format)


@app.command("discrepancy")
def discrepancy_command(
    orderings: Annotated[str, typer.Argument(help=FILE_HELP)],
    kernel: Annotated[str, typer.Option(help=KERNEL_HELP)] = "mallows",
    scale: Annotated[float | None, typer.Option(help="Scale of the Mallows kernel (4 by default).")] = None,
    weights: Annotated[str | None, typer.Option(help="File with weights; equal weights by default.")] = None,
) -> None:
    """Print the discrepancy of orderings: the lower it is, the better they represent all permutations."""
    with plain_errors():
        sample_weights = None if weights is None else read_array(weights, np.float64).reshape(-1)
        value = discrepancy(read_array(orderings, np.int64), sample_weights, kernel=kernel_by_name(kernel, scale))
        typer.echo(f"{value:.6g}")


app.command()(explain)


@app.command()
def reproduce(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...|all", help="Names of figures and tables, listed above.")
    ],
    preset: Annotated[str, typer.Option(help="How large the runs are: quick, laptop, images or paper.")] = "laptop",
    jobs: Annotated[
        int, typer.Option(help="Number of processes; -1 for one per core. Results do not depend on it.")
    ] = 1,
    out: Annotated[Path, typer.Option(help="Folder for results; finished cells in it are not recomputed.")] = Path(
        "results"
    ),
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets; if not given, they are downloaded.")
    ] = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Show the finished cells of images so far, and compute nothing.")
    ] = False,
) -> None:
    """Reproduce figures and tables of the paper, and write a page that shows them.

    Geometry: cayley-graph-3, cayley-graph-4, voronoi-cells, orthogonal-codes,
    kendall-distribution, kendall-bounds, sobol-sphere, sobol-histogram.

    Tables: complexity, datasets, algorithms, table-discrepancy.

    Evaluation: existing-gbdt, proposed-gbdt, proposed-mlp, lambda-gbdt,
    lambda-mlp, argmax-samples, kernels.

    Images: images, images-time, images-lambda.

    Claims of the text: propositions, herding-rate, functions, orthogonal-blocks,
    clustering.

    Beyond the paper: ours-gbdt, ours-mlp, own-draws, images-ours.

    The page, report.html, shows all results in the folder, with a verdict on
    each claim of the paper that was tested. An interrupted run can be resumed.
    """
    from sharpley_experiments.paper.reproduce import reproduce as run

    with plain_errors():
        outcome = run(names, out, preset=preset, jobs=jobs, data=data, stored=stored)
    typer.echo(f"Page: {outcome.page.resolve().as_uri()}")
    if outcome.failed:
        typer.echo(f"sharpley: could not reproduce {', '.join(outcome.failed)}", err=True)
        raise typer.Exit(1)


@app.command()
def bench(
    out: Annotated[Path, typer.Option(help="Folder for results; finished cells in it are not recomputed.")] = Path(
        "bench"
    ),
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets; if not given, they are downloaded.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for one per core.")] = 1,
    game: Annotated[
        list[str] | None, typer.Option(help="Only this game, such as xgboost-bank or shapiq-*; may be repeated.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help='Only this method, such as gp or "shapiq OddSHAP"; may be repeated.')
    ] = None,
    quick: Annotated[bool, typer.Option(help="Few games and two seeds, to check that it works.")] = False,
    population: Annotated[
        bool, typer.Option("--population", help="Errors for a whole population of background rows, by predictions.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="At most so many seeds, with --population.", min=2)] = 10,
) -> None:
    r"""Compare all methods with those of shap and shapiq, on games with known Shapley values.

    With --population, libraries explain models as their users call them, and what counts is the number of
    predictions and the error for all background rows.

    Install the peers with pip install 'sharpley\[peers]', on Python 3.12 or later.
    """
    from sharpley_experiments.bench.peers import versions

    note = f"sharpley {__version__}, {versions()}"
    with plain_errors():
        if population:
            from sharpley_experiments.bench.population import report as population_report
            from sharpley_experiments.bench.population.run import run as run_population

            lines = run_population(out, data=data, jobs=jobs, games=game, methods=method, seeds=seeds, quick=quick)
            paths = population_report.write(lines, out, note)
        else:
            from sharpley_experiments.bench import report
            from sharpley_experiments.bench.run import run

            paths = report.write(run(out, data=data, jobs=jobs, games=game, methods=method, quick=quick), out, note)
        for path in paths:
            typer.echo(f"wrote {path}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and its figures.")] = Path("sharpley-demo"),
    image: Annotated[bool, typer.Option("--image", help="Explain images of digits instead of a table.")] = False,
) -> None:
    """Explain a model with error bars, and check them against the exact values: a table, figures and a page."""
    from sharpley.app import demo as of_table
    from sharpley.app import demo_images

    with plain_errors():
        (demo_images if image else of_table).run(out)


cache = typer.Typer(help="The cache on disk: designs, greedy sequences and data sets.", no_args_is_help=True)
app.add_typer(cache, name="cache")


@cache.command("list")
def list_cache() -> None:
    """List the files in the cache, and its folder."""
    place = _cache.folder()
    typer.echo(f"the cache is off: {_cache.VARIABLE} is empty" if place is None else f"{place}")
    for entry in _cache.entries():
        state = f"{entry.n} orderings of {entry.d}" if entry.is_valid else "not valid, will be recomputed"
        typer.echo(f"{entry.n_bytes / 1000:8.1f} kB  {entry.key}  ({state})")
    for path in _cache.data_files():
        typer.echo(f"{path.stat().st_size / 1000:8.1f} kB  {path.name}  (data set)")


@cache.command()
def warm(
    d: Annotated[list[int], typer.Option("-d", "--players", help="Number of players; may be repeated.")],
    n: Annotated[list[int] | None, typer.Option("-n", "--number", help="Number of orderings; may be repeated.")] = None,
    max_evals: Annotated[list[int] | None, typer.Option(help="Budget of an explanation; may be repeated.")] = None,
    method: Annotated[str, typer.Option(help="One of: " + ", ".join(CACHED_METHODS))] = "design",
) -> None:
    """Precompute samples, or all that explanations with a budget need, so that their first use is fast."""
    from rich.progress import track

    with plain_errors():
        check_choice("method", method, CACHED_METHODS)
        if not n and not max_evals:
            raise ValueError("nothing to compute; give numbers of orderings (-n) or budgets (--max-evals)")
        before = {entry.key for entry in _cache.entries()}
        for players in track(d, description=method):
            for number in n or ():
                as_sampler(method).start_sampler(players).random(number)
            for budget in max_evals or ():
                sample_for_budget(as_method(method), players, budget)
        fresh = sum(entry.key not in before for entry in _cache.entries())
        typer.echo(f"{fresh} new files in {_cache.folder()}; small samples are not cached")


@cache.command()
def clear(data: Annotated[bool, typer.Option("--data", help="Also remove downloaded data sets.")] = False) -> None:
    """Remove all designs and sequences from the cache."""
    with plain_errors():
        typer.echo(f"removed {_cache.clear(data=data)} files")

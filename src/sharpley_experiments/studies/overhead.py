"""Time and memory around the model calls, compared with shap's PermutationExplainer and KernelExplainer.

    python -m sharpley_experiments.studies.overhead --out docs/results/overhead.md

For each explainer: total time ÷ time inside ``predict``, distinct coalitions that the budget of 10 d + 2 pays for, and
extra memory at the peak. Times are processor seconds of all threads, which a busy machine changes little, measured in
one process; memory is measured in fresh ones. Ratios within a line are what counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from time import process_time
from typing import Any, NamedTuple, TypeAlias

import sharpley
from sharpley_experiments.common.timed import Timed
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines
from sharpley_experiments.studies.overhead_meters import PeakMemory
from sharpley_experiments.studies.overhead_models import Subject, forest_model, pipeline_model, xgboost_model

Maker: TypeAlias = Callable[[int], Subject]
"""Returns a model with d features."""

N_BACKGROUND, N_LARGE_BACKGROUND, N_ROWS = 100, 1000, 30
N_FEATURES = (8, 32, 100)
BATCH_SIZES = (2**10, 2**12, 2**14, 2**15, 2**17)
BATCHED_MODELS: tuple[tuple[str, Maker, int], ...] = (
    ("XGBoost", xgboost_model, 8),
    ("XGBoost", xgboost_model, 100),
    ("random forest", forest_model, 10),
    ("pandas pipeline", pipeline_model, 10),
)
"""Models, with their number of features, that batch sizes are compared on."""

COLUMNS = (
    *("explainer", "d", "background", "budget", "total ÷ predict", "processor s", "calls"),
    *("coalitions per row", "peak MB"),
)


class Result(NamedTuple):
    """What is measured of an explainer; the fields are those of ``COLUMNS``."""

    explainer: str
    d: int
    n_background: int
    budget: int
    ratio: float
    seconds: float
    calls: int
    coalitions: float
    peak: float


def budget_of(d: int) -> int:
    """Return the budget for each row, 10 d + 2.

    Examples
    --------
    >>> budget_of(8)
    82
    """
    return 10 * d + 2


def explainers(function: Callable[[Any], Any], background: Any, budget: int) -> dict[str, Callable[[Any], Any]]:
    """Return functions that explain rows, by the explainers' names; all have the same nominal budget."""
    import shap

    masker = shap.maskers.Independent(background, max_samples=len(background))
    permutation = shap.PermutationExplainer(function, masker, seed=0)
    kernel = shap.KernelExplainer(function, background)
    antithetic, gp = (sharpley.Explainer(function, background, method=name, rng=0) for name in ("antithetic", "gp"))
    return {
        "sharpley, antithetic": lambda rows: antithetic.estimate(rows, max_evals=budget),
        "sharpley, gp": lambda rows: gp.estimate(rows, max_evals=budget),
        "shap Permutation": lambda rows: permutation(rows, max_evals=budget, silent=True),
        "shap Kernel": lambda rows: kernel.shap_values(rows, nsamples=budget, silent=True, l1_reg=False),
    }


def measure(make_model: Maker, d: int, n_background: int, n_rows: int, repeats: int) -> list[Result]:
    """Return a result for each explainer: of some repeats, the one with the lowest total ÷ predict."""
    predict, table = make_model(d)
    background, rows, budget = table[:n_background], table[-n_rows:], budget_of(d)
    results = []
    for name in explainers(predict, background, budget):
        runs = []
        for _ in range(repeats):
            timed = Timed(predict)
            explain = explainers(timed, background, budget)[name]
            explain(rows[:1])  # imports and compiles
            timed.reset()
            start = process_time()
            explain(rows)
            total = process_time() - start
            runs.append((total / timed.process_seconds, total, timed.calls, timed.rows / n_background / n_rows))
        with get_context("spawn").Pool(1) as fresh:  # memory that an earlier explainer left behind would hide its use
            peak = fresh.apply(peak_memory, (make_model, d, n_background, n_rows, name))
        results.append(Result(name, d, n_background, budget, *min(runs, key=lambda run: run[0]), peak))
    return results


def peak_memory(make_model: Maker, d: int, n_background: int, n_rows: int, name: str) -> float:
    """Return the peak of resident memory while rows are explained, in MB, after a small call that compiles."""
    warnings.simplefilter("ignore")
    predict, table = make_model(d)
    explainers(predict, table[:2], budget_of(d))[name](table[-1:])
    explain = explainers(predict, table[:n_background], budget_of(d))[name]
    with PeakMemory() as memory:
        explain(table[-n_rows:])
    return memory.peak


def table_of_results(title: str, results: Iterable[Result]) -> list[str]:
    """Return a table with a line for each result."""
    lines = [f"**{title}**", "", *markdown_head(COLUMNS)]
    for name, d, n_background, budget, ratio, seconds, calls, coalitions, peak in results:
        numbers = f"{ratio:.3f}", f"{seconds:.2f}", calls, f"{coalitions:.0f}", f"{peak:.0f}"
        lines.append(markdown_row([name, d, n_background, budget, *numbers]))
    return lines


def table_of_batch_sizes() -> list[str]:
    """Measure processor seconds with different batch sizes, for a fast model, a costly call and a pandas pipeline."""
    return [
        "**Processor seconds by batch size** (rows in one call; the default is 32,768, or fewer so that a table has "
        "2²¹ entries)",
        "",
        *markdown_head(["model", "d", *(f"{size:,}" for size in BATCH_SIZES)]),
        *(
            markdown_row([title, d, *_seconds_by_batch_size(make_model(d), d)])
            for title, make_model, d in BATCHED_MODELS
        ),
    ]


def _seconds_by_batch_size(subject: Subject, d: int) -> list[str]:
    cells = []
    for size in BATCH_SIZES:
        explainer = sharpley.Explainer(
            subject.predict, subject.table[:N_BACKGROUND], method="antithetic", rng=0, batch_size=size
        )
        explainer.estimate(subject.table[-1:], max_evals=budget_of(d))
        seconds = []
        for _ in range(3):
            start = process_time()
            explainer.estimate(subject.table[-10:], max_evals=budget_of(d))
            seconds.append(process_time() - start)
        cells.append(f"{min(seconds):.3f}")
    return cells


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="small sizes")
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    numbers, n_rows, repeats = (N_FEATURES[:1], 1, 1) if options.quick else (N_FEATURES, N_ROWS, 3)
    results = [result for d in numbers for result in measure(xgboost_model, d, N_BACKGROUND, n_rows, repeats)]
    lines = table_of_results("XGBoost, 100 trees", results)
    if not options.quick:
        lines += ["", *_further_tables()]
    print("\n".join(lines) + "\n")
    if options.out:
        write_lines(options.out, lines)


def _further_tables() -> list[str]:
    large = measure(xgboost_model, 100, N_LARGE_BACKGROUND, 3, 1)
    forest = measure(forest_model, 10, N_BACKGROUND, 10, 2)
    pipeline = measure(pipeline_model, 10, N_BACKGROUND, 10, 2)
    return [
        *table_of_results("XGBoost, large background", large),
        "",
        *table_of_results("A random forest (costly calls)", forest),
        "",
        *table_of_results("A pandas pipeline (costly calls)", pipeline),
        "",
        *table_of_batch_sizes(),
    ]


if __name__ == "__main__":
    main()

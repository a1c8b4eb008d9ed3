"""Time and memory with large backgrounds, many players and slow models.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python -m sharpley_experiments.studies.large --out docs/results/large.md

Every case runs in a fresh process. "predictions" are those of the model, for all rows and for the background; "own s a
row" is processor time outside the model, divided by the number of rows; "total ÷ predict" is the time inside the model
and that own time, divided by the time inside the model; "peak MB" is the largest amount of resident memory during the
call, minus the amount before it: what is needed beyond the data. Models are functions of numpy; the slow one waits for
100 µs for each prediction.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

import sharpley
from sharpley._support.typing import Floats
from sharpley_experiments.common.timed import Timed
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines
from sharpley_experiments.studies.overhead_meters import PeakMemory

SECONDS_PER_SLOW_PREDICTION = 1e-4
COLUMNS = (
    *("case", "d", "background", "rows", "method", "predictions"),
    *("seconds", "total ÷ predict", "own s a row", "peak MB"),
)


class Work(NamedTuple):
    """A model, and a call that explains rows with it."""

    model: Timed
    explain: Callable[[], sharpley.ShapleyEstimate]
    d: int
    n_background: int
    n_rows: int


class Result(NamedTuple):
    """What was measured; the fields are those of ``COLUMNS`` after the first."""

    d: int
    n_background: int
    rows: int
    method: str
    predictions: int
    seconds: float
    ratio: float
    own: float
    peak: float


def _interactions(x: Any) -> Floats:
    return np.asarray(x[:, 0] * x[:, 1] + np.abs(x[:, 2]) + x[:, 3:].sum(axis=1))


def _slow(x: Any) -> Floats:
    time.sleep(SECONDS_PER_SLOW_PREDICTION * len(x))
    return _interactions(x)


def _sparse_interactions(x: Any) -> Floats:
    total = np.asarray(x.sum(axis=1)).ravel()
    return np.asarray(total + np.asarray(x[:, :10].sum(axis=1)).ravel() ** 2)


def _dense(model: Callable[[Any], Floats], n: int, d: int, rows: int, *, again: bool = False, **budget: Any) -> Work:
    """Explain rows against n background rows; ``again``: by an explainer that has explained other rows before."""
    background = np.random.default_rng(0).normal(size=(n, d))
    timed = Timed(model)
    explainer = sharpley.Explainer(timed, background, rng=0)
    if again:
        explainer.estimate(background[rows : 2 * rows] + 0.1, progress=False, **budget)
    asked = background[:rows] + 0.1
    return Work(timed, lambda: explainer.estimate(asked, progress=False, **budget), d, n, rows)


def _sparse(n: int, d: int, rows: int, **budget: Any) -> Work:
    from scipy import sparse

    background, asked = (
        sparse.random(m, d, density=0.01, random_state=seed, format="csr") for seed, m in enumerate((n, rows))
    )
    timed = Timed(_sparse_interactions)
    explainer = sharpley.Explainer(timed, background, rng=0)
    return Work(timed, lambda: explainer.estimate(asked, progress=False, **budget), d, n, rows)


def _game(d: int) -> Work:
    timed = Timed(lambda coalitions: coalitions[:, :5].sum(axis=1).astype(float))
    return Work(timed, lambda: sharpley.shapley_values(timed, d, max_evals=2 * d, rng=0, progress=False), d, 1, 1)


CASES: dict[str, Callable[[], Work]] = {
    "a million background rows": lambda: _dense(_interactions, 1_000_000, 30, 10),
    "a million background rows, second call": lambda: _dense(_interactions, 1_000_000, 30, 10, again=True),
    "slow model": lambda: _dense(_slow, 5000, 30, 3),
    "fast model": lambda: _dense(_interactions, 5000, 30, 30, again=True),
    "sparse columns, 2 d predictions": lambda: _sparse(20_000, 5000, 3, max_predictions=2 * 5000),
    "sparse columns, 20 d predictions": lambda: _sparse(20_000, 5000, 3, max_predictions=20 * 5000),
    "dense columns, 2 d predictions": lambda: _dense(_interactions, 500, 2000, 2, max_predictions=2 * 2000),
    "dense columns": lambda: _dense(_interactions, 500, 2000, 2, max_evals=60),
    "a game, 2 d evaluations": lambda: _game(2000),
}
QUICK_CASES: dict[str, Callable[[], Work]] = {
    "background": lambda: _dense(_interactions, 2000, 8, 2),
    "slow model": lambda: _dense(_slow, 300, 4, 1, max_predictions=600),
    "sparse columns": lambda: _sparse(500, 300, 2, max_predictions=600),
    "a game": lambda: _game(50),
}
ALL_CASES = CASES | {f"quick: {name}": make for name, make in QUICK_CASES.items()}


def measure(name: str) -> Result:
    """Run a case of ``ALL_CASES`` in this process, and measure its time and memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # long runs are what is measured
        _warm_up()
        work = ALL_CASES[name]()
        work.model.reset()
        with PeakMemory() as memory:
            start, thread_start = time.perf_counter(), time.thread_time()
            found = work.explain()
            seconds, in_thread = time.perf_counter() - start, time.thread_time() - thread_start
    own = in_thread - work.model.thread_seconds
    ratio = 1.0 + own / work.model.seconds
    return Result(
        *(work.d, work.n_background, work.n_rows, found.method, work.model.rows),
        *(seconds, ratio, own / work.n_rows, memory.peak),
    )


def _warm_up() -> None:
    """Import and compile what the first call of a process would."""
    _dense(_interactions, 300, 6, 1, max_predictions=300).explain()
    _sparse(50, 40, 1, max_predictions=100).explain()


def measured_apart(name: str) -> Result:
    """Run a case in a fresh process, since memory that an earlier one left behind would hide its use."""
    with get_context("spawn").Pool(1) as fresh:
        result: Result = fresh.apply(measure, (name,))
    return result


def line(name: str, result: Result) -> str:
    """Return one line of the table."""
    return markdown_row(
        [
            *(name.removeprefix("quick: "), f"{result.d:,}", f"{result.n_background:,}", result.rows, result.method),
            *(f"{result.predictions:,}", f"{result.seconds:.1f}", f"{result.ratio:.3f}"),
            *(f"{result.own:.3f}", f"{result.peak:.0f}"),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="small cases")
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    lines = markdown_head(COLUMNS)
    print("\n".join(lines), flush=True)
    for name in [f"quick: {name}" for name in QUICK_CASES] if options.quick else CASES:
        lines.append(line(name, measured_apart(name)))
        print(lines[-1], flush=True)
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()

"""Exact values of trees: processor time beside woodelf-explainer and shap's TreeExplainer, all background rows.

    pip install woodelf-explainer
    python -m sharpley_experiments.studies.trees --out docs/results/trees.md
    python -m sharpley_experiments.studies.trees --million     # 1,000,000 rows × 1,000,000 background rows

XGBoost, 100 trees, 20 features. Every explainer runs in the same process, after a warm-up, from the fitted model to the
values; times are processor seconds, so that a busy machine changes them little. shap is measured where rows ×
background rows are at most ``SHAP_PAIRS``. ``--growth`` measures how large tables that leaves share may be, and
``--walks`` the trees without tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from sharpley import Explainer
from sharpley._support.typing import Floats
from sharpley.games.trees import closed_form
from sharpley_experiments.studies.common import add_out_option, markdown_head, markdown_row, study_parser, write_lines
from sharpley_experiments.studies.overhead_meters import PeakMemory

N_FEATURES, N_TREES, N_TRAINING = 20, 100, 20_000
SIZES = ((1, 1000), (100, 1000), (1000, 10_000), (10_000, 100_000))
QUICK_SIZES = ((1, 100), (10, 100))
DEPTHS = (6, 10)
SHAP_PAIRS = 10**5
REPEATS = 3  # of measurements below a second, of which the smallest counts
MILLION = 10**6
GROWTHS = (0.0, 0.5, 1.0, 2.0, 4.0)


def make_model(depth: int) -> Any:
    """Return an XGBoost regressor with interactions in its target."""
    from xgboost import XGBRegressor

    rng = np.random.default_rng(0)
    x = rng.normal(size=(N_TRAINING, N_FEATURES))
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) * x[:, 3] + 0.3 * x[:, 4:].sum(axis=1) + 0.1 * rng.normal(size=len(x))
    return XGBRegressor(n_estimators=N_TREES, max_depth=depth, n_jobs=1).fit(x, y)


def by_sharpley(model: Any, background: Floats, rows: Floats) -> Floats:
    """Return exact values by ``Explainer``."""
    found = Explainer(model, background).estimate(rows, progress=False)
    if found.method != "trees":
        raise ValueError(f"expected method 'trees', got {found.method!r}")
    return found.values


def by_woodelf(model: Any, background: Floats, rows: Floats) -> Floats:
    """Return exact values by woodelf-explainer."""
    import pandas as pd
    from woodelf import WoodelfExplainer

    names = [f"f{j}" for j in range(N_FEATURES)]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # it prints its progress
        explainer = WoodelfExplainer(model, pd.DataFrame(background, columns=names))
        return np.asarray(explainer.shap_values(pd.DataFrame(rows, columns=names)))


def by_shap(model: Any, background: Floats, rows: Floats) -> Floats:
    """Return exact values by shap's TreeExplainer, with all background rows."""
    import shap

    masker = shap.maskers.Independent(background, max_samples=len(background))
    return np.asarray(shap.TreeExplainer(model, masker).shap_values(rows, check_additivity=False))


def measure(solve: Callable[..., Floats], model: Any, background: Floats, rows: Floats) -> tuple[float, Floats]:
    """Return processor seconds and values; short measurements are repeated."""
    best, values = np.inf, np.empty(0)
    for _ in range(REPEATS):
        start = process_time()
        values = solve(model, background, rows)
        best = min(best, process_time() - start)
        if best > 1.0:
            break
    return best, values


def compare(depths: tuple[int, ...], sizes: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield the lines of the table of times."""
    rng = np.random.default_rng(1)
    titles = ("depth", "rows", "background", "Sharpley, s", "woodelf, s", "shap, s", "÷ woodelf", "÷ shap")
    yield from markdown_head([*titles, "largest difference"])
    for depth in depths:
        model = make_model(depth)
        for solve in (by_sharpley, by_woodelf, by_shap):
            if solve is not by_woodelf or find_spec("woodelf"):
                solve(model, rng.normal(size=(50, N_FEATURES)), rng.normal(size=(3, N_FEATURES)))
        for n, n_background in sizes:
            rows, background = rng.normal(size=(n, N_FEATURES)), rng.normal(size=(n_background, N_FEATURES))
            seconds, values = measure(by_sharpley, model, background, rows)
            others = [find_spec("woodelf") is not None, n * n_background <= SHAP_PAIRS]
            cells, gaps = [], [0.0]
            for solve, is_measured in zip((by_woodelf, by_shap), others, strict=True):
                found = measure(solve, model, background, rows) if is_measured else None
                cells.append(found[0] if found else np.nan)
                gaps += [float(np.abs(found[1] - values).max())] if found else []
            ratios = [f"{seconds / cell:.2f}" if cell == cell else "" for cell in cells]
            texts = [f"{cell:.3g}" if cell == cell else "" for cell in cells]
            sizes_text = [str(depth), f"{n:,}", f"{n_background:,}"]
            yield markdown_row([*sizes_text, f"{seconds:.3g}", *texts, *ratios, f"{max(gaps):.1g}"])


def compare_growths() -> Iterator[str]:
    """Yield the lines of a table: how large may the tables be that leaves share."""
    rng = np.random.default_rng(1)
    yield from markdown_head(["depth", "rows", "background", *(f"growth {growth:g}" for growth in GROWTHS)])
    for depth, (n, n_background) in product(DEPTHS, ((1, 1000), (1000, 1000), (10_000, 10_000))):
        model = make_model(depth)
        rows, background = rng.normal(size=(n, N_FEATURES)), rng.normal(size=(n_background, N_FEATURES))
        cells = []
        for growth in GROWTHS:
            closed_form.GROWTH = growth
            by_sharpley(model, background[:10], rows[:1])
            cells.append(f"{measure(by_sharpley, model, background, rows)[0]:.3g}")
        yield markdown_row([str(depth), f"{n:,}", f"{n_background:,}", *cells])
    closed_form.GROWTH = 1.0


def compare_walks() -> Iterator[str]:
    """Yield the lines of a table: forests of unlimited depth, by tables up to so many players, and by walks beyond."""
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(1)
    limits = (8, 10, 12, 14)
    yield from markdown_head(["training rows", "rows", "background", *(f"tables up to {limit}" for limit in limits)])
    for n_training, (n, n_background) in product((300, 2000), ((1, 1000), (100, 1000), (10, 10_000))):
        x = rng.normal(size=(n_training, N_FEATURES))
        forest = RandomForestRegressor(10, random_state=0).fit(x, x[:, 0] * x[:, 1] + x[:, 2:].sum(axis=1))
        rows, background = rng.normal(size=(n, N_FEATURES)), rng.normal(size=(n_background, N_FEATURES))
        cells = []
        for limit in limits:
            closed_form.TABLE_PLAYERS = limit
            start = process_time()
            Explainer(forest, background, method="trees").estimate(rows)
            cells.append(f"{process_time() - start:.3g}")
        yield markdown_row([f"{n_training:,}", f"{n:,}", f"{n_background:,}", *cells])


def solve_million(n: int) -> Iterator[str]:
    """Yield time and memory of n rows against n background rows."""
    rng = np.random.default_rng(1)
    model = make_model(6)
    rows, background = rng.normal(size=(n, N_FEATURES)), rng.normal(size=(n, N_FEATURES))
    by_sharpley(model, background[:10], rows[:1])
    with PeakMemory() as memory:
        start = process_time()
        by_sharpley(model, background, rows)
        seconds = process_time() - start
    size = (rows.nbytes + background.nbytes) / 2**20
    yield f"{n:,} rows × {n:,} background rows × {N_FEATURES} features (data: {size:.0f} MB), depth 6: "
    yield f"{seconds / 60:.2g} minutes of processor time, {memory.peak:.0f} MB of memory beyond the data"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, with ``--out``, write a table."""
    parser = study_parser(__doc__, quick="few rows")
    add_out_option(parser, None, "Markdown file to write")
    parser.add_argument("--million", action="store_true", help="a million rows against a million background rows")
    parser.add_argument("--growth", action="store_true", help="how large tables that leaves share may be")
    parser.add_argument("--walks", action="store_true", help="trees with many features on a path")
    options = parser.parse_args(arguments)
    if options.million:
        table = solve_million(1000 if options.quick else MILLION)
    elif options.growth:
        table = compare_growths()
    elif options.walks:
        table = compare_walks()
    else:
        table = compare(DEPTHS[:1], QUICK_SIZES) if options.quick else compare(DEPTHS, SIZES)
    lines = []
    for line in table:
        print(line, flush=True)
        lines.append(line)
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()

"""Time and memory around the model calls, beside shap's PermutationExplainer and KernelExplainer, in one run.

    python benchmarks/overhead.py [--quick] [--out docs/results/overhead.md]

For each explainer: total time ÷ time inside ``predict``, distinct coalitions that the budget of 10 d + 2 pays
for, and extra memory at the peak. Everything is measured in this process; ratios within a row are what
counts, the machine is noisy.
"""

import argparse
import threading
import time
import warnings
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import sharpley

BACKGROUND = 100
ROWS = 30


class Timed:
    """A model function that records its time, its calls and the rows it saw."""

    def __init__(self, function):
        self.function, self.seconds, self.calls, self.rows = function, 0.0, 0, 0

    def __call__(self, table):
        start = time.perf_counter()
        output = self.function(table)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.rows += len(table)
        return output


class PeakMemory:
    """Largest resident memory of this process while the block runs, less that at its start, in MB."""

    def __enter__(self):
        self._stop, self._start = threading.Event(), _resident()
        self.peak = 0.0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.002):
            self.peak = max(self.peak, _resident() - self._start)

    def __exit__(self, *_):
        self.peak = max(self.peak, _resident() - self._start)
        self._stop.set()
        self._thread.join()


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def xgboost_model(d, n_rows=5000):
    from xgboost import XGBRegressor

    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, d))
    target = table[:, 0] * table[:, 1] + np.abs(table[:, 2 : d // 2 + 2]).sum(axis=1)
    return XGBRegressor(n_estimators=100, max_depth=6).fit(table, target), table


def forest_model(d, n_rows=5000):
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, d))
    return RandomForestRegressor(100, n_jobs=-1, random_state=0).fit(table, table[:, 0] * table[:, 1]), table


def pipeline_model(d, n_rows=3000):
    """A scikit-learn pipeline on a pandas frame: one-hot encoded categories, scaled numbers, a linear model."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(rng.normal(size=(n_rows, d)), columns=names)
    categories = names[: d // 2]
    frame[categories] = rng.integers(0, 8, size=(n_rows, len(categories))).astype(float)
    encode = ColumnTransformer([("c", OneHotEncoder(), categories), ("n", StandardScaler(), names[d // 2 :])])
    model = make_pipeline(encode, LogisticRegression())
    model.fit(frame, frame["x0"] + frame[names[-1]] > 4)

    def predict(table):  # shap's Kernel explainer passes arrays
        return model.decision_function(table if isinstance(table, pd.DataFrame) else pd.DataFrame(table, columns=names))

    return SimpleNamespace(predict=predict), frame


def explainers(function, background, budget):
    """Calls that explain rows with an equal nominal budget."""
    import shap

    masker = shap.maskers.Independent(background, max_samples=len(background))
    permutation = shap.PermutationExplainer(function, masker, seed=0)
    kernel = shap.KernelExplainer(function, background)
    ours = sharpley.Explainer(function, background, method="antithetic", rng=0)
    return {
        "sharpley": lambda rows: ours.estimate(rows, max_evals=budget),
        "shap Permutation": lambda rows: permutation(rows, max_evals=budget, silent=True),
        "shap Kernel": lambda rows: kernel.shap_values(rows, nsamples=budget, silent=True, l1_reg=False),
    }


def measure(make_model, d, n_background, n_rows, repeats):
    """One row of results for each explainer; the best of some repeats."""
    model, table = make_model(d)
    background, rows, budget = table[:n_background], table[-n_rows:], 10 * d + 2
    results = []
    for name in explainers(model.predict, background, budget):
        best = None
        for _ in range(repeats):
            timed = Timed(model.predict)
            explain = explainers(timed, background, budget)[name]
            explain(rows[:1])  # imports and compiles
            timed.seconds = timed.calls = timed.rows = 0
            start = time.perf_counter()
            explain(rows)
            total = time.perf_counter() - start
            result = (total / timed.seconds, total, timed.calls, timed.rows / n_background / n_rows)
            best = result if best is None or result[0] < best[0] else best
        with get_context("spawn").Pool(1) as fresh:  # memory that an earlier explainer left behind would hide its use
            peak = fresh.apply(peak_memory, (make_model.__name__, d, n_background, n_rows, name))
        results.append((name, d, n_background, budget, *best, peak))
    return results


def peak_memory(maker, d, n_background, n_rows, name):
    """Peak of resident memory while rows are explained, in MB, after one small call that imports and compiles."""
    warnings.simplefilter("ignore")
    model, table = globals()[maker](d)
    tiny = explainers(model.predict, table[:2], 10 * d + 2)[name]
    tiny(table[-1:])
    explain = explainers(model.predict, table[:n_background], 10 * d + 2)[name]
    with PeakMemory() as memory:
        explain(table[-n_rows:])
    return memory.peak


def batch_sizes():
    """Seconds with different batch sizes, for a fast model, a costly call and a pandas pipeline."""
    sizes = (2**10, 2**12, 2**14, 2**15, 2**17)
    lines = [
        "**Seconds by batch size** (rows in one call; the default is 32,768, or fewer so that a table has 2²¹ entries)",
        "",
        "| model | d | " + " | ".join(f"{size:,}" for size in sizes) + " |",
        "|---|--:|" + "--:|" * len(sizes),
    ]
    for title, make_model, d in (
        ("XGBoost", xgboost_model, 8),
        ("XGBoost", xgboost_model, 100),
        ("random forest", forest_model, 10),
        ("pandas pipeline", pipeline_model, 10),
    ):
        model, table = make_model(d)
        cells = []
        for size in sizes:
            explainer = sharpley.Explainer(
                model.predict, table[:BACKGROUND], method="antithetic", rng=0, batch_size=size
            )
            explainer.estimate(table[-1:], max_evals=10 * d + 2)
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                explainer.estimate(table[-10:], max_evals=10 * d + 2)
                seconds.append(time.perf_counter() - start)
            cells.append(f"{min(seconds):.3f}")
        lines.append(f"| {title} | {d} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def markdown(title, results):
    header = "explainer | d | background | budget | total ÷ predict | seconds | calls | coalitions per row | peak MB"
    lines = [f"**{title}**", "", f"| {header} |", "|---|" + "--:|" * 8]
    for name, d, n_background, budget, ratio, total, calls, paid, peak in results:
        cells = (name, d, n_background, budget, f"{ratio:.3f}", f"{total:.2f}", calls, f"{paid:.0f}", f"{peak:.0f}")
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    sizes = [(8, BACKGROUND)] if options.quick else [(8, BACKGROUND), (32, BACKGROUND), (100, BACKGROUND)]
    rows, repeats = (1, 1) if options.quick else (ROWS, 3)
    parts = [
        markdown("XGBoost, 100 trees", [r for d, b in sizes for r in measure(xgboost_model, d, b, rows, repeats)]),
    ]
    if not options.quick:
        parts.append(markdown("XGBoost, large background", measure(xgboost_model, 100, 1000, 3, 1)))
        parts.append(markdown("A random forest (costly calls)", measure(forest_model, 10, BACKGROUND, 10, 2)))
        parts.append(markdown("A pandas pipeline (costly calls)", measure(pipeline_model, 10, BACKGROUND, 10, 2)))
        parts.append(batch_sizes())
    page = "\n".join(parts)
    print(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

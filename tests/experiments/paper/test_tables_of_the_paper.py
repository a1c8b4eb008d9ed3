"""The paper's tables: numbers, figures drawn from them, and findings that detect wrong numbers."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

import sharpley
from sharpley import Mallows, Sobol
from sharpley.permutations.quadrature import discrepancy as discrepancy_of
from sharpley_experiments.common.datasets import DATASETS, Dataset
from sharpley_experiments.common.intervals import difference_interval
from sharpley_experiments.paper.constants import PRESETS, TIMED_FROM, TIMED_PLAYERS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.tables import TABLES, algorithms, complexity, data, discrepancy
from sharpley_experiments.paper.tables.printed import DATA, EXPONENTS, discrepancies

TINY = replace(PRESETS["quick"], table_d=10, table_n=10, n_doublings=1, n_repetitions=2)


def from_csv(table):
    return pd.read_csv(io.StringIO(table.to_csv(index=False)), engine="python")


def png(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=40)
    return stream.getvalue()


def verdicts(exhibit, table):
    return {finding.claim: finding.verdict for finding in TABLES[exhibit].findings(table)}


def verdict(exhibit, table, start):
    (found,) = [value for claim, value in verdicts(exhibit, table).items() if claim.startswith(start)]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cells")


@pytest.fixture(scope="module")
def trials(results):
    """Trials of all 45 cells and of the designs, with the means, standard deviations and seconds of docs/results."""
    rng, rows = np.random.default_rng(0), []
    for cell in pd.read_csv(results / "table_discrepancy.csv").itertuples():
        noise = rng.normal(size=2 if cell.method == "design" else 25)
        values = cell.discrepancy_mean + cell.discrepancy_std * (noise - noise.mean()) / noise.std(ddof=1)
        rows += [
            (cell.d, cell.n, cell.method, trial, value, cell.seconds, 1) for trial, value in enumerate(values.tolist())
        ]
    return pd.DataFrame(rows, columns=["d", "n", "method", "trial", "discrepancy", "seconds", "jobs"])


def times(exponents, noise=0.02, lower=0.0, n_repetitions=5):
    """Synthetic times a·n^e + lower, with noise."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        [
            (method, d, n, repetition, (1e-9 * d * n ** exponents[method] + lower) * np.exp(noise * rng.normal()))
            for method, smallest in TIMED_FROM.items()
            for d in TIMED_PLAYERS
            for n in smallest * 2 ** np.arange(6)
            for repetition in range(n_repetitions)
        ],
        columns=["method", "d", "n", "repetition", "seconds"],
    )


def fake_load(name, folder):
    rows, columns, task = DATA[name]
    y = np.zeros(rows)
    y[: rows // 4] = 1
    return Dataset(name, np.empty((rows, columns)), y, (), task == "classification")


def test_all_tables_are_there_and_importing_them_loads_nothing_heavy():
    assert list(TABLES) == ["complexity", "datasets", "algorithms", "table-discrepancy"]
    heavy = ("scipy", "pandas", "matplotlib", "sklearn", "joblib", "numba")
    code = f"import sys, sharpley_experiments.paper.tables; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


# Discrepancy


def test_the_table_has_all_trials_and_a_second_run_measures_nothing(folder, monkeypatch):
    context = Context(TINY, folder)
    table = discrepancy.compute(context)
    assert len(table) == 6 * 2
    assert not table.duplicated(["d", "n", "method", "trial"]).any()
    sobol = table[(table["method"] == "sobol") & (table["trial"] == 1)]["discrepancy"].item()
    assert sobol == discrepancy_of(Sobol(10, rng=1).random(10), kernel=Mallows(4.0))
    monkeypatch.setattr(discrepancy, "measure_cell", lambda **cell: pytest.fail(f"measured {cell} again"))
    pd.testing.assert_frame_equal(discrepancy.compute(context), table)


def test_an_interrupted_run_resumes(tmp_path, monkeypatch):
    measured = []

    def stops(**cell):
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append((cell["method"], cell["trial"]))
        return [{"discrepancy": 0.1, "seconds": 0.1, "jobs": 1}]

    monkeypatch.setattr(discrepancy, "measure_cell", stops)
    with pytest.raises(KeyboardInterrupt):
        discrepancy.compute(Context(TINY, tmp_path))
    first, measured[:] = list(measured), []
    monkeypatch.setattr(
        discrepancy, "measure_cell", lambda **cell: measured.append((cell["method"], cell["trial"])) or []
    )
    discrepancy.compute(Context(TINY, tmp_path))
    assert len(first) == 5
    assert len(measured) == 12 - 5
    assert not set(first) & set(measured)


def test_presets_change_only_the_numbers_of_cells_and_trials(monkeypatch):
    def asked(preset):
        return pd.DataFrame(discrepancy.run_cells(None, wanted[preset], None))

    wanted = {}
    monkeypatch.setattr(discrepancy, "run_cells", lambda measure, cells, *args, **kwargs: cells)
    for name, preset in PRESETS.items():
        wanted[name] = discrepancy.compute(Context(preset, Path("nowhere")))
    assert len(asked("paper")) == 45 * 25 + 9 * 2
    assert set(map(tuple, asked("quick").to_numpy())) < set(map(tuple, asked("laptop").to_numpy()))
    assert (asked("quick")[["d", "n"]].max() == [50, 100]).all()


def test_the_page_in_the_documentation_agrees_with_the_trials(trials, results, tmp_path):
    paths = discrepancy.write(trials, tmp_path)
    assert [path.name for path in paths] == ["table_discrepancy.csv", "table_discrepancy.md"]
    for path in paths:
        assert path.read_text(encoding="utf-8") == (results / path.name).read_text(encoding="utf-8")


def test_the_papers_numbers_are_shown_next_to_ours(trials):
    shown = discrepancy.tabulate(trials)
    assert len(shown) == 54
    line = shown[(shown["d"] == "200") & (shown["n"] == "1000")].set_index("method")
    assert line.loc["herding", ["discrepancy", "paper", "paper's seconds"]].tolist() == ["0.0255", "0.026", "242.516"]
    assert line.loc["sbq", "paper"] == line.loc["design", "paper"] == "–"


def test_times_of_concurrent_trials_are_called_too_long(trials):
    assert "too long" not in discrepancy.markdown(trials)
    shared = trials.assign(jobs=2)
    assert "100% of the trials ran concurrently with others" in discrepancy.markdown(shared)
    assert any("too long" in finding.evidence for finding in TABLES["table-discrepancy"].findings(shared))


def test_our_verdicts_on_the_papers_claims_about_discrepancy(trials):
    found = verdicts("table-discrepancy", trials)
    assert len(found) == 9
    assert [claim[:20] for claim, value in found.items() if value != "holds"] == [
        "SBQ optimises the di",
        "For large n, herding",
        "Beside the paper: ho",
    ]
    small = trials[(trials["d"] <= 50) & (trials["n"] <= 100)]
    assert len(verdicts("table-discrepancy", small)) == 5
    assert set(verdicts("table-discrepancy", trials[trials["trial"] < 4]).values()) == {"not judged"}


def test_comparisons_that_do_not_agree_are_listed_in_a_table(trials):
    found = {finding.claim[:3]: finding for finding in TABLES["table-discrepancy"].findings(trials)}
    assert ("sbq–herding (d = 10, n = 10)", "undecided") in found["SBQ"].details.rows
    lowest = found["No "].details
    assert lowest.head == ("lowest", "n = 10", "n = 100", "n = 1000")
    assert lowest.rows[2] == ("d = 200", "orthogonal", "orthogonal", "orthogonal")


def changed(trials, factor, **where):
    table = trials.copy()
    rows = np.logical_and.reduce([table[column].isin(values) for column, values in where.items()])
    table.loc[rows, ["discrepancy", "seconds"]] *= factor
    return table


@pytest.mark.parametrize(
    ("start", "factor", "where", "expected"),
    [
        ("The mean", 1.2, {"method": ["sobol"]}, "holds in part"),
        ("The mean", 0.5, {"d": [10, 50, 200]}, "does not hold"),
        ("At low", 1.2, {"method": ["herding"]}, "holds in part"),
        ("At low", 2.0, {"method": ["herding", "sbq"]}, "does not hold"),
        ("Antithetic", 0.5, {"method": ["antithetic"]}, "does not hold"),
        ("Antithetic", 0.5, {"d": [200], "n": [10], "method": ["herding"]}, "holds in part"),
        ("SBQ", 0.9, {"method": ["sbq"]}, "holds"),
        ("SBQ", 1.5, {"method": ["sbq"]}, "does not hold"),
        ("No method", 0.1, {"method": ["orthogonal"]}, "holds in part"),
        ("Orthogonal", 2.0, {"method": ["orthogonal", "sobol"]}, "does not hold"),
        ("At d = 10, n = 1000", 1.3, {"method": ["herding"]}, "holds in part"),
        ("At d = 10, n = 1000", 3.0, {"method": ["herding"]}, "does not hold"),
        ("For large n", 50.0, {"method": ["herding", "sbq"]}, "holds"),
        ("For large n", 0.1, {"method": ["herding", "sbq"]}, "does not hold"),
    ],
)
def test_other_trials_give_another_verdict(trials, start, factor, where, expected):
    assert verdict("table-discrepancy", trials, start) != expected
    assert verdict("table-discrepancy", changed(trials, factor, **where), start) == expected


def test_intervals_of_differences_are_welchs():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 12), rng.normal(0.5, 3, 30)
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    np.testing.assert_allclose(difference_interval(a, b), [a.mean() - b.mean(), interval.low, interval.high])
    assert difference_interval(np.ones(2), np.zeros(2)) == (1, 1, 1)


# Complexity


@pytest.mark.parametrize("exponent", [1.0, 1.7, 2.0, 3.0])
def test_the_fit_finds_known_exponents(exponent):
    table = times(dict.fromkeys(EXPONENTS, exponent))
    for slope in complexity.slopes(table).values():
        assert slope.value == pytest.approx(exponent, abs=0.06)
        assert slope.last == pytest.approx(exponent, abs=0.12)


def test_the_interval_of_the_exponent_has_its_coverage():
    rng = np.random.default_rng(3)
    n = np.repeat(64 * 2 ** np.arange(6), 5)
    covered = 0
    for _ in range(300):
        slope = complexity.fit(pd.DataFrame({"n": n, "seconds": n**2.0 * np.exp(0.1 * rng.normal(size=len(n)))}))
        covered += slope.low < 2 < slope.high
    assert 0.92 * 300 < covered < 300


def test_constant_costs_hardly_affect_the_fit_to_the_upper_half():
    table = times(dict(EXPONENTS, sbq=3), noise=0.0, lower=1e-3)
    whole = table[(table["method"] == "sbq") & (table["d"] == 50)]
    all_of_it = np.polyfit(np.log(whole["n"]), np.log(whole["seconds"]), 1)[0]
    assert all_of_it < complexity.fit(whole).value < complexity.fit(whole).last < 3


def test_exponents_other_than_the_papers_are_detected():
    assert set(verdicts("complexity", times(EXPONENTS)).values()) == {"holds"}
    other = times(dict(EXPONENTS, sobol=1.5, sbq=2.0))
    assert {claim: value for claim, value in verdicts("complexity", other).items() if value != "holds"} == {
        "sobol: time O(n) in the number of orderings.": "does not hold",
    }
    last = complexity.findings(other)[-1]
    assert last.evidence.startswith("below the stated order, which is an upper bound")
    assert "triangular solve" in last.evidence
    assert [row[0] for row in last.details.rows] == ["10", "50"]


@pytest.mark.parametrize(("quadratic", "expected"), [(600, "within 0.2"), (1500, "below")])
def test_an_exponent_may_be_reached_at_the_end(quadratic, expected):
    """Lower-order terms hide it at small n; the claim is about large n."""
    table = times(EXPONENTS, noise=0.0)
    table["seconds"] += np.where(table["method"] == "sbq", 1e-9 * table["d"] * quadratic * table["n"] ** 2.0, 0)
    assert complexity.slopes(table)["sbq", 10].value < 3 - complexity.TOLERANCE
    assert verdict("complexity", table, "sbq") == "holds"
    assert complexity.findings(table)[-1].evidence.startswith(expected)


def test_noise_alone_confirms_nothing():
    noise = times(dict(EXPONENTS, orthogonal=1.4), noise=3.0, n_repetitions=2)
    found = complexity.findings(noise)
    assert any("too noisy to tell" in finding.evidence for finding in found)


def test_exponents_of_the_papers_own_seconds():
    assert complexity.slope_in_print("herding", 10) == pytest.approx(np.log10(52.961 / 0.980))
    assert complexity.slope_in_print("sbq", 50) == pytest.approx(np.log10(27.135 / 0.344))
    assert complexity.slope_in_print("antithetic", 10) is None
    assert complexity.slope_in_print("monte-carlo", 10) is None


def test_times_are_measured_once(folder, monkeypatch):
    table = complexity.compute(Context(TINY, folder, jobs=2))
    assert len(table) == 6 * 2 * 2 * 2
    assert (table["seconds"] > 0).all()
    monkeypatch.setattr(complexity, "measure_cell", lambda **cell: pytest.fail(f"measured {cell} again"))
    pd.testing.assert_frame_equal(complexity.compute(Context(TINY, folder)), table)
    assert len(complexity.tabulate(table)) == 12


# Algorithms


def test_a_method_that_estimates_something_else_is_detected(monkeypatch):
    table = algorithms.compute(Context(TINY, Path("nowhere")))
    assert [found.verdict for found in algorithms.findings(table)] == ["holds"]
    assert list(algorithms.tabulate(table)["method of this library"]) == list(algorithms.PRINTED)
    right = sharpley.shapley_values

    def wrong(game, d, **options):
        found = right(game, d, **options)
        return replace(found, values=found.values + 1.0) if options["method"] == "sobol" else found

    monkeypatch.setattr(sharpley, "shapley_values", wrong)
    (found,) = algorithms.findings(algorithms.compute(Context(TINY, Path("nowhere"))))
    assert found.verdict == "holds in part"
    assert "8 of 9" in found.evidence


# Data sets


def test_rows_columns_and_tasks_that_differ_from_the_printed_ones_are_detected(monkeypatch):
    monkeypatch.setattr(data, "load_for_paper", fake_load)
    table = data.compute(Context(TINY, Path("nowhere")))
    assert tuple(table["name"]) == DATASETS
    assert set(verdicts("datasets", table).values()) == {"holds", "remark"}
    table.loc[1, ["rows", "note"]] = [569, "another data set"]
    columns, rows = data.findings(table)
    assert (columns.verdict, rows.verdict) == ("holds", "remark")
    assert rows.evidence == "true for 5 of 6 data sets"
    assert rows.details.rows == (("breast_cancer", "569", "699", "30", "classification", "another data set"),)
    table.loc[2, "task"] = "regression"
    assert data.findings(table)[0].verdict == "holds in part"


def test_the_data_folder_of_the_context_is_used(monkeypatch):
    folders = []
    monkeypatch.setattr(data, "load_for_paper", lambda name, folder: folders.append(folder) or fake_load(name, folder))
    shown = data.tabulate(from_csv(data.compute(Context(TINY, Path("cells"), Path("data")))))
    assert folders == [Path("data")] * 6
    assert shown.loc[0, ["rows", "paper's columns", "target", "note"]].tolist() == [
        "48,842",
        "107",
        "25.0% positive",
        "",
    ]


# All


def test_pictures_and_findings_come_from_the_table_alone(trials, monkeypatch):
    monkeypatch.setattr(data, "load_for_paper", fake_load)
    tables = {
        "complexity": times(EXPONENTS),
        "datasets": data.compute(Context(TINY, Path("nowhere"))),
        "table-discrepancy": trials,
    }
    for name, table in tables.items():
        exhibit, again = TABLES[name], from_csv(table)
        assert exhibit.findings(table) == exhibit.findings(again)
        pd.testing.assert_frame_equal(exhibit.tabulate(table), exhibit.tabulate(again))
        if exhibit.draw is not None:
            figure = exhibit.draw(table, "preset: quick")
            assert isinstance(figure, Figure)
            assert "preset: quick" in [text.get_text() for text in figure.texts]
            assert png(figure) == png(exhibit.draw(again, "preset: quick"))


def test_the_papers_means_are_hollow_markers(trials):
    figure = TABLES["table-discrepancy"].draw(trials, "")
    first = figure.axes[0]
    hollow = [line for line in first.lines if line.get_markerfacecolor() == "none" and len(line.get_xdata())]
    shown = {tuple(np.round(line.get_ydata(), 4)) for line in hollow}
    assert tuple(discrepancies()[10, n, "herding"].mean for n in (10, 100, 1000)) in shown

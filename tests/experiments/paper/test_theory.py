"""Claims of the paper's text: what it proves, and the rate of herding."""

import numpy as np
import pandas as pd
import pytest

from sharpley import KernelHerding
from sharpley.permutations.quadrature import discrepancy
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.theory import THEORY, propositions, rate


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    return propositions.compute(Context(PRESETS["quick"], tmp_path_factory.mktemp("cells")))


def test_what_the_paper_proves_holds(checks):
    found = propositions.findings(checks)
    assert [one.verdict for one in found] == ["holds"] * 5
    assert set(checks["claim"]) == set(propositions.CLAIMS)
    assert len(propositions.tabulate(checks)) == len(checks)


@pytest.mark.parametrize("claim", list(propositions.CLAIMS))
def test_a_check_that_fails_refutes_its_claim_alone(checks, claim):
    wrong = checks.copy()
    wrong.loc[wrong[wrong["claim"] == claim].index[0], "value"] = 1e3
    verdicts = [one.verdict for one in propositions.findings(wrong)]
    assert verdicts.count("does not hold") == 1
    assert verdicts[list(propositions.CLAIMS).index(claim)] == "does not hold"


def test_the_error_bound_detects_a_wrong_discrepancy(monkeypatch):
    monkeypatch.setattr(propositions, "discrepancy", lambda *args, **kwargs: 0.9 * discrepancy(*args, **kwargs))
    rows = pd.DataFrame(propositions._koksma_hlawka(np.random.default_rng(0)))
    assert (rows["value"] > rows["limit"]).sum() >= 7  # the worst function of every sample


def test_permutations_that_never_occur_make_a_large_chi_squared():
    orderings = np.tile([0, 1, 2, 3], (24, 1))
    assert propositions._chi_squared(orderings) == pytest.approx(24 * 23)


def test_the_exact_argmax_has_the_lowest_discrepancy():
    everything = rate.greedy_orderings(5, 64, np.random.default_rng(0))
    some = KernelHerding(5, kernel=rate.KERNEL, fresh=True, rng=0).random(64)
    assert discrepancy(everything, kernel=rate.KERNEL) < discrepancy(some, kernel=rate.KERNEL)


def falling(exponents, trials=6):
    rng = np.random.default_rng(0)
    rows = [
        (d, line, trial, n, n**exponent * np.exp(rng.normal(0, 0.003)))
        for (d, line), exponent in exponents.items()
        for trial in range(trials)
        for n in rate.SIZES
    ]
    return pd.DataFrame(rows, columns=["d", "line", "trial", "n", "discrepancy"])


def test_rates_are_measured_and_judged():
    def verdicts(some, every, **kwargs):
        lines = {(5, rate.SOME): some, (5, rate.EVERY): every, (5, rate.RANDOM): -0.5}
        return [one.verdict for one in rate.findings(falling(lines, **kwargs))]

    assert verdicts(-1.0, -1.0) == ["holds", "holds"]
    assert verdicts(-0.6, -1.0) == ["does not hold", "holds"]
    assert rate._verdict([Interval(-0.93, -1.02, -0.85)]) == "undecided"
    assert verdicts(-1.0, -1.0, trials=2) == ["not judged", "not judged"]
    (slope, *_) = rate.slopes(falling({(5, rate.SOME): -0.62})).values()
    assert slope.value == pytest.approx(-0.62, abs=0.01)
    assert slope.low < slope.value < slope.high < slope.low + 0.05


def test_the_figure_is_drawn_from_the_table():
    table = falling(dict.fromkeys(rate.LINES, -0.7))
    labels = THEORY["herding-rate"].draw(table, "").axes[0].get_legend_handles_labels()[1]
    assert len(labels) == len(rate.LINES)
    assert all(label.endswith("-0.70") for label in labels)

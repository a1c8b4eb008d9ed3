"""Claims of the paper's text: what it proves, and the rate of herding."""

import numpy as np
import pandas as pd
import pytest

from sharpley import KernelHerding
from sharpley.permutations.quadrature import discrepancy
from sharpley_experiments.paper.constants import PRESETS
from sharpley_experiments.paper.exhibits import Context
from sharpley_experiments.paper.theory import THEORY, functions, propositions, rate


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    return propositions.compute(Context(PRESETS["quick"], tmp_path_factory.mktemp("cells")))


def test_what_the_paper_proves_holds(checks):
    found = propositions.findings(checks)
    assert [one.verdict for one in found] == ["holds"] * 8
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


def test_herding_from_a_table_is_herding():
    """The discrepancies have the distribution of the sampler's, and the exact argmax has the lowest."""
    table = [rate.herded_from_table(5, 25, (16, 64), np.random.default_rng(seed)) for seed in range(60)]
    samples = [KernelHerding(5, kernel=rate.KERNEL, fresh=True, rng=seed).random(64) for seed in range(60)]
    direct = [[discrepancy(one[:n], kernel=rate.KERNEL) for n in (16, 64)] for one in samples]
    error = np.hypot(np.std(table, axis=0), np.std(direct, axis=0)) / 60**0.5
    assert (np.abs(np.mean(table, axis=0) - np.mean(direct, axis=0)) < 4 * error).all()
    two, every = (rate.herded_from_table(5, m, (64,), np.random.default_rng(0))[0] for m in (2, rate.ALL))
    assert every < np.mean(table, axis=0)[1] < two


def test_the_steps_of_the_proof_of_the_rate():
    """Every ‖φ − μ‖² is R², and E max ≥ ‖w‖ ℓ/(2R) for two candidates, for many w in the span."""
    for d in (3, 4):
        gram = rate.centred_gram(d)
        np.testing.assert_allclose(np.diag(gram), 1 - rate.KERNEL.mean(d))
        eigenvalues = np.linalg.eigvalsh(gram) / len(gram)
        smallest, radius = eigenvalues[eigenvalues > 1e-9].min(), gram[0, 0] ** 0.5
        for c in np.random.default_rng(0).standard_normal((50, len(gram))):
            inner, norm = gram @ c, (c @ gram @ c) ** 0.5
            of_two = np.maximum(inner[:, None], inner[None]).mean()
            assert of_two >= norm * smallest / (2 * radius)


def falling(exponents, trials=6, steepening=0.0):
    """Discrepancies with exponents of n that change by ``steepening`` at every doubling."""
    rng = np.random.default_rng(0)
    rows = [
        (d, m, trial, n, 2.0 ** (k * exponent + steepening * k * (k - 1) / 2) * np.exp(rng.normal(0, 0.003)))
        for (d, m), exponent in exponents.items()
        for trial in range(trials)
        for k, n in enumerate(rate.SIZES)
    ]
    return pd.DataFrame(rows, columns=["d", "candidates", "trial", "n", "discrepancy"])


def test_rates_are_measured_and_judged():
    def verdicts(exponent, **kwargs):
        return {one.verdict for one in rate.findings(falling(dict.fromkeys(rate.LINES, exponent), **kwargs))}

    assert verdicts(-1.0) == {"holds"}
    assert verdicts(-0.6, steepening=-0.02) == {"holds"}  # still steepening
    assert verdicts(-0.85, steepening=0.03) == {"does not hold"}  # flattens before it reaches −0.9
    assert verdicts(-0.6) == {"undecided"}
    assert verdicts(-1.0, trials=2) == {"not judged"}
    table = falling({(5, 25): -0.62})
    slope = rate.late_slope(table, 5, 25)
    assert slope.value == pytest.approx(-0.62, abs=0.01)
    assert slope.low < slope.value < slope.high < slope.low + 0.05
    assert rate.steepening(table, 5, 25).value == pytest.approx(0.0, abs=0.01)


def test_the_figure_is_drawn_from_the_table():
    left, right = THEORY["herding-rate"].draw(falling(dict.fromkeys(rate.LINES, -0.7)), "").axes
    assert len(left.get_legend_handles_labels()[1]) == len(rate.LINES)
    drawn = np.concatenate([line.get_ydata() for line in right.lines[: len(rate.LINES)]])
    np.testing.assert_allclose(drawn, -0.7, atol=0.02)


# Functions of an ordering

KNOWN = {"inversions": 14.0, "Kemeny score": 70.0, "fixed points": 1.0}


def test_functions_have_their_known_means():
    for name, mean in KNOWN.items():
        assert functions.exact()[name][0] == pytest.approx(mean)
    distances = functions._distances(functions._setting())
    assert functions.exact()["tour length"][0] == pytest.approx(distances.sum() / 7)
    first = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4, 7, 6]])
    assert functions.longest_increasing_subsequence(first).tolist() == [8.0, 1.0, 4.0]
    assert functions.inversions(first).tolist() == [0.0, 28.0, 4.0]


def test_reversal_changes_neither_a_tour_nor_its_longest_step():
    orderings = np.random.default_rng(0).permuted(np.tile(np.arange(8), (20, 1)), axis=1)
    for name in ("tour length", "longest step"):
        function = functions.FUNCTIONS[name]
        np.testing.assert_allclose(function(orderings), function(orderings[:, ::-1]))


def test_the_table_of_functions_is_judged(tmp_path):
    table = functions.compute(Context(PRESETS["quick"], tmp_path))
    assert len(functions.tabulate(table)) == 9
    assert functions.findings(table)[0].verdict == "not judged"
    assert len(THEORY["functions"].draw(table, "").axes[0].get_legend_handles_labels()[1]) == 6
    many = pd.concat([table.assign(trial=table["trial"] + 16 * k) for k in range(4)])
    names = list(functions.FUNCTIONS)
    many[names] = 0.1
    many.loc[many["method"] == "monte-carlo", names] = 1.0 + many.loc[many["method"] == "monte-carlo", names]
    assert functions.findings(many)[0].verdict == "holds"
    many.loc[many["method"] == "antithetic", names] = 9.0
    (found,) = functions.findings(many)
    assert found.verdict == "holds in part"
    assert {row[1] for row in found.details.rows} == {"antithetic"}

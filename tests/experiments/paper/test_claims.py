"""Verdicts on the paper's claims about its evaluation: rules, ranges, ways of counting, and small runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharpley_experiments.common.constants import PLAYERS
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.paper import rules
from sharpley_experiments.paper.constants import SCALES
from sharpley_experiments.paper.evaluation import clustering
from sharpley_experiments.paper.evaluation.claims import (
    about_candidates,
    about_existing,
    about_kernels,
    about_networks,
    about_proposed,
)
from sharpley_experiments.paper.evaluation.compare import (
    AS_IN_CODE,
    BEYOND,
    BY_CODE,
    FEW,
    IN_RANGE,
    LAST,
    MANY,
    finding,
    named,
    pooled,
)
from sharpley_experiments.paper.evaluation.draw import draw_scales, size_of
from sharpley_experiments.paper.evaluation.scale_claims import about_scales
from sharpley_experiments.paper.evaluation.series import CASTRO, ON_ORDERINGS, OUR_ALLOCATION, by_code, scaled
from sharpley_experiments.paper.rules import AT_LEAST_AS_WELL, HIGHER, LOWER, RULES, SIMILAR, judged, verdict
from sharpley_experiments.paper.tables.printed import DATA


def lines(errors, n=40, datasets=tuple(PLAYERS), experiments=4, trials=4, kind="gbdt", noise=0.1):
    """A table of errors with 10% noise; ``errors`` has, by series, one mean or a mean for each data set.

    The errors of an experiment have a scale of their own, which ratios do not depend on.
    """
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {
                "kind": kind,
                "dataset": dataset,
                "data_rows": 7000 if dataset == "year" else DATA[dataset][0],
                "d": PLAYERS[dataset],
                "experiment": experiment,
                "series": series,
                "n": n,
                "trial": trial,
                "reference": "exact",
                "mse": (level.get(dataset, level.get("")) if isinstance(level, dict) else level)
                * 10.0**experiment
                * rng.uniform(1 - noise, 1 + noise),
            }
            for series, level in errors.items()
            for dataset in datasets
            for experiment in range(experiments)
            for trial in range(trials)
        ]
    )


def verdicts(findings):
    return [finding.verdict for finding in findings]


# Rules


def test_rules_have_margins():
    def of(low, high):
        return Interval((low * high) ** 0.5, low, high)

    assert judged([of(0.5, 0.99)], LOWER) == judged([of(1.01, 2.0)], HIGHER) == "holds"
    assert judged([of(0.5, 1.2)], LOWER) == judged([of(0.01, 16.0)], AT_LEAST_AS_WELL) == "undecided"
    assert judged([of(0.95, 1.3)], LOWER) == judged([of(0.8, 1.05)], HIGHER) == "does not hold"
    assert judged([of(0.8, 1.25)], SIMILAR) == judged([of(0.1, 1.25)], AT_LEAST_AS_WELL) == "holds"
    assert judged([of(0.7, 1.1)], SIMILAR) == judged([of(1.0, 1.3)], AT_LEAST_AS_WELL) == "undecided"
    assert judged([of(1.3, 1.5)], SIMILAR) == judged([of(1.3, 1.5)], AT_LEAST_AS_WELL) == "does not hold"


def test_claims_that_the_trials_cannot_decide_are_undecided():
    counts = {(3, 0, 0): "holds", (2, 0, 2): "holds in part", (1, 0, 2): "undecided", (1, 1, 1): "holds in part"}
    counts |= {(1, 2, 0): "does not hold", (0, 1, 2): "does not hold", (0, 0, 3): "undecided", (0, 0, 0): "undecided"}
    assert {key: verdict(*key) for key in counts} == counts
    noisy = lines({"a": 1.0, "b": 1.0})
    noisy["mse"] *= np.random.default_rng(0).gamma(0.1, size=len(noisy))
    assert finding(noisy, "", ["bank"], ("a", "b"), LOWER).verdict == "undecided"


def test_the_documentation_states_the_limits_of_the_code(results):
    """The page prints ``RULES``, which are made from the constants; nothing else in the documentation repeats them."""
    text = " ".join(RULES)
    for number in (f"{1 - rules.NEGLIGIBLE_GAIN:g}", f"{rules.MARGIN:g}", f"{1 / rules.MARGIN:g}", "5,000"):
        assert number in text
    assert f"fewer than {rules.FEWEST_TRIALS} trials" in text
    shown = (results / "paper" / "summary.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert rule in shown.replace("\\", "")
    assert "holds in part if" not in (Path(results).parent / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("experiments", "trials"), [(2, 2), (1, 25), (4, 1)])
def test_small_runs_are_not_judged(experiments, trials):
    table = lines({"a": 1.0, "b": 2.0}, experiments=experiments, trials=trials)
    found = finding(table, "", ["bank"], ("a", "b"), LOWER)
    assert (found.verdict, found.details) == ("not judged", None)
    assert f"{experiments * trials} trials in {experiments} experiments" in found.evidence
    for about in (about_existing, about_proposed, about_networks, about_candidates, about_kernels):
        assert set(verdicts(about(table))) == {"not judged"}
    assert set(verdicts(about_scales(table, "Trees"))) == {"not judged"}


# Ranges


def test_ratios_are_pooled_over_the_numbers_of_orderings_of_a_range():
    """bank has 16 players: n·d ≤ 5,000 up to n = 312, and n(d + 1)/2 ≤ 5,000 up to n = 588."""
    errors = {10: (1.0, 1.0), 200: (1.0, 1.0), 300: (1.0, 8.0), 500: (1.0, 16.0), 600: (8.0, 1.0), 5000: (8.0, 1.0)}
    table = pd.concat([lines({"a": a, "b": b}, n=n, noise=1e-9) for n, (a, b) in errors.items()])
    table = pd.concat([table, lines({"a": 100.0}, n=100)])  # which b does not have

    def ratio(view):
        return pooled(table, "bank", "a", "b", view).value

    assert ratio(IN_RANGE) == pytest.approx(1 / 2)  # of 1, 1 and 1/8
    assert ratio(AS_IN_CODE) == pytest.approx(128 ** (-1 / 4))  # of 1, 1, 1/8 and 1/16
    assert ratio(BEYOND) == pytest.approx(8.0)
    assert ratio(FEW) == pytest.approx(1.0)  # the one in the middle belongs to both halves
    assert ratio(MANY) == pytest.approx(8 ** (-1 / 2))
    assert ratio(LAST) == pytest.approx(1 / 8)
    assert pooled(table, "bank", "a", "c", IN_RANGE) is None


def test_only_the_papers_range_counts_for_the_verdict():
    inside, outside = lines({"a": 1.0, "b": 2.0}, n=40), lines({"a": 2.0, "b": 1.0}, n=2000)
    found = finding(pd.concat([inside, outside]), "", ["bank", "year"], ("a", "b"), LOWER)
    assert found.verdict == "holds"
    assert found.details.head == (
        "data set",
        "larger half of n with n·d ≤ 5,000",
        "largest n with n·d ≤ 5,000",
        "all n with n·d ≤ 5,000",
        "all n with n(d + 1)/2 ≤ 5,000",
        "beyond",
    )
    assert found.details.rows[-1] == ("verdict", *["holds"] * 4, "does not hold")
    assert found.details.rows[1][0] == "year (7,000 rows)"
    assert named(inside, "bank") == "bank"


def test_every_claim_of_who_wins_is_judged_on_the_larger_half():
    """A method that loses at small n, and wins at large n, wins: as curves in a figure are read."""
    few, many = lines(AS_PRINTED, n=10), lines(AS_PRINTED, n=40)
    turned = few.assign(series=few["series"].map({**{s: s for s in AS_PRINTED}, "sbq": "sobol", "sobol": "sbq"}))
    about = [about_proposed(pd.concat([turned, many])), about_proposed(many)]
    mixed, alone = ({one.claim: one.verdict for one in found if "small number" not in one.claim} for found in about)
    assert mixed == alone
    both = {**EVERYONE, **{by_code(name): 2.0 for name in EVERYONE}}
    losing, winning = (lines({"antithetic": level, **both}, n=n) for level, n in ((9.0, 10), (1.0, 40)))
    assert verdicts(about_existing(pd.concat([losing, winning]))) == ["holds"] * 7 + ["remark"]


def test_intervals_cover_experiments():
    """Ratios that differ between experiments leave a claim undecided, however many trials there are."""
    table = lines({"a": 1.0, "b": 1.5}, trials=50)
    table.loc[(table["series"] == "a") & (table["experiment"] == 0), "mse"] *= 4.0
    assert finding(table, "", ["bank"], ("a", "b"), LOWER).verdict == "undecided"


# Claims


EVERYONE = dict.fromkeys(("monte-carlo", "owen", "owen-halved", CASTRO, OUR_ALLOCATION), 2.0)


def test_claims_about_existing_methods():
    both = {**EVERYONE, **{by_code(name): 2.0 for name in EVERYONE}}
    assert verdicts(about_existing(lines({"antithetic": 1.0, **both}))) == ["holds"] * 7 + ["remark"]
    assert verdicts(about_existing(lines({"antithetic": 3.0, **both}))) == ["does not hold"] * 7 + ["remark"]
    mixed = {"": 1.0, "adult": 3.0}
    assert verdicts(about_existing(lines({"antithetic": mixed, **both})))[:7] == ["holds in part"] * 7


def test_the_way_of_counting_can_turn_a_verdict():
    table = lines({"antithetic": 1.0, **EVERYONE, **{by_code(name): 0.5 for name in EVERYONE}})
    found = {one.claim: one.verdict for one in about_existing(table)}
    assert sum("paper's text" in claim and value == "holds" for claim, value in found.items()) == 3
    assert sum("authors' early code" in claim and value == "does not hold" for claim, value in found.items()) == 3
    assert pooled(table, "bank", "antithetic", "owen", BY_CODE[0]).value == pytest.approx(2.0, rel=0.1)


AS_PRINTED = {
    "monte-carlo": 3.0,
    "antithetic": 1.0,
    "orthogonal": 0.8,
    "sobol": {"": 1.5, "cal_housing": 0.7, "make_regression": 0.7},
    "herding": {"": 1.5, "cal_housing": 0.5, "make_regression": 0.5},
    "sbq": {"": 1.4, "cal_housing": 0.3, "make_regression": 0.3},
}


def test_claims_about_proposed_methods():
    sobol = {"": 1.6, "cal_housing": 0.88, "make_regression": 0.88}
    few = lines({**AS_PRINTED, "orthogonal": 1.0, "sobol": sobol}, n=10)
    assert verdicts(about_proposed(pd.concat([few, lines(AS_PRINTED)]))) == ["holds"] * 16
    networks = lines({**AS_PRINTED, "sobol": 1.0}, kind="mlp")
    assert verdicts(about_networks(networks)) == ["holds"] * 5
    opposite = {name: level if name == "antithetic" else 2.5 for name, level in AS_PRINTED.items()}
    found = verdicts(about_proposed(lines({**opposite, "antithetic": 2.0})))
    assert found[:2] == ["does not hold"] * 2
    assert found[9] == "does not hold"


def test_networks_with_raw_inputs_have_a_column_of_their_own():
    standard, raw = (lines(AS_PRINTED, kind=kind) for kind in ("mlp", "mlp-raw"))
    raw.loc[raw["series"] == "orthogonal", "mse"] *= 5.0
    found = about_networks(pd.concat([standard, raw]))[2]
    assert found.verdict == "holds"
    assert found.details.head[2] == "raw inputs, larger half of n with n·d ≤ 5,000"
    assert found.details.rows[-1][1:3] == ("holds", "does not hold")


@pytest.mark.parametrize(
    ("behind", "expected"),
    [(6, "holds in part"), (4, "holds"), (3, "holds in part"), (1, "does not hold"), (0, "does not hold")],
)
def test_four_of_six_means_exactly_four(behind, expected):
    sobol = {name: 2.0 if i < behind else 0.5 for i, name in enumerate(PLAYERS)}
    table = lines({**AS_PRINTED, "sobol": sobol})
    assert next(f for f in about_proposed(table) if "four of six" in f.claim).verdict == expected


def test_claims_about_scales():
    steps = {s: np.log2(s) for s in SCALES}
    best_differs = {scaled(s): {"": 1.0 + 0.2 * abs(k - 2), "adult": 1.0 + 0.2 * k} for s, k in steps.items()}
    assert verdicts(about_scales(lines(best_differs, trials=25), "Trees")) == ["holds", "holds"]
    small_is_best = {scaled(s): float(s) for s in SCALES}
    assert verdicts(about_scales(lines(small_is_best), "Trees")) == ["does not hold", "does not hold"]


@pytest.mark.parametrize("largest", [0.0052, 0.0056, 1.1e-4, 0.94])
def test_the_numbers_at_the_axis_of_scales_are_exact(largest):
    figure = draw_scales(lines({scaled(s): largest * (s + 10) / 42 for s in SCALES}), "", title="")
    figure.canvas.draw()
    for panel in figure.axes:
        ticks, labels = panel.get_yticks(), [label.get_text() for label in panel.get_yticklabels()]
        np.testing.assert_allclose([float(label) for label in labels], ticks, rtol=1e-9)


def test_the_note_of_a_figure_says_how_many_trials_methods_have():
    many, few = lines({"antithetic": 1.0, "orthogonal": 1.0}, trials=5), lines({"gp": 1.0}, trials=1)
    assert size_of(many) == "4 experiments with trees, 5 trials in each"
    assert size_of(pd.concat([many, few])) == "4 experiments with trees, 1 or 5 trials in each"


def test_equal_scales_have_no_best():
    """The scale that is best in one half of the trials by luck is not the best in the other half."""
    equal = {scaled(s): 1.0 for s in SCALES}
    assert verdicts(about_scales(lines(equal, trials=25), "Trees")) == ["undecided", "holds"]


def test_claims_about_candidates():
    def found(*errors):
        table = lines({f"{c} candidates": e for c, e in zip((5, 10, 25, 50), errors, strict=True)})
        return verdicts(about_candidates(table))

    assert found(2.0, 1.5, 1.0, 0.98) == ["holds"] * 3
    assert found(1.0, 1.0, 2.0, 1.0) == ["does not hold"] * 3
    assert found(2.0, 2.0, 1.0, 2.0)[2] == "does not hold"


def test_claims_about_kernels():
    lags = {"": 1.0, "cal_housing": 2.0, "make_regression": 2.0}
    others = {"monte-carlo": 4.0, "kendall": lags}
    found = verdicts(about_kernels(lines({"mallows": 1.0, "spearman": 3.0, ON_ORDERINGS: 4.0, **others})))
    assert found == ["holds"] * 8 + ["remark"]
    equal = dict.fromkeys(("mallows", "kendall", "spearman", ON_ORDERINGS, "monte-carlo"), 1.0)
    found = verdicts(about_kernels(lines(equal)))
    assert found == ["holds", "holds", *["does not hold"] * 6, "remark"]
    only_of_orderings = {**equal, ON_ORDERINGS: 3.0, "monte-carlo": 3.0}
    assert verdicts(about_kernels(lines(only_of_orderings)))[3:8] == [
        "holds", "does not hold", "does not hold", "holds", "holds"
    ]  # fmt: skip


def test_tight_clusters_are_recognised():
    apart = {name: 10.0**k for k, name in enumerate(AS_PRINTED)}
    close = {name: 1.2**k for k, name in enumerate(AS_PRINTED)}

    def found(trees, networks):
        kinds = {"gbdt": trees, "mlp": networks, "mlp-raw": trees}
        table = clustering.spreads([lines(errors, kind=kind, noise=1e-9) for kind, errors in kinds.items()])
        return clustering.findings(table)[0]

    assert found(apart, close).verdict == "holds"
    assert found(close, apart).verdict == "does not hold"
    adult = found(apart, close).details.rows[-1]
    assert adult[0] == "adult"
    assert adult[1].startswith("0.08")  # log 1.2 / log 10
    assert adult[2].startswith("1.0")

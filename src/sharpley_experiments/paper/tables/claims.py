"""The paper's claims about its Table 4 (Section 5.4), judged from trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.intervals import difference_interval
from sharpley_experiments.paper.exhibits import Details, Finding, Verdict
from sharpley_experiments.paper.rules import FEWEST_TRIALS
from sharpley_experiments.paper.tables.comparison import Settings, Tally, tally
from sharpley_experiments.paper.tables.printed import METHODS, discrepancies

if TYPE_CHECKING:
    from pandas import DataFrame

GREEDY_METHODS = ("herding", "sbq")
SPHERE_METHODS = ("orthogonal", "sobol")
DESIGN = "design"  # not in the paper
IMPRACTICAL_SECONDS = 60.0
TWOFOLD_RANGE = 1.8, 2.2


def settings_of(table: DataFrame) -> Settings:
    """Discrepancies of a table as arrays."""
    settings: Settings = {}
    for (d, n, method), part in table.groupby(["d", "n", "method"], sort=False):
        settings.setdefault((int(d), int(n)), {})[str(method)] = part["discrepancy"].to_numpy()
    return settings


def findings(table: DataFrame) -> list[Finding]:
    """Judge all claims whose settings are in the table."""
    settings = settings_of(table)
    low = {key: value for key, value in settings.items() if key[0] == 10}
    high = {key: value for key, value in settings.items() if key[0] == 200}
    found = [_numbers(settings), _low(low), _antithetic(settings), _greedy(settings), _single(settings)]
    if high:
        found += [_high(high)]
    if (10, 1000) in settings:
        found += [_twofold(settings[10, 1000])]
    if (200, 1000) in settings:
        found += [_times(table), _faster(table)]
    trials = table[table["method"] != DESIGN]["trial"].nunique()
    if trials >= FEWEST_TRIALS:
        return found
    return [Finding(one.claim, "not judged", f"not judged at this size: {trials} trials") for one in found]


def _numbers(settings: Settings) -> Finding:
    """Compare means over trials, within rounding to the printed three decimals and four standard errors."""
    away, cells = [], 0
    for (d, n, method), (mean, std, _) in discrepancies().items():
        if (d, n) not in settings:
            continue
        ours = settings[d, n][method]
        noise = 0.0005 + 4 * (std + 0.0005) * np.sqrt(1 / 25 + 1 / len(ours))
        cells += 1
        if abs(ours.mean() - mean) > noise:
            away.append((str(d), str(n), method, f"{ours.mean():.4f}", f"{mean:.3f}"))
    verdict: Verdict = "holds" if not away else "holds in part" if 2 * len(away) < cells else "does not hold"
    evidence = f"{cells - len(away)} of {cells} means agree within rounding and four standard errors"
    details = Details(("d", "n", "method", "here", "printed"), tuple(away)) if away else None
    rule = "holds if all means agree, in part if more than half"
    return Finding("The mean discrepancies agree with the printed ones.", verdict, evidence, details, rule)


def _low(settings: Settings) -> Finding:
    count = tally(settings, GREEDY_METHODS, ("antithetic", *SPHERE_METHODS))
    claim = (
        "At low dimension (d = 10) herding and SBQ achieve significantly lower discrepancies than the other methods."
    )
    return Finding(claim, count.verdict, str(count), count.details)


def _antithetic(settings: Settings) -> Finding:
    """The paper's exception is a claim too: there the order is reversed."""
    rest = {key: samples for key, samples in settings.items() if key != (200, 10)}
    counts = [tally(rest, METHODS[1:], ("antithetic",))]
    if (200, 10) in settings:
        exception = {(200, 10): settings[200, 10]}
        counts += [tally(exception, SPHERE_METHODS, ("antithetic",)), tally(exception, ("antithetic",), GREEDY_METHODS)]
    count = Tally.of(counts)
    claim = (
        "Antithetic samples have a higher discrepancy than all others, "
        "except at d = 200, n = 10, where herding and SBQ are higher."
    )
    return Finding(claim, count.verdict, str(count), count.details)


def _greedy(settings: Settings) -> Finding:
    count = tally(settings, ("sbq",), ("herding",))
    claim = "SBQ optimises the discrepancy more aggressively than herding and reaches a lower one."
    without = "the paper has no results for SBQ at n = 1000"
    return Finding(claim, count.verdict, f"{count}; {without}", count.details)


def best_of(samples: dict[str, Floats]) -> str:
    """The method of the paper with the lowest mean."""
    return min(METHODS, key=lambda method: float(samples[method].mean()))


def _single(settings: Settings) -> Finding:
    best = {key: best_of(samples) for key, samples in settings.items()}
    gains = [difference_interval(samples[best[key]], samples["antithetic"]) for key, samples in settings.items()]
    improved = sum(gap.high < 0 for gap in gains)
    below = sum(samples[DESIGN].mean() < samples[best[key]].mean() for key, samples in settings.items())
    several, everywhere = len(set(best.values())) > 1, improved == len(gains)
    return Finding(
        "No method is best in all settings, and antithetic sampling can be improved on significantly.",
        "holds" if several and everywhere else "holds in part" if several or everywhere else "does not hold",
        f"significantly below antithetic in {improved} of {len(gains)} settings; permutation designs, which are not in "
        f"the paper, are below the best of its methods in {below} of {len(gains)}",
        _lowest(best),
        "holds if the best differs between settings and is certainly below antithetic in all, in part if either is so",
    )


def _lowest(best: dict[tuple[int, int], str]) -> Details:
    """The method with the lowest mean, a row for each d and a column for each n."""
    dimensions, numbers = (sorted({key[i] for key in best}) for i in (0, 1))
    rows = ((f"d = {d}", *(best.get((d, n), "–") for n in numbers)) for d in dimensions)
    return Details(("lowest", *(f"n = {n}" for n in numbers)), tuple(rows))


def _high(settings: Settings) -> Finding:
    """The best of the paper's methods samples on the sphere, and is significantly better than the other kinds."""
    best = {key: best_of(samples) for key, samples in settings.items()}
    counts = [tally({key: settings[key]}, (name,), ("antithetic", *GREEDY_METHODS)) for key, name in best.items()]
    count = Tally.of(counts)
    right = sum(name in SPHERE_METHODS for name in best.values())
    return Finding(
        "Orthogonal and Sobol' samples account for the lowest discrepancies of the paper's methods at d = 200.",
        count.verdict if right == len(best) else "holds in part" if right else "does not hold",
        f"compared with the other kinds of methods, {count}",
        _lowest(best),
    )


def _twofold(samples: dict[str, Floats]) -> Finding:
    antithetic, herding = samples["antithetic"], samples["herding"]
    ratio = antithetic.mean() / herding.mean()
    spread = np.sqrt(sum((x.std(ddof=1) / x.mean()) ** 2 / len(x) for x in (antithetic, herding)))
    low, high = ratio * np.exp([-1.96 * spread, 1.96 * spread])
    is_twofold = TWOFOLD_RANGE[0] < low and high < TWOFOLD_RANGE[1]
    return Finding(
        "At d = 10, n = 1000, herding almost halves the discrepancy of antithetic samples.",
        "holds" if is_twofold else "holds in part" if low > 1 else "does not hold",
        f"{ratio:.2f} times lower (95% interval {low:.2f} to {high:.2f})",
        rule=f"holds if the interval lies within {TWOFOLD_RANGE[0]} to {TWOFOLD_RANGE[1]}, in part if above 1",
    )


def _times(table: DataFrame) -> Finding:
    large = table[(table["d"] == 200) & (table["n"] == 1000)].groupby("method")["seconds"].median()
    sphere = table[table["method"].isin(SPHERE_METHODS)].groupby(["d", "n", "method"])["seconds"].median().max()
    greedy = min(large[name] for name in GREEDY_METHODS)
    verdict: Verdict = (
        "holds" if greedy > IMPRACTICAL_SECONDS else "holds in part" if greedy > 3 * sphere else "does not hold"
    )
    faster = ". Herding and SBQ are the slowest here too, but bit sets and blocks reduce minutes to seconds"
    return Finding(
        "For large n, herding and SBQ take impractically long (herding 242 s at d = 200, n = 1000), while orthogonal "
        "and Sobol' samples never take more than 2 s.",
        verdict,
        f"at d = 200, n = 1000, a trial with fresh candidates takes {large['herding']:.1f} s with herding and "
        f"{large['sbq']:.1f} s with SBQ here (medians); orthogonal and Sobol' samples take at most {sphere:.2f} s"
        f"{faster if verdict == 'holds in part' else ''}.{seconds_note(table)}",
        rule=f"holds if both take more than {IMPRACTICAL_SECONDS:.0f} s, in part if three times as long as the others",
    )


def _faster(table: DataFrame) -> Finding:
    """How many times less each method takes here than in print, which mixes two machines."""
    here = table.groupby(["d", "n", "method"])["seconds"].median()
    rows = []
    for method in METHODS:
        times = [
            cell.seconds / here[d, n, method]
            for (d, n, name), cell in discrepancies().items()
            if name == method and n >= 100
        ]
        rows.append((method, f"{min(times):,.0f} to {max(times):,.0f}"))
    return Finding(
        "Beside the paper: how much faster its methods are here.",
        "remark",
        "printed seconds / median seconds here, for n of at least 100; two machines, so a matter of magnitude",
        Details(("method", "times faster"), tuple(rows)),
    )


def seconds_note(table: DataFrame) -> str:
    """A caveat about times that were measured while several processes shared the machine; empty if none were."""
    shared = (table["jobs"] != 1).mean()
    return f" {shared:.0%} of the trials ran concurrently with others, so their times are too long." if shared else ""

"""Errors of the Gaussian process ("gp") with coalitions chosen actively, against its fixed mixture of sizes.

    python benchmarks/active.py --data ../shared/data --out docs/results/active.md

All start from the product's pairs at 5 d evaluations. The budget then doubles twice, to 10 d and 20 d, and further
pairs are chosen

- fixed: as the product does, by quotas for each size and balance within it;
- active: hyperparameters are learnt from the values seen so far, by the pilot fit that all rows share; of 3,000
  candidates (random, spread evenly over sizes, all of a small size) the one is taken, again and again, whose
  value would lower the summed posterior variance of the Shapley values most;
- half: one half as fixed, then the other as active;
- unlearnt (with ``--unlearnt``, a table of its own): as active, but with the same hyperparameters for every game.

The estimate is always the product's, with its error bars. Models are XGBoost on six data sets, with 10 rows, 100
background rows and exact values in closed form; three classic games have closed forms too. Intervals are 95%
bootstrap intervals over seeds, which are the same for all choices. Takes 15 minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from sharpley.estimators.gp import estimator as gp
from sharpley.estimators.gp.active import candidates, most_telling
from sharpley.estimators.gp.kernel import Scales
from sharpley.estimators.pairs.base import PairData
from sharpley.estimators.pairs.choosing import PairChooser, class_sizes
from sharpley.games import Airport, TreeGame, UnanimitySum, WeightedVoting
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import make_task, train_xgboost

DATA = ("cal_housing", "make_regression", "bank", "breast_cancer", "year", "adult")
FIRST, BUDGETS = 5, (10, 20)  # evaluations for each player
BATCHES = 4  # of each doubling: noise depends on how many pairs of a size there are, and is brought up to date
SEEDS, SEEDS_OF_MANY, SEEDS_OF_ONE_GAME = 16, 10, 40
UNLEARNT_SUM = 1.5  # of the players' scales


class Problem(NamedTuple):
    name: str
    game: Callable[[np.ndarray], np.ndarray]
    exact: np.ndarray  # (r, d)
    seeds: int

    @property
    def d(self) -> int:
        return self.exact.shape[1]


def data_problem(name: str, folder: Path, seeds: int | None) -> Problem:
    dataset = load(name, folder)
    task = make_task(dataset, train_xgboost(dataset))
    game = TreeGame(task.model, task.background, task.rows)
    return Problem(name, game, game.shapley_values(), seeds or (SEEDS if game.d < gp.MANY_PLAYERS else SEEDS_OF_MANY))


def classic_problems(seeds: int | None) -> Iterator[Problem]:
    rng = np.random.default_rng(0)
    votes = tuple(rng.integers(1, 20, 25).tolist())
    games = {
        "airport": Airport(tuple(np.arange(1.0, 31.0))),
        "voting": WeightedVoting(votes, quota=sum(votes) // 2 + 1),
        "unanimity": UnanimitySum.random(20, n_terms=100, max_order=6, rng=1),
    }
    for name, game in games.items():
        yield Problem(name, game, game.shapley_values()[None], seeds or SEEDS_OF_ONE_GAME)


# --- pairs that were chosen, and their values


class Pairs:
    """Distinct pairs for one seed; the fixed mixture can be extended whatever else was chosen."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.rng = problem, np.random.default_rng(seed)
        self._chooser = PairChooser(problem.d, self.rng)
        self._mixture = gp.GaussianProcessEstimator(problem.d)
        self._asked = 0
        self._known: set[bytes] = set()
        self.masks = np.empty((0, problem.d), dtype=bool)

    def extend_fixed(self, total: int) -> None:
        """By the mixture, up to a total; what was chosen actively is passed over."""
        self._asked = max(self._asked, len(self.masks))
        while (missing := total - len(self.masks)) > 0:
            self._asked += missing
            fresh = self._chooser.extend(self._mixture._quotas(self._asked))
            self.add(fresh[self.new(fresh)][:missing])

    def extend_actively(self, total: int, scales: Scales | None = None) -> None:
        """By the process, up to a total; without hyperparameters they are learnt from the values."""
        scales = scales or learn(unit_data(self.problem, self.masks))
        pool = candidates(self.problem.d, self.masks, self.rng)
        for goal in np.linspace(len(self.masks), total, BATCHES + 1).round().astype(int)[1:]:
            count = min(goal - len(self.masks), len(pool))
            chosen = most_telling(self.masks, pool, scales, count)
            self.add(pool[chosen])
            pool = np.delete(pool, chosen, axis=0)

    def new(self, masks: np.ndarray) -> np.ndarray:
        return np.array([row.tobytes() not in self._known for row in np.packbits(masks, axis=1)], dtype=bool)

    def add(self, masks: np.ndarray) -> None:
        self._known.update(row.tobytes() for row in np.packbits(masks, axis=1))
        self.masks = np.concatenate([self.masks, masks])


def unit_data(problem: Problem, masks: np.ndarray) -> PairData:
    return gp.unit_sized(pair_data(problem, masks))[0]


def pair_data(problem: Problem, masks: np.ndarray) -> PairData:
    ends = np.array([np.zeros(problem.d, dtype=bool), np.ones(problem.d, dtype=bool)])
    values = np.atleast_2d(problem.game(np.concatenate([masks, ~masks, ends]))).T
    n = len(masks)
    member, complement, (empty, full) = values[:n], values[n : 2 * n], values[2 * n :]
    signs = np.where(masks, 1.0, -1.0)
    return PairData(signs, (member - complement) / 2.0, (member + complement) / 2.0, (full - empty) / 2.0)


# --- active choice


def learn(unit: PairData) -> Scales:
    """The hyperparameters that all rows share."""
    return gp.learn_from_pilots(unit).scales


def unlearnt(d: int) -> Scales:
    """Hyperparameters for any game: no player is special, and interactions of low order matter most."""
    return Scales(np.full(d, UNLEARNT_SUM / d), interactions=1.0, sizes=0.01, linear_by_size=0.01, noise=0.01)


# --- measurement


def choose_fixed(pairs: Pairs, total: int) -> None:
    pairs.extend_fixed(total)


def choose_actively(pairs: Pairs, total: int) -> None:
    pairs.extend_actively(total)


def choose_half(pairs: Pairs, total: int) -> None:
    pairs.extend_fixed((len(pairs.masks) + total) // 2)
    pairs.extend_actively(total)


def choose_unlearnt(pairs: Pairs, total: int) -> None:
    pairs.extend_actively(total, unlearnt(pairs.problem.d))


CHOICES = {"fixed": choose_fixed, "active": choose_actively, "half": choose_half, "unlearnt": choose_unlearnt}


class Outcome(NamedTuple):
    error: float  # mean squared, over the mean of φ²
    coverage: float
    seconds: float  # of choosing
    share_middle: float  # of the pairs added, those within d/8 of half the players


def measure(problem: Problem, choice: str, seed: int) -> list[Outcome]:
    """One run: an outcome for each budget."""
    pairs, outcomes = Pairs(problem, seed), []
    pairs.extend_fixed(n_pairs(problem.d, FIRST))
    first = len(pairs.masks)
    seconds = 0.0
    for budget in BUDGETS:
        start = perf_counter()
        CHOICES[choice](pairs, n_pairs(problem.d, budget))
        seconds += perf_counter() - start
        assert len(np.unique(pairs.masks, axis=0)) == len(pairs.masks) == n_pairs(problem.d, budget)
        added = pairs.masks[first:].sum(axis=1)
        outcomes.append(Outcome(*errors(problem, pairs.masks), seconds, float((added > 3 * problem.d / 8).mean())))
    return outcomes


def n_pairs(d: int, per_player: int) -> int:
    """What ``per_player`` evaluations for each player buy, beside those of the empty and the full coalition."""
    return min((per_player * d - 2) // 2, int(class_sizes(d).sum()))


def errors(problem: Problem, masks: np.ndarray) -> tuple[float, float]:
    """Relative mean squared error of the product's estimate, and coverage of its 95% intervals."""
    unit, sizes = gp.unit_sized(pair_data(problem, masks))
    found = gp.estimate_games(unit, gp.learn_from_pilots(unit))
    misses = found.values * sizes - problem.exact.T
    half_widths = stdtrit(found.degrees_of_freedom, 0.975) * np.sqrt(found.variances) * sizes
    held = np.abs(misses) <= half_widths + 1e-12
    return float((misses**2).mean() / (problem.exact**2).mean()), float(held.mean())


def ratio(errors: np.ndarray, reference: np.ndarray) -> tuple[float, float, float]:
    """Of mean errors, with a bootstrap interval over seeds."""
    picks = np.random.default_rng(0).integers(len(errors), size=(4000, len(errors)))
    drawn = errors[picks].mean(axis=1) / reference[picks].mean(axis=1)
    return errors.mean() / reference.mean(), *np.quantile(drawn, [0.025, 0.975])


def head(others: tuple[str, ...]) -> tuple[str, ...]:
    return (
        "data set or game",
        "d",
        "seeds",
        "evaluations",
        "error, fixed",
        *(f"{choice} ÷ fixed" for choice in others),
        "coverage: fixed",
        *others,
        "middle sizes: fixed",
        others[0],
        "seconds to choose: fixed",
        others[0],
        "times",
    )


def lines_of(problem: Problem, runs: dict[str, np.ndarray]) -> Iterator[tuple[str, list[float]]]:
    """A line of the table, and the ratios in it, for each budget; runs are (seeds, budgets, fields of Outcome)."""
    for i, budget in enumerate(BUDGETS):
        reference, *others = (outcomes[:, i] for outcomes in runs.values())
        ratios = [ratio(values[:, 0], reference[:, 0]) for values in others]
        mean = [Outcome(*values.mean(axis=0)) for values in (reference, *others)]
        cells = [
            problem.name,
            str(problem.d),
            str(problem.seeds),
            f"{budget} d",
            f"{mean[0].error:.1e}",
            *(f"{r:.2f} ({low:.2f}–{high:.2f})" for r, low, high in ratios),
            *(f"{outcome.coverage:.3f}" for outcome in mean),
            *(f"{outcome.share_middle:.0%}" for outcome in mean[:2]),
            *(f"{outcome.seconds:.3f}" for outcome in mean[:2]),
            f"{mean[1].seconds / mean[0].seconds:.0f}",
        ]
        yield "| " + " | ".join(cells) + " |", [r[0] for r in ratios]


def summary(others: tuple[str, ...], ratios: list[list[float]]) -> Iterator[str]:
    for choice, values in zip(others, np.array(ratios).T, strict=True):
        yield (
            f"\nGeometric mean of {choice} ÷ fixed over the lines: {np.exp(np.log(values).mean()):.2f}; "
            f"lower in {(values < 1).sum()} of {len(values)}, from {values.min():.2f} to {values.max():.2f}."
        )


def run(problems: Iterator[Problem], others: tuple[str, ...], out: Path) -> None:
    lines, ratios = [], []
    for problem in problems:
        runs = {
            choice: np.array([measure(problem, choice, seed) for seed in range(problem.seeds)])
            for choice in ("fixed", *others)
        }
        for line, found in lines_of(problem, runs):
            lines.append(line)
            ratios.append(found)
            print(line, flush=True)
    columns = head(others)
    words = [
        "Errors are mean squared errors over mean φ²; ratios are of mean errors over seeds, with 95% bootstrap "
        "intervals. Coverage is that of 95% intervals. Middle sizes: the share of the pairs added after 5 d "
        "evaluations whose smaller member has more than 3d/8 players. Seconds to choose those pairs include learning "
        "the hyperparameters, but no evaluation.",
        "",
        "| " + " | ".join(columns) + " |",
        "|---|" + "--:|" * (len(columns) - 1),
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join([*words, *lines, *summary(others, ratios)]) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/results/active.md"))
    parser.add_argument("--unlearnt", action="store_true", help="compare the choice with hyperparameters not learnt")
    parser.add_argument("--quick", action="store_true", help="two seeds on generated data, to see that it works")
    options = parser.parse_args(arguments)
    seeds = 2 if options.quick else None
    names = ("make_regression",) if options.quick else DATA

    def problems() -> Iterator[Problem]:
        yield from classic_problems(seeds)
        for name in names:
            yield data_problem(name, options.data, seeds)

    run(problems(), ("unlearnt",) if options.unlearnt else ("active", "half"), options.out)


if __name__ == "__main__":
    main()

"""How much of what a regression in every draw misses is common to all draws.

    python -m sharpley_experiments.studies.common_part --data ../shared/data --out docs/results/common_part.md

With coalitions of their own (``draws="own"``), the errors of the regressions in different draws average out. A model of
both, one game for what all draws have in common and one for each draw, could learn the common part from all of them
together. At best, it would remove the common part of the error. Its share of the variance of all held-out errors e_b is

    (B · mean ē² − mean e²) / ((B − 1) · mean e²),   ē the error of the mean over B draws,

at the same pairs in every draw. Each column is one row of data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpley import MarginalGame
from sharpley.estimators.pairs.choosing import PairChooser, quotas
from sharpley.estimators.pairs.regression import PairRegression
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.models import choose_rows, margin, train_mlp, train_xgboost
from sharpley_experiments.studies.common import (
    add_data_option,
    add_out_option,
    markdown_head,
    markdown_row,
    study_parser,
    write_lines,
)

MODELS = {
    "XGBoost": (train_xgboost, ("make_regression", "bank", "breast_cancer")),
    "network": (train_mlp, ("cal_housing", "bank")),
}
QUICK_MODELS = {"XGBoost": (train_xgboost, ("make_regression",))}
ROWS = 6
DRAWS = 60
PAIRS_PER_PLAYER = 5
MAX_SHARE = 0.4  # of all pairs


def common_share(games: MarginalGame, seed: int) -> float:
    """Return the share of the variance of held-out errors that all draws of one game have in common."""
    d, n_draws = games.d, games.n_draws
    n_pairs = min(PAIRS_PER_PLAYER * d, int(MAX_SHARE * 2 ** (d - 1)))
    pairs = PairChooser(d, np.random.default_rng(seed)).extend(quotas(d, n_pairs))
    ends = np.array([np.zeros(d, dtype=bool), np.ones(d, dtype=bool)])
    asked = np.concatenate([ends, pairs, ~pairs])
    draws = np.repeat(np.arange(n_draws), len(asked))
    values = games.evaluator()(np.zeros(len(draws), dtype=np.int64), np.tile(asked, (n_draws, 1)), draws)
    of_draws = values.reshape(n_draws, len(asked)).T
    columns = np.column_stack([of_draws, of_draws.mean(axis=1)])
    member, complement = columns[2 : 2 + len(pairs)], columns[2 + len(pairs) :]
    fit = PairRegression(np.where(pairs, 1.0, -1.0)).fit((member - complement) / 2.0, (columns[1] - columns[0]) / 2.0)
    squares = fit.held_out_errors.mean(axis=0)
    of_each = squares[:-1].mean()
    return float((n_draws * squares[-1] - of_each) / ((n_draws - 1) * of_each))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study with command-line arguments."""
    parser = study_parser(__doc__, quick="one game")
    add_data_option(parser)
    add_out_option(parser, None, "Markdown file to write")
    options = parser.parse_args(arguments)
    lines = markdown_head(["model", "data set", "mean", *(f"row {row}" for row in range(ROWS))])
    for kind, (train, names) in (QUICK_MODELS if options.quick else MODELS).items():
        for name in names:
            dataset = load(name, options.data)
            predict = margin(train(dataset))
            rows, background = choose_rows(dataset, rows=ROWS, background=DRAWS)
            shares = [common_share(MarginalGame(predict, background, rows[[i]]), i) for i in range(ROWS)]
            lines.append(markdown_row([kind, name, f"{np.mean(shares):.2f}", *(f"{share:.2f}" for share in shares)]))
    print("\n".join(lines))
    if options.out is not None:
        write_lines(options.out, lines)


if __name__ == "__main__":
    main()

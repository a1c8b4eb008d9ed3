"""Parameters of the experiments, and the presets."""

from __future__ import annotations

from dataclasses import replace

from sharpley_experiments.paper.exhibits import Preset

CURVE_SIZES = (10, 20, 30, 40, 50, 100, 150, 200, 300, 500, 1000, 2000, 5000)
"""Numbers of orderings in the figures of the evaluation: even, so that every ordering has its reverse."""

MAX_MARGINALS = 5_000
"""Where the figures of the paper end, in marginal evaluations."""

SCALES = (1, 2, 4, 8, 16, 32)
"""Values of the scale λ of the Mallows kernel in the appendix."""

HERDED_ORDERINGS = 100
"""Number of orderings in the figures about λ."""

CANDIDATES = (5, 10, 25, 50)
"""Numbers of candidates for herding in the appendix; everywhere else it is the default of the samplers, 25."""

TABLE_PLAYERS, TABLE_ORDERINGS = (10, 50, 200), (10, 100, 1000)
"""Numbers of players and of orderings in the table of discrepancies."""

TIMED_PLAYERS = (10, 50)
"""Numbers of players for which times are measured."""

TIMED_FROM = {"monte-carlo": 2000, "antithetic": 2000, "orthogonal": 1000, "sobol": 1000, "herding": 256, "sbq": 128}
"""Smallest number of orderings for which the time of each method is measured."""

LAPTOP = Preset(
    "laptop",
    n_pairs=50_000,
    n_scatter=5_000,
    n_bases=500,
    n_scrambles=25,
    n_rows=10,
    n_background=100,
    n_train=10**9,
    n_experiments=10,
    n_network_experiments=5,
    n_trials=5,
    n_own_trials=10,
    n_few_players=1000,
    n_many_players=200,
    n_network=100,
    n_ours=30,
    table_d=200,
    table_n=1_000,
    table_trials=25,
    n_blocks=20,
    n_doublings=4,
    n_repetitions=12,
)

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "quick",
            n_pairs=5_000,
            n_scatter=1_000,
            n_bases=100,
            n_scrambles=5,
            n_rows=2,
            n_background=20,
            n_train=500,
            n_experiments=2,
            n_network_experiments=2,
            n_trials=2,
            n_own_trials=2,
            n_few_players=100,
            n_many_players=20,
            n_network=20,
            n_ours=10,
            table_d=50,
            table_n=100,
            table_trials=2,
            n_blocks=4,
            n_doublings=2,
            n_repetitions=3,
        ),
        LAPTOP,
        replace(LAPTOP, name="images"),  # with larger images, see images/presets.py
        Preset(
            "paper",
            n_pairs=500_000,
            n_scatter=20_000,
            n_bases=2_000,
            n_scrambles=50,
            n_rows=10,
            n_background=100,
            n_train=10**9,
            n_experiments=10,
            n_network_experiments=10,
            n_trials=25,
            n_own_trials=25,
            n_few_players=5000,
            n_many_players=1000,
            n_network=200,
            n_ours=50,
            table_d=200,
            table_n=1_000,
            table_trials=25,
            n_blocks=50,
            n_doublings=5,
            n_repetitions=15,
        ),
    )
}

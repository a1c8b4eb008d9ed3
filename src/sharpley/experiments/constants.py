"""Settings that the experiments share."""

from __future__ import annotations

from sharpley.experiments.exhibits import Preset

SEED = 2022
"""Of every run: tables can be made again to the last digit."""

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "quick",
            n_pairs=5_000,
            n_scatter=1_000,
            n_bases=100,
            n_scrambles=5,
            n_trials=2,
            table_d=50,
            table_n=100,
            n_doublings=2,
            n_repetitions=2,
        ),
        Preset(
            "laptop",
            n_pairs=50_000,
            n_scatter=5_000,
            n_bases=500,
            n_scrambles=25,
            n_trials=25,
            table_d=200,
            table_n=1_000,
            n_doublings=5,
            n_repetitions=3,
        ),
        Preset(
            "paper",
            n_pairs=500_000,
            n_scatter=20_000,
            n_bases=2_000,
            n_scrambles=50,
            n_trials=25,
            table_d=200,
            table_n=1_000,
            n_doublings=5,
            n_repetitions=7,
        ),
    )
}

"""Settings that the experiments share."""

from __future__ import annotations

from sharpley.experiments.exhibits import Preset

SEED = 2022
"""Of every run: tables can be made again to the last digit."""

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("quick", n_pairs=5_000, n_scatter=1_000, n_bases=100, n_scrambles=5),
        Preset("laptop", n_pairs=50_000, n_scatter=5_000, n_bases=500, n_scrambles=25),
        Preset("paper", n_pairs=500_000, n_scatter=20_000, n_bases=2_000, n_scrambles=50),
    )
}

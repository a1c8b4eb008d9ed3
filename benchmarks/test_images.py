"""Explaining images: the time outside the network, masking and averaging included, beside that of ResNet50.

The weights are random, which takes as much time as trained ones, so that no file is needed.
"""

from time import process_time

import numpy as np
import pytest

from sharpley.engine.evaluation import walk_contributions
from sharpley.games import TileGame
from sharpley_experiments.paper.images.architectures import ARCHITECTURES

MAX_OVERHEAD = 0.05  # of the processor time of the network
TILE = 14  # the paper's


def test_masking_and_averaging_take_a_small_part_of_the_time_of_resnet50(benchmark):
    torch = pytest.importorskip("torch")
    module = ARCHITECTURES["resnet50"]().eval().to(memory_format=torch.channels_last)
    spent = []

    class Timed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, images):
            start = process_time()
            scores = self.module(images)
            spent.append(process_time() - start)
            return scores

    side = TILE * (16 if benchmark.enabled else 4)  # 256 players, or 16 in a smoke test
    image = np.random.default_rng(0).random((side, side, 3))
    game = TileGame(Timed(), image, tile=TILE)
    orderings = np.random.default_rng(0).permutation(game.d)[None]
    game(np.ones((game.draws_per_call, game.d), dtype=bool))  # not timed: the first call is slower

    def explain():
        spent.clear()
        start = process_time()
        walk_contributions(game, orderings).mean(axis=-2)
        return process_time() - start

    total = benchmark.pedantic(explain, rounds=1)
    overhead = total / sum(spent) - 1
    benchmark.extra_info.update(overhead=overhead, milliseconds_per_image=1e3 * sum(spent) / game.d)
    assert overhead < MAX_OVERHEAD

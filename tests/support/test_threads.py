"""Linear algebra on one thread."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import sharpley
from sharpley.coalitions.moments import exact_moments
from sharpley.estimators import CoalitionEstimator


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_estimators_use_one_thread_and_the_game_as_many_as_before():
    seen = {}

    class Watching(CoalitionEstimator):
        least_budget = 4
        choices_depend_on = "row"

        def _choose(self, budget):
            seen["choose"] = blas_threads()
            before = len(self.store)
            self.store.add(np.eye(3, dtype=bool)[:2])
            return len(self.store) > before

        def _learn(self):
            seen["learn"] = blas_threads()

        def estimate(self):
            seen["estimate"] = blas_threads()
            return exact_moments(np.zeros((1, 3, 1)))

    def game(coalitions):
        seen["game"] = blas_threads()
        return coalitions.sum(axis=1)

    with threadpool_limits(2, user_api="blas"):
        sharpley.shapley_values(game, 3, method=Watching, max_evals=4)
    assert seen == {"choose": {1}, "learn": {1}, "estimate": {1}, "game": {2}}

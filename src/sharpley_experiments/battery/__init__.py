"""Games and models on which error bars and tolerances are judged.

``games``
    Rough games, each with its Shapley values: what a smooth interpolation gets wrong.
``models``
    Models on backgrounds, each with its Shapley values over all background rows.
"""

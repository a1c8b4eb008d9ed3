"""Rough games, on which error bars and tolerances are judged: what a smooth interpolation gets wrong.

``games``
    The games, each with its Shapley values.
"""

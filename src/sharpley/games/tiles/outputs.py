"""Scores of classes: which class of a network is explained, and on which scale.

The log-odds of a class c among k logits z are z_c − log Σ_{j≠c} exp z_j, which is log p_c / (1 − p_c) of the softmax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.marginal.outputs import Output

Scale: TypeAlias = Literal["log-odds", "logits", "probabilities"]
Returns: TypeAlias = Literal["logits", "probabilities"]

SCALES = ("log-odds", "logits", "probabilities")
RETURNS = ("logits", "probabilities")
PREDICTED = "predicted"
SMALLEST_PROBABILITY = 1e-30
MOST_NAMES = 5  # that a message lists


def kind_of(scores: Floats) -> Returns:
    """Return whether scores (n, k) are logits or, if they are positive and add up to 1, probabilities."""
    sums_to_one = scores.shape[1] > 1 and np.allclose(scores.sum(axis=1), 1.0, atol=1e-3)
    return "probabilities" if sums_to_one and (scores >= -1e-6).all() else "logits"


def check_kind(scores: Floats, returns: Returns) -> Returns:
    """Return ``returns``; raise an error if the scores of images (n, k) cannot be that."""
    if returns == "probabilities" and (scores.min() < -1e-6 or scores.max() > 1.0 + 1e-6):
        raise ValueError(
            f"the model does not return probabilities: its scores are from {scores.min():.4g} to {scores.max():.4g}; "
            "say returns='logits', or leave it out"
        )
    return returns


def on_scale(scores: Floats, classes: NDArray[np.int64], returns: Returns, scale: Scale) -> Floats:
    """Return the scores of chosen classes on a scale: (p, k) and (p, m) -> (p, m)."""
    logits = np.log(np.maximum(scores, SMALLEST_PROBABILITY)) if returns == "probabilities" else scores
    chosen = np.take_along_axis(logits, classes, axis=1)
    if scale == "logits":
        return chosen
    if logits.shape[1] == 1:  # of a binary classifier, whose logit is its log-odds
        odds = np.log(scores) - np.log1p(-scores) if returns == "probabilities" else scores
        return odds if scale == "log-odds" else 1.0 / (1.0 + np.exp(-odds))
    if scale == "probabilities" and returns == "probabilities":
        return np.take_along_axis(scores, classes, axis=1)
    rest = _log_sum_of_others(logits, classes)
    return chosen - rest if scale == "log-odds" else 1.0 / (1.0 + np.exp(rest - chosen))


def _log_sum_of_others(logits: Floats, classes: NDArray[np.int64]) -> Floats:
    """Return log Σ_{j≠c} exp z_j for each chosen class c, (p, m)."""
    sums = []
    for column in classes.T:
        others = logits.copy()
        np.put_along_axis(others, column[:, None], -np.inf, axis=1)
        largest = others.max(axis=1, keepdims=True)
        sums.append(largest[:, 0] + np.log(np.exp(others - largest).sum(axis=1)))
    return np.stack(sums, axis=1)


def class_positions(output: Output, scores: Floats, names: Sequence[str] | None) -> NDArray[np.int64]:
    """Return the positions of the classes to explain for each image, (n, m), given the images' scores (n, k)."""
    n, k = scores.shape
    if isinstance(output, str) and output == PREDICTED:
        return scores.argmax(axis=1)[:, None]
    several = list(output) if isinstance(output, list | tuple | np.ndarray) else [output]
    if not several:
        raise ValueError("output must name at least one class, got none")
    return np.tile([_position(each, k, names) for each in several], (n, 1))


def _position(output: Any, k: int, names: Sequence[str] | None) -> int:
    if isinstance(output, str):
        return _named(output, names)
    if isinstance(output, bool) or not isinstance(output, int | np.integer):
        raise TypeError(f"output must be the position or the name of a class, or {PREDICTED!r}, got {output!r}")
    if not -k <= int(output) < k:
        raise ValueError(f"class {output} does not exist: the network has {k} classes, 0 to {k - 1}, or 'predicted'")
    return int(output) % k


def _named(name: str, names: Sequence[str] | None) -> int:
    """Return the position of a class by its name or, of names such as "tabby, tabby cat", by one of several."""
    if names is None:
        raise ValueError(f"class {name!r} is not known, since the classes have no names; pass them as class_names=")
    exact = [position for position, each in enumerate(names) if each == name]
    found = exact or [position for position, each in enumerate(names) if name.lower() in synonyms(each)]
    if len(found) > 1:
        raise ValueError(f"several classes are called {name!r}; choose one of the positions {found}")
    if not found:
        similar = [each for each in names if name.lower() in each.lower()] or list(names)
        listed = ", ".join(repr(each) for each in similar[:MOST_NAMES])
        raise ValueError(f"class {name!r} does not exist; there are {len(names)} classes, such as {listed}")
    return found[0]


def synonyms(name: str) -> list[str]:
    """Return the names in a name such as "tabby, tabby cat", in lower case."""
    return [part.strip().lower() for part in name.split(",")]


def short_name(name: str) -> str:
    """Return the first of several names, as in "tabby" for "tabby, tabby cat"."""
    return name.split(",", maxsplit=1)[0].strip()

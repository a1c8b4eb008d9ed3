"""The estimators of shap and shapiq, called with a game: bool coalitions (m, d) -> (m,).

Each estimator gets the number of distinct coalitions that it may evaluate, v(∅) and v(N) included, and its best
documented options: pairs (a coalition and its complement) where they help, interactions of order three for PolySHAP
with up to 30 players, no regularisation, and a correction of ProxySHAP by the residuals of its model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sharpley._support.typing import Floats
from sharpley_experiments.common.constants import revision_of
from sharpley_experiments.common.versions import with_version

MAX_POLYSHAP_TERMS = 5000

PlainFunction: TypeAlias = Callable[[Any], Floats]
Peer: TypeAlias = Callable[[PlainFunction, int, int, int], Floats]
"""(game, d, budget, seed) -> Shapley values (d,)."""


def _shap_permutation(game: PlainFunction, d: int, budget: int, seed: int) -> Floats:
    import shap

    masker = shap.maskers.Independent(np.zeros((1, d)))
    explainer = shap.PermutationExplainer(lambda x: game(np.asarray(x) > 0.5), masker, seed=seed)
    return np.asarray(explainer(np.ones((1, d)), max_evals=budget, silent=True).values[0])


def _shap_kernel(game: PlainFunction, d: int, budget: int, seed: int) -> Floats:
    import shap

    np.random.seed(seed)  # noqa: NPY002 (the explainer uses numpy's global state)
    explainer = shap.KernelExplainer(lambda x: game(np.asarray(x) > 0.5), np.zeros((1, d)))
    return np.asarray(explainer.shap_values(np.ones((1, d)), nsamples=budget - 2, l1_reg=False, silent=True)[0])


class Shapiq(NamedTuple):
    """One of shapiq's estimators: its options, and a library that it cannot do without."""

    options: Callable[[int], dict[str, Any]]
    """Options for a number of players."""
    library: str = "shapiq"


def _shapiq(name: str) -> Peer:
    def estimate(game: PlainFunction, d: int, budget: int, seed: int) -> Floats:
        import shapiq.approximator

        np.random.seed(seed)  # noqa: NPY002 (SPEX uses numpy's global state)
        approximator = getattr(shapiq.approximator, name)(n=d, random_state=seed, **SHAPIQ[name].options(d))
        with _too_few() if name == "SPEX" else nullcontext():
            found = approximator.approximate(budget, lambda coalitions: game(np.asarray(coalitions, dtype=bool)))
        return _shapley_values(found, d)

    return estimate


def _shapley_values(found: Any, d: int) -> Floats:
    """Values of order one; those that a sparse estimator does not mention are 0."""
    values = np.zeros(d)
    for players, position in found.interaction_lookup.items():
        if len(players) == 1:
            values[players[0]] = found.values[position]
    return values


@contextmanager
def _too_few() -> Iterator[None]:
    """SPEX evaluates before anything else that its budget is too small, which depends on many things."""
    try:
        yield
    except ValueError as error:
        if "nsufficient budget" not in str(error):
            raise
        raise TooFewEvaluationsError(str(error)) from error


class TooFewEvaluationsError(ValueError):
    """A peer cannot estimate anything from so few evaluations."""


def _order(d: int) -> int:
    """Order of PolySHAP's interactions: 3 has lower errors than its default, 2, unless there are too many terms."""
    return 3 if d + comb(d, 2) + comb(d, 3) <= MAX_POLYSHAP_TERMS else 2


SHAPIQ = {
    "KernelSHAP": Shapiq(lambda d: {"pairing_trick": True}),
    "LeverageSHAP": Shapiq(lambda d: {}),
    "OddSHAP": Shapiq(lambda d: {}, "lightgbm"),
    "PolySHAP": Shapiq(lambda d: {"pairing_trick": True, "max_order": _order(d)}),
    "RegressionMSR": Shapiq(lambda d: {"index": "SV"}),
    "SVARM": Shapiq(lambda d: {}),
    "kADDSHAP": Shapiq(lambda d: {"pairing_trick": True}),
    "ProxySHAP": Shapiq(lambda d: {"index": "SV", "max_order": 1, "adjustment": True}, "xgboost"),
    "SPEX": Shapiq(lambda d: {"index": "SV", "max_order": 1}, "sparse_transform"),
    "ShaplEIG": Shapiq(lambda d: {"show_progress": False}, "botorch"),
}
"""In the order of tables, which is also that of their colours."""


def available_peers() -> dict[str, Peer]:
    """Return the peers that the installed libraries provide, by their names in tables."""
    peers: dict[str, Peer] = {"shap Permutation": _shap_permutation, "shap Kernel": _shap_kernel}
    if find_spec("shapiq") is None:
        return peers
    import shapiq.approximator

    return peers | {
        f"shapiq {name}": _shapiq(name)
        for name, peer in SHAPIQ.items()
        if hasattr(shapiq.approximator, name) and find_spec(peer.library) is not None
    }


def version_of(method: str) -> str:
    """Version that a stored result of a method depends on: that of its library, or the revision of our methods."""
    library = method.partition(" ")[0]
    return with_version(library) if library in ("shap", "shapiq") else revision_of(method)


def versions() -> str:
    """Versions of the installed libraries, for the report."""
    return ", ".join(map(with_version, ("shap", "shapiq", "lightgbm", "xgboost", "scikit-learn", "numpy")))

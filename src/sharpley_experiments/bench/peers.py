"""The estimators of shap and shapiq, called with a game: bool coalitions (m, d) -> (m,).

Each estimator gets the number of distinct coalitions that it may evaluate, v(∅) and v(N) included, and its best
documented options: pairs (a coalition and its complement) where they help, interactions of order three for PolySHAP
with up to 30 players, and no regularisation.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from math import comb
from typing import Any, TypeAlias

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


def _shapiq(name: str, *arguments: Any, **options: Any) -> Peer:
    def estimate(game: PlainFunction, d: int, budget: int, seed: int) -> Floats:
        import shapiq.approximator

        order = {"max_order": _order(d)} if name == "PolySHAP" else {}
        approximator = getattr(shapiq.approximator, name)(d, *arguments, random_state=seed, **options, **order)
        found = approximator.approximate(budget, lambda coalitions: game(np.asarray(coalitions, dtype=bool)))
        return np.asarray(found.get_n_order_values(1), dtype=np.float64)

    return estimate


def _order(d: int) -> int:
    """Order of PolySHAP's interactions: 3 has lower errors than its default, 2, unless there are too many terms."""
    return 3 if d + comb(d, 2) + comb(d, 3) <= MAX_POLYSHAP_TERMS else 2


SHAPIQ = {
    "KernelSHAP": ((), {"pairing_trick": True}),
    "LeverageSHAP": ((), {}),
    "OddSHAP": ((), {}),
    "PolySHAP": ((), {"pairing_trick": True}),
    "RegressionMSR": (("SV",), {}),
    "SVARM": ((), {}),
}


def available_peers() -> dict[str, Peer]:
    """Return the peers that the installed libraries provide, by their names in tables."""
    peers: dict[str, Peer] = {"shap Permutation": _shap_permutation, "shap Kernel": _shap_kernel}
    if find_spec("shapiq") is None:
        return peers
    import shapiq.approximator

    provided = {name: options for name, options in SHAPIQ.items() if hasattr(shapiq.approximator, name)}
    return peers | {
        f"shapiq {name}": _shapiq(name, *arguments, **options) for name, (arguments, options) in provided.items()
    }


def version_of(method: str) -> str:
    """Version that a stored result of a method depends on: that of its library, or the revision of our methods."""
    library = method.partition(" ")[0]
    return with_version(library) if library in ("shap", "shapiq") else revision_of(method)


def versions() -> str:
    """Versions of the installed libraries, for the report."""
    return ", ".join(map(with_version, ("shap", "shapiq", "lightgbm", "xgboost", "scikit-learn", "numpy")))

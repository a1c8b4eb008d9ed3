"""Every mechanism of the estimators that can be switched off, and how: by a setting, or by replacing a function.

A mechanism is named after what it does. ``off`` returns what has to be replaced: settings of "gp", options of
``sharpley.estimate``, and functions of modules. ``code`` names the functions, classes and modules that exist for the
mechanism alone, whose lines would go with it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

GP, OWN, ANY = "gp", "own draws", "any"
ROOT = "sharpley."


@dataclass(frozen=True)
class Mechanism:
    """Something that can be switched off.

    Attributes
    ----------
    name : str
        What it does.
    method : {"gp", "own draws", "any"}
        The runs that it takes part in.
    settings : mapping
        Settings of "gp" with which it is off.
    replaced : mapping
        Replacements of functions and constants, by "module:name", with which it is off.
    options : mapping
        Options of ``sharpley.estimate`` with which it is off (or, for what is off by default, on).
    code : tuple of str
        "module:name" of what exists for it alone, or "module".
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    replaced: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    code: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        """Number of lines of its code."""
        return sum(_lines(where) for where in self.code)

    @contextmanager
    def off(self) -> Iterator[None]:
        """Switch the mechanism off, as far as that is done by replacing functions."""
        before = {where: _get(where) for where in self.replaced}
        for where, value in self.replaced.items():
            _set(where, value)
        try:
            yield
        finally:
            for where, value in before.items():
                _set(where, value)


def _owner(where: str) -> tuple[Any, str]:
    module, _, path = where.partition(":")
    owner: Any = importlib.import_module(ROOT + module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return owner, name


def _get(where: str) -> Any:
    owner, name = _owner(where)
    return getattr(owner, name)


def _set(where: str, value: Any) -> None:
    owner, name = _owner(where)
    setattr(owner, name, value)


def _lines(where: str) -> int:
    target = _get(where) if ":" in where else importlib.import_module(ROOT + where)
    if isinstance(target, ModuleType):
        return len(inspect.getsource(target).splitlines())
    return len(inspect.getsource(inspect.unwrap(getattr(target, "fget", None) or target)).splitlines())


def _no_squares(*arguments: Any) -> Any:
    return np.zeros_like(arguments[1])


def _random_choice(seen: Any, pool: Any, scales: Any, count: int, measure: Any) -> Any:
    return pool[np.random.default_rng(len(seen.signs)).permutation(len(pool))[:count]]


def _without_complements(function: Callable[..., Any]) -> Callable[..., Any]:
    from sharpley.coalitions.store import coalition_keys, unseen

    def candidates(d: int, known: Any, rng: Any, count: int) -> Any:
        pool = function(d, known, rng, count)
        return pool[unseen(pool, set(coalition_keys(~known)))]

    return candidates


def _without(field_name: str, of_game: Any) -> Callable[..., Any]:
    """Return a function of two sets of coalitions whose parts of the kernel lack one field."""

    def parts(*arguments: Any) -> Any:
        found = of_game(*arguments)
        return found._replace(**{field_name: np.zeros_like(getattr(found, field_name))})

    return parts


def _in_modules(name: str, value: Any, *modules: str) -> dict[str, Any]:
    return {f"estimators.gp.{module}:{name}": value for module in modules}


def _keep(moments: Any, *_: Any) -> Any:
    return moments


def _only_scores(own_features: Callable[..., Any]) -> Callable[..., Any]:
    def features(*arguments: Any, **options: Any) -> Any:
        found, means = own_features(*arguments, **options)
        count = 1 + arguments[0].scores.shape[1]
        return found[:, :count], means[:count]

    return features


def _no_products(own_features: Callable[..., Any]) -> Callable[..., Any]:
    def features(*arguments: Any, **options: Any) -> Any:
        found, means = own_features(*arguments, **options)
        n_scores = arguments[0].scores.shape[1]
        n_numbers = 0 if options.get("numbers") is None else options["numbers"].shape[1]
        extra = found.shape[1] - 1 - n_scores - n_numbers
        kept = found.shape[1] - extra // 2 if n_scores and extra else found.shape[1]
        return found[:, :kept], means[:kept]

    return features


def _in_random_order(self: Any, d: int, rng: np.random.Generator) -> Any:
    return rng.permutation(self.n_draws)


def _no_second_visits(self: Any, count: int) -> int:
    return 0


def _no_shared_bins(self: Any, row_columns: Any, player: int) -> Any:
    return np.full(len(row_columns), _get("estimators.draws.controls:NO_BIN"))


def mechanisms() -> tuple[Mechanism, ...]:
    """Return all mechanisms."""
    fixed_parts, candidates = _get("estimators.gp.kernel:fixed_parts"), _get("estimators.gp.designs:candidates")
    own_features = _get("estimators.draws.survey:own_features")
    return (
        Mechanism("everything on", ANY),
        Mechanism(
            "hyperparameters of single games",
            GP,
            settings={"refitted_games": 1},
            code=("estimators.gp.many:sets_of_scales",),
        ),
        Mechanism(
            "size effects",
            GP,
            replaced=_in_modules("fixed_parts", _without("sizes", fixed_parts), "kernel", "learning"),
        ),
        Mechanism(
            "linear effects that vary with size",
            GP,
            replaced={"estimators.gp.kernel:_kappa": lambda d: np.zeros((d + 1, d + 1))},
            code=("estimators.gp.kernel:_index_of_slopes", "estimators.gp.kernel:_kappa"),
        ),
        Mechanism(
            "single coalitions",
            GP,
            settings={"most_single": 0, "paired_evals_per_player": 0},
            code=("estimators.gp.designs:Uncertainty",),
        ),
        Mechanism("pairs for hard games", GP, settings={"few_values": 0.0}, code=("estimators.gp.designs:Pairs",)),
        Mechanism(
            "single coalitions: chosen by information",
            GP,
            replaced={"estimators.gp.estimator:most_informative": _random_choice},
            code=("estimators.gp.designs:Uncertainty",),
        ),
        Mechanism(
            "single coalitions: complements among the candidates",
            GP,
            replaced={"estimators.gp.estimator:candidates": _without_complements(candidates)},
        ),
        Mechanism(
            "correction beyond most_pairs",
            GP,
            replaced={"estimators.gp.estimator:CORRECTION_PAIRS_PER_PLAYER": 10**9},
            code=("estimators.gp.estimator:_corrected",),
        ),
        Mechanism(
            "average with the regression",
            GP,
            replaced={"estimators.gp.estimator:_averaged": lambda phi, variances, linear: (phi, variances)},
            code=("estimators.gp.estimator:_averaged",),
        ),
        Mechanism(
            "error bars: foreseen errors",
            GP,
            settings={"foreseen_share": 0.0, "foreseen_share_of_few": 0.0},
            code=("estimators.gp.posterior:foreseen_errors",),
        ),
        Mechanism(
            "unseen: a step",
            GP,
            replaced={"estimators.gp.posterior:mean_steps": lambda values: np.zeros(values.shape[1])},
            code=("coalitions.moments:mean_steps",),
        ),
        Mechanism(
            "unseen: squares of the regression",
            ANY,
            replaced={"estimators.pairs.regression:_unseen_squares": _no_squares},
            code=("estimators.pairs.regression:_unseen_squares",),
        ),
        Mechanism(
            "unseen: runs without any change",
            ANY,
            replaced={"engine.run:with_blind_errors": _keep},
            code=("engine.blind",),
        ),
        Mechanism(
            "unseen: players that few draws tell of",
            OWN,
            replaced={"estimators.draws.population:_unseen": lambda visited, ends: 0.0},
            code=("estimators.draws.population:_unseen",),
        ),
        Mechanism(
            "balanced weights of own coalitions",
            OWN,
            replaced={"estimators.pairs.regression:balanced_weights": lambda weights, *_: weights},
            code=("estimators.pairs.balance",),
        ),
        Mechanism(
            "survey regression",
            OWN,
            options={"unbiased": True},
            code=("estimators.draws.survey", "estimators.draws.controls"),
        ),
        Mechanism(
            "survey regression: second stage",
            OWN,
            replaced={"estimators.draws.survey:common_features": lambda *_: None},
            code=("estimators.draws.survey:common_features", "estimators.draws.survey:RidgeRegression"),
        ),
        Mechanism(
            "survey regression: bins of the player's column",
            OWN,
            replaced={"estimators.draws.survey:own_features": _only_scores(own_features)},
        ),
        Mechanism(
            "survey regression: products of bins and f(b)",
            OWN,
            replaced={"estimators.draws.survey:own_features": _no_products(own_features)},
        ),
        Mechanism(
            "survey regression: value shared with the row",
            OWN,
            replaced={"estimators.draws.controls:Controls.shared_bins": _no_shared_bins},
            code=("estimators.draws.controls:Controls.shared_bins",),
        ),
        Mechanism(
            "visits sorted by f(b)", OWN, replaced={"estimators.draws.population:Population.order": _in_random_order}
        ),
        Mechanism(
            "second visits",
            OWN,
            replaced={"estimators.draws.visits:Visits._again_of": _no_second_visits},
            code=("estimators.draws.visits:Visits._again_of",),
        ),
        Mechanism(
            "values add up",
            OWN,
            replaced={"estimators.draws.population:_adding_up": _keep},
            code=("estimators.draws.population:_adding_up",),
        ),
        Mechanism(
            "(surrogate)",
            OWN,
            options={"surrogate": "auto"},
            code=("estimators.draws.surrogate", "estimators.draws.assisted", "estimators.draws.coding"),
        ),
        Mechanism(
            "unseen: players that contributed the same in all orderings",
            "antithetic",
            replaced={"estimators.walks:unseen_variances": lambda contributions: np.zeros(contributions.shape[1:])},
            code=("statistics.unseen:unseen_variances",),
        ),
    )

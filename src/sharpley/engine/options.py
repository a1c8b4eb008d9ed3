"""The options of an estimate, written once: their types, their defaults and what they mean.

``estimate``, ``shapley_values``, the explainers and the command line take the same options. A function that takes them
as ``**options: Unpack[Options]`` and is decorated by ``documented`` shows all of them in its signature and, in place of
the line ``{options}``, in its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from sharpley._support.shap_names import hint
from sharpley._support.typing import RNG
from sharpley.engine.methods import Method
from sharpley.estimators.draws.surrogate import SurrogateChoice

F = TypeVar("F", bound=Callable[..., Any])
Draws: TypeAlias = Literal["auto", "shared", "own"]
"""What ``draws=`` accepts: all draws for every coalition ("shared"), or a draw for each ordering ("own").

With "regression", "own" means that every draw has coalitions of its own.
"""


class Limits(TypedDict, total=False):
    """What an estimate may spend, and how sure it has to be; every call of an explainer takes these."""

    max_evals: int | None
    max_predictions: int | None
    tol: float | None
    surrogate: SurrogateChoice
    progress: bool | None


class Options(Limits, total=False):
    """All options of an estimate; an explainer takes those that are no limits when it is made."""

    method: Method
    draws: Draws
    rng: RNG
    unbiased: bool
    independent_rows: bool
    n_jobs: int | None


DEFAULTS: dict[str, Any] = {"method": "auto", "draws": "auto", "unbiased": False, "independent_rows": False}
"""Defaults of the options; of all others, it is None."""

MEANINGS: dict[str, str] = {
    "method": """str or factory, default "auto"
    A name in ``sharpley.METHODS``, or a class of samplers or estimators, or a ``functools.partial`` of one. "auto"
    computes exact values of models that are sums of trees ("trees") or linear ("linear"). Else it enumerates all 2^d
    coalitions if the budget allows; otherwise it uses "gp", or "regression" where that would take long compared with
    the model (``sharpley.engine.auto`` has the rule). Every other method samples.""",
    "draws": """{"auto", "shared", "own"}, default "auto"
    Whether every coalition is evaluated for all draws ("shared"), or each ordering has a draw of its own ("own"); with
    "regression", the latter means that each draw has coalitions of its own. Draws are background rows, for instance.
    Either way, the mean over all draws is estimated.""",
    "max_evals": """int, optional
    Maximum number of distinct coalitions to evaluate for each game, v(∅) and v(N) included: 20 d + 2 by default,
    1000 d + 2 with ``tol``. Each unit buys one prediction for every draw, but at most 100 unless draws="shared".""",
    "max_predictions": """int, optional
    Maximum number of single draws to evaluate for each game, those of v(∅) and v(N) included. For a model, these are
    its predictions.""",
    "tol": """float, optional
    Stop evaluating a game once its largest standard error is at most ``tol`` times the range of its values.""",
    "surrogate": """"auto", tree regressor or None, default None
    A regressor that learns the games from what was evaluated anyway, so that orderings with their own draws only have
    to estimate what it misses; without effect on other methods. It costs some time, which pays if evaluations take
    more than about 0.1 ms. "auto" fits scikit-learn's HistGradientBoostingRegressor, and uses it for a row if that
    lowers the variance; a regressor that you give is always used.""",
    "progress": """bool, optional
    Whether to show a progress bar: by default on a terminal.""",
    "rng": """int, Generator, SeedSequence or None
    Source of randomness. The same seed gives the same results.""",
    "unbiased": """bool, default False
    Whether to use only methods whose mean over all random choices is the Shapley value. "gp" then becomes a control
    variate of orderings, with a larger error. Stopping by ``tol`` depends on the values and causes a small bias.""",
    "independent_rows": """bool, default False
    Whether the result of a row must not depend on which rows, and how many, are explained with it, to the last bit.
    Methods that learn from several rows, such as "gp", then learn from each by itself, which takes longer.""",
    "n_jobs": """int, optional
    Number of parallel workers of joblib's current backend; -1 for all cores. Results do not depend on it.""",
}
"""What the options mean, in the form of numpydoc."""


def summary(option: str) -> str:
    """Return the first sentence on an option, for the command line."""
    text = " ".join(MEANINGS[option].partition("\n")[2].split()).replace("``", "")
    return text.partition(". ")[0].rstrip(".") + "."


def documented(options: type[Limits], *, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Return a decorator that shows the options of a function in its signature, and in place of ``{options}``."""
    names = [name for name in MEANINGS if name in options.__annotations__ and name not in without]

    def decorate(function: F) -> F:
        given = inspect.signature(function)
        own = [each for each in given.parameters.values() if each.kind is not each.VAR_KEYWORD]
        types = {name: getattr(options.__annotations__[name], "__forward_arg__", "") for name in names}
        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=types[name])
            for name in names
        ]
        function.__signature__ = given.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]
        text = function.__doc__ or ""
        line = next(line for line in text.splitlines() if line.strip() == "{options}")
        indent = line[: -len("{options}")]
        entries = "\n".join(f"{name} : {MEANINGS[name]}" for name in names)
        function.__doc__ = text.replace(line, "\n".join(indent + each for each in entries.splitlines()))
        return function

    return decorate


def check_options(
    given: Mapping[str, Any], options: type[Limits], function: str, hints: Mapping[str, str] | None = None
) -> None:
    """Raise an error that names the options of a function if it was given another one.

    ``hints`` says what to write instead of names that people know from elsewhere.
    """
    for name in given:
        if name not in options.__annotations__:
            instead = hint(name, dict(hints or {})) or f"; its options are {', '.join(options.__annotations__)}"
            raise TypeError(f"{function}() has no argument {name!r}{instead}")

"""What explainers with shap's maskers share: shap packs the results of rows, a row is explained here."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import shap

from sharpley._support.checks import check_count
from sharpley._support.typing import Floats
from sharpley.adapters.shap.clustering import TreeOrderings, owen_coalitions, owen_values
from sharpley.adapters.shap.masked import MaskedGame, mask_shapes, n_players
from sharpley.engine.methods import Method
from sharpley.estimation import estimate
from sharpley.estimators.walks import least_budget
from sharpley.games.base import Games
from sharpley.games.linked import LinkedGames, as_link
from sharpley.games.marginal.calls import find_call
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import KnownBackground
from sharpley.games.marginal.shap_background import named_rows
from sharpley.result import ShapleyEstimate

DEFAULTS: dict[str, Any] = {
    "max_evals": 500,
    "main_effects": False,
    "error_bounds": False,
    "batch_size": "auto",
    "outputs": None,
    "silent": False,
}
"""The arguments of a call, and shap's defaults."""


class MaskerExplainer(shap.Explainer):  # type: ignore[misc]
    """Base class of the explainers with maskers.

    Subclasses have the parameters of shap's explainers, and pass the arguments of calls to ``_explain``.
    """

    model: Any
    masker: Any
    feature_names: Any

    def __init__(
        self,
        model: Any,
        masker: Any,
        link: Any,
        linearize_link: bool,
        feature_names: Any,
        *,
        method: Method,
        call_args: dict[str, Any],
        seed: Any = 0,
    ) -> None:
        if masker is None:
            raise ValueError("masker must not be None; pass background data, or one of shap.maskers")
        if isinstance(masker, shap.maskers.Impute):
            raise TypeError("shap's Impute masker masks no rows (nor for shap); use shap.maskers.Independent(data)")
        if unknown := set(call_args) - set(DEFAULTS):
            raise TypeError(f"unknown arguments {sorted(unknown)}; those of a call are {list(DEFAULTS)}")
        chosen = link if link is not None else shap.links.identity
        if isinstance(chosen, str):
            chosen = {"identity": shap.links.identity, "logit": shap.links.logit}.get(chosen, chosen)
        function = model if callable(model) else find_call(model).function
        super().__init__(function, masker, link=chosen, linearize_link=linearize_link, feature_names=feature_names)
        if not isinstance(self.model, shap.models.Model):
            self.model = shap.models.Model(self.model)
        self.seed, self.method, self._call_args = seed, method, dict(call_args)
        self._estimates: list[ShapleyEstimate] = []
        self._known = KnownBackground(watch=False)

    @property
    def expected_value(self) -> Any:
        """The base value: link of the mean prediction for the background; with other maskers, that of the last call."""
        if isinstance(self.masker, shap.maskers.Independent):
            rows = named_rows(self.masker)
            row = rows.iloc[0] if hasattr(rows, "iloc") else rows[0]
            base = self._games((row,), "auto", None).endpoints()[0, 0]
        elif self._estimates:
            base = np.mean([each.base_values for each in self._estimates], axis=0).reshape(-1)
        else:
            raise AttributeError("the base value depends on the sample behind this masker; explain one first")
        return float(base[0]) if len(base) == 1 else base

    def _explain(self, inputs: tuple[Any, ...], given: dict[str, Any]) -> Any:
        """Explain samples, with the arguments of a call or their defaults."""
        options = DEFAULTS | self._call_args | {name: value for name, value in given.items() if value is not None}
        main_effects = options.pop("main_effects")  # shap 0.51 loses this argument on the way
        self._estimates, given_names = [], self.feature_names
        self._known = KnownBackground(watch=False)  # for all rows of this call
        self.feature_names = self._names_of_inputs(inputs)
        try:
            found = super().__call__(*inputs, **options, wants_main_effects=main_effects)
        finally:
            self.feature_names = given_names
        return self._with_bounds(found)

    def _names_of_inputs(self, inputs: tuple[Any, ...]) -> Any:
        """Return the names of features; those of tables behind a composite masker, which shap 0.51 does not find."""
        tables = all(np.ndim(each) == 2 for each in inputs)
        if self.feature_names is not None or not hasattr(self.masker, "maskers") or not tables:
            return self.feature_names
        return [[f"Feature {j}" for j in range(np.shape(each)[1])] for each in inputs]

    def _with_bounds(self, found: Any) -> Any:
        """Add confidence limits, which shap's waterfall draws, if there is one table of values for all rows."""
        if isinstance(found, list) or not isinstance(found.values, np.ndarray) or found.values.dtype == object:
            return found
        limits = [each.interval() for each in self._estimates]
        lower, upper = (np.reshape([pair[side] for pair in limits], found.values.shape) for side in (0, 1))
        kept = ("base_values", "data", "feature_names", "output_names", "error_std", "main_effects", "clustering")
        parts = {name: getattr(found, name) for name in (*kept, "compute_time")}
        return shap.Explanation(found.values, **parts, lower_bounds=lower, upper_bounds=upper)

    def explain_row(
        self, *row_args: Any, max_evals: Any, batch_size: Any, outputs: Any, wants_main_effects: bool, **_: Any
    ) -> dict[str, Any]:
        """Explain one sample, and return what shap's base class collects."""
        clustering = self._clustering(row_args)
        games = self._games(row_args, batch_size, clustering)
        d = int(games.varying().sum())
        budget = 20 * games.d if isinstance(max_evals, str) else check_count("max_evals", max_evals, minimum=2)
        found = self._estimate(games, d, budget - d if wants_main_effects else budget, clustering)
        effects = main_effects(games, found.base_values) if wants_main_effects else None
        found, effects, chosen = _choose(found, effects, outputs)
        self._estimates.append(found)
        return {
            "values": found.values,
            "expected_values": found.base_values,
            "mask_shapes": mask_shapes(self.masker, row_args),
            "main_effects": effects,
            "clustering": clustering,
            "error_std": found.standard_errors,
            "output_indices": chosen,
            "output_names": _names(getattr(self.model, "output_names", None), chosen),
        }

    def _estimate(self, games: Games, d: int, budget: int, clustering: Any) -> ShapleyEstimate:
        """Estimate Shapley values or, in a tree of players, Owen values: exactly if the budget allows."""
        if clustering is None or len(clustering) == 0:
            budget = min(budget, 2 ** min(d, 62)) if d > 1 else budget
            # A row that is one of many: "auto" must not take seconds of its own for each of them.
            found = estimate(
                games, method=self.method, max_evals=budget, rng=self.seed, independent_rows=True, progress=False
            )
            return found.row(0)
        if (exact := owen_coalitions(clustering, budget)) is not None:
            return _exact_owen(games, *exact)
        if budget < (least := least_budget(d, step=1)):
            needs = f"it needs at least {least}, and {d} more for main effects"
            raise ValueError(f"max_evals is too small for a tree of {d} players: {needs}")
        # One pair would have no standard error; where the budget does not pay for two, two single orderings have one.
        tree = partial(TreeOrderings, clustering=np.asarray(clustering), paired=budget >= least_budget(d, step=2))
        return estimate(games, method=tree, max_evals=budget, rng=self.seed, progress=False).row(0)

    def _games(self, inputs: tuple[Any, ...], batch_size: Any, clustering: Any) -> Games:
        """Return the game of one sample: that of background rows if the masker has them, and else of masked samples."""
        link = as_link(self.link)
        linearize = bool(self.linearize_link) and link is not None
        if isinstance(self.masker, shap.maskers.Independent) and not linearize:
            rows = named_rows(self.masker)
            size = None if isinstance(batch_size, str) else int(batch_size) * len(rows)
            game = MarginalGame(self.model, rows, inputs[0], batch_size=size, known=self._known)
            return game if link is None else LinkedGames(game, link)
        return MaskedGame(
            self.model,
            self.masker,
            inputs,
            link=link,
            linearize=linearize,
            batch_size=batch_size,
            all_vary=clustering is not None,
        )

    def _clustering(self, inputs: tuple[Any, ...]) -> Any:
        """Return the tree of the players of a sample, if the masker has one; that of a single player has no nodes."""
        parts = getattr(self.masker, "maskers", [self.masker])  # those of a composite
        if all(getattr(part, "clustering", None) is None for part in parts):
            return None
        if n_players(self.masker, inputs) < 2:
            return np.zeros((0, 4))
        clustering = self.masker.clustering
        return clustering(*inputs) if callable(clustering) else clustering


def _exact_owen(games: Games, coalitions: Any, positions: Any) -> ShapleyEstimate:
    values = np.asarray(games(coalitions)).reshape(len(coalitions), -1)
    owen = owen_values(values, positions)
    empty = values[np.flatnonzero(~coalitions.any(axis=1))[0]]
    exact = ShapleyEstimate(
        owen, np.zeros_like(owen), empty, len(coalitions), "exact", True, np.full_like(owen, np.inf)
    )
    return exact[..., 0] if owen.shape[1] == 1 else exact


def main_effects(games: Games, base_values: Floats) -> Floats:
    """Return v({i}) − v(∅) for each player, (d,) or (d, k); players that cannot matter cost nothing."""
    varying = np.flatnonzero(games.varying()[0])
    alone = np.zeros((len(varying), games.d), dtype=bool)
    alone[np.arange(len(varying)), varying] = True
    effects = np.zeros((games.d, *np.shape(base_values)))
    if len(varying):
        effects[varying] = np.asarray(games(alone)) - base_values
    return effects


def _choose(found: ShapleyEstimate, effects: Any, outputs: Any) -> tuple[ShapleyEstimate, Any, Any]:
    """Restrict results to some outputs: positions, or an operation such as ``shap.Explanation.argsort.flip[:3]``."""
    if found.values.ndim == 1:
        return found, effects, None
    if outputs is None:
        return found, effects, np.arange(found.values.shape[1])
    if hasattr(outputs, "apply"):
        outputs = outputs.apply(shap.Explanation(found.base_values + found.values.sum(axis=0))).values
    chosen = [int(output) for output in np.atleast_1d(outputs)]
    return found[:, chosen], None if effects is None else effects[:, chosen], np.array(chosen)


def _names(names: Any, chosen: Any) -> Any:
    if names is None or callable(names) or chosen is None:
        return names
    return [names[output] for output in chosen]

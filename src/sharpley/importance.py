"""Global importance: which features a model's quality, or its predictions, rest on, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_count, check_flag, stacklevel_outside
from sharpley._support.typing import RNG, Floats
from sharpley.coalitions.moments import Moments
from sharpley.engine.evaluation import evaluate
from sharpley.engine.progress import Progress, progress_bar
from sharpley.engine.stopping import meets
from sharpley.estimators.visits import (
    Controls,
    VisitRequest,
    Visits,
    make_orderings,
    mean_over_rows,
    visited_rows,
    visiting_order,
)
from sharpley.games.loss import VISIT_ROWS, LossFunction, LossGame
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import REPEATED_ROWS
from sharpley.games.marginal.outputs import Output
from sharpley.indices import SHAPLEY
from sharpley.result.importance import Importance, cohorts_of, importance_of_values

VISITS_OF_ROW = 16  # for mean |φ|, where all rows can have them: the bias that is left is then below 2%
FEWEST_VISITS = 8  # otherwise: as many rows as possible with a few visits each are best
FIRST_VISITS = 200  # after which a tolerance is first checked
GROWTH = 1.5
LEAST_VISITS = 32  # for errors, of each cohort
DEFAULT_VISITS = 4000
WITH_TOLERANCE = 50  # times as many visits are the limit if there is a tolerance
COLUMN_BINS = 8
SEEN_BIAS = 0.05  # of the total, from which on a bias of the loss is reported
ROWS_FOR_BIAS = 20_000  # visits from which the bias is measured; they need no predictions


def importance(
    model: Any,
    X: Any,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    loss: str | LossFunction | None = None,
    background: Any = None,
    by: Any = None,
    absolute: bool = True,
    visit_rows: int = VISIT_ROWS,
    groups: Mapping[str, Any] | None = None,
    output: Output | None = None,
    max_predictions: int | None = None,
    tol: float | None = None,
    rng: RNG = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    progress: bool | None = None,
) -> Importance:
    """Estimate how important features are for the quality of a model, or for its predictions, with intervals.

    With ``y``, importance is how much of the model's loss a feature removes: the Shapley values of the game
    v(S) = −E ℓ(mean over b of f(x_S, b), y) (SAGE). Without, it is the mean size of the feature's Shapley values.

    Parameters
    ----------
    model : callable, or object with ``predict_proba``, ``decision_function`` or ``predict``
        As for ``Explainer``.
    X : (rows, columns) array, pandas or polars DataFrame, or scipy sparse matrix
        Rows of data, best those that the model was not fitted to.
    y : (rows,), optional
        True values, or classes.
    loss : {"squared_error", "log_loss", "absolute_error"} or callable, optional
        The loss, with ``y``: "log_loss" for classifiers and "squared_error" for all others by default. A callable maps
        true values and predictions, (n,) each, to n losses.
    background : optional
        Rows that absent features take their values from, as for ``Explainer``; X by default.
    by : (rows,) labels, or name of a column of X, optional
        Cohorts: importance is estimated in each, and ``difference`` compares them.
    absolute : bool, default True
        Without ``y``: whether to estimate means of sizes, or means of values.
    visit_rows : int, default 8
        With ``y``: number of background rows that a visit of a data row draws; the bias of losses that are not squared
        errors decreases with it.
    groups, output, n_jobs, batch_size, feature_names, output_names
        As for ``Explainer``. With ``y``, all outputs are used.
    max_predictions : int, optional
        Maximum number of predictions of the model in all. By default, 4,000 visits of rows; without ``y``, sixteen
        visits of every row. A visit needs 2 (d − 1) predictions, and eight times as many with ``y``.
    tol : float, optional
        With ``y``: stop once the largest of ``sampling_errors`` is at most ``tol`` times the range of the values.
    rng : int, Generator, SeedSequence or None
        Source of randomness. The same seed gives the same results.
    progress : bool, optional
        Whether to show a progress bar: by default on a terminal.

    Returns
    -------
    Importance
        ``values``, ``standard_errors``, ``interval()`` and ``to_frame()``; ``plotting.importance`` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> def model(x):
    ...     return 2 * x[:, 0] + x[:, 1]
    >>> by_loss = sharpley.importance(model, X, model(X), rng=0)  # removed squared error: 4 + 1 + 0, about
    >>> by_size = sharpley.importance(model, X, rng=0)  # mean |2 x|, mean |x|, 0, about
    >>> by_loss.names[by_loss.values.argmax()], by_size.names[by_size.values.argmin()]
    ('Feature 0', 'Feature 2')
    """
    labels = _labels(by, X)
    around = X if background is None else background
    common: dict[str, Any] = {"groups": groups, "batch_size": batch_size, "names": feature_names}
    common["output_names"] = output_names
    spend = _Spend(_checked_limit(max_predictions), tol, n_jobs, progress)
    if y is None:
        if loss is not None or tol is not None:
            raise ValueError("loss and tol need y; without y, importance is the mean of |φ|")
        games = MarginalGame(model, around, X, output=output, **common)
        return _by_size(games, labels, np.random.default_rng(rng), spend, absolute=check_flag("absolute", absolute))
    if output is not None:
        raise ValueError(f"output={output!r} has no meaning with y: the loss is that of all outputs")
    generator = np.random.default_rng(rng)
    game = LossGame(model, around, X, y, loss=loss, visit_rows=visit_rows, rng=generator, **common)
    return _by_loss(game, labels, generator, spend)


class _Spend(NamedTuple):
    """What may be spent, and how."""

    max_predictions: int | None
    tol: float | None
    n_jobs: int | None
    progress: bool | None


def _cost_of_background(games: MarginalGame) -> int:
    """Return how many predictions the background needs: one for each row, and a few twice, to notice random models."""
    return games.n_draws + min(REPEATED_ROWS, games.n_draws)


def _checked_limit(max_predictions: int | None) -> int | None:
    return None if max_predictions is None else check_count("max_predictions", max_predictions, minimum=1)


def _labels(by: Any, rows: Any) -> Any:
    """Return labels of cohorts, which may be the name of a column of a frame."""
    if isinstance(by, str):
        if not hasattr(rows, "columns") or by not in list(rows.columns):
            raise ValueError(f"by={by!r} is not a column of X; give one label for each row")
        return np.asarray(rows[by])
    return None if by is None else np.asarray(by)


def _by_loss(game: LossGame, labels: Any, rng: np.random.Generator, spend: _Spend) -> Importance:
    """Estimate the importance by loss of every cohort."""
    cohorts, members = cohorts_of(labels, game.n_data)
    d, ends = game.d, game.n_data + _cost_of_background(game.predictions)
    per_visit = max(1, 2 * (d - 1) * game.visit_rows)
    most = DEFAULT_VISITS * (1 if spend.tol is None else WITH_TOLERANCE)
    if spend.max_predictions is not None:
        most = (spend.max_predictions - ends) // per_visit
    counts = [int(most * len(rows) / game.n_data) for rows in members]
    if min(counts) < LEAST_VISITS:
        needed = ends + per_visit * -(-LEAST_VISITS * game.n_data // min(len(rows) for rows in members))
        raise ValueError(
            f"max_predictions={spend.max_predictions} is too small for {d} features, {game.n_data} rows and "
            f"{len(members)} cohorts: at least {needed} are needed"
        )
    _say_bias(game)
    found = []
    with progress_bar(spend.progress, sum(counts) * 2 * (d - 1), is_limit=spend.tol is not None) as bar:
        for number, (rows, count) in enumerate(zip(members, counts, strict=True)):
            found.append(_Cohort(game, rows, rng.spawn(1)[0], number * 2**30).estimate(count, spend, bar))
    arrays = [np.stack([getattr(each, name) for each in found]) for name in _Found._fields[:5]]
    is_one = cohorts is None
    visits = sum(each.visits for each in found)
    if not all(each.converged for each in found):
        warnings.warn(
            f"the tolerance {spend.tol:g} was not met with {visits} visits; raise max_predictions, or tol",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )
    name = game.loss if isinstance(game.loss, str) else getattr(game.loss, "__name__", "loss")
    values, errors, sampling, freedom, sampling_freedom = (array[0] if is_one else array for array in arrays)
    return Importance(
        *(values, errors, sampling, freedom, sampling_freedom),
        names=list(game.player_names or []),
        measure=f"removed {name.replace('_', ' ')}",
        n_rows=game.n_data if is_one else np.array([len(rows) for rows in members]),
        n_predictions=ends + visits * 2 * (d - 1) * game.visit_rows,
        converged=all(each.converged for each in found),
        cohorts=cohorts,
    )


def _say_bias(game: LossGame) -> None:
    """Measure how biased the corrected loss of visits is where it is most, at ∅, and warn if it is seen."""
    n, visits = game.n_data, ROWS_FOR_BIAS
    rows = np.arange(visits) % n
    numbers = 2**60 // n + np.arange(visits) // 16  # a few orders of the background, which no visit has
    draws = rows + n * numbers
    exact_empty, exact_full = (part.mean() for part in game.ends_of_rows)
    biases = game.ends_of(draws)[0] - game.ends_of_rows[0][rows]
    groups = biases[: visits - visits % 50].reshape(50, -1).mean(axis=1)
    bias, error = float(groups.mean()), float(groups.std(ddof=1) / np.sqrt(50))
    if abs(bias) > max(3.0 * error, SEEN_BIAS * abs(float(exact_full - exact_empty))):
        warnings.warn(
            f"the loss of {game.visit_rows} background rows is biased by {-bias:.3g} ± {error:.1g} for the empty "
            f"coalition, of {float(exact_full - exact_empty):.3g} that all features remove; a larger visit_rows "
            "lowers the bias, and 'squared_error' has none",
            RuntimeWarning,
            stacklevel=stacklevel_outside(),
        )


class _Found(NamedTuple):
    """The importance in one cohort."""

    values: Floats
    standard_errors: Floats
    sampling_errors: Floats
    degrees_of_freedom: Floats
    sampling_degrees: Floats
    visits: int
    converged: bool


class _Cohort:
    """Visits of the rows of one cohort, and the importance that they show."""

    def __init__(self, game: LossGame, rows: NDArray[np.int64], rng: np.random.Generator, first: int) -> None:
        self._game, self._rows, self._rng, self._first = game, rows, rng, first
        self._empty, self._full = (part[rows] for part in game.ends_of_rows)
        self._order = visiting_order(self._full - self._empty, rng)
        self._places = np.empty(0, dtype=np.int64)
        self._contributions = np.empty((0, game.d))
        self._columns = _Columns(game, rows)

    def estimate(self, most: int, spend: _Spend, bar: Progress) -> _Found:
        """Visit rows until the tolerance is met, or the budget spent."""
        before, looks, count = None, 0, most if spend.tol is None else min(most, FIRST_VISITS)
        while True:
            self._visit(count, spend, bar)
            found, looks = self._look(), looks + 1
            if spend.tol is None:
                return found
            moments = Moments(*(part[None, :, None] for part in (found[0], found[2] ** 2, found[4])))
            if meets(moments, before, spend.tol, n_looks=looks, n_evals=count):
                return found
            if count == most:
                return found._replace(converged=False)
            before, count = moments, min(most, int(GROWTH * count))

    def _visit(self, count: int, spend: _Spend, bar: Progress) -> None:
        """Extend the visits to a given number."""
        game, done = self._game, len(self._places)
        places = visited_rows(self._order, count)[done:]
        draws = self._rows[places] + game.n_data * (self._first + np.arange(done, count))
        visits = Visits(np.zeros(len(draws), dtype=np.int64), draws, make_orderings(len(draws), game.d, self._rng))
        request = VisitRequest(visits)
        values = evaluate(game, np.arange(1), request, n_jobs=spend.n_jobs, advance=bar.advance)
        empty, full = game.ends_of(draws)
        fresh = request.contributions(values, empty[:, None], full[:, None])[..., 0]
        self._contributions = np.concatenate([self._contributions, fresh])
        self._places = np.concatenate([self._places, places])

    def _look(self) -> _Found:
        """Estimate the importance from all visits."""
        game, places = self._game, self._places
        numbers = self._first + np.arange(len(places))
        shift = game.ends_of(self._rows[places] + game.n_data * numbers)[0] - self._empty[places]
        controls = self._columns.controls(places, game.subset(numbers), shift)
        mean = mean_over_rows(self._contributions, places, len(self._rows), controls)
        total = float((self._full - self._empty).mean())
        share = mean.of_rows / mean.of_rows.sum() if mean.of_rows.sum() > 0 else np.zeros(game.d)
        values = mean.values + share * (total - mean.values.sum())
        freedom = np.full(game.d, max(1.0, len(np.unique(places)) - 1.0))
        errors = np.sqrt(mean.of_rows + mean.between), np.sqrt(mean.of_rows)
        return _Found(values, *errors, freedom, mean.degrees_of_freedom, len(places), True)


class _Columns:
    """Features of visits whose means are known: of data rows over all rows, of backgrounds over all backgrounds.

    For a model that is a sum of functions of single features, the contribution of a feature to a squared error is the
    change of the prediction times the sum of the errors before and after. So the features of a visit are the row's gain
    and errors with and without all features, the ranks of the player's columns in row and background, and the products
    of ranks and errors.
    """

    def __init__(self, game: LossGame, rows: NDArray[np.int64]) -> None:
        facts = game.predictions.draw_facts()
        self._d, self._players = game.d, facts.players
        empty, full = (part[rows] for part in game.ends_of_rows)
        slopes = [_slopes(game, rows, end) for end in (0, 1)]
        self._rows = np.stack([full - empty, full, *slopes], axis=1)
        self._row_ranks = _ranks(facts.row_columns[rows], facts.columns)
        self._ranks = _ranks(facts.columns, facts.columns)

    def controls(self, places: NDArray[np.int64], subset: NDArray[np.int64], shift: Floats) -> list[Controls]:
        """Return the features of each player for visits of rows (n,) with background rows (n, m)."""
        ones, of_row = np.ones(len(places)), self._rows[places]
        means = self._rows.mean(axis=0)
        slopes, found = [2, 3], []
        for player in range(self._d):
            columns, known = [ones, of_row[:, 0], shift, of_row[:, 1]], [1.0, means[0], 0.0, means[1]]
            for column in np.flatnonzero(self._players == player)[:4]:
                of_background = self._ranks[subset, column].mean(axis=1) - self._ranks[:, column].mean()
                own = self._row_ranks[:, column]
                columns += [of_background, *(of_background * of_row[:, slope] for slope in slopes)]
                known += [0.0, 0.0, 0.0]
                row_features = [own, *(own * self._rows[:, slope] for slope in slopes), own**2]
                columns += [feature[places] for feature in row_features]
                known += [float(feature.mean()) for feature in row_features]
            found.append(Controls(np.stack(columns, axis=1), np.array(known)))
        return found


def _slopes(game: LossGame, rows: NDArray[np.int64], end: int) -> Floats:
    """Return how far the loss of each row falls with its prediction at ∅ or N: ± the root of the loss, (n,)."""
    loss = -game.ends_of_rows[end][rows]
    other = game.outputs[rows, end]
    error = (other - game.targets.numbers[rows]).sum(axis=1)
    if game.targets.classes is not None and other.shape[1] > 1:
        error = other[:, -1] - game.targets.numbers[rows, -1]
    return np.asarray(np.sign(error) * np.sqrt(np.abs(loss)))


def _ranks(values: NDArray[Any], among: NDArray[Any]) -> Floats:
    """Return the ranks of columns (n, q) among others, from −1 to 1; missing values are largest."""
    found = np.empty(values.shape)
    for column in range(values.shape[1]):
        every = np.sort(among[:, column].astype(np.float64))
        mine = values[:, column].astype(np.float64)
        low, high = np.searchsorted(every, mine, side="left"), np.searchsorted(every, mine, side="right")
        found[:, column] = (low + high) / len(every) - 1.0
    return found


def _by_size(
    games: MarginalGame, labels: Any, rng: np.random.Generator, spend: _Spend, *, absolute: bool
) -> Importance:
    """Estimate means of |φ| or φ from a few visits of as many rows as possible."""
    cohorts_of(labels, games.n_rows)  # an error now, if there are not as many labels
    names, background = list(games.player_names or []), _cost_of_background(games)
    exact = games.closed_form(SHAPLEY)
    if exact is not None:
        values, output_names = exact.values, games.output_names
        return _of_values(values, np.zeros_like(values), names, output_names, absolute=absolute, by=labels)
    d, n = games.d, games.n_rows
    visits, count = _visits_of_rows(spend.max_predictions, n, background, 2 * (d - 1))
    ends = games.endpoints()
    chosen = np.sort(visiting_order(ends[:, 1].mean(axis=1), rng)[:count])
    rows = np.repeat(chosen, visits)
    draws = _balanced_draws(games, len(rows), rng)
    request = VisitRequest(Visits(rows, draws, make_orderings(len(rows), d, rng)))
    with progress_bar(spend.progress, len(request)) as bar:
        values = evaluate(games, np.arange(n), request, n_jobs=spend.n_jobs, advance=bar.advance)
    facts = games.draw_facts()
    contributions = request.contributions(values, facts.empty[draws], ends[rows, 1])
    found, errors = _of_rows(contributions, draws, games, ends[chosen], visits)
    found_by = None if labels is None else labels[chosen]
    unvisited, cost = 1.0 - count / n, background + n + len(request)
    return _of_values(
        *(found, errors, names, games.output_names), absolute=absolute, by=found_by, unvisited=unvisited, cost=cost
    )


def _of_values(
    values: Floats,
    errors: Floats,
    names: list[str],
    output_names: list[str] | None,
    *,
    absolute: bool,
    by: Any,
    unvisited: float = 0.0,
    cost: int | None = None,
) -> Importance:
    is_one = values.shape[2] == 1
    shown = (values[..., 0], errors[..., 0]) if is_one else (values, errors)
    return importance_of_values(
        *shown,
        names,
        absolute=absolute,
        by=by,
        unvisited=unvisited,
        n_predictions=cost,
        output_names=None if is_one else output_names,
    )


def _balanced_draws(games: MarginalGame, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return background rows for visits, all of them equally often; by their weights if these differ."""
    n, weights = games.n_draws, games.draw_weights
    if weights is not None and np.ptp(weights) > 1e-12 / n:
        return rng.choice(n, size=count, p=weights)
    return np.concatenate([rng.permutation(n) for _ in range(-(-count // n))])[:count]


def _visits_of_rows(limit: int | None, n: int, background: int, cost: int) -> tuple[int, int]:
    """Return how often how many of n rows are visited, if every visit needs ``cost`` predictions."""
    if limit is None or cost == 0:
        return VISITS_OF_ROW, n
    left = limit - background - n
    visits = left // (n * cost)
    if visits >= FEWEST_VISITS:
        return visits, n
    count = left // (FEWEST_VISITS * cost)
    if count < min(n, 2):
        needed = background + n + min(n, 2) * FEWEST_VISITS * cost
        raise ValueError(f"max_predictions={limit} is too small for {n} rows: at least {needed} are needed")
    return FEWEST_VISITS, count


def _of_rows(
    contributions: Floats, draws: NDArray[np.int64], games: MarginalGame, ends: Floats, m: int
) -> tuple[Floats, Floats]:
    """Return φ of every visited row and its standard error, (rows, d, k), from m visits of each, (rows · m, d, k).

    What the background row of a visit adds to the contributions in all rows alike is found by a regression over all
    visits, on f(b) and bins of the player's own columns, and subtracted: its mean over all background rows is 0.
    """
    facts, weights = games.draw_facts(), games.draw_weights
    shares = np.full(games.n_draws, 1.0 / games.n_draws) if weights is None else np.asarray(weights)
    k = contributions.shape[2]
    adjusted = contributions.copy()
    for player in range(games.d):
        features = _background_features(facts.empty, facts.columns[:, facts.players == player], shares)[draws]
        grouped = features.reshape(-1, m, features.shape[1])
        centred = (grouped - grouped.mean(axis=1, keepdims=True)).reshape(features.shape)
        values = contributions[:, player].reshape(-1, m, k)
        target = (values - values.mean(axis=1, keepdims=True)).reshape(-1, k)
        adjusted[:, player] -= features @ np.linalg.lstsq(centred, target, rcond=1e-8)[0]
    of_visits = adjusted.reshape(-1, m, games.d, k)
    values, variances = of_visits.mean(axis=1), of_visits.var(axis=1, ddof=1) / m
    sums = variances.sum(axis=1, keepdims=True)
    missing = (ends[:, 1] - ends[:, 0] - values.sum(axis=1))[:, None]
    values = values + np.where(sums > 0, variances / np.where(sums > 0, sums, 1.0), 0.0) * missing
    return values, np.sqrt(variances)


def _background_features(empty: Floats, columns: NDArray[Any], shares: Floats) -> Floats:
    """Return features of all background rows with mean 0, (n, q): predictions, and bins of some columns."""
    parts = [empty - shares @ empty]
    for column in columns.T[:4].astype(np.float64):
        limits = np.unique(np.nanquantile(column, np.arange(1, COLUMN_BINS) / COLUMN_BINS, method="nearest"))
        bins = np.searchsorted(limits, column, side="left")
        flags = (bins[:, None] == np.unique(bins)[1:]).astype(np.float64)
        ranks = _ranks(column[:, None], column[:, None])
        for part in (flags, ranks):
            parts.append(part - shares @ part)
    return np.concatenate(parts, axis=1)

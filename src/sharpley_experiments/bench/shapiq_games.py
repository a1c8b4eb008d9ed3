"""Games of shapiq that need no download, with few enough players that all their values can be kept.

They are what shapiq's own methods are compared on: synthetic games, values of training points and of parts of a data
set, selection of features and of the members of an ensemble, and explanations of models, of clusters and of
uncertainty. Their data come with scikit-learn or are drawn at random. Every game is one instance of its kind, with
fixed parameters; many of them are rough: steps, few distinct values, refitted models.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sharpley._support.typing import Coalitions, Floats
from sharpley_experiments.common.constants import SEED

PREFIX = "shapiq-"
LEAST_VERSION = (1, 8)
"""The first version of shapiq whose games are built in this way."""


class _Recipe(NamedTuple):
    """How a game is made."""

    d: int
    make: Callable[[], Any]


@lru_cache(maxsize=1)
def value_function(name: str) -> Callable[[Coalitions], Floats]:
    """Make a game, bool (m, d) -> (m,)."""
    _check_version()
    game = _RECIPES[name].make()
    if game.n_players != players_of(name):
        raise ValueError(f"{name} has {game.n_players} players instead of {players_of(name)}")
    return lambda coalitions: np.asarray(game(coalitions), dtype=np.float64)


def players_of(name: str) -> int:
    """Number of players of a game."""
    return _RECIPES[name].d


def _check_version() -> None:
    from importlib.metadata import PackageNotFoundError, version

    wanted = ".".join(map(str, LEAST_VERSION))
    advice = f"these games need shapiq {wanted} or later: pip install 'sharpley[peers]', on Python 3.12 or later"
    try:
        installed = version("shapiq")
    except PackageNotFoundError:
        raise ValueError(f"shapiq is not installed; {advice}") from None
    if tuple(map(int, installed.split(".")[:2])) < LEAST_VERSION:
        raise ValueError(f"shapiq {installed} is installed; {advice}")


class _Split(NamedTuple):
    """Data of scikit-learn, shuffled and split."""

    X: Floats
    y: Any
    X_test: Floats
    y_test: Any


def _split(name: str, n_train: int | None = None) -> _Split:
    """Load diabetes, wine or breast_cancer; by default half of the rows are for training."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    order = np.random.default_rng(SEED).permutation(len(bunch.data))
    table, labels = bunch.data[order] / bunch.data.std(axis=0), bunch.target[order]
    cut = len(table) // 2 if n_train is None else n_train
    return _Split(table[:cut], labels[:cut], table[cut:], labels[cut:])


def _soum(d: int, max_size: int | None) -> Any:
    from shapiq_games import SOUM

    return SOUM(d, 5 * d, max_interaction_size=max_size, random_state=SEED)


def _random_table() -> Any:
    from shapiq_games import RandomTableGame

    return RandomTableGame(10, random_state=SEED)


def _dummy() -> Any:
    from shapiq_games import DummyGame

    return DummyGame(12, interaction=(1, 4, 6))


def _unanimity() -> Any:
    from shapiq_games import UnanimityGame

    return UnanimityGame(np.arange(12) % 3 == 0)


def _neighbours(kind: str) -> Any:
    import shapiq_games
    from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

    data = _split("wine", n_train=13)
    model = {
        "KNNGame": KNeighborsClassifier(3),
        "WeightedKNNGame": KNeighborsClassifier(3, weights="distance"),
        "ThresholdNNGame": RadiusNeighborsClassifier(6.0),
    }[kind].fit(data.X, data.y)
    return getattr(shapiq_games, kind)(model, x=data.X_test[0])


def _data_valuation() -> Any:
    from shapiq_games import DataValuation
    from sklearn.tree import DecisionTreeClassifier

    return DataValuation(DecisionTreeClassifier(max_depth=3), *_split("wine", n_train=11))


def _dataset_valuation() -> Any:
    from shapiq_games import DatasetValuation
    from sklearn.tree import DecisionTreeRegressor

    return DatasetValuation(
        DecisionTreeRegressor(max_depth=4), *_split("diabetes"), n_players=12, player_sizes="increasing"
    )


def _ensemble() -> Any:
    from shapiq_games import EnsembleSelection
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    data = _split("breast_cancer", n_train=60)
    models = [GaussianNB(), LogisticRegression(max_iter=5000), RidgeClassifier()]
    models += [KNeighborsClassifier(k) for k in (1, 5, 15)]
    models += [DecisionTreeClassifier(max_depth=depth, random_state=SEED) for depth in (1, 2, 3, 5, 8)]
    return EnsembleSelection([model.fit(data.X, data.y) for model in models], data.X_test, data.y_test)


def _forest_members() -> Any:
    from shapiq_games import RandomForestEnsembleSelection
    from sklearn.ensemble import RandomForestRegressor

    data = _split("diabetes")
    forest = RandomForestRegressor(13, random_state=SEED).fit(data.X, data.y)
    return RandomForestEnsembleSelection(forest, data.X_test, data.y_test)


def _feature_selection(name: str) -> Any:
    from shapiq_games import FeatureSelection
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeRegressor

    model = KNeighborsClassifier(5) if name == "wine" else DecisionTreeRegressor(max_depth=4)
    return FeatureSelection(model, *_split(name))


def _clustering() -> Any:
    from shapiq_games import ClusterExplanation

    # Ten columns without ties: k-means separates a column of two values without error, and the score is infinite.
    return ClusterExplanation(_split("wine").X[:, :10], n_clusters=3, random_state=SEED)


def _total_correlation() -> Any:
    from shapiq_games import UnsupervisedData

    return UnsupervisedData(_split("wine").X, n_bins=10)


def _uncertainty() -> Any:
    from shapiq_games import TabularUncertaintyExplanation
    from sklearn.ensemble import RandomForestClassifier

    data = _split("wine")
    forest = RandomForestClassifier(10, random_state=SEED).fit(data.X, data.y)
    return TabularUncertaintyExplanation(forest, data.X, data.X_test[0], sample_size=20, random_state=SEED)


def _explanation(kind: str) -> Any:
    """Explain a random forest: one row, or the loss over rows."""
    from shapiq_games import TabularGlobalExplanation, TabularLocalExplanation
    from sklearn.ensemble import RandomForestRegressor

    data = _split("diabetes")
    forest = RandomForestRegressor(20, random_state=SEED).fit(data.X, data.y)
    if kind == "local":
        return TabularLocalExplanation(forest, data.X, data.X_test[0], sample_size=50, random_state=SEED)
    return TabularGlobalExplanation(forest, data.X_test, n_samples=50, random_state=SEED)


def _product_kernel() -> Any:
    from shapiq_games import ProductKernelGame
    from sklearn.svm import SVR

    data = _split("diabetes")
    return ProductKernelGame(SVR(C=100.0).fit(data.X, data.y), x=data.X_test[0])


_RECIPES = {
    f"{PREFIX}{name}": _Recipe(d, make)
    for name, d, make in (
        ("soum", 12, lambda: _soum(12, None)),
        ("soum-of-4", 15, lambda: _soum(15, 4)),
        ("random-table", 10, _random_table),
        ("dummy", 12, _dummy),
        ("unanimity", 12, _unanimity),
        ("neighbours", 13, lambda: _neighbours("KNNGame")),
        ("weighted-neighbours", 13, lambda: _neighbours("WeightedKNNGame")),
        ("threshold-neighbours", 13, lambda: _neighbours("ThresholdNNGame")),
        ("data-valuation", 11, _data_valuation),
        ("dataset-valuation", 12, _dataset_valuation),
        ("ensemble", 11, _ensemble),
        ("forest-members", 13, _forest_members),
        ("features-tree", 10, lambda: _feature_selection("diabetes")),
        ("features-neighbours", 13, lambda: _feature_selection("wine")),
        ("clustering", 10, _clustering),
        ("total-correlation", 13, _total_correlation),
        ("uncertainty", 13, _uncertainty),
        ("local-explanation", 10, lambda: _explanation("local")),
        ("global-explanation", 10, lambda: _explanation("global")),
        ("product-kernel", 10, _product_kernel),
    )
}
SHAPIQ_GAMES: tuple[str, ...] = tuple(_RECIPES)

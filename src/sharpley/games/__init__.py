"""Games: their common interface, models as games, and classic games with known Shapley values."""

from sharpley.games.base import Games
from sharpley.games.callables import CallableGame, Game, as_games
from sharpley.games.classic import Airport, Glove, UnanimitySum, WeightedVoting
from sharpley.games.linked import LinkedGames
from sharpley.games.marginal.background import Background
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.trees.game import TreeGame

__all__ = [
    "Airport",
    "Background",
    "CallableGame",
    "Game",
    "Games",
    "Glove",
    "LinkedGames",
    "MarginalGame",
    "TreeGame",
    "UnanimitySum",
    "WeightedVoting",
    "as_games",
]

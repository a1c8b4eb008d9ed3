"""Games: the protocol, models as games, and classic games with known Shapley values."""

from sharpley.games.base import Game
from sharpley.games.classic import Airport, Glove, UnanimitySum, WeightedVoting
from sharpley.games.marginal.background import Background
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.trees.game import TreeGame

__all__ = ["Airport", "Background", "Game", "Glove", "MarginalGame", "TreeGame", "UnanimitySum", "WeightedVoting"]

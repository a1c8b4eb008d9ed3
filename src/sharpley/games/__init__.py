"""Games: their common interface, models as games, and classic games with known Shapley values."""

from sharpley.games.base import ENDLESS, ClosedForm, DrawFacts, Games
from sharpley.games.callables import CallableGame, Game, SetGame, as_games
from sharpley.games.classic import Airport, Glove, UnanimitySum, WeightedVoting
from sharpley.games.linked import LinkedGames
from sharpley.games.marginal.background import Background
from sharpley.games.marginal.game import MarginalGame
from sharpley.games.marginal.known import KnownBackground, RandomModelWarning
from sharpley.games.noisy import NoisyGame, NoisyGameWarning
from sharpley.games.tiles.game import TileGame
from sharpley.games.tiles.segments import superpixels
from sharpley.games.tree_game import TreeGame
from sharpley.games.valuation import ValuationGame

__all__ = [
    "ENDLESS",
    "Airport",
    "Background",
    "CallableGame",
    "ClosedForm",
    "DrawFacts",
    "Game",
    "Games",
    "Glove",
    "KnownBackground",
    "LinkedGames",
    "MarginalGame",
    "NoisyGame",
    "NoisyGameWarning",
    "RandomModelWarning",
    "SetGame",
    "TileGame",
    "TreeGame",
    "UnanimitySum",
    "ValuationGame",
    "WeightedVoting",
    "as_games",
    "superpixels",
]

"""Games of your own: what each power plant contributes to serving an uncertain demand, market by market."""

import numpy as np

import sharpley


class MarketSupply(sharpley.Games):
    """Plants that together serve an uncertain demand in each of several markets.

    Each market is one game (a *row*), and each scenario of its demand is one *draw* of that game: the value of a
    coalition S of plants is its mean sales, v(S) = mean over scenarios of min(capacity of S, demand).

    Parameters
    ----------
    capacities : (markets, plants) float
        What each plant can deliver to each market; 0 if it cannot reach the market.
    demand : (markets, scenarios) float
        Demand of each market in each scenario.
    plants : list of str
        Names of the plants, which are the players.
    """

    def __init__(self, capacities: np.ndarray, demand: np.ndarray, plants: list[str]) -> None:
        self.capacities, self.demand = capacities, demand
        self.n_rows, self.d = capacities.shape
        self.n_draws = demand.shape[1]
        self.player_names = plants

    def _draws(self, rows: np.ndarray, coalitions: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Sales of each coalition, (p, d), in one market and one scenario each, (p,) and (p,) -> (p,)."""
        capacity = (coalitions * self.capacities[rows]).sum(axis=1)
        return np.minimum(capacity, self.demand[rows, draws])

    def varying(self) -> np.ndarray:
        """Which plants can matter in which markets, (markets, plants): those that reach them."""
        return self.capacities > 0


markets = ["north", "coast", "islands"]
plants = ["Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Willow"]
rng = np.random.default_rng(0)
capacities = rng.gamma(2.0, 20.0, size=(len(markets), len(plants))).round()
capacities[2, 7:] = 0.0  # the last five plants have no cable to the islands
demand = rng.lognormal(np.log(0.6 * capacities.sum(axis=1))[:, None], 0.4, size=(len(markets), 50))
games = MarketSupply(capacities, demand, plants)

# The default budget is 20 evaluations for each plant that matters in a market. Seven plants have only 128 coalitions,
# which fit that budget: the values of the islands are exact, with standard errors of 0.
estimate = sharpley.estimate(games, rng=0)
print(estimate)
print("plant ", *(f"{market:>15}" for market in markets))
for name, values, errors in zip(estimate.names, estimate.values.T, estimate.standard_errors.T, strict=True):
    print(f"{name:6}", *(f"{value:7.2f} ± {error:.3f}" for value, error in zip(values, errors, strict=True)))
print("all   ", *(f"{total:7.2f}        " for total in estimate.values.sum(axis=1)))

# With twelve plants it is still possible to evaluate all 4,096 coalitions, so the estimate can be checked.
exact = sharpley.estimate(games, method="exact").values
lower, upper = estimate.interval(0.95)
inside = (lower - 1e-9 <= exact) & (exact <= upper + 1e-9)
error = np.abs(estimate.values - exact).max()
print(f"evaluations: {estimate.n_evals.tolist()} instead of {(2 ** games.varying().sum(axis=1)).tolist()}")
print(f"largest error {error:.4f}; {inside.sum()} of {inside.size} 95% intervals contain the exact value")
if not np.allclose(estimate.values.sum(axis=1), games([[True] * games.d])[:, 0]):
    raise SystemExit("the values of a market do not add up to its sales with all plants")
if not (np.abs(estimate.values - exact) <= 5 * estimate.standard_errors + 1e-9).all():
    raise SystemExit("the estimate is more than five standard errors away from the exact values")

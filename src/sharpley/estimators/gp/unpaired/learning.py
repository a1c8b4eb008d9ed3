"""Hyperparameters of the process on whole games: the maximum of their posterior density.

With W as in ``sharpley.estimators.gp.learning`` and E the matrix of the interactions e^{−Σh} exp(Σ h_j z_j t_j), the
derivative of the negative log likelihood with respect to log h_j is −½ s_f h_j (z_j'(W∘E) z_j − ΣW∘E).

There are about as many scales as values, so that the prior matters. With m the mean of all log h_j, log h_j − m is
normal with a standard deviation of √2, and m itself is hardly restricted: whether a game is smooth is learnt from all
players together.
"""

from __future__ import annotations

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.gp.learning import likelihood
from sharpley.estimators.gp.settings import GPSettings
from sharpley.estimators.gp.unpaired.kernel import WholeScales, interactions, is_inner, parts


def learn_whole(
    signs: Floats,
    values: Floats,
    *,
    settings: GPSettings,
    iterations: int,
    start: WholeScales | None = None,
    narrow: bool = False,
) -> WholeScales:
    """Find the most probable hyperparameters.

    Parameters
    ----------
    signs : (n, d) float
        Coalitions as ±1.
    values : (n, p) float
        Values of normalised games.
    settings : GPSettings
    iterations : int
        Maximum number of L-BFGS iterations.
    start : WholeScales, optional
        Where the search starts.
    narrow : bool, default False
        Whether ``start`` was found for other games, so that the prior is centred there, and narrower.
    """
    from scipy.optimize import minimize

    problem = _Problem(signs, values, settings, start if narrow else None)
    bounds = np.stack([problem.centre - settings.log_range, problem.centre + settings.log_range], axis=1)
    first = problem.centre if start is None else np.clip(_packed(start), bounds[:, 0], bounds[:, 1])
    found = minimize(
        problem.value_and_gradient,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations},
    )
    return _unpacked(found.x)


class _Problem:
    """The negative log posterior as a function of the logarithms of all hyperparameters."""

    def __init__(self, signs: Floats, values: Floats, settings: GPSettings, others: WholeScales | None = None) -> None:
        self._signs, self._values = signs, values
        self._d = signs.shape[1]
        self._fixed, self._inner = parts(signs, signs), is_inner(signs)
        mine = settings.unpaired
        self._constant = mine.constant_variance
        typical = WholeScales(np.full(self._d, mine.typical_scale), 1.0, 1.0, mine.size_median, mine.noise_median)
        self.centre = _packed(typical if others is None else others)
        narrowing = 1.0 if others is None else settings.refit_narrowing
        self._spread = narrowing * np.append(np.full(self._d, mine.scale_spread), np.full(4, mine.other_spread))
        self._spread_of_mean = narrowing * mine.typical_spread

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior, up to a constant, and its gradient."""
        scales = _unpacked(theta)
        e = interactions(self._signs, self._signs, scales.players)
        gram = scales.interactions * e + scales.linear * self._fixed.linear + scales.sizes * self._fixed.sizes
        value, w = likelihood(gram + self._constant, scales.noise * self._inner, self._values)
        we = w * e
        of_interactions = we.sum()
        of_players = np.einsum("nj,nj->j", self._signs, we @ self._signs) - of_interactions
        gradient = -0.5 * np.concatenate(
            [
                scales.interactions * scales.players * of_players,
                [
                    scales.interactions * of_interactions,
                    scales.linear * (w * self._fixed.linear).sum(),
                    scales.sizes * (w * self._fixed.sizes).sum(),
                    scales.noise * (np.diagonal(w) * self._inner).sum(),
                ],
            ]
        )
        prior, of_prior = self._prior(theta)
        return value + prior, gradient + of_prior

    def _prior(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log prior, up to a constant, and its gradient."""
        off = theta - self.centre
        mean = off[: self._d].mean()
        off[: self._d] -= mean
        standardised = off / self._spread
        gradient = standardised / self._spread
        gradient[: self._d] += mean / self._spread_of_mean**2 / self._d
        return float(standardised @ standardised + (mean / self._spread_of_mean) ** 2) / 2.0, gradient


def _packed(scales: WholeScales) -> Floats:
    """Return the logarithms of all hyperparameters, (d + 4,)."""
    return np.log(np.concatenate([scales.players, scales[1:]]))


def _unpacked(theta: Floats) -> WholeScales:
    return WholeScales(np.exp(theta[:-4]), *np.exp(theta[-4:]).tolist())

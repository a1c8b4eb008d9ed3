"""Hyperparameters of the process: the maximum of their posterior density, by L-BFGS with exact gradients.

With K the Gram matrix plus noise of a block of values, α = K⁻¹y and W = Σ αα' − p K⁻¹ over p games, the derivative of
the negative log likelihood with respect to a hyperparameter θ is −½ tr(W ∂K/∂θ). With B = s_o sinh + s_e cosh the
interactions and A = s_o cosh + s_e sinh, it is −½ h_j (z_j'(W∘A) z_j − ΣW∘B) for log h_j. Blocks of values that are
independent of each other, such as the odd and the even values of pairs, add up.

There may be as many scales as values, so that the prior matters. With m the mean of all log h_j, the deviations
log h_j − m are normal, and m itself is hardly restricted: whether a game is smooth is learnt from all players together.
The variances of odd and even interactions have a narrow prior around each other: a few coalitions cannot tell the two
parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.estimators.gp.kernel import CONSTANT_VARIANCE, JITTER, Parity, Scales, fixed_parts, sinh_and_cosh
from sharpley.estimators.gp.settings import GPSettings

LOG_RANGE = 8.0  # hyperparameters are sought within a factor of e to this power of their prior medians
N_VARIANCES = 6  # hyperparameters beside the players' scales
DIGITS = 7  # of normalised values that are learnt from: rounding, or a constant that is added, must not change choices


class Values(NamedTuple):
    """A block of values of normalised games, each of which is a column."""

    signs: Floats
    """Coalitions as ±1, (n, d); of a pair, one of the two."""
    values: Floats
    """(n, g)."""
    noise: Floats
    """What the variance of the noise is multiplied by, (n,)."""
    parity: Parity

    def at(self, rows: NDArray[np.int64] | slice) -> Values:
        """Return the values at some of the coalitions."""
        return Values(self.signs[rows], self.values[rows], self.noise[rows], self.parity)

    def games(self, games: NDArray[np.int64]) -> Values:
        """Return the values of some of the games."""
        return self._replace(values=self.values[:, games])


def learn_scales(
    blocks: Sequence[Values],
    settings: GPSettings,
    iterations: int,
    start: Scales | None = None,
    *,
    narrow: bool = False,
) -> Scales:
    """Find the most probable hyperparameters.

    Parameters
    ----------
    blocks : sequence of Values
        Independent blocks of values of the same games.
    settings : GPSettings
    iterations : int
        Maximum number of L-BFGS iterations.
    start : Scales, optional
        Where the search starts.
    narrow : bool, default False
        Whether ``start`` was found for other games, so that the prior is centred there, and narrower.
    """
    from scipy.optimize import minimize

    problem = _Problem(blocks, settings, start if narrow else None)
    low, high = problem.centre - LOG_RANGE, problem.centre + LOG_RANGE
    first = problem.centre if start is None else np.clip(_packed(start), low, high)
    found = minimize(
        problem.value_and_gradient,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([low, high], axis=1),
        options={"maxiter": iterations},
    )
    return _unpacked(found.x)


class _Problem:
    """The negative log posterior as a function of the logarithms of all hyperparameters."""

    def __init__(self, blocks: Sequence[Values], settings: GPSettings, others: Scales | None) -> None:
        self._d = blocks[0].signs.shape[1]
        self._blocks = [block._replace(values=np.round(block.values, DIGITS)) for block in blocks]
        self._fixed = [fixed_parts(block.signs, block.signs, block.parity) for block in blocks]
        medians = (1.0, 1.0, 1.0, settings.size_median, settings.least_median, settings.least_median)
        typical = Scales(np.full(self._d, settings.typical_scale), *medians)
        self.centre = _packed(typical if others is None else others)
        narrowing = 1.0 if others is None else settings.refit_narrowing
        self._spread = narrowing * np.append(
            np.full(self._d, settings.scale_spread), np.full(N_VARIANCES, settings.other_spread)
        )
        self._spread_of_mean = narrowing * settings.other_spread
        self._spread_of_parity = narrowing * settings.parity_spread

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior, up to a constant, and its gradient."""
        value, gradient = self._prior(theta)
        scales = _unpacked(theta)
        for number in range(len(self._blocks)):
            more, of_block = self._likelihood(number, scales)
            value, gradient = value + more, gradient + of_block
        return value, gradient

    def _likelihood(self, number: int, scales: Scales) -> tuple[float, Floats]:
        """Return the negative log likelihood of a block of values, and its gradient."""
        block, fixed = self._blocks[number], self._fixed[number]
        signs, (odd, even) = block.signs, block.parity.value
        sinh, cosh = sinh_and_cosh(signs, signs, scales.players)
        s_odd, s_even = odd * scales.odd, even * scales.even
        gram = s_odd * sinh + s_even * cosh + scales.linear * fixed.linear + scales.sizes * fixed.sizes
        gram += scales.linear_by_size * fixed.linear_by_size
        value, w = likelihood(gram + even * CONSTANT_VARIANCE, scales.noise * block.noise, block.values)
        derivative = s_odd * cosh + s_even * sinh
        derivative *= w
        of_odd, of_even = (s_odd * (w * sinh).sum() if odd else 0.0), (s_even * (w * cosh).sum() if even else 0.0)
        of_players = np.einsum("nj,nj->j", signs, derivative @ signs) - of_odd - of_even
        of_variances = [
            of_odd,
            of_even,
            scales.linear * (w * fixed.linear).sum(),
            scales.sizes * (w * fixed.sizes).sum(),
            scales.linear_by_size * (w * fixed.linear_by_size).sum(),
            scales.noise * (np.diagonal(w) * block.noise).sum(),
        ]
        return value, -0.5 * np.concatenate([scales.players * of_players, of_variances])

    def _prior(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log prior, up to a constant, and its gradient."""
        off = theta - self.centre
        mean = off[: self._d].mean()
        off[: self._d] -= mean
        standardised = off / self._spread
        gradient = standardised / self._spread
        gradient[: self._d] += mean / self._spread_of_mean**2 / self._d
        between = (off[self._d] - off[self._d + 1]) / self._spread_of_parity
        gradient[self._d : self._d + 2] += np.array([between, -between]) / self._spread_of_parity
        squares = standardised @ standardised + (mean / self._spread_of_mean) ** 2 + between**2
        return float(squares) / 2.0, gradient


def _packed(scales: Scales) -> Floats:
    """Return the logarithms of all hyperparameters, (d + 6,)."""
    return np.log(np.concatenate([scales.players, scales[1:]]))


def _unpacked(theta: Floats) -> Scales:
    return Scales(np.exp(theta[:-N_VARIANCES]), *np.exp(theta[-N_VARIANCES:]).tolist())


def likelihood(gram: Floats, noise: Floats, targets: Floats) -> tuple[float, Floats]:
    """Return the negative log likelihood of all targets, up to a constant, and W = Σ αα' − p K⁻¹.

    W is folded onto its upper triangle, which does not change the sum of its entrywise product with a symmetric matrix.
    ``gram`` is overwritten.
    """
    from scipy.linalg import lapack

    n, p = targets.shape
    gram[np.diag_indices(n)] += noise + JITTER
    # LAPACK expects column-major order, which the transpose of a symmetric matrix has without a copy.
    factor, failed = lapack.dpotrf(gram.T, lower=1, clean=0, overwrite_a=1)
    if failed:  # a large value makes the line search of L-BFGS reject this step
        return 1e25, np.zeros((n, n))
    alpha, _ = lapack.dpotrs(factor, targets, lower=1)
    value = 0.5 * float((targets * alpha).sum()) + p * float(np.log(np.diagonal(factor)).sum())
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    w = np.asarray(inverse.T)  # in row-major order
    w *= -float(p)
    w += alpha @ alpha.T
    w *= _fold(n)
    return value, w


@lru_cache(maxsize=4)
def _fold(n: int) -> Floats:
    """Return the matrix with 1 on the diagonal, 2 above it and 0 below it, (n, n)."""
    fold = np.triu(np.full((n, n), 2.0), 1) + np.eye(n)
    fold.flags.writeable = False
    return fold

"""Hyperparameters of the Gaussian process: the maximum of their posterior density, by L-BFGS with exact gradients.

With K the Gram matrix plus noise, α = K⁻¹y and W = Σ αα' − p K⁻¹ over p games, the derivative of the negative
log likelihood with respect to a hyperparameter θ is −½ tr(W ∂K/∂θ). For log h_j it is
−½ s_f h_j (z_j'(W∘C) z_j − ΣW∘S), where S and C are the sinh and cosh parts.

The even part of a game, (v(z) + v(−z)) / 2, has Shapley values 0, but is informative about which players interact, and
needs no further evaluations: its kernel is cosh with the same h.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.gp.kernel import Scales, fixed_parts, sinh_and_cosh
from sharpley.estimators.gp.settings import DEFAULT_SETTINGS, GPSettings

JITTER = 1e-6  # added to the diagonal of Gram matrices, so that they are numerically positive definite


class Sample(NamedTuple):
    """Pairs and normalised games to learn from."""

    signs: Floats
    """The smaller coalition of each pair and, last, the full coalition, as ±1, (n, d)."""
    odd: Floats
    """Odd values, (n, p)."""
    even: Floats | None
    """Even values without the full coalition, (n − 1, p); None if they are not used."""
    noise: Floats
    """Inverse weights, (n,); 0 for the full coalition."""


def learn_scales(
    sample: Sample,
    importance: Floats,
    *,
    iterations: int,
    start: Scales | None = None,
    settings: GPSettings = DEFAULT_SETTINGS,
) -> Scales:
    """Find the most probable hyperparameters.

    Parameters
    ----------
    sample : Sample
        The data.
    importance : (d,) float
        Absolute Shapley values according to the regression, which centre the prior of the players' scales.
    iterations : int
        Maximum number of L-BFGS iterations.
    start : Scales, optional
        Hyperparameters found for other games. If given, the search starts there, with a narrower prior around them.
    settings : GPSettings, optional
    """
    from scipy.optimize import minimize

    problem = _Problem(sample, importance, settings)
    if start is not None:
        problem.narrow_around(start)
    bounds = np.stack([problem.centre - settings.log_range, problem.centre + settings.log_range], axis=1)
    found = minimize(
        problem.value_and_gradient,
        problem.centre,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations},
    )
    return problem.unpack(found.x)


class _Problem:
    """The negative log posterior as a function of the logarithms of all hyperparameters."""

    def __init__(self, sample: Sample, importance: Floats, settings: GPSettings = DEFAULT_SETTINGS) -> None:
        self._sample, self._settings = sample, settings
        self._d = sample.signs.shape[1]
        self._fixed = fixed_parts(sample.signs, sample.signs)
        share = np.maximum(importance / max(importance.max(), np.finfo(float).tiny), settings.least_importance)
        small = np.log(settings.other_median)
        others = [0.0, *[small] * 3] + ([] if sample.even is None else [0.0, small])
        self.centre = np.concatenate([np.log(settings.typical_scale * np.sqrt(share)), others])
        self._spread = np.concatenate(
            [np.full(self._d, settings.scale_spread), np.full(len(others), settings.other_spread)]
        )

    def narrow_around(self, scales: Scales) -> None:
        """Centre the prior on the hyperparameters of other games, and narrow it."""
        self.centre[: self._d + 4] = np.log(np.concatenate([scales.players, scales[1:]]))
        self._spread *= self._settings.refit_narrowing

    def unpack(self, theta: Floats) -> Scales:
        """Return the hyperparameters of the odd part, given the logarithms of all."""
        h, others = np.exp(theta[: self._d]), np.exp(theta[self._d : self._d + 4])
        return Scales(h, *others.tolist())

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior, up to a constant, and its gradient."""
        scales = self.unpack(theta)
        sinh, cosh = sinh_and_cosh(self._sample.signs, self._sample.signs, scales.players)
        value, gradient = self._odd(scales, sinh, cosh)
        if self._sample.even is not None:
            scale, noise = np.exp(theta[-2:])
            more, of_players, of_others = self._even_part(scales.players, scale, noise, sinh, cosh)
            value += more
            gradient[: self._d] += of_players
            gradient = np.concatenate([gradient, of_others])
        off = (theta - self.centre) / self._spread
        return value + float(off @ off) / 2.0, gradient + off / self._spread

    def _odd(self, scales: Scales, sinh: Floats, cosh: Floats) -> tuple[float, Floats]:
        """Return the negative log likelihood of the odd part, and its gradient."""
        fixed, signs, noise = self._fixed, self._sample.signs, self._sample.noise
        gram = (
            scales.interactions * sinh
            + self._settings.learning_variance * fixed.linear
            + scales.sizes * fixed.sizes
            + scales.linear_by_size * fixed.linear_by_size
        )
        value, w = likelihood(gram, scales.noise * noise, self._sample.odd)
        of_sinh = (w * sinh).sum()
        of_players = scales.players * (np.einsum("nj,nj->j", signs, (w * cosh) @ signs) - of_sinh)
        of_others = [
            scales.interactions * of_sinh,
            scales.sizes * (w * fixed.sizes).sum(),
            scales.linear_by_size * (w * fixed.linear_by_size).sum(),
            scales.noise * (np.diagonal(w) * noise).sum(),
        ]
        return value, -0.5 * np.concatenate([scales.interactions * of_players, of_others])

    def _even_part(
        self, h: Floats, scale: float, noise: float, sinh: Floats, cosh: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the negative log likelihood of the even part, and its gradients for log h and for scale and noise."""
        assert self._sample.even is not None
        signs, inverse_weights = self._sample.signs[:-1], self._sample.noise[:-1]
        sinh, cosh = sinh[:-1, :-1], cosh[:-1, :-1]
        value, w = likelihood(
            scale * cosh + self._settings.even_mean_variance, noise * inverse_weights, self._sample.even
        )
        of_cosh = (w * cosh).sum()
        of_players = scale * h * (np.einsum("nj,nj->j", signs, (w * sinh) @ signs) - of_cosh)
        of_others = np.array([scale * of_cosh, noise * (np.diagonal(w) * inverse_weights).sum()])
        return value, -0.5 * of_players, -0.5 * of_others


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

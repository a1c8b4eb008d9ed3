"""Hyperparameters of the Gaussian process: the maximum of their posterior density, by L-BFGS with exact gradients.

With K the Gram matrix plus noise, α = K⁻¹y and W = Σ αα' − p K⁻¹ over p games, the derivative of the negative
log likelihood by a hyperparameter θ is −½ tr(W ∂K/∂θ). For log h_j it is −½ s_f h_j (z_j'(W∘C) z_j − ΣW∘S), S
and C the sinh and cosh parts.

The even part of a game, (v(z) + v(−z)) / 2, has no Shapley value, but shows which players interact, at no further
evaluations: its kernel is cosh with the same h.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sharpley._support.typing import Floats
from sharpley.estimators.gp.kernel import Scales, fixed_parts, sinh_and_cosh
from sharpley.estimators.gp.settings import DEFAULT, GPSettings

JITTER = 1e-6
LOG_RANGE = 8.0  # hyperparameters are sought within a factor of e^8 of their prior medians


class Sample(NamedTuple):
    """Some pairs and games to learn from, scaled to unit size."""

    signs: Floats
    """(n, d); the last row is the full coalition."""
    odd: Floats
    """(n, p)."""
    even: Floats | None
    """(n − 1, p), for all but the full coalition; None if it is not used."""
    noise: Floats
    """(n,): inverse weights, 0 for the full coalition."""


def learn_scales(
    sample: Sample,
    importance: Floats,
    *,
    iterations: int,
    start: Scales | None = None,
    settings: GPSettings = DEFAULT,
) -> Scales:
    """Find the most probable hyperparameters.

    Parameters
    ----------
    sample : Sample
    importance : (d,) float
        Absolute Shapley values as the regression sees them.
    iterations : int
        Maximum number of iterations of L-BFGS.
    start : Scales, optional
        Hyperparameters found for other games; a narrower prior around them is then used.
    settings : GPSettings
    """
    from scipy.optimize import minimize

    problem = _Problem(sample, importance, settings)
    if start is not None:
        problem.narrow_around(start)
    bounds = np.stack([problem.centre - LOG_RANGE, problem.centre + LOG_RANGE], axis=1)
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

    def __init__(self, sample: Sample, importance: Floats, settings: GPSettings = DEFAULT) -> None:
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
        """Centre the prior at the hyperparameters of other games, and narrow it."""
        self.centre[: self._d + 4] = np.log(np.concatenate([scales.players, scales[1:]]))
        self._spread *= self._settings.refit_narrowing

    def unpack(self, theta: Floats) -> Scales:
        h, others = np.exp(theta[: self._d]), np.exp(theta[self._d : self._d + 4])
        return Scales(h, *others.tolist())

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
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
        fixed, signs, noise = self._fixed, self._sample.signs, self._sample.noise
        gram = (
            scales.interactions * sinh
            + self._settings.learning_variance * fixed.linear
            + scales.sizes * fixed.sizes
            + scales.linear_by_size * fixed.linear_by_size
        )
        value, w = _likelihood(gram, scales.noise * noise, self._sample.odd)
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
        assert self._sample.even is not None
        signs, inverse_weights = self._sample.signs[:-1], self._sample.noise[:-1]
        sinh, cosh = sinh[:-1, :-1], cosh[:-1, :-1]
        value, w = _likelihood(
            scale * cosh + self._settings.even_mean_variance, noise * inverse_weights, self._sample.even
        )
        of_cosh = (w * cosh).sum()
        of_players = scale * h * (np.einsum("nj,nj->j", signs, (w * sinh) @ signs) - of_cosh)
        of_others = np.array([scale * of_cosh, noise * (np.diagonal(w) * inverse_weights).sum()])
        return value, -0.5 * of_players, -0.5 * of_others


def _likelihood(gram: Floats, noise: Floats, targets: Floats) -> tuple[float, Floats]:
    """Negative log likelihood of all targets, without its constant, and W = Σ αα' − p K⁻¹; ``gram`` is used up.

    W is folded onto its upper triangle, which changes no sum of its products with a symmetric matrix.
    """
    from scipy.linalg import lapack

    n, p = targets.shape
    gram[np.diag_indices(n)] += noise + JITTER
    # LAPACK wants columns: the transpose of a symmetric matrix is that without a copy.
    factor, failed = lapack.dpotrf(gram.T, lower=1, clean=0, overwrite_a=1)
    if failed:  # the steps of L-BFGS turn back from here
        return 1e25, np.zeros((n, n))
    alpha, _ = lapack.dpotrs(factor, targets, lower=1)
    value = 0.5 * float((targets * alpha).sum()) + p * float(np.log(np.diagonal(factor)).sum())
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    w = np.asarray(inverse.T)  # rows again
    w *= -float(p)
    w += alpha @ alpha.T
    w *= _fold(n)
    return value, w


@lru_cache(maxsize=4)
def _fold(n: int) -> Floats:
    """1 on the diagonal, 2 above it."""
    fold = np.triu(np.full((n, n), 2.0), 1) + np.eye(n)
    fold.flags.writeable = False
    return fold

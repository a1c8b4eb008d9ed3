"""Kernels on permutations: how alike two orderings are, and the mean over all of them.

Each kernel compares the *ranks* of the players, and is invariant when players are relabelled, so its mean
over uniformly random permutations, E[K(σ, σ')], is one number for every σ: ``mean(d)``. With
n_dis the number of discordant pairs and N = C(d, 2) the number of pairs,

- Mallows: K = exp(−λ n_dis / N), the paper's choice: universal, so it sees every function of an ordering;
- Kendall: K = 1 − 2 n_dis / N, the rank correlation τ;
- Spearman: K = σᵀσ', the dot product of ranks 1 .. d.

A kernel holds settings only and is frozen; the orderings are passed at the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sharpley._support.checks import check_choice, check_count
from sharpley._support.typing import ArrayLike, Floats, Orderings
from sharpley.permutations.orderings import as_pair, discordant_pairs, ranks_of

MAX_TABLE = 2**22  # entries of a table of kernel values


class Kernel(ABC):
    """Similarity of orderings, invariant under relabelling of the players.

    A subclass defines ``_gram`` on checked orderings and ``mean``; that is enough for discrepancy,
    quadrature weights and the greedy samplers.
    """

    def gram(self, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
        """Kernel values between two sets of orderings.

        Parameters
        ----------
        a, b : (n, d) and (m, d) orderings
            ``b=None`` compares ``a`` with itself.

        Returns
        -------
        (n, m) float
        """
        return self._gram(*as_pair(a, b))

    @abstractmethod
    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        """Kernel values between checked orderings."""

    @abstractmethod
    def mean(self, d: int) -> float:
        """E[K(σ, σ')] over uniform σ', the same for every σ of d players."""

    def discordance_table(self, d: int) -> Floats | None:
        """K for n_dis = 0 .. C(d, 2), or None if there is no such table of reasonable size.

        Where there is one, compiled code looks kernel values up in it, several times faster than ``gram``.
        """
        return None


class DiscordanceKernel(Kernel):
    """A kernel that depends on the number of discordant pairs alone."""

    @abstractmethod
    def _of_discordance(self, n_dis: NDArray[Any], d: int) -> Floats:
        """Kernel values for numbers of discordant pairs."""

    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        return self._of_discordance(discordant_pairs(a, b), a.shape[1])

    def discordance_table(self, d: int) -> Floats | None:
        """K for n_dis = 0 .. C(d, 2); None beyond d = 2,896, where it would take more than 32 MB."""
        n_pairs = comb(d, 2)
        return self._of_discordance(np.arange(n_pairs + 1), d) if n_pairs < MAX_TABLE else None


@final
@dataclass(frozen=True)
class Mallows(DiscordanceKernel):
    """The Mallows kernel K(σ, σ') = exp(−λ n_dis(σ, σ') / C(d, 2)).

    Parameters
    ----------
    scale : float, default 4.0
        λ ≥ 0. Near 0 only smooth functions are seen; large values tell all orderings apart. The paper
        uses 4 throughout.

    Examples
    --------
    >>> Mallows(4.0).gram([[0, 1, 2]], [[0, 1, 2], [2, 1, 0]]).round(4)
    array([[1.    , 0.0183]])
    """

    scale: float = 4.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.scale) and self.scale >= 0):
            raise ValueError(f"scale must be finite and at least 0, got {self.scale!r}")

    def _of_discordance(self, n_dis: NDArray[Any], d: int) -> Floats:
        return np.asarray(np.exp(-self.scale / max(1, comb(d, 2)) * n_dis), dtype=np.float64)

    def mean(self, d: int) -> float:
        """E[K] = Π_{j=1..d} (1 − q^j) / (j (1 − q)) with q = exp(−λ / C(d, 2))."""
        d = check_count("d", d, minimum=1)
        log_q = -self.scale / max(1, comb(d, 2))
        if log_q == 0.0:
            return 1.0
        # For large d both differences are tiny: 1 − q^j comes from expm1, not from a subtraction.
        j = np.arange(1, d + 1)
        return float(np.exp(np.log(np.expm1(j * log_q) / (j * np.expm1(log_q))).sum()))


@final
@dataclass(frozen=True)
class Kendall(DiscordanceKernel):
    """The Kendall kernel K(σ, σ') = 1 − 2 n_dis(σ, σ') / C(d, 2), the rank correlation τ."""

    def _of_discordance(self, n_dis: NDArray[Any], d: int) -> Floats:
        if d == 1:  # no pairs: the feature map is empty, and so is its dot product
            return np.zeros(n_dis.shape)
        return np.asarray(1.0 - 2.0 * n_dis / comb(d, 2), dtype=np.float64)

    def mean(self, d: int) -> float:
        """E[K] = 0: every pair of players is as often concordant as discordant."""
        check_count("d", d, minimum=1)
        return 0.0

    def features(self, orderings: ArrayLike) -> Floats:
        """Feature map Φ_τ: the signs of rank differences, (n, C(d, 2)), so that K = ΦΦᵀ."""
        ranks = ranks_of(orderings)
        first, second = np.triu_indices(ranks.shape[1], k=1)
        signs = np.where(ranks[:, first] > ranks[:, second], 1.0, -1.0)
        return np.asarray(signs / np.sqrt(max(1, signs.shape[1])))


@final
@dataclass(frozen=True)
class Spearman(Kernel):
    """The Spearman kernel K(σ, σ') = σᵀσ', with ranks counted from 1."""

    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        return self.features(a) @ self.features(b).T

    def mean(self, d: int) -> float:
        """E[K] = d (d + 1)² / 4."""
        d = check_count("d", d, minimum=1)
        return d * (d + 1) ** 2 / 4

    def features(self, orderings: ArrayLike) -> Floats:
        """Feature map Φ_ρ: the ranks 1 .. d themselves, (n, d), so that K = ΦΦᵀ."""
        return np.asarray(ranks_of(orderings) + 1.0, dtype=np.float64)


KERNELS: dict[str, type[Kernel]] = {"mallows": Mallows, "kendall": Kendall, "spearman": Spearman}


def kernel_by_name(name: str, scale: float | None = None) -> Kernel:
    """Look a kernel up by name; ``scale`` is for Mallows only.

    Examples
    --------
    >>> kernel_by_name("mallows", 2.0)
    Mallows(scale=2.0)
    """
    check_choice("kernel", name, KERNELS)
    if scale is None:
        return KERNELS[name]()
    if name != "mallows":
        raise ValueError(f"the {name} kernel has no scale; only mallows takes one")
    return Mallows(scale)


__all__ = [
    "KERNELS",
    "DiscordanceKernel",
    "Kendall",
    "Kernel",
    "Mallows",
    "Spearman",
    "kernel_by_name",
]

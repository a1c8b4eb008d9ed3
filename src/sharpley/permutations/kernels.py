"""Kernels between orderings, and their means over uniformly random orderings (Section 3 of the paper).

Each kernel compares the *ranks* σ of the players and is invariant under relabelling of the players. Its mean over
uniformly random orderings, E[K(σ, σ')], is therefore the same for every σ: ``mean(d)``. With n_dis the number of
discordant pairs and N = C(d, 2) the number of all pairs of players,

- Mallows: K = exp(−λ n_dis / N), the paper's choice. It is universal: its Hilbert space contains every function of an
  ordering;
- Kendall: K = 1 − 2 n_dis / N, the rank correlation τ;
- Spearman: K = σᵀσ', the dot product of ranks 1 .. d.

Two kernels are for functions of another kind, to which the number of discordant pairs says little:

- Hamming: the share of steps at which the same player enters, for functions of positions such as assignment costs;
- Adjacency: the share of neighbours that two orderings have in common, for functions of neighbours such as the length
  of a tour.

Neither is universal: each sees the functions that are sums over positions, or over neighbours. Spearman, Hamming and
Adjacency have few features, so sums of kernel values over n orderings take O(nd) time (``SummableKernel``).

A kernel is a frozen object that holds settings only; orderings are passed to its methods.
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
from sharpley.permutations.orderings import as_comparable, discordant_pairs, ranks_of

MAX_TABLE_ENTRIES = 2**22  # of a look-up table of kernel values: 32 MB


class Kernel(ABC):
    """A positive semi-definite similarity of orderings, invariant under relabelling of the players.

    Notes
    -----
    **Subclassing.** Define ``mean`` and ``_gram``; the latter is called with checked orderings. That is enough for
    ``discrepancy``, ``quadrature_weights`` and the greedy samplers.

    Examples
    --------
    A kernel that is 1 for equal orderings and 0 for all others, K(σ, σ') = [σ = σ']:

    >>> from math import factorial
    >>> class Identity(Kernel):
    ...     def _gram(self, a, b):
    ...         return (a[:, None] == b).all(axis=2).astype(float)
    ...     def mean(self, d):
    ...         return 1 / factorial(d)
    >>> Identity().gram([[0, 1, 2]], [[0, 1, 2], [2, 1, 0]])
    array([[1., 0.]])
    """

    def gram(self, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
        """Return the kernel values between two sets of orderings.

        Parameters
        ----------
        a, b : (n, d) and (m, d) int
            Orderings. ``b=None`` compares ``a`` with itself.

        Returns
        -------
        (n, m) float
            K(a_i, b_j).
        """
        return self._gram(*as_comparable(a, b))

    @abstractmethod
    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        """Return the kernel values between checked orderings: (n, d), (m, d) -> (n, m)."""

    @abstractmethod
    def mean(self, d: int) -> float:
        """Return E[K(σ, σ')] over uniformly random σ', which is the same for every ordering σ of d players."""

    def discordance_table(self, d: int) -> Floats | None:
        """Return K as a function of n_dis = 0 .. C(d, 2), (C(d, 2) + 1,), or None if there is no such look-up table.

        Where there is one, compiled code looks kernel values up in it, which is several times faster than ``gram``.
        """
        return None


class DiscordanceKernel(Kernel):
    """A kernel that depends only on the number of discordant pairs."""

    @abstractmethod
    def _of_discordance(self, n_dis: NDArray[Any], d: int) -> Floats:
        """Return the kernel values for numbers of discordant pairs, an array of the same shape."""

    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        return self._of_discordance(discordant_pairs(a, b), a.shape[1])

    def discordance_table(self, d: int) -> Floats | None:
        """Return K for n_dis = 0 .. C(d, 2), or None if d > 2,896, where the table would exceed 32 MB."""
        n_pairs = comb(d, 2)
        return self._of_discordance(np.arange(n_pairs + 1), d) if n_pairs < MAX_TABLE_ENTRIES else None


@final
@dataclass(frozen=True)
class Mallows(DiscordanceKernel):
    """The Mallows kernel K(σ, σ') = exp(−λ n_dis(σ, σ') / C(d, 2)).

    Parameters
    ----------
    scale : float, default 4.0
        λ ≥ 0. Near 0 the kernel is sensitive to smooth functions only; with large values all orderings are
        dissimilar. The paper uses 4 throughout.

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
        """Return E[K] = Π_{j=1..d} (1 − q^j) / (j (1 − q)) with q = exp(−λ / C(d, 2))."""
        d = check_count("d", d, minimum=1)
        log_q = -self.scale / max(1, comb(d, 2))
        if log_q == 0.0:
            return 1.0
        # For large d, q is close to 1: computing 1 − q^j by expm1 avoids cancellation.
        j = np.arange(1, d + 1)
        return float(np.exp(np.log(np.expm1(j * log_q) / (j * np.expm1(log_q))).sum()))


@final
@dataclass(frozen=True)
class Kendall(DiscordanceKernel):
    """The Kendall kernel K(σ, σ') = 1 − 2 n_dis(σ, σ') / C(d, 2), the rank correlation τ.

    Examples
    --------
    >>> Kendall().gram([[0, 1, 2]], [[0, 1, 2], [1, 0, 2], [2, 1, 0]]).round(4)
    array([[ 1.    ,  0.3333, -1.    ]])
    """

    def _of_discordance(self, n_dis: NDArray[Any], d: int) -> Floats:
        if d == 1:  # C(1, 2) = 0: the feature map is empty and its dot product is 0
            return np.zeros(n_dis.shape)
        return np.asarray(1.0 - 2.0 * n_dis / comb(d, 2), dtype=np.float64)

    def mean(self, d: int) -> float:
        """Return E[K] = 0: two players are as often concordant as discordant."""
        check_count("d", d, minimum=1)
        return 0.0

    def features(self, orderings: ArrayLike) -> Floats:
        """Return the feature map Φ_τ, scaled signs of rank differences, (n, C(d, 2)), so that K = ΦΦᵀ."""
        ranks = ranks_of(orderings)
        first, second = np.triu_indices(ranks.shape[1], k=1)
        signs = np.where(ranks[:, first] > ranks[:, second], 1.0, -1.0)
        return np.asarray(signs / np.sqrt(max(1, signs.shape[1])))


class SummableKernel(Kernel):
    """A kernel K(σ, σ') = Φ(σ)ᵀΦ(σ') with few features, so that sums of kernel values take O(d) time for an ordering.

    Subclasses define ``_gram``, ``total`` and ``sums``, so that ``sums(a, total(b, w))`` is ``gram(a, b) @ w``.
    """

    @abstractmethod
    def total(self, orderings: Orderings, weights: Floats | None = None) -> Floats:
        """Return the sum of the features of orderings (n, d), weighted by (n,) if there are weights."""

    @abstractmethod
    def sums(self, orderings: Orderings, total: Floats) -> Floats:
        """Return Σ_j w_j K(σ_i, σ_j) for each of the orderings (n, d), given the ``total`` of the σ_j, (n,)."""


@final
@dataclass(frozen=True)
class Spearman(SummableKernel):
    """The Spearman kernel K(σ, σ') = σᵀσ', with ranks counted from 1.

    Examples
    --------
    >>> Spearman().gram([[0, 1, 2]], [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    array([[14., 13., 10.]])
    """

    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        return self.features(a) @ self.features(b).T

    def mean(self, d: int) -> float:
        """Return E[K] = d (d + 1)² / 4."""
        d = check_count("d", d, minimum=1)
        return d * (d + 1) ** 2 / 4

    def features(self, orderings: ArrayLike) -> Floats:
        """Return the feature map Φ_ρ, the ranks 1 .. d themselves, (n, d), so that K = ΦΦᵀ."""
        return np.asarray(ranks_of(orderings) + 1.0, dtype=np.float64)

    def total(self, orderings: Orderings, weights: Floats | None = None) -> Floats:
        """Return the weighted sum of the ranks, (d,)."""
        features = self.features(orderings)
        return np.asarray(features.sum(axis=0) if weights is None else weights @ features)

    def sums(self, orderings: Orderings, total: Floats) -> Floats:
        """Return sums of kernel values, (n,)."""
        return np.asarray(self.features(orderings) @ total)


class _CountingKernel(SummableKernel):
    """A kernel that counts what two orderings have in common, as a share: K = #(A(σ) ∩ A(σ')) / #A(σ).

    Each element of A is a pair of numbers below d, the entry of a matrix in which elements are counted.
    """

    @abstractmethod
    def _elements(self, orderings: Orderings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the elements of each ordering as two arrays of numbers, (n, m) each."""

    def _gram(self, a: Orderings, b: Orderings) -> Floats:
        return np.stack([self.sums(a, self.total(ordering[None])) for ordering in b], axis=1)

    def total(self, orderings: Orderings, weights: Floats | None = None) -> Floats:
        """Return how often each element occurs, weighted, (d, d)."""
        rows, columns = self._elements(orderings)
        d = orderings.shape[1]
        each = None if weights is None else np.repeat(weights, rows.shape[1])
        counts = np.bincount((rows * d + columns).reshape(-1), weights=each, minlength=d * d)
        return np.asarray(counts.reshape(d, d), dtype=np.float64)

    def sums(self, orderings: Orderings, total: Floats) -> Floats:
        """Return sums of kernel values, (n,)."""
        rows, columns = self._elements(orderings)
        return np.asarray(total[rows, columns].sum(axis=1) / max(1, rows.shape[1]))


@final
@dataclass(frozen=True)
class Hamming(_CountingKernel):
    """The Hamming kernel: the share of steps at which the same player enters.

    Examples
    --------
    >>> Hamming().gram([[0, 1, 2, 3]], [[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0]])
    array([[1. , 0.5, 0. ]])
    """

    def _elements(self, orderings: Orderings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.broadcast_to(np.arange(orderings.shape[1]), orderings.shape), orderings

    def mean(self, d: int) -> float:
        """Return E[K] = 1/d: each of d players is as likely to enter at a step."""
        return 1.0 / check_count("d", d, minimum=1)


@final
@dataclass(frozen=True)
class Adjacency(_CountingKernel):
    """The adjacency kernel: the share of neighbours, players that enter one directly after the other, in common.

    Parameters
    ----------
    directed : bool, default False
        Whether the order of two neighbours matters. If not, an ordering and its reverse are the same.

    Examples
    --------
    >>> Adjacency().gram([[0, 1, 2, 3]], [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]]).round(3)
    array([[1.   , 1.   , 0.667]])
    """

    directed: bool = False

    def _elements(self, orderings: Orderings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first, second = orderings[:, :-1], orderings[:, 1:]
        return (first, second) if self.directed else (np.minimum(first, second), np.maximum(first, second))

    def mean(self, d: int) -> float:
        """Return E[K]: 1/d for directed neighbours, 2/d otherwise; 0 for a single player, which has no neighbours."""
        d = check_count("d", d, minimum=1)
        return (1.0 if self.directed else 2.0) / d if d > 1 else 0.0


PAPER_KERNELS: dict[str, type[Kernel]] = {"mallows": Mallows, "kendall": Kendall, "spearman": Spearman}
"""The kernels of the paper."""

KERNELS: dict[str, type[Kernel]] = {**PAPER_KERNELS, "hamming": Hamming, "adjacency": Adjacency}
"""All kernels by name."""


def kernel_by_name(name: str, scale: float | None = None) -> Kernel:
    """Look up a kernel by name.

    Parameters
    ----------
    name : {"mallows", "kendall", "spearman", "hamming", "adjacency"}
    scale : float, optional
        λ of the Mallows kernel; the other kernels have no scale.

    Examples
    --------
    >>> kernel_by_name("mallows", 2.0)
    Mallows(scale=2.0)
    """
    check_choice("kernel", name, KERNELS)
    if scale is None:
        return KERNELS[name]()
    if name != "mallows":
        raise ValueError(f"the {name} kernel has no scale, got {scale!r}; only mallows has one")
    return Mallows(scale)


__all__ = [
    "KERNELS",
    "PAPER_KERNELS",
    "Adjacency",
    "DiscordanceKernel",
    "Hamming",
    "Kendall",
    "Kernel",
    "Mallows",
    "Spearman",
    "SummableKernel",
    "kernel_by_name",
]

"""Names of the array types that the package uses."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Orderings: TypeAlias = NDArray[np.int64]
"""(n, d): ``orderings[i, k]`` is the player that enters at step k of permutation i."""

Ranks: TypeAlias = NDArray[np.int64]
"""(n, d): ``ranks[i, p]`` is the step at which player p enters; the inverse of an ordering."""

Floats: TypeAlias = NDArray[np.float64]
"""Any array of real numbers: points, weights, Gram matrices."""

Codes: TypeAlias = NDArray[np.uint64]
"""(n, words): packed orderings, one bit per pair of players; see ``permutations._bits``."""

Coalitions: TypeAlias = NDArray[np.bool_]
"""(m, d): ``coalitions[i, p]`` is True if player p is a member of coalition i."""

RNG: TypeAlias = "np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | int | None"
"""What ``rng=`` accepts: any argument of ``np.random.default_rng``."""

__all__ = ["RNG", "ArrayLike", "Coalitions", "Codes", "Floats", "Orderings", "Ranks"]

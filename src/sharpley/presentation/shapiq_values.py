"""Interactions as shapiq's ``InteractionValues``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpley._support.typing import Floats


def interaction_values(
    values: Floats,
    labels: Sequence[tuple[int, ...]],
    *,
    index: str,
    d: int,
    base_value: float,
    n_evals: int,
    is_exact: bool,
) -> Any:
    """Return the components (m,) of sets of players, and the base value for the empty set."""
    try:
        from shapiq import InteractionValues
    except ImportError as error:
        raise ImportError("shapiq's InteractionValues need shapiq: pip install shapiq") from error
    sets = [(), *labels]
    return InteractionValues(
        values=np.concatenate([[base_value], values]),
        index=index,
        max_order=max(map(len, sets)),
        min_order=0,
        n_players=d,
        interaction_lookup={label: position for position, label in enumerate(sets)},
        estimated=not is_exact,
        estimation_budget=n_evals,
        baseline_value=base_value,
    )

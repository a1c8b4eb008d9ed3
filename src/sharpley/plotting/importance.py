"""A bar chart of global importance, with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley._support.checks import check_choice, check_count
from sharpley.plotting.axes import new_axes
from sharpley.result import Importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COHORTS = 5  # bars for each feature
INCHES_PER_BAR, INCHES_AROUND = 0.26, 1.1


def importance(
    found: Importance,
    *,
    level: float = 0.95,
    of: str = "population",
    max_display: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each feature, the most important at the top, with its confidence interval.

    Parameters
    ----------
    found : Importance
        What ``sharpley.importance`` returned, of one output; at most 5 cohorts are drawn beside each other.
    level : float, default 0.95
        Confidence level of the intervals.
    of : {"population", "rows"}, default "population"
        Whether the intervals are for the population that the rows are a sample of, or for these rows.
    max_display : int, default 20
        Maximum number of features to draw.
    ax : Axes, optional
        Axes to draw on; by default, those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> import sharpley
    >>> from sharpley import plotting
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = sharpley.importance(lambda x: 3 * x[:, 0] + x[:, 1], X, feature_names=["a", "b"], rng=0)
    >>> [label.get_text() for label in plotting.importance(found).get_yticklabels()]  # from the bottom to the top
    ['b', 'a']
    """
    check_choice("of", of, ("population", "rows"))
    d = len(found.names)
    cohorts = found.cohorts or [""]
    if found.values.size != d * len(cohorts):
        raise ValueError(
            f"importance of several outputs, {found.output_names}, cannot be drawn; pass output= to choose one"
        )
    if len(cohorts) > MOST_COHORTS:
        raise ValueError(f"{len(cohorts)} cohorts are too many for one picture, which has space for {MOST_COHORTS}")
    values, lower, upper = (part.reshape(len(cohorts), d) for part in (found.values, *found.interval(level, of=of)))
    most = check_count("max_display", max_display, minimum=1)
    shown = np.argsort(values.max(axis=0), kind="stable")[-most:]
    ax = new_axes(ax, height=max(2.0, INCHES_AROUND + INCHES_PER_BAR * len(shown) * max(1, 0.7 * len(cohorts))))
    width = 0.76 / len(cohorts)
    for number, cohort in enumerate(cohorts):
        at = np.arange(len(shown)) + width * ((len(cohorts) - 1) / 2 - number)
        middle, low, high = values[number, shown], lower[number, shown], upper[number, shown]
        errors = np.nan_to_num(np.stack([middle - low, high - middle]))
        style = {"ecolor": "0.15", "elinewidth": 1.2, "capsize": 2.5}
        ax.barh(at, middle, height=width, xerr=errors, color=f"C{number}", alpha=0.8, error_kw=style, label=cohort)
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), [found.names[player] for player in shown])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    left_out = d - len(shown)
    rest = f"; {left_out} less important ones not shown" if left_out else ""
    ax.set_xlabel(f"{found.measure} ({level:.0%} intervals{rest})")
    if found.cohorts is not None:
        ax.legend(loc="lower right")
    return ax

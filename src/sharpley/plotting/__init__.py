"""Plots of estimates: functions that draw and compute nothing; they need ``sharpley[plot]``.

Each function draws on the axes that are passed as ``ax``, or on those of a new figure, and returns the axes. New
figures do not belong to pyplot, so there is nothing to close; ``save`` writes them to a file.
"""

from sharpley.plotting.axes import save
from sharpley.plotting.confidence import intervals
from sharpley.plotting.curves import convergence

__all__ = ["convergence", "intervals", "save"]

"""Plots of estimates: functions that draw and compute nothing; they need ``sharpley[plot]``.

Each function draws on the axes that are passed as ``ax``, or on those of a new figure, and returns the axes. Notebooks
display new figures, in a script ``plt.show()`` does, and ``save`` writes them to a file.
"""

from sharpley.plotting.axes import save
from sharpley.plotting.confidence import intervals
from sharpley.plotting.curves import convergence, detection
from sharpley.plotting.image_page import image_page
from sharpley.plotting.images import error_bars, error_map, heat_map, overlay, picture, three_columns
from sharpley.plotting.interactions import interaction_matrix, interaction_network

__all__ = [
    "convergence",
    "detection",
    "error_bars",
    "error_map",
    "heat_map",
    "image_page",
    "interaction_matrix",
    "interaction_network",
    "intervals",
    "overlay",
    "picture",
    "save",
    "three_columns",
]

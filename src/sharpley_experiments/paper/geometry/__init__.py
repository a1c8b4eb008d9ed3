"""The geometric figures of the paper's Section 4, by their names on the command line.

Heavy libraries are not imported here: pandas, matplotlib, plotly and scipy are imported when a figure is computed or
drawn.
"""

from __future__ import annotations

from sharpley_experiments.paper.exhibits import Exhibit
from sharpley_experiments.paper.geometry.cayley import CAYLEY_3, CAYLEY_4
from sharpley_experiments.paper.geometry.codes import CODES
from sharpley_experiments.paper.geometry.kendall_bounds import BOUNDS
from sharpley_experiments.paper.geometry.kendall_distribution import DISTRIBUTION
from sharpley_experiments.paper.geometry.sobol_histogram import HISTOGRAM
from sharpley_experiments.paper.geometry.sobol_sphere import SPHERE
from sharpley_experiments.paper.geometry.voronoi import VORONOI

GEOMETRY: dict[str, Exhibit] = {
    exhibit.name: exhibit for exhibit in (CAYLEY_3, CAYLEY_4, VORONOI, CODES, DISTRIBUTION, BOUNDS, SPHERE, HISTOGRAM)
}

"""The tables of the paper, by their names on the command line.

Heavy libraries are not imported here: pandas, matplotlib and scipy are imported when a table is computed or drawn.
"""

from __future__ import annotations

from sharpley_experiments.paper.exhibits import Exhibit
from sharpley_experiments.paper.tables.algorithms import ALGORITHMS
from sharpley_experiments.paper.tables.complexity import COMPLEXITY
from sharpley_experiments.paper.tables.data import DATA_SETS
from sharpley_experiments.paper.tables.discrepancy import DISCREPANCY

TABLES: dict[str, Exhibit] = {exhibit.name: exhibit for exhibit in (COMPLEXITY, DATA_SETS, ALGORITHMS, DISCREPANCY)}

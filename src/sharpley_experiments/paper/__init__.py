"""The paper's experiments: every figure and table is an ``Exhibit``, listed by ``all_exhibits``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharpley_experiments.paper.exhibits import Exhibit

ORDER = (
    "cayley-graph-3",
    "cayley-graph-4",
    "voronoi-cells",
    "orthogonal-codes",
    "kendall-distribution",
    "kendall-bounds",
    "sobol-sphere",
    "sobol-histogram",
    "complexity",
    "datasets",
    "algorithms",
    "existing-gbdt",
    "proposed-gbdt",
    "proposed-mlp",
    "table-discrepancy",
    "images",
    "images-time",
    "lambda-gbdt",
    "lambda-mlp",
    "images-lambda",
    "argmax-samples",
    "kernels",
    "propositions",
    "herding-rate",
    "functions",
    "orthogonal-blocks",
    "clustering",
    "ours-gbdt",
    "ours-mlp",
    "own-draws",
    "images-ours",
)
"""Names of the exhibits in the order of the paper, then claims of its text, then what goes beyond it."""


def all_exhibits() -> dict[str, Exhibit]:
    """Return every figure and table of the paper by name, in the order of the paper."""
    from sharpley_experiments.paper.evaluation import CURVES
    from sharpley_experiments.paper.geometry import GEOMETRY
    from sharpley_experiments.paper.images import IMAGES
    from sharpley_experiments.paper.tables import TABLES
    from sharpley_experiments.paper.theory import THEORY

    found = {**GEOMETRY, **TABLES, **CURVES, **IMAGES, **THEORY}
    return {name: found[name] for name in sorted(found, key=ORDER.index)}

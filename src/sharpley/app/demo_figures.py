"""The figures of ``sharpley demo``, drawn from a study alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharpley import plotting
from sharpley.app.demo_study import FEATURES, Study
from sharpley.plotting.axes import forget, from_pyplot, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS, THEIRS = "C0", "#D55E00"


def figures(study: Study) -> dict[str, Axes]:
    """Draw every figure, and return their axes by name."""
    return {
        "beeswarm": beeswarm(study),
        "waterfall": waterfall(study),
        "comparison": comparison(study),
        "errors": errors(study),
    }


def beeswarm(study: Study) -> Axes:
    """Draw the values of all patients, by shap."""
    import shap

    return from_pyplot(lambda: shap.plots.beeswarm(study.explanation, show=False), size=(6.4, 5))


def waterfall(study: Study) -> Axes:
    """Draw one prediction with its error bars, by shap."""
    import shap

    one = study.explanation[study.patient]
    ax = from_pyplot(lambda: shap.plots.waterfall(one, show=False), size=(6.4, 5.6))
    low, high = ax.get_xlim()
    for each in ax.figure.axes:  # shap's labels of small negative values need space on the left
        each.set_xlim(low - 0.12 * (high - low), high)
    return ax


def comparison(study: Study) -> Axes:
    """Draw the intervals of one patient, with the exact values and those of shap."""
    one = study.patient
    ax = forget(plotting.intervals(study.estimate[one], exact=study.exact[one]))
    features = [FEATURES.index(label.get_text()) for label in ax.get_yticklabels()]
    ax.scatter(
        study.of_shap[one, features], np.arange(len(features)), marker="x", c=THEIRS, s=32, zorder=5, label="shap"
    )
    ax.legend()
    return ax


def errors(study: Study) -> Axes:
    """Draw the share of values whose error is below a bound, over the bound."""
    ax = forget(new_axes(None))
    share = (np.arange(study.exact.size) + 1) / study.exact.size
    sides = (("Sharpley", study.estimate.values, OURS), ("shap", study.of_shap, THEIRS))
    for name, values, colour in sides:
        distances = np.sort(np.abs(values - study.exact).reshape(-1))
        ax.plot(distances, share, color=colour, linewidth=2, label=name)
        ax.plot(np.median(distances), 0.5, "o", color=colour)
    ax.set_xscale("log")
    ax.set_xlim(left=np.quantile(np.abs(study.estimate.values - study.exact), 0.02))
    ax.set_xlabel("error of a value")
    ax.set_ylabel("share of values with a smaller error")
    ax.grid(alpha=0.25)
    ax.legend(title="from as many predictions")
    return ax

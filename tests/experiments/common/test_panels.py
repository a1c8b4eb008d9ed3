"""Figures with a panel for each game."""

import numpy as np
import pytest

from sharpley_experiments.common.panels import draw_line, draw_panels, log_log

LINES = {"first": ("a", "b"), "second": ("b", "c"), "third": ("a",), "fourth": ("c",)}


def figure_of(lines):
    def draw_panel(panel, name):
        for k, label in enumerate(lines[name], start=1):
            means = k / np.array([10.0, 100.0])
            draw_line(panel, [10, 100], means, (0.9 * means, 1.1 * means), label=label, look={"color": "black"})
        log_log(panel)
        return f"game {name}"

    return draw_panels("Errors", "a note", list(lines), draw_panel, axes=("number", "error"))


def test_every_game_has_a_panel_with_its_title_and_logarithmic_axes():
    panels = [panel for panel in figure_of(LINES).axes if panel.get_visible()]
    assert [panel.get_title() for panel in panels] == [f"game {name}" for name in LINES]
    assert {(panel.get_xscale(), panel.get_yscale()) for panel in panels} == {("log", "log")}
    assert [panel.get_ylabel() for panel in panels] == ["error", "", "", "error"]
    assert [panel.get_xlabel() for panel in panels] == ["", "number", "number", "number"]


def test_the_legend_has_each_label_of_any_panel_once():
    (legend,) = figure_of(LINES).legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]


def test_bands_span_the_intervals():
    panel = figure_of({"only": ("a",)}).axes[0]
    (line,), (band,) = panel.lines, panel.collections
    corners = band.get_paths()[0].vertices
    np.testing.assert_allclose(line.get_ydata(), [0.1, 0.01])
    at_10 = sorted({float(y) for x, y in corners if x == 10})
    assert at_10 == pytest.approx([0.09, 0.11])

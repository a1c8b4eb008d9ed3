"""Exhibits, the figures and tables of the paper: a run yields a table, and figures are drawn from that table alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Verdict: TypeAlias = Literal["holds", "holds in part", "does not hold", "undecided", "not judged", "remark"]
"""Whether a claim holds. ``RULES`` in ``rules`` say when it gets which verdict."""


@dataclass(frozen=True)
class Preset:
    """How large the runs are. What is measured, and how, is the same in all presets.

    Attributes
    ----------
    name : str
        "quick" (seconds, for tests), "laptop", "images" (laptop with images at the paper's size) or "paper".
    n_pairs : int
        Number of pairs of orderings whose Kendall correlations are counted.
    n_scatter : int
        Number of pairs of orderings in the scatter plot of Kendall correlations and dot products.
    n_bases : int
        Number of random orthonormal bases.
    n_scrambles : int
        Number of independent scramblings of a Sobol' sequence, and of random samples to compare them with.
    n_rows, n_background, n_train : int
        Number of rows to explain, of background rows, and maximum number of rows to train models on.
    n_experiments, n_network_experiments : int
        Number of experiments for each data set, with boosted trees and with neural networks: models, rows to explain
        and backgrounds.
    n_trials : int
        Number of independent trials of each method in each experiment; methods without orderings have a fifth.
    n_own_trials : int
        Number of trials with background rows of their own.
    n_few_players, n_many_players : int
        Maximum number of orderings with up to 50 players, and with more.
    n_network : int
        Maximum number of orderings for neural networks.
    n_ours : int
        Maximum number of orderings with which methods of this library that the paper does not have are compared.
    table_d, table_n, table_trials : int
        Maximum number of players and of orderings in the table of discrepancies, and number of its trials.
    n_blocks : int
        Number of orthogonal blocks whose correlations are estimated in each experiment.
    n_doublings : int
        Number of times the number of orderings is doubled when times are measured.
    n_repetitions : int
        Number of measurements of each time.
    """

    name: str
    n_pairs: int
    n_scatter: int
    n_bases: int
    n_scrambles: int
    n_rows: int
    n_background: int
    n_train: int
    n_experiments: int
    n_network_experiments: int
    n_trials: int
    n_own_trials: int
    n_few_players: int
    n_many_players: int
    n_network: int
    n_ours: int
    table_d: int
    table_n: int
    table_trials: int
    n_blocks: int
    n_doublings: int
    n_repetitions: int


@dataclass(frozen=True)
class Context:
    """How an exhibit is run.

    Attributes
    ----------
    preset : Preset
    folder : Path
        Where finished cells are stored, for the next run to find.
    data : Path or None
        Folder with data sets; None to download them.
    jobs : int
        Number of processes; -1 for one per core. Results do not depend on it.
    is_stored_only : bool
        Whether to show the cells that are stored, and compute no others; of exhibits of images.
    """

    preset: Preset
    folder: Path
    data: Path | None = None
    jobs: int = 1
    is_stored_only: bool = False


class Details(NamedTuple):
    """Numbers behind a verdict, as a small table for readers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Finding(NamedTuple):
    """The verdict on one claim of the paper, with the evidence in words, and its numbers if there are several."""

    claim: str
    verdict: Verdict
    evidence: str
    details: Details | None = None
    rule: str = ""
    """What makes the claim hold or not; if empty, the rule of the exhibit."""


def no_findings(table: DataFrame) -> list[Finding]:
    """No findings: for exhibits that illustrate and make no claim."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """One figure or table of the paper, or what stands beside them.

    Attributes
    ----------
    name : str
        Name on the command line.
    title : str
        Title of the figure and of its section of the page.
    paper : str
        What the paper shows or states there, in our words.
    compute : callable
        Context -> tidy table. Seeds are fixed, so the same preset yields the same table (except for times).
    draw : callable or None
        (table, note) -> figure. The note, such as "preset: laptop", is shown in small print in a corner.
    tabulate : callable or None
        Table -> table for readers: few columns, plain headings, rounded numbers as text.
    interactive : callable or None
        Table -> HTML fragment that can be rotated with the mouse. It does not contain the library plotly.js: the page
        adds that once, as ``<script>`` with the text of ``plotly.offline.get_plotlyjs()``, before the first fragment.
    findings : callable
        Table -> verdicts on the claims of the paper.
    source : str
        Where the paper has it: "Figure 9", "Table 4", or "Section 3.1" for claims of the text alone. Empty if the paper
        has nothing of it.
    rule : str
        What makes its claims hold or not, for findings without a rule of their own.
    """

    name: str
    title: str
    paper: str
    compute: Callable[[Context], DataFrame]
    draw: Callable[[DataFrame, str], Figure] | None = None
    tabulate: Callable[[DataFrame], DataFrame] | None = None
    interactive: Callable[[DataFrame], str] | None = None
    findings: Callable[[DataFrame], list[Finding]] = no_findings
    source: str = ""
    rule: str = ""

    @property
    def is_of_paper(self) -> bool:
        """Whether this is a figure or table of the paper."""
        return self.source.startswith(("Figure", "Table"))

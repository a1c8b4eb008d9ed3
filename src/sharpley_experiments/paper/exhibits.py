"""Exhibits, the figures and tables of the paper: a run yields a table, and figures are drawn from that table alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Verdict: TypeAlias = Literal["holds", "holds in part", "does not hold", "undecided"]
"""Whether a claim holds; "undecided" if the trials are too few or too noisy to tell."""


@dataclass(frozen=True)
class Preset:
    """How large the runs are. What is measured, and how, is the same in all presets.

    Attributes
    ----------
    name : str
        "quick" (seconds, for tests), "laptop" or "paper".
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
    n_trials : int
        Number of independent trials of each method.
    n_network_trials : int
        Number of trials for neural networks with too many players to enumerate all coalitions.
    n_few_players, n_many_players, n_network : int
        Maximum number of orderings: with up to 50 players, with more than 50, and for neural networks with too many
        players to enumerate all coalitions.
    table_d, table_n : int
        Maximum number of players and of orderings in the table of discrepancies.
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
    n_trials: int
    n_network_trials: int
    n_few_players: int
    n_many_players: int
    n_network: int
    table_d: int
    table_n: int
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
    """

    preset: Preset
    folder: Path
    data: Path | None = None
    jobs: int = 1


class Finding(NamedTuple):
    """The verdict on one claim of the paper, with the evidence."""

    claim: str
    verdict: Verdict
    evidence: str


def verdict(agree: int, against: int, undecided: int) -> Verdict:
    """Verdict on a claim from the numbers of comparisons that agree with it, contradict it, or are undecided.

    The claim holds if all comparisons agree, and holds in part if some agree and no more than those contradict it.
    """
    if against:
        return "holds in part" if agree >= against else "does not hold"
    if not agree:
        return "undecided"
    return "holds in part" if undecided else "holds"


def no_findings(table: DataFrame) -> list[Finding]:
    """No findings: for exhibits that illustrate and make no claim."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """One figure or table of the paper.

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
    """

    name: str
    title: str
    paper: str
    compute: Callable[[Context], DataFrame]
    draw: Callable[[DataFrame, str], Figure] | None = None
    tabulate: Callable[[DataFrame], DataFrame] | None = None
    interactive: Callable[[DataFrame], str] | None = None
    findings: Callable[[DataFrame], list[Finding]] = no_findings

"""What a figure or table of the paper is here: a run that gives a table, and pictures drawn from that table alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Verdict: TypeAlias = Literal["holds", "holds in part", "does not hold", "undecided"]
"""The last where the trials are too few or too noisy to tell."""


@dataclass(frozen=True)
class Preset:
    """Sizes of the runs. A preset changes sizes only: what is measured, and how, is the same in all of them.

    Attributes
    ----------
    name : str
        "quick" (seconds, for tests), "laptop" or "paper".
    n_pairs : int
        Pairs of orderings whose Kendall correlations are counted.
    n_scatter : int
        Pairs of orderings that are kept one by one, each a dot of a figure.
    n_bases : int
        Random orthonormal bases.
    n_scrambles : int
        Independent scramblings of a Sobol' sequence, and as many random samples to compare with.
    n_rows, n_background, n_train : int
        Rows that are explained, rows of background, and rows to train models on at most.
    n_trials : int
        Independent trials of each method.
    n_network_trials : int
        The same for neural networks of more players than can be enumerated.
    n_few_players, n_many_players, n_network : int
        Orderings at most: with up to 50 players, with more, and for networks that cannot be enumerated.
    table_d, table_n : int
        Largest number of players and of orderings in the table of discrepancies.
    n_doublings : int
        How often the number of orderings is doubled where times are measured.
    n_repetitions : int
        Measurements of each time.
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
        Where finished cells are stored, and found again by the next run.
    data : Path or None
        Folder with data sets; None to download them.
    jobs : int
        Processes; -1 for one on each core. Results do not depend on it.
    """

    preset: Preset
    folder: Path
    data: Path | None = None
    jobs: int = 1


class Finding(NamedTuple):
    """What was measured about one claim of the paper."""

    claim: str
    verdict: Verdict
    evidence: str


def verdict(agree: int, against: int, undecided: int) -> Verdict:
    """A claim holds if every comparison says so, and in part if as many agree as contradict, or more."""
    if against:
        return "holds in part" if agree >= against else "does not hold"
    if not agree:
        return "undecided"
    return "holds in part" if undecided else "holds"


def no_findings(table: DataFrame) -> list[Finding]:
    """For exhibits that illustrate and claim nothing."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """One figure or table of the paper.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
    paper : str
        What the paper shows or states there, in our words.
    compute : callable
        Context -> tidy table; seeds are fixed, so the same preset gives the same table (but for seconds).
    draw : callable or None
        (table, note) -> figure. The note, such as "preset: laptop", is shown small in a corner.
    tabulate : callable or None
        Table -> table for readers: few columns, plain headings, rounded numbers as text.
    interactive : callable or None
        Table -> fragment of a page that can be turned with the mouse. It does not hold the library plotly.js: the page
        adds that once, as ``<script>`` with the text of ``plotly.offline.get_plotlyjs()``, before the first fragment.
    findings : callable
        Table -> what it says about the paper's claims.
    """

    name: str
    title: str
    paper: str
    compute: Callable[[Context], DataFrame]
    draw: Callable[[DataFrame, str], Figure] | None = None
    tabulate: Callable[[DataFrame], DataFrame] | None = None
    interactive: Callable[[DataFrame], str] | None = None
    findings: Callable[[DataFrame], list[Finding]] = no_findings

"""What several studies use: command-line options, games of tree ensembles, Markdown tables and bootstrap intervals."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games import TreeGame
from sharpley_experiments.common.constants import PLAYERS
from sharpley_experiments.common.datasets import load
from sharpley_experiments.common.intervals import Interval
from sharpley_experiments.common.models import make_task, train_xgboost

DATA_SETS = tuple(PLAYERS)
"""The paper's six data sets, in the order in which the tables show them."""

QUICK_DATA_SETS = ("make_regression",)
"""Data that scikit-learn generates, so that a quick run needs no files."""

DATA_FOLDER = Path("../shared/data")
RESAMPLES = 4000


def study_parser(description: str | None, *, quick: str) -> ArgumentParser:
    """Return a command-line parser with the option ``--quick``.

    Parameters
    ----------
    description : str or None
        The study's docstring, which ``--help`` shows as it is.
    quick : str
        What ``--quick`` reduces, for the help.

    Examples
    --------
    >>> study_parser("A study.", quick="few seeds").parse_args(["--quick"]).quick
    True
    """
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{quick}, to see that it works")
    return parser


def add_data_option(parser: ArgumentParser) -> None:
    """Add the option ``--data``, the folder of the data sets.

    Examples
    --------
    >>> parser = study_parser("A study.", quick="few seeds")
    >>> add_data_option(parser)
    >>> parser.parse_args(["--data", "files"]).data.name
    'files'
    """
    help_text = f"folder of the data sets (default: {DATA_FOLDER})"
    parser.add_argument("--data", type=Path, default=DATA_FOLDER, help=help_text)


def add_out_option(parser: ArgumentParser, default: Path | None, written: str) -> None:
    """Add the option ``--out``, the file or folder that the study writes.

    Parameters
    ----------
    parser : ArgumentParser
    default : Path or None
        Where results go without the option; None for a study that then only prints them.
    written : str
        What ``--out`` names, for the help.

    Examples
    --------
    >>> parser = study_parser("A study.", quick="few seeds")
    >>> add_out_option(parser, None, "Markdown file to write")
    >>> parser.parse_args([]).out is None
    True
    """
    help_text = f"{written} (default: {default or 'print only'})"
    parser.add_argument("--out", type=Path, default=default, help=help_text)


def tree_game(name: str, data: Path) -> TreeGame:
    """Return the games of ten rows of a data set, explained by XGBoost against 100 background rows.

    Parameters
    ----------
    name : str
        One of ``DATA_SETS``.
    data : Path
        Folder of the data sets.

    Examples
    --------
    >>> game = tree_game("make_regression", DATA_FOLDER)
    >>> game.d, game.n_rows
    (10, 10)
    """
    dataset = load(name, data)
    task = make_task(dataset, train_xgboost(dataset))
    return TreeGame(task.model, task.background, task.rows)


def markdown_row(cells: Iterable[object]) -> str:
    """Return one line of a Markdown table.

    Examples
    --------
    >>> markdown_row(["gp", 10])
    '| gp | 10 |'
    """
    return "| " + " | ".join(map(str, cells)) + " |"


def markdown_head(columns: Sequence[str], *, n_text: int = 1) -> list[str]:
    """Return the two lines above the rows of a Markdown table.

    Parameters
    ----------
    columns : sequence of str
    n_text : int
        Number of columns on the left that hold text; the others hold numbers and are aligned to the right.

    Examples
    --------
    >>> markdown_head(["method", "error"])
    ['| method | error |', '|---|--:|']
    """
    return [markdown_row(columns), "|" + "---|" * n_text + "--:|" * (len(columns) - n_text)]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    r"""Write lines to a file, whose folder is made if it does not exist.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_lines(Path(folder) / "new" / "page.md", ["A title", ""])
    ...     (Path(folder) / "new" / "page.md").read_text(encoding="utf-8")
    'A title\n\n'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def bootstrap_mean(values: Floats) -> Interval:
    """Return the mean of independent values (n,), with its 95% bootstrap interval.

    Examples
    --------
    >>> bootstrap_mean(np.array([1.0, 1.0]))
    Interval(value=1.0, low=1.0, high=1.0)
    """
    return _interval(float(values.mean()), values[_resamples(len(values))].mean(axis=1))


def bootstrap_ratio(above: Floats, below: Floats) -> Interval:
    """Return the ratio of two means over the same seeds, (n,) each, with its 95% bootstrap interval over seeds.

    Examples
    --------
    >>> bootstrap_ratio(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    Interval(value=0.5, low=0.5, high=0.5)
    """
    picks = _resamples(len(above))
    return _interval(float(above.mean() / below.mean()), above[picks].mean(axis=1) / below[picks].mean(axis=1))


def _resamples(n: int) -> NDArray[np.int64]:
    """Positions of the values in each resample, (RESAMPLES, n): always the same, so that tables can be reproduced."""
    return np.random.default_rng(0).integers(n, size=(RESAMPLES, n))


def _interval(value: float, resampled: Floats) -> Interval:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Interval(value, float(low), float(high))

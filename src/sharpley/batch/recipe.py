"""What is needed to explain rows anywhere: the model, the background and the settings.

A recipe is sent once to every process that explains rows. That process loads the model, predicts the background and
keeps both; then rows come and results go.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sharpley import __version__
from sharpley._support.reading import first_line
from sharpley.batch.models import ModelSource
from sharpley.engine.progress import LongRunWarning
from sharpley.engine.timing import EstimatorTimeWarning
from sharpley.explainer import Explainer
from sharpley.presentation import row_table

if TYPE_CHECKING:
    from sharpley.result import ShapleyEstimate

OUT_OF_MEMORY = "out of memory; a smaller --batch-size, or fewer --rows-per-part, need less"


@dataclass(frozen=True)
class Options:
    """Settings that results depend on, with the names and meanings that they have for an explainer.

    Parameters
    ----------
    method, draws, link, unbiased, groups, output, batch_size
        As for ``Explainer``.
    max_evals, max_predictions, tol
        As for ``Explainer.estimate``.
    seed : int, default 0
        The same seed gives the same results.

    Examples
    --------
    >>> from sharpley.batch import Options
    >>> Options(max_predictions=200).method
    'auto'
    """

    method: str = "auto"
    draws: str = "auto"
    link: str | None = None
    unbiased: bool = False
    max_evals: int | None = None
    max_predictions: int | None = None
    tol: float | None = None
    groups: Mapping[str, list[str]] | None = None
    output: Any = None
    seed: int = 0
    batch_size: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by name, in types that JSON has."""
        return asdict(self)


@dataclass(frozen=True)
class Recipe:
    """The model, the background and the settings.

    Parameters
    ----------
    model : ModelSource
        The model, not loaded.
    background : DataFrame
        Background rows, whose columns are the features.
    options : Options
        Settings of the explanation.
    key : str
        Identifies the recipe.
    """

    model: ModelSource
    background: Any
    options: Options
    key: str
    version: str = field(default=__version__)

    def explainer(self) -> Explainer:
        """Return the explainer, with the model loaded."""
        if self.version != __version__:
            raise RuntimeError(f"this process has sharpley {__version__}, but the run was started with {self.version}")
        options = self.options
        return Explainer(
            self.model.load(),
            self.background,
            method=options.method,  # type: ignore[arg-type] # the command line takes any text, which is checked
            draws=options.draws,  # type: ignore[arg-type]
            link=options.link,
            output=options.output,
            groups=options.groups,
            rng=options.seed,
            unbiased=options.unbiased,
            independent_rows=True,
            batch_size=options.batch_size,
        )


class RowsError(ValueError):
    """Some rows could not be explained."""


class _Explainers:
    """The explainers of this process, one for each recipe; rows are explained by one thread at a time.

    Linear algebra is limited to one thread for the whole process, which two explanations at a time could undo.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._explainers: dict[str, Explainer] = {}

    def estimate(self, recipe: Recipe, rows: Any) -> ShapleyEstimate:
        """Return the estimate for a frame of rows."""
        options = recipe.options
        with self._lock, warnings.catch_warnings():
            for category in (LongRunWarning, EstimatorTimeWarning):
                warnings.simplefilter("ignore", category)
            warnings.filterwarnings("ignore", ".*did not reach tol", RuntimeWarning)  # they are counted
            if recipe.key not in self._explainers:
                self._explainers[recipe.key] = recipe.explainer()
            return self._explainers[recipe.key].estimate(
                rows,
                max_evals=options.max_evals,
                max_predictions=options.max_predictions,
                tol=options.tol,
                progress=False,
            )


HERE = _Explainers()


def explain(recipe: Recipe, rows: Any, start: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return results of a frame of rows, as columns of a table and facts about all of them.

    ``start`` is the number of the first row, for messages.
    """
    try:
        found = HERE.estimate(recipe, rows)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a model raises, or ends the process by; its calls add a note
        notes = getattr(error, "__notes__", None)
        if notes is None and start == 0 and isinstance(error, ValueError | TypeError):  # of the settings
            raise
        said = OUT_OF_MEMORY if isinstance(error, MemoryError) else first_line(error)
        said = f"the model called sys.exit({said})" if isinstance(error, SystemExit) else said
        where = "; ".join([f"X is rows {start} to {start + len(rows) - 1} of the data", *(notes or ())])
        raise RowsError(f"{said} ({where})") from error
    shape = found.labelled().values.shape
    fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
    return row_table.columns(fields, shape), row_table.about(fields, shape)

"""What a run would cost, before it starts."""

from __future__ import annotations

from collections.abc import Sequence

from sharpley.batch.frames import random_rows, sample_frame
from sharpley.batch.recipe import Options
from sharpley.batch.request import make_request
from sharpley.forecast import MOST_SORTED, readable

PILOT_ROWS = 40  # explained for the forecast


def forecast_files(
    model: str,
    data: str,
    background: str,
    *,
    options: Options | None = None,
    id_column: str | None = None,
    jobs: int = 1,
    trust_pickle: bool = False,
    trusted_types: Sequence[str] = (),
) -> str:
    """Say what ``explain_files`` would cost with the same arguments, from a few random rows; nothing is written.

    Parameters
    ----------
    model, data, background, options, id_column, jobs, trust_pickle, trusted_types
        As for ``explain_files``.

    Returns
    -------
    str
        Meant to be read. The time is that of one process on this machine; what several would take is no measurement,
        but that time divided by their number.
    """
    request = make_request(
        model,
        data,
        background,
        options=options,
        id_column=id_column,
        trust_pickle=trust_pickle,
        trusted_types=trusted_types,
    )
    recipe = request.recipe("plan")
    explainer = recipe.explainer()
    n, limits = request.data.n_rows, request.options
    budget = {"max_evals": limits.max_evals, "max_predictions": limits.max_predictions, "tol": limits.tol}
    sample = sample_frame(request.data, random_rows(n, MOST_SORTED, limits.seed), recipe.background)
    found = explainer.plan(sample, **budget, pilot_rows=PILOT_ROWS, n_rows=n)  # type: ignore[arg-type]
    lines = [str(found)]
    if jobs not in (1, -1):
        lines.append(f"in {jobs} processes about {readable(found.seconds / jobs)}, if each has a core of its own")
    return "\n".join(lines)

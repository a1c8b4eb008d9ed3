"""Files in, files out: the whole run, from the first check to the summary."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sharpley import __version__
from sharpley._support.atomic import replacing
from sharpley._support.checks import check_count
from sharpley._support.reading import digest_of
from sharpley._support.workers import behind
from sharpley.batch import engines
from sharpley.batch.frames import frame_of
from sharpley.batch.journal import Journal, differences
from sharpley.batch.outcome import Outcome
from sharpley.batch.parts import Explained, Part, Task
from sharpley.batch.recipe import Options, explain
from sharpley.batch.request import Request, make_request
from sharpley.presentation import row_table
from sharpley.presentation.parquet import pyarrow

PARTS, LEAST_ROWS, MOST_ROWS = 100, 100, 10_000  # the default: so many parts, of so many rows at least and at most


def explain_files(
    model: str,
    data: str,
    background: str,
    out: str | Path,
    *,
    options: Options | None = None,
    id_column: str | None = None,
    rows_per_part: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    restart: bool = False,
    trust_pickle: bool = False,
    trusted_types: Sequence[str] = (),
    progress: bool | None = None,
) -> Outcome:
    """Explain all rows of files, and write the results to a folder of Parquet files: ``sharpley explain``.

    Interrupted or killed, the same call goes on where it stopped. Results do not depend on that, nor on ``jobs``,
    ``scheduler`` and ``rows_per_part``.

    Parameters
    ----------
    model : str
        A file of XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm), ONNX or skops, or "module:function".
    data, background : str
        A Parquet, Feather or CSV file, a folder of these, or a pattern such as ``"X/*.parquet"``.
    out : str or Path
        Folder for the results, which ``sharpley.load`` reads.
    options : Options, optional
        Settings of the explanation.
    id_column : str, optional
        Column of the data that identifies rows in the results.
    rows_per_part : int, optional
        Number of rows of each file; by default, there are about a hundred files of 100 to 10,000 rows.
    jobs : int, default 1
        Number of processes; -1 for one per core.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers explain the rows.
    restart : bool, default False
        Whether to discard what is in the folder.
    trust_pickle : bool, default False
        Whether the model may be a pickle, which can run any code.
    trusted_types : sequence of str
        Types that a skops file may have, in addition to those that are known to be harmless.
    progress : bool, optional
        Whether to show a progress bar: by default on a terminal.

    Returns
    -------
    Outcome
        Its printed form is a summary.

    Examples
    --------
    >>> import sys, tempfile
    >>> from pathlib import Path
    >>> import pandas as pd, sharpley
    >>> from sharpley.batch import explain_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sys.path.append(folder)
    ...     _ = Path(folder, "area.py").write_text("def of(rows): return rows['width'] * rows['height']")
    ...     table = f"{folder}/rectangles.csv"
    ...     pd.DataFrame({"width": [1.0, 2.0], "height": [1.0, 3.0]}).to_csv(table, index=False)
    ...     outcome = explain_files("area:of", table, table, f"{folder}/phi")
    ...     sharpley.load(f"{folder}/phi").values
    array([[-1. , -1.5],
           [ 1. ,  1.5]])
    """
    started = time.perf_counter()
    request = make_request(
        model,
        data,
        background,
        options=options,
        id_column=id_column,
        trust_pickle=trust_pickle,
        trusted_types=trusted_types,
    )
    with Journal(Path(out), restart=restart) as journal:
        run = Run(request, journal, rows_per_part)
        run.begin()
        run.explain(jobs, scheduler, progress)
        return run.outcome(time.perf_counter() - started)


class Run:
    """One run: the plan, what is missing, and the files that are written."""

    def __init__(self, request: Request, journal: Journal, rows_per_part: int | None) -> None:
        self._request, self._journal = request, journal
        self._rows_per_part = _rows_per_part(request.data.n_rows, journal.plan, rows_per_part)
        self._plan = self._make_plan()
        self.recipe = request.recipe(hashlib.sha256(json.dumps(self._plan, sort_keys=True).encode()).hexdigest())
        self._new_rows = 0
        self._ids: dict[int, Any] = {}  # of the rows of parts that are under way

    def _make_plan(self) -> dict[str, Any]:
        """Return everything that results depend on, and how rows are divided; no names of files or folders."""
        request = self._request
        return {
            "version": __version__,
            **request.options.as_dict(),
            "id_column": request.id_column,
            "features": request.features,
            "rows": request.data.n_rows,
            "rows_per_part": self._rows_per_part,
            "model": request.model.fingerprint,
            "data": request.data.fingerprint,
            "background": request.background.fingerprint,
        }

    @property
    def parts(self) -> Iterator[Part]:
        """All parts."""
        n, size = self._request.data.n_rows, self._rows_per_part
        for number, start in enumerate(range(0, n, size)):
            yield Part(number, start, min(n, start + size))

    def begin(self) -> None:
        """Compare the plan with the journal, explain one row so that mistakes show at once, and write the plan."""
        before = self._journal.plan
        if before is not None and (changed := differences(before, self._plan)):
            raise ValueError(
                f"the results in the folder are those of other settings: {'; '.join(changed)}. "
                "Use the same settings to go on, another folder, or --restart to begin anew"
            )
        explain(self.recipe, self._request.first_row(self.recipe.background))
        if before is None:
            self._journal.begin(self._plan)

    def explain(self, jobs: int, scheduler: str | None, progress: bool | None) -> None:
        """Explain the parts that are not finished, and write each as soon as it is known."""
        missing = [part for part in self.parts if not self._journal.is_finished(part)]
        if not missing:
            return
        done = self._request.data.n_rows - sum(map(len, missing))
        results = engines.run(self.recipe, self._tasks(missing), jobs=jobs, scheduler=scheduler)
        with closing(results), _bar(progress, self._request.data.n_rows, done) as bar:
            for found in behind(self._write, results):
                self._new_rows += len(found.part)
                bar.update(len(found.part))

    def _tasks(self, missing: Sequence[Part]) -> Iterator[Task]:
        """Yield parts with their rows, as frames; the ids of rows are kept."""
        ranges = [(part.start, part.stop) for part in missing]
        for part, table, ids in zip(missing, self._request.tables(ranges), self._request.ids(ranges), strict=False):
            self._ids[part.number] = ids
            yield part, frame_of(table, self.recipe.background, range(part.start, part.stop))

    def _write(self, found: Explained) -> None:
        """Write the file of a part: under another name until it is complete and on disk; then name it."""
        pa, _ = pyarrow()
        part, k = found.part, found.facts["outputs"]
        ids = self._ids.pop(part.number)
        whole: dict[str, Any] = {"row": np.repeat(np.arange(part.start, part.stop), k)}
        if ids is not None:
            whole["id"] = ids.take(pa.array(np.repeat(np.arange(len(part)), k)))
        table = pa.table(whole | found.columns)
        about = found.facts | {"run": self.recipe.key, "rows": (part.start, part.stop)}
        about |= {"of_rows": self._request.data.n_rows, "settings": self._plan}
        path = self._journal.path_of(part)
        with replacing(path) as stream:
            row_table.write(stream, table, about)
        facts = {
            "bytes": path.stat().st_size,
            "sha256": digest_of(path).hex(),
            "predictions": int(np.sum(found.columns["n_predictions"][::k])),
            "unconverged": int(np.sum(~found.columns["converged"][::k])),
            "seconds": round(float(found.seconds), 3),
        }
        self._journal.finish(part, facts)

    def outcome(self, seconds: float) -> Outcome:
        """Return what was done."""
        every = self._journal.finished.values()
        total, missed = (sum(each[name] for each in every) for name in ("predictions", "unconverged"))
        n = self._request.data.n_rows
        return Outcome(self._journal.folder, n, self._new_rows, total, seconds, missed)


def _bar(show: bool | None, n_rows: int, done: int) -> Any:
    """Return a progress bar over rows, which starts with those that are finished; None shows it on a terminal."""
    from tqdm.auto import tqdm

    disable = None if show is None else not show
    return tqdm(total=n_rows, initial=done, unit="row", unit_scale=True, disable=disable, desc="rows")


def _rows_per_part(n: int, plan: Mapping[str, Any] | None, given: int | None) -> int:
    """Return how many rows a part has: as given, as in the journal, or so that there are about a hundred parts."""
    if given is not None:
        return check_count("rows_per_part", given, minimum=1)
    if plan is not None:
        return int(plan["rows_per_part"])
    return int(np.clip(-(-n // PARTS), LEAST_ROWS, MOST_ROWS))

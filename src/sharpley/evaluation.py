"""Which coalitions are evaluated, and evaluating them: each one once, counted, in calls of bounded size.

The budget counts *distinct* coalitions, so estimators register the coalitions that they need in a
``CoalitionStore``, which knows those already there. The empty and the full coalition are always its first
two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from sharpley._typing import Coalitions, Floats
from sharpley.protocols import PairGame

EMPTY, FULL = 0, 1  # positions in every store
TASKS_PER_JOB = 4  # pieces of work for each parallel worker: enough to even out, few enough to ship the model seldom


class CoalitionStore:
    """Distinct coalitions in the order in which they were first asked for.

    Parameters
    ----------
    d : int
        Number of players.
    """

    def __init__(self, d: int) -> None:
        self.d = d
        self._positions: dict[bytes, int] = {}
        self.add(np.array([[False] * d, [True] * d]))

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def is_complete(self) -> bool:
        """Whether all 2^d coalitions are here."""
        return len(self) == 2**self.d

    def add(self, coalitions: Coalitions) -> NDArray[np.int64]:
        """Register coalitions and return their positions, (m,)."""
        return np.array(
            [self._positions.setdefault(key, len(self)) for key in coalition_keys(coalitions)], dtype=np.int64
        )

    def add_within(self, coalitions: Coalitions, limit: int) -> NDArray[np.int64] | None:
        """Do as ``add``, or nothing, and return None, if there would then be more than ``limit``."""
        fresh = {key for key in coalition_keys(coalitions) if key not in self._positions}
        return self.add(coalitions) if len(self) + len(fresh) <= limit else None

    def since(self, start: int) -> Coalitions:
        """Coalitions from position ``start`` on, (m, d)."""
        packed = np.frombuffer(b"".join(islice(self._positions, start, None)), dtype=np.uint8)
        rows = packed.reshape(-1, -(-self.d // 8))
        return np.unpackbits(rows, axis=1, count=self.d).astype(bool)


def coalition_keys(coalitions: Coalitions) -> list[bytes]:
    """Bytes that name each coalition (m, d)."""
    return [row.tobytes() for row in np.packbits(coalitions, axis=1)]


class Progress:
    """A tqdm bar over evaluations; silent when not a terminal, or when ``show`` is False."""

    def __init__(self, show: bool | None, total: int) -> None:
        from tqdm.auto import tqdm

        disable = None if show is None else not show
        self._bar = tqdm(total=total, unit="eval", unit_scale=True, disable=disable, leave=False, desc="Shapley")

    def advance(self, count: int) -> None:
        """Count evaluations that are done or no longer needed."""
        self._bar.update(count)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


@contextmanager
def progress_bar(show: bool | None, total: int) -> Iterator[Progress]:
    """Show progress while the block runs; the bar is taken away also on Ctrl-C."""
    bar = Progress(show, total)
    try:
        yield bar
    finally:
        bar.close()


def evaluate(
    game: PairGame, rows: NDArray[np.int64], coalitions: Coalitions, *, n_jobs: int | None, progress: Progress
) -> Floats:
    """Values of every coalition for every row: (r,) and (m, d) -> (r, m, k).

    The r·m pairs are worked off in calls of ``game.pairs_per_call``, within one process or in ``n_jobs``
    workers of joblib's current backend. A value depends on its own row and coalition only, never on how the
    work was divided.
    """
    total = len(rows) * len(coalitions)
    if n_jobs in (None, 1):
        pieces = iter([_work_off(game, rows, coalitions, 0, total, progress.advance)])
    else:
        pieces = _parallel(game, rows, coalitions, n_jobs, progress)
    return np.concatenate(list(pieces)).reshape(len(rows), len(coalitions), -1)


def _work_off(
    game: PairGame,
    rows: NDArray[np.int64],
    coalitions: Coalitions,
    start: int,
    stop: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Floats:
    """Values of pairs start .. stop of the product of rows and coalitions, (stop − start, k).

    Neighbouring pairs are alike: most estimators ask for coalitions in which one player joins after another.
    So each slot of a call is given a run of neighbours, one in each call, and the tables of consecutive calls
    differ by little.
    """
    evaluate_pairs = game.evaluator()
    n_calls = -(-(stop - start) // game.pairs_per_call)
    outputs, order = [], []
    for call in range(n_calls):
        pairs = np.arange(start + call, stop, n_calls)
        outputs.append(evaluate_pairs(rows[pairs // len(coalitions)], coalitions[pairs % len(coalitions)]))
        order.append(pairs - start)
        advance(len(pairs))
    values = np.empty((stop - start, outputs[0].shape[1]))
    values[np.concatenate(order)] = np.concatenate(outputs)
    return values


def _parallel(
    game: PairGame, rows: NDArray[np.int64], coalitions: Coalitions, n_jobs: int | None, progress: Progress
) -> Iterator[Floats]:
    from joblib import Parallel, delayed, effective_n_jobs

    total, size = len(rows) * len(coalitions), game.pairs_per_call
    n_calls = -(-total // size)
    n_tasks = min(n_calls, TASKS_PER_JOB * effective_n_jobs(n_jobs))
    # Whole calls for each task, so that dividing the work does not make calls smaller.
    bounds = np.linspace(0, n_calls, n_tasks + 1).round().astype(np.int64) * size
    bounds[-1] = total
    tasks = (delayed(_work_off)(game, rows, coalitions, int(a), int(b)) for a, b in pairwise(bounds))
    for values in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        progress.advance(len(values))
        yield values

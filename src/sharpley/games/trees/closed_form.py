"""Exact values of a sum of trees over all background rows, in time proportional to rows plus background rows.

Take one leaf, and the k players on its path. A row meets the conditions of some of them, which is its *pattern* c, a
set of players; so does a background row, with the set p. The leaf counts in the coalitions that contain A = c ∖ p and
avoid B = p ∖ c, if every player is in c or p, and in no others. So:

1. one pass over the background makes a histogram over the patterns of each leaf;
2. from it, a table has the leaf's part of every player's value for each of the 2^k patterns c;
3. every row looks up its pattern in every table.

For an index with measure w(q), the weights of a term (A, B) with a = |A|, b = |B| are ∫ w(q) q^(a−1) (1−q)^b dq for the
players in A and −∫ w(q) q^a (1−q)^(b−1) dq for those in B. The idea is that of WOODELF (arXiv 2511.09376); the sums
over subsets are computed at the nodes of the measure (``_patterns``), which takes 2^k k² operations instead of 3^k.

Neighbouring leaves share histogram, table and look-up where that makes no table larger (``_program``). Trees with more
than ``TABLE_PLAYERS`` players on a path are walked through for every row (``_walks``), in time proportional to rows
times background rows. ``sharpley_experiments.studies.trees`` measured both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharpley._support.typing import Floats
from sharpley.games.trees.forest import Forest
from sharpley.indices import SHAPLEY, Index

GROWTH = 1.0  # leaves share a table that has at most as many entries as their own would have
MOST_ENTRIES = 2**23  # of the tables that are in memory together, 64 MB
MOST_CODES = 2**28  # bytes of codes that are in memory together
ROWS_AT_ONCE = 2**16  # that are coded, or walked with, together
TABLE_PLAYERS = 12  # on a path, up to which a tree has tables
MAX_PATH_PLAYERS = 62  # on a path, up to which a tree can be walked through

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Codes of rows, (columns, rows)."""


class Coded:
    """The codes of a table, in blocks of bounded memory; a single block is kept.

    Parameters
    ----------
    forest : Forest
    table : callable
        Returns the numbers of the rows from ``start`` to ``stop``, (n, n_features).
    n : int
        Number of rows.
    """

    def __init__(self, forest: Forest, table: Callable[[int, int], NDArray[Any]], n: int) -> None:
        self._forest, self._table, self.n = forest, table, n
        self._size = max(1, MOST_CODES // (4 * max(1, len(forest.features))))
        self._kept: Codes | None = None

    def blocks(self) -> Iterator[tuple[slice, Codes]]:
        """Yield the rows of each block, and their codes."""
        for start in range(0, self.n, self._size):
            stop = min(self.n, start + self._size)
            codes = self._code(start, stop) if self._kept is None else self._kept
            if self.n <= self._size:
                self._kept = codes
            yield slice(start, stop), codes

    def _code(self, start: int, stop: int) -> Codes:
        starts = range(start, stop, ROWS_AT_ONCE)
        parts = [self._forest.codes(self._table(first, min(stop, first + ROWS_AT_ONCE))) for first in starts]
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


def coded(forest: Forest, table: NDArray[Any]) -> Coded:
    """Return the codes of a table of numbers, (n, n_features)."""
    return Coded(forest, lambda start, stop: table[start:stop], len(table))


Kept: TypeAlias = dict[Any, Any]
"""Where the tables of a background are kept for further rows, if they fit into memory together."""


def tree_values(
    forest: Forest,
    background: Coded,
    weights: Floats,
    rows: Coded,
    players: NDArray[np.int64],
    d: int,
    *,
    index: Index = SHAPLEY,
    n_threads: int = 1,
    kept: Kept | None = None,
) -> tuple[Floats, Floats]:
    """Return exact values of a sum of trees for rows, (rows, d, k), and v(∅), its mean over all background rows, (k,).

    Parameters
    ----------
    forest : Forest
    background, rows : Coded
        Background rows and rows to explain.
    weights : (n,) float
        Weights of the background rows, which sum to 1.
    players : (n_features,) int
        The player of each feature.
    d : int
        Number of players.
    index : Index
        An index that is a measure over q, with one component for each player.
    n_threads : int, default 1
        Number of threads; results do not depend on it.
    kept : dict, optional
        Tables of this forest, background and index, which the first call keeps for further ones.
    """
    values, base = np.zeros((rows.n, d, forest.n_outputs)), np.array(forest.constant)
    on_paths = players_on_paths(forest, players)
    check_players(on_paths)
    with ThreadPoolExecutor(n_threads) as pool:
        for outputs, trees in _by_output(forest):
            for chosen, add in ((on_paths <= TABLE_PLAYERS, _add_by_tables), (on_paths > TABLE_PLAYERS, _add_by_walks)):
                if (trees & chosen).any():
                    job = _Job(
                        forest,
                        forest.roots[trees & chosen],
                        outputs,
                        players,
                        index,
                        pool,
                        n_threads,
                        {} if kept is None else kept,
                    )
                    part = np.zeros((rows.n, len(outputs), d))
                    base[outputs] += add(job, background, weights, rows, part)
                    values[:, :, outputs] += part.transpose(0, 2, 1)
    return values, base


def players_on_paths(forest: Forest, players: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most players on one path of each tree, (trees,)."""
    from sharpley.games.trees._program import lay_out

    if not forest.trees:
        return np.empty(0, np.int64)
    on_path, _, _ = lay_out(tuple(forest.nodes), forest.roots, players[forest.features], 0.0)
    return np.asarray(np.maximum.reduceat(on_path, forest.roots))


def check_players(on_paths: NDArray[np.int64]) -> None:
    """Raise an error if a path has more players than can be explained."""
    if on_paths.max(initial=0) > MAX_PATH_PLAYERS:
        raise ValueError(
            f"a path of a tree has {on_paths.max()} players, but exact values of trees exist for at most "
            f"{MAX_PATH_PLAYERS}; limit max_depth to {MAX_PATH_PLAYERS}, or sample with another method, such as 'auto'"
        )


def sums_of_leaves(forest: Forest, table: NDArray[Any]) -> Floats:
    """Return the sums of the values of the leaves that each row of a table (n, n_features) reaches, (n, k)."""
    from sharpley.games.trees._walks import add_leaves

    totals = np.zeros((len(table), forest.n_outputs))
    add_leaves(tuple(forest.nodes), forest.roots, forest.leaf_values, forest.codes(table), totals)
    return totals + forest.constant


def _by_output(forest: Forest) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield outputs and the trees that add to them: to one output, or to all."""
    which = np.array([tree.output for tree in forest.trees], dtype=np.int64)
    for output in np.unique(which):
        yield np.arange(forest.n_outputs) if output < 0 else np.array([output]), which == output


class _Job(NamedTuple):
    """Trees that add to the same outputs."""

    forest: Forest
    roots: NDArray[np.int64]
    outputs: NDArray[np.int64]
    players: NDArray[np.int64]
    measured: Index
    pool: ThreadPoolExecutor
    n_threads: int
    kept: Kept

    @property
    def of_column(self) -> NDArray[np.int64]:
        """The player of each column of codes."""
        return self.players[self.forest.features]

    def leaf_values(self) -> Floats:
        """Values of all nodes for these outputs."""
        return np.ascontiguousarray(self.forest.leaf_values[:, self.outputs])

    def split(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a range of n, one for each thread."""
        return pairwise(np.linspace(0, n, self.n_threads + 1).astype(int).tolist())

    def in_threads(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> None:
        """Call a compiled function with each of several tuples of arguments."""
        for call in [self.pool.submit(function, *each) for each in arguments]:
            call.result()


class _Program(NamedTuple):
    """Trees, laid out for passes over rows; ``_program`` has the columns of the arrays."""

    visits: NDArray[np.int64]
    chunks: NDArray[np.int64]
    units: NDArray[np.int64]
    inner: NDArray[np.int64]
    players: NDArray[np.int64]
    leaves: NDArray[np.int64]
    steps: NDArray[np.int64]
    places: NDArray[np.int64]


def _program(job: _Job) -> _Program:
    """Lay out the trees: count the lines of all arrays, then write them."""
    from sharpley.games.trees import _program as program

    nodes, of_column = tuple(job.forest.nodes), job.of_column
    layout = program.lay_out(nodes, job.roots, of_column, GROWTH)
    most = max(1, MOST_ENTRIES // len(job.outputs))
    of_trees = nodes, job.roots, of_column, layout, most
    visits, chunks, *out = (np.empty((0, *width), np.int64) for width in program.WIDTHS)
    n_visits, n_chunks, counts = program.write_program(*of_trees, visits, chunks, tuple(out), False)
    lines = zip((n_visits, n_chunks, *counts), program.WIDTHS, strict=True)
    visits, chunks, *out = (np.empty((n, *width), np.int64) for n, width in lines)
    program.write_program(*of_trees, visits, chunks, tuple(out), True)
    return _Program(visits, chunks, *out)


def _add_by_tables(job: _Job, background: Coded, weights: Floats, rows: Coded, values: Floats) -> Floats:
    """Add the values, (rows, outputs, d), and return the trees' part of v(∅), (outputs,)."""
    key = (*(array.tobytes() for array in job.measured.measure.nodes(TABLE_PLAYERS)), *job.outputs.tolist())
    if key in job.kept:
        program, tables, base = job.kept[key]
        _look_up(job, program, program.chunks[0], tables, rows, values)
        return np.asarray(base)
    program, base = _program(job), np.zeros(len(job.outputs))
    for chunk in program.chunks:
        tables, part = _tables(job, program, chunk, background, weights)
        base += part
        _look_up(job, program, chunk, tables, rows, values)
    if len(program.chunks) == 1:
        job.kept[key] = program, tables, base
    return base


def _tables(
    job: _Job, program: _Program, chunk: NDArray[np.int64], background: Coded, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the tables of a chunk, (outputs, entries), and its part of v(∅), (outputs,)."""
    from sharpley.games.trees._patterns import add_histograms, fill_tables
    from sharpley.games.trees._program import DEPTH, MAX_BITS

    first, last, first_unit, last_unit, n_cells, n_entries = chunk
    visits, depth = program.visits[first:last], int(program.visits[:, DEPTH].max())
    histogram, tables = np.zeros(n_cells), np.zeros((len(job.outputs), n_entries))
    starts = [0, *np.flatnonzero(visits[1:, DEPTH] == 0) + 1, len(visits)]  # every thread has trees of its own
    for part, codes in background.blocks():
        to = program.units, program.inner, codes, weights[part], depth, histogram
        trees = (visits[starts[a] : starts[b]] for a, b in job.split(len(starts) - 1))
        job.in_threads(add_histograms, ((each, *to) for each in trees))
    base = np.zeros((len(program.units), len(job.outputs)))
    given = program.units, program.leaves, program.steps, program.places, job.leaf_values()
    quadrature = _nodes_by_players(job.measured, MAX_BITS)
    units = (np.arange(first_unit + a, first_unit + b) for a, b in job.split(last_unit - first_unit))
    job.in_threads(fill_tables, ((each, *given, quadrature, histogram, tables, base) for each in units))
    return tables, base.sum(axis=0)


def _look_up(
    job: _Job, program: _Program, chunk: NDArray[np.int64], tables: Floats, rows: Coded, values: Floats
) -> None:
    """Add the values that the tables of a chunk have for rows."""
    from sharpley.games.trees._patterns import BLOCK, look_up
    from sharpley.games.trees._program import DEPTH

    given = program.visits[chunk[0] : chunk[1]], program.units, program.inner, program.players
    depth = int(program.visits[:, DEPTH].max())
    for part, codes in rows.blocks():
        n = codes.shape[1]
        ranges = ((BLOCK * a, min(n, BLOCK * b)) for a, b in job.split(-(-n // BLOCK)))
        job.in_threads(look_up, ((*given, codes, each, depth, tables, values[part]) for each in ranges))


def _add_by_walks(job: _Job, background: Coded, weights: Floats, rows: Coded, values: Floats) -> Floats:
    """Do the same for deep trees, by walks through them for every row."""
    from sharpley.games.trees._walks import add_leaves, add_rows

    nodes, leaf_values = tuple(job.forest.nodes), job.leaf_values()
    shares = shares_of_terms(job.measured, MAX_PATH_PLAYERS)
    base = np.zeros(len(job.outputs))
    for some, codes in background.blocks():
        totals = np.zeros((codes.shape[1], len(job.outputs)))
        add_leaves(nodes, job.roots, leaf_values, codes, totals)
        base += weights[some] @ totals
        for start in range(0, codes.shape[1], ROWS_AT_ONCE):
            few = slice(start, start + ROWS_AT_ONCE)
            against = np.ascontiguousarray(codes[:, few]), weights[some][few], job.of_column, leaf_values, shares
            for part, mine in rows.blocks():
                parts = (
                    (nodes, job.roots, np.ascontiguousarray(mine[:, a:b]), *against, values[part][a:b])
                    for a, b in job.split(mine.shape[1])
                )
                job.in_threads(add_rows, parts)
    return base


def shares_of_terms(index: Index, most: int) -> Floats:
    """Return the weights of a term (A, B) for the players in A and in B, by |A| and |B| up to ``most``, (2, a, b)."""
    q, w = index.measure.nodes(2 * most)
    powers, others = q ** np.arange(most + 1)[:, None], (1.0 - q) ** np.arange(most + 1)[:, None]
    shares = np.zeros((2, most + 1, most + 1))
    shares[0, 1:] = np.einsum("am,bm,m->ab", powers[:-1], others, w)
    shares[1, :, 1:] = np.einsum("am,bm,m->ab", powers, others[:-1], w)
    return shares


def _nodes_by_players(index: Index, most: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return nodes and weights for up to ``most`` players on a path, (most + 1, nodes), and how many there are."""
    every = [index.measure.nodes(max(0, k - 1)) for k in range(most + 1)]
    counts = np.array([len(q) for q, _ in every])
    nodes, weights = np.zeros((2, most + 1, counts.max()))
    for k, (q, w) in enumerate(every):
        nodes[k, : len(q)], weights[k, : len(q)] = q, w
    return nodes, weights, counts

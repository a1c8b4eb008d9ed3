"""The cache of designs: the same results with and without it, and nothing trusted that it did not write."""

import multiprocessing
import os
import warnings

import numpy as np
import pytest

from sharpley import KernelHerding, PermutationDesign
from sharpley._support import cache as _cache
from sharpley.samplers import greedy, minimise

SHAPE = (50, 20)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder for the cache, and nothing remembered in memory."""
    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget():
    minimise.design.cache_clear()
    minimise.nested_design.cache_clear()
    greedy.fixed_sequence.cache_clear()


def draw():
    """A design large enough to be kept, and a greedy sequence."""
    forget()
    return np.concatenate([PermutationDesign(20, rng=0).random(250), KernelHerding(20, rng=0).random(10)])


def test_results_are_the_same_with_and_without_a_cache(place, monkeypatch):
    first = draw()
    assert sorted(path.name for path in place.iterdir()) == [
        "KernelHerding-v1-d20-n16-Mallows(scale=4.0)-of25.orderings.npz",
        "design-v1-d20-n250-scale4.0-plain.orderings.npz",
    ]
    with monkeypatch.context() as patched:
        patched.setattr(_cache, "_write", None)  # computing again would fail
        np.testing.assert_array_equal(draw(), first)
    monkeypatch.setenv(_cache.VARIABLE, "")
    np.testing.assert_array_equal(draw(), first)
    assert _cache.folder() is None
    assert list(_cache.entries()) == []


def test_small_designs_are_not_kept(place):
    PermutationDesign(10, rng=0).random(30)
    assert list(place.iterdir()) == []


def orderings(seed=0):
    return np.random.default_rng(seed).permuted(np.tile(np.arange(SHAPE[1]), (SHAPE[0], 1)), axis=1)


def keep(key="a", made=0):
    return _cache.cached(key, *SHAPE, lambda: orderings(made))


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


def replace_by_another_key(path):
    keep("b", made=1)
    path.with_name("b" + _cache.SUFFIX).replace(path)


def write_no_permutations(path):
    wrong = np.zeros(SHAPE, dtype=np.uint8)
    np.savez(path, orderings=wrong, digest=_cache._digest("a", wrong))


def write_plain_array(path):
    with path.open("wb") as stream:
        np.save(stream, orderings())


DAMAGES = {
    "a plain array": write_plain_array,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("orderings"),
    "flipped": flip_a_bit,
    "of another key": replace_by_another_key,
    "of another shape": lambda path: np.savez(path, orderings=orderings()[:5].astype(np.uint8), digest="0"),
    "without a digest": lambda path: np.savez(path, orderings=orderings(2).astype(np.uint8)),
    "not permutations": write_no_permutations,
    "pickled": lambda path: np.savez(path, orderings=np.array([{}], dtype=object), digest="0"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_or_foreign_is_computed_again(place, damage):
    keep()
    path = place / ("a" + _cache.SUFFIX)
    damage(path)
    assert [entry.is_valid for entry in _cache.entries() if entry.key == "a"] == [False]
    np.testing.assert_array_equal(keep(), orderings())
    assert [entry.is_valid for entry in _cache.entries() if entry.key == "a"] == [True]


def test_what_is_kept_is_used(place):
    keep()
    np.testing.assert_array_equal(_cache.cached("a", *SHAPE, lambda: orderings(1)), orderings())


def work(place, barrier):
    os.environ[_cache.VARIABLE] = place
    barrier.wait()
    for _ in range(30):
        if not np.array_equal(keep(), orderings()):
            raise AssertionError("read something else")
        (_cache.folder() / ("a" + _cache.SUFFIX)).unlink(missing_ok=True)


def test_processes_share_the_cache(place):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(3)
    workers = [context.Process(target=work, args=(str(place), barrier)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert [path.name for path in place.iterdir() if path.suffix == ".tmp"] == []


def test_a_folder_that_cannot_be_written_to_is_told_and_costs_nothing_else(place, monkeypatch):
    blocked = place / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv(_cache.VARIABLE, str(blocked / "cache"))
    with pytest.warns(RuntimeWarning, match="cannot keep designs in .*SHARPLEY_CACHE_DIR"):
        np.testing.assert_array_equal(keep(), orderings())


def test_an_interrupted_computation_leaves_nothing_behind(place):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _cache.cached("a", *SHAPE, interrupted)
    assert list(place.iterdir()) == []


def test_clearing_removes_all_and_only_what_is_kept(place):
    keep("a")
    keep("b", made=1)
    (place / "notes.txt").write_text("mine")
    assert {(entry.key, entry.n, entry.d) for entry in _cache.entries()} == {("a", *SHAPE), ("b", *SHAPE)}
    assert _cache.clear() == 2
    assert [path.name for path in place.iterdir()] == ["notes.txt"]


def test_the_users_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv(_cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "sharpley" in str(_cache.folder())


def test_reading_warns_of_nothing(place):
    keep()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keep()


def test_no_flipped_bit_is_trusted_or_fatal(place):
    """Every byte near both ends of the archive, where its structure is, and some of the content."""
    keep()
    path = place / ("a" + _cache.SUFFIX)
    whole = path.read_bytes()
    at_ends = [*range(120), *range(len(whole) - 400, len(whole))]
    for at in [*at_ends, *range(120, len(whole) - 400, 97)]:
        for bit in (0x01, 0x20, 0x80):
            content = bytearray(whole)
            content[at] ^= bit
            path.write_bytes(bytes(content))
            found = _cache._read(path, "a", *SHAPE)
            assert found is None or np.array_equal(found, orderings())


def test_files_that_vanish_while_they_are_listed_are_skipped(place, monkeypatch):
    keep()
    read = _cache._read

    def read_and_remove(path, *arguments):
        found = read(path, *arguments)
        path.unlink()
        return found

    monkeypatch.setattr(_cache, "_read", read_and_remove)
    assert list(_cache.entries()) == []


def test_unfinished_files_are_removed(place, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez_compressed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            keep()
    assert list(place.iterdir()) == []
    (place / (".x" + _cache.UNFINISHED)).write_bytes(b"left by a crash")
    assert _cache.clear() == 1


def test_home_is_expanded(monkeypatch):
    monkeypatch.setenv(_cache.VARIABLE, "~/designs")
    assert "~" not in str(_cache.folder())

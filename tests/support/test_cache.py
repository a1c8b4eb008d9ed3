"""The cache of orderings: it does not change results, and it ignores files that it did not write."""

import multiprocessing
import os
import tracemalloc
import warnings

import numpy as np
import pytest

from sharpley import KernelHerding, PermutationDesign
from sharpley._support import cache as _cache
from sharpley.samplers import greedy, minimise

SHAPE = (50, 20)


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    """An empty cache folder, with the caches in memory cleared as well."""
    monkeypatch.setenv(_cache.VARIABLE, str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget():
    minimise.design.cache_clear()
    minimise.nested_design.cache_clear()
    greedy.fixed_sequence.cache_clear()


def draw():
    """Draw a design that is large enough to be stored, and a greedy sequence."""
    forget()
    return np.concatenate([PermutationDesign(20, rng=0).random(250), KernelHerding(20, rng=0).random(10)])


def test_results_are_the_same_with_and_without_a_cache(cache_folder, monkeypatch):
    first = draw()
    assert sorted(path.name for path in cache_folder.iterdir()) == [
        "KernelHerding-v1-d20-n16-Mallows(scale=4.0)-of25.orderings.npz",
        "design-v1-d20-n250-scale4.0-plain.orderings.npz",
    ]
    with monkeypatch.context() as patched:
        patched.setattr(_cache, "_write", None)  # recomputing would fail
        np.testing.assert_array_equal(draw(), first)
    monkeypatch.setenv(_cache.VARIABLE, "")
    np.testing.assert_array_equal(draw(), first)
    assert _cache.folder() is None
    assert list(_cache.entries()) == []


def test_small_designs_are_not_stored(cache_folder):
    PermutationDesign(10, rng=0).random(30)
    assert list(cache_folder.iterdir()) == []


def orderings(seed=0):
    return np.random.default_rng(seed).permuted(np.tile(np.arange(SHAPE[1]), (SHAPE[0], 1)), axis=1)


def stored_orderings(key="a", seed=0):
    return _cache.cached(key, *SHAPE, lambda: orderings(seed))


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


def replace_by_another_key(path):
    stored_orderings("b", seed=1)
    path.with_name("b" + _cache.SUFFIX).replace(path)


def write_invalid_permutations(path):
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
    "not permutations": write_invalid_permutations,
    "pickled": lambda path: np.savez(path, orderings=np.array([{}], dtype=object), digest="0"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_invalid_files_are_recomputed(cache_folder, damage):
    stored_orderings()
    path = cache_folder / ("a" + _cache.SUFFIX)
    damage(path)
    assert [entry.is_valid for entry in _cache.entries() if entry.key == "a"] == [False]
    np.testing.assert_array_equal(stored_orderings(), orderings())
    assert [entry.is_valid for entry in _cache.entries() if entry.key == "a"] == [True]


def test_stored_orderings_are_used(cache_folder):
    stored_orderings()
    np.testing.assert_array_equal(_cache.cached("a", *SHAPE, lambda: orderings(1)), orderings())


def work(cache_folder, barrier):
    os.environ[_cache.VARIABLE] = cache_folder
    barrier.wait()
    for _ in range(30):
        if not np.array_equal(stored_orderings(), orderings()):
            raise AssertionError("read something else")
        (_cache.folder() / ("a" + _cache.SUFFIX)).unlink(missing_ok=True)


def test_processes_share_the_cache(cache_folder):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(3)
    workers = [context.Process(target=work, args=(str(cache_folder), barrier)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert [path.name for path in cache_folder.iterdir() if path.suffix == ".tmp"] == []


def test_an_unwritable_folder_is_reported_and_does_not_change_the_result(cache_folder, monkeypatch):
    blocked = cache_folder / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv(_cache.VARIABLE, str(blocked / "cache"))
    with pytest.warns(
        RuntimeWarning, match="cannot store orderings in .*recomputed; set SHARPLEY_CACHE_DIR to another folder"
    ):
        np.testing.assert_array_equal(stored_orderings(), orderings())


def test_an_interrupted_computation_leaves_nothing_behind(cache_folder):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _cache.cached("a", *SHAPE, interrupted)
    assert list(cache_folder.iterdir()) == []


def test_clearing_removes_all_stored_orderings_and_nothing_else(cache_folder):
    stored_orderings("a")
    stored_orderings("b", seed=1)
    (cache_folder / "notes.txt").write_text("mine")
    assert {(entry.key, entry.n, entry.d) for entry in _cache.entries()} == {("a", *SHAPE), ("b", *SHAPE)}
    assert _cache.clear() == 2
    assert [path.name for path in cache_folder.iterdir()] == ["notes.txt"]


def test_the_users_cache_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv(_cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "sharpley" in str(_cache.folder())


def test_reading_does_not_warn(cache_folder):
    stored_orderings()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored_orderings()


def test_flipped_bits_are_detected_and_harmless(cache_folder):
    """Bits of every byte near both ends of the archive, where its structure is, and of some of its content."""
    stored_orderings()
    path = cache_folder / ("a" + _cache.SUFFIX)
    whole = path.read_bytes()
    at_ends = [*range(120), *range(len(whole) - 400, len(whole))]
    for at in [*at_ends, *range(120, len(whole) - 400, 97)]:
        for bit in (0x01, 0x20, 0x80):
            content = bytearray(whole)
            content[at] ^= bit
            path.write_bytes(bytes(content))
            found = _cache._read(path, "a", *SHAPE)
            assert found is None or np.array_equal(found, orderings())


def test_files_that_vanish_while_they_are_listed_are_skipped(cache_folder, monkeypatch):
    stored_orderings()
    read = _cache._read

    def read_and_remove(path, *arguments):
        found = read(path, *arguments)
        path.unlink()
        return found

    monkeypatch.setattr(_cache, "_read", read_and_remove)
    assert list(_cache.entries()) == []


def test_unfinished_files_are_removed(cache_folder, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez_compressed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stored_orderings()
    assert list(cache_folder.iterdir()) == []
    (cache_folder / (".x" + _cache.UNFINISHED_SUFFIX)).write_bytes(b"left by a crash")
    assert _cache.clear() == 1


def test_the_home_folder_is_expanded(monkeypatch):
    monkeypatch.setenv(_cache.VARIABLE, "~/designs")
    assert "~" not in str(_cache.folder())


def test_a_fifo_is_no_file_of_orderings(cache_folder):
    """Reading it would wait for someone to write to it."""
    os.mkfifo(cache_folder / ("a" + _cache.SUFFIX))
    assert [entry.is_valid for entry in _cache.entries()] == [False]
    np.testing.assert_array_equal(stored_orderings(), orderings())
    assert [entry.is_valid for entry in _cache.entries()] == [True]  # it was replaced
    os.mkfifo(cache_folder / ("b" + _cache.SUFFIX))
    assert _cache.clear() == 2


def test_folders_are_left_alone(cache_folder):
    inside = cache_folder / ("a" + _cache.SUFFIX) / "mine.txt"
    inside.parent.mkdir()
    inside.write_text("mine")
    assert [entry.is_valid for entry in _cache.entries()] == [False]
    with pytest.warns(RuntimeWarning, match="cannot store orderings"):
        np.testing.assert_array_equal(stored_orderings(), orderings())
    stored_orderings("b")
    assert _cache.clear(data=True) == 1
    assert inside.read_text() == "mine"


def test_a_small_archive_of_many_zeros_is_not_unpacked(cache_folder, monkeypatch):
    path = cache_folder / ("a" + _cache.SUFFIX)
    monkeypatch.setattr(_cache, "MAX_BYTES", 2**20)
    np.savez_compressed(path, orderings=np.zeros((2**11, 2**11), dtype=np.uint8), digest="0")
    assert path.stat().st_size < 2**14
    tracemalloc.start()
    assert [entry.is_valid for entry in _cache.entries()] == [False]
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_the_remains_of_downloads_are_removed(cache_folder):
    folder = _cache.data_folder() / (_cache.DOWNLOAD_PREFIX + "xyz")
    folder.mkdir(parents=True)
    (folder / ".1234.tmp").write_bytes(b"half of it")
    assert [path.name for path in _cache.data_files()] == [".1234.tmp"]
    assert _cache.clear(data=True) == 1
    assert not folder.exists()

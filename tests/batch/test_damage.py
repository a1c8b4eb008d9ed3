"""Damaged journals, metadata and parts: one line and code 2, or the right results; nothing is lost."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from batch_calls import ARGUMENTS, refused
from command_line import call

import sharpley
from sharpley.presentation.row_table import JOURNAL

MODEL = ("--model", "batch_models:predict", "--rows-per-part", 10)
NESTED = "[" * 100_000
VALUES = [None, True, -1, 0, 10**400, 2.5, 1e308, "", "x", [], {}, [0, 10**30], {"a": 1}]


@pytest.fixture
def finished(files):
    """Be beside a folder of finished results, of which ``whole`` is a copy."""
    call(*ARGUMENTS, *MODEL)
    shutil.copytree("phi", "whole")
    return sharpley.load("phi").values


def restored():
    shutil.rmtree("phi")
    shutil.copytree("whole", "phi")


def check_loaded(path, expected, what):
    """Check that results are loaded as they were written, or refused in one line."""
    try:
        found = sharpley.load(path).values
    except (ValueError, OSError) as error:
        found = str(error)
    if isinstance(found, str):
        assert "\n" not in found, what
    else:
        np.testing.assert_array_equal(found, expected, err_msg=what)


def check_survives(expected, what):
    """Check that the results can be loaded or are refused in one line, and that the same call mends or refuses them."""
    check_loaded("phi", expected, what)
    before = {path.name for path in Path("phi").iterdir()}
    result = call(*ARGUMENTS, *MODEL, code=None)
    if result.exit_code == 0:
        np.testing.assert_array_equal(sharpley.load("phi").values, expected, err_msg=what)
    else:
        assert result.exit_code == 2, (what, result.output, result.exception)
        assert result.stderr.startswith("sharpley: "), (what, result.stderr)
        assert result.stderr.count("\n") == 1, (what, result.stderr)
    assert {path.name for path in Path("phi").iterdir()} >= before, what


def mutated(content, rng):
    """Return some bytes with one of the things that happen to files."""
    at, other = (int(each) for each in rng.integers(len(content), size=2))
    kind = rng.integers(5)
    if kind == 0:
        return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[: min(at, other)] + content[max(at, other) :]
    if kind == 3:
        return content[:at] + rng.bytes(8) + content[at + 8 :]
    return content + content[at:]


@pytest.mark.parametrize("name", [JOURNAL, "part-00000001.parquet"])
def test_random_damage_is_mended_or_refused_in_one_line(finished, name):
    rng = np.random.default_rng(0)
    for number in range(25):
        content = mutated(Path("whole", name).read_bytes(), rng)
        Path("phi", name).write_bytes(content)
        check_survives(finished, f"{name}, damage {number}")
        restored()


def test_every_field_of_the_journal_may_be_anything(finished):
    lines = [json.loads(line) for line in Path("whole", JOURNAL).read_text().splitlines()]
    for number, entry in enumerate(lines[:2]):
        fields = entry["plan"] if number == 0 else entry
        for position, field in enumerate([*fields, None]):
            value = VALUES[(position + number) % len(VALUES)]
            changed = {key: each for key, each in fields.items() if key != field} | ({field: value} if field else {})
            if position % 3 == 0 and field:
                changed.pop(field)
            line = {"plan": changed} if number == 0 else changed
            written = [*lines[:number], line, *lines[number + 1 :]]
            Path("phi", JOURNAL).write_text("".join(json.dumps(each) + "\n" for each in written))
            check_survives(finished, f"line {number}: {field} is {value!r}")
            restored()
    for line in ("[]", "7", "null", '"x"', NESTED, '{"part": 1e999}', '{"part": "0"}', "{}"):
        Path("phi", JOURNAL).write_text(json.dumps(lines[0]) + "\n" + line + "\n")
        check_survives(finished, line[:20])
        restored()


def test_every_field_of_the_metadata_may_be_anything(finished):
    name = "part-00000001.parquet"
    Path("phi", JOURNAL).unlink()  # with its digests, which would show every change
    table = pq.read_table(Path("whole", name))
    about = json.loads(table.schema.metadata[b"sharpley"])
    for field in about:
        for value in VALUES:
            changed = json.dumps(about | {field: value}).encode()
            pq.write_table(table.replace_schema_metadata({b"sharpley": changed}), Path("phi", name))
            check_loaded("phi", finished, f"{field} is {value!r}")
    for raw in (NESTED, "[]", "7", "null", '"x"', "{}"):
        pq.write_table(table.replace_schema_metadata({b"sharpley": raw.encode()}), Path("phi", name))
        with pytest.raises(ValueError, match=name):
            sharpley.load("phi")
        assert "files of another origin" in refused(*MODEL[2:])


def test_columns_and_rows_that_are_missing_or_twice_there_are_noticed(finished):
    name = "part-00000001.parquet"
    Path("phi", JOURNAL).unlink()
    table = pq.read_table(Path("whole", name))
    changes = [table.drop_columns(column) for column in ("row", "value_age", "converged", "base_value")]
    changes += [table.slice(1), table.take([0, *range(9)]), table.take(list(range(9, -1, -1)))]
    for changed in changes:
        pq.write_table(changed, Path("phi", name))
        with pytest.raises(ValueError, match="is damaged"):
            sharpley.load("phi")


def test_a_flipped_bit_is_noticed_by_load_and_mended_by_the_next_run(finished):
    path = Path("phi/part-00000002.parquet")
    whole = path.read_bytes()
    column = pq.read_metadata(path).row_group(0).column(8)
    at = column.data_page_offset + column.total_compressed_size - 20  # among the numbers
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
    with pytest.raises(ValueError, match=r"part-00000002\.parquet is damaged: it was changed after it was written"):
        sharpley.load("phi")
    Path("phi", JOURNAL).rename("journal")
    with pytest.raises(ValueError, match=r"part-00000002\.parquet is damaged"):  # by the checksums of pages
        sharpley.load("phi")
    Path("journal").rename(Path("phi", JOURNAL))
    assert "30 of them from an earlier run" in call(*ARGUMENTS, *MODEL).stdout
    assert path.read_bytes() == whole


def test_a_restart_removes_damaged_parts_that_the_journal_names(finished):
    Path("phi/part-00000001.parquet").write_bytes(b"torn")
    Path("phi", JOURNAL).write_bytes(Path("phi", JOURNAL).read_bytes()[:-30] + b"}\n")
    assert "line 5 of phi/_journal.jsonl is damaged; --restart begins anew" in refused(*MODEL[2:])
    call(*ARGUMENTS, *MODEL, "--restart")
    np.testing.assert_array_equal(sharpley.load("phi").values, finished)


def test_a_saved_estimate_that_is_damaged_is_one_line(finished):
    sharpley.load("phi").save("phi.parquet")
    whole, rng = Path("phi.parquet").read_bytes(), np.random.default_rng(1)
    for number in range(60):
        Path("phi.parquet").write_bytes(mutated(whole, rng))
        check_loaded("phi.parquet", finished, str(number))
    table = pq.read_table("whole/part-00000000.parquet")
    pq.write_table(table, "phi.parquet")
    with pytest.raises(ValueError, match="is a part of the results of sharpley explain; load its folder"):
        sharpley.load("phi.parquet")


needs_links = pytest.mark.skipif(os.name == "nt", reason="links need permissions on Windows")


@needs_links
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("restart", [(), ("--restart",)])
@pytest.mark.parametrize("content", ["precious", '{"plan": 1}\n', ""])
def test_a_journal_that_is_a_link_is_never_written_to(files, link, restart, content):
    Path("mine.txt").write_text(content)
    Path("phi").mkdir()
    link(Path("mine.txt").absolute(), Path("phi", JOURNAL))
    said = refused(*restart)
    assert "is a symbolic link" in said or "has a second name (a hard link)" in said
    assert Path("mine.txt").read_text() == content


@needs_links
def test_a_link_to_nothing_makes_no_file(files):
    Path("phi").mkdir()
    os.symlink(files / "nothing.txt", Path("phi", JOURNAL))
    assert "is a symbolic link" in refused()
    assert not Path("nothing.txt").exists()


@needs_links
def test_a_pipe_in_place_of_the_journal_is_refused(files):
    Path("phi").mkdir()
    os.mkfifo(Path("phi", JOURNAL))
    assert "_journal.jsonl is not a file" in refused()


@pytest.mark.parametrize("restart", [(), ("--restart",)])
def test_a_file_that_is_no_journal_is_not_written_to(files, restart):
    Path("phi").mkdir()
    Path("phi", JOURNAL).write_text("precious")
    assert "is not a journal of sharpley explain; remove it" in refused(*restart)
    assert Path("phi", JOURNAL).read_text() == "precious"


@needs_links
def test_parts_that_are_links_are_computed_again_and_what_they_point_to_is_kept(finished):
    part = Path("phi/part-00000001.parquet")
    part.rename("elsewhere.parquet")
    part.symlink_to(Path("elsewhere.parquet").absolute())
    before = Path("elsewhere.parquet").read_bytes()
    assert "30 of them from an earlier run" in call(*ARGUMENTS, *MODEL).stdout
    assert not part.is_symlink()
    assert Path("elsewhere.parquet").read_bytes() == before

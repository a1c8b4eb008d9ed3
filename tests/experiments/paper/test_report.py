"""The command that reproduces the paper's figures and tables, and its page."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from command_line import call
from fake_exhibits import FAKES, SPECIAL, TABLE, claim, compute

from sharpley_experiments.paper import ORDER, all_exhibits, manifest
from sharpley_experiments.paper.exhibits import Exhibit, Finding
from sharpley_experiments.paper.notes import NOTES
from sharpley_experiments.paper.report import Section, duration, exhibit_counts, page, verdict_counts
from sharpley_experiments.paper.reproduce import reproduce
from sharpley_experiments.paper.rules import RULES
from sharpley_experiments.paper.summary import summary


class Page(HTMLParser):
    """Attributes and visible text of a page, and the text of each section."""

    def __init__(self, path):
        super().__init__()
        self.attributes, self.ids, self.texts, self.tag, self.section = [], set(), {}, "", ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tag = tag
        self.attributes += [(tag, *attribute) for attribute in attrs]
        self.ids |= {value for name, value in attrs if name == "id"}
        if tag == "section":
            self.section = dict(attrs)["id"]

    def handle_data(self, data):
        if self.tag not in ("script", "style"):
            self.texts[self.section] = f"{self.texts.get(self.section, '')}{data}".replace("\xa0", " ")

    def of(self, *names):
        return [value for _, name, value in self.attributes if name in names]


# The run


def test_a_failing_exhibit_does_not_affect_the_others(fake):
    out, outcome = fake
    assert outcome.failed == {
        "offline": "cannot download <adult>; give [bold]its folder[/] as --data",
        "empty": "the run returned a table without rows",
        "broken": "ZeroDivisionError: of ours",
    }
    texts = Page(outcome.page).texts
    for name, message in outcome.failed.items():
        assert f"Could not be reproduced: {message}" in texts[name]
    assert "Could not be reproduced: offline, empty, broken." in texts[""]
    assert sorted(path.name for path in (out / "tables").iterdir()) == ["broken.csv", "first.csv", "last.csv"]
    assert sorted(path.name for path in (out / "figures").iterdir()) == ["broken.png", "first.png"]


def test_errors_are_printed_and_defects_keep_their_traceback(tmp_path, capsys):
    reproduce(["offline", "broken"], tmp_path, preset="quick", registry=FAKES)
    printed = capsys.readouterr()
    assert "1 of 2 offline: No network" in printed.out
    assert "give [bold]its folder[/] as --data" in printed.err
    assert printed.err.count("Traceback") == 1
    assert "in defect" in printed.err


def test_the_manifest_records_preset_versions_and_times(fake):
    stored = json.loads((fake[0] / "manifest.json").read_text())
    assert stored["preset"] == "quick"
    libraries = {"sharpley", "numpy", "scipy", "xgboost", "scikit-learn", "python", "platform"}
    assert set(stored["made_with"]) == libraries
    assert list(stored["exhibits"]) == list(FAKES)
    assert all(record["seconds"] >= 0 for record in stored["exhibits"].values())


def test_the_page_shows_results_of_earlier_runs_and_a_later_run_can_replace_a_failed_one(tmp_path):
    reproduce(["first", "offline"], tmp_path, preset="quick", registry=FAKES)
    mended = {**FAKES, "offline": replace(FAKES["offline"], compute=compute)}
    outcome = reproduce(["offline"], tmp_path, preset="laptop", registry=mended)
    assert outcome.failed == {}
    texts = Page(outcome.page).texts
    assert set(texts) == {"", "notes", "rules", "claims", "first", "offline"}
    assert "preset quick" in texts["first"]
    assert "preset laptop" in texts["offline"]
    assert "laptop and quick (each figure says which)" in texts[""]
    assert "Figures and tables of the paper1 of 2" in texts[""]
    assert "Beyond the paper1 of 3" in texts[""]


def test_removed_tables_of_earlier_runs_are_not_shown(tmp_path):
    reproduce(["first"], tmp_path, preset="quick", registry=FAKES)
    (tmp_path / "tables" / "first.csv").unlink()
    assert "first" not in Page(reproduce(["last"], tmp_path, preset="quick", registry=FAKES).page).texts


def test_a_rerun_that_reuses_cells_keeps_the_time_of_the_first_run():
    first = manifest.new_record("quick", 90.0, "", None)
    assert manifest.new_record("quick", 1.0, "", first).seconds == 90
    assert manifest.new_record("paper", 1.0, "", first).seconds == 1
    assert manifest.new_record("quick", 1.0, "", replace(first, error="x")).seconds == 1
    assert manifest.new_record("quick", 1.0, "", replace(first, made_with={})).seconds == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"exhibits": {"first": {"preset": 1}}}'])
def test_a_manifest_that_cannot_be_read_has_no_records(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    assert manifest.read(tmp_path) == {}


def test_cells_jobs_and_data_reach_the_exhibits(tmp_path):
    seen = []
    registry = {"one": Exhibit("one", "One", "", lambda context: [seen.append(context), TABLE][1])}
    reproduce(["one", "all", "one"], tmp_path, preset="paper", jobs=3, data=tmp_path, registry=registry)
    (context,) = seen
    assert (context.preset.name, context.folder, context.data, context.jobs) == (
        "paper",
        tmp_path / "cells",
        tmp_path,
        3,
    )


# The page


def test_text_is_escaped(fake):
    read = Page(fake[1].page)
    assert SPECIAL in read.texts["first"]
    assert SPECIAL in read.texts["claims"]
    assert "a<b>" in read.texts["first"]
    assert "a & b" in read.texts["first"]
    assert "–" in read.texts["first"]  # for the missing number
    assert f"First {SPECIAL}" in read.of("alt")


def test_claims_come_first_with_verdict_evidence_and_a_link_to_the_figure(fake):
    read = Page(fake[1].page)
    assert list(read.texts)[:5] == ["", "claims", "notes", "rules", "first"]
    assert re.search(r"does not hold\s*A claim\.2 rows → Table 2, last", read.texts["claims"])
    counts = "All 2✓ holds 1◐ holds in part 0✗ does not hold 1? undecided 0– not judged 0i remark 0"
    assert counts in read.texts["claims"]


def test_every_verdict_of_the_documentation_has_the_rule_that_gave_it(results):
    text = (results / "paper" / "summary.md").read_text(encoding="utf-8")
    judged = re.findall(r"^[✓◐✗?] \*\*.*$", text, re.MULTILINE)
    assert len(judged) > 90
    assert [line for line in judged if " Rule: " not in line] == []


@pytest.mark.parametrize(
    ("preset", "command"),
    [("quick", "sharpley reproduce all --preset laptop"), ("laptop", "sharpley reproduce last --preset images")],
)
def test_a_banner_says_what_the_preset_is_too_small_to_judge(preset, command):
    record = manifest.new_record(preset, 1.0, "", None)
    small, fine = Finding("A", "not judged", ""), Finding("B", "holds", "")
    sections = [Section(FAKES["first"], record, findings=(fine,)), Section(FAKES["last"], record, findings=(small,))]
    shown = page(sections, record, FAKES.values())
    assert f"The preset {preset} is too small to judge 1 of 2 claims." in shown
    assert f"<code>{command}</code>" in shown
    assert 'class="banner"' not in page(sections[:1], record, FAKES.values())


def test_numbers_behind_a_verdict_are_a_small_table(fake):
    claims = (fake[0] / "report.html").read_text(encoding="utf-8").split('id="claims"')[1].split("</section>")[0]
    assert claims.count('<div class="details"') == 2
    assert "<td>a|b</td>" in claims
    text = (fake[0] / "summary.md").read_text(encoding="utf-8")
    assert "| data set | ratio |\n| --- | --- |\n| a\\|b | 0.50 (0.4 to 0.6) |\n| verdict | holds |" in text


def test_the_page_says_what_is_shown_and_how_claims_are_judged(fake):
    read = Page(fake[1].page)
    assert all(note in read.texts["notes"] for note in NOTES)
    assert all(rule in read.texts["rules"] for rule in RULES)


def test_all_22_figures_and_tables_of_the_paper_are_there():
    """17 figures and 5 tables, each once, in the order of the command line's help."""
    sources = [exhibit.source for exhibit in all_exhibits().values() if exhibit.is_of_paper]
    wanted = [f"Figure {k}" for k in range(1, 18)] + [f"Table {k}" for k in range(1, 6)]
    assert sorted(sources) == sorted(wanted)
    last = manifest.new_record("quick", 1.0, "", None)
    sections = [Section(exhibit, last, n_rows=1) for exhibit in all_exhibits().values()]
    assert exhibit_counts(sections, all_exhibits().values())["Figures and tables of the paper"] == "22 of 22"


def test_the_page_needs_no_network_and_has_no_dead_links(fake, geometry):
    for out in (fake[0], geometry[0]):
        read = Page(out / "report.html")
        assert all(value.startswith("data:image/png;base64,") for value in read.of("src"))
        assert {tag for tag, name, _ in read.attributes if name == "src"} == {"img"}
        links = read.of("href")
        assert len(links) > 5
        for link in links:
            assert link[1:] in read.ids if link.startswith("#") else (out / link).is_file(), link


def test_plotly_is_included_once_and_only_if_needed(fake, geometry):
    text = (geometry[0] / "report.html").read_text(encoding="utf-8")
    assert text.count("plotly.js v") == 1
    assert text.count("Plotly.newPlot(") == 1
    assert text.index("plotly.js v") < text.index("Plotly.newPlot(")
    assert fake[1].page.stat().st_size < 200_000


def test_other_versions_are_named_where_they_were_used():
    last = manifest.new_record("quick", 1.0, "", None)
    earlier = replace(last, made_with={"numpy": "1.0"})
    sections = [Section(FAKES["first"], earlier), Section(FAKES["last"], last)]
    assert page(sections, last, FAKES.values()).count("made with numpy 1.0") == 1
    assert (
        verdict_counts(sections)
        == "0 hold, 0 in part, 0 do not hold, 0 undecided, 0 not judged at this size, 0 remarks"
    )
    assert "None of these figures and tables tests a claim." in page(sections, last, FAKES.values())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.96, "10 s"), (59.7, "1 min 0 s"), (200, "3 min 20 s"), (3900, "1 h 5 min")],
)
def test_durations_are_formatted(seconds, text):
    assert duration(seconds) == text


def test_numbers_are_aligned_and_sentences_are_wrapped():
    last = manifest.new_record("quick", 1.0, "", None)
    table = pd.DataFrame(
        {"n": ["1,000", "–"], "z": ["−0.1 ± 2e-3", "5 %"], "t": ["7 rows", "x"], "s": ["so " * 20, ""]}
    )
    text = page([Section(FAKES["last"], last, table=table)], last, FAKES.values())
    assert re.findall(r"<th( class=\"\w+\")?>(\w)", text) == [
        (' class="num"', "n"),
        (' class="num"', "z"),
        ("", "t"),
        (' class="long"', "s"),
    ]


# The command line


def test_two_figures_from_the_command_line(geometry):
    out, result = geometry
    assert "1 of 2 cayley-graph-4" in result.stdout  # the order of the paper, not of the arguments
    assert (out / "report.html").as_uri() in result.stdout
    for name in ("cayley-graph-4", "kendall-distribution"):
        table = pd.read_csv(out / "tables" / f"{name}.csv")
        assert f"{len(table):,} rows" in Page(out / "report.html").texts[name]
        assert (out / "figures" / f"{name}.png").stat().st_size > 10_000
        for finding in all_exhibits()[name].findings(table):
            assert finding.claim in Page(out / "report.html").texts["claims"]


def test_a_failure_makes_the_exit_code_non_zero(tmp_path, monkeypatch):
    monkeypatch.setattr("sharpley_experiments.paper.reproduce.all_exhibits", lambda: FAKES)
    result = call("reproduce", "all", "--preset", "quick", "--out", tmp_path, code=1)
    assert result.stderr.endswith("sharpley: could not reproduce offline, empty, broken\n")
    assert (tmp_path / "report.html").exists()
    call("reproduce", "first", "--preset", "quick", "--out", tmp_path)  # failures of earlier runs do not count


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("figure-9",), "unknown exhibit 'figure-9'; choose one of 'all', 'cayley-graph-3', "),
        (("all", "--preset", "huge"), "unknown preset 'huge'; choose one of 'quick', 'laptop', 'images', 'paper'"),
        (("all", "--jobs", 0), "jobs must be at least 1, or -1"),
        (("all", "--data", "nowhere"), "no folder nowhere with data sets; leave out --data to download them"),
    ],
)
def test_mistakes_are_reported_before_anything_is_written(tmp_path, arguments, message):
    result = call("reproduce", *arguments, "--out", tmp_path / "out", code=2)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_the_extra_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("sharpley_experiments.paper.reproduce.REQUIRED_LIBRARIES", ("pandas", "no_such_library"))
    result = call("reproduce", "all", "--out", tmp_path, code=2)
    assert "experiments need no_such_library: pip install 'sharpley[experiments]'" in result.stderr


def test_help_lists_all_names_and_imports_nothing_heavy():
    heavy = ("pandas", "matplotlib", "plotly", "xgboost")
    code = (
        "import sys; from typer.testing import CliRunner; from sharpley.app.cli import app\n"
        "print(CliRunner().invoke(app, ['reproduce', '--help']).output)\n"
        "from sharpley_experiments.paper import all_exhibits; all_exhibits()\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert all(name in out for name in ORDER)
    assert out.rstrip().endswith("[]")
    assert [name for name in ORDER if name in all_exhibits()] == list(all_exhibits())


def test_the_summary_shows_figures_tables_claims_and_versions(fake):
    text = (fake[0] / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("Figures and tables of the paper: 2 of 2; Beyond the paper: 0 of 3.")
    assert "Claims of the paper: 1 hold, 0 in part, 1 do not hold, 0 undecided, " in text
    assert "✗ **does not hold**: A claim. *2 rows*" in text
    assert "Preset quick: `first`, `broken`, `last`." in text or "Preset quick: `first`, `last`." in text
    for name in re.findall(r"\]\(([^)]+)\)", text):
        assert (fake[0] / name).is_file(), name
    last = manifest.new_record("quick", 1.0, "", None)
    earlier = replace(last, made_with={"numpy": "1.0"})
    sections = [Section(FAKES["first"], earlier, n_rows=1), Section(FAKES["last"], last, n_rows=1)]
    assert summary(sections, last, FAKES.values()).count("with numpy 1.0") == 1


def test_the_summary_escapes_markdown():
    last = manifest.new_record("quick", 1.0, "", None)
    found = Finding("|K_τ| *is* <b>", "holds", "a `b`")
    section = Section(FAKES["last"], last, table=pd.DataFrame({"a|b": ["x|y"]}), findings=(found,), n_rows=1)
    text = summary([section], last, FAKES.values())
    assert r"\|K\_τ\| \*is\* \<b>" in text
    assert "| a\\|b |\n| --- |\n| x\\|y |" in text


def test_earlier_results_are_shown_with_the_error_of_a_rerun(tmp_path):
    works = True

    def compute(context):
        if not works:
            raise ValueError("no network")
        return TABLE

    registry = {"one": Exhibit("one", "One", "", compute, findings=claim("holds"))}
    assert reproduce(["one"], tmp_path, preset="quick", registry=registry).failed == {}
    works = False
    outcome = reproduce(["one"], tmp_path, preset="paper", registry=registry)
    assert outcome.failed == {"one": "no network"}
    text = Page(outcome.page).texts["one"]
    assert "Could not be reproduced: no network\nThe results shown are from an earlier run." in text
    assert "preset quick" in text
    assert "A claim." in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_an_interrupted_run_leaves_the_earlier_page(tmp_path, monkeypatch):
    from sharpley_experiments.paper import reproduce as module

    outcome = reproduce(["first"], tmp_path, preset="quick", registry=FAKES)
    files = [outcome.page, tmp_path / "summary.md", tmp_path / "tables" / "first.csv"]
    earlier = {path: path.read_bytes() for path in files}

    def killed(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    for function in (
        lambda: reproduce(["first"], tmp_path, preset="quick", registry=FAKES),
        lambda: module.write_page(tmp_path, manifest.read(tmp_path)["first"], FAKES),
    ):
        with pytest.raises(KeyboardInterrupt):
            function()
        assert {path: path.read_bytes() for path in files} == earlier
        assert not list(tmp_path.rglob("*.tmp"))

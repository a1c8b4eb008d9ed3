"""The content of the page as Markdown, for the documentation; figures and tables are linked as files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sharpley_experiments.paper.exhibits import Exhibit, Finding
from sharpley_experiments.paper.manifest import Record
from sharpley_experiments.paper.notes import NOTES
from sharpley_experiments.paper.report import (
    SIGNS,
    Section,
    cell_text,
    duration,
    exhibit_counts,
    made_with,
    rule_of,
    unjudged,
    verdict_counts,
)
from sharpley_experiments.paper.rules import RULES

if TYPE_CHECKING:
    from pandas import DataFrame


def summary(sections: Sequence[Section], last: Record, registry: Collection[Exhibit]) -> str:
    """Return claims and verdicts of all exhibits, below their figures and tables; arguments as in ``report.page``."""
    shown = [section for section in sections if section.n_rows]
    counts = "; ".join(f"{kind}: {count}" for kind, count in exhibit_counts(shown, registry).items())
    lines = [f"{counts}.", "", f"Claims of the paper: {verdict_counts(shown)}.", "", f"Made with {made_with(last)}."]
    for preset, count, command in unjudged(shown):
        lines += ["", f"The preset {preset} is too small to judge {count} of them: `{command}` judges these."]
    for preset in dict.fromkeys(section.record.preset for section in shown):
        names = ", ".join(f"`{one.exhibit.name}`" for one in shown if one.record.preset == preset)
        lines += ["", f"Preset {preset}: {names}."]
    for title, sentences in (("What is shown", NOTES), ("How claims are judged", RULES)):
        lines += ["", f"### {title}", "", *(f"- {_plain(sentence)}" for sentence in sentences)]
    return "\n".join([*lines, *(line for section in shown for line in _section(section, last))]) + "\n"


def _section(section: Section, last: Record) -> list[str]:
    exhibit, record = section.exhibit, section.record
    source = exhibit.source or "beyond the paper"
    lines = ["", f"### {exhibit.title} ({source})", "", f"*The paper:* {exhibit.paper}", ""]
    if exhibit.draw:
        lines += [f"![{exhibit.title}](figures/{exhibit.name}.png)", ""]
    if section.table is not None:
        lines += [*_table(section.table), ""]
    lines += [line for found in section.findings for line in _claim(exhibit, found)]
    made = [f"`sharpley reproduce {exhibit.name} --preset {record.preset}`", duration(record.seconds)]
    if record.made_with != last.made_with:
        made.append(f"with {made_with(record)}")
    return [*lines, "", f"{', '.join(made)}. [The table as CSV](tables/{exhibit.name}.csv)."]


def _claim(exhibit: Exhibit, found: Finding) -> list[str]:
    sign, verdict = SIGNS[found.verdict][1], found.verdict
    rule = rule_of(exhibit, found)
    by = f" Rule: {_plain(rule)}." if rule else ""
    lines = ["", f"{sign} **{verdict}**: {_plain(found.claim)} *{_plain(found.evidence)}*{by}"]
    if found.details is not None:
        rows = [list(map(_plain, row)) for row in found.details.rows]
        lines += ["", *_lines(list(map(_plain, found.details.head)), rows)]
    return lines


def _table(table: DataFrame) -> list[str]:
    rows = [[_plain(cell_text(value)) for value in row] for row in table.itertuples(index=False, name=None)]
    head = [_plain(str(name)) for name in table.columns]
    return _lines(head, rows)


def _lines(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def _plain(text: str) -> str:
    """Escape characters that have a meaning in Markdown."""
    return "".join("\\" + sign if sign in "|*_<`" else sign for sign in text)

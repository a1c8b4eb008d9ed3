"""The content of the page as Markdown, for the documentation; figures and tables are linked as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharpley_experiments.paper.exhibits import Finding
from sharpley_experiments.paper.manifest import Record
from sharpley_experiments.paper.report import SIGNS, Section, cell_text, duration, made_with, verdict_counts

if TYPE_CHECKING:
    from pandas import DataFrame


def summary(sections: Sequence[Section], last: Record) -> str:
    """Return claims and verdicts of all exhibits, below their figures and tables; ``last`` as in ``report.page``."""
    shown = [section for section in sections if section.n_rows]
    lines = [f"Claims of the paper: {verdict_counts(shown)}.", "", f"Made with {made_with(last)}."]
    return "\n".join([*lines, *(line for section in shown for line in _section(section, last))]) + "\n"


def _section(section: Section, last: Record) -> list[str]:
    exhibit, record = section.exhibit, section.record
    lines = ["", f"### {exhibit.title}", "", f"*The paper:* {exhibit.paper}", ""]
    if exhibit.draw:
        lines += [f"![{exhibit.title}](figures/{exhibit.name}.png)", ""]
    if section.table is not None:
        lines += [*_table(section.table), ""]
    lines += [_claim(found) for found in section.findings]
    made = [f"`sharpley reproduce {exhibit.name} --preset {record.preset}`", duration(record.seconds)]
    if record.made_with != last.made_with:
        made.append(f"with {made_with(record)}")
    return [*lines, "", f"{', '.join(made)}. [The table as CSV](tables/{exhibit.name}.csv)."]


def _claim(found: Finding) -> str:
    return f"- {SIGNS[found.verdict][1]} **{found.verdict}**: {_plain(found.claim)} *{_plain(found.evidence)}*"


def _table(table: DataFrame) -> list[str]:
    rows = [[_plain(cell_text(value)) for value in row] for row in table.itertuples(index=False, name=None)]
    head = [_plain(str(name)) for name in table.columns]
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def _plain(text: str) -> str:
    """Escape characters that have a meaning in Markdown."""
    return "".join("\\" + sign if sign in "|*_<`" else sign for sign in text)

"""One self-contained HTML page with the verdicts on the paper's claims and the reproduced figures and tables."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from sharpley_experiments.paper.exhibits import Details, Exhibit, Finding, Verdict
from sharpley_experiments.paper.manifest import Record
from sharpley_experiments.paper.notes import NOTES
from sharpley_experiments.paper.rules import RULES

if TYPE_CHECKING:
    from pandas import DataFrame

# CSS class and sign of each verdict, so that verdicts are distinguished by sign and words as well as by colour.
SIGNS: dict[Verdict, tuple[str, str]] = {
    "holds": ("yes", "✓"),
    "holds in part": ("part", "◐"),
    "does not hold": ("no", "✗"),
    "undecided": ("open", "?"),
    "not judged": ("small", "–"),
    "remark": ("note", "i"),
}
COUNTED = {
    "holds": "hold",
    "holds in part": "in part",
    "does not hold": "do not hold",
    "undecided": "undecided",
    "not judged": "not judged at this size",
    "remark": "remarks",
}
KINDS_OF_EXHIBITS = ("Figures and tables of the paper", "Claims of its text", "Beyond the paper")
NUMBER = re.compile(r"[−+-]?[\d.,]+( ?%)?([eE][+-]?\d+)?( ?(±|×÷) ?[\d.,eE+-]+)?|–|")
PLOTLY_SETTINGS = "Plotly.setPlotConfig({displaylogo: false, showSendToCloud: false});"  # no button to upload a figure
CSS_PIXELS_PER_PIXEL = 96 / 150 * 1.15  # of a figure at 150 dpi, which is shown a little larger than in print


@dataclass(frozen=True)
class Section:
    """What the page shows about one exhibit: an error, if there was one, and results, perhaps from an earlier run."""

    exhibit: Exhibit
    record: Record
    error: str = ""
    picture: bytes | None = None
    table: DataFrame | None = None
    fragment: str | None = None
    findings: tuple[Finding, ...] = ()
    n_rows: int = 0


def page(sections: Sequence[Section], last: Record, registry: Collection[Exhibit]) -> str:
    """Return the HTML page.

    Parameters
    ----------
    sections : sequence of Section
        Exhibits to show, in order.
    last : Record
        Record of the exhibit that was produced last; the page shows its date and versions.
    registry : collection of Exhibit
        All exhibits, whether produced or not.
    """
    template = Template(files("sharpley_experiments.paper").joinpath("report_page.html").read_text(encoding="utf-8"))
    with_fragments = any(section.fragment for section in sections)
    return template.substitute(
        plotly=f"<script>{_plotly()}\n{PLOTLY_SETTINGS}</script>" if with_fragments else "",
        facts=_facts(sections, last, registry),
        banner=_banner(sections),
        failures=_failures(sections),
        contents="\n".join(_content(section) for section in sections),
        notes=_list(NOTES),
        rules=_list(RULES),
        claims=_claims(sections),
        sections="\n".join(_section(section, last) for section in sections),
    )


def duration(seconds: float) -> str:
    """Format seconds for readers: "0.4 s", "25 s", "3 min 20 s", "1 h 5 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def verdict_counts(sections: Sequence[Section]) -> str:
    """Count the verdicts in words, such as "5 hold, 1 in part, 2 do not hold, 0 undecided, …"."""
    counts = _counted(sections)
    return ", ".join(f"{counts[verdict]} {COUNTED[verdict]}" for verdict in SIGNS)


def exhibit_counts(sections: Sequence[Section], registry: Collection[Exhibit]) -> dict[str, str]:
    """How many figures and tables of the paper there are, of all that it has, and how many other exhibits."""
    made = [section.exhibit for section in sections if section.n_rows]

    def count(kind: str) -> str:
        return f"{sum(_kind_of(one) == kind for one in made)} of {sum(_kind_of(one) == kind for one in registry)}"

    return {kind: count(kind) for kind in KINDS_OF_EXHIBITS if any(_kind_of(one) == kind for one in registry)}


def _kind_of(exhibit: Exhibit) -> str:
    return KINDS_OF_EXHIBITS[0 if exhibit.is_of_paper else 1 if exhibit.source else 2]


def _counted(sections: Sequence[Section]) -> Counter[Verdict]:
    return Counter(finding.verdict for section in sections for finding in section.findings)


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text


def _facts(sections: Sequence[Section], last: Record, registry: Collection[Exhibit]) -> str:
    presets = sorted({section.record.preset for section in sections})
    shown = {
        "Preset": " and ".join(presets) + (" (each figure says which)" if len(presets) > 1 else ""),
        **exhibit_counts(sections, registry),
        "Time": duration(sum(section.record.seconds for section in sections)),
        "Date": last.date,
        "Made with": made_with(last),
    }
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in shown.items())


def _list(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{_prose(sentence)}</li>" for sentence in sentences) + "</ul>"


def _prose(text: str) -> str:
    """Escape text for HTML, without line breaks at equals signs."""
    return escape(text).replace(" = ", "&nbsp;=&nbsp;")


def made_with(record: Record) -> str:
    """Format versions and machine as one line."""
    return ", ".join(f"{name} {value}" if name != "platform" else value for name, value in record.made_with.items())


NEXT_PRESETS = {"quick": "laptop", "laptop": "images", "images": "images", "paper": "paper"}
"""The next larger preset; that of the images, unfinished, is the same again."""


def unjudged(sections: Sequence[Section]) -> list[tuple[str, int, str]]:
    """Return for each preset how many claims it is too small to judge, and the command that judges them."""
    found = []
    for preset in dict.fromkeys(section.record.preset for section in sections):
        names = [
            section.exhibit.name
            for section in sections
            if section.record.preset == preset
            for found_one in section.findings
            if found_one.verdict == "not judged"
        ]
        if names:
            what = "all" if preset == "quick" else " ".join(dict.fromkeys(names))
            larger = NEXT_PRESETS.get(preset, preset)
            found.append((preset, len(names), f"sharpley reproduce {what} --preset {larger}"))
    return found


def _banner(sections: Sequence[Section]) -> str:
    """Say which claims the presets are too small to judge, and how to judge them."""
    total = _counted(sections).total()
    lines = [
        f"<strong>The preset {escape(preset)} is too small to judge {count} of {total} claims.</strong> "
        f"<code>{escape(command)}</code> judges them."
        for preset, count, command in unjudged(sections)
    ]
    return f'<p class="banner" role="note">{"<br>".join(lines)}</p>' if lines else ""


def _failures(sections: Sequence[Section]) -> str:
    failed = [section.exhibit.name for section in sections if section.error]
    if not failed:
        return ""
    links = ", ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in failed)
    text = f"<strong>Could not be reproduced:</strong> {links}. The reasons are given there."
    return f'<p class="error" role="alert">{text}</p>'


def _content(section: Section) -> str:
    exhibit = section.exhibit
    mark = ' <span class="failed">failed</span>' if section.error else ""
    return f'<li><a href="#{escape(exhibit.name)}">{_prose(exhibit.title)}</a>{mark}</li>'


def _badge(verdict: Verdict) -> str:
    kind, sign = SIGNS[verdict]
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {verdict}</span>'


def _claim_id(section: Section, k: int) -> str:
    return escape(f"claim-{section.exhibit.name}-{k}")


def _claims(sections: Sequence[Section]) -> str:
    """Buttons that count the verdicts and filter by them, without a script, and the list of claims."""
    counts = _counted(sections)
    if not counts:
        return "<p>None of these figures and tables tests a claim.</p>"
    kinds = [("all", f"All {counts.total()}"), *((SIGNS[v][0], f"{SIGNS[v][1]} {v} {counts[v]}") for v in SIGNS)]
    buttons = "".join(
        f'<input type="radio" name="show" id="show-{kind}"{" checked" if kind == "all" else ""}>'
        f'<label class="{kind}" for="show-{kind}">{text}</label>'
        for kind, text in kinds
    )
    items = "\n".join(
        f'<li class="{SIGNS[found.verdict][0]}" id="{_claim_id(section, k)}">{_badge(found.verdict)}'
        f"<div><p>{_prose(found.claim)}</p><p class=soft>{_prose(found.evidence)} <span aria-hidden=true>→</span>&nbsp;"
        f'<a href="#{escape(section.exhibit.name)}">{escape(_place(section.exhibit))}</a></p>'
        f"{_rule(section.exhibit, found)}{_details(found.details)}</div></li>"
        for section in sections
        for k, found in enumerate(section.findings)
    )
    return f'{buttons}\n<ul class="claims">\n{items}\n</ul>'


def _place(exhibit: Exhibit) -> str:
    """Where the paper has it, and its name."""
    return f"{exhibit.source}, {exhibit.name}" if exhibit.source else exhibit.name


def rule_of(exhibit: Exhibit, found: Finding) -> str:
    """Return the rule that gave a verdict; empty if there is nothing to judge."""
    return "" if found.verdict in ("remark", "not judged") else found.rule or exhibit.rule


def _rule(exhibit: Exhibit, found: Finding) -> str:
    rule = rule_of(exhibit, found)
    return f'<p class="soft rule">Rule: {_prose(rule)}.</p>' if rule else ""


def _details(details: Details | None) -> str:
    """The numbers behind a verdict as a small table, which opens at a click."""
    if details is None:
        return ""
    from pandas import DataFrame

    table = _table(DataFrame(list(details.rows), columns=list(details.head)), kind="details")
    return f"<details><summary>Numbers</summary>{table}</details>"


def _section(section: Section, last: Record) -> str:
    name = escape(section.exhibit.name)
    body = _body(section)
    if section.error:
        earlier = "\nThe results shown are from an earlier run." if section.n_rows else ""
        body = f'<p class="error">Could not be reproduced: {_prose(section.error)}{earlier}</p>\n{body}'
    title = _prose(section.exhibit.title) + _origin(section.exhibit)
    return (
        f'<section class="card exhibit" id="{name}">\n<h2>{title}</h2>\n'
        f'<p><span class="who">The paper</span> {_prose(section.exhibit.paper)}</p>\n'
        f'{body}\n<p class="soft made">{_made(section, last)}</p>\n</section>'
    )


def _origin(exhibit: Exhibit) -> str:
    return f' <span class="origin">{escape(exhibit.source or "beyond the paper")}</span>'


def _body(section: Section) -> str:
    return "\n".join(part for part in (_figure(section), _table(section.table), _tested(section)) if part)


def _figure(section: Section) -> str:
    """The picture, and the interactive figure if there is one.

    The page then shows the picture only in print and in browsers that cannot show the interactive figure.
    """
    image = _image(section) if section.picture else ""
    if section.fragment:
        hint = "Drag to rotate, scroll or pinch to zoom."
        turn = f'<div class="turn"><p class="soft">{hint}</p>{section.fragment}</div>'
        return f'<figure class="turnable">{turn}{image}</figure>'
    return f"<figure>{image}</figure>" if image else ""


def _image(section: Section) -> str:
    picture = section.picture or b""
    # A PNG file has its width and height at bytes 16 and 20.
    width, height = (round(CSS_PIXELS_PER_PIXEL * int.from_bytes(picture[at : at + 4])) for at in (16, 20))
    return (
        f'<img class="static" width="{width}" height="{height}" alt="{escape(section.exhibit.title)}" '
        f'src="data:image/png;base64,{b64encode(picture).decode()}">'
    )


def _table(table: DataFrame | None, kind: str = "scroll") -> str:
    if table is None:
        return ""
    rows = [[cell_text(value) for value in row] for row in table.itertuples(index=False, name=None)]
    aligned = [_kind([row[j] for row in rows]) for j in range(table.shape[1])]
    head = "".join(f"<th{place}>{escape(str(name))}</th>" for name, place in zip(table.columns, aligned, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{place}>{escape(text)}</td>" for text, place in zip(row, aligned, strict=True)) + "</tr>"
        for row in rows
    )
    # A tabindex makes it possible to scroll a wide table with the keyboard.
    return (
        f'<div class="{kind}" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )


def _kind(column: list[str]) -> str:
    """CSS class of a column: numbers are aligned to the right, sentences may be wrapped."""
    if all(NUMBER.fullmatch(text) for text in column):
        return ' class="num"'
    return ' class="long"' if max(map(len, column)) > 32 else ""


def cell_text(value: Any) -> str:
    """Format a cell of a table; missing values, None or NaN, become a dash."""
    return "–" if value is None or value != value else str(value)


def _tested(section: Section) -> str:
    items = "".join(
        f'<li>{_badge(found.verdict)} <a href="#{_claim_id(section, k)}">{_prose(found.claim)}</a></li>'
        for k, found in enumerate(section.findings)
    )
    return f'<p class="who">Claims tested here</p><ul class="tested">{items}</ul>' if items else ""


def _made(section: Section, last: Record) -> str:
    record, name = section.record, escape(section.exhibit.name)
    parts = [f"<code>{name}</code>", f"preset {escape(record.preset)}", duration(record.seconds), escape(record.date)]
    if record.made_with != last.made_with:
        parts.append(f"made with {escape(made_with(record))}")
    if section.n_rows:
        parts.append(f'<a href="tables/{name}.csv">table as CSV ({section.n_rows:,} rows)</a>')
    if section.picture:
        parts.append(f'<a href="figures/{name}.png">figure as PNG</a>')
    return " · ".join(parts)

"""The page of the reproduction in a real browser."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest
from fake_exhibits import SPECIAL

from sharpley_experiments.paper import ORDER, all_exhibits, manifest
from sharpley_experiments.paper.reproduce import write_page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROBE = """<script>
const seen = {errors: []};
const note = (text) => seen.errors.push(String(text).slice(0, 200));
addEventListener("error", (event) => note(event.message || event.target.outerHTML), true);
addEventListener("unhandledrejection", (event) => note(event.reason));
const shown = (element) => element ? element.getBoundingClientRect().width > 100 : false;
addEventListener("load", () => setTimeout(() => {
  seen.images = [...document.images].map((image) => image.naturalWidth);
  seen.figures = [...document.querySelectorAll("figure")].map((figure) => {
    const plot = figure.querySelector(".js-plotly-plot");
    return {
      name: figure.closest("section").id,
      picture: shown(figure.querySelector("img")),
      turns: shown(plot) && shown(plot.querySelector("svg.main-svg")) && shown(plot.querySelector("canvas")),
    };
  });
  seen.overflow = document.documentElement.scrollWidth - innerWidth;
  seen.requests = performance.getEntriesByType("resource").map((entry) => entry.name.slice(0, 80));
  document.documentElement.dataset.seen = JSON.stringify(seen);
}, 2000));
</script>"""
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=10000",
    "--dump-dom",
]


def in_browser(text, folder, *flags):
    """What a script in the page sees: errors, natural widths of images, visible figures."""
    path = folder / "probed.html"
    path.write_text(text.replace("<head>", f"<head>{PROBE}", 1), encoding="utf-8")
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={folder / 'browser'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=True)
    found = re.search(r'<html[^>]* data-seen="([^"]*)"', done.stdout)
    assert found, f"the page did not finish loading: {done.stderr[-2000:]}"
    return json.loads(unescape(found[1]))


def complaints(seen, n_figures):
    """List everything that is wrong with what was seen."""
    wrong = list(seen["errors"])
    wrong += [f"image {k} is not a picture" for k, width in enumerate(seen["images"]) if width < 300]
    wrong += [f"{figure['name']} is not shown" for figure in seen["figures"] if figure["picture"] == figure["turns"]]
    wrong += [f"request for {name}" for name in seen["requests"] if not name.startswith("data:")]
    if len(seen["figures"]) != n_figures:
        wrong.append(f"{len(seen['figures'])} figures")
    return wrong


needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)


@needs_browser
@pytest.mark.parametrize("width", [1200, 500])  # headless windows cannot be narrower than 500
def test_the_browser_sees_every_figure_and_no_error(geometry, tmp_path, width):
    text = (geometry[0] / "report.html").read_text(encoding="utf-8")
    seen = in_browser(text, tmp_path, f"--window-size={width},900")
    assert complaints(seen, 2) == []
    assert {figure["name"]: figure["turns"] for figure in seen["figures"]} == {
        "cayley-graph-4": True,
        "kendall-distribution": False,
    }
    assert seen["overflow"] <= 0  # no horizontal scrolling


@needs_browser
def test_without_webgl_the_pictures_are_shown(geometry, tmp_path):
    text = (geometry[0] / "report.html").read_text(encoding="utf-8")
    seen = in_browser(text, tmp_path, "--disable-3d-apis")
    assert [figure["picture"] for figure in seen["figures"]] == [True, True]


@needs_browser
def test_a_broken_page_is_detected(geometry, tmp_path):
    text = (geometry[0] / "report.html").read_text(encoding="utf-8")
    head, body = text[: text.index("<body>")], text[text.index("<body>") :]
    for old, new in (
        ('src="data:image/png;base64,iVBORw', 'src="data:image/png;base64,AAAABw'),
        ("Plotly.newPlot(", "Plotly.oldPlot("),
        ("</header>", "<style>#kendall-distribution img { display: none; }</style></header>"),
        ("</main>", '<img src="figures/nothing.png"><script>undefinedFunction()</script></main>'),
    ):
        assert old in body
        body = body.replace(old, new, 1)
    seen = in_browser(head + body, tmp_path)
    found = "\n".join(complaints(seen, n_figures=3))
    for complaint in (
        "image 0 is not a picture",
        "image 2 is not a picture",
        "Plotly.oldPlot is not a function",
        "undefinedFunction is not defined",
        "kendall-distribution is not shown",
        "2 figures",
        "nothing.png",
    ):
        assert complaint in found


@pytest.fixture(scope="module")
def whole_page(results, tmp_path_factory):
    """The page of all results that the documentation shows."""
    out = tmp_path_factory.mktemp("results") / "paper"
    shutil.copytree(results / "paper", out)
    last = manifest.read(out)[ORDER[-1]]
    return write_page(out, last, all_exhibits()), out / "report.html"


def test_the_documentation_shows_every_exhibit_as_the_code_would_write_it_now(whole_page, results):
    sections, path = whole_page
    shown = results / "paper"
    assert [section.exhibit.name for section in sections] == list(ORDER)
    assert not any(section.error for section in sections)
    text = path.with_name("summary.md").read_text(encoding="utf-8")
    assert text.split("### ")[1:] == (shown / "summary.md").read_text(encoding="utf-8").split("### ")[1:]
    assert sum(file.stat().st_size for file in shown.rglob("*")) < 11_000_000


@needs_browser
def test_the_browser_sees_all_figures_of_the_paper(whole_page, tmp_path):
    sections, path = whole_page
    seen = in_browser(path.read_text(encoding="utf-8"), tmp_path, "--window-size=1280,900")
    drawn = [section.exhibit.name for section in sections if section.exhibit.draw]
    assert complaints(seen, len(drawn)) == []
    assert [figure["name"] for figure in seen["figures"]] == drawn


@needs_browser
def test_the_browser_does_not_run_scripts_in_text(fake, tmp_path):
    assert escape(SPECIAL) in fake[1].page.read_text(encoding="utf-8")
    assert in_browser(fake[1].page.read_text(encoding="utf-8"), tmp_path)["errors"] == []


def test_versions_of_the_committed_results_are_pinned(results):
    """XGBoost 3.2 and 3.4 alone move errors by half: ``pip install -r`` gives the versions that were used."""
    pins = dict(
        line.split("==") for line in (results / "paper" / "requirements.txt").read_text(encoding="utf-8").split()
    )
    assert set(pins) == set(manifest.LIBRARIES)
    for name, record in manifest.read(results / "paper").items():
        assert {library: record.made_with[library] for library in pins} == pins, name
    text = (results / "paper" / "summary.md").read_text(encoding="utf-8")
    assert all(f"{library} {version}" in text for library, version in pins.items())

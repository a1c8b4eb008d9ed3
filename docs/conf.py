from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import sharpley

project = "Sharpley"
author = "The Sharpley developers"
copyright = "2026, The Sharpley developers"
version = release = sharpley.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as a list: entries of their own would become targets of every "d" in a type
exclude_patterns = ["_build", "_generated", "results"]
html_theme = "furo"
html_title = f"Sharpley {sharpley.__version__}"
html_math_renderer = "mathml"  # the default, MathJax, is loaded from the network by every reader

METHODS_TABLE = Path(__file__).parent / "_generated" / "methods.md"
METHODS_HEAD = (
    "`method=`",
    "what it does",
    "from",
    "least budget",
    "unbiased",
    "adds up",
    "learns from rows",
    "kept samples",
)
D = 10  # number of players for which the table gives the least budget


def methods_table():
    """Return the table of all methods as Markdown lines, from the records in ``sharpley.METHODS``."""
    lines = [METHODS_HEAD, ("---", "---", "---", "--:", "---", "---", "---")]
    for name, record in sharpley.METHODS.items():
        facts = (record.is_unbiased, record.adds_up, record.learns_from_rows, record.keeps_samples)
        answers = ("yes" if fact else "no" for fact in facts)
        lines.append((f"`{name}`", record.summary, record.origin, f"{record.least_budget(D):,}", *answers))
    return [f"| {' | '.join(cells)} |" for cells in lines]


def write_methods_table(app):
    text = "\n".join(methods_table()) + "\n"
    if not METHODS_TABLE.exists() or METHODS_TABLE.read_text(encoding="utf-8") != text:  # else nothing is rebuilt
        METHODS_TABLE.parent.mkdir(exist_ok=True)
        METHODS_TABLE.write_text(text, encoding="utf-8")


def visit_math(translator, node):
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(translator, node):
    translator.body.append(f"<p>{tex2mathml(node.astext(), as_block=True)}</p>")
    raise nodes.SkipNode


def setup(app):
    app.connect("builder-inited", write_methods_table)
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

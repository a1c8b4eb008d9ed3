from sharpley import __version__

project = "Sharpley"
author = "The Sharpley developers"
copyright = "2026, The Sharpley developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
exclude_patterns = ["_build", "results"]
html_theme = "furo"
html_title = f"Sharpley {__version__}"

"""How Sphinx builds the documentation: ``make docs`` writes it to ``docs/_build/html``.

The pages are Markdown that GitHub shows as well. The site works offline: no page asks another host
for a font, a script or a formula.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent / "src")]

from adagcn import __version__  # noqa: E402

project = "adagcn"
author = "The adagcn developers"
copyright = "the adagcn developers, MIT license"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "repository_links",
]
exclude_patterns = ["_build", "extensions"]
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
nitpicky = True

# Markdown

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "attrs_inline"]
myst_heading_anchors = 4  # headings are linked as GitHub links them
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp, .go"

# What the pages look like

html_theme = "furo"
html_title = f"adagcn {__version__}"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    "light_css_variables": {
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
    },
}
html_use_index = True

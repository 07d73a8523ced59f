"""How Sphinx builds the documentation: ``make docs`` writes it to ``docs/_build/html``.

The pages are Markdown that GitHub shows as well. The site works offline: no page asks another host
for a font, a script or a formula.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes

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
    "generated_parts",
    "repository_links",
]
exclude_patterns = ["_build", "extensions"]
highlight_language = "text"
smartquotes = False  # "--quiet" keeps its two hyphens
pygments_style = "friendly"
pygments_dark_style = "github-dark"
nitpicky = True
nitpick_ignore = [("py:meth", "set_output")]  # scikit-learn's

# Docstrings

autodoc_typehints = "none"  # docstrings say what an argument is, with its shape
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 80
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_param = False  # types are sentences, not names to link
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

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
html_show_search_summary = False  # a page that is opened as a file may not fetch others
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    "light_css_variables": {
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
    },
}
html_use_index = True


def _dashes(app: Any, doctree: Any, docname: str) -> None:
    """Put a dash where Sphinx writes two hyphens between a parameter and its meaning."""
    for text in list(doctree.findall(nodes.Text)):
        if text.startswith((" -- ", ") -- ")):
            text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ", 1)))


def setup(app: Any) -> None:
    """Register what happens to every page before it is written."""
    app.connect("doctree-resolved", _dashes)

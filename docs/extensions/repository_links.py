"""Links from the pages to files of the repository, which GitHub follows and a site cannot.

A link such as ``../SECURITY.md`` leads to the page of the site that shows this file, and one such
as ``../src/adagcn/graph.py`` to a page with the file in color. Docstrings name parts of the library
that have no page of their own: those names lead to the line of the code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx.addnodes import download_reference

# Documents outside docs/ that the site shows, by their path in the repository.
SHOWN = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
IN_COLOR = {".py", ".toml", ".yml", ".cff"}
FOLDER = "_files"

_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")


def with_links_of_the_site(text: str, folder: Path, docs: Path) -> str:
    """Return a page whose links to documents outside of ``docs`` lead to the site's pages.

    Parameters
    ----------
    text : str
        Markdown.
    folder : Path
        Where the text stands, for its links are relative.
    docs : Path
        The folder of the site's pages.
    """

    def led(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if not target.is_relative_to(docs.parent):
            return found[0]
        page = SHOWN.get(target.relative_to(docs.parent).as_posix())
        if page is None and folder == docs.parent and target.is_relative_to(docs):
            page = target.relative_to(docs).as_posix()
        return found[0] if page is None else f"{found[1]}/{page}{found[3] or ''}"

    return _LINK.sub(led, text)


class FilesInColor(Transform):
    """Let links to code lead to a page that shows it instead of a download."""

    default_priority = 990

    def apply(self, **_: Any) -> None:
        """Replace the download links of one page."""
        env = self.document.settings.env
        docs = Path(env.srcdir)
        for link in list(self.document.findall(download_reference)):
            file = (docs / env.docname).parent.joinpath(link["reftarget"]).resolve()
            if file.suffix not in IN_COLOR or not file.is_relative_to(docs.parent):
                continue
            place = place_of_file(env, env.docname, file)
            link.replace_self(nodes.reference("", "", *link.children, refuri=place))


def place_of_file(env: Any, docname: str, file: Path) -> str:
    """Return where the page of a file is, seen from a document, and have it made."""
    name = f"{FOLDER}/{file.relative_to(Path(env.srcdir).parent).as_posix()}"
    files_of(env).setdefault(docname, set()).add(name)
    return f"{'../' * docname.count('/')}{name}.html"


# Names in docstrings


def to_page_or_code(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Return a link for a name that Sphinx does not know as it is written."""
    target = node["reftarget"]
    if node.get("refdomain") != "py":
        return None
    known = env.get_domain("py").objects
    last = target.rpartition(".")[2]
    for name in (f"adagcn.{last}", f"adagcn.data.{last}"):
        if name in known:
            docname, place = known[name].docname, known[name].node_id
            uri = app.builder.get_relative_uri(node["refdoc"], docname)
            return nodes.reference("", "", content, refuri=f"{uri}#{place}", internal=True)
    found = _defined(Path(app.srcdir).parent / "src", target)
    if found is None:
        return None
    file, line = found
    uri = place_of_file(env, node["refdoc"], file)
    return nodes.reference("", "", content, refuri=f"{uri}#line-{line}", internal=True)


def _defined(source: Path, target: str) -> tuple[Path, int] | None:
    """Return the file and the line of a module, a class or a function, if there is just one."""
    module, _, name = target.rpartition(".")
    whole = source / Path(*target.split(".")).with_suffix(".py")
    if whole.is_file():
        return whole, 1
    inside = source / Path(*module.split(".")).with_suffix(".py") if module else None
    files = [inside] if inside is not None and inside.is_file() else source.rglob("*.py")
    pattern = re.compile(rf"^(?:def|class) {re.escape(name)}\b", re.M)
    places = [
        (file, text[: found.start()].count("\n") + 1)
        for file in files
        if (found := pattern.search(text := file.read_text(encoding="utf-8")))
    ]
    return places[0] if len(places) == 1 else None


def files_of(env: Any) -> dict[str, set[str]]:
    """Return the names of the pages of files that each document links to."""
    if not hasattr(env, "files_in_color"):
        env.files_in_color = {}
    found: dict[str, set[str]] = env.files_in_color
    return found


def pages_of_files(app: Any) -> Any:
    """Yield a page for each file that is linked to."""
    docs = Path(app.srcdir)
    for name in sorted(set().union(*files_of(app.env).values())):
        path = Path(name).relative_to(FOLDER)
        text = (docs.parent / path).read_text(encoding="utf-8")
        formatter = HtmlFormatter(wrapcode=True, lineanchors="line")
        body = highlight(text, get_lexer_for_filename(path.name), formatter)
        context = {"title": path.name, "body": f'<h1 class="file">{path}</h1>{body}', "parents": []}
        yield name, context, "page.html"


def _forget(_: Any, env: Any, docname: str) -> None:
    files_of(env).pop(docname, None)


def _merge(_: Any, env: Any, docnames: Any, other: Any) -> None:
    files_of(env).update({n: found for n, found in files_of(other).items() if n in docnames})


def _read(app: Any, docname: str, source: list[str]) -> None:
    docs = Path(app.srcdir)
    source[0] = with_links_of_the_site(source[0], (docs / docname).parent, docs)


def _include(app: Any, path: Path, docname: str, source: list[str]) -> None:
    docs = Path(app.srcdir)
    folder = (docs / path).resolve().parent
    source[0] = with_links_of_the_site(source[0], folder, docs)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read)
    app.connect("include-read", _include)
    app.add_transform(FilesInColor)
    app.connect("missing-reference", to_page_or_code)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("html-collect-pages", pages_of_files)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}

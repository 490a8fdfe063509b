"""Links to files of the repository outside `docs/` open a page of this site with that file.

A link such as `../core/weft/render/rules.py` works where the repository is browsed. On the site, a
page `source/core/weft/render/rules.py.html` is written for each file that some page links to.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def linked_files(env: BuildEnvironment) -> dict[str, set[str]]:
    """For each page, the files of the repository that it links to."""
    if not hasattr(env, "weft_linked_files"):
        env.weft_linked_files = {}  # type: ignore[attr-defined]
    return env.weft_linked_files  # type: ignore[attr-defined,no-any-return]


def _target(app: Sphinx, node: nodes.Element) -> Path:
    """The file that a link leads to: a download, or a document in Markdown."""
    if isinstance(node, addnodes.download_reference):
        return Path(os.path.normpath(app.env.relfn2path(node["reftarget"], app.env.docname)[1]))
    return Path(app.srcdir, node["reftarget"] + ".md")


def link_to_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Handle `doctree-read`: what would be a download becomes a link to a page."""
    docname = app.env.docname
    root = Path(app.srcdir).parent
    documents = (n for n in doctree.findall(addnodes.pending_xref) if n["refdomain"] == "doc")
    for node in [*doctree.findall(addnodes.download_reference), *documents]:
        path = _target(app, node)
        if path.is_relative_to(app.srcdir) or not (path.is_relative_to(root) and path.is_file()):
            continue
        name = path.relative_to(root).as_posix()
        linked_files(app.env).setdefault(docname, set()).add(name)
        up = "../" * docname.count("/")
        link = nodes.reference("", "", refuri=f"{up}source/{name}.html", internal=True)
        link += [child.deepcopy() for child in node.children]
        node.replace_self(link)


def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    linked_files(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    linked_files(env).update(linked_files(other))


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Handle `html-collect-pages`: a page for each linked file."""
    root = Path(app.srcdir).parent
    for name in sorted(set().union(*linked_files(app.env).values())):
        text = (root / name).read_text(encoding="utf-8")
        try:
            lexer = get_lexer_for_filename(name)
        except ClassNotFound:
            lexer = TextLexer()
        code = highlight(text, lexer, HtmlFormatter(nowrap=True))
        body = f'<h1>{name}</h1><div class="highlight"><pre>{code}</pre></div>'
        yield f"source/{name}", {"title": name, "body": body, "parents": []}, "page.html"


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", link_to_pages, priority=100)  # before downloads are collected
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("html-collect-pages", pages)

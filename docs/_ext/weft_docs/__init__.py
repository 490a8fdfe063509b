"""Sphinx extension of this site: docstrings, public names, generated text, source files."""

from typing import Any

from sphinx.application import Sphinx

from weft_docs import generated_text, public_names, source_pages
from weft_docs.docstrings import restructured


def process_docstring(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Handle `autodoc-process-docstring`: rewrite the lines in place."""
    lines[:] = restructured(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("source-read", public_names.expand_source)
    app.connect("source-read", generated_text.expand_source)
    app.connect("doctree-read", public_names.unlink_builtins)
    source_pages.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

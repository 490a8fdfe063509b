"""Sphinx extension of this site: docstrings, public names, generated text, source files."""

import re
import sys
from inspect import Signature
from types import MethodType
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import inspect

from weft_docs import generated_text, public_names, source_pages
from weft_docs.docstrings import restructured

ANYTHING = re.compile(r"\(\*args: [\w.~]*Any, \*\*kwargs: [\w.~]*Any\)")


def process_docstring(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Handle `autodoc-process-docstring`: rewrite the lines in place."""
    lines[:] = restructured(lines)


def process_signature(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: object,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Handle `autodoc-process-signature`.

    A class of modules takes what its `__init__` takes, and a bound method all its parameters. Type
    variables lose the marks that autodoc leaves in nested types.
    """
    if what == "class" and signature and ANYTHING.fullmatch(signature):
        signature = _shown(inspect.signature(thing.__init__, bound_method=True))
    elif isinstance(bound := _function(name), MethodType):
        signature = _shown(inspect.signature(bound))
    return _without_marks(signature), _without_marks(returns)


def _function(name: str) -> object:
    """What a module has under a full name; None for a method of a class."""
    module, _, attribute = name.rpartition(".")
    return getattr(sys.modules.get(module), attribute, None)


def _shown(signature: Signature) -> str:
    return inspect.stringify_signature(
        signature, unqualified_typehints=True, show_return_annotation=False
    )


def _without_marks(text: str | None) -> str | None:
    """Names in place of what Sphinx writes for type variables and type aliases."""
    text = text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
    return text and re.sub(r"~(?:\w+\.)*", "", text)


def process_bases(app: Sphinx, name: str, thing: type, options: object, bases: list[type]) -> None:
    """Handle `autodoc-process-bases`: show the nearest public base in place of a private one."""
    for at, base in enumerate(bases):
        if isinstance(base, type):
            bases[at] = next(one for one in base.__mro__ if not one.__name__.startswith("_"))


def skip_repeated(
    app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """Handle `autodoc-skip-member`: a method that says no more than its base is left out."""
    text = getattr(thing, "__doc__", None) or ""
    return True if re.match(r"See `?Module`?\.", text) else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-process-bases", process_bases)
    app.connect("autodoc-skip-member", skip_repeated)
    app.connect("source-read", public_names.expand_source)
    app.connect("source-read", generated_text.expand_source)
    app.connect("doctree-read", public_names.unlink_builtins)
    source_pages.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

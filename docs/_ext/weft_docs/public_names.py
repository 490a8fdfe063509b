"""The API reference: which names are public, and the text that documents them.

A page of `docs/api/` has a line such as `<!-- public names of weft.nn -->`, which becomes a table
and an entry for each name in `weft.nn.__all__`. `<!-- methods: Arithmetic -->` becomes the methods
of `Tensor` which `docs/operations.md` lists under that heading. A new public name is documented
without any change here; `tests/docs` checks that every one is on some page.
"""

import builtins
import importlib
import inspect
import re
from collections.abc import Iterable
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import ModuleType

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import find_pending_xref_condition

import weft
from weft_docs.docstrings import inline, restructured

DOCS = Path(__file__).resolve().parents[2]
# An object that several modules export is documented in the first of these.
MODULES = (
    "weft", "weft.nn", "weft.nn.functional", "weft.nn.init", "weft.nn.utils",
    "weft.nn.utils.parametrize", "weft.nn.utils.parametrizations", "weft.nn.utils.rnn",
    "weft.nn.utils.stateless", "weft.nn.state",
    "weft.nn.optim", "weft.nn.optim.lr_scheduler", "weft.nn.optim.swa_utils", "weft.nn.datasets",
    "weft.data", "weft.amp", "weft.autograd", "weft.io", "weft.linalg", "weft.special", "weft.fft",
    "weft.uop", weft.WeftError.__module__, "weft.plugin", "weft.array_api",
)  # fmt: skip
MARK = re.compile(r"^<!-- (public names of|functions of|methods:) ([\w. ,]+) -->$", re.M)
OTHER, IN_PLACE = "Other", "In place"


def expand_source(app: Sphinx, docname: str, content: list[str]) -> None:
    """Handle `source-read`: replace the marks of a page by directives."""
    if docname.startswith("api/"):
        content[0] = MARK.sub(lambda found: _expanded(*found.groups()), content[0])


def unlink_builtins(app: Sphinx, doctree: nodes.document) -> None:
    """Handle `doctree-read`: `bool` in a signature is Python's own, and `T` a type variable."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node.get("reftarget", "")
        if node.get("reftype") == "class" and (hasattr(builtins, target) or len(target) == 1):
            shown = find_pending_xref_condition(node, "resolved")
            node.replace_self(shown.children if shown else node.children)


def _expanded(kind: str, what: str) -> str:
    if kind == "methods:":
        return _entries("weft.Tensor", methods()[what])
    if kind == "functions of":
        return _functions(what)
    what = weft.WeftError.__module__ if what == "errors" else what
    names = [n for n in public(what) if not isinstance(value(what, n), ModuleType)]
    own = [name for name in names if home(what, name) == what]
    elsewhere = [name for name in names if name not in own]
    own = [name for name in own if (what, name) != ("weft", "Tensor")]  # it has pages of its own
    parts = [f"```{{eval-rst}}\n.. py:module:: {what}\n   :no-index-entry:\n```\n"]
    classes = [name for name in own if inspect.isclass(value(what, name))]
    functions = [name for name in own if inspect.isroutine(value(what, name))]
    others = [name for name in own if name not in classes and name not in functions]
    for title, group in (("Functions", functions), ("Classes", classes), ("Values", others)):
        if group:
            parts.append(f"## {title}\n\n{_entries(what, group)}")
    if elsewhere:
        parts.append(f"## Documented elsewhere\n\n{_elsewhere(what, elsewhere)}")
    return "\n".join(parts)


def public(module: str) -> list[str]:
    """The public names of a module: `__all__`, or the functions and classes that it defines."""
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None)
    if names is not None:
        return [name for name in dict.fromkeys(names) if not name.startswith("_")]
    return [
        name
        for name, thing in vars(loaded).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module
    ]


def value(owner: str, name: str) -> object:
    return getattr(importlib.import_module(owner), name)


@cache
def _homes() -> dict[int, str]:
    found: dict[int, str] = {}
    for module in MODULES:
        for name in public(module):
            thing = value(module, name)
            if _is_documented_once(thing):
                found.setdefault(id(thing), module)
    return found


def _is_documented_once(thing: object) -> bool:
    return inspect.isclass(thing) or inspect.isroutine(thing)


def home(module: str, name: str) -> str:
    """The module under which an object is documented."""
    return _homes().get(id(value(module, name)), module)


def _elsewhere(module: str, names: Iterable[str]) -> str:
    lines = []
    for name in names:
        first = home(module, name)
        there = next(n for n in public(first) if value(first, n) is value(module, name))
        lines += [f".. py:attribute:: {name}", f"   :module: {module}", ""]
        lines += [f"   The same as :py:obj:`{first}.{there}`.", ""]
    return "```{eval-rst}\n" + "\n".join(lines) + "```\n"


def _entries(owner: str, names: Iterable[str]) -> str:
    """A table of names with their first sentences, and an entry for each."""
    names = list(names)
    rows = [line for name in names for line in _row(owner, name)]
    table = [".. list-table::", "   :widths: auto", "   :class: summary", "", *rows] if rows else []
    entries = [line for name in names for line in _entry(owner, name)]
    return "```{eval-rst}\n" + "\n".join([*table, "", *entries]) + "```\n"


def _row(owner: str, name: str) -> list[str]:
    """A name and the first sentence of its docstring; none for a value, which has no docstring."""
    is_method = owner == "weft.Tensor"
    thing = _member_of_tensor(name) if is_method else value(owner, name)
    if not is_method and not _is_documented_once(thing):
        return []
    text = " ".join(takewhile(str.strip, (inspect.getdoc(thing) or "").splitlines()))
    sentence = re.split(r"(?<=[.:;]) |(?<=\.)$", text, maxsplit=1)[0].rstrip(":;")
    return [f"   * - :py:obj:`~{owner}.{name}`", f"     - {inline(sentence.rstrip('.'))}"]


def _entry(owner: str, name: str) -> list[str]:
    if owner == "weft.Tensor":
        return _member(name)
    thing = value(owner, name)
    if inspect.isclass(thing):
        return [f".. autoclass:: {owner}.{name}", "   :members:", "   :show-inheritance:", ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {owner}.{name}", ""]
    return _datum(owner, name, thing)


def _member_of_tensor(name: str) -> object:
    thing = inspect.getattr_static(weft.Tensor, name)
    return thing if isinstance(thing, property) else getattr(weft.Tensor, name)


def _member(name: str) -> list[str]:
    thing = _member_of_tensor(name)
    kind = "property" if isinstance(thing, property) else "method"
    kind = kind if kind == "property" or callable(thing) else "attribute"
    return [f".. auto{kind}:: weft.Tensor.{name}", ""]


def _datum(owner: str, name: str, thing: object) -> list[str]:
    """A value: its kind, and what its class says of it where that is ours."""
    kind = type(thing)
    lines = [f".. py:data:: {name}", f"   :module: {owner}", f"   :type: {kind.__name__}", ""]
    if kind.__module__.startswith("weft") and kind.__doc__ and kind.__name__ != "DType":
        lines += [f"   {line}" for line in restructured(kind.__doc__.splitlines())]
        lines += ["", f"   .. autoclass:: {kind.__module__}.{kind.__qualname__}"]
        lines += ["      :members:", "      :no-index:", "      :exclude-members: __init__"]
    elif isinstance(thing, int | float | str | tuple) or kind.__name__ == "DType":
        lines.append(f"   ``{thing!r}``")
    return [*lines, ""]


@cache
def methods() -> dict[str, list[str]]:
    """Public attributes of `Tensor` by the headings of `docs/operations.md`."""
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    names = [name for name in dir(weft.Tensor) if not name.startswith("_")]
    groups: dict[str, list[str]] = {}
    placed: dict[str, str] = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title = section.partition("\n")[0]
        for name in re.findall(r"^\| `(\w+)` \|", section, re.M):
            placed.setdefault(name, title)
    for name in names:
        kind = IN_PLACE if name.endswith("_") else placed.get(name, OTHER)
        groups.setdefault(OTHER if kind.startswith("Methods without") else kind, []).append(name)
    return groups


def _functions(module: str) -> str:
    """The functions at the level of the package, grouped as the methods of their names."""
    names = public("weft.functions")
    group = {name: title for title, found in methods().items() for name in found}
    titles = [*methods(), OTHER]
    parts = []
    for title in dict.fromkeys(titles):
        here = [name for name in names if group.get(name, OTHER) == title]
        here = [name for name in here if name not in public("weft")]
        if here:
            parts.append(f"## {title}\n\n{_entries(module, here)}")
    return "\n".join(parts)

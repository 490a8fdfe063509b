"""Texts that Python itself ships, for language models: nothing is downloaded.

They are Python's own (Python Software Foundation License, version 2), and differ a little from one
version of Python to the next.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
import sysconfig
from collections.abc import Callable
from pathlib import Path

from weft.base.arguments import choice
from weft.base.errors import FileError


def texts() -> list[str]:
    """The names that `load_text` knows.

    >>> nn.datasets.texts()
    ['sources', 'topics', 'zen']
    """
    return sorted(_TEXTS)


def load_text(name: str = "topics") -> str:
    """A text that comes with Python: "topics", the pages of `help()` (some 450,000 characters of
    English); "sources", the modules of the standard library (some millions of Python); "zen", the
    Zen of Python (857).

    :raises FileError: where this Python comes without it.
    :raises ArgumentError: for another name.

    >>> nn.datasets.load_text("zen").splitlines()[0]
    'The Zen of Python, by Tim Peters'
    >>> len(nn.datasets.load_text()) > 100_000
    True
    """
    return _TEXTS[choice(name, "name", tuple(texts()))]()


def _topics() -> str:
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise _missing("topics", str(error)) from error
    return "\n".join(topics[name] for name in sorted(topics))


def _zen() -> str:
    # importing `this` prints it: the text is taken from the source instead
    source = _source_of("this")
    found = re.search(r'"""(.*?)"""', source, re.DOTALL)
    if found is None:
        raise _missing("zen", "the module `this` has no text in it")
    return codecs.decode(found.group(1), "rot13")


def _sources() -> str:
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(folder.glob("*.py"))
    if not files:
        raise _missing("sources", f"there are no .py files in {folder}")
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def _source_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise _missing("zen", f"the module {module!r} has no source here")
    return Path(spec.origin).read_text(encoding="utf-8")


def _missing(name: str, because: str) -> FileError:
    return FileError(
        "this Python comes without that text",
        asked=f"nn.datasets.load_text({name!r})",
        because=because,
        try_="another of nn.datasets.texts(), or a file of your own: open(path).read()",
    )


_TEXTS: dict[str, Callable[[], str]] = {"topics": _topics, "zen": _zen, "sources": _sources}

"""Docstrings of weft as reStructuredText.

A docstring is plain text with examples (`>>>`), fields (`:param x:`, `:raises E:`), lists (`- `),
indented blocks of code, and code between single backticks. Characters that mean something else in
reStructuredText are escaped, so that no docstring can break a page.
"""

import inspect
import re
from collections.abc import Iterable, Iterator

FIELD = re.compile(r":(?:param|raises|returns?|ivar|type|rtype)\b[^:`]*:")
INLINE = re.compile(r"(:[\w:]+:`[^`]+`)|``(.+?)``|`([^`]+)`")
DOTTED = re.compile(r"(?:weft|nn|optim|data|amp|io|Tensor|dtypes|settings)(?:\.\w+)+(?:\(\))?")


def restructured(lines: Iterable[str]) -> list[str]:
    """The lines of a docstring as lines of reStructuredText."""
    text = inspect.cleandoc("\n".join(lines))
    out: list[str] = []
    for block in _blocks(text.splitlines()):
        out += _block(block)
        out.append("")
    return out


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines that belong together: a blank line, an example or a field begins a new one."""
    block: list[str] = []
    for line in lines:
        begins = line.startswith((">>> ", ":")) and not (block and block[0].startswith(">>> "))
        item = line.startswith("- ")
        if block and (not line.strip() or begins or item):
            yield block
            block = []
        if line.strip():
            head, field = _split_field(line) if not block else (line, "")
            block.append(head)
            if field:
                yield block
                block = [field]
    if block:
        yield block


def _split_field(line: str) -> tuple[str, str]:
    """A line of prose, and the field that begins in the middle of it, if any."""
    found = FIELD.search(line)
    if found is None or found.start() == 0 or line.startswith((">>>", " ")):
        return line, ""
    return line[: found.start()].rstrip(), line[found.start() :]


def _block(block: list[str]) -> list[str]:
    if block[0].startswith(">>> "):
        return block
    if block[0].startswith(" "):
        return ["::", "", *(f"    {line}" for line in block)]
    text = " ".join(line.strip() for line in block)
    found = FIELD.match(text)
    if found:
        parts = re.split(rf" (?={FIELD.pattern})", text)
        return [line for part in parts for line in (_field(part), "")]
    if text.startswith("- "):
        return [f"- {inline(text[2:])}"]
    return [_no_markup_at_start(inline(text))]


def _field(text: str) -> str:
    found = FIELD.match(text)
    assert found
    return f"{found.group()} {inline(text[found.end() :].strip())}"


def inline(text: str) -> str:
    """Prose with its code marked and everything else escaped."""
    out, at = "", 0
    for found in INLINE.finditer(text):
        out += _escaped(text[at : found.start()])
        role, double, single = found.groups()
        before, after = text[: found.start()][-1:], text[found.end() :][:1]
        out += "\\ " if before.isalnum() else ""
        out += role or _code(double or single)
        out += "\\ " if after.isalnum() else ""
        at = found.end()
    return out + _escaped(text[at:])


def _code(text: str) -> str:
    if DOTTED.fullmatch(text):
        return f":py:obj:`{text.removesuffix('()')}`"
    return f"``{text}``" if text.strip() == text and text else f"``{text.strip() or '(space)'}``"


def _escaped(text: str) -> str:
    text = re.sub(r"([\\*|])", r"\\\1", text)
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", text)


def _no_markup_at_start(text: str) -> str:
    """A paragraph that begins like a list item, a comment or a rule is a paragraph."""
    return f"\\{text}" if re.match(r"(?:[-+]\s|\.\. |\d+[.)] |\(?\w\) |=+$)", text) else text

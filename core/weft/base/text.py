"""Text formatting: colours, widths, sizes, times, plurals, errors in a line. Prints nothing.

The caller decides whether a terminal shows colours: pass `enabled=False` or `strip_colour`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from weft.base.errors import ArgumentError, WeftError
from weft.base.interrupts import let_through

_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_LONGEST = 500
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def colour(text: str, name: str | None, *, bright: bool = False, enabled: bool = True) -> str:
    """`text` in one of eight terminal colours; as it is for None or where not enabled."""
    if name is None or not enabled:
        return text
    if name not in _COLOURS:
        raise ArgumentError(
            f"there is no colour {name!r}", asked=f"colour(..., {name!r})",
            try_="one of " + ", ".join(_COLOURS),
        )  # fmt: skip
    return f"\x1b[{(90 if bright else 30) + _COLOURS.index(name)}m{text}\x1b[0m"


def strip_colour(text: str) -> str:
    """The text without its colour codes."""
    return _ESCAPE.sub("", text)


def width(text: str) -> int:
    """The columns of a text: its length without colour codes."""
    return len(strip_colour(text))


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """The text padded with spaces to `columns`; `right`: aligned to the right."""
    space = " " * max(0, columns - width(text))
    return space + text if right else text + space


def cut(text: str, columns: int) -> str:
    """`text`, or as much of it as fits with an ellipsis of three dots."""
    return text if len(text) <= columns else f"{text[: columns - 3]}..."


def clipped(text: str) -> str:
    """`text`, or its first 500 characters and how long it is."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def failure_text(error: BaseException) -> str:
    """An error in one line: its class and the first line of its message.

    The message of a plugin's error may be long, or raise.
    """
    try:
        summary = error.summary if isinstance(error, WeftError) else str(error)
        because = error.because if isinstance(error, WeftError) else None
        lines = f"{summary}: {because}" if because and summary else (summary or because or "")
        first = clipped(str(lines).strip().partition("\n")[0])
    except Exception as second:
        let_through(second)
        first = f"its text raises {type(second).__name__}"
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _scaled(value: float, units: tuple[str, ...], step: float, between: str) -> str:
    """`value` in the greatest unit of which there is at least one, with three digits."""
    place = 0
    if isinstance(value, int) and abs(value) > 1e300:  # which may be beyond all floats
        return f"{'below -' if value < 0 else 'over '}1e300{between}{units[0]}"
    # 999.5 would print as 1000 of this unit, so it already goes to the next.
    while abs(value) >= step * 0.9995 and place < len(units) - 1:
        value /= step
        place += 1
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f}{between}{units[place]}"


def human_size(nbytes: int) -> str:
    """Bytes in decimal units: 512 B, 1.50 kB, 12.3 MB, 4.00 GB."""
    if abs(nbytes) < 1000:
        return f"{nbytes} B"
    return _scaled(nbytes, ("B", "kB", "MB", "GB", "TB", "PB"), 1000.0, " ")


def human_time(seconds: float) -> str:
    """Seconds in the unit that fits: 850 ns, 1.20 us, 3.45 ms, 12.0 s, 5m 20s."""
    if abs(seconds) >= 120:
        minutes, rest = divmod(round(abs(seconds)), 60)
        return f"{'-' if seconds < 0 else ''}{minutes}m {rest}s"
    if abs(seconds) >= 0.9995:
        return f"{seconds:.{2 if abs(seconds) < 9.995 else 1}f} s"
    return _scaled(seconds * 1e9, ("ns", "us", "ms"), 1000.0, " ")


def human_count(value: float) -> str:
    """A number with a letter for its thousands: 950, 1.50k, 12.3M, 4.00G, 1.20T."""
    if isinstance(value, int) and abs(value) < 1000:
        return str(value)
    return _scaled(value, ("", "k", "M", "G", "T", "P"), 1000.0, "")


def plural(count: int, singular: str, several: str | None = None) -> str:
    """The number with its noun: 1 kernel, 2 kernels; `several` where an s is not enough."""
    return f"{count} {singular if count == 1 else several or singular + 's'}"


# words that a name in generated source cannot be, in one language or another: C and what grew out
# of it, Python, and what programs are written with here
_WORDS = frozenset(
    """
    alignas alignof and asm assert async auto await bool break buffers case catch char class const
    constant constexpr continue decltype def default del delete device do double elif else enum
    except exp exp2 explicit export extern fabs false finally float floor fma fmax fmin fmod for
    friend from global goto half if import in inline int is kernel lambda local log log2 long main
    max metal min mutable namespace new noexcept none nonlocal not nullptr operator or pass place
    private protected public raise register restrict return shared short signed sin sizeof sqrt
    static struct switch template this thread threadgroup throw true trunc try typedef typename
    uchar uint ulong union unsigned ushort using values variables virtual void volatile while with
    yield
    """.split()
)
_MADE_HERE = re.compile(r"[a-zA-Z]+[0-9]+")  # as generated names are: alu0, gidx1, data2
_NO_LETTER = re.compile(r"[^a-zA-Z0-9_]")


def identifiers(names: Iterable[str]) -> list[str]:
    """Names for generated source, each another: as they are, where nothing else can be meant."""
    found: list[str] = []
    for name in names:
        word = _NO_LETTER.sub("_", name)
        if not word or word[0].isdigit():
            word = f"v_{word}"
        if word.lower() in _WORDS or _MADE_HERE.fullmatch(word) or word.startswith("__"):
            word = f"{word.lstrip('_')}_"
        while word in found:
            word += "_"
        found.append(word)
    return found

"""Attribute suggestions: the names nearest to one that does not exist, by edit distance.

The distance is that of Damerau and Levenshtein with adjacent transpositions (optimal string
alignment). A name is near if a third of its letters at most differ, so that nothing is suggested
for a short name of another meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.base.errors import MissingName


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names nearest to `name`, the nearest first; [] if none is near.

    Names that differ in case or underscores alone are nearest of all; names that begin with the
    same letter come before others of the same distance.
    """
    plain = _plain(name)
    found: list[tuple[int, bool, int, str]] = []
    for each in known:
        other = _plain(each)
        if plain == other:
            distance = 0
        else:
            allowed = max(len(plain), len(other)) // 3
            distance = _distance(plain, other, min(allowed, 3))
            if distance > min(allowed, 3):
                continue
        found.append((distance, plain[:1] != other[:1], abs(len(each) - len(name)), each))
    return [each for *_, each in sorted(found)[:most]]


def missing_name(
    owner: str,
    name: str,
    known: Iterable[str],
    equivalents: Mapping[str, str],
    *,
    summary: str | None = None,
    fallback: str | None = None,
) -> MissingName:
    """The error for an attribute that `owner` does not have.

    :param known: the names that it has, of which the nearest are suggested.
    :param equivalents: what to write instead of names that other libraries have.
    :param fallback: the suggestion if no name is near.
    """
    instead = equivalents.get(name)
    close = [] if instead else nearest(name, known)
    summary = summary or f"{owner} has no attribute {name!r}"
    if close:
        summary += f"; did you mean {close[0]!r}?"
    near = " or ".join(f"{owner}.{each}" for each in close)
    return MissingName(
        summary,
        asked=f"{owner}.{name}",
        try_=instead or near or fallback or f"dir({owner}) lists what it has",
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _distance(a: str, b: str, most: int) -> int:
    """Insertions, deletions, substitutions and adjacent transpositions from a to b; some number
    above `most` where they are more."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]

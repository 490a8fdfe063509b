"""Axes regrouped by a formula, as einops writes them."""

from __future__ import annotations

from typing import Any, Self

from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.tensor.protocol import TensorBase


class RearrangeMixin(TensorBase):
    """One method, and how its formula is read."""

    __slots__ = ()

    def rearrange(self, formula: str, **sizes: int) -> Self:
        """Axes regrouped by an einops formula: `"b (h w) c -> b c h w"`, with sizes by name.

        :raises ArgumentError: for a formula that cannot be read or does not fit the shape.
        """
        sides = formula.split("->")
        if len(sides) != 2:
            raise self._bad_formula(formula, "it needs one arrow")
        left, right = (_groups(side, self, formula) for side in sides)
        if len(left) != len(self.shape) and "..." not in [n for g in left for n in g]:
            raise self._bad_formula(formula, f"the shape has {len(self.shape)} axes")
        left, right = self._without_ellipsis(left, right, formula)
        if len(left) != len(self.shape):
            raise self._bad_formula(formula, f"the shape has {len(self.shape)} axes")
        known = dict(sizes)
        for group, extent in zip(left, self.shape):
            unknown = [n for n in group if n not in known]
            rest = prod(known[n] for n in group if n in known)
            if len(unknown) > 1:
                raise self._bad_formula(formula, f"the sizes of {unknown} are not known")
            if extent % rest if unknown and rest else extent != rest:
                raise self._bad_formula(formula, f"{group} does not make {extent}")
            if unknown:
                known[unknown[0]] = extent // rest if rest else 0
        names = [n for g in left for n in g]
        wanted = [n for g in right for n in g]
        if sorted(names) != sorted(n for n in wanted if not n.startswith("1@")):
            raise self._bad_formula(formula, "both sides need the same names, each once")
        apart = self.reshape(tuple(known[n] for n in names))
        apart = apart.permute(*(names.index(n) for n in wanted if not n.startswith("1@")))
        return apart.reshape(
            tuple(prod(1 if n.startswith("1@") else known[n] for n in g) for g in right)
        )

    def _without_ellipsis(self, left: Any, right: Any, formula: str) -> tuple[Any, Any]:
        if "..." not in [n for g in left for n in g]:
            return left, right
        extra = len(self.shape) - len(left) + 1
        if extra < 0:
            raise self._bad_formula(formula, f"the shape has {len(self.shape)} axes")
        names = [f"...{i}" for i in range(extra)]

        def spread(groups: Any) -> Any:
            result: list[list[str]] = []
            for group in groups:
                if group == ["..."]:
                    result += [[n] for n in names]
                else:
                    result.append([m for n in group for m in (names if n == "..." else [n])])
            return result

        return spread(left), spread(right)

    def _bad_formula(self, formula: str, because: str) -> ArgumentError:
        return ArgumentError(
            "this formula does not rearrange this shape",
            asked=f"rearrange({formula!r}) of shape {self.shape}",
            because=because,
            try_='"b (h w) c -> b c h w", h=4',
        )


def _groups(side: str, tensor: Any, formula: str) -> list[list[str]]:
    """`"b (h w) 1"` as [["b"], ["h", "w"], ["1@2"]]: a one gets a name of its own."""
    groups: list[list[str]] = []
    inside: list[str] | None = None
    for place, word in enumerate(side.replace("(", " ( ").replace(")", " ) ").split()):
        if word == "(" and inside is None:
            inside = []
        elif word == ")" and inside is not None:
            groups.append(inside)
            inside = None
        elif word in "()":
            raise tensor._bad_formula(formula, "the brackets do not match")
        else:
            name = f"1@{place}" if word == "1" else word
            if inside is None:
                groups.append([name])
            else:
                inside.append(name)
    if inside is not None:
        raise tensor._bad_formula(formula, "a bracket is not closed")
    return groups

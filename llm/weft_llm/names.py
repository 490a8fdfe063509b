"""Names of tensors: rewrite those of a file to those of our modules by regular expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from weft import Tensor


def renamed(tensors: Mapping[str, Tensor], rules: Sequence[tuple[str, str]]) -> dict[str, Tensor]:
    """Tensors by new names: each rule (pattern, replacement) is applied in turn."""
    compiled = [(re.compile(pattern), replacement) for pattern, replacement in rules]
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        for pattern, replacement in compiled:
            name = pattern.sub(replacement, name)
        found[name] = tensor
    return found

"""Linear algebra, with the names of `torch.linalg`: see README.md.

from weft import linalg

linalg.solve(a, b), linalg.norm(x), linalg.eigh(a)
"""

# ruff: noqa: F403 - each module has its public names in __all__

from __future__ import annotations

from weft.linalg import decompositions, equations, norms, products
from weft.linalg.decompositions import *
from weft.linalg.equations import *
from weft.linalg.norms import *
from weft.linalg.products import *

__all__ = sorted(  # pyright: ignore[reportUnsupportedDunderAll]
    [*decompositions.__all__, *equations.__all__, *norms.__all__, *products.__all__]
)

"""Source rendering: print linear programs as text of C-like languages, one record per language."""

from weft.render.cstyle import CStyleRenderer
from weft.render.dialect import PLAIN_C, CDialect, VectorStyle
from weft.render.extensions import Function, LoopText, MaskedLoad
from weft.render.source_usage import SourceUsage

__all__ = [
    "PLAIN_C",
    "CDialect",
    "CStyleRenderer",
    "Function",
    "LoopText",
    "MaskedLoad",
    "SourceUsage",
    "VectorStyle",
]

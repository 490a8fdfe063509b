"""Source rendering: print linear programs as text of C-like languages, one record per language."""

from weft.render.cstyle import CStyleRenderer
from weft.render.dialect import PLAIN_C, CDialect, ImageStyle, VectorStyle

__all__ = ["PLAIN_C", "CDialect", "CStyleRenderer", "ImageStyle", "VectorStyle"]

"""Where a value's elements are: views, shape trackers, and the shapes of nodes."""

from __future__ import annotations

from weft.shape.indexing import expr_from_ranges, index_and_valid
from weft.shape.tracker import ShapeTracker
from weft.shape.view import View

__all__ = ["ShapeTracker", "View", "expr_from_ranges", "index_and_valid"]

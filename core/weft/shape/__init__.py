"""Layouts of values: views, shape trackers, and the shapes of nodes."""

from __future__ import annotations

from weft.shape.indexing import expr_from_ranges, indices_below
from weft.shape.infer import has_shape, shape_of, st_of
from weft.shape.inverse_movement import inverse_move
from weft.shape.tracker import ShapeTracker
from weft.shape.view import View
from weft.uop import register_arg

__all__ = [
    "ShapeTracker", "View", "expr_from_ranges", "has_shape", "indices_below", "inverse_move",
    "shape_of", "st_of",
]  # fmt: skip

register_arg(
    View,
    read=View.create,
    write=lambda view, text: "View({}, {}, {}, {})".format(
        *map(text, (view.shape, view.strides, view.offset, view.mask))
    ),
)
register_arg(ShapeTracker, write=lambda st, text: f"ShapeTracker({text(st.views)})")

"""spec.kernel_ast: the legal nodes of a kernel before lowering.

A SINK of STOREs; a STORE writes a value through a VIEW of a DEFINE_GLOBAL; values are LOADs of such
views, arithmetic, constants, VALID, VIEWs of values, REDUCE_AXIS, and CONTIGUOUS with a Row, a
local array for every index of its outer axes.
"""

from __future__ import annotations

from weft.base.dtype import PtrDType
from weft.shape import shape_of
from weft.spec.check import verify as _verify
from weft.uop import GroupOp, Ops, Reduce, Row, UOp

_HINTS = frozenset({Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP})
_LEAVES = frozenset({Ops.CONST, Ops.IOTA, Ops.DEFINE_VAR, Ops.BIND, Ops.DEVICE})
_VALUES = GroupOp.ALU | _HINTS | _LEAVES | {Ops.CAST, Ops.BITCAST}
_REDUCES = frozenset({Ops.ADD, Ops.MUL, Ops.MAX})


def _is_buffer_view(node: UOp) -> bool:
    return node.op is Ops.VIEW and node.src[0].op is Ops.DEFINE_GLOBAL


def _rule(node: UOp) -> str | None:
    op = node.op
    if op is Ops.SINK:
        stores = all(source.op is Ops.STORE for source in node.src)
        return None if stores else "a SINK gathers STOREs"
    if op is Ops.DEFINE_GLOBAL:
        whole = isinstance(node.dtype, PtrDType) and isinstance(node.arg, int)
        return None if whole else "a buffer is a pointer with a slot"
    if op is Ops.STORE:
        right = len(node.src) == 2 and _is_buffer_view(node.src[0])
        return None if right else "a STORE has a view of a buffer and a value"
    if op is Ops.LOAD:
        return None if _is_buffer_view(node.src[0]) else "a LOAD reads a view of a buffer"
    if op is Ops.REDUCE_AXIS:
        known = isinstance(node.arg, Reduce) and node.arg.op in _REDUCES
        return None if known else "a reduce is of ADD, MUL or MAX over axes"
    if op is Ops.CONTIGUOUS and isinstance(node.arg, Row):
        known = 0 <= node.arg.outer <= len(shape_of(node))
        return None if known else "a local row has some of its axes outside"
    if op is Ops.VIEW or op is Ops.VALID or op in _VALUES:
        return None
    return "it has no value inside a kernel"


def verify(sink: UOp) -> None:
    """SpecError for the first node that is illegal in a kernel's AST."""
    _verify(sink.toposort(), _rule, "kernel_ast")

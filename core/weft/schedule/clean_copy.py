"""Copy elimination: remove copies, CONTIGUOUS and writes that are redundant, or make them smaller.
Also: copy elision.

in:  spec.tensor
out: spec.tensor, every value equal

Source: Muchnick, "Advanced Compiler Design and Implementation", 1997, section 12.5 (copy
propagation).
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.schedule.constants import constant_of, full
from weft.schedule.context import ScheduleContext
from weft.schedule.movement_lists import is_whole, transfer_moves
from weft.schedule.use_def import MEMORY
from weft.uop import Ops, PatternMatcher, UOp, UPat

clean_copy = PatternMatcher("clean_copy")


@clean_copy.rule(UPat(Ops.COPY, src=(UPat.var("source"), UPat(Ops.DEVICE)), name="node"))
def redundant_copies(node: UOp, source: UOp) -> UOp | None:
    """copy(constant) -> constant there; copy to the same device -> x; copy there and back -> x"""
    target = node.src[1].arg
    const = constant_of(source)
    if const is not None:
        return full(node.shape, UOp.const(node.dtype, const.arg, target))
    if source.device == target:
        return source
    there = source.base
    if there.op is not Ops.COPY or there.src[0].device != target:
        return None
    return transfer_moves(source, there, there.src[0])


@clean_copy.rule(UPat(Ops.COPY, src=(UPat.var("source"), UPat(Ops.DEVICE)), name="node"))
def copies_of_views(node: UOp, source: UOp, ctx: ScheduleContext) -> UOp | None:
    """copy(view) -> copy(contiguous(view))   when the view is smaller, else -> view(copy)"""
    base, target = source.base, node.src[1].arg
    if source is base or isinstance(source.device, tuple) or isinstance(target, tuple):
        return None
    same = is_whole(source)
    if same or (ctx.computes(target) and _is_at_least_as_large(source, base)):
        copied = UOp(Ops.COPY, node.dtype, (base, node.src[1]), node.arg)
        return copied.reshape(node.shape) if same else transfer_moves(source, base, copied)
    if ctx.computes(source.device):
        return UOp(Ops.COPY, node.dtype, (source.contiguous(), node.src[1]), node.arg)
    return None


@clean_copy.rule(UPat(Ops.COPY, src=(UPat(Ops.FUSE, name="mark"), UPat(Ops.DEVICE)), name="node"))
def copies_of_fuse_marks(node: UOp, mark: UOp) -> UOp:
    """copy(fuse(x)) -> copy(contiguous(fuse(x))): the mark is removed, and x may be a view then"""
    return UOp(Ops.COPY, node.dtype, (mark.contiguous(), node.src[1]), node.arg)


def _is_at_least_as_large(source: UOp, base: UOp) -> bool:
    """Whether a view has at least as many elements as its base."""
    moved, whole = prod(source.shape), prod(base.shape)
    return isinstance(moved, int) and isinstance(whole, int) and 0 < whole <= moved


@clean_copy.rule(UPat(Ops.CONTIGUOUS, name="node"))
def redundant_contiguous(node: UOp) -> UOp | None:
    """contiguous(x) -> x   when x has row-major memory of its own already"""
    if node.arg is not None or node.dtype is not node.src[0].dtype:
        return None  # a copy that the user requested, or an image
    source = node.src[0]
    return source if source.base.op in MEMORY and is_whole(source) else None


@clean_copy.rule(UPat(Ops.ASSIGN, name="node"))
def double_assigns(node: UOp) -> UOp | None:
    """assign(t, assign(t, x)) -> assign(t, x)"""
    target, value = node.src
    same = value.op is Ops.ASSIGN and value.src[0] is target
    return value if same and node.arg is None and value.arg is None else None


@clean_copy.rule(UPat(Ops.ASSIGN, name="node"))
def assign_to_unstored(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """assign(x, y) -> contiguous(y)   when x has no memory, or only a copy made to be written

    A value that is on another device is left alone: it has to be brought there.
    """
    target, value = node.src
    base = target.base
    if node.arg is not None or value.op is Ops.KERNEL or base.op in (Ops.BUFFER, Ops.ASSIGN):
        return None
    if value.shape != node.shape or value.device != target.device:
        return None
    if isinstance(node.device, str) and not ctx.computes(node.device):
        return None
    if base.op is Ops.CONTIGUOUS and target is base:
        return UOp(Ops.CONTIGUOUS, node.dtype, (value,), base.arg)
    return UOp(Ops.CONTIGUOUS, node.dtype, (value,))

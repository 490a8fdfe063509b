"""Buffer views: replace a contiguous slice of a buffer by a BUFFER_VIEW where the device can.

On a device that only stores, BUFFER_VIEW and COPY are the only legal operations; others raise
CapabilityError.

in:  spec.tensor
out: spec.tensor; slices of memory that can be views are BUFFER_VIEWs

Source: OpenCL API specification, clCreateSubBuffer.
"""

from __future__ import annotations

from weft.base.dtype import ImageDType
from weft.base.errors import CapabilityError
from weft.schedule.buffer_versions import version_of
from weft.schedule.context import ScheduleContext
from weft.schedule.metadata import made_at
from weft.schedule.movement_lists import dense_offset, is_whole, transfer_moves
from weft.schedule.use_def import MEMORY
from weft.uop import BufferView, GroupOp, Ops, PatternMatcher, UOp, UPat

storage = PatternMatcher("storage")
# marks a copy of memory that is about to be written, which no rule may replace by that memory
APART = ("apart",)


def window_of(node: UOp) -> tuple[UOp, int] | None:
    """(storage, first element) if `node` is a contiguous window of stored elements, else None."""
    base = node.base
    if base.op not in MEMORY:
        return None
    if node is base:
        return base, 0
    st = node.st.simplify()
    offset = dense_offset(st)
    if offset is None or any(isinstance(x, UOp) for x in (*st.shape, offset)):
        return None
    return base, offset


def as_buffer_view(node: UOp, ctx: ScheduleContext, itemsize: int | None = None) -> UOp | None:
    """`node` (a contiguous window) as a BUFFER_VIEW of flat memory; None where that cannot be."""
    found = window_of(node)
    if found is None or node.device is None or isinstance(node.device, tuple):
        return None
    if isinstance(found[0].dtype, ImageDType):
        return None
    base, offset = found
    if version_of(base) in ctx.written and ctx.computes(node.device):
        return None  # what only stores has its copies made before the write, by order
    alignment = ctx.alignment(node.device)
    start = offset * node.dtype.itemsize
    if base.op is Ops.BUFFER_VIEW:  # alignment counts from the start of the memory
        start += base.arg.offset * base.dtype.itemsize
        base = base.src[0]
    if alignment is None or start % max(alignment, itemsize or node.dtype.itemsize):
        return None
    window = BufferView(int(node.size), start // node.dtype.itemsize)
    return UOp(Ops.BUFFER_VIEW, node.dtype, (base,), window)


@storage.rule(UPat(Ops.BUFFER_VIEW, src=(UPat(Ops.BUFFER_VIEW, name="inner"),), name="node"))
def views_of_views(node: UOp, inner: UOp) -> UOp | None:
    """view(view(buffer)) -> view(buffer)"""
    start, rest = divmod(inner.arg.offset * inner.dtype.itemsize, node.dtype.itemsize)
    if rest:
        return None
    offset = start + node.arg.offset
    return UOp(Ops.BUFFER_VIEW, node.dtype, inner.src, BufferView(node.arg.size, offset))


@storage.rule(UPat(Ops.BITCAST, name="node"))
def reinterpreted_memory(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """bitcast(window) -> buffer_view   when the item size changes or nothing can be computed"""
    source = node.src[0]
    if source.op is Ops.CONST or isinstance(node.device, tuple):
        return None
    resized = node.dtype.itemsize != source.dtype.itemsize
    if not resized and ctx.computes(node.device):
        return None
    view = as_buffer_view(source, ctx, node.dtype.itemsize)
    if view is None:
        if not ctx.computes(node.device):
            return None  # `copy` moves the bytes first; anything else is refused later
        view = UOp(Ops.CONTIGUOUS, source.dtype, (source,), APART)
    start = view.arg.offset * source.dtype.itemsize if view.op is Ops.BUFFER_VIEW else 0
    base = view.src[0] if view.op is Ops.BUFFER_VIEW else view
    window = BufferView(int(node.size), start // node.dtype.itemsize)
    return UOp(Ops.BUFFER_VIEW, node.dtype, (base,), window).reshape(node.shape)


@storage.rule(UPat(Ops.COPY, src=(UPat.var("source"), UPat(Ops.DEVICE)), name="node"))
def copies_of_windows(node: UOp, source: UOp, ctx: ScheduleContext) -> UOp | None:
    """copy(window) -> copy(buffer_view); what only stores gives its bytes before they are moved

    copy(cast(x)) -> cast(copy(x)): stored values are converted where they are copied to.
    """
    base = source.base
    if source.op in (Ops.BUFFER, Ops.ASSIGN, Ops.BUFFER_VIEW, Ops.COPY):
        return None
    if ctx.computes(source.device):
        return None
    device = node.src[1]
    if base.op is Ops.BITCAST:  # not aligned for its dtype: copy the bytes, reinterpret there
        raw = UOp(Ops.COPY, base.src[0].dtype, (base.src[0], device))
        moved = UOp(Ops.BITCAST, base.dtype, (raw,))
        return transfer_moves(source, base, moved)
    if base.op is Ops.CAST and ctx.computes(device.arg):
        stored = transfer_moves(source, base, base.src[0])
        return UOp(Ops.COPY, stored.dtype, (stored, device)).cast(node.dtype)
    if (view := as_buffer_view(source, ctx)) is not None:
        return UOp(Ops.COPY, node.dtype, (view, device)).reshape(node.shape)
    if base.op in (Ops.BUFFER, Ops.BUFFER_VIEW, Ops.ASSIGN) and source is not base:
        return transfer_moves(source, base, UOp(Ops.COPY, base.dtype, (base, device)))
    return None


@storage.rule(UPat(Ops.ASSIGN, name="node"))
def copies_into_storage(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """assign(memory, copy(x)) -> assign(memory, x)   where nothing can be computed: the bytes of x
    go where they belong without a stop in between"""
    target, value = node.src
    copy = value.base
    if value.op is Ops.KERNEL or copy.op is not Ops.COPY or ctx.computes(target.device):
        return None
    if not is_whole(value):
        return None
    source = copy.src[0]
    if window_of(source) is None or (source.base is not source and source.size != source.base.size):
        if not ctx.computes(source.device):
            return None
        source = source.contiguous()
    return UOp(Ops.ASSIGN, node.dtype, (target, source.reshape(value.shape)), node.arg)


@storage.rule(UPat(Ops.CONTIGUOUS, name="node"))
def stored_windows(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """contiguous(window) -> buffer_view   (an explicit copy stays one)

    The memory is shared until either side is written, which then goes to memory of its own.
    """
    source = node.src[0]
    if node.arg is not None or node.device is None or isinstance(node.device, tuple):
        return None
    view = as_buffer_view(source, ctx) if source.dtype is node.dtype else None
    return view.reshape(node.shape) if view is not None else None


def check_computes(node: UOp, ctx: ScheduleContext) -> None:
    """Raise CapabilityError if `node` needs a kernel on a device that only stores."""
    device = node.device
    if device is None or isinstance(device, tuple) or ctx.computes(device):
        return
    computed = node.src[0].base if node.op is Ops.CONTIGUOUS else node
    what = "a view that is not a contiguous window" if computed.op in MEMORY else computed.op.name
    if node.op in GroupOp.Movement:
        what = "movement"
    raise CapabilityError(
        "this device stores bytes but does not compute",
        asked=f"{what} {node.dtype.name} {node.shape}" + made_at(node),
        because=f"{device} declares no compute capabilities",
        try_="copy it to a device that computes first, x.to(Device.DEFAULT); `weft devices` lists "
        "them",
    )

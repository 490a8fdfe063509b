"""Anti-dependence resolution: keep every value that is read although its memory is overwritten.
Also: in-place update hazards, dependence analysis, write-after-read hazards.

A *version* of memory is a BUFFER, or an ASSIGN over an earlier version. Reads of a version must
run before the ASSIGN that follows it. Where no order allows that (a reader needs both values, or
one version has two writers) the old value is copied first. Memory that several BUFFERs share is
not written in place: the writer gets memory of its own.

in:  spec.tensor
out: spec.tensor in which every version is overwritten at most once, by a kernel that nothing which
reads the old value has to follow

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter 2
(dependences); XLA, pass CopyInsertion.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from weft.base.dtype import DType
from weft.schedule.kernels import root_buffer
from weft.schedule.use_def import is_pending, is_stored
from weft.shape import ShapeTracker
from weft.uop import GroupOp, Ops, UOp

_copies = itertools.count()
# these become kernels of their own, which may be ordered before a write
_SEPARATE = frozenset({Ops.CONTIGUOUS, Ops.COPY})
_COMPUTED = GroupOp.ALU | {Ops.CAST, Ops.REDUCE_AXIS}
_THROUGH = GroupOp.Movement | GroupOp.Identity


def pending_writes(nodes: Iterable[UOp]) -> dict[UOp, list[UOp]]:
    """The ASSIGN nodes among `nodes` that are not kernels yet, by the version they overwrite."""
    writes: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Ops.ASSIGN and not is_stored(node):
            writes.setdefault(node.src[0].base, []).append(node)
    return writes


def preserved_copy(version: UOp, dtype: DType | None = None) -> UOp:
    """A copy of a version that no rule removes or merges with another: its number is unique."""
    kind = version.dtype if dtype is None else dtype
    return UOp(Ops.CONTIGUOUS, kind, (version,), ("kept", next(_copies)))


def resolve_hazards(
    sink: UOp,
    crossed: frozenset[UOp] = frozenset(),
    is_shared: Callable[[UOp], bool] = lambda buffer: False,
) -> dict[UOp, UOp]:
    """The replacements that insert copies of old values which no order of kernels can preserve.

    crossed: BUFFERs whose versions are copied in any case. is_shared: whether other BUFFERs share
    the memory. The result is usually empty.
    """
    writes = pending_writes(sink.toposort(gate=is_pending))
    if not writes:
        return {}
    first = _single_writers(sink, writes, is_shared)
    middle = first.get(sink, sink)
    second = _resolve_mixed_reads(middle, crossed)
    return composed(first, second)


def composed(first: dict[UOp, UOp], second: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """The replacements of `first` and then of `second`; an empty map replaces nothing."""
    if not second:
        return first
    if not first:
        return second
    return {node: second.get(changed, changed) for node, changed in first.items()}


def restore_removed_values(sink: UOp, cleaned: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """The replacements that copy computed values which simplification removes: `x * 1` is `x`.

    No kernel stores such a value before a write changes `x`, and it may be requested.

    cleaned: the simplified nodes. The result is usually empty.
    """
    order = list(sink.toposort(gate=is_pending))
    writes = pending_writes(order)
    if not writes:
        return {}
    versions = {cleaned.get(version, version) for version in writes}
    requested = {node for node in map(_value_below, sink.src) if node.op in _COMPUTED}
    removed = {node for node in requested if cleaned.get(node, node).base in versions}
    return _redirect_readers(order, removed) if removed else {}


def _value_below(node: UOp) -> UOp:
    while node.op in _THROUGH:
        node = node.src[0]
    return node


def _single_writers(
    sink: UOp, writes: dict[UOp, list[UOp]], is_shared: Callable[[UOp], bool]
) -> dict[UOp, UOp]:
    """Replacements so that each version has one writer, which writes in place; the others write to
    copies.

    If the memory is shared, the first writer writes to a copy as well; later writes to that copy
    are to memory that is not shared.
    """
    others = {
        other: version
        for version, found in writes.items()
        for other in (
            found if is_stored(version) and is_shared(root_buffer(version)) else found[1:]
        )
    }
    if not others:
        return {}
    done: dict[UOp, UOp] = {}
    for node in sink.toposort(gate=is_pending):
        if is_stored(node):
            done[node] = node
            continue
        src = tuple(done.get(source, source) for source in node.src)
        if (version := others.get(node)) is None:
            done[node] = node.over(src)
        elif node.arg is None:
            fresh = preserved_copy(src[1], node.dtype)
            done[node] = fresh if fresh.shape == node.shape else fresh.reshape(node.shape)
        else:
            copy = preserved_copy(done[version]).reshape(node.src[0].shape)
            done[node] = UOp(Ops.ASSIGN, node.dtype, (copy, src[1]), node.arg)
    return done


def _resolve_mixed_reads(sink: UOp, crossed: frozenset[UOp]) -> dict[UOp, UOp]:
    """Replacements so that a value which depends on a write reads the old value from a copy."""
    order = list(sink.toposort(gate=is_pending))
    writers = {version: found[0] for version, found in pending_writes(order).items()}
    mixed = {version for version in writers if root_buffer(version) in crossed}
    mixed |= _read_with_writer(order[:-1], writers)
    mixed |= _read_at_other_elements(order[:-1], writers)
    return _redirect_readers(order, mixed) if mixed else {}


# Sets of versions are the bits of integers below, one for each version: both passes look at every
# node once, however many writes there are.


def _read_with_writer(order: list[UOp], writers: dict[UOp, UOp]) -> set[UOp]:
    """The versions that a node reads although it also depends on their writer. order: the nodes,
    sources first."""
    bits = _bit_of_version(writers)
    written = {writer: bits[version] for version, writer in writers.items()}
    read: dict[UOp, int] = {}  # by way of no writer
    behind: dict[UOp, int] = {}  # those whose writers it depends on
    mixed = 0
    for node, is_used, last in _with_last_uses(order):
        reads, follows = 0, written.get(node, 0)
        own = ~follows
        for source in node.src:
            reads |= read.get(source, 0)
            follows |= behind.get(source, 0)
        reads &= own
        mixed |= reads & follows
        for source in last:
            read.pop(source, None)
            behind.pop(source, None)
        if is_used:
            read[node] = reads & ~follows | bits.get(node, 0)
            behind[node] = follows
    return {version for version, bit in bits.items() if mixed & bit}


def _read_at_other_elements(order: list[UOp], writers: dict[UOp, UOp]) -> set[UOp]:
    """The versions whose writer's value is read from the overwritten memory at other elements.

    A write into a window may read that window, element by element. A write to all of it may read
    all of it in any order, with an error if no order exists, but not a repeated or padded part.
    """
    bits = _bit_of_version(writers)
    windows = {
        version: None if writer.arg is None else writer.arg.st.simplify()
        for version, writer in writers.items()
    }
    whole = sum(bits[version] for version, window in windows.items() if window is None)
    written = {writer: bits[version] for version, writer in writers.items()}
    near: dict[UOp, int] = {}  # those that a node reads, but for what becomes a kernel of its own
    moved: dict[UOp, int] = {}  # the same, at other places
    found = 0
    for node, is_used, last in _with_last_uses(order):
        reads = moves = 0
        found |= written.get(node, 0) and written[node] & moved.get(node.src[1], 0)
        if node.op not in _SEPARATE:
            for source in node.src:
                reads |= near.get(source, 0)
                moves |= moved.get(source, 0)
        for source in last:
            near.pop(source, None)
            moved.pop(source, None)
        if not is_used:
            continue
        version = node.base if node.op in GroupOp.Movement else node
        reads |= (own := bits.get(version, 0))
        if node.op is Ops.REDUCE_AXIS:
            moves &= ~whole  # it is computed before the write
        if own or not (node.op in GroupOp.Elementwise or node.op in GroupOp.Identity):
            moves = moves & whole & ~own | reads & ~whole & ~own
        if own and _reads_other_elements(node, windows[version]):
            moves |= own
        near[node], moved[node] = reads, moves
    return {version for version, bit in bits.items() if found & bit}


def _reads_other_elements(node: UOp, window: ShapeTracker | None) -> bool:
    """Whether a view of a version is no part that its writer, into `window`, may read."""
    seen = node.st.simplify()
    if window is not None:
        return seen != window
    mask = seen.views[-1].mask
    if mask is None:
        return _is_proper_part(node.base, seen)
    there = ShapeTracker.from_shape(tuple(node.shape)).shrink(mask)
    return seen.shrink(mask).simplify() == there.simplify()


def _is_proper_part(version: UOp, seen: ShapeTracker) -> bool:
    """Whether a view shows a part of a version, once or repeated."""
    view = seen.views[-1]
    if len(seen.views) != 1 or not view.static or not isinstance(version.size, int):
        return False
    if seen.size != version.size:
        return True
    return any(stride == 0 and size != 1 for stride, size in zip(view.strides, view.shape))


def _bit_of_version(writers: Iterable[UOp]) -> dict[UOp, int]:
    """A bit for each version."""
    return {version: 1 << number for number, version in enumerate(writers)}


def _with_last_uses(order: list[UOp]) -> Iterator[tuple[UOp, bool, list[UOp]]]:
    """The nodes, whether others of them use each, and the sources that no later one uses."""
    uses = Counter(source for node in order for source in node.src)
    for node in order:
        last: list[UOp] = []
        for source in node.src:
            uses[source] -= 1
            if not uses[source]:
                last.append(source)
        yield node, node in uses, last


def _redirect_readers(order: list[UOp], mixed: set[UOp]) -> dict[UOp, UOp]:
    """Replace the values in `mixed` by copies, except where they are the target of a write."""
    done: dict[UOp, UOp] = {}
    read: dict[UOp, UOp] = {}
    for node in order:
        if is_stored(node):
            done[node] = node
        else:
            # the target of a write is the version itself, under any reshape
            src = tuple(
                (done if node.op is Ops.ASSIGN and position == 0 else read).get(source, source)
                for position, source in enumerate(node.src)
            )
            done[node] = node.over(src)
        if node.op in GroupOp.Movement:
            read[node] = node.over((read[node.src[0]],))
            done[node] = node.over((done[node.src[0]],))
        else:
            read[node] = preserved_copy(done[node]) if node in mixed else done[node]
    # tensors that hold these nodes read the old value
    return {node: read[node] for node in order}

"""Writing never changes another value: who still reads what is about to be overwritten.

A *version* of memory is a BUFFER, or an ASSIGN over an earlier version. Reads of a version must run
before the ASSIGN that follows it. Where no order can do that (a reader that needs both values, two
writers of one version) the old value is copied first. Memory that several BUFFERs have in common
(windows of it were realized) is not written in place at all: the writer gets memory of its own.

in:  spec.tensor      out: spec.tensor in which every version is overwritten at most once, by a
kernel that nothing which reads the old value has to follow
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from weft.base.dtype import DType
from weft.schedule.kernels import storage_under
from weft.schedule.uses import is_pending, is_stored
from weft.shape import ShapeTracker
from weft.uop import GroupOp, Ops, UOp

_copies = itertools.count()
# these become kernels of their own, which order alone can place before a write
_SEPARATE = frozenset({Ops.CONTIGUOUS, Ops.COPY})


def pending_writes(nodes: Iterable[UOp]) -> dict[UOp, list[UOp]]:
    """The ASSIGN nodes among `nodes` that are not kernels yet, by the version they overwrite."""
    writes: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Ops.ASSIGN and not is_stored(node):
            writes.setdefault(node.src[0].base, []).append(node)
    return writes


def kept(version: UOp, dtype: DType | None = None) -> UOp:
    """A copy of a version that no rule removes, nor takes for another copy: whoever wants one of
    these, here or among the live tensors, gets its number from one row."""
    kind = version.dtype if dtype is None else dtype
    return UOp(Ops.CONTIGUOUS, kind, (version,), ("kept", next(_copies)))


def separate(
    sink: UOp,
    crossed: frozenset[UOp] = frozenset(),
    is_shared: Callable[[UOp], bool] = lambda buffer: False,
) -> dict[UOp, UOp]:
    """What every node becomes once copies of old values stand where order cannot satisfy everybody.

    crossed: BUFFERs whose versions are copied in any case. is_shared: whether other BUFFERs stand
    for the same memory.
    Empty where nothing has to change, which is nearly always.
    """
    writes = pending_writes(sink.toposort(gate=is_pending))
    if not writes:
        return {}
    first = _one_writer_each(sink, writes, is_shared)
    middle = first.get(sink, sink)
    second = _no_reader_after_writer(middle, crossed)
    if not second:
        return first
    if not first:
        return second
    return {node: second.get(changed, changed) for node, changed in first.items()}


def _one_writer_each(
    sink: UOp, writes: dict[UOp, list[UOp]], is_shared: Callable[[UOp], bool]
) -> dict[UOp, UOp]:
    """The first writer of a version writes in place; the others write to copies.

    Where the memory is shared the first one does as well. Those that write on top of what it wrote
    are on memory that nobody shares then.
    """
    others = {
        other: version
        for version, found in writes.items()
        for other in (found if _is_stored_and(is_shared, version) else found[1:])
    }
    if not others:
        return {}
    done: dict[UOp, UOp] = {}
    for node in sink.toposort(gate=lambda u: not is_stored(u)):
        if is_stored(node):
            done[node] = node
            continue
        src = tuple(done.get(source, source) for source in node.src)
        if (version := others.get(node)) is None:
            done[node] = node.over(src)
        elif node.arg is None:
            fresh = kept(src[1], node.dtype)
            done[node] = fresh if fresh.shape == node.shape else fresh.reshape(node.shape)
        else:
            copy = kept(done[version]).reshape(node.src[0].shape)
            done[node] = UOp(Ops.ASSIGN, node.dtype, (copy, src[1]), node.arg)
    return done


def _is_stored_and(is_shared: Callable[[UOp], bool], version: UOp) -> bool:
    return is_stored(version) and is_shared(storage_under(version))


def _no_reader_after_writer(sink: UOp, crossed: frozenset[UOp]) -> dict[UOp, UOp]:
    """A value that depends on a write, yet reads what stood there before, reads a copy of it."""
    order = list(sink.toposort(gate=lambda u: not is_stored(u)))
    writes = pending_writes(order)
    readers = _Readers(order, sink)
    mixed = {
        version
        for version, (writer, *_) in writes.items()
        if storage_under(version) in crossed or _is_mixed(readers, version, writer)
    }
    return _redirect_readers(order, mixed) if mixed else {}


class _Readers:
    """Who reads what in a graph, but for its sink. order: the nodes, sources first."""

    def __init__(self, order: list[UOp], sink: UOp) -> None:
        self.place = {node: number for number, node in enumerate(order)}
        self._users: dict[UOp, list[UOp]] = {}
        for node in order:
            if node is not sink:
                for source in node.src:
                    self._users.setdefault(source, []).append(node)

    def above(self, version: UOp, writer: UOp) -> set[UOp]:
        """All that depends on `version` other than by way of `writer`."""
        found: set[UOp] = set()
        stack = [version]
        while stack:
            for user in self._users.get(stack.pop(), ()):
                if user is not writer and user not in found:
                    found.add(user)
                    stack.append(user)
        return found

    def depends(self, nodes: Iterable[UOp], writer: UOp) -> bool:
        """Whether any of `nodes` depends on `writer`: only what comes after it may."""
        place, first = self.place, self.place[writer]
        stack = [node for node in nodes if place[node] > first]
        seen = set(stack)
        while stack:
            for source in stack.pop().src:
                if source is writer:
                    return True
                if place.get(source, -1) > first and source not in seen:
                    seen.add(source)
                    stack.append(source)
        return False


def _is_mixed(readers: _Readers, version: UOp, writer: UOp) -> bool:
    """Whether anything needs the value before and after the write, or the write shifts itself."""
    if writer.arg is not None and _shifts_itself(writer, version):
        return True
    if writer.arg is None and _sees_parts_of_itself(writer, version):
        return True
    return readers.depends(readers.above(version, writer), writer)


def _shifts_itself(writer: UOp, version: UOp) -> bool:
    """A write into a window whose value comes from the same memory at other places."""
    window: ShapeTracker = writer.arg.st
    stack, seen = [writer.src[1]], set()
    while stack:
        node = stack.pop()
        if node in seen or node.op in _SEPARATE:
            continue
        seen.add(node)
        if node.base is version:
            if node.st.simplify() != window.simplify():
                return True
        elif node.op in GroupOp.Elementwise or node.op in GroupOp.Identity:
            stack.extend(node.src)
        elif version in node.toposort(gate=lambda u: u.op not in _SEPARATE):
            return True
    return False


def _sees_parts_of_itself(writer: UOp, version: UOp) -> bool:
    """A write of all of a version whose value has a part of it, where it stands, and zeros around:
    people do not write such a thing by mistake, as they do `a += a.T`."""
    value = writer.src[1]
    for node in value.toposort(gate=lambda u: u.op not in _SEPARATE and u is not version):
        if node.op not in GroupOp.Movement or node.base is not version:
            continue
        seen = node.st.simplify()
        mask = seen.views[-1].mask
        if mask is not None:
            there = ShapeTracker.from_shape(tuple(node.shape)).shrink(mask)
            if seen.shrink(mask).simplify() == there.simplify():
                return True
    return False


def _redirect_readers(order: list[UOp], mixed: set[UOp]) -> dict[UOp, UOp]:
    """Versions of `mixed` replaced by copies, except where they are the target of a write."""
    done: dict[UOp, UOp] = {}
    read: dict[UOp, UOp] = {}
    for node in order:
        if is_stored(node):
            done[node] = node
        else:
            # the target of a write keeps to the version itself, under whatever reshape
            src = tuple(
                (done if node.op is Ops.ASSIGN and position == 0 else read).get(source, source)
                for position, source in enumerate(node.src)
            )
            done[node] = node.over(src)
        if node.op in GroupOp.Movement:
            read[node] = node.over((read[node.src[0]],))
            done[node] = node.over((done[node.src[0]],))
        else:
            read[node] = kept(done[node]) if node in mixed else done[node]
    # what people hold reads the old value
    return {node: read[node] for node in order}

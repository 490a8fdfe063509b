"""Asynchronous copies to shared memory: ``cp.async``, from compute capability 8.0 on.
Also: asynchronous copy, cp.async.

in: spec.linear      out: the same with a statement in the place of each such STORE, COMMIT and WAIT

An asynchronous STORE is one such instruction if its value is one LOAD; if an access had to be cut
(see `alignment`), it is synchronous. A LOAD whose gate is false reads nothing: the instruction
writes zeros, which is what the core expects there. Its address is then the start of
the buffer: with addresses outside of buffers, half of the processes that ran such copies on an H200
failed.

Source: NVIDIA, "PTX ISA", data movement instructions, cp.async.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import copysign

from weft.plugin import ASYNC, Ops, UOp, dtypes

SINCE = 80
"""The compute capability, times ten, of the first chips that have it."""

_SIZES = (16, 8, 4)
# Statements, as templates over their sources.
_COPIES = {size: f"copy_async<{size}>({{0}} + {{1}}, {{2}}, {{3}});" for size in _SIZES}
_GATED = {size: f"copy_async<{size}>({{0}} + {{1}}, {{2}}, {{3}}, {{4}});" for size in _SIZES}
_COMMIT = "commit_copies();"
_WAIT = "wait_for_copies<{0}>();"


def in_flight(uops: Sequence[UOp]) -> tuple[UOp, ...]:
    """The nodes of a program with its asynchronous copies as statements."""
    copies = {u: u.src[1] for u in uops if u.op is Ops.STORE and u.arg == ASYNC and _fits(u)}
    if not copies:
        return tuple(uops)
    used = {source for u in uops if u not in copies for source in u.src}
    idle = {load for load in copies.values() if load not in used}
    return tuple(node for u in uops if u not in idle for node in _statement(u, copies))


def definitions(uops: Iterable[UOp]) -> Iterable[str]:
    """The functions that the statements of `in_flight` call."""
    called = {u.arg for u in uops if u.op is Ops.CUSTOM}
    return dict.fromkeys(text for statement, text in _CALLED.items() if statement in called)


def _statement(u: UOp, copies: dict[UOp, UOp]) -> Iterator[UOp]:
    """The statement in place of a node, and what it needs before it."""
    if u in copies:
        load = copies[u]
        to, source = u.src[0], load.src[0]
        texts = _GATED if len(source.src) > 2 else _COPIES
        yield _custom(texts[load.dtype.itemsize], *to.src[:2], *source.src)
    elif u.op is Ops.COMMIT:
        yield _custom(_COMMIT)
    elif u.op is Ops.WAIT:
        newer = UOp.const(dtypes.int32, u.arg[0])
        yield newer
        yield _custom(_WAIT, newer)
    else:
        yield u


def _custom(text: str, *sources: UOp) -> UOp:
    return UOp(Ops.CUSTOM, dtypes.void, sources, text)


def _fits(store: UOp) -> bool:
    load = store.src[1]
    if load.op is not Ops.LOAD or load.dtype.itemsize not in _SIZES or len(store.src[0].src) > 2:
        return False
    if load.src[0].src[0].op is not Ops.DEFINE_GLOBAL:
        return False
    return len(load.src) < 2 or _is_zero(load.src[1])


def _is_zero(value: UOp) -> bool:
    """Whether all bits are 0, as an asynchronous copy fills in: not -0.0."""
    lanes: Iterable[UOp] = value.src if value.op is Ops.VECTORIZE else (value,)
    return all(
        lane.op is Ops.CONST and lane.arg == 0 and copysign(1.0, lane.arg) > 0 for lane in lanes
    )


COPY_ASYNC = """\
template <int N, class T, class Index>
__device__ inline void copy_async(void* to, const T* start, Index at, bool there = true) {
  const void* from = start + (there ? at : 0);
  int read = there ? N : 0;  // the rest becomes zeros
  if (N == 16) {
    asm volatile("{.reg .u64 s; .reg .u32 t; cvta.to.shared.u64 s, %0; cvt.u32.u64 t, s; "
        "cp.async.cg.shared.global [t], [%1], 16, %2;}"
        :: "l"(to), "l"(from), "r"(read) : "memory");
  } else {
    asm volatile("{.reg .u64 s; .reg .u32 t; cvta.to.shared.u64 s, %0; cvt.u32.u64 t, s; "
        "cp.async.ca.shared.global [t], [%1], %3, %2;}"
        :: "l"(to), "l"(from), "r"(read), "n"(N) : "memory");
  }
}"""

COMMIT = """\
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }"""

WAIT = """\
template <int NEWER> __device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(NEWER) : "memory");
}"""

_CALLED = {
    **dict.fromkeys((*_COPIES.values(), *_GATED.values()), COPY_ASYNC),
    _COMMIT: COMMIT,
    _WAIT: WAIT,
}

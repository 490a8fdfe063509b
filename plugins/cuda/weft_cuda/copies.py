"""Copies to shared memory that arrive later: ``cp.async``, from compute capability 8.0 on.

in: spec.linear      out: the same with a statement in the place of each such STORE, COMMIT and WAIT

A STORE that may be carried out later is one such instruction where its value is what one LOAD
gives; where an access had to be cut (see `alignment`) it is carried out at once. A LOAD behind a
gate that is closed reads nothing: then zeros are written, which is what the core asks for there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import copysign

from weft.plugin import ASYNC, Ops, UOp, dtypes

SINCE = 80
"""The compute capability, times ten, of the first chips that have it."""

_SIZES = (16, 8, 4)


def in_flight(uops: Sequence[UOp]) -> tuple[UOp, ...]:
    """The nodes of a program with its asynchronous copies as statements."""
    copies = {u: u.src[1] for u in uops if u.op is Ops.STORE and u.arg == ASYNC and _fits(u)}
    if not copies:
        return tuple(uops)
    used = {source for u in uops if u not in copies for source in u.src}
    idle = {load for load in copies.values() if load not in used}
    return tuple(_statement(u, copies) for u in uops if u not in idle)


def _statement(u: UOp, copies: dict[UOp, UOp]) -> UOp:
    if u in copies:
        load = copies[u]
        to, source = u.src[0], load.src[0]
        text = f"copy_async<{load.dtype.itemsize}>({{0}} + {{1}}, {{2}} + {{3}}"
        text += ", {4});" if len(source.src) > 2 else ");"
        return UOp(Ops.CUSTOM, dtypes.void, (*to.src[:2], *source.src), text)
    if u.op is Ops.COMMIT:
        return UOp(Ops.CUSTOM, dtypes.void, (), "commit_copies();")
    if u.op is Ops.WAIT:
        return UOp(Ops.CUSTOM, dtypes.void, (), f"wait_for_copies<{u.arg[0]}>();")
    return u


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
template <int N>
__device__ inline void copy_async(void* to, const void* from, bool there = true) {
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

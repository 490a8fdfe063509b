"""Device limits: measure the peak rates of multiply-adds and copies with generated kernels.

The result is stored on disk by the key of the device's code. The kernels are generated like all
others: sums of products whose factors stay in registers, and a copy larger than all caches. Each is
enlarged until it takes long enough to be timed, so that slow devices finish soon; until then only
the first plan is run.

Source: Williams, Waterman and Patterson, "Roofline", CACM 52, 2009.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from weft.base.disk_cache import DiskCache
from weft.base.dtype import DType, dtypes
from weft.base.errors import WeftError
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan, by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device import Feature, OpenDevice
from weft.engine.candidate_measurement import Measurement, build
from weft.engine.worker_processes import time_limit_factor
from weft.shape import ShapeTracker
from weft.uop import AxisKind, Ops, UOp

_ENOUGH = 1e-3  # seconds of a run that can be timed
_ENOUGH_COPIED = 2e-2  # the same where caches must not hold what is copied
_TIMES = 40
_STEP, _LEAP = 8, 64  # times as large; where it takes next to nothing
_SAME = 1.1  # times as much is no more
_BUSY = 1.5  # times as long as alone, or longer: what was measured is too little
_TERMS = 4096  # of one sum: their factors fit the smallest cache
_MOST_PRODUCTS = 1 << 28  # multiply-adds for each accumulator
_MOST_COPIED = 1 << 25  # elements: more than caches hold
_cache = DiskCache("peaks", 3)


@dataclass(frozen=True)
class Peaks:
    """What a device reached. threads: whether it took all threads it has for it.

    :param flops: operations a second, a multiply-add is two. :param bandwidth: bytes a second, read
        and written, of a copy.
    """

    flops: float
    bandwidth: float
    threads: bool = False

    def least(self, ops: int, moved: int) -> float:
        """Seconds that a kernel must take, however well it is written."""
        return max(ops / self.flops, moved / self.bandwidth)

    def is_bound_by_memory(self, ops: int, moved: int) -> bool:
        """Whether it is moving bytes that it must wait for."""
        return moved / self.bandwidth >= ops / self.flops


def peaks_of(
    device: OpenDevice, dtype: DType = dtypes.float32, refresh: bool = False
) -> list[Peaks]:
    """The limits with one thread and, if it has several, with all. [] where it cannot be measured.

    refresh: measure also if there is a result; a result is also replaced if the machine was
    far busier with other work than now.
    """
    key = "\0".join(
        (
            device.id.family,
            device.capabilities.fingerprint,
            device.capabilities.speed,
            " ".join(sorted(device.compute.features)),
            dtype.name,
        )
    )
    busy = time_limit_factor()
    kept = None if refresh else _cache.get(key)
    if kept is not None:
        then, *found = json.loads(kept)
        if then < _BUSY * busy:
            return [Peaks(**one) for one in found]
    kinds = (False, True) if device.compute.has(Feature.THREADS) else (False,)
    found = [one for threads in kinds if (one := _measured(device, dtype, threads))]
    if len(found) == 2:  # who has more threads need not use them
        alone, whole = found
        flops, moved = max(alone.flops, whole.flops), max(alone.bandwidth, whole.bandwidth)
        found[1] = Peaks(flops, moved, whole.threads)
        if flops < _SAME * alone.flops and moved < _SAME * alone.bandwidth:  # there is but one
            found = [Peaks(flops, moved)]
    if found:
        _cache.put(key, json.dumps([busy, *map(asdict, found)]).encode())
    return found


def _measured(device: OpenDevice, dtype: DType, threads: bool) -> Peaks | None:
    try:
        flops = _fastest(
            device, lambda size: products(size, dtype), _MOST_PRODUCTS, _ENOUGH, threads
        )
        moved = _fastest(
            device, lambda size: copies(size, dtype), _MOST_COPIED, _ENOUGH_COPIED, threads
        )
    except (WeftError, ArithmeticError):
        return None
    if not (flops and moved):
        return None
    return Peaks(flops, moved, threads)


Work = tuple[UOp, int]  # a kernel, and how much it does


def products(size: int, dtype: DType) -> Work:
    """out[r, j] = sum of a[r, j] * b[i]: almost nothing is loaded, so that multiply-adds decide.

    `size` is that of r times i. What is multiplied differs from row to row, or a compiler would
    compute one row only.
    """
    side = 192  # many accumulators, in vectors of any width
    terms = min(size, _TERMS)
    rows = size // terms
    shape = (rows, side, terms)
    a = _pointer(1, rows * side, dtype).view(ShapeTracker.from_shape((rows, side, 1)).expand(shape))
    b = _pointer(2, terms, dtype).view(ShapeTracker.from_shape((1, 1, terms)).expand(shape))
    a = a.load()
    total = (a * b.load()).reduce(Ops.ADD, (2,))
    out = _pointer(0, rows * side, dtype).view(ShapeTracker.from_shape((rows, side, 1)))
    return UOp.sink(out.store(total)), 2 * rows * side * terms


def copies(size: int, dtype: DType) -> Work:
    """out[i] = a[i]; the work is bytes, read and written."""
    whole = ShapeTracker.from_shape((size // 64 or 1, min(size, 64)))
    value = _pointer(1, size, dtype).view(whole).load()
    return UOp.sink(_pointer(0, size, dtype).view(whole).store(value)), 2 * size * dtype.itemsize


def _pointer(slot: int, size: int, dtype: DType) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def _fastest(
    device: OpenDevice, work: Callable[[int], Work], most: int, enough: float, threads: bool
) -> float | None:
    """Work a second, by the best of the plans, at the first size that takes long enough."""
    size = 32
    while True:
        ast, amount = work(size)
        trial = Measurement(ast, device)
        ready = (run for plan in _plans(device, ast, threads) if (run := _ready(trial, ast, plan)))
        first = next(ready, None)
        quick = first() if first is not None else 0.0
        if first is None or not quick:
            return None
        if quick >= enough or size >= most:
            runs = [first, *ready]
            quick = min(run() for run in runs for _ in range(_TIMES))
            if quick >= enough or size >= most or not quick:
                return amount / quick if quick else None
        size = min(most, size * (_STEP if _LEAP * quick > enough else _LEAP))


def _plans(device: OpenDevice, ast: UOp, threads: bool) -> Iterator[Plan]:
    """The heuristic's choice, and tiles of vectors that are wide enough to hide what one takes."""
    loops = loops_for(ast, device.target, True)
    if not threads or loops.target.compute.limits.global_size is not None:
        yield _single(by_heuristic(loops))
    compute = device.compute
    lanes = compute.vector_bytes // 4
    last = sum(axis.kind is not AxisKind.REDUCE for axis in loops.axes) - 1
    end = (Opt(OptKind.THREAD, 0),) if threads else ()
    for tile in (4, 6, 8, 12) if lanes > 1 else ():
        opts = (Opt(OptKind.VECTOR, last, lanes), Opt(OptKind.UPCAST, last, tile))
        yield Plan((*opts, *end))
    if threads:
        yield Plan((*(o for o in by_heuristic(loops).opts if o.kind is not OptKind.THREAD), *end))


def _single(plan: Plan) -> Plan:
    return Plan(tuple(opt for opt in plan.opts if opt.kind is not OptKind.THREAD), plan.prepared)


def _ready(trial: Measurement, ast: UOp, plan: Plan) -> Callable[[], float] | None:
    """What runs a plan and gives the seconds; None where the plan is not legal."""
    try:
        built = build(ast, plan, trial.device)
    except WeftError:
        return None
    runner = trial.load(built)
    return lambda: trial.launch(runner, built.program)

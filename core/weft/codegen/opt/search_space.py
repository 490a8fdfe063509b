"""Search space: enumerate the plans of a kernel and the neighbours of each plan.

Nothing is compiled or timed here. A `Plan` is one way to lower a kernel. `near` gives the legal
plans one step away: one Opt more, one less, or one with another amount. Opts that help only
together are one step: a split and an interchange, or a split and the staging of what the inner loop
reads.

in: a `Kernel` without optimisations, a `Plan` for it    out: legal plans, each once

Source: none known; sound because every plan passes the legality checks of `Kernel.attempt`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.codegen.generic_choice import choice_for
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.thresholds import FEW_VALUES, MOST_BODY, MOST_TEXT, SHORT_LOOP
from weft.device import Feature, Target
from weft.uop import AxisKind, GroupOp

_PARTS = {
    OptKind.UPCAST: (2, 3, 4, 5, 6, 7, 8, 12, 16),
    OptKind.UNROLL: (0, 2, 4, 8, 16),
    OptKind.SPLIT: (8, 16, 32, 64, 128, 256, 512),
    OptKind.LOCAL: (2, 4, 8, 16, 32, 64, 128, 256),
    OptKind.GROUP: (4, 8, 16, 32, 64, 128, 256),
    OptKind.GROUPTOP: (4, 8, 16, 32, 64, 128, 256),
    OptKind.PADTO: (8, 16, 32, 64),
}
_FIT = (OptKind.UPCAST, OptKind.UNROLL)  # a whole loop of any small extent is one of their parts
_ALONE = (
    OptKind.UPCAST, OptKind.UNROLL, OptKind.VECTOR, OptKind.LOCAL, OptKind.GROUP, OptKind.GROUPTOP,
    OptKind.TC,
)  # fmt: skip
_LAST = (OptKind.KEEP, OptKind.STAGE, OptKind.PACK, OptKind.THREAD)  # they depend on all loops
_STRIPS = (16, 64, 256)  # iterations of the inner loop of two that are interchanged
_PANELS = (64, 128, 256, 512)  # iterations of a loop that is staged or moved outside


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to lower a kernel.

    opts: in the order in which they are applied. prepared: over the loops as the heuristic wants
    them (`pipeline.loops_for`), or as they are.
    """

    opts: tuple[Opt, ...] = ()
    prepared: bool = True

    def choose(self, kernel: Kernel) -> Sequence[Opt]:
        """For `pipeline.lower`."""
        return self.opts

    def __str__(self) -> str:
        shown = ", ".join(f"{o.kind.name} {o.axis} {o.amount}" for o in self.opts) or "nothing"
        return shown if self.prepared else f"{shown} (plain loops)"


def by_heuristic(kernel: Kernel) -> Plan:
    """The plan of the target's strategy for a kernel of prepared loops."""
    return Plan(tuple(choice_for(kernel.target)(kernel.copy())))


def near(kernel: Kernel, plan: Plan) -> list[Plan]:
    """All legal plans one step from `plan` for a kernel, in a fixed order."""
    seen = {plan.opts}
    found: list[Plan] = []
    operations = sum(node.op in GroupOp.ALU for node in kernel.sink.toposort())
    most = min(MOST_BODY, max(FEW_VALUES, MOST_TEXT // max(1, operations)))
    for opts in (*_longer(kernel, plan.opts), *_other(kernel, plan.opts)):
        if opts not in seen:
            seen.add(opts)
            done = _applied(kernel, opts)
            if done is not None and _body(done) <= most:
                found.append(Plan(opts, plan.prepared))
    return found


def parts(kind: OptKind, target: Target) -> tuple[int, ...]:
    """The amounts that are tried for a kind of optimisation; none where the target has no use."""
    compute = target.compute
    if kind is OptKind.VECTOR:
        widths = {width for each in compute.vector_widths.values() for width in each}
        return tuple(sorted(widths)) if compute.vector_bytes else ()
    if kind is OptKind.STAGE:  # several tiles at once where a group waits for copies
        return (0,) if compute.limits.local_size is None else (0, 2, 3)
    if kind is OptKind.THREAD:
        return (0,) if compute.has(Feature.THREADS) else ()
    if kind is OptKind.TC:
        return tuple(range(len(compute.tensor_cores)))
    if kind in (OptKind.LOCAL, OptKind.GROUP, OptKind.GROUPTOP):
        most = compute.limits.local_threads or 0 if compute.limits.local_size is not None else 0
        return tuple(part for part in _PARTS[kind] if part <= most)
    return _PARTS.get(kind, ())


def _longer(kernel: Kernel, opts: tuple[Opt, ...]) -> Iterator[tuple[Opt, ...]]:
    """One step more: at the end, or before those that depend on all loops, or at the beginning."""
    count = len(opts)
    while count and opts[count - 1].kind in _LAST:
        count -= 1
    before, last = opts[:count], opts[count:]
    done = _applied(kernel, before)
    if done is None:
        return
    for step in _steps(done):
        yield (*before, *step, *last)
        if last:  # a cut moves those that come after it
            yield (*before, *step, *map(_moved, last))
    whole = _applied(kernel, opts)
    if whole is not None:
        for step in _last_steps(whole):
            yield (*opts, *step)
    for place in range(len(kernel.axes)):
        for amount in parts(OptKind.PADTO, kernel.target):
            yield (Opt(OptKind.PADTO, place, amount), *opts)


def _moved(opt: Opt) -> Opt:
    amount = opt.amount + 1 if opt.kind is OptKind.KEEP else opt.amount
    return Opt(opt.kind, opt.axis + 1, amount)


def _steps(kernel: Kernel) -> Iterator[tuple[Opt, ...]]:
    """Candidates for the next Opts; not all of them are legal."""
    target = kernel.target
    for place, axis in enumerate(kernel.axes):
        extent = axis.extent
        if not isinstance(extent, int) or extent < 2:
            continue
        for kind in _ALONE:
            amounts = parts(kind, target)
            for amount in amounts:
                if amount != extent or 0 not in amounts or kind is OptKind.TC:  # 0: all of it
                    yield (Opt(kind, place, amount),)
            if kind in _FIT and extent <= SHORT_LOOP and not {0, extent} & set(amounts):
                yield (Opt(kind, place, extent),)
        yield from _exchanges(kernel, place)


def _last_steps(kernel: Kernel) -> Iterator[tuple[Opt, ...]]:
    """Candidates that depend on all loops, some after a split that frees memory."""
    target = kernel.target
    for place, axis in enumerate(kernel.axes):
        for amount in parts(OptKind.THREAD, target):
            yield (Opt(OptKind.THREAD, place, amount),)
        staged = [Opt(OptKind.STAGE, place, amount) for amount in parts(OptKind.STAGE, target)]
        staged += [Opt(OptKind.PACK, place)] if target.compute.limits.global_size is None else []
        for stage in staged:
            yield (stage,)
        if axis.kind is AxisKind.REDUCE:
            for other in range(place):
                yield (Opt(OptKind.KEEP, place, other),)
                for amount in _PANELS:
                    cut = Opt(OptKind.SPLIT, place, amount)
                    yield (cut, Opt(OptKind.KEEP, place, other))
                    yield (cut, Opt(OptKind.KEEP, place, other), Opt(OptKind.STAGE, place))
        for amount in _PANELS:
            for stage in staged:
                yield (Opt(OptKind.SPLIT, place, amount), stage)


def _exchanges(kernel: Kernel, place: int) -> Iterator[tuple[Opt, ...]]:
    """Yield interchanges of a loop with one outside of it: all of it, or its outer part."""
    for other in range(place):
        if kernel.axes[other].kind is kernel.axes[place].kind:
            yield (Opt(OptKind.SWAP, other, place),)
            for amount in _STRIPS:
                yield (Opt(OptKind.SPLIT, place, amount), Opt(OptKind.SWAP, other, place))


def _other(kernel: Kernel, opts: tuple[Opt, ...]) -> Iterator[tuple[Opt, ...]]:
    """One optimisation less, or one of them with another amount."""
    for number, opt in enumerate(opts):
        yield opts[:number] + opts[number + 1 :]
        for amount in parts(opt.kind, kernel.target):
            yield (*opts[:number], Opt(opt.kind, opt.axis, amount), *opts[number + 1 :])


def _applied(kernel: Kernel, opts: Iterable[Opt]) -> Kernel | None:
    """The kernel after all of them; None where one is not legal."""
    done = kernel.copy()
    try:
        for opt in opts:
            done.apply(opt)
    except OptError:
        return None
    return done


def _body(kernel: Kernel) -> int:
    """Return the most instances of one value in a loop body; a vector counts as one."""
    side = (AxisKind.UPCAST, AxisKind.UNROLL)
    return max(
        (
            math.prod(
                axis.extent
                for axis in kernel.axes
                if axis.loop in nest and axis.kind in side and isinstance(axis.extent, int)
            )
            for nest in kernel.nests.values()
        ),
        default=1,
    )

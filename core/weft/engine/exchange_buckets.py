"""Gradient bucketing: adjacent all-reduces of a replay become one exchange.
Also: all-reduce combining, tensor fusion.

What they reduce is adjacent in one memory, the bucket, and so are the results: the kernels before
and after use windows of it. Nothing is copied. The gaps between windows are reduced too, whatever
they hold.

in:  recorded steps     out: the steps with fewer exchanges

Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB
2020; Sergeev and Del Balso, "Horovod: fast and easy distributed deep learning in TensorFlow", 2018
(tensor fusion).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weft.base.intmath import round_up
from weft.device import Buffer, registry
from weft.engine.lower_items import ExecItem
from weft.engine.recorded_steps import INTERMEDIATE, Argument, Memory, Step
from weft.engine.runners import CollectiveStep
from weft.uop import CollectiveKind

# bytes of a cache line and of the widest vector, at whose multiples windows start
_APART = 64


def with_buckets(steps: Sequence[Step]) -> list[Step]:
    """The steps with one exchange for the all-reduces of each bucket.

    Steps of other processes are among them: buckets are equal in all processes then.
    """
    first: dict[int, list[Step]] = {}
    others: set[int] = set()
    windows: dict[int, Argument] = {}
    for group in _groups(steps):
        if len(group) > 1:
            first[id(group[0])] = group
            others.update(id(step) for step in group[1:])
    if not first:
        return list(steps)
    joined = {key: _joined(group, windows) for key, group in first.items()}
    left = [joined.get(id(step), step) for step in steps if id(step) not in others]
    for step in left:
        step.arguments = [_within(argument, windows) for argument in step.arguments]
    return left


def _within(argument: Argument, windows: dict[int, Argument]) -> Argument:
    """An argument of memory that is now a window of a bucket."""
    found = windows.get(id(argument.memory))
    if found is None:
        return argument
    assert found.window is not None
    size, dtype, start = found.window
    if argument.window is not None:
        size, dtype, inner = argument.window
        start += inner
    return Argument(found.memory, (size, dtype, start))


def _groups(steps: Iterable[Step]) -> Iterable[list[Step]]:
    """The all-reduces that follow each other and are of one kind. Steps on devices of this process
    alone, which other processes do not have, count for nothing."""
    group: list[Step] = []
    taken: set[int] = set()
    for step in steps:
        memories = {id(argument.memory) for argument in step.arguments}
        fits = _is_whole_all_reduce(step, memories) and memories.isdisjoint(taken)
        if group and fits and _kind(step) == _kind(group[0]):
            group.append(step)
        elif fits:
            yield group
            group = [step]
        elif _is_shared(step):
            yield group
            group = []
        else:
            continue
        taken |= memories if fits else set()
    yield group


def _is_shared(step: Step) -> bool:
    """Whether all processes have a step."""
    names = {argument.memory.buffer.device for argument in step.arguments}
    return all(registry.capabilities(name).memory.collective_group for name in names)


def _is_whole_all_reduce(step: Step, memories: set[int]) -> bool:
    """Whether a step reduces whole intermediates into others, on devices with sub-buffers."""
    if not isinstance(step.item.prg, CollectiveStep):
        return False
    if step.item.prg.ast.arg.kind != CollectiveKind.ALLREDUCE:
        return False
    return len(memories) == len(step.arguments) and all(
        argument.window is None
        and argument.memory.kind is INTERMEDIATE
        and registry.capabilities(argument.memory.buffer.device).memory.alignment is not None
        for argument in step.arguments
    )


def _kind(step: Step) -> tuple[object, ...]:
    """What is equal for all-reduces that can be one."""
    assert isinstance(step.item.prg, CollectiveStep)
    ast = step.item.prg.ast
    return ast.dtype, ast.arg.op, *(a.memory.buffer.device for a in step.arguments)


def _joined(group: Sequence[Step], windows: dict[int, Argument]) -> Step:
    """One exchange of the values of several; notes where each memory is."""
    first = group[0].item.prg
    assert isinstance(first, CollectiveStep)
    itemsize = first.ast.dtype.itemsize
    starts: list[int] = []
    total = 0
    for step in group:
        starts.append(total)
        total += round_up(step.arguments[0].memory.buffer.nbytes, _APART)
    arguments: list[Argument] = []
    for place, argument in enumerate(group[0].arguments):
        like = argument.memory.buffer
        bucket = Memory(
            INTERMEDIATE, Buffer(like.device, total // itemsize, like.dtype), writes=1, reads=1
        )
        arguments.append(Argument(bucket, None))
        for step, start in zip(group, starts):
            memory = step.arguments[place].memory
            own = memory.buffer
            windows[id(memory)] = Argument(bucket, (own.size, own.dtype, start))
    ast = first.ast.replace(arg=replace(first.ast.arg, counts=(total // itemsize,)))
    prg = CollectiveStep(ast, first.devices)
    metadata = tuple(dict.fromkeys(m for step in group for m in step.item.metadata))
    item = ExecItem(prg, (), metadata, group[0].item.values, group[0].item.is_local)
    return Step(item, arguments, group[0].written, group[0].read)

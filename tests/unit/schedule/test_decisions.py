"""What the deciding passes decide, as text: a star before every node that becomes a kernel."""

import pytest

from helpers.graph_passes import change, memory
from helpers.graphs import lookup
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.schedule.assigns import resolve_hazards
from weft.schedule.buffer_limits import limit_buffers
from weft.schedule.realize_map import must_realize
from weft.schedule.reduce_fusion import group_reduces
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp, to_text


def starred(sink: UOp, chosen) -> str:
    lines = to_text(sink).splitlines()
    nodes = list(sink.toposort())
    assert len(lines) == len(nodes)
    return (
        "\n".join(f"{'*' if n in chosen else ' '} {line}" for n, line in zip(nodes, lines)) + "\n"
    )


def grows() -> UOp:
    """x * sum over its rows: the sum is read through an expand."""
    x = memory(0, 2, 8)
    return x * x.reduce(Ops.ADD, (1,)).expand((2, 8))


def padded() -> UOp:
    """2^x does not keep zero: the padding becomes a mask, nothing is stored for it."""
    x = memory(0, 4).alu(Ops.EXP2)
    return x.pad(((1, 1),)).reduce(Ops.ADD, (0,)) + memory(1, 1)


def children() -> UOp:
    """A sum takes the steps behind it along, up to where they are read in another way."""
    total = memory(0, 4, 8).reduce(Ops.ADD, (1,))
    scaled = (total * memory(1, 4, 1)).alu(Ops.SQRT)
    return scaled.expand((4, 3)) + memory(2, 4, 3)


@pytest.mark.parametrize("make", [grows, padded, children], ids=lambda f: f.__name__)
def test_realized_nodes_and_groups(make, golden):
    sink = UOp.sink(make())
    uses = uses_in(sink)
    first = must_realize(uses)
    second = group_reduces(uses, first)
    text = f"# must_realize\n{starred(sink, first)}\n# group_reduces\n{starred(sink, second)}"
    assert text == golden.file(f"passes/must_realize/{make.__name__}.uop")


@pytest.mark.parametrize("limit", [3, 4, 6])
def test_values_stored_for_a_buffer_limit(limit, golden):
    total = memory(0, 4)
    for number in range(1, 5):
        total = total + memory(number, 4)
    sink = UOp.sink(total)
    ctx = lookup(X=Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=limit))))
    uses = uses_in(sink)
    stored = limit_buffers(uses, must_realize(uses), ctx)
    assert starred(sink, stored) == golden.file(f"passes/limit_buffers/at_most_{limit}.uop")


def test_a_value_from_before_and_after_a_write(golden):
    """x is read old and new by one sum: the old value is copied first."""
    x, y = memory(0, 4), memory(1, 4)
    written = UOp(Ops.ASSIGN, x.dtype, (x, y))
    sink = UOp.sink(x + written)
    after = resolve_hazards(sink)[sink]
    # the running number of a copy differs from run to run
    text = change(sink, after)
    number = next(u.arg[1] for u in after.toposort() if u.op is Ops.CONTIGUOUS)
    text = text.replace(f"'kept', {number}", "'kept', 0").replace(f"'kept' {number}", "'kept' 0")
    assert text == golden.file("passes/separate/old_and_new.uop")


def test_the_order_of_readers_and_writers(golden):
    """Readers of the old value come before the write, readers of the new one after it."""
    x, y = (UOp.new_buffer("REF", 4, memory(0, 4).dtype) for _ in range(2))
    old = (x * 2).contiguous()
    written = UOp(Ops.ASSIGN, x.dtype, (x, y))
    new = (written + 1).contiguous()
    sink = UOp.sink(new, old)
    final = sink.substitute(kernelize_map(sink))
    items, _ = create_schedule_with_vars(final)
    number = {}
    lines = []
    for item in items:
        names = [f"buffer {number.setdefault(id(b), len(number))}" for b in item.bufs]
        kinds = [u.op.name for u in item.ast.toposort() if u.op.name in ("ADD", "MUL")]
        outputs = [names[item.bufs.index(b)] for b in item.outputs]
        lines.append(f"{kinds or 'copy'} writes {outputs} of {names}")
    assert "\n".join(lines) + "\n" == golden.file("schedules/order_of_a_write.txt")

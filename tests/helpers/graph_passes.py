"""Passes over tensor graphs, tested on text: what a graph was, what became of it, equal values.

after = cleaned(before)
assert change(before, after) == golden.file("passes/clean/name.uop")
agree(before, after)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from helpers.graphs import lookup
from helpers.oracle import evaluate
from weft.base.dtype import DType, dtypes
from weft.base.sequences import prod
from weft.device import numpy_dtype
from weft.schedule import ScheduleContext
from weft.schedule.batched_edits import Edit, rebuild
from weft.schedule.pipeline import CLEAN_WITH_IMAGES
from weft.schedule.use_def import Uses, uses_in
from weft.uop import Ops, UOp, rewrite_map, to_text

if TYPE_CHECKING:
    import numpy

# beyond what any graph of a process is numbered with: text that does not change from run to run
_FIRST = 10**9


def memory(number: int, *shape: int, dtype: DType = dtypes.float, device: str = "X") -> UOp:
    """Memory of a shape; the same arguments give the same node."""
    where = UOp(Ops.DEVICE, arg=device)
    own = UOp(Ops.UNIQUE, arg=_FIRST + number)
    buffer = UOp(Ops.BUFFER, dtype, (where, own), prod(shape))
    return buffer if len(shape) == 1 else buffer.reshape(shape)


def cleaned(node: UOp, ctx: ScheduleContext | None = None) -> UOp:
    """What the rules of the pass `clean` make of a graph."""
    sink = UOp.sink(node)
    return rewrite_map(sink, CLEAN_WITH_IMAGES, (ctx or lookup()).for_graph(sink))[sink].src[0]


def edited(rule: Callable[[Uses], Mapping[UOp, Edit]], *nodes: UOp) -> tuple[UOp, ...]:
    """What a rule that looks at readers makes of graphs, until it finds nothing more."""
    sink = UOp.sink(*nodes)
    while edits := rule(uses_in(sink)):
        sink = rebuild(sink, edits)[sink]
    return sink.src


def change(before: UOp | tuple[UOp, ...], after: UOp | tuple[UOp, ...]) -> str:
    """The text of two graphs, one above the other."""
    return f"# before\n{_text(before)}# after\n{_text(after)}"


def _text(graph: UOp | tuple[UOp, ...]) -> str:
    return to_text(graph if isinstance(graph, UOp) else UOp.sink(*graph))


def agree(before: UOp, after: UOp, *, exactly: bool = True, contents: Any = None) -> None:
    """AssertionError unless both graphs have the same shape, dtype, place and value.

    exactly: bit by bit but for the sign of zeros; else to within rounding. contents: of a BUFFER
    node; default: small numbers, and among floats a NaN and infinities.
    """
    import numpy as np

    contents = contents or some_numbers
    known = {
        node: contents(node) for node in UOp.sink(before, after).toposort() if node.op is Ops.BUFFER
    }
    first, second = evaluate(before, known), evaluate(after, known)
    shapes = tuple(first.shape), tuple(second.shape)
    if shapes[0] != shapes[1] or before.dtype is not after.dtype or before.device != after.device:
        raise AssertionError(f"{shapes}, {before.dtype} {after.dtype}, {before.device}")
    if exactly:
        np.testing.assert_array_equal(second, first)
    else:
        np.testing.assert_allclose(second, first, rtol=1e-5, atol=1e-5)


def some_numbers(buffer: UOp) -> numpy.ndarray:
    """Contents for a BUFFER, the same for the same size and dtype."""
    import numpy as np

    made = np.random.default_rng(buffer.arg).integers(-4, 5, buffer.arg)
    numbers = made.astype(numpy_dtype(buffer.dtype))
    if dtypes.is_float(buffer.dtype) and buffer.arg > 4:
        numbers[1:4] = np.nan, np.inf, -np.inf
    elif dtypes.is_int(buffer.dtype) and buffer.arg > 1:
        numbers[1] = buffer.dtype.max
    return numbers

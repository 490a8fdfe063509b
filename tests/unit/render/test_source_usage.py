"""The facts about a source that a renderer gets for its preamble."""

from weft.base.dtype import AddrSpace, dtypes
from weft.device import LinearProgram
from weft.render import CDialect, CStyleRenderer, SourceUsage, VectorStyle
from weft.uop import Ops, UOp

VECTORS = VectorStyle(shuffle="")


class Recorder(CStyleRenderer):
    """Keeps what its preamble was given."""

    def preamble(self, program, usage):
        self.usage = usage
        return super().preamble(program, usage)


def usage_of(*stores, **dialect) -> SourceUsage:
    sink = UOp.sink(*stores)
    renderer = Recorder(CDialect(vectors=VECTORS, **dialect))
    renderer.render(LinearProgram.of("k", [u for u in sink.toposort() if u is not sink]))
    return renderer.usage


def pointer(slot, dtype):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(64), (), slot)


ZERO = UOp.const(dtypes.int, 0)


def test_types_of_memory_and_of_values_are_recorded():
    load = pointer(1, dtypes.float16).index(ZERO).load()
    usage = usage_of(pointer(0, dtypes.float32).index(ZERO).store(load.cast(dtypes.float32)))
    assert {dtypes.float16, dtypes.float32} <= usage.dtypes
    assert dtypes.bfloat16 not in usage.dtypes
    assert not usage.conversions and not usage.bitcasts and not usage.functions


def test_a_literal_of_a_narrow_float_names_its_type():
    usage = usage_of(pointer(0, dtypes.float32).index(ZERO).store(
        UOp.const(dtypes.bfloat16, 1.0).cast(dtypes.float32)))  # fmt: skip
    assert dtypes.bfloat16 in usage.dtypes


def test_vectors_that_are_converted_and_accessed_are_recorded():
    ints, floats = dtypes.int32.vec(4), dtypes.float32.vec(4)
    load = pointer(1, dtypes.int32).index(ZERO).load(dtype=ints)
    store = pointer(0, dtypes.float32).index(ZERO).store(load.cast(floats))
    usage = usage_of(store)
    assert usage.conversions == {floats} and not usage.bitcasts
    assert usage.vector_loads == {(ints, AddrSpace.GLOBAL)}
    assert usage.vector_stores == {(floats, AddrSpace.GLOBAL)}
    assert usage_of(
        pointer(0, dtypes.float32).index(ZERO).store(load.bitcast(floats))
    ).bitcasts == {floats}


def test_functions_are_recorded_by_operation_and_dtype():
    load = pointer(1, dtypes.float16).index(ZERO).load()
    root = load.alu(Ops.SQRT)
    usage = usage_of(pointer(0, dtypes.float16).index(ZERO).store(root))
    assert usage.functions == {(Ops.SQRT, dtypes.float32)}, "computed in float32"

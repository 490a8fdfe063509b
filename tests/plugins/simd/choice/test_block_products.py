"""Products of block-quantised rows: sums of packed dot products, a few blocks at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import COMMON_DTYPES, ComputeCaps, KernelLimits
from weft.device.packed_dot import PairDot
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp

FOUR = PairDot(dtypes.uint8, dtypes.int32, (4,), dtype_other=dtypes.int8)
SEVEN = PairDot(dtypes.uint8, dtypes.int32, (4,), dtype_other=dtypes.int8, bits=7)
SIGNED = PairDot(dtypes.int8, dtypes.int32, (4,))
BLOCKS, WORDS, COLUMNS = 4, 4, 8


def target(dots=(FOUR,)):
    compute = ComputeCaps(
        dtypes=COMMON_DTYPES,
        limits=KernelLimits(max_upcast=32),
        vector_widths=dict.fromkeys(COMMON_DTYPES, (4,)),
        vector_bytes=16,
        vector_registers=32,
        pair_dots=dots,
    )
    return simd_target(compute)


def product(rows: int, step: int = 1):
    """Codes in the halves of bytes times int8, scaled for each block, and the buffers' values."""
    source = np.random.default_rng(rows)
    raw = source.integers(0, 256, (COLUMNS, BLOCKS, 16), dtype=np.uint8)
    x = source.integers(-127, 128, (rows, BLOCKS, 32 * step), dtype=np.int8)
    scale = source.standard_normal((COLUMNS, BLOCKS)).astype(np.float32)
    codes = Tensor(raw).realize().reshape(1, COLUMNS, BLOCKS, 1, WORDS, 4)
    shifts = (Tensor.arange(2, dtype="uint8") * 4).reshape(1, 1, 1, 2, 1, 1)
    given = Tensor(x).realize()[..., ::step].reshape(rows, 1, BLOCKS, 2, WORDS, 4)
    terms = ((codes >> shifts) & 15).fuse().cast("int32") * given.cast("int32")
    terms = terms.sum((3, 5), dtype="int32").cast("float32")
    scales = Tensor(scale).realize().reshape(1, COLUMNS, BLOCKS, 1)
    both = np.stack([raw & 15, raw >> 4], 2).reshape(COLUMNS, BLOCKS, 32).astype(np.float64)
    expected = np.einsum("nbk,mbk,nb->mn", both, x[..., ::step].astype(np.float64), scale)
    return (terms * scales).sum((2, 3)).fuse(), expected


def lowered(tensor, chosen):
    sink = UOp.sink(tensor.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return item, lower(item.ast, chosen)


@pytest.mark.parametrize("rows", [1, 3])
def test_every_product_is_part_of_a_dot(rows):
    tensor, expected = product(rows)
    item, program = lowered(tensor, target())
    ops = [node.op for node in program.uops]
    assert ops.count(Ops.DOT) > 0
    assert not any(
        node.op is Ops.MUL and node.dtype.scalar() is dtypes.int and node.dtype.count > 1
        for node in program.uops
    )
    out = bytearray(4 * rows * COLUMNS)
    run_program(program, (out, *(bytearray(buffer.copy_out()) for buffer in item.inputs)))
    got = np.frombuffer(out, np.float32).reshape(rows, COLUMNS)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("bits", [7, 8])
@pytest.mark.parametrize("unit", [FOUR, SEVEN, SIGNED])
def test_a_factor_of_more_bits_than_the_unit_takes_is_two(bits, unit):
    source = np.random.default_rng(bits)
    raw = source.integers(0, 1 << bits, (COLUMNS, BLOCKS, 16), dtype=np.uint8)
    x = source.integers(-128, 128, (BLOCKS, 16), dtype=np.int8)
    codes = Tensor(raw).realize().reshape(COLUMNS, BLOCKS, WORDS, 4)
    codes = (codes & ((1 << bits) - 1)).fuse().cast("int32")
    given = Tensor(x).realize().reshape(1, BLOCKS, WORDS, 4).cast("int32")
    tensor = (codes * given).sum(3, dtype="int32").cast("float32").sum((1, 2)).fuse()
    item, program = lowered(tensor, target((unit,)))
    dots = [node for node in program.uops if node.op is Ops.DOT]
    streams = 4
    assert len(dots) == streams * (1 if unit is FOUR or bits == 7 else 2)
    out = bytearray(4 * COLUMNS)
    run_program(program, (out, *(bytearray(buffer.copy_out()) for buffer in item.inputs)))
    expected = np.einsum("nbk,bk->n", raw.astype(np.int64), x.astype(np.int64))
    np.testing.assert_array_equal(np.frombuffer(out, np.float32), expected)


@pytest.mark.parametrize("dots, step", [((), 1), ((FOUR,), 2)])
def test_no_dots_without_a_unit_or_words(dots, step):
    tensor, _ = product(1, step)
    _, program = lowered(tensor, target(dots))
    assert Ops.DOT not in {node.op for node in program.uops}


def test_all_rows_of_the_activations_are_in_one_body():
    tensor, _ = product(3)
    _, program = lowered(tensor, target())
    found = [(opt.kind, opt.amount) for opt in program.applied]
    assert (OptKind.VECTOR, 4) in found
    assert found.count((OptKind.UNROLL, 0)) == 2
    assert (OptKind.SPLIT, COLUMNS // 2) in found
    assert [amount for kind, amount in found if kind is OptKind.UPCAST] == [0, 0]


def test_rows_of_several_parts_of_the_weights_are_in_one_body():
    tensor, _ = product(1)
    _, program = lowered(tensor, target())
    found = [(opt.kind, opt.amount) for opt in program.applied]
    assert (OptKind.SPLIT, COLUMNS // 4) in found
    assert [amount for kind, amount in found if kind is OptKind.UPCAST] == [0]


def test_few_registers_have_room_for_one_row():
    tensor, _ = product(3)
    few = target()
    few = replace(few, compute=replace(few.compute, vector_registers=16))
    _, program = lowered(tensor, few)
    assert OptKind.SPLIT not in {opt.kind for opt in program.applied}
    assert [opt.amount for opt in program.applied if opt.kind is OptKind.UPCAST] == [0]


def test_several_products_in_one_kernel():
    first, second = product(1)[0], product(1)[0]
    sink = UOp.sink(first.uop, second.uop)
    items = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    for item in items:
        ops = [node.op for node in lower(item.ast, target()).uops]
        assert ops.count(Ops.DOT) > 0

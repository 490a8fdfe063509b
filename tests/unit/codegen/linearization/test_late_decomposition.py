"""What comes in after decomposition is made of the operations that the target has."""

import random
from dataclasses import replace

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.codegen.linearization import late_decomposition
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import Target
from weft.device.program import LinearProgram
from weft.spec import linear
from weft.testing.conformance.programs import Builder
from weft.testing.kernels import RandomKernel
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

LACKING = frozenset(
    {Ops.MAX, Ops.MOD, Ops.SUB, Ops.NEG, Ops.CMPEQ, Ops.TRUNC, Ops.RECIP, Ops.MULACC}
)
INT = dtypes.int32
FEW = GroupOp.ALU - LACKING
TARGETS = {kind: Target(KINDS[kind], FEW, None, "py", kind) for kind in KINDS}
OPTIMISATIONS = (
    OptKind.UPCAST, OptKind.UNROLL, OptKind.VECTOR, OptKind.SPLIT, OptKind.PADTO, OptKind.STAGE,
    OptKind.LOCAL, OptKind.GROUP,
)  # fmt: skip


def at_random(seed):
    def choose(kernel):
        pick = random.Random(seed)
        for _ in range(6):
            axis = pick.randrange(len(kernel.axes)) if kernel.axes else 0
            try:
                kernel.apply(Opt(pick.choice(OPTIMISATIONS), axis, pick.choice((2, 3, 4))))
            except OptError:
                pass
        return kernel.applied

    return choose


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("seed", range(12))
def test_random_kernels_without_many_operations(kind, seed):
    kernel = RandomKernel(seed, dtypes.float32 if seed % 2 else dtypes.int32)
    program = lower(kernel.ast, TARGETS[kind], at_random(seed))
    linear.verify(program.uops)
    assert not LACKING.intersection(node.op for node in program.uops)
    arrays = {slot: array.copy() for slot, array in kernel.inputs.items()}
    arrays |= {slot: np.full_like(array, 77) for slot, array in kernel.outputs.items()}
    run_program(program, arrays)
    for slot, wanted in kernel.outputs.items():
        np.testing.assert_array_equal(arrays[slot], wanted)


def test_new_nodes_are_in_the_loop_of_their_sources():
    """The largest of each row, of elements of which every third is picked."""
    b = Builder()
    out, data = b.argument(0, INT, 2), b.argument(1, INT, 8)
    total = b.register(0, INT)
    row = b.loop(2, 0)
    b.store(total, 0, UOp.const(INT, -9))
    turn = b.loop(4, 1)
    item = b.load(data, (row * 4 + turn) % 3)
    b.store(total, 0, UOp(Ops.MAX, INT, (b.load(total, 0), item)))
    b.end(turn)
    b.store(out, row, b.add(UOp(Ops.LOAD, INT, (total.index(UOp.const(INT, 0)),), "after")))
    b.end(row)
    found = late_decomposition.run(b.nodes, TARGETS["vector"])
    linear.verify(found)
    assert not LACKING.intersection(node.op for node in found)
    assert (
        late_decomposition.run(b.nodes, replace(TARGETS["vector"], native_ops=GroupOp.ALU))
        == b.nodes
    )
    arrays = [np.zeros(2, np.int32), np.array([3, -1, 5, 9, 9, 9, 9, 9], np.int32)]
    run_program(LinearProgram.of("rows", found), arrays)
    assert arrays[0].tolist() == [5, 5]


def test_vectors_have_maxima_too():
    b = Builder()
    data, four = b.argument(0, dtypes.float, 8), dtypes.float.vec(4)
    load = b.load(data, 0, dtype=four)
    b.store(data, 4, b.add(UOp(Ops.MAX, four, (load, UOp.const(four, 1.0)))))
    found = late_decomposition.run(b.nodes, TARGETS["vector"])
    linear.verify(found)
    assert found[-1].op is Ops.STORE and found[-1].src[1].op is Ops.WHERE


def test_an_operation_without_expansion_is_refused():
    b = Builder()
    data = b.argument(0, INT, 8)
    b.store(data, 0, b.add(b.load(data, 1) // 2))
    with pytest.raises(CapabilityError, match="no IDIV"):
        late_decomposition.run(b.nodes, replace(TARGETS["vector"], native_ops=FEW - {Ops.IDIV}))

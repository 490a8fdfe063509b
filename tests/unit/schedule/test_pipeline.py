"""kernelize_map: what becomes of the nodes of a graph."""

from helpers.graphs import buffer, kernels, lookup, ops_of
from weft.base.dtype import dtypes
from weft.schedule import kernelize_map
from weft.uop import Ops, UOp


def test_a_chain_of_elementwise_is_one_kernel():
    a, b, c = buffer(4), buffer(4), buffer(4)
    (ast,) = kernels(a * b + c)
    assert ops_of(ast).count(Ops.LOAD) == 3
    assert [s.op for s in ast.src] == [Ops.STORE]


def test_fused_nodes_are_unchanged():
    a, b, c = buffer(1), buffer(1), buffer(1)
    product = a * b
    out = product + c
    becomes = kernelize_map(UOp.sink(out), lookup())
    assert product not in becomes
    write = becomes[out]
    assert write.op is Ops.ASSIGN and write.src[0].op is Ops.BUFFER
    assert write.src[1].op is Ops.KERNEL and write.src[1].src[1:] == (a, b, c)


def test_users_of_a_kernelized_node_load_its_buffer():
    a, b = buffer(1), buffer(1)
    out = a * b
    first = out.substitute(kernelize_map(UOp.sink(out), lookup()))
    second = kernelize_map(UOp.sink(first + 2), lookup())[first + 2]
    assert second.src[1].src[1] is first
    assert ops_of(second.src[1].arg.ast).count(Ops.LOAD) == 1


def test_graphs_that_fold_to_a_counter_become_the_counter():
    a = buffer(4, dtype=dtypes.int32)
    counter = UOp(Ops.IOTA, dtypes.int32, (a.src[0],), 4)
    out = a.alu(Ops.CMPEQ, a).where(counter + 1, a)
    assert kernelize_map(UOp.sink(out), lookup())[out] is counter + 1

"""What is left once everything pending is in kernels."""

from helpers.graphs import buffer, writes
from weft.spec.kernel_graph import complaint
from weft.uop import Ops, UOp


def test_a_kernelized_graph_is_allowed():
    (write,) = writes(buffer(4) + 1)
    assert all(complaint(u) is None for u in write.reshape((2, 2)).toposort())


def test_pending_work_is_refused():
    x = buffer(4)
    assert "pending" in complaint(x + 1)
    assert "not ASSIGN" in complaint(x.assign(x + 1))
    (write,) = writes(x + 1)
    assert "does not write that memory" in complaint(
        UOp(Ops.ASSIGN, x.dtype, (buffer(4), write.src[1]))
    )
    assert "not a Kernel" in complaint(UOp(Ops.KERNEL, src=(x,), arg="text"))

"""The order of collectives and of the kernels that need them."""

from weft.base.dtype import dtypes
from weft.schedule.exchange_order import BUCKET_BYTES, ReadyKernels
from weft.uop import Collective, CollectiveKind, Kernel, Ops, UOp


def kernel(number):
    store = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), number)
    return UOp(Ops.KERNEL, src=(UOp.new_buffer("REF", 4, dtypes.float),), arg=Kernel(store.sink()))


def collective(size):
    ast = UOp(Ops.COLLECTIVE, dtypes.float, (), Collective(CollectiveKind.ALLREDUCE, 1, (size,)))
    return UOp(Ops.KERNEL, src=(UOp.new_buffer("REF", size, dtypes.float),), arg=Kernel(ast))


def order(ready):
    found = []
    while ready:
        found.append(ready.pop())
    return found


def test_a_large_collective_comes_first_and_its_users_last():
    ready = ReadyKernels()
    user, other, large = kernel(0), kernel(1), collective(BUCKET_BYTES // 4)
    ready.add(user, uses_exchange=True)
    ready.add(other)
    ready.add(large)
    assert order(ready) == [large, other, user]


def test_small_collectives_run_together_before_the_users_of_others():
    ready = ReadyKernels()
    user, other = kernel(0), kernel(1)
    small = [collective(8), collective(16)]
    ready.add(user, uses_exchange=True)
    for each in (small[0], other, small[1]):
        ready.add(each)
    assert order(ready) == [other, *small, user]


def test_collectives_run_together_once_they_fill_a_bucket():
    ready = ReadyKernels()
    other, half = kernel(1), [collective(BUCKET_BYTES // 8 + number) for number in range(2)]
    for each in (half[0], other):
        ready.add(each)
    ready.add(half[1])
    assert order(ready) == [*half, other]

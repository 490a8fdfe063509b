"""Kernels that share their loops become one."""

import numpy
import pytest

from helpers.graphs import buffer, kernels, lookup, ops_of, writes
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import Capabilities, ComputeCaps, Feature, KernelLimits
from weft.shape import ShapeTracker
from weft.testing.fakes import fake_target
from weft.uop import Ops, UOp, Window, to_text
from weft.uop.args import Row

GRID = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(64, 64, 64))))
THREADS = Capabilities(compute=ComputeCaps(features=frozenset({Feature.THREADS})))
NO_ROWS = Capabilities(compute=ComputeCaps(limits=KernelLimits(row_bytes=0)))


def slots(ast, op):
    """The arguments that a kernel stores or loads."""
    return sorted({u.src[0].base.arg for u in ast.toposort() if u.op is op})


def rows_in(ast):
    return [u for u in ast.toposort() if u.op is Ops.CONTIGUOUS and isinstance(u.arg, Row)]


def softmax_of(x):
    shape = x.shape
    power = (x - x.reduce(Ops.MAX, (1,)).expand(shape)).exp2()
    return power, power / power.reduce(Ops.ADD, (1,)).expand(shape)


# ---- side by side -------------------------------------------------------------------------------


def test_two_outputs_of_one_input_are_one_kernel_that_reads_it_once():
    x = buffer(12)
    (ast,) = kernels(x + 1, x * 2)
    assert slots(ast, Ops.STORE) == [0, 1] and slots(ast, Ops.LOAD) == [2]


def test_switched_off_every_kernel_has_one_output():
    x = buffer(12).reshape((3, 4))
    with settings.override(GROUP_KERNELS=0):
        assert [len(ast.src) for ast in kernels(x + 1, x * 2)] == [1, 1]
        assert len(kernels(softmax_of(x)[1])) == 3


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_sum_and_max_of_one_input_share_their_loops(axes):
    x = buffer(12).reshape((3, 4))
    (ast,) = kernels(x.reduce(Ops.ADD, axes), x.reduce(Ops.MAX, axes))
    assert len(ast.src) == 2 and ops_of(ast).count(Ops.REDUCE_AXIS) == 2


def test_sums_along_different_axes_do_not():
    x = buffer(1 << 18).reshape((512, 512))
    assert len(kernels(x.reduce(Ops.ADD, (0,)), x.reduce(Ops.ADD, (1,)))) == 2


def test_products_that_share_an_operand_keep_their_blocks():
    x, a, b = (buffer(64).reshape((8, 8)) for _ in range(3))
    assert len(kernels(matmul(x, a), matmul(x, b))) == 2


def batched(a, b):
    (n, m, k), c = a.shape, b.shape[2]
    left = a.reshape((n, m, 1, k)).expand((n, m, c, k))
    right = b.permute((0, 2, 1)).reshape((n, 1, c, k)).expand((n, m, c, k))
    return (left * right).reduce(Ops.ADD, (3,))


def test_products_of_small_matrices_share_their_batch():
    x, a, b = (buffer(3 * 64).reshape((3, 8, 8)) for _ in range(3))
    (ast,) = kernels(batched(x, a), batched(b, x))
    assert [store.src[0].arg.shape for store in ast.src] == [(3, 8, 8, 1)] * 2
    assert len(kernels(batched(x, a), batched(b, x), ctx=lookup(X=GRID))) == 2


def test_the_gradient_of_a_bias_comes_with_that_of_the_weights():
    x, dy = buffer(16 * 4).reshape((16, 4)), buffer(16 * 8).reshape((16, 8))
    weights = matmul(x.permute((1, 0)), dy)
    (ast,) = kernels(weights, dy.reduce(Ops.ADD, (0,)))
    shapes = [store.src[0].arg.shape for store in ast.src]
    assert shapes == [(4, 8, 1), (1, 8, 1)]


@pytest.mark.parametrize("rows, count", [(16, 1), (4096, 2)])
def test_a_product_that_threads_share_is_alone(rows, count):
    x, dy = buffer(rows * 64).reshape((rows, 64)), buffer(rows * 8).reshape((rows, 8))
    both = matmul(x.permute((1, 0)), dy), dy.reduce(Ops.ADD, (0,))
    assert len(kernels(*both, ctx=lookup(X=THREADS))) == count
    assert len(kernels(*both, ctx=lookup(X=GRID))) == 1


def test_a_bias_update_is_fused_with_the_gradient_of_its_weights():
    x, dy, bias = buffer(16 * 4).reshape((16, 4)), buffer(16 * 8).reshape((16, 8)), buffer(8)
    weights = matmul(x.permute((1, 0)), dy)
    moved = bias.assign(bias - dy.reduce(Ops.ADD, (0,)).reshape((8,)) * 0.1)
    order = writes(weights, moved)
    assert len({write.src[1] for write in order}) == 1 and len(order) == 2


def test_no_more_buffers_than_the_device_takes():
    x = buffer(4)
    tight = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=3)))
    assert len(kernels(x + 1, x * 2, ctx=lookup(X=tight))) == 1
    assert len(kernels(x + 1, x * 2, x - 3, ctx=lookup(X=tight))) == 2
    with settings.override(MAX_KERNEL_BUFFERS=2):
        assert len(kernels(x + 1, x * 2)) == 2


def test_a_kernel_does_not_grow_without_end():
    x = buffer(4)
    asts = kernels(*(x * float(n) for n in range(500)))
    assert 500 / 160 <= len(asts) <= 40


# ---- up and down --------------------------------------------------------------------------------


def test_a_requested_intermediate_is_stored_and_not_loaded_again():
    x = buffer(12)
    (ast,) = kernels(x + 1, (x + 1) * 2)
    assert slots(ast, Ops.STORE) == [0, 1] and slots(ast, Ops.LOAD) == [2]


def test_a_softmax_keeps_its_powers_in_a_row():
    (ast,) = kernels(softmax_of(buffer(32).reshape((4, 8)))[1])
    (row,) = rows_in(ast)
    assert row.shape == (4, 8) and row.arg == Row(1)
    assert ops_of(ast).count(Ops.EXP2) == 1 and ops_of(ast).count(Ops.REDUCE_AXIS) == 2


def test_powers_that_are_asked_for_too_are_a_second_output():
    (ast,) = kernels(*softmax_of(buffer(32).reshape((4, 8))))
    assert slots(ast, Ops.STORE) == [0, 1] and slots(ast, Ops.LOAD) == [2]
    assert ops_of(ast).count(Ops.EXP2) == 1


def test_rows_too_long_for_a_buffer_are_recomputed():
    long = buffer(4 * 8192).reshape((4, 8192))
    (ast,) = kernels(softmax_of(long)[1])
    assert not rows_in(ast)
    (ast,) = kernels(softmax_of(buffer(32).reshape((4, 8)))[1], ctx=lookup(X=NO_ROWS))
    assert not rows_in(ast)


def test_a_stored_value_that_several_loops_need_is_not_recomputed_where_it_does_not_fit():
    def made(columns):
        value = buffer(4 * columns).reshape((4, columns)).sqrt()
        return kernels(value, value.reduce(Ops.ADD, (1,)))

    assert len(made(64)) == 1 and len(made(8192)) == 2


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.reduce(Ops.ADD, (0,)).expand((4, 4)),  # each column is read by all rows
        lambda x: x.reduce(Ops.ADD, (0, 1)).expand((4, 4)),  # one row: nothing to share out
        lambda x: x.reduce(Ops.ADD, (1,)).expand((4, 4)).permute((1, 0)),
        lambda x: (x.reduce(Ops.ADD, (1,)) * 1.5).flip((True, False)).expand((4, 4)),
    ],
)
def test_rows_that_are_read_elsewhere_are_stored(read):
    x = buffer(16).reshape((4, 4))
    assert len(kernels(x / read(x))) == 2


def test_a_third_kernel_in_between_keeps_two_apart():
    x = buffer(16).reshape((4, 4))
    value = x + 1
    between = value.permute((1, 0)).contiguous() * 2
    asts = kernels(value, between.contiguous(), value * between.permute((0, 1)))
    assert len(asts) == 2


def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    left = a.reshape((m, 1, k)).expand((m, n, k))
    right = b.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    return (left * right).reduce(Ops.ADD, (2,))


def test_a_matrix_product_does_not_recompute_its_operand_per_row():
    x, w = buffer(64).reshape((8, 8)), buffer(64).reshape((8, 8))
    assert len(kernels(matmul(softmax_of(x)[1], w))) == 2


def test_attention_is_one_kernel_with_three_rows():
    def t(device):
        return Tensor.empty(2, 3, 128, 16, device=device)

    items = t("NULL").scaled_dot_product_attention(t("NULL"), t("NULL")).schedule()
    assert [len(rows_in(item.ast)) for item in items] == [3]
    # spread over many work items its products are computed by themselves
    items = t("REF:grid").scaled_dot_product_attention(t("REF:grid"), t("REF:grid")).schedule()
    assert len(items) == 3


# ---- writes -------------------------------------------------------------------------------------


def test_writes_of_one_shape_are_one_kernel():
    value, mean, gradient = buffer(8), buffer(8), buffer(8)
    moved = mean.assign(mean * 0.9 + gradient * 0.1)
    order = writes(value.assign(value - moved * 0.01), moved)
    assert {write.src[0] for write in order} == {value, mean}
    (kernel,) = {write.src[1] for write in order}
    assert set(kernel.src) == {value, mean, gradient}


def test_an_old_value_is_read_in_the_kernel_that_overwrites_it_only_where_it_is():
    a = buffer(8)
    assert len(kernels(a * 2, a.assign(a + 1))) == 1
    flipped = (a.flip((True,)) * 2).contiguous()
    asts = kernels(flipped, a.assign(a + 1))
    assert len(asts) == 2 and ops_of(asts[0]).count(Ops.MUL) == 1


def test_a_write_of_a_window_is_nobodys_row():
    x = Tensor.empty(8, device="REF")
    x[2:4] = 1.0
    assert len((x + 1).schedule(x)) == 2


def test_a_copy_that_is_written_to_is_stored():
    a = buffer(8)
    window = Window(ShapeTracker.from_shape((8,)).shrink(((2, 4),)))
    first = a.assign(buffer(2), window)
    copy = UOp(Ops.CONTIGUOUS, a.dtype, (a,), ("kept", -1))
    order = writes(first, copy.assign(buffer(2) + 1, window), copy * 2)
    assert len({write.src[0] for write in order}) == len(order)
    written = [write.src[0] for write in order]
    assert a in written and any(version.op is Ops.ASSIGN for version in written)


def test_writes_of_one_kernel_happen_once_in_any_order_of_reads():
    a = Tensor([1.0, 2.0, 3.0], device="REF").realize()
    b = Tensor([10.0, 20.0, 30.0], device="REF").realize()
    a.assign(a + 1)
    b.assign(b + a)
    Tensor.kernelize(a, b)
    assert a.numpy().tolist() == [2.0, 3.0, 4.0]
    assert b.numpy().tolist() == [12.0, 23.0, 34.0]
    assert a.numpy().tolist() == [2.0, 3.0, 4.0]


def test_a_small_state_is_updated_in_place_and_used_in_one_kernel():
    count = Tensor([1.0, 2.0], device="REF").realize()
    values = Tensor([float(n) for n in range(32)], device="REF").realize()
    count.assign(count * 2)
    values.assign(values / count[0:1] + count[1:2])
    assert len(count.schedule(values)) == 1


@pytest.mark.parametrize("device", ["REF", "REF:grid", "CPU"])
def test_the_numbers_of_a_small_state(device):
    count = Tensor([1.0, 2.0], device=device).realize()
    values = Tensor([float(n) for n in range(32)], device=device).realize()
    for _ in range(2):
        count.assign(count * 2)
        values.assign(values / count[0:1] + count[1:2])
        count.realize(values)
    assert count.numpy().tolist() == [4.0, 8.0]
    assert values.numpy().tolist() == [(n / 2 + 4) / 4 + 8 for n in range(32)]


# ---- at the end ---------------------------------------------------------------------------------


def test_a_small_producer_is_fused_on_sequential_devices():
    def asts(device):
        mean = buffer(64 * 4).reshape((64, 4)).reduce(Ops.ADD, (1,)).reshape((1, 64)) * 0.25
        weights = buffer(64 * 500).reshape((64, 500))
        return kernels(matmul(mean, weights), ctx=lookup(X=device))

    (ast,) = asts(Capabilities(compute=ComputeCaps()))
    (row,) = rows_in(ast)
    assert row.arg == Row(0) and row.shape == (1, 64)
    assert len(asts(GRID)) == 2


def test_devices_and_symbolic_sizes_are_left_alone():
    n = UOp.variable("n", 1, 4)
    x = buffer(4).shrink(((0, n.bind(3)),))
    assert len(kernels(x + 1, x * 2)) == 2
    one, two = buffer(4), buffer(4, device="Y")
    assert len(kernels(one + 1, two + 1)) == 2


# ---- in passing ----------------------------------------------------------------------------------


def columns(rows, length):
    return buffer(rows * length).reshape((rows, length)).reduce(Ops.ADD, (0,))


@pytest.mark.parametrize("device", [Capabilities(compute=ComputeCaps()), THREADS])
def test_small_sums_that_have_nothing_in_common_are_one_kernel(device):
    (ast,) = kernels(columns(64, 128), columns(64, 512), ctx=lookup(X=device))
    assert [store.src[0].arg.shape for store in ast.src] == [(1, 128), (1, 1, 1, 512)]
    assert len(kernels(columns(64, 128), columns(64, 512), ctx=lookup(X=GRID))) == 2


def test_sums_that_threads_share_are_not_computed_in_passing():
    assert len(kernels(columns(64, 128), columns(512, 512))) == 2
    some = kernels(*(columns(512, n) for n in (255, 254, 253)))
    assert [len(ast.src) for ast in some] == [2, 1]  # together they would be too large


def bytes_product(count, length):
    """The integer dot products of one row of bytes with `count` rows."""
    codes = buffer(count * length, dtypes.uint8).reshape((count, length)).cast(dtypes.int32)
    row = buffer(length, dtypes.int8).reshape((1, length)).expand((count, length))
    return (codes * row.cast(dtypes.int32)).reduce(Ops.ADD, (1,))


def test_sums_of_products_of_bytes_are_not_computed_in_passing():
    assert len(kernels(bytes_product(64, 128), columns(64, 512))) == 2
    assert len(kernels(bytes_product(64, 128), columns(64, 512), ctx=lookup(X=THREADS))) == 2


def test_sums_that_are_alike_are_compiled_once():
    one, other = kernels(columns(64, 128), columns(64, 128))
    assert one is other
    first, second = kernels(*(columns(64, n) for n in (8, 9, 8, 9)))
    assert first is second and len(first.src) == 2


def test_readers_of_a_sum_are_not_fused_into_it():
    sums = buffer(64 * 16).reshape((64, 16)).reduce(Ops.ADD, (1,)).contiguous()
    turned = sums.expand((64, 8)).permute((1, 0)) * buffer(8 * 64).reshape((8, 64))
    found = kernels(sums, turned.reduce(Ops.MAX, (1,)), ctx=lookup(X=NO_ROWS))
    assert len(found) == 2


def test_reductions_are_fused_next_to_the_rows_of_another():
    x = buffer(24 * 40).reshape((24, 40))
    power, quotient = softmax_of(x)
    (ast,) = kernels(quotient, columns(24, 7), columns(9, 24))
    (row,) = rows_in(ast)
    assert row.arg == Row(1)
    shapes = [store.src[0].arg.shape for store in ast.src]
    assert shapes == [(24, 40), (1, 1, 1, 7), (1, 1, 1, 1, 1, 24)]


def test_no_loop_of_one_is_that_of_another():
    x = buffer(24 * 40).reshape((24, 40))
    off = x - x.reduce(Ops.ADD, (1,)).expand((24, 40))
    (ast,) = kernels(off, columns(30, 40))
    program = lower(ast, fake_target(), nothing)
    assert sum(u.op is Ops.RANGE for u in program.uops) == 5
    turns = [u.vmax + 1 for u in program.uops if u.op is Ops.RANGE]
    assert turns == [24, 40, 40, 40, 30]


def test_kernels_with_row_buffers_of_different_shapes_are_not_merged():
    quotients = (softmax_of(buffer(n * 40).reshape((n, 40)))[1] for n in (24, 25))
    assert len(kernels(*quotients)) == 2


def test_buffered_rows_are_not_shared_with_reductions_along_the_other_axis():
    x = buffer(24 * 40).reshape((24, 40)).exp2()
    _, quotient = softmax_of(x)
    assert len(kernels(quotient, x.reduce(Ops.ADD, (0,)))) == 2


@pytest.mark.parametrize("device", ["REF", "REF:vector", "CPU"])
def test_values_of_fused_reductions(device):
    rng = numpy.random.default_rng(5)
    one, two, three = (
        rng.standard_normal(shape).astype(numpy.float32) for shape in ((17, 33), (9, 17), (40, 5))
    )
    one[3, 4], two[0, 0], three[7, 1] = numpy.nan, -0.0, numpy.inf
    found = []
    for grouped in (0, 1):
        x, y, z = (Tensor(data, device=device) for data in (one, two, three))
        asked = [x.softmax(), y.sum(0), z.sum(0), z.max(1), (y * 0).sum(1)]
        with settings.override(GROUP_KERNELS=grouped):
            found.append((len(asked[0].schedule(*asked[1:])), [each.numpy() for each in asked]))
    assert found[1][0] < found[0][0]
    for alone, together in zip(found[0][1], found[1][1]):
        numpy.testing.assert_allclose(alone, together, rtol=3e-6, atol=1e-6)


# ---- as text ------------------------------------------------------------------------------------


def momentum():
    value, mean, gradient = buffer(8), buffer(8), buffer(8)
    moved = mean.assign(mean * 0.9 + gradient)
    return moved, value.assign(value - moved * 0.1)


def weights_and_bias():
    x, dy = buffer(8).reshape((4, 2)), buffer(12).reshape((4, 3))
    return matmul(x.permute((1, 0)), dy), dy.reduce(Ops.ADD, (0,))


def sum_and_max():
    x = buffer(12).reshape((3, 4))
    return x.reduce(Ops.ADD, (1,)), x.reduce(Ops.MAX, (1,))


CASES = {
    "softmax_keeps_a_row": lambda: softmax_of(buffer(32).reshape((4, 8)))[1:],
    "powers_are_a_second_output": lambda: softmax_of(buffer(32).reshape((4, 8))),
    "sum_and_max": sum_and_max,
    "two_writes": momentum,
    "weights_and_bias": weights_and_bias,
}


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name, golden):
    parts = []
    for switch in (0, 1):
        with settings.override(GROUP_KERNELS=switch):
            asts = kernels(*CASES[name]())
        parts += [f"# {'after' if switch else 'before'}: {len(asts)} kernels"]
        parts += [to_text(ast) for ast in asts]
    assert "\n\n".join(parts) == golden.file(f"passes/group_kernels/{name}.uop")


def test_a_reduce_is_not_computed_across_the_order_of_memory():
    x = buffer(256 * 256 * 4).reshape((256, 256, 4)).reduce(Ops.ADD, (2,)).reshape((256, 256))
    assert len(kernels(x.permute((1, 0)) + buffer(256 * 256).reshape((256, 256)))) == 2
    assert len(kernels(x + buffer(256 * 256).reshape((256, 256)))) == 1


def test_two_outputs_of_the_same_inputs_in_other_orders_are_one_kernel():
    x, y = (buffer(16).reshape((4, 4)) for _ in range(2))
    mirrored = [value.flip((False, True)) for value in (x, y)]
    less = mirrored[0] < y
    assert len(kernels(less.where(x, mirrored[0]), less.where(y, mirrored[1]))) == 1


def test_steps_within_blocks_share_a_kernel():
    """As of a sorting network: each step reads other places of its block."""
    shape = (2,) * 6
    x = buffer(64).reshape(shape)
    for axis in (5, 4, 5, 3, 4, 5):
        other = x.flip(tuple(n == axis for n in range(6)))
        x = UOp(Ops.CONTIGUOUS, x.dtype, (x + other * 2,))
    (ast,) = kernels(x)
    assert len(rows_in(ast)) == 5


def gradient_and_write(b):
    """Two reduces over rows that read an element of `b` each, and a write to it of their result."""
    x = buffer(24).reshape((4, 6))
    power = (x + b.reshape((4, 1)).expand((4, 6))).exp2()
    norm = power.reduce(Ops.ADD, (1,))
    change = (power * norm.expand((4, 6))).reduce(Ops.MAX, (1,)).reshape((4,))
    return UOp(Ops.ASSIGN, b.dtype, (b, b - change))


def test_an_input_of_a_reduction_is_not_overwritten_in_the_same_kernel():
    b = buffer(4)
    found = kernels(gradient_and_write(b))
    assert len(found) > 1
    other = buffer(4)
    assert len(kernels(UOp(Ops.ASSIGN, b.dtype, (other, gradient_and_write(b).src[1])))) == 1

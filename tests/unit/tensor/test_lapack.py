"""LAPACK by host calls: where they are recorded, their errors, their memory."""

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, settings
from weft.base.errors import CaptureError, GradientError, LinearAlgebraError, ShapeError, SpecError
from weft.engine import lower_schedule_item, stats
from weft.engine.host_functions import HOST_FUNCTIONS
from weft.schedule import ScheduleItem
from weft.tensor.ops.linear_algebra.host_lapack import computes_on_host
from weft.uop import HostCall, Ops, UOp, from_text, to_text

pytestmark = pytest.mark.skipif(
    not computes_on_host(Tensor.eye(2)), reason="the host does not see the memory of this device"
)


def drawn(*shape) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape)


def test_one_item_for_all_results():
    u, s, vh = Tensor(drawn(4, 3)).realize().svd()
    items = u.schedule(s, vh)
    assert [item.ast.op for item in items if item.ast.op is not Ops.SINK] == [Ops.HOST_CALL]
    call = next(item for item in items if item.ast.op is Ops.HOST_CALL)
    assert call.ast.arg.outputs == ((4, 4), (3,), (3, 3)) and len(call.inputs) == 1
    assert call.outputs == (call.bufs[0],) and call.bufs[0].size == call.ast.arg.size


def test_launch_plans_compute_all_results_at_once():
    for _ in range(3):
        x = Tensor(drawn(4, 3)).realize()
        u, s, vh = x.svd()
        more = s.sum()
        stats.reset()
        for each in (s, u, vh):
            each.realize()
        assert (stats.host_calls, stats.kernels) == (1, 0)
        np.testing.assert_allclose((u[:, :3] * s @ vh).numpy(), x.numpy(), atol=1e-9)
        np.testing.assert_allclose(more.item(), s.numpy().sum())


def test_a_plan_does_not_apply_where_another_tensor_reads_the_argument():
    for _ in range(3):
        x = Tensor(drawn(3, 3)).realize() + 1
        u, s, vh = x.svd()
        y = x * 2
        np.testing.assert_allclose((u.realize() * s @ vh).numpy(), x.numpy(), atol=1e-9)
        np.testing.assert_allclose(y.numpy(), 2 * x.numpy())


def test_a_result_that_becomes_a_leaf_keeps_its_gradient():
    for _ in range(3):
        u, s, vh = Tensor(drawn(3, 3)).realize().svd()
        s.requires_grad_(True)
        u.realize()
        (s * s).sum().backward()
        np.testing.assert_allclose(s.grad.numpy(), 2 * s.numpy())


def test_results_are_computed_once_also_when_they_are_read_one_by_one():
    u, s, vh = Tensor(drawn(4, 3)).realize().svd()
    stats.reset()
    for each in (s, u, vh):
        each.realize()
    assert stats.host_calls == 1


def test_the_results_are_windows_at_multiples_of_16_elements():
    call = HostCall("svd", ((4, 3),), ((4, 4), (3,), (3, 3)), (("full_matrices", True),))
    assert call.windows == ((0, 16), (16, 19), (32, 41)) and call.size == 41
    node = UOp(Ops.HOST_CALL, dtypes.float32, (), call)
    assert from_text(to_text(node)) is node


def test_a_write_to_one_result_changes_no_other():
    u, s, vh = Tensor(drawn(3, 3)).svd()
    before = [each.numpy().copy() for each in (u, s, vh)]
    s += 1
    u *= 2
    for got, want in zip((u, s, vh), (before[0] * 2, before[1] + 1, before[2])):
        np.testing.assert_array_equal(got.numpy(), want)


def test_a_write_to_the_argument_changes_no_result():
    x = Tensor(drawn(3, 3)).realize()
    inverse = x.inv()
    before = x.numpy().copy()
    x += 1
    np.testing.assert_allclose(inverse.numpy(), np.linalg.inv(before))
    np.testing.assert_allclose(x.inv().numpy(), np.linalg.inv(before + 1))


def test_arguments_that_are_not_contiguous():
    x = drawn(2, 6, 5)
    for view in (lambda t: t[:, ::2, 1:4], lambda t: t.swapaxes(1, 2)[:, :3, :3],
                 lambda t: t[:, :4, :4][:, ::-1]):  # fmt: skip
        np.testing.assert_allclose(view(Tensor(x)).inv().numpy(), np.linalg.inv(view(x)))
    np.testing.assert_allclose(
        Tensor(x[0, :1, :1]).expand(3, 3).lstsq(Tensor([1.0, 1.0, 1.0])).solution.numpy(),
        np.linalg.lstsq(np.broadcast_to(x[0, :1, :1], (3, 3)), np.ones(3))[0],
        rtol=1e-5,
    )


def test_memory_of_numpy_that_cannot_be_written():
    x = drawn(3, 3)
    x.flags.writeable = False
    np.testing.assert_allclose(Tensor(x).inv().numpy(), np.linalg.inv(x))


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: Tensor.zeros(2, 2).inv(), "Singular"),
        (lambda: Tensor.ones(3, 2, 2).solve(Tensor.ones(2)), "Singular"),
        (lambda: (-Tensor.eye(2)).cholesky(), "positive definite"),
        (lambda: Tensor.full((2, 2), float("nan")).svd().S, "converge"),
        (lambda: Tensor([[0.0, 1.0], [-1.0, 0.0]]).eig().eigenvalues, "complex eigenvalues"),
        (lambda: Tensor.full((2, 2), float("inf")).eig().eigenvalues, "infs or NaNs"),
    ],
)
def test_matrices_without_a_result(call, message):
    x = call()
    with pytest.raises(LinearAlgebraError, match=message) as caught:
        x.realize()
    assert isinstance(caught.value, ValueError) and "asked" in str(caught.value)
    with pytest.raises(LinearAlgebraError):  # it is still pending
        x.numpy()


def test_nan_where_numpy_gives_nan():
    x = Tensor([[float("nan"), 1.0], [1.0, 2.0]])
    for each in (x.inv(), x.det(), x.qr().R, x.solve(Tensor([1.0, 2.0])), x.slogdet().logabsdet):
        assert np.isnan(each.numpy()).any()


def test_a_failed_call_leaves_other_values():
    x = Tensor(drawn(3, 3)).realize()
    y = x + 1
    with pytest.raises(LinearAlgebraError):
        (y - y).inv().realize()
    np.testing.assert_allclose(y.numpy(), x.numpy() + 1)


def test_shapes_that_do_not_fit():
    for call in (lambda: Tensor.ones(2, 3).eig(), lambda: Tensor([1.0]).pinv(),
                 lambda: Tensor.ones(2, 3).lstsq(Tensor.ones(3)), Tensor.ones(2, 3).eigvalsh,
                 Tensor([1.0]).matrix_rank, Tensor([1.0]).svdvals):  # fmt: skip
        with pytest.raises(ShapeError):
            call()


def test_a_function_that_is_not_in_the_table():
    ast = UOp(Ops.HOST_CALL, dtypes.float32, (), HostCall("tan", ((2,),), ((2,),)))
    bufs = tuple(Tensor.ones(2).contiguous().realize()._buffer() for _ in range(2))
    with pytest.raises(SpecError, match="tan"):
        lower_schedule_item(ScheduleItem(ast, bufs))


def test_a_function_without_a_derivative(monkeypatch):
    from weft.autograd import HOST_CALL_VJPS

    monkeypatch.delitem(HOST_CALL_VJPS, "inv")
    x = Tensor.eye(2).requires_grad_(True)
    with pytest.raises(GradientError, match="'inv' has no derivative"):
        x.inv().sum().backward()


def test_every_function_has_a_derivative():
    from weft.autograd import HOST_CALL_VJPS

    assert set(HOST_FUNCTIONS) == set(HOST_CALL_VJPS) | {"matrix_rank"}


def test_a_library_of_c_has_no_host(tmp_path):
    with pytest.raises(CaptureError, match="HOST_CALLS"):
        weft.export_c(lambda x: x.inv(), Tensor.eye(3), folder=tmp_path)
    with settings.override(HOST_CALLS=0):
        assert weft.export_c(
            lambda x: x.inv(), Tensor.eye(3), folder=tmp_path, build=False
        ).exists()


# ---- other ways ----------------------------------------------------------------------------------


def test_kernels_compute_the_same():
    x, b = drawn(2, 4, 4) + 3 * np.eye(4), drawn(4, 2)
    calls = (
        lambda t: t.inv(), lambda t: t.solve(Tensor(b)), lambda t: t.det(),
        lambda t: t.slogdet().logabsdet, lambda t: t.svdvals(), lambda t: t.pinv(),
        lambda t: (t + t.mT).eigvalsh(), lambda t: (t @ t.mT).cholesky(),
        lambda t: t.lstsq(Tensor(b)).solution, lambda t: t.matrix_rank(),
        lambda t: t.pinv(Tensor([0.1, 0.5], dtype=dtypes.float64)),
    )  # fmt: skip
    for call in calls:
        by_lapack = call(Tensor(x)).numpy()
        with settings.override(HOST_CALLS=0):
            np.testing.assert_allclose(call(Tensor(x)).numpy(), by_lapack, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigvalsh", "svdvals", "eig"])
def test_the_reference_device_computes_the_same(name):
    x = np.array([[4.0, 1.0], [1.0, 3.0]])

    def results(device):
        leaf = Tensor(x, device=device, requires_grad=True)
        found = getattr(leaf, name)()
        value = found.eigenvalues if name == "eig" else found
        (value * Tensor.arange(1, value.numel() + 1, device=device).reshape(value.shape)
         ).sum().backward()  # fmt: skip
        return value.numpy(), leaf.grad.numpy()

    for own, reference in zip(results(None), results("REF")):
        np.testing.assert_allclose(own, reference, rtol=1e-9, atol=1e-9)


def test_symbolic_batches_are_computed_by_kernels():
    n = weft.Variable("n", 1, 4).bind(3)
    x = Tensor(drawn(4, 2, 2)).realize()
    part = x[:n].inv()
    np.testing.assert_allclose(part.numpy()[:3], np.linalg.inv(x.numpy()[:3]))

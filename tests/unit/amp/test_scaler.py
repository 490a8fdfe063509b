"""Loss scaling: scale, unscale, skipped steps, the next scale; eager and captured alike."""

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.amp import GradScaler
from weft.base.errors import ArgumentError, GradientError


def _trained(captured, optimizer_kind, overflowing, steps=8, **options):
    """(weights, scale, good steps) after every step of a small problem."""
    w = Tensor([1.0, 2.0], requires_grad=True)
    optimizer = optimizer_kind([w])
    scaler = GradScaler(**{"init_scale": 8.0, "growth_interval": 2, **options})

    def step(x):
        optimizer.zero_grad()
        loss = (w * w * x * x).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.realize()

    run = jit(step) if captured else step
    found = []
    with Tensor.train():
        for number in range(steps):
            run(Tensor([1.0, float("inf") if number in overflowing else 0.5]))
            state = scaler.state_dict()
            found.append((w.tolist(), state.get("scale"), state.get("_growth_tracker")))
    if captured:
        assert run.reason is None and run.replays >= steps - 4
    return found


KINDS = {
    "sgd": lambda params: nn.optim.SGD(params, lr=0.1, momentum=0.9),
    "adam": lambda params: nn.optim.Adam(params, lr=0.1),
    "group": lambda params: nn.optim.OptimizerGroup(nn.optim.AdamW(params, lr=0.1)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_captured_steps_are_those_that_run(kind):
    overflowing = (2, 5)
    eager = _trained(False, KINDS[kind], overflowing)
    assert _trained(True, KINDS[kind], overflowing) == eager
    before = [[1.0, 2.0], *[weights for weights, _, _ in eager]]
    for number in range(8):
        assert (eager[number][0] == before[number]) == (number in overflowing)
    assert [scale for _, scale, _ in eager] == [8.0, 16.0, 8.0, 8.0, 16.0, 8.0, 8.0, 16.0]
    assert [count for _, _, count in eager] == [1, 0, 0, 1, 0, 0, 1, 0]


def test_scaling_changes_no_step_where_nothing_overflows():
    scaled = _trained(False, KINDS["adam"], (), growth_interval=3)
    plain = _trained(False, KINDS["adam"], (), enabled=False)
    for (mine, _, _), (expected, scale, _) in zip(scaled, plain):
        assert mine == pytest.approx(expected, rel=1e-6)
        assert scale is None


def test_small_gradients_of_halves_are_kept_by_scaling():
    def gradient(scaler):
        w = Tensor([1.0], requires_grad=True)
        loss = (w.half() * Tensor([3e-5], dtype="float16")).sum() * 1e-4
        scaler.scale(loss).backward()
        if scaler.is_enabled():
            scaler.unscale_(nn.optim.SGD([w]))
        return w.grad.item()

    assert gradient(GradScaler(enabled=False)) == pytest.approx(0, abs=1e-12)
    assert gradient(GradScaler(init_scale=1024.0)) == pytest.approx(3e-9, rel=0.03)


def test_unscaled_gradients_can_be_clipped():
    w = Tensor([3.0, 4.0], requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=1.0)
    scaler = GradScaler(init_scale=1024.0)
    with Tensor.train():
        scaler.scale((w * w).sum() / 2).backward()
        assert w.grad.tolist() == [3072.0, 4096.0]
        scaler.unscale_(optimizer)
        assert w.grad.tolist() == [3.0, 4.0]
        w.grad = w.grad / 5
        scaler.step(optimizer)
        scaler.update()
    assert w.numpy() == pytest.approx([2.4, 3.2], rel=1e-6)


def test_two_optimisers_each_by_its_own_gradients():
    a, b = Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=True)
    of_a, of_b = nn.optim.SGD([a], lr=0.5), nn.optim.SGD([b], lr=0.5)
    scaler = GradScaler(init_scale=4.0)
    with Tensor.train():
        scaler.scale((a * 1.0 + b * float("inf")).sum()).backward()
        scaler.step(of_a)
        scaler.step(of_b)
        scaler.update()
    assert (a.item(), b.item(), scaler.get_scale()) == (0.5, 1.0, 2.0)


def test_scaled_containers():
    scaler = GradScaler(init_scale=2.0)
    one, (two, three) = scaler.scale([Tensor([1.0]), (Tensor([2.0]), Tensor([3.0]))])
    assert [each.item() for each in (one, two, three)] == [2.0, 4.0, 6.0]
    assert scaler.scale({"a": Tensor(1.0)})["a"].item() == 2.0
    with pytest.raises(ArgumentError, match="list, tuple or dict"):
        scaler.scale("loss")


def test_a_saved_state_goes_on():
    first = GradScaler(init_scale=32.0, growth_interval=5, backoff_factor=0.25)
    first.update(16.0)
    second = GradScaler()
    second.load_state_dict(first.state_dict())
    assert second.state_dict() == first.state_dict()
    assert second.get_scale() == 16.0
    assert second.get_growth_interval() == 5
    assert (second.get_growth_factor(), second.get_backoff_factor()) == (2.0, 0.25)
    with pytest.raises(ArgumentError, match="says nothing"):
        second.load_state_dict(GradScaler(enabled=False).state_dict())


def test_the_order_of_calls_is_checked():
    w = Tensor([1.0], requires_grad=True)
    optimizer = nn.optim.SGD([w])
    scaler = GradScaler()
    with pytest.raises(GradientError, match="nothing is known"):
        scaler.update()
    with pytest.raises(GradientError, match="no parameter"):
        scaler.unscale_(optimizer)
    scaler.scale(w.sum()).backward()
    with Tensor.train():
        scaler.step(optimizer)
        with pytest.raises(GradientError, match="made its step"):
            scaler.step(optimizer)
    with pytest.raises(GradientError, match="have been unscaled"):
        scaler.unscale_(optimizer)
    scaler.update()


def test_factors_that_do_not_adapt_are_refused():
    for options in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}, {"growth_interval": 0}):
        with pytest.raises(ArgumentError):
            GradScaler(**options)


def test_the_scale_stays_finite():
    w = Tensor([0.0], requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=0.0)
    scaler = GradScaler(init_scale=float(np.finfo(np.float32).max), growth_interval=1)
    with Tensor.train():
        scaler.scale((w * 0).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert np.isfinite(scaler.get_scale())


def test_equals_pytorch():
    torch = pytest.importorskip("torch")

    ours = _trained(False, lambda params: nn.optim.SGD(params, lr=0.1), (1, 4), steps=7)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for number, (weights, scale, count) in enumerate(ours):
        optimizer.zero_grad()
        x = torch.tensor([1.0, float("inf") if number in (1, 4) else 0.5])
        scaler.scale((w * w * x * x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        assert weights == pytest.approx(w.tolist(), rel=1e-6)
        assert (scale, count) == (state["scale"], state["_growth_tracker"])

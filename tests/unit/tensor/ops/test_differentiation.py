"""`retain_grad`, and leaves that no name refers to any more."""

import gc

import pytest

import weft
from weft import Tensor, jit
from weft.base.errors import GradientError


def test_a_value_on_the_way_gets_its_gradient_where_it_is_asked_for():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = x * 3
    y.retain_grad()
    (y * y + z).sum().backward()
    assert y.grad.tolist() == [4.0, 8.0]
    assert z.grad is None
    assert x.grad.tolist() == [11.0, 19.0]
    assert (y.is_leaf, y.retains_grad, z.retains_grad, x.retains_grad) == (
        False,
        True,
        False,
        False,
    )
    assert y.grad.requires_grad is False


def test_it_may_be_asked_for_after_the_value_was_used_and_accumulates():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    loss = (y * y).sum()
    y.retain_grad()
    loss.backward()
    loss.backward()
    assert y.grad.tolist() == [8.0, 16.0]
    y.grad = None
    loss.backward()
    assert y.grad.tolist() == [4.0, 8.0]


@pytest.mark.parametrize("when", ["before", "after"])
def test_it_may_have_been_computed(when):
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    if when == "before":
        y.retain_grad()
    loss = (y * y).sum()
    y.realize()
    loss.realize()
    y.retain_grad()
    loss.backward()
    assert y.grad.tolist() == [4.0, 8.0]
    assert x.grad.tolist() == [8.0, 16.0]


def test_on_a_leaf_it_changes_nothing():
    x = Tensor([1.0], requires_grad=True)
    x.retain_grad()
    assert not x.retains_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_retain_grad_needs_requires_grad():
    with pytest.raises(GradientError, match="none to retain"):
        Tensor([1.0]).retain_grad()
    with pytest.raises(GradientError, match="none to retain"):
        Tensor([1.0], requires_grad=True).detach().retain_grad()


def test_retained_gradients_are_freed_with_their_tensor():
    from weft.tensor.ops import differentiation

    before = len(differentiation._retaining)
    y = (Tensor([1.0], requires_grad=True) * 2).retain_grad()
    assert len(differentiation._retaining) == before + 1
    del y
    gc.collect()
    assert len(differentiation._retaining) == before


def test_in_a_captured_function():
    @jit
    def step(x):
        weight = Tensor([3.0, 4.0], requires_grad=True)
        y = (weight * x).retain_grad()
        (y * y).sum().backward()
        return y.grad, weight.grad

    for i in range(4):
        y, weight = step(Tensor([1.0, float(i)]))
        assert y.tolist() == [6.0, 8.0 * i]
        assert weight.tolist() == [6.0, 8.0 * i * i]
    assert step.replays == 2


def test_a_leaf_that_only_the_graph_holds_is_an_end_of_it():
    loss = (Tensor([1.0, 2.0], requires_grad=True) * 3).sum()
    assert loss.backward().item() == 9.0


@pytest.mark.parametrize("computed", [False, True])
def test_a_value_of_such_a_leaf_takes_part(computed):
    weight = Tensor([1.0, 2.0], requires_grad=True)
    hidden = (Tensor([1.0, 2.0]) + 1).requires_grad_() * 3
    if computed:
        hidden.realize()
    hidden.retain_grad()
    (hidden * weight).sum().backward()
    assert weight.grad.tolist() == [6.0, 9.0]
    assert hidden.grad.tolist() == [1.0, 2.0]


def test_leaves_without_a_name():
    x = Tensor([1.0, 2.0], requires_grad=True)
    x = x.exp()
    x = (x * x).retain_grad()
    x.realize()
    x.log().sum().backward()
    assert x.grad.numpy() == pytest.approx([0.1353352832, 0.0183156389], rel=1e-5)


def test_leaves_in_containers():
    leaves = [Tensor([float(i)], requires_grad=True) for i in range(3)]
    total = sum((x * x for x in leaves), Tensor([0.0]))
    total.sum().backward()
    assert [x.grad.tolist() for x in leaves] == [[0.0], [2.0], [4.0]]


def test_leaves_that_became_constants():
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.requires_grad_(False)
    with pytest.raises(GradientError, match="no leaf to reach"):
        (x * 2).sum().backward()
    y = Tensor([1.0, 2.0], requires_grad=True)
    y.requires_grad = None
    with pytest.raises(GradientError, match="no leaf to reach"):
        (y * 2).sum().backward()


def test_grad_fn_has_a_hint():
    with pytest.raises(AttributeError, match="is_leaf"):
        _ = Tensor([1.0]).grad_fn


def test_equals_pytorch():
    torch = pytest.importorskip("torch")
    values = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]

    def run(tensor, leaf):
        x = leaf(values)
        hidden = (x.reshape(3, 2) * 2).tanh()
        hidden.retain_grad()
        other = hidden.exp() * leaf([3.0, -1.0])  # a leaf that has no name
        other.retain_grad()
        loss = (other.sum(0) * hidden.sum(0)).sum()
        loss.backward()
        return [t.grad.detach().numpy() for t in (x, hidden, other)]

    ours = run(Tensor, lambda v: Tensor(v, requires_grad=True))
    theirs = run(torch.tensor, lambda v: torch.tensor(v, requires_grad=True))
    for mine, expected in zip(ours, theirs):
        assert mine == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    "step",
    [
        lambda x: x.cast("int32").float(),
        lambda x: (x > 1).float(),
        lambda x: x.detach() * 2,
        lambda x: x.argmax().float(),
        lambda x: x.sort()[1].float(),
        lambda x: Tensor([1.0, 2.0])[x.cast("int32") - 1],
    ],
)
@pytest.mark.parametrize("read", [False, True])
def test_a_value_of_which_no_step_is_differentiable_says_so(step, read):
    x = Tensor([1.0, 2.0], requires_grad=True)
    loss = step(x).sum()
    if read:
        loss.item()
    with pytest.raises(GradientError, match="there is no leaf to reach"):
        loss.backward()
    with pytest.raises(GradientError, match="does not depend on this target"):
        loss.gradient(x)
    assert loss.gradient(x, materialize_grads=True)[0].tolist() == [0.0, 0.0]
    (loss + (x * 2).sum()).backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("name", ["round", "sign", "floor", "ceil", "trunc", "angle"])
def test_step_functions_require_gradients_that_are_zero(name):
    x = Tensor([1.2, -0.5], requires_grad=True)
    y = getattr(x, name)()
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_the_gradient_of_frexp_is_that_of_the_mantissa():
    x = Tensor([6.0, -0.3, 1.0], requires_grad=True)
    mantissa, exponent = weft.frexp(x)
    assert exponent.requires_grad is not True
    (gradient,) = (mantissa * Tensor([1.0, 10.0, 100.0])).sum().gradient(x)
    assert gradient.tolist() == [0.125, 20.0, 50.0]

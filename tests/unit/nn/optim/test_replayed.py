"""Steps that are replayed: the same as steps that are recorded again."""

import copy
import pickle

import numpy as np
import pytest

from weft import Tensor, dtypes, nn


def taken(optimizer):
    return [value for name, value in vars(optimizer).items() if name.startswith("jit of")]


@pytest.mark.parametrize(
    "make",
    [
        lambda params: nn.optim.SGD(params, lr=0.1),
        lambda params: nn.optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.5),
        lambda params: nn.optim.Adam(params, lr=0.1, amsgrad=True),
        lambda params: nn.optim.AdamW(params, lr=0.1),
    ],
)
def test_replayed_steps_equal_recorded_ones(make):
    def trained(step):
        first = Tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]])
        second = Tensor([0.1, -0.2], dtype=dtypes.float16)
        optimizer = make([first, second])
        found = []
        with Tensor.train():
            for number in range(6):
                optimizer.zero_grad()
                x = Tensor([[number + 1.0, -1.0]])
                loss = ((x @ first).sum() + (second if number != 3 else 1.0)).exp().sum() * 0.01
                loss.backward()
                step(optimizer)
                found += [loss, *[p.grad for p in optimizer.params]]
                if number == 4:
                    optimizer.lr = 0.01
        found = [None if each is None else each.tolist() for each in found]
        return optimizer, [*found, *[p.tolist() for p in optimizer.params]]

    optimizer, found = trained(lambda optimizer: optimizer.step())
    _, expected = trained(lambda optimizer: Tensor.realize(*optimizer.schedule_step()))
    for one, other in zip(found, expected, strict=True):
        if one is None or other is None:
            assert one is other
        else:
            np.testing.assert_allclose(one, other, rtol=2e-3 if one is found[-1] else 1e-5)
    (captured,) = taken(optimizer)
    assert captured.replays >= 2 and captured.reason is None


def test_pending_readers_get_the_old_values_in_replays():
    w = Tensor([1.0, 2.0])
    optimizer = nn.optim.SGD([w], lr=1.0)
    with Tensor.train():
        for _ in range(5):
            optimizer.zero_grad()
            old = w.tolist()
            pending, seen, copy = w * 2, w.reshape(2, 1), w.reshape(2, 1).contiguous()
            loss = w.sum()
            loss.backward()
            optimizer.step()
            assert pending.tolist() == [each * 2 for each in old]
            assert copy.tolist() == [[each] for each in old]
            assert seen.tolist() == [[each - 1] for each in old]
            assert loss.item() == sum(old) and w.grad.tolist() == [1.0, 1.0]
            assert w.tolist() == [each - 1 for each in old]


def test_gradients_are_back_where_a_step_fails(monkeypatch):
    w = Tensor([1.0])
    optimizer = nn.optim.SGD([w])
    with Tensor.train():
        (w * w).sum().backward()
        gradient = w.grad
        monkeypatch.setattr(nn.optim.SGD, "_change", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            optimizer.step()
    assert w.grad is gradient


def test_kinds_of_ones_own_run_as_written():
    class Own(nn.optim.SGD):
        def _change(self, index, value, gradient):
            return gradient * abs(value.sum().item()), []

    w = Tensor([2.0])
    optimizer = Own([w])
    with Tensor.train():
        for expected in (-6.0, 66.0):  # w - 2w |w|
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
            assert w.item() == expected
    assert not taken(optimizer)


def test_an_optimiser_that_was_replayed_can_be_saved_and_copied():
    w = Tensor([1.0])
    optimizer = nn.optim.Adam([w])
    names = list(nn.state.get_state_dict(optimizer))
    with Tensor.train():
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
    assert list(nn.state.get_state_dict(optimizer)) == names
    other = copy.deepcopy(optimizer)
    with Tensor.train():
        (other.params[0] * 3).sum().backward()
        other.step()
    assert other.params[0].item() != w.item()
    assert pickle.loads(pickle.dumps(optimizer)).params[0].item() == w.item()

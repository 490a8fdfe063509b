"""Several optimisers as one."""

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, GradientError
from weft.nn.optim import SGD, Adam, OptimizerGroup


def two():
    return Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=True)


def test_each_moves_its_own():
    a, b = two()
    group = OptimizerGroup(SGD([a], 0.5), Adam([b], 0.25))
    with Tensor.train():
        (a * 2 + b).sum().backward()
        group.step()
        assert (a.item(), b.item()) == (0.0, pytest.approx(0.75))
        group.zero_grad()
        (a * 2).sum().backward()
        group.step()
    assert (a.item(), b.item()) == (-1.0, pytest.approx(0.75))
    assert group.params == [a, b] and group[1].params == [b]


def test_invalid_groups():
    a, b = two()
    with pytest.raises(ArgumentError, match="needs optimisers"):
        OptimizerGroup()
    with pytest.raises(ArgumentError, match="two optimisers"):
        OptimizerGroup(SGD([a, b]), SGD([b]))
    with Tensor.train(), pytest.raises(GradientError):
        OptimizerGroup(SGD([a]), SGD([b])).step()


def test_the_state_of_a_group():
    first, second = (
        OptimizerGroup(SGD([a], 0.5, momentum=0.5), Adam([b], 0.25)) for a, b in (two(), two())
    )
    sum(each.sum() for each in first.params).backward()
    first.step()
    second.load_state_dict(first.state_dict())
    assert second[0].velocity[0].item() == 1.0
    assert [group["lr"] for group in second.param_groups] == [0.5, 0.25]
    with pytest.raises(ArgumentError, match="another group"):
        second.load_state_dict([])

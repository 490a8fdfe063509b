"""Random programs of views and writes, beside NumPy; with gradients, beside PyTorch."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import GradientError
from weft.testing.programs import Drawn
from weft.testing.view_programs import check_program


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_views_and_writes_beside_numpy(data):
    check_program(Drawn(data.draw))


VIEWS = ("[1:]", "[::2]", "[:, 0]", "[1]", ".T", ".reshape(-1)", ".reshape(3, 2)", "[:, 1:]", "")


def gradient_program(seed):
    """Lines that both libraries carry out, over leaves x and u, and the names that they make."""
    choose = random.Random(seed)
    shapes = {"x": (2, 3), "u": (2, 3)}
    lines, kinds = [], {"x": "leaf", "u": "leaf"}
    for number in range(choose.randint(2, 9)):
        name = choose.choice(list(shapes))
        shape, how = shapes[name], choose.randint(0, 5)
        made = f"t{number}"
        other = choose.choice([n for n in shapes if shapes[n] == shape])
        if how <= 1 or kinds[name] == "leaf":
            lines.append(f"{made} = {name} * {choose.choice([2.0, -1.5, other])}")
            shapes[made], kinds[made] = shape, "computed"
        elif how <= 3:
            text = choose.choice(VIEWS)
            new = _shape_after(shape, text)
            if new is not None:
                lines.append(f"{made} = {name}{text or '.reshape(' + str(shape) + ')'}")
                shapes[made], kinds[made] = new, "view"
        elif how == 4:
            lines.append(f"{name} {choose.choice(['*=', '+='])} {choose.choice([3.0, other])}")
        else:
            lines.append(f"{name}[:1] = {choose.choice([4.0, other + '[:1] * 2'])}")
    return lines, list(shapes)


def _shape_after(shape, text):
    import numpy as np

    try:
        return eval(f"a{text}", {"a": np.empty(shape)}).shape or None
    except (IndexError, ValueError):
        return None


def run(lines, names, make):
    known = {"x": make([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "u": make([[0.5] * 3, [2.0] * 3])}
    x, u = known["x"], known["u"]
    for line in lines:
        exec(line, known)
    loss = 0
    for place, name in enumerate(n for n in names if n in known):
        loss = loss + (known[name] * known[name] * (place + 1)).sum()
    loss.backward()
    values = [known[n].tolist() for n in names]
    return values, [None if t.grad is None else t.grad.tolist() for t in (x, u)]


def check_gradients(seed):
    torch = pytest.importorskip("torch")
    lines, names = gradient_program(seed)

    def leaf(data):
        return torch.tensor(data, dtype=torch.float64, requires_grad=True)

    try:
        expected = run(lines, names, leaf)
    except RuntimeError:
        expected = None  # PyTorch has overwritten what it needs; here it may be there
    try:
        found = run(lines, names, lambda d: Tensor(d, dtype="float64", requires_grad=True))
    except GradientError:
        assert expected is None, "\n".join(lines)
        return
    if expected is not None:
        for one, other in zip(_flat(found), _flat(expected)):
            assert one == pytest.approx(other, rel=1e-9), "\n".join(lines)


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flat(item)]
    return [0.0 if value is None else value]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_gradients_of_writes_through_views_beside_torch(seed):
    check_gradients(seed)

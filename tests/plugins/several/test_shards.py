"""Values in parts on different devices of one family, and of several: no result depends on it."""

import numpy
import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.testing.programs import EVERYTHING, HAZARDS, Refused, Seeded, run_program

LAYOUTS = [
    ("REF", "REF:vector", "REF:grid"),
    ("CPU", "CPU:1"),
    ("CPU", "REF"),
    ("CPU", "OPENCL", "REF"),
    ("TOY", "CPU", "REF:1"),
]


def rows(count):
    return numpy.random.default_rng(count).normal(size=(count, 4)).astype(numpy.float32)


@pytest.mark.parametrize("names", LAYOUTS, ids="+".join)
@pytest.mark.parametrize("ring", [0, 2])
def test_sums_over_all_parts(names, ring, opened):
    """Tree and ring: every part has the same bits of the sum afterwards."""
    opened(*names)
    a = rows(7)
    with settings.override(RING=ring):
        x = Tensor(a, device=names[0]).shard(names, 0)
        total = x.sum(0).realize()
        product = (x.T @ x).realize()
    numpy.testing.assert_allclose(total.numpy(), a.sum(0), rtol=1e-5)
    numpy.testing.assert_allclose(product.numpy(), a.T @ a, rtol=1e-4, atol=1e-5)
    parts = total.shards()
    assert [part.device for part in parts] == [
        Tensor.empty(1, device=name).device for name in names
    ]
    assert len({part.numpy().tobytes() for part in parts}) == 1


@pytest.mark.parametrize("names", LAYOUTS, ids="+".join)
def test_a_gradient_through_parts(names, opened):
    opened(*names)
    a, b = rows(6), rows(5).T
    x = Tensor(a, device=names[0]).shard(names, 0)
    w = Tensor(b, device=names[0], requires_grad=True).shard_(names)
    (x @ w).relu().sum().backward()
    passed = (a @ b > 0).astype(numpy.float32)
    numpy.testing.assert_allclose(w.grad.numpy(), a.T @ passed, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_random_programs(seed, opened):
    names = opened(*LAYOUTS[seed % len(LAYOUTS)])
    try:
        weights = HAZARDS if seed % 2 else EVERYTHING
        run_program(Seeded(7000 + seed), weights, most=8, devices=names, RING=seed % 3)
    except Refused:
        pytest.skip("the scheduler refuses this program on every device")

"""Random layouts of one value on a mesh, one after another, compared with the value itself."""

import random

import numpy as np

from weft import Device, P, Tensor, dtypes, jit

DTYPES = (dtypes.float32, dtypes.int32, dtypes.int16, dtypes.float64)


def check_reshardings(seed: int, devices: tuple[str, ...]) -> None:
    """Lay a random value out several times, with a step of arithmetic between, on these devices.

    Every other seed captures the steps. Raises AssertionError where a value differs.
    """
    drawn = random.Random(seed)
    mesh = _mesh(drawn, devices)
    shape = tuple(drawn.randint(1, 7) for _ in range(drawn.randint(1, 3)))
    expected = np.arange(np.prod(shape), dtype=np.int64).reshape(shape) % 7
    x = Tensor(expected).cast(drawn.choice(DTYPES)).shard(mesh, _layout(drawn, mesh, len(shape)))
    if drawn.random() < 0.5:
        x = x.realize()
    steps = [
        (_layout(drawn, mesh, len(shape)), drawn.choice(("add", "flip", "sum", "none")))
        for _ in range(drawn.randint(1, 4))
    ]

    def run(value: Tensor) -> Tensor:
        for layout, step in steps:
            value = _step(value.shard(mesh, layout), step)
        return value

    for _, step in steps:
        expected = _step(expected, step)
    program = f"{shape} {x.dtype} on {mesh}: {x.layout}, then {steps}"
    captured = jit(run) if seed % 2 else run
    for _ in range(3 if seed % 2 else 1):
        np.testing.assert_array_equal(captured(x).numpy(), expected, err_msg=program)


def _mesh(drawn, devices):
    count = len(devices)
    sides = [n for n in range(2, count) if count % n == 0]
    if sides and drawn.random() < 0.7:
        side = drawn.choice(sides)
        return Device.mesh(("a", side), ("b", count // side), devices=devices)
    return Device.mesh(("a", count), devices=devices)


def _layout(drawn, mesh, ndim):
    """A random layout: each axis of the mesh cuts an axis of the value, or none."""
    cuts = [[] for _ in range(ndim)]
    for name in mesh.axes:
        axis = drawn.randint(-1, ndim - 1)
        if axis >= 0:
            cuts[axis].append(name)
    return P(*(tuple(names) if len(names) > 1 else (names or [None])[0] for names in cuts))


def _step(value, step):
    """A step of arithmetic, of a tensor or of an array."""
    if step == "add":
        return value + value
    if step == "flip":
        return np.flip(value, 0) if isinstance(value, np.ndarray) else value.flip(0)
    if step == "sum":
        total = value.sum(0, keepdims=True)
        return value - (total if isinstance(value, np.ndarray) else total.cast(value.dtype))
    return value

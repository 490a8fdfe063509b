"""The gradient of every method there is, and the gradient of that, against central differences.

The methods are those of the table of operations (`cases.operations_table`), which names every
public one; none is left out in silence. All in float64, evaluated by the oracle, at places where no
choice changes within a step.
"""

import numpy as np
import pytest

import cases.operations_table.networks
import cases.operations_table.shapes
import cases.operations_table.torch_names
import cases.torch_cases.elementwise
import cases.torch_cases.linear_algebra
import cases.torch_cases.networks
import cases.torch_cases.shapes
import cases.torch_cases.torch_names
from cases.operations_table.cells import Maker
from cases.operations_table.elementwise import CHECKS
from cases.torch_cases import FAMILIES
from helpers.oracle import evaluated_by_oracle
from weft import Tensor, dtypes

LOADED = (cases.operations_table, cases.torch_cases)  # whose modules enter their checks and cases

STEP = 1e-5
RANGES = {
    "acos": (-0.9, 0.9), "acosh": (1.2, 3), "asin": (-0.9, 0.9), "atanh": (-0.9, 0.9),
    "log": (0.2, 3), "log10": (0.2, 3), "log1p": (-0.8, 3), "log2": (0.2, 3), "rsqrt": (0.2, 3),
    "sqrt": (0.2, 3),
}  # fmt: skip
"""Where a function of one number is one."""

SECOND_ABOVE_0 = ("fmod", "mod", "remainder", "xlogy")
FIRST_ABOVE_0 = ("pow", "float_power")

ELSEWHERE = {
    **dict.fromkeys(
        ("half", "bfloat16", "float", "llvm_bf16_cast"),
        "rounds, so that differences are of steps; test_short_floats_and_conversions",
    ),
    **dict.fromkeys(
        ("data", "detach", "item", "tolist", "unique"),
        "ends the way back; test_gradients_accumulate_and_stop_at_detach",
    ),
    "kernelize": "is nothing that the oracle has; test_looking_changes_no_gradient",
}
"""What differences do not tell of, why, and where it is tested."""


ITERATED = ("qr", "svd", "eigh")  # whose second derivatives take long; the cases of PyTorch do less

OTHER_NAMES = {
    "arctan2": "atan2", "assign": "written on the way", "broadcast_to": "expand",
    "cartesian_prod": "meshgrid", "clamp_max": "clamp", "clip": "clamp", "concat": "cat",
    "concatenate": "cat", "copy_": "written on the way", "divide": "div", "divmod": "mod",
    "empty_like": "mul", "expand_as": "expand", "expand_dims": "unsqueeze",
    "image_conv2d": "conv2d", "image_dot": "dot", "moveaxis": "permute", "multiply": "mul",
    "permute_dims": "permute", "realize": "read on the way", "rearrange": "permute",
    "remainder": "mod", "replace": "clone", "reshape_as": "reshape", "sequential": "flip",
    "shrink": "getitem", "subtract": "sub", "swapdims": "transpose",
    "take_along_axis": "gather", "to": "clone", "to_": "clone", "true_divide": "div",
    "unstack": "split", "view_as": "view",
}  # fmt: skip
"""Methods that PyTorch is compared with under another name of the same."""

FAMILY_NAMES = {*FAMILIES, *(name.split()[0] for name in FAMILIES)}


def is_compared_with_torch(name):
    """Whether random cases compare a method with PyTorch; one that writes, by its value."""
    return bool({OTHER_NAMES.get(name, name), name.removesuffix("_")} & FAMILY_NAMES)


class Smooth(Maker):
    """Numbers that are away from each other, from 0, and from whole numbers and halves."""

    def grid(self, *shape, low=-4, high=4):
        count = int(np.prod(shape))
        self.called = getattr(self, "called", 0) + 1
        steps = (np.arange(count) * 0.618033988749895 + 0.171 * self.called) % 1.0
        values = low + (high - low) * (0.04 + 0.92 * steps)
        near = np.abs(values * 2 - np.round(values * 2)) < 0.02
        return self.random.permutation(values + near * 0.037).reshape(shape)

    def calm(self, *shape):
        return self.grid(*shape, low=0.5, high=2) * self.random.choice([-1, 1], shape)

    def apart(self, *shape):
        return self.grid(*shape, low=-3, high=3)

    def edges(self):
        return self.grid(7, low=-2, high=2)

    def line(self, count=12):
        return self.grid(12, low=-2, high=2)

    def every(self, count=0):
        return self.line()

    def pairs(self):
        return [self.grid(9, low=-2, high=2), self.grid(9, low=0.3, high=2)]


def called(check, arrays):
    """The float results of a method, as one number; None where there is none."""
    if check.name in ("cholesky", "eigh", "eigvalsh"):  # of symmetric matrices
        arrays = [(arrays[0] + arrays[0].transpose(0, 1)) * 0.5]
    found = check.call(*arrays)
    total = None
    for number, one in enumerate(found if isinstance(found, (tuple, list)) else [found]):
        if isinstance(one, Tensor) and dtypes.is_float(one.dtype) and one.numel():
            weights = np.cos(np.arange(one.numel()) * 1.7 + number).reshape(one.shape) + 1.3
            part = (one.double() * Tensor(weights)).sum()
            total = part if total is None else total + part
    return total


def places(array):
    return list(np.ndindex(array.shape))[:: max(1, array.size // 4)]


def moved(arrays, number, place, step):
    changed = [a.copy() for a in arrays]
    changed[number][place] += step
    return changed


def slopes(value, arrays, numbers):
    """(input, place, slope by central differences) at some places."""
    for number in numbers:
        for place in places(arrays[number]):
            ends = [value(moved(arrays, number, place, s)) for s in (STEP, -STEP)]
            yield number, place, (ends[0] - ends[1]) / (2 * STEP)


def inputs_of(check):
    maker = Smooth(dtypes.float64, check.name)
    if check.name in RANGES:
        low, high = RANGES[check.name]
        return [maker.grid(9, low=low, high=high)]
    if check.name in (*FIRST_ABOVE_0, *SECOND_ABOVE_0):
        positive, any_sign = maker.grid(9, low=0.3, high=2), maker.grid(9, low=-2, high=2)
        return [any_sign, positive] if check.name in SECOND_ABOVE_0 else [positive, any_sign]
    if check.name in ("svd", "svdvals", "cholesky", "eigh", "eigvalsh"):
        # none of the singular values twice
        return [np.diag([1.0, 2.5, 4.0]) * 3 + maker.grid(3, 3, low=-1, high=1)]
    return [np.asarray(a) for a in check.inputs(maker)]


def is_smooth(check):
    return not check.creates and check.takes(dtypes.float64) and check.name not in ELSEWHERE


SMOOTH = sorted(name for name in CHECKS if is_smooth(CHECKS[name]))


def first_derivative(check, arrays, numbers):
    """The gradient with respect to each of the inputs, as a function of arrays."""

    def at(values):
        tensors = [Tensor(a) for a in values]
        for number in numbers:
            tensors[number].requires_grad_()
        total = called(check, tensors)
        if total is None or not total.requires_grad:
            return None, tensors
        wanted = [tensors[number] for number in numbers]
        return total.gradient(*wanted, materialize_grads=True), tensors

    return at


def agree(got, slope, scale):
    return abs(got - slope) <= 1e-5 * abs(slope) + 1e-6 * scale


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    check = CHECKS[name]
    arrays = inputs_of(check)
    numbers = [i for i, a in enumerate(arrays) if a.dtype == np.float64 and a.size]
    with evaluated_by_oracle():

        def value(values):
            total = called(check, [Tensor(a) for a in values])
            return 0.0 if total is None else total.item()

        derivative = first_derivative(check, arrays, numbers)
        first, tensors = derivative(arrays)
        known = [np.zeros(a.shape) for a in arrays]
        if first is not None:
            second = sum((g * g * 0.5 + g).sum() for g in first)
            deeper = None
            if name not in ITERATED:
                wanted = [tensors[number] for number in numbers]
                deeper = second.gradient(*wanted, materialize_grads=True)
                deeper = [g.numpy() for g in deeper]
            for number, gradient in zip(numbers, first):
                known[number] = gradient.numpy()
        flat = all(np.abs(k).max(initial=0) == 0 for k in known)
        assert flat or is_compared_with_torch(name), "enter a family of cases, or its other name"
        scale = max([1.0, *(np.abs(k).max(initial=0) for k in known)])
        for number, place, slope in slopes(value, arrays, numbers):
            assert agree(known[number][place], slope, scale), (number, place, slope)
        if first is None or deeper is None:
            return

        def gradient_value(values):
            found, _ = derivative(values)
            return sum((g * g * 0.5 + g).sum() for g in found).item()

        scale = max([1.0, *(np.abs(d).max(initial=0) for d in deeper)])
        for number, place, slope in slopes(gradient_value, arrays, numbers):
            got = deeper[numbers.index(number)][place]
            assert agree(got, slope, 10 * scale), ("second", number, place, got, slope)


def test_other_names_are_names():
    assert set(OTHER_NAMES) <= set(CHECKS) and set(OTHER_NAMES.values()) <= FAMILY_NAMES
    assert set(ELSEWHERE) <= set(CHECKS)

"""Elementwise operators with broadcasting, casts, comparisons, and choices."""

from __future__ import annotations

import numpy as np
from onnx import helper

from helpers.onnx_graphs.drawing import BOOL, EVERY, FLOATS, INTEGERS, NUMBERS, UNSIGNED, Drawing

EXACT_UNARY = ("Abs", "Neg", "Sign", "Relu", "Identity")
JUMPS = ("Floor", "Ceil", "Round", "Sign")
SMOOTH = (
    "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asinh", "Atan", "Erf", "Sigmoid", "Softplus",
    "Softsign", "Exp", "HardSwish", "Mish", "Gelu", "Swish", "Reciprocal",
)  # fmt: skip
ACTIVATIONS: dict[str, dict[str, tuple[float, float]]] = {
    "Elu": {"alpha": (0.5, 2.0)}, "LeakyRelu": {"alpha": (0.01, 0.5)},
    "Selu": {"alpha": (1.0, 2.0), "gamma": (1.0, 2.0)}, "Celu": {"alpha": (0.5, 2.0)},
    "HardSigmoid": {"alpha": (0.1, 0.5), "beta": (0.0, 1.0)},
    "ThresholdedRelu": {"alpha": (0.5, 2.0)}, "Shrink": {"lambd": (0.3, 1.0), "bias": (0.0, 0.5)},
}  # fmt: skip


def unary(drawing: Drawing) -> None:
    op = drawing.choice(EXACT_UNARY)
    kinds = NUMBERS if op in ("Abs", "Neg", "Sign") else FLOATS
    drawing.node(op, [drawing.pick(EVERY if op == "Identity" else kinds)], exact=True)


def jump(drawing: Drawing) -> None:
    drawing.node(drawing.choice(JUMPS), [drawing.pick(FLOATS, exact=True)], exact=True)


def smooth(drawing: Drawing) -> None:
    op = drawing.choice(SMOOTH)
    attributes = {}
    if op == "Gelu" and drawing.chance(0.5):
        attributes["approximate"] = drawing.choice(("none", "tanh"))
    if op == "Swish" and drawing.chance(0.5):
        attributes["alpha"] = 1.5
    drawing.node(op, [drawing.pick(FLOATS)], **attributes)


def limited_domain(drawing: Drawing) -> None:
    """Operators that are defined in an interval: the input is new."""
    op, low, high = drawing.choice(
        (("Log", 0, 5), ("Sqrt", 0, 9), ("Asin", -1, 1), ("Acos", -1, 1), ("Atanh", -1, 1),
         ("Acosh", 1, 5))
    )  # fmt: skip
    dtype = drawing.dtype(FLOATS)
    drawing.node(op, [drawing.value(drawing.array(drawing.shape(), dtype, low, high))])


def activation(drawing: Drawing) -> None:
    op = drawing.choice(sorted(ACTIVATIONS))
    value = drawing.pick(FLOATS, exact=op in ("ThresholdedRelu", "Shrink"))
    drawing.node(op, [value], **{
        name: drawing.random.uniform(*limits)
        for name, limits in ACTIVATIONS[op].items() if drawing.chance(0.6)
    })  # fmt: skip


def binary(drawing: Drawing) -> None:
    op = drawing.choice(("Add", "Sub", "Mul", "Add", "PRelu"))
    one = drawing.pick(FLOATS if op == "PRelu" else NUMBERS)
    other = drawing.like(drawing.broadcastable(one.array.shape), one.array.dtype)
    pair = [one, other]
    if op != "PRelu" and drawing.chance(0.5):
        pair.reverse()
    drawing.node(op, pair, exact=one.array.dtype in INTEGERS or op in ("Add", "Sub"))


def division(drawing: Drawing) -> None:
    """Quotients and remainders; a divisor is never 0, integers neither overflow nor are negative
    in `Div`, whose rounding the standard leaves open."""
    op = drawing.choice(("Div", "Mod", "Mod"))
    one = drawing.pick(NUMBERS, exact=op == "Mod")
    dtype = one.array.dtype
    other = drawing.array(drawing.broadcastable(one.array.shape), dtype)
    other = np.where(other == 0, np.asarray(3, dtype), other).astype(dtype)
    attributes = {}
    if op == "Mod" and (dtype in FLOATS or drawing.chance(0.5)):
        attributes["fmod"] = 1
    drawing.node(op, [one, drawing.value(other)], exact=dtype in INTEGERS, **attributes)


def power(drawing: Drawing) -> None:
    dtype = drawing.dtype(FLOATS + INTEGERS[:2])
    one = drawing.value(drawing.array(drawing.shape(), dtype, 0, 4))
    exponents = drawing.dtype(FLOATS + INTEGERS) if drawing.chance(0.4) else dtype
    other = drawing.array(drawing.broadcastable(one.array.shape), exponents, 0, 3)
    drawing.node("Pow", [one, drawing.value(other)])


def variadic(drawing: Drawing) -> None:
    op = drawing.choice(("Max", "Min", "Sum", "Mean"))
    first = drawing.pick(NUMBERS if op in ("Max", "Min") else FLOATS)
    others = [
        drawing.like(drawing.broadcastable(first.array.shape), first.array.dtype)
        for _ in range(drawing.between(0, 3))
    ]
    drawing.node(op, [first, *others], exact=op in ("Max", "Min"))


def comparison(drawing: Drawing) -> None:
    op = drawing.choice(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"))
    one = drawing.pick(EVERY if op == "Equal" else NUMBERS, exact=True)
    other = drawing.like(drawing.broadcastable(one.array.shape), one.array.dtype, -2, 2)
    drawing.node(op, [one, other], exact=True)


def logic(drawing: Drawing) -> None:
    op = drawing.choice(("And", "Or", "Xor", "Not"))
    one = drawing.pick((BOOL,))
    other = drawing.like(drawing.broadcastable(one.array.shape), BOOL)
    drawing.node(op, [one] if op == "Not" else [one, other], exact=True)


def bits(drawing: Drawing) -> None:
    op = drawing.choice(("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"))
    one = drawing.pick(UNSIGNED if op == "BitShift" else INTEGERS)
    shape = drawing.broadcastable(one.array.shape)
    other = drawing.value(drawing.array(shape, one.array.dtype, 0, 6))
    attributes = {"direction": drawing.choice(("LEFT", "RIGHT"))} if op == "BitShift" else {}
    drawing.node(op, [one] if op == "BitwiseNot" else [one, other], exact=True, **attributes)


def is_special(drawing: Drawing) -> None:
    array = drawing.array(drawing.shape(), drawing.dtype(FLOATS[:3]))
    if array.size:
        array.flat[0] = drawing.choice((np.nan, np.inf, -np.inf))
    attributes = {"detect_negative": 0} if drawing.chance(0.3) else {}
    value = drawing.settings(array)
    if drawing.chance(0.5):
        drawing.node("IsNaN", [value], exact=True)
    else:
        drawing.node("IsInf", [value], exact=True, **attributes)


def where(drawing: Drawing) -> None:
    one = drawing.pick(EVERY)
    other = drawing.like(drawing.broadcastable(one.array.shape), one.array.dtype)
    condition = drawing.like(drawing.broadcastable(one.array.shape), BOOL)
    drawing.node("Where", [condition, one, other], exact=True)


def clip(drawing: Drawing) -> None:
    one = drawing.pick(NUMBERS)
    dtype = one.array.dtype
    if drawing.opset < 11:
        drawing.node("Clip", [one], exact=True, **{
            name: limit for name, limit in (("min", -1.5), ("max", 2.0)) if drawing.chance(0.7)
        })  # fmt: skip
        return
    low = drawing.settings(np.asarray(0 if dtype in UNSIGNED else -2, dtype))
    high = drawing.settings(np.asarray(2, dtype))
    limits = [low if drawing.chance(0.7) else None, *([high] if drawing.chance(0.7) else [])]
    drawing.node("Clip", [one, *limits], exact=True)


def cast(drawing: Drawing) -> None:
    one = drawing.pick(EVERY, exact=True)
    target = drawing.choice(EVERY)
    if target in UNSIGNED and one.array.size and one.array.astype(np.float64).min() < 0:
        (one,) = drawing.node("Abs", [one], exact=True) or [one]
        if one.array.astype(np.float64).min() < 0:
            return
    if drawing.opset >= 15 and drawing.chance(0.3):
        like = drawing.settings(drawing.array((1,), target))
        drawing.node("CastLike", [one, like], exact=True)
    else:
        drawing.node("Cast", [one], exact=True, to=helper.np_dtype_to_tensor_dtype(target))


FAMILY = (
    unary, jump, smooth, smooth, limited_domain, activation, binary, binary, binary, division,
    power, variadic, comparison, logic, bits, is_special, where, clip, cast, cast,
)  # fmt: skip

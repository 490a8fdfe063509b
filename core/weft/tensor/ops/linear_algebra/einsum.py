"""Einstein summation: contraction of named axes, two operands at a time.
Also: tensor contraction.

Source: A. Einstein, "Die Grundlage der allgemeinen Relativitätstheorie" (1916), section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base import arguments
from weft.base.errors import ArgumentError
from weft.base.promotion import sum_acc_dtype
from weft.base.sequences import prod
from weft.shape.movement import say_shape
from weft.tensor.autocast import low_operands
from weft.tensor.protocol import TensorBase, TensorT


def _in_pairs(
    inputs: list[list[str]], output: list[str], sizes: dict[str, Any]
) -> list[tuple[int, int]]:
    """Which two operands are multiplied and summed first, and so on; none where all at once is
    about as little work. The product of a pair is the last of what is left."""
    if len(inputs) < 3 or not all(isinstance(size, int) for size in sizes.values()):
        return []

    def work(names: set[str]) -> int:
        return prod(sizes[name] for name in names)

    left, steps, total = [set(names) for names in inputs], [], 0
    while len(left) > 2:
        pairs = [(a, b) for b in range(len(left)) for a in range(b)]
        a, b = min(pairs, key=lambda pair: work(left[pair[0]] | left[pair[1]]))
        both = left[a] | left[b]
        left = [names for place, names in enumerate(left) if place not in (a, b)]
        left.append(both & {*output, *(name for names in left for name in names)})
        steps.append((a, b))
        total += work(both)
    total += work(left[0] | left[1])
    return steps if 2 * total < (len(inputs) - 1) * work(set(sizes)) else []


def _bad(formula: str, because: str) -> ArgumentError:
    return ArgumentError(
        "this summation does not fit its operands",
        asked=f"einsum({formula!r})",
        because=because,
        try_='"ij,jk->ik": a letter for each axis, operands separated by commas',
    )


def _read(formula: str, tensors: list[Any]) -> tuple[list[list[str]], list[str]]:
    """The names of the axes of each operand and of the result; "..." gets names of its own."""
    left, arrow, right = formula.partition("->")
    texts = left.split(",")
    if len(texts) != len(tensors):
        raise _bad(formula, f"it names {len(texts)} operands, and {len(tensors)} are given")
    inputs, widest = [], 0
    for text, tensor in zip(texts, tensors):
        before, dots, after = text.partition("...")
        extra = len(tensor.shape) - len(before) - len(after)
        if extra < 0 or (extra and not dots):
            raise _bad(formula, f"{text!r} does not name the axes of shape {tensor.shape}")
        widest = max(widest, extra)
        inputs.append([*before, *(f"...{extra - 1 - i}" for i in range(extra)), *after])
    dotted = [f"...{widest - 1 - i}" for i in range(widest)]
    names = [n for found in inputs for n in found]
    if arrow:
        before, dots, after = right.partition("...")
        output = [*before, *(dotted if dots else []), *after]
    else:
        output = dotted + sorted(n for n in set(names) if names.count(n) == 1 and n[0] != ".")
    if len(set(output)) != len(output) or not set(output) <= set(names):
        raise _bad(formula, "each axis of the result is named once, and is one of an operand")
    return inputs, output


def _diagonals(names: list[str], tensor: Any) -> tuple[list[str], Any]:
    """A name that an operand has twice takes its diagonal."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            a = names.index(name)
            b = names.index(name, a + 1)
            rest = [i for i in range(len(names)) if i not in (a, b)]
            n = tensor.shape[a]
            moved = tensor.permute(*rest, a, b)
            front = moved.shape[:-2]
            flat = moved.reshape((*front, n * n)).pad((*(None for _ in front), (0, n)))
            tensor = flat.reshape((*front, n, n + 1))[..., 0]
            names = [names[i] for i in rest] + [name]
    return names, tensor


def contract(cls: type[TensorT], formula: str, operands: Sequence[Any], dtype: Any) -> TensorT:
    """See `Tensor.einsum`."""
    tensors = list(operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple))
                   else operands)  # fmt: skip
    formula = arguments.text(formula, "formula", '"ij,jk->ik"')
    like = next((each for each in tensors if isinstance(each, TensorBase)), None)
    tensors = [cls(each) if like is None else cls._as_tensor(each, like) for each in tensors]
    lifted = next((each for each in tensors if each._interleaved is not None), None)
    if lifted is not None:
        made = lifted._products.contract(cls, formula, tensors)
        return made if dtype is None else made.cast(dtype)
    inputs, output = _read(formula.replace(" ", ""), tensors)
    sizes: dict[str, Any] = {}
    parts = []
    for names, tensor in zip(inputs, tensors):
        names, tensor = _diagonals(names, tensor)
        for name, size in zip(names, tensor.shape):
            if sizes.setdefault(name, size) != size:
                if sizes[name] != 1 and size != 1:
                    shapes = ", ".join(say_shape(each.shape) for each in tensors)
                    because = f"{name!r} is both {sizes[name]} and {size} in {shapes}"
                    raise _bad(formula, because)
                sizes[name] = sizes[name] if size == 1 else size
        parts.append((names, tensor))
    if dtype is not None:
        parts = [(names, tensor.cast(dtype)) for names, tensor in parts]
    elif len(parts) > 1:
        low = low_operands(*[tensor for _, tensor in parts])
        parts = [(names, tensor) for (names, _), tensor in zip(parts, low)]
    for a, b in _in_pairs([names for names, _ in parts], output, sizes):
        first, second = parts[a], parts[b]
        parts = [part for place, part in enumerate(parts) if place not in (a, b)]
        later = {*output, *(n for names, _ in parts for n in names)}
        kept = [n for n in dict.fromkeys((*first[0], *second[0])) if n in later]
        parts.append((kept, _summed([first, second], kept, dtype)))
    return _summed(parts, output, dtype, sizes)


def _summed(
    parts: list[tuple[list[str], Any]],
    output: list[str],
    dtype: Any,
    sizes: dict[str, Any] | None = None,
) -> Any:
    """The product of tensors with named axes, summed over all names that `output` lacks.

    sizes: of the axes; by default the largest that the tensors have.
    """
    order = list(dict.fromkeys([*output, *(n for names, _ in parts for n in names)]))
    if sizes is None:
        sizes = {}
        for names, tensor in parts:
            sizes.update((n, s) for n, s in zip(names, tensor.shape) if sizes.get(n, 1) == 1)
    placed = []
    for names, tensor in parts:
        present = sorted(names, key=order.index)
        tensor = tensor.permute(*(names.index(n) for n in present)) if names else tensor
        held = iter(tensor.shape)
        placed.append(tensor.reshape(tuple(next(held) if n in names else 1 for n in order)))
    product = placed[0]
    for part in placed[1:]:
        product = product * part
    product = product._expanded(tuple(sizes[n] for n in order))
    summed = tuple(range(len(output), len(order)))
    if not summed:
        return product
    total = product.sum(summed, dtype=dtype or sum_acc_dtype(product.dtype))
    return total.cast(product.dtype) if dtype is None else total

"""Sequences and optional values: lists of tensors, and None.

Source: the ONNX specification, operators Sequence*, Optional*, SplitToSequence, ConcatFromSequence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.onnx.graph import Body, Node
from weft.onnx.operators.control_flow import stack
from weft.onnx.registry import operator


@operator("SequenceEmpty", since=11)
def sequence_empty(node: Node, *, dtype: int = 1) -> list[Any]:
    """A sequence without elements."""
    return []


@operator("SequenceConstruct", since=11)
def sequence_construct(node: Node, *values: Any) -> list[Any]:
    """A sequence of the inputs."""
    return list(values)


@operator("SequenceAt", since=11, host_inputs=("position",))
def sequence_at(node: Node, sequence: list[Any], position: np.ndarray) -> Any:
    """The element at a position; negative ones count from the end."""
    return sequence[_position(node, sequence, position, len(sequence) - 1)]


@operator("SequenceErase", since=11, host_inputs=("position",))
def sequence_erase(
    node: Node, sequence: list[Any], position: np.ndarray | None = None
) -> list[Any]:
    """A sequence without the element at a position, or without the last one."""
    if position is None:
        return sequence[:-1]
    at = _position(node, sequence, position, len(sequence) - 1)
    return sequence[:at] + sequence[at + 1 :]


@operator("SequenceInsert", since=11, host_inputs=("position",))
def sequence_insert(
    node: Node, sequence: list[Any], value: Any, position: np.ndarray | None = None
) -> list[Any]:
    """A sequence with a value before a position, or at the end."""
    if position is None:
        return [*sequence, value]
    at = _position(node, sequence, position, len(sequence))
    return [*sequence[:at], value, *sequence[at:]]


@operator("SequenceLength", since=11)
def sequence_length(node: Node, sequence: list[Any]) -> np.ndarray:
    """Number of elements."""
    return np.asarray(len(_sequence(node, sequence)), np.int64)


@operator("SequenceMap", since=17)
def sequence_map(node: Node, sequence: list[Any], *others: Any, body: Body) -> Any:
    """Evaluate a graph for each element. Other inputs are sequences too, or passed as they are."""
    results: list[list[Any]] = [[] for _ in body.graph.outputs]
    for place, value in enumerate(_sequence(node, sequence)):
        rest = [each[place] if isinstance(each, list) else each for each in others]
        for found, each in zip(results, body(value, *rest)):
            found.append(each)
    return tuple(results)


@operator("SplitToSequence", since=11, host_inputs=("lengths",))
def split_to_sequence(
    node: Node, x: Any, lengths: np.ndarray | None = None, *, axis: int = 0, keepdims: int = 1
) -> list[Any]:
    """Parts along an axis: of given lengths, of one length, or single elements."""
    axis = axis + len(x.shape) if axis < 0 else axis
    total = int(x.shape[axis])
    if lengths is None:
        sizes = [1] * total
    elif lengths.ndim == 0:
        each = int(lengths.item())
        if each < 1:
            raise node.refuse(f"the parts have the length {each}", "a positive length")
        sizes = [min(each, total - begin) for begin in range(0, total, each)]
    else:
        sizes = list(node.ints(lengths))
    if sum(sizes) != total or any(size < 0 for size in sizes):
        raise node.refuse(f"the lengths {sizes} do not add up to {total}", "other lengths")
    parts, begin = [], 0
    index: tuple[Any, ...] = (slice(None),) * axis
    for size in sizes:
        place = begin if lengths is None and not keepdims else slice(begin, begin + size)
        parts.append(_part(x, (*index, place)))
        begin += size
    return parts


@operator("ConcatFromSequence", since=11)
def concat_from_sequence(node: Node, sequence: list[Any], *, axis: int, new_axis: int = 0) -> Any:
    """Join the elements of a sequence along an axis that is there, or along a new one."""
    if not _sequence(node, sequence):
        raise node.refuse("the sequence is empty", "at least one element")
    if new_axis:
        return stack(node, sequence, axis)
    if all(isinstance(each, np.ndarray) for each in sequence):
        return np.concatenate(sequence, axis=axis)
    first, *rest = [node.tensor(each) for each in sequence]
    return first.cat(*rest, dim=axis)


@operator("Optional", since=15)
def optional(node: Node, value: Any = None, *, type: Any = None) -> Any:
    """An optional with a value, or without one."""
    return value


@operator("OptionalHasElement", since=15)
def optional_has_element(node: Node, value: Any = None) -> np.ndarray:
    """Whether an optional has a value."""
    return np.asarray(value is not None)


@operator("OptionalGetElement", since=15)
def optional_get_element(node: Node, value: Any) -> Any:
    """The value of an optional."""
    if value is None:
        raise node.refuse("the optional has no value", "ask OptionalHasElement before")
    return value


def _sequence(node: Node, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise node.refuse("an input is no sequence", "SequenceConstruct makes one")
    return value


def _position(node: Node, sequence: Any, position: np.ndarray, last: int) -> int:
    found = int(position.item())
    count = len(_sequence(node, sequence))
    at = found + count if found < 0 else found
    if not 0 <= at <= last:
        raise node.refuse(f"position {found} is out of range for {count} elements", "another one")
    return at


def _part(x: Any, index: tuple[Any, ...]) -> Any:
    return x.map(lambda codes: codes[index]) if hasattr(x, "map") else x[index]

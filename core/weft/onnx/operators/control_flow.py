"""Control flow: If, Loop, Scan, Constant.

A condition that is known on the host chooses while the graph is traced. Otherwise its value is read
from the device, which ends a traced segment. The bodies are segments of their own. Loops of a few
iterations are unrolled into the segment around them.

Source: the ONNX specification, operators If, Loop and Scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.onnx.graph import Body, Node
from weft.onnx.protobuf import constant_value
from weft.onnx.registry import host_operator, operator
from weft.onnx.small_types import Coded
from weft.tensor import Tensor

_MOST_ITERATIONS = (1 << 63) - 1
_UNROLLED = 32
"""Iterations that one lazy graph holds at most."""


@host_operator("Constant")
def constant(node: Node, **attributes: Any) -> np.ndarray:
    """A constant, in a function with attributes."""
    return constant_value(node)


@operator("If", host_inputs=("condition",))
def if_(node: Node, condition: np.ndarray, *, then_branch: Body, else_branch: Body) -> Any:
    """Evaluate one of two graphs."""
    if condition.size != 1:
        raise node.refuse(f"its condition has {condition.size} elements", "one bool")
    return tuple((then_branch if condition.item() else else_branch)())


@operator("Loop", host_inputs=("trips",))
def loop(
    node: Node, trips: np.ndarray | None, condition: Any = None, *carried: Any, body: Body
) -> Any:
    """Evaluate a graph while a condition holds, `trips` times at most.

    Outputs are the carried values after the last iteration, then the stacked scan outputs.
    """
    count = _MOST_ITERATIONS if trips is None else int(trips.item())
    scanned: list[list[Any]] = []
    state = list(carried)
    outputs = len(body.graph.outputs) - 1 - len(state)
    if outputs < 0:
        raise node.refuse(
            f"its body has {len(body.graph.outputs)} outputs for {len(state)} carried values",
            "a condition, the carried values, then scan outputs",
        )
    scanned = [[] for _ in range(outputs)]
    if count > _UNROLLED:
        node.context.read_nodes.add(node)  # a long loop is no part of a segment
    iteration = 0
    going = np.asarray(True) if condition is None else condition
    while iteration < count and bool(node.host(going).all()):
        number: Any = np.asarray(iteration, np.int64)
        if count > _UNROLLED:  # a tensor, so that all iterations are one trace
            number = Tensor(number, device=node.context.device)
        given = [number, going, *state]
        going, *results = body(*given[: len(body.graph.inputs)])
        state = results[: len(state)]
        for each, value in zip(scanned, results[len(state) :]):
            each.append(value)
        iteration += 1
        if iteration % _UNROLLED == 0:
            realize([going, *state, *(each[-1] for each in scanned)])
    stacked = [
        _stacked(node, each, body, 1 + len(state) + place) for place, each in enumerate(scanned)
    ]
    return (*state, *stacked)


def realize(values: Sequence[Any]) -> None:
    """Compute the tensors among some values now."""
    found = [each.codes if isinstance(each, Coded) else each for each in values]
    tensors = [each for each in found if isinstance(each, Tensor)]
    if tensors:
        Tensor.realize(*tensors)


def _stacked(node: Node, values: list[Any], body: Body, place: int) -> Any:
    """Stack the values of a scan output along a new first axis."""
    if values:
        return stack(node, values, 0)
    declared = body.graph.outputs[place].type
    sizes = [each if isinstance(each, int) else 0 for each in declared.shape or ()]
    return np.zeros((0, *sizes), declared.dtype or "float32")


def stack(node: Node, values: Sequence[Any], axis: int) -> Any:
    """Stack values of equal shapes along a new axis: arrays on the host, or tensors."""
    if all(isinstance(each, np.ndarray) for each in values):
        return np.stack(values, axis=axis)
    tensors = [node.tensor(each) for each in values]
    if isinstance(tensors[0], Coded):
        codes = [each.codes for each in tensors]
        return Coded(codes[0].stack(*codes[1:], dim=axis), tensors[0].kind)
    return tensors[0].stack(*tensors[1:], dim=axis)


@operator("Scan", since=9)
def scan(
    node: Node,
    *values: Any,
    body: Body,
    num_scan_inputs: int,
    scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None,
    scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> Any:
    """Evaluate a graph for each element of the scan inputs along an axis."""
    states = len(values) - num_scan_inputs
    if states < 0 or num_scan_inputs < 1:
        raise node.refuse(f"it has {num_scan_inputs} scan inputs", "at least one, and no more")
    outputs = len(body.graph.outputs) - states
    directions = scan_input_directions or [0] * num_scan_inputs
    axes = scan_input_axes or [0] * num_scan_inputs
    slices = [
        _slices(node, value, axis, bool(back))
        for value, axis, back in zip(values[states:], axes, directions)
    ]
    lengths = {len(each) for each in slices}
    if len(lengths) != 1:
        raise node.refuse(f"its scan inputs have the lengths {sorted(lengths)}", "one length")
    if max(lengths) > _UNROLLED:
        node.context.read_nodes.add(node)
    state = list(values[:states])
    scanned: list[list[Any]] = [[] for _ in range(outputs)]
    for iteration, parts in enumerate(zip(*slices), 1):
        results = body(*state, *parts)
        state = results[:states]
        for each, value in zip(scanned, results[states:]):
            each.append(value)
        if iteration % _UNROLLED == 0:
            realize(results)
    back = scan_output_directions or [0] * outputs
    axes = scan_output_axes or [0] * outputs
    results = []
    for place, each in enumerate(scanned):
        ordered = each[::-1] if back[place] else each
        if ordered:
            results.append(stack(node, ordered, axes[place]))
        else:
            results.append(_stacked(node, [], body, states + place))
    return (*state, *results)


@operator("Scan", since=8)
def scan_of_batches(
    node: Node,
    lengths: Any,
    *values: Any,
    body: Body,
    num_scan_inputs: int,
    directions: list[int] | None = None,
) -> Any:
    """Scan along axis 1 for each element of a batch along axis 0, as in opset 8."""
    if lengths is not None:
        raise node.refuse("sequences of several lengths are not supported", "opset 9 or later")
    batches = []
    for number in range(int(values[0].shape[0])):
        each = [value[number] for value in values]
        batches.append(
            scan(
                node, *each, body=body, num_scan_inputs=num_scan_inputs,
                scan_input_directions=directions,
            )
        )  # fmt: skip
    return tuple(stack(node, each, 0) for each in zip(*batches))


def _slices(node: Node, value: Any, axis: int, is_reversed: bool) -> list[Any]:
    """Return the parts of a value along an axis, without that axis."""
    tensor = node.tensor(value)
    rank = len(tensor.shape)
    axis = axis + rank if axis < 0 else axis
    index: tuple[Any, ...] = (slice(None),) * axis

    def part(x: Tensor, number: int) -> Tensor:
        return x[(*index, number)]

    numbers = range(int(tensor.shape[axis]))
    order = reversed(numbers) if is_reversed else numbers
    if isinstance(tensor, Coded):
        return [tensor.map(lambda codes, i=i: part(codes, i)) for i in order]
    return [part(tensor, i) for i in order]

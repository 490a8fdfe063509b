"""Recurrent networks over a sequence: RNN, GRU, LSTM.

The steps are unrolled: each records the kernels of one cell, and the product with the inputs of all
steps is one kernel. 16-bit floats are computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import DType
from weft.base.promotion import sum_acc_dtype
from weft.onnx.graph import Node
from weft.onnx.operators.recurrent_activations import Activation, activations_of
from weft.onnx.registry import operator
from weft.tensor import Tensor

States = list[Tensor]
Step = Callable[[Tensor, States], States]
Cell = Callable[["Weights", "Tensor | None", "Tensor | None", Sequence[Activation]], "CellParts"]


@dataclass(frozen=True)
class Weights:
    """A matrix of weights: (gates * hidden, inputs)."""

    matrix: Tensor

    def times(self, x: Tensor) -> Tensor:
        """Return the product of rows with the weights: x @ matrix.T."""
        return x @ self.matrix.T


@dataclass(frozen=True)
class CellParts:
    """One direction of a layer.

    :ivar bias: what is added to the product with the inputs; None: nothing.
    :ivar step: from this sum of one step, (batch, gates * hidden), and the states to new states.
    """

    bias: Tensor | None
    step: Step


@dataclass(frozen=True)
class Layer:
    """What the three operators have in common: inputs and attributes of a node."""

    node: Node
    x: Tensor
    weight: Tensor
    recurrence: Tensor
    bias: Tensor | None
    lengths: Tensor | None
    direction: str
    layout: int
    hidden_size: int | None
    peepholes: Tensor | None = None

    def weights(self, number: int, dtype: DType) -> tuple[Weights, Weights]:
        """Return the weights of the inputs and of the hidden states of a direction."""
        weight, recurrence = self.weight[number], self.recurrence[number]
        return Weights(weight.cast(dtype)), Weights(recurrence.cast(dtype))


@operator("RNN", since=7)
def rnn(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None,
    sequence_lens: Tensor | None = None, initial_h: Tensor | None = None, *,
    activations: Sequence[str] = (), activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (), clip: float | None = None,
    direction: str = "forward", hidden_size: int | None = None, layout: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """H = f(X W^T + Wb + H R^T + Rb), by default with tanh."""
    functions = activations_of(
        node, activations, activation_alpha, activation_beta, clip, direction, ("Tanh",)
    )

    def cell(r: Weights, b: Tensor | None, p: Tensor | None, used: Sequence[Activation]) -> Any:
        def step(given: Tensor, states: States) -> States:
            return [used[0](given + r.times(states[0]))]

        return CellParts(None if b is None else b.reshape(2, -1).sum(0), step)

    layer = Layer(node, x, w, r, b, sequence_lens, direction, layout, hidden_size)
    return _layer(layer, 1, [initial_h], cell, functions)


@operator("GRU", since=7)
def gru(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None,
    sequence_lens: Tensor | None = None, initial_h: Tensor | None = None, *,
    activations: Sequence[str] = (), activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (), clip: float | None = None,
    direction: str = "forward", hidden_size: int | None = None, layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Gated recurrent units; gates in the order update, reset, hidden.

    :param linear_before_reset: whether the reset gate is applied after the product with R.
    """
    functions = activations_of(
        node, activations, activation_alpha, activation_beta, clip, direction, ("Sigmoid", "Tanh")
    )

    def cell(r: Weights, b: Tensor | None, p: Tensor | None, used: Sequence[Activation]) -> Any:
        size = r.matrix.shape[-1]
        bias, late = _gru_bias(b, size, bool(linear_before_reset))

        def step(given: Tensor, states: States) -> States:
            hidden = states[0]
            if linear_before_reset:
                product = r.times(hidden)
                gates = used[0](given[:, : 2 * size] + product[:, : 2 * size])
                update, reset = gates.chunk(2, 1)
                own = product[:, 2 * size :] if late is None else product[:, 2 * size :] + late
                new = used[1](given[:, 2 * size :] + reset * own)
            else:
                gates = used[0](given[:, : 2 * size] + hidden @ r.matrix[: 2 * size].T)
                update, reset = gates.chunk(2, 1)
                new = used[1](given[:, 2 * size :] + (reset * hidden) @ r.matrix[2 * size :].T)
            return [(1 - update) * new + update * hidden]

        return CellParts(bias, step)

    layer = Layer(node, x, w, r, b, sequence_lens, direction, layout, hidden_size)
    return _layer(layer, 3, [initial_h], cell, functions)


@operator("LSTM", since=7)
def lstm(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None,
    sequence_lens: Tensor | None = None, initial_h: Tensor | None = None,
    initial_c: Tensor | None = None, p: Tensor | None = None, *,
    activations: Sequence[str] = (), activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (), clip: float | None = None,
    direction: str = "forward", hidden_size: int | None = None, input_forget: int = 0,
    layout: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Long short-term memory; gates in the order input, output, forget, cell.

    :param p: peepholes: weights of the cell state in the gates input, output, forget.
    :param input_forget: whether the forget gate is 1 - input gate.
    """
    functions = activations_of(
        node, activations, activation_alpha, activation_beta, clip, direction,
        ("Sigmoid", "Tanh", "Tanh"), gates=2,
    )  # fmt: skip

    layer = Layer(node, x, w, r, b, sequence_lens, direction, layout, hidden_size, p)
    return lstm_layer(layer, [initial_h, initial_c], functions, input_forget)


def lstm_layer(
    layer: Layer, initial: Sequence[Tensor | None], functions: Sequence[Sequence[Activation]],
    input_forget: int,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Run an LSTM: Y, Y_h and Y_c.

    :param functions: for each direction those of the gates, of the cell and of the output.
    """

    def cell(r: Weights, b: Tensor | None, p: Tensor | None, used: Sequence[Activation]) -> Any:
        gate, inner, outer = used
        size = r.matrix.shape[-1]
        peepholes = None if p is None else tuple(p.chunk(3))

        def step(given: Tensor, states: States) -> States:
            hidden, memory = states
            total = given + r.times(hidden)
            if peepholes is None:
                through, shown, kept = gate(total[:, : 3 * size]).chunk(3, 1)
                memory = _kept(through, kept, input_forget) * memory + through * inner(
                    total[:, 3 * size :]
                )
                return [shown * outer(memory), memory]
            parts = total.chunk(4, 1)
            through = gate(parts[0] + peepholes[0] * memory)
            kept = gate(parts[2] + peepholes[2] * memory)
            memory = _kept(through, kept, input_forget) * memory + through * inner(parts[3])
            shown = gate(parts[1] + peepholes[1] * memory)
            return [shown * outer(memory), memory]

        return CellParts(None if b is None else b.reshape(2, -1).sum(0), step)

    return _layer(layer, 4, initial, cell, functions)


def _gru_bias(b: Tensor | None, size: int, linear: bool) -> tuple[Tensor | None, Tensor | None]:
    """Return the bias of the inputs, and the one that is added before the reset gate."""
    if b is None:
        return None, None
    of_inputs, of_states = b.chunk(2)
    if not linear:
        return of_inputs + of_states, None
    early = of_states[: 2 * size].pad(((0, size),))
    return of_inputs + early, of_states[2 * size :]


def _kept(through: Tensor, forget: Tensor, is_coupled: int) -> Tensor:
    """How much of the cell state stays: what the forget gate says, or 1 - input gate."""
    return 1 - through if is_coupled else forget


def _layer(
    layer: Layer, gates: int, initial: Sequence[Tensor | None], cell: Cell,
    functions: Sequence[Sequence[Activation]],
) -> tuple[Tensor, ...]:  # fmt: skip
    """Run all directions: Y, and the last value of each state."""
    _check(layer, gates)
    kind = layer.x.dtype
    wide = sum_acc_dtype(kind)
    steps = (layer.x.transpose(0, 1) if layer.layout else layer.x).cast(wide)
    outputs, ends = [], []
    for number in range(layer.weight.shape[0]):

        def of_direction(each: Tensor | None, number: int = number) -> Tensor | None:
            return None if each is None else each[number].cast(wide)

        of_inputs, recurrence = layer.weights(number, wide)
        parts = cell(
            recurrence, of_direction(layer.bias), of_direction(layer.peepholes), functions[number]
        )
        given = of_inputs.times(steps)
        # Steps are windows of one buffer: they share one program, and nothing is copied.
        given = (given if parts.bias is None else given + parts.bias).contiguous()
        starts = [_start(layer, each, number, wide) for each in initial]
        backwards = layer.direction == "reverse" or number == 1
        shown, last = _unrolled(given, starts, parts.step, layer.lengths, backwards)
        outputs.append(shown)
        ends.append(last)
    y = outputs[0].stack(*outputs[1:], dim=1)
    finals = [each[0].stack(*each[1:]) for each in zip(*ends, strict=True)]
    if layer.layout:
        y = y.permute(2, 0, 1, 3)
        finals = [each.transpose(0, 1) for each in finals]
    return (y.cast(kind), *(each.cast(kind) for each in finals))


def _start(layer: Layer, initial: Tensor | None, number: int, dtype: DType) -> Tensor:
    """The first state of a direction: (batch, hidden)."""
    if initial is not None:
        return (initial[:, number] if layer.layout else initial[number]).cast(dtype)
    batch = layer.x.shape[0 if layer.layout else 1]
    return Tensor.zeros(batch, layer.recurrence.shape[-1], dtype=dtype, device=layer.x.device)


def _unrolled(
    given: Tensor, states: States, step: Step, lengths: Tensor | None, backwards: bool
) -> tuple[Tensor, States]:
    """Hidden states of all steps, (length, batch, hidden), and the last states.

    Steps behind the end of a sequence keep its states, and their output is zero.
    """
    count = given.shape[0]
    outputs: list[Tensor] = []
    for place in _places(count, backwards):
        moved = [each.contiguous() for each in step(given[place].contiguous(), states)]
        if lengths is None:
            states = moved
            outputs.append(moved[0])
            continue
        inside = (lengths > place).unsqueeze(1)
        states = [inside.where(new, old) for new, old in zip(moved, states, strict=True)]
        outputs.append(inside.where(moved[0], 0))
    if not outputs:
        return states[0].unsqueeze(0)[:0], states
    ordered = outputs[::-1] if backwards else outputs
    return ordered[0].stack(*ordered[1:]), states


def _places(count: int, backwards: bool) -> Iterator[int]:
    return iter(range(count - 1, -1, -1) if backwards else range(count))


def _check(layer: Layer, gates: int) -> None:
    """:raises OnnxError: for shapes and a direction that do not fit, and a symbolic length."""
    node, x, directions = layer.node, layer.x, 2 if layer.direction == "bidirectional" else 1
    hidden = layer.recurrence.shape[-1]
    fits = (
        x.ndim == 3
        and layer.weight.shape == (directions, gates * hidden, x.shape[-1])
        and layer.recurrence.shape == (directions, gates * hidden, hidden)
        and layer.hidden_size in (None, hidden)
        and (layer.bias is None or layer.bias.shape == (directions, 2 * gates * hidden))
    )
    if not fits:
        raise node.refuse(
            f"x has the shape {x.shape}, W {layer.weight.shape}, R {layer.recurrence.shape}, with "
            f"direction={layer.direction!r} and hidden_size={layer.hidden_size}",
            f"W (directions, {gates} * hidden, inputs), R (directions, {gates} * hidden, hidden)",
        )
    length = x.shape[1 if layer.layout else 0]
    if not isinstance(length, int):
        raise node.refuse(
            f"the length of the sequence is symbolic: {length}",
            "call the model with a fixed length of the sequence",
        )

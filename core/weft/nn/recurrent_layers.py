"""Recurrent networks over whole sequences: LSTM and GRU in layers, in one or both directions."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import choice, whole
from weft.base.dtype import DType
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import init
from weft.nn.input_checks import tensor_for
from weft.nn.module import Module
from weft.nn.parameter import parameter
from weft.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from weft.nn.training_mode import dropped
from weft.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from weft.tensor import Tensor

_MOST_LAYERS = 1 << 12  # more are a mistake, which had better not fill the memory first


class _Recurrent(Module):
    """What both share: a cell for each layer and direction, led over the steps.

    Weights are named as a cell's, with _l0, _l1 ... behind them, and _reverse for the second
    direction. Input (length, batch, input_size), with `batch_first` (batch, length, input_size), or
    without the batch; or a PackedSequence, for which the output is one too. Each layer but the
    first reads what the one before it gave, to which dropout is applied in training; the second
    direction reads from the end, and their outputs are side by side.
    """

    cell: type[LSTMCell] | type[GRUCell] | type[RNNCell]
    states: int
    _weights: tuple[str, ...] = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.num_layers = whole(num_layers, "num_layers", least=1)
        if self.num_layers > _MOST_LAYERS:
            raise ArgumentError(
                f"num_layers is at most {_MOST_LAYERS}",
                asked=f"num_layers={num_layers}",
                because="each layer has weights of its own",
                try_="fewer layers, or several networks one after the other",
            )
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        for number, suffix in enumerate(self._suffixes()):
            layer = number // self._directions
            size = input_size if layer == 0 else self._state_sizes()[0] * self._directions
            made = self._new_cell(size, device, dtype)
            for name in self._weights:
                setattr(self, name + suffix, getattr(made, name))

    def _new_cell(self, size: int, device: str | None, dtype: DType | None) -> Any:
        """A cell with new weights for inputs of this size."""
        return self.cell(size, self.hidden_size, self.bias, device=device, dtype=dtype)

    def _state_sizes(self) -> list[int]:
        """The number of features of each state; the first one is the output."""
        return [self.hidden_size] * self.states

    def flatten_parameters(self) -> None:
        """Has no effect: there is no other layout of the weights."""

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _suffixes(self) -> list[str]:
        ways = ("", "_reverse")[: self._directions]
        return [f"_l{layer}{way}" for layer in range(self.num_layers) for way in ways]

    def _cell(self, suffix: str) -> Any:
        """The cell of one layer and direction, with the weights that it has now."""
        made = self.cell.__new__(self.cell)
        for name in self._weights:
            vars(made)[name] = getattr(self, name + suffix)
        return made

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        parts += [
            f"{name}={getattr(self, name)}"
            for name, usual in (("bias", True), ("batch_first", False), ("dropout", 0.0))
            if getattr(self, name) != usual
        ]
        return ", ".join([*parts, "bidirectional=True"] if self.bidirectional else parts)

    def _run(
        self, x: Any, state: list[Tensor], lengths: Tensor | None = None
    ) -> tuple[Any, list[Tensor]]:
        """(output, last states), each state (layers * directions, batch, hidden). lengths: of the
        sequences, where they are padded."""
        if isinstance(x, PackedSequence):
            return self._run_packed(x, state)
        x = tensor_for(self, x)
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(
                "a recurrent network reads sequences",
                asked=f"{type(self).__name__} of {x.shape}",
                because=f"it was made for (length, batch, {self.input_size})"
                if not self.batch_first
                else f"it was made for (batch, length, {self.input_size})",
                try_="put the features last",
            )
        if x.ndim == 2:
            output, last = self._run(
                x.unsqueeze(0 if self.batch_first else 1), [each.unsqueeze(1) for each in state]
            )
            return output.squeeze(0 if self.batch_first else 1), [end.squeeze(1) for end in last]
        steps = x.transpose(0, 1) if self.batch_first else x
        suffixes = self._suffixes()
        starts = self._starts(steps, state, len(suffixes))
        ends: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            if layer:
                steps = dropped(self, steps, self.dropout)
            gave = []
            for way in range(self._directions):
                number = layer * self._directions + way
                start = starts[number]
                outputs, end = self._led(suffixes[number], steps, start, bool(way), lengths)
                gave.append(outputs)
                ends.append(end)
            steps = gave[0].cat(*gave[1:], dim=-1)
        output = steps.transpose(0, 1) if self.batch_first else steps
        return output, [each[0].stack(*each[1:]) for each in zip(*ends, strict=True)]

    def _run_packed(
        self, packed: PackedSequence, state: list[Tensor]
    ) -> tuple[PackedSequence, list[Tensor]]:
        """As `_run`, of packed sequences."""
        order, inverse = packed.sorted_indices, packed.unsorted_indices
        x, lengths = pad_packed_sequence(packed._replace(unsorted_indices=None), self.batch_first)
        if order is not None:
            state = [each[:, order] for each in state]
        output, last = self._run(x, state, lengths.to(x.device))
        data = pack_padded_sequence(output, lengths, self.batch_first).data
        if inverse is not None:
            last = [each[:, inverse] for each in last]
        return packed._replace(data=data), last

    def _starts(self, steps: Tensor, state: list[Tensor], count: int) -> list[list[Tensor]]:
        """The state in which each layer and direction begins."""
        shapes = [(count, steps.shape[1], size) for size in self._state_sizes()]
        if not state:
            zeros = [Tensor.zeros(*s[1:], dtype=steps.dtype, device=steps.device) for s in shapes]
            return [zeros for _ in range(count)]
        for each, shape in zip(state, shapes, strict=True):
            if tuple(each.shape) != shape:
                raise ShapeError(
                    "the state does not belong to this input",
                    asked=f"{type(self).__name__} of {steps.shape} with a state of {each.shape}",
                    because=f"the state must be {shape}: layers times directions, batch, hidden",
                    try_="give what the network gave back, or None for zeros",
                )
        return [[each[number] for each in state] for number in range(count)]

    def _led(
        self, suffix: str, steps: Tensor, state: list[Tensor], backwards: bool,
        lengths: Tensor | None,
    ) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
        """One cell over all steps: (length, batch, hidden) and its last states, which do not change
        behind the length of a sequence."""
        cell = self._cell(suffix)
        given = cell.of_input(steps)  # of all steps in one product
        outputs = []
        for place in range(steps.shape[0])[:: -1 if backwards else 1]:
            # In memory of its own each step is the same kernels, which are built once.
            one = given[place].contiguous()
            moved = cell.moved(one, tuple(state) if self.states > 1 else state[0])
            before, state = state, list(moved) if self.states > 1 else [moved]
            if lengths is not None:
                inside = (lengths > place).unsqueeze(1)
                state = [inside.where(new, old) for new, old in zip(state, before, strict=True)]
            outputs.append(state[0].contiguous_backward())
        if not outputs:
            raise ShapeError(
                "there is no step to take",
                asked=f"{type(self).__name__} of {steps.shape}",
                because="a sequence has at least one step",
                try_="leave empty sequences out",
            )
        ordered = outputs[::-1] if backwards else outputs
        return ordered[0].stack(*ordered[1:]), state


class LSTM(_Recurrent):
    """Long short-term memory over sequences; see LSTMCell for its steps.

    Call with x and (h, c), each (num_layers * directions, batch, hidden_size), or None for zeros;
    gives (output, (h, c)): the hidden states of the last layer at every step, (length, batch,
    directions * hidden_size), and the states behind the last step. With `batch_first` input and
    output are (batch, length, ...). Raises ShapeError for other shapes.

    proj_size: the hidden states are mapped to this many features, h' = weight_hr h (Sak, Senior and
    Beaufays, 2014); 0: they are not.

    >>> lstm = nn.LSTM(3, 5, num_layers=2, batch_first=True)
    >>> output, (hidden, memory) = lstm(Tensor.ones(2, 4, 3))
    >>> output.shape, hidden.shape, memory.shape
    ((2, 4, 5), (2, 2, 5), (2, 2, 5))
    """

    cell, states = LSTMCell, 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.proj_size = whole(proj_size, "proj_size", least=0)
        if proj_size:
            if proj_size >= hidden_size:
                raise ArgumentError(
                    "a projection makes the state smaller", asked=f"LSTM(proj_size={proj_size})",
                    because=f"hidden_size is {hidden_size}",
                )  # fmt: skip
            self._weights = (*self._weights, "weight_hr")
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device, dtype,
        )  # fmt: skip

    def _state_sizes(self) -> list[int]:
        return [self.proj_size or self.hidden_size, self.hidden_size]

    def _new_cell(self, size: int, device: str | None, dtype: DType | None) -> Any:
        made = super()._new_cell(size, device, dtype)
        if self.proj_size:
            for name, shape in (
                ("weight_hh", (4 * self.hidden_size, self.proj_size)),
                ("weight_hr", (self.proj_size, self.hidden_size)),
            ):
                drawn = init.fan_in_uniform(
                    *shape, fan_in=self.hidden_size, device=device, dtype=dtype
                )
                setattr(made, name, parameter(drawn))
        return made

    def forward(
        self, input: Tensor | PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """(output, (h, c)). See the class."""
        if hx is not None and (not isinstance(hx, tuple | list) or len(hx) != 2):
            raise ArgumentError(
                "the state of an LSTM is two tensors",
                asked="LSTM(x, state)",
                because="the cells remember beside their output",
                try_="output, (h, c) = lstm(x, (h, c)), or None at the start",
            )
        output, (hidden, memory) = self._run(input, [] if hx is None else list(hx))
        return output, (hidden, memory)


class GRU(_Recurrent):
    """Gated recurrent units over sequences; see GRUCell for their steps.

    Call with x and h (num_layers * directions, batch, hidden_size), or None for zeros; gives
    (output, h) as LSTM does. Raises ShapeError for other shapes.

    >>> gru = nn.GRU(3, 5, bidirectional=True)
    >>> output, hidden = gru(Tensor.ones(4, 2, 3))
    >>> output.shape, hidden.shape
    ((4, 2, 10), (2, 2, 5))
    """

    cell, states = GRUCell, 1

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Any, Tensor]:
        """(output, h). See the class."""
        output, (last,) = self._run(input, [] if hx is None else [hx])
        return output, last


class RNN(_Recurrent):
    """Recurrent network with tanh or relu over sequences; see RNNCell for its steps.

    Call with x and h (num_layers * directions, batch, hidden_size), or None for zeros; gives
    (output, h) as GRU does. Raises ShapeError for other shapes.

    >>> rnn = nn.RNN(3, 5, nonlinearity="relu", batch_first=True)
    >>> output, hidden = rnn(Tensor.ones(2, 4, 3))
    >>> output.shape, hidden.shape
    ((2, 4, 5), (1, 2, 5))
    """

    cell, states = RNNCell, 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.nonlinearity = choice(nonlinearity, "nonlinearity", ("tanh", "relu"))
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device, dtype,
        )  # fmt: skip

    def _cell(self, suffix: str) -> Any:
        made = super()._cell(suffix)
        vars(made)["nonlinearity"] = self.nonlinearity
        return made

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Any, Tensor]:
        """(output, h). See the class."""
        output, (last,) = self._run(input, [] if hx is None else [hx])
        return output, last

"""Cells of recurrent networks: one step at a time."""

from __future__ import annotations

from weft.base.arguments import choice, shown, whole
from weft.base.dtype import DType
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import init
from weft.nn.input_checks import tensor_for
from weft.nn.module import Module
from weft.nn.parameter import parameter
from weft.tensor import Tensor


class _Cell(Module):
    """What the cells share: two maps of `gates` times hidden_size outputs.

    weight_ih (gates * hidden, input), weight_hh (gates * hidden, hidden), bias_ih and bias_hh
    (gates * hidden,) or None; all drawn from +-1/sqrt(hidden).
    """

    gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        input_size = whole(input_size, "input_size", least=0)
        hidden_size = whole(hidden_size, "hidden_size", least=0)
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self.gates * hidden_size

        def drawn(*shape: int) -> Tensor:
            drawn = init.fan_in_uniform(*shape, fan_in=hidden_size, device=device, dtype=dtype)
            return parameter(drawn)

        self.weight_ih, self.weight_hh = drawn(rows, input_size), drawn(rows, hidden_size)
        self.bias_ih = drawn(rows) if bias else None
        self.bias_hh = drawn(rows) if bias else None

    def extra_repr(self) -> str:
        bias = "" if self.bias_ih is not None else ", bias=False"
        return f"{self.input_size}, {self.hidden_size}{bias}"

    def _check(self, x: Tensor, *state: Tensor) -> None:
        """Raises ShapeError unless all is one step: (batch, size), or (size,) of one sample."""
        rows = x.shape[:-1]
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise ShapeError(
                "a cell takes one step of a batch",
                asked=f"{type(self).__name__} of {x.shape}",
                because=f"it was made for (batch, {self.input_size})",
                try_="call it for each step: for x in sequence: state = cell(x, state)",
            )
        for each in state:
            tensor_for(self, each, "state")
            if tuple(each.shape) != (*rows, self.hidden_size):
                raise ShapeError(
                    "the state does not belong to this input",
                    asked=f"{type(self).__name__} of {x.shape} with a state of {each.shape}",
                    because=f"the state must be {(*rows, self.hidden_size)}",
                    try_="give None at the start of a sequence, and then what the cell gave back",
                )

    def of_input(self, x: Tensor) -> Tensor:
        """The input projections of all gates, (..., gates * hidden), of one or several steps."""
        return x.linear(self.weight_ih.transpose(0, 1), self.bias_ih)

    def _of_hidden(self, hidden: Tensor) -> tuple[Tensor, ...]:
        """The hidden-state projection of each gate, each (batch, hidden)."""
        whole = hidden.linear(self.weight_hh.transpose(0, 1), self.bias_hh)
        return tuple(whole.chunk(self.gates, dim=-1))

    def _start(self, x: Tensor) -> Tensor:
        return Tensor.zeros(*x.shape[:-1], self.hidden_size, dtype=x.dtype, device=x.device)


class RNNCell(_Cell):
    """h' = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh) (Elman, 1990); or relu of it.

    Call with x (batch, input) and h (batch, hidden) or None for zeros; gives h'.

    >>> nn.RNNCell(3, 5)(Tensor.ones(2, 3)).shape
    (2, 5)
    """

    gates = 1
    nonlinearity = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = choice(nonlinearity, "nonlinearity", ("tanh", "relu"))

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state (batch, hidden)."""
        x = tensor_for(self, input)
        hx = self._start(x) if hx is None else hx
        self._check(x, hx)
        return self.moved(self.of_input(x), hx)

    def moved(self, given: Tensor, hidden: Tensor) -> Tensor:
        """The next state, of what `of_input` gave for this step."""
        (of_hidden,) = self._of_hidden(hidden.contiguous_backward())  # as in LSTMCell
        total = given + of_hidden
        return (total.relu() if self.nonlinearity == "relu" else total.tanh()).contiguous()


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; forget gate: Gers et al., 2000).

    i, f, o = sigmoid, g = tanh of weight_ih x + bias_ih + weight_hh h + bias_hh, in the order
    i, f, g, o; c' = f c + i g; h' = o tanh(c'). Call with x (batch, input) and (h, c), each
    (batch, hidden), or None for zeros; gives (h', c'). All may be without the batch.

    >>> cell = nn.LSTMCell(3, 5)
    >>> hidden, memory = cell(Tensor.ones(2, 3))
    >>> hidden, memory = cell(Tensor.ones(2, 3), (hidden, memory))
    >>> hidden.shape, memory.shape
    ((2, 5), (2, 5))
    """

    gates = 4
    weight_hr: Tensor | None = None  # the projection of the hidden state, in an LSTM only

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The next state: (h', c'), each (batch, hidden)."""
        x = tensor_for(self, input)
        if hx is not None and not (isinstance(hx, tuple | list) and len(hx) == 2):
            raise ArgumentError(
                "the state of an LSTMCell is two tensors",
                asked=f"LSTMCell(x, {shown(hx)})",
                because="the cell remembers beside its output",
                try_="h, c = cell(x, (h, c)), or None at the start of a sequence",
            )
        hidden, cell = (self._start(x), self._start(x)) if hx is None else hx
        self._check(x, hidden, cell)
        return self.moved(self.of_input(x), (hidden, cell))

    def moved(self, given: Tensor, hc: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """The next state, of what `of_input` gave for this step."""
        # Back through time the gradient of the cell is a chain without sums in between: unless it
        # stops at each step, each step would compute all later ones again.
        hidden, cell = (each.contiguous_backward() for each in hc)
        parts = given.chunk(self.gates, dim=-1), self._of_hidden(hidden)
        i, f, g, o = (a + b for a, b in zip(*parts, strict=True))
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        if self.weight_hr is not None:
            hidden = hidden.linear(self.weight_hr.transpose(0, 1))
        return hidden.contiguous(), cell.contiguous()


class GRUCell(_Cell):
    """Gated recurrent unit (Cho et al., 2014), in the form whose reset gate acts after the map.

    r, z = sigmoid of both sums; n = tanh(weight_in x + bias_in + r (weight_hn h + bias_hn)), in the
    order r, z, n; h' = (1 - z) n + z h. Call with x (batch, input) and h (batch, hidden) or None
    for zeros; gives h'.

    >>> cell = nn.GRUCell(3, 5)
    >>> state = cell(Tensor.ones(2, 3))
    >>> cell(Tensor.ones(2, 3), state).shape
    (2, 5)
    """

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state (batch, hidden)."""
        x = tensor_for(self, input)
        hx = self._start(x) if hx is None else hx
        self._check(x, hx)
        return self.moved(self.of_input(x), hx)

    def moved(self, given: Tensor, hidden: Tensor) -> Tensor:
        """The next state, of what `of_input` gave for this step."""
        hidden = hidden.contiguous_backward()  # as in LSTMCell
        xr, xz, xn = given.chunk(self.gates, dim=-1)
        hr, hz, hn = self._of_hidden(hidden)
        reset, keep = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        new = (xn + reset * hn).tanh()
        return ((1 - keep) * new + keep * hidden).contiguous()

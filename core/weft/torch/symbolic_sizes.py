"""Symbolic sizes: the dynamic sizes of a graph of PyTorch as variables of weft.
Also: dynamic shapes, dynamic batch, dynamic sequence length.

PyTorch names the dynamic sizes of a graph by symbols. The shape of each input is a tuple of
integers and of expressions of symbols. A call binds one variable of weft to each symbol, so that
kernels take the sizes as arguments, and one trace serves all sizes. The memory of an input has the
largest size. A size above the bound of its variable gets a variable with a larger bound.

A size of 0 or 1 stays a number: such axes are broadcast, and have traces of their own. So does a
size whose value an operator needs.

in:  the examples of a graph's inputs      out: bound sizes and shapes of a call

Source: PyTorch, dynamic shapes (symbolic integers and guards).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import reduce
from typing import Any

import torch

from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.tensor.jit import Jit
from weft.uop import UOp
from weft.uop.symbolic.sint import Variable, fold, smax, smin

_LEAST = 2
_MOST_DECLARED = 1 << 12
"""The largest declared bound of a size that is taken as it is."""
_MOST_CALLS = 256
"""Combinations of sizes whose shapes are kept."""

Symbol = Any  # sympy.Symbol
Shape = tuple[Any, ...]


class UnknownExpression(Exception):
    """An expression of sizes that weft does not know."""


class SymbolicSizes:
    """The sizes of the inputs of a graph.

    :param examples: tensors and sizes with symbols, as PyTorch recorded them; None for others.
    """

    def __init__(self, examples: Sequence[Any]) -> None:
        self._declared = [_declared(each) for each in examples]
        self._ranges: dict[Symbol, tuple[int, int]] = {}
        for example in examples:
            sizes = example.shape if isinstance(example, torch.Tensor) else (example,)
            for size in sizes:
                self._ranges.update(_ranges_of(size))
        self._bounds: dict[Symbol, tuple[int, int]] = {}
        self._bound: dict[tuple[Any, ...], list[Any]] = {}

        self._found = {
            each
            for declared in self._declared
            for each in (declared if isinstance(declared, tuple) else (declared,))
            if getattr(each, "is_Symbol", False)
        }
        self._numbers: frozenset[Symbol] = frozenset()
        alone = [frozenset({each}) for each in reversed(self._ranges)]
        self._attempts = [*(alone if len(alone) > 1 else ()), frozenset(self._ranges)]

    @property
    def is_symbolic(self) -> bool:
        """Whether any size of an input is a variable."""
        return self._numbers != self._ranges.keys()

    def specialize(self, variables: Iterable[UOp]) -> None:
        """Make numbers of the sizes that these variables stand for."""
        names = {each.arg.name for each in variables}
        self._set_numbers(self._numbers | {s for s in self._ranges if str(s) in names})

    def refuse(self) -> None:
        """Make a number of another size, or of all of them: the present ones cannot be traced."""
        self._set_numbers(self._attempts.pop(0) if self._attempts else frozenset(self._ranges))

    def _set_numbers(self, symbols: frozenset[Symbol]) -> None:
        self._numbers = symbols
        self._bound.clear()

    def bind(self, inputs: Sequence[Any]) -> list[Any]:
        """Return a shape for each tensor with symbolic sizes, a bound size for each symbolic size,
        and None for every other input.

        :param inputs: anything with a shape, and numbers.
        :raises UnknownExpression: if a size is no expression that weft knows.
        """
        values = self._values(inputs)
        key = tuple(values.items())
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= _MOST_CALLS:
                self._bound.clear()
            bound = {symbol: self._variable(symbol, value) for symbol, value in values.items()}
            found = self._bound[key] = [_evaluated(each, bound) for each in self._declared]
        return found

    def knows(self, size: Any) -> bool:
        """Return whether `evaluate` computes a size."""
        if not isinstance(size, torch.SymInt):
            return False
        try:
            _evaluate(_expression(size), dict.fromkeys(self._found, 1))
        except UnknownExpression:
            return False
        return True

    def evaluate(self, size: torch.SymInt, inputs: Sequence[Any]) -> int:
        """Return the number that a size is for these inputs."""
        return _evaluate(_expression(size), self._values(inputs))

    def _values(self, inputs: Sequence[Any]) -> dict[Symbol, int]:
        """Return the value of each symbol that is a size of an input."""
        values: dict[Symbol, int] = {}
        for declared, given in zip(self._declared, inputs, strict=True):
            if declared is None:
                continue
            is_size = not isinstance(declared, tuple)
            pairs = [(declared, given)] if is_size else zip(declared, given.shape)
            for expression, value in pairs:
                if not isinstance(expression, int) and expression.is_Symbol:
                    values[expression] = int(value)
        return values

    def _variable(self, symbol: Symbol, value: int) -> Any:
        """Return the variable of a symbol, bound to a value; the value where it stays a number."""
        if value < _LEAST or symbol in self._numbers:
            return value
        low, high = self._bounds.get(symbol, (_LEAST, 0))
        if not low <= value <= high:
            low, high = self._bounds[symbol] = self._range(symbol, value)
            self._bound.clear()
        return Variable(str(symbol), low, high).bind(value)

    def _range(self, symbol: Symbol, value: int) -> tuple[int, int]:
        """Return the bounds of a variable: the declared ones, or powers of two above the value."""
        low, high = self._ranges[symbol]
        low = low if _LEAST <= low <= value else _LEAST
        grown = 1 << (2 * value - 1).bit_length()
        return low, high if value <= high <= _MOST_DECLARED else grown


class SizedCalls:
    """Calls of a traced function with variables as sizes, and with numbers where it needs them.

    A size becomes a number where an operator reads its value, or cannot be traced with it.

    :ivar traces: of the function, by what they depend on. They are dropped when a size becomes a
        number.
    :ivar reason: why the values of some sizes have traces of their own. None: no value has.
    """

    def __init__(self, sizes: SymbolicSizes, traces: MutableMapping[Any, Jit[Any, Any]]) -> None:
        self._sizes = sizes
        self.traces = traces
        self.reason: str | None = None

    def __call__(self, inputs: Sequence[Any], compute: Callable[[Sequence[Any]], Any]) -> Any:
        """Return the result of a function of what `SymbolicSizes.bind` returns."""
        while self._sizes.is_symbolic:
            try:
                result = compute(self._sizes.bind(inputs))
            except (WeftError, UnknownExpression, TypeError, ValueError) as error:
                let_through(error)
                notes = getattr(error, "__notes__", ())
                self._sizes.refuse()
                self._specialize(f"{type(error).__name__}: {error}"[:300], *notes)
            else:
                read = {v for traced in self.traces.values() for v in traced.read_variables}
                if read:
                    self._sizes.specialize(read)
                    self._specialize("an operator reads the value of a size")
                return result
        return compute([None] * len(inputs))

    def _specialize(self, *reasons: str) -> None:
        self.reason = "; ".join(reasons)
        self.traces.clear()


def _declared(example: Any) -> Any:
    """Return the shape of a tensor or a size, with expressions; None without symbols."""
    if isinstance(example, torch.SymInt):
        expression = _expression(example)
        return None if isinstance(expression, int) else expression
    if not isinstance(example, torch.Tensor):
        return None
    shape = tuple(map(_expression, example.shape))
    return None if all(isinstance(each, int) for each in shape) else shape


def _expression(size: Any) -> Any:
    """Return the expression of a size: an int where it has one value."""
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return int(expression) if expression.is_Integer else expression


def _ranges_of(size: Any) -> dict[Symbol, tuple[int, int]]:
    """Return the bounds of each symbol of a size; 0 for an upper bound that is not known."""
    if not isinstance(size, torch.SymInt):
        return {}
    ranges = size.node.shape_env.var_to_range
    found = {}
    for symbol in size.node.expr.free_symbols:
        known = ranges.get(symbol)
        low, high = (known.lower, known.upper) if known is not None else (0, 0)
        found[symbol] = _finite(low), _finite(high)
    return found


def _finite(bound: Any) -> int:
    return int(bound) if getattr(bound, "is_Integer", False) or isinstance(bound, int) else 0


def hint_of(size: Any) -> int | None:
    """Return the size with which PyTorch compiled a graph; None if there is none."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return None if hint is None else int(hint)


# ---- expressions of sizes ------------------------------------------------------------------------


def _evaluated(declared: Any, values: Mapping[Symbol, Any]) -> Any:
    """Return a shape or a size for these values of the symbols."""
    if declared is None:
        return None
    if isinstance(declared, tuple):
        return tuple(_evaluate(each, values) for each in declared)
    return _evaluate(declared, values)


def _evaluate(expression: Any, values: Mapping[Symbol, Any]) -> Any:
    if isinstance(expression, int) or expression.is_Integer:
        return int(expression)
    if expression.is_Symbol and expression in values:
        return values[expression]
    function = _FUNCTIONS.get(type(expression).__name__)
    if function is None:
        raise UnknownExpression(f"the size {expression}")
    return fold(function(*(_evaluate(each, values) for each in expression.args)))


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int) or exponent < 1:
        raise UnknownExpression(f"a size to the power of {exponent}")
    return reduce(operator.mul, [base] * exponent)


_FUNCTIONS: dict[str, Callable[..., UOp | int]] = {
    "Add": lambda *terms: reduce(operator.add, terms),
    "Mul": lambda *factors: reduce(operator.mul, factors),
    "Pow": _power,
    "PowByNatural": _power,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": smax,
    "Min": smin,
}

"""Guards on conditions of variables: a recording depends on their outcomes, not on the values.

`if n > 4` in a captured function asks whether the condition holds. Its trace is valid for all
values of `n` with the same outcome, so the outcome belongs to the key of a call. `int(n)` reads the
value, and each value has a trace.

in:  the conditions that Python evaluates in a run      out: the expressions that the key contains

Source: TorchDynamo, guards on symbolic shapes (`torch.fx.experimental.symbolic_shapes`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from weft.engine.capture import Recording, recording
from weft.uop import Ops, UOp, provide
from weft.uop.symbolic.sint import evaluate_sint, variable_and_value, variables_of

MAX_CONDITIONS = 8
"""The number of conditions of one signature above which the values themselves are read."""

_conditions: ContextVar[tuple[Recording, dict[UOp, None]] | None]
_conditions = ContextVar("weft_conditions", default=None)


@contextmanager
def recorded_conditions(record: Recording) -> Generator[dict[UOp, None]]:
    """Record the conditions of bound variables that Python evaluates during a recording."""
    found: dict[UOp, None] = {}
    token = _conditions.set((record, found))
    try:
        yield found
    finally:
        _conditions.reset(token)


def _condition_read(condition: UOp) -> bool:
    """Record a condition; returns False where nobody records conditions."""
    listening = _conditions.get()
    if listening is None or recording() is not listening[0]:
        return False
    listening[1][condition] = None
    return True


provide("condition_read", _condition_read)


def expressions_read(
    values_read: Iterable[UOp],
    conditions: Iterable[UOp],
    arguments: Mapping[UOp, int],
    state: Mapping[UOp, int],
) -> frozenset[UOp]:
    """The variables whose values a run depends on, and the conditions, with free variables.

    arguments, state: the values of variables that are passed in and reached. Other variables have
    their values in each run. A condition over both kinds counts as a read of its variables.
    """
    known = {**state, **arguments}
    read = {variable for variable in values_read if variable in known}
    for condition in conditions:
        bound = [node for node in condition.toposort() if node.op is Ops.BIND]
        free = {node: _free(node, known) for node in bound}
        expression = condition.substitute(free).simplify()
        found = variables_of(expression)
        if found <= arguments.keys() or found.isdisjoint(arguments):
            read.add(expression)
        else:
            read |= found
    return frozenset(u for u in read if u.op is not Ops.CONST)


def _free(bound: UOp, known: Mapping[UOp, int]) -> UOp:
    """The variable of a BIND if its value is the known one, else the value."""
    variable, value = variable_and_value(bound)
    return variable if known.get(variable) == value else bound.src[1]


def merged(known: frozenset[UOp], read: frozenset[UOp]) -> frozenset[UOp]:
    """Both sets of expressions, without conditions that the values of read variables decide."""
    together = known | read
    variables = frozenset(u for u in together if u.op is Ops.DEFINE_VAR)
    conditions = [u for u in together - variables if not variables_of(u) <= variables]
    if len(conditions) > MAX_CONDITIONS:
        return variables.union(*map(variables_of, conditions))
    return variables.union(conditions)


def outcomes(read: Iterable[UOp], values: Mapping[UOp, int]) -> list[tuple[UOp, int]]:
    """The expressions whose variables all have a value in `values`, each with its own value."""
    return [(u, _value(u, values)) for u in read if variables_of(u) <= values.keys()]


def _value(expression: UOp, values: Mapping[UOp, int]) -> int:
    if expression.op is Ops.DEFINE_VAR:
        return values[expression]
    return bool(evaluate_sint(expression, dict(values)))

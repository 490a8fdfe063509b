"""Safe unpickling: an interpreter of pickle opcodes that runs no code.

`pickletools` splits a pickle into opcodes. The interpreter executes those that describe data:
numbers, strings, lists, dicts, tuples, and calls of functions on an allowlist. Any other opcode or
name is a FormatError. It sets no attribute and imports nothing.

Source: Python, "Restricting Globals" (pickle); PyTorch, `torch.load(weights_only=True)`.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from weft.base.errors import FormatError

Calls = Mapping[str, Callable[..., Any]]
Persistent = Callable[[Any], Any]

_MARK = object()
_PLAIN_KEYS = (str, int, float, bytes, bool, type(None))
_LITERALS = frozenset(
    "BININT BININT1 BININT2 INT LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE BINUNICODE SHORT_BINUNICODE"
    " BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 STRING BINSTRING SHORT_BINSTRING BYTEARRAY8"
    .split()
)  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set, "EMPTY_TUPLE": tuple,
}  # fmt: skip
_SIZED = (str, bytes, list, tuple, dict, set, frozenset)
# The budget of values that all calls may copy: more than a file of this length can contain. A
# pickle may pass one large memo entry to many calls.
_BUDGET, _BUDGET_PER_BYTE = 1 << 20, 4


@dataclass(frozen=True)
class Name:
    """A global name `module.attribute`. It is never imported."""

    text: str


def refused(what: str, because: str) -> FormatError:
    """The error for a pickle with an opcode or a call that is not allowed."""
    return FormatError(
        "this pickle is not plain data",
        asked=what,
        because=because,
        try_="save the model's state_dict() alone, or convert the file to safetensors where it "
        "was made",
    )


def read_pickle(stream: BinaryIO, calls: Calls, persistent: Persistent | None = None) -> Any:
    """The value of the pickle at the position of the stream; moves the stream behind it.

    calls: the allowlist of functions by name. persistent: resolves a persistent id.
    :raises FormatError: for an opcode or call that is not allowed, and for a damaged pickle.
    """
    machine = _Machine(calls, persistent)
    try:
        for opcode, arg, place in pickletools.genops(stream):
            machine.budget = _BUDGET + _BUDGET_PER_BYTE * (place or 0) - machine.spent
            machine.step(opcode.name, arg)
            if opcode.name == "STOP":
                return machine.result()
    except FormatError:
        raise
    except (
        ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError
    ) as error:  # fmt: skip
        raise _damaged(str(error)) from None
    raise _damaged("it has no STOP opcode")


def _damaged(why: str) -> FormatError:
    return FormatError(
        "the pickle in this file is damaged",
        because=why[:200] or "its opcodes do not fit together",
        try_="get the file again and compare its size",
    )


class _Machine:
    """The stack machine of one pickle: stack, memo, and budget of copied values."""

    def __init__(self, calls: Calls, persistent: Persistent | None) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.calls = calls
        self.persistent = persistent
        self.spent = 0
        self.budget = _BUDGET

    def result(self) -> Any:
        """The value on the stack after STOP."""
        if len(self.stack) != 1 or isinstance(self.stack[0], Name) or self.stack[0] is _MARK:
            raise _damaged("it does not end with one value")
        return self.stack[0]

    def step(self, name: str, arg: Any) -> None:
        """Execute one opcode."""
        if name in _LITERALS:
            self.stack.append(bytes(arg) if isinstance(arg, bytearray) else arg)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in ("PROTO", "FRAME", "STOP"):
            pass
        else:
            method = getattr(self, "do_" + name.lower(), None)
            if method is None:
                raise refused(f"opcode {name}", "only data is read from pickles")
            method(arg)

    def pop(self) -> Any:
        """Pop the topmost value."""
        value = self.stack.pop()
        if value is _MARK:
            raise _damaged("a mark is in the place of a value")
        return value

    def above_mark(self) -> list[Any]:
        """Pop the values above the topmost mark, and the mark."""
        at = len(self.stack) - 1
        while at >= 0 and self.stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise _damaged("a mark is missing")
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values

    # ---- the stack and the memo ---------------------------------------------------------------

    def do_mark(self, arg: Any) -> None:
        self.stack.append(_MARK)

    def do_pop(self, arg: Any) -> None:
        self.stack.pop()

    def do_pop_mark(self, arg: Any) -> None:
        self.above_mark()

    def do_dup(self, arg: Any) -> None:
        self.stack.append(self.stack[-1])

    def do_memoize(self, arg: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def do_put(self, arg: int) -> None:
        self.memo[arg] = self.stack[-1]

    do_binput = do_long_binput = do_put

    def do_get(self, arg: int) -> None:
        self.stack.append(self.memo[arg])

    do_binget = do_long_binget = do_get

    # ---- containers ---------------------------------------------------------------------------

    def do_list(self, arg: Any) -> None:
        self.stack.append(self.above_mark())

    def do_append(self, arg: Any) -> None:
        value = self.pop()
        self._top(list).append(value)

    def do_appends(self, arg: Any) -> None:
        values = self.above_mark()
        self._top(list).extend(values)

    def do_additems(self, arg: Any) -> None:
        values = self.above_mark()
        self._top(set).update(_key(value) for value in values)

    def do_frozenset(self, arg: Any) -> None:
        self.stack.append(frozenset(_key(value) for value in self.above_mark()))

    def do_dict(self, arg: Any) -> None:
        self.stack.append(_pairs(self.above_mark()))

    def do_setitem(self, arg: Any) -> None:
        value, key = self.pop(), self.pop()
        self._top(dict)[_key(key)] = value

    def do_setitems(self, arg: Any) -> None:
        values = self.above_mark()
        self._top(dict).update(_pairs(values))

    def do_tuple(self, arg: Any) -> None:
        self.stack.append(tuple(self.above_mark()))

    def do_tuple1(self, arg: Any) -> None:
        self.stack.append((self.pop(),))

    def do_tuple2(self, arg: Any) -> None:
        second, first = self.pop(), self.pop()
        self.stack.append((first, second))

    def do_tuple3(self, arg: Any) -> None:
        third, second, first = self.pop(), self.pop(), self.pop()
        self.stack.append((first, second, third))

    def _top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise _damaged(f"a {kind.__name__} is expected")
        return self.stack[-1]

    # ---- names and calls ----------------------------------------------------------------------

    def do_global(self, arg: str) -> None:
        self.stack.append(Name(arg.replace(" ", ".")))

    def do_stack_global(self, arg: Any) -> None:
        attribute, module = self.pop(), self.pop()
        if not isinstance(attribute, str) or not isinstance(module, str):
            raise _damaged("a name is not text")
        self.stack.append(Name(f"{module}.{attribute}"))

    def do_reduce(self, arg: Any) -> None:
        given, function = self.pop(), self.pop()
        if not isinstance(function, Name) or not isinstance(given, tuple):
            raise _damaged("a call of what is no name")
        called = self.calls.get(function.text)
        if called is None:
            raise refused(f"a call of {function.text}", "pickles may call anything; this one is "
                          "not among what tensors are made of")  # fmt: skip
        size = sum(len(each) for each in given if isinstance(each, _SIZED))
        if size > self.budget:
            raise refused(
                f"a call of {function.text} with {size} values",
                "repeated calls on one value would expand this file far beyond its size",
            )
        self.spent += size
        self.stack.append(called(*given))

    do_newobj = do_reduce

    def do_build(self, arg: Any) -> None:
        """Drop the attributes of a dict: state dicts have version metadata there."""
        self.pop()
        self._top(dict)

    def do_persid(self, arg: Any) -> None:
        self._persistent(arg)

    def do_binpersid(self, arg: Any) -> None:
        self._persistent(self.pop())

    def _persistent(self, key: Any) -> None:
        if self.persistent is None:
            raise refused("a persistent id", "this kind of file has none")
        self.stack.append(self.persistent(key))


def _key(value: Any) -> Any:
    """Check a key: a plain value or a flat tuple of them, so that hashing does not recurse."""
    flat = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(part, _PLAIN_KEYS) for part in flat):
        raise _damaged(f"a {type(value).__name__} as a key")
    return value


def _pairs(values: list[Any]) -> dict[Any, Any]:
    if len(values) % 2:
        raise _damaged("a key without a value")
    return {_key(key): value for key, value in zip(values[::2], values[1::2])}

"""The IR as text: print and parse, exact both ways.

    %0 = DEVICE void  arg='X'
    %1 = CONST float %0  arg=2.0

One line a node: number, op, dtype, sources, arg. A graph that was printed and parsed again is the
same object. Args are printed as Python literals and calls of the known arg classes, and read back
from Python's syntax tree, without evaluating anything.
"""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from weft.base.dtype import AddrSpace, DType, ImageDType, PtrDType, dtypes
from weft.base.errors import ArgumentError, FormatError
from weft.uop import args
from weft.uop.node import UOp
from weft.uop.ops import Ops

_readers: dict[str, Callable[..., Any]] = {
    cls.__name__: cls
    for cls in (
        args.Reduce, args.Row, args.Var, args.RangeArg, args.BufferView, args.Window,
        args.KernelInfo,
    )
}  # fmt: skip
_PLAIN = frozenset({int, str, bool, bytes, type(None)})  # these very types: an Ops is an int
_writers: dict[type, Callable[[Any, Callable[[Any], str]], str]] = {}


def register_arg(
    cls: type,
    read: Callable[..., Any] | None = None,
    write: Callable[[Any, Callable[[Any], str]], str] | None = None,
) -> None:
    """Register an argument class, so that the text form can print and parse it.

    `read` builds one from the printed arguments (the class itself by default); `write` prints one,
    given a printer for its fields (a call with the dataclass fields by default).
    """
    _readers[cls.__name__] = read or cls
    if write is not None:
        _writers[cls] = write


def dtype_text(dtype: DType) -> str:
    """A dtype on one word: `float`, `floatx4`, `int*global(16)`, `imagef(2,3)`."""
    if isinstance(dtype, ImageDType) and dtype.count == 1:
        return f"{dtype.name}({dtype.shape[0]},{dtype.shape[1]})"
    if isinstance(dtype, PtrDType):
        return f"{dtype_text(dtype.base)}*{dtype.space.name.lower()}({dtype.size})"
    return dtype.scalar().name if dtype.count == 1 else f"{dtype.scalar().name}x{dtype.count}"


def parse_dtype(text: str) -> DType:
    """The dtype that `dtype_text` printed; FormatError otherwise."""
    try:
        if "*" in text:
            base, _, rest = text.partition("*")
            space, _, size = rest.partition("(")
            return parse_dtype(base).ptr(int(size.rstrip(")")), AddrSpace[space.upper()])
        if text.startswith(("imagef(", "imageh(")):
            kind, _, extents = text.rstrip(")").partition("(")
            height, width = map(int, extents.split(","))
            return (dtypes.imagef if kind == "imagef" else dtypes.imageh)((height, width, 4))
        name, _, lanes = text.partition("x") if "x" in text else (text, "", "")
        scalar = dtypes.void if name == "void" else dtypes.to_dtype(name)
        return scalar.vec(int(lanes)) if lanes else scalar
    except (KeyError, ValueError, TypeError) as error:
        raise FormatError(f"{text!r} is no dtype", asked="reading IR text") from error


class _Printer:
    def __init__(self) -> None:
        self.number: dict[UOp, int] = {}
        self.lines: list[str] = []

    def add(self, root: UOp) -> str:
        for node in root.toposort():
            if node not in self.number:
                self.line(node)
        return f"%{self.number[root]}"

    def line(self, node: UOp) -> None:
        # printing the arg may add the lines that it refers to, so the number comes after it
        arg = "" if node.arg is None else f"  arg={self.arg(node.arg)}"
        self.number[node] = number = len(self.lines)
        sources = "".join(f" %{self.number[s]}" for s in node.src)
        self.lines.append(f"%{number} = {node.op.name} {dtype_text(node.dtype)}{sources}{arg}")

    def arg(self, value: Any) -> str:
        kind: type[Any] = value.__class__
        items = value
        if kind in _PLAIN:
            return repr(value)
        if kind is tuple:
            return f"({''.join([self.arg(item) + ', ' for item in items])})"
        if isinstance(value, UOp):
            return f"REF({self.add(value)[1:]})"
        if writer := _writers.get(kind):
            return writer(value, self.arg)
        if isinstance(value, Ops | args.AxisKind):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, DType):
            return f"DTYPE({dtype_text(value)!r})"
        if isinstance(value, args.Kernel):
            return f"Kernel({self.arg(value.ast)})"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            inside = (self.arg(getattr(value, f.name)) for f in dataclasses.fields(value))
            return f"{type(value).__name__}({', '.join(inside)})"
        if isinstance(value, tuple):
            return f"({''.join(self.arg(item) + ', ' for item in items)})"
        if isinstance(value, float) and not math.isfinite(value):
            return f"FLOAT({str(value)!r})"
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return repr(value)
        raise ArgumentError(
            f"a {type(value).__name__} has no textual form",
            asked="printing IR as text",
            because="it is the arg of a node",
            try_="register_arg(cls, read, write)",
        )


def arg_text(value: Any) -> str:
    """The arg of a node as `to_text` prints it; its repr where it has no form of its own."""
    if isinstance(value, UOp | args.Kernel):
        return repr(value)
    printer = _Printer()
    try:
        text = printer.arg(value)
    except ArgumentError:
        return repr(value)
    # nodes inside would be printed as numbers of lines that are not shown
    return repr(value) if printer.lines else text


def to_text(root: UOp, notes: Mapping[UOp, str] | None = None) -> str:
    """The graph below `root`, one node a line, sources first.

    notes: about some of its nodes; each follows as a comment line, `# %7 note`.
    """
    printer = _Printer()
    printer.add(root)
    about = notes or {}
    found = [f"# %{n} {about[node]}" for node, n in printer.number.items() if node in about]
    return "\n".join(printer.lines + found) + "\n"


def _not_text(number: int, text: str, because: str) -> FormatError:
    return FormatError(
        f"line {number} is not IR text: {text.strip()!r}",
        asked="reading IR text",
        because=because,
        try_="what to_text printed",
    )


class _Reader:
    def __init__(self) -> None:
        self.nodes: list[UOp] = []

    def node(self, number: int, line: int) -> UOp:
        if not 0 <= number < len(self.nodes):
            raise FormatError(
                f"line {line} uses %{number} before it is defined", asked="reading IR text"
            )
        return self.nodes[number]

    def line(self, number: int, text: str) -> None:
        head, _, arg = text.partition("  arg=")
        words = head.split()
        try:
            if words[1] != "=" or words[0] != f"%{len(self.nodes)}":
                raise ValueError(f"expected '%{len(self.nodes)} = OP dtype sources'")
            if words[2] not in Ops.__members__:
                raise ValueError(f"expected an operation, and there is none called {words[2]!r}")
            op, dtype = Ops[words[2]], parse_dtype(words[3])
            src = tuple(self.node(int(word[1:]), number) for word in words[4:])
            value = self.value(ast.parse(arg, mode="eval").body, number) if arg else None
        except FormatError as error:
            if error.summary.startswith("line "):
                raise
            raise _not_text(number, text, error.summary) from error
        except IndexError as error:
            expected = f"expected '%{len(self.nodes)} = OP dtype sources'"
            raise _not_text(number, text, expected) from error
        except (KeyError, ValueError, SyntaxError, TypeError, AttributeError) as error:
            raise _not_text(number, text, str(error)) from error
        self.nodes.append(UOp(op, dtype, src, value))

    def value(self, tree: ast.expr, line: int) -> Any:
        if isinstance(tree, ast.Constant):
            return tree.value
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -self.value(tree.operand, line)
        if isinstance(tree, ast.Tuple):
            return tuple(self.value(item, line) for item in tree.elts)
        if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
            return {"Ops": Ops, "AxisKind": args.AxisKind}[tree.value.id][tree.attr]
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            values = [self.value(item, line) for item in tree.args]
            name = tree.func.id
            if name == "REF":
                return self.node(values[0], line)
            if name == "DTYPE":
                return parse_dtype(values[0])
            if name == "FLOAT":
                return float(values[0])
            if name == "Kernel":
                return args.Kernel(values[0])
            if name in _readers:
                return _readers[name](*values)
        raise ValueError(f"{ast.unparse(tree)} is not valid in an arg")


def from_text(text: str) -> UOp:
    """The graph that `to_text` printed: the same object, where it is still alive.

    Raises FormatError, with the line, for anything else.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.line(number, line)
    if not reader.nodes:
        raise FormatError("there is no node in this text", asked="reading IR text")
    return reader.nodes[-1]

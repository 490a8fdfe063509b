"""C code generation: print a linear program as the source of one kernel in a dialect of C.

A value that is used once and has short text is inlined at its use. Every other value gets a
statement and a name: `val` for loads, `cast` for conversions, `acc` for registers, `alu` for the
rest.

in:  spec.linear, with the renderer's rules applied
out: C-like text, one function with the name of the program

Source: Aho, Lam, Sethi and Ullman, "Compilers: Principles, Techniques, and Tools", 2006, chapter
8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.base.dtype import DType, ImageDType, PtrDType, dtypes
from weft.base.errors import CapabilityError, SpecError
from weft.device.program import SourceText
from weft.render.address_selection import ZEROS, SelectedAddress, selected_loads
from weft.render.dialect import PLAIN_C, CDialect
from weft.render.expressions import is_mask, mask_dtype
from weft.render.extensions import Extensions, Function, LoopText
from weft.render.helpers import Helpers
from weft.render.memory_access import MemoryAccess, zeros_name
from weft.render.precedence import ATOM, COMPARE, Expression
from weft.render.rules import C_RULES
from weft.render.statement_placement import inlinable
from weft.uop import Ops, PatternMatcher, UOp
from weft.uop.args import NON_TEMPORAL, PREFETCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.device import LinearProgram

LINE_LENGTH = 110


class CStyleRenderer(Extensions):
    """Renders any C-like language from its dialect, and from the extensions that a subclass has.

    :param dialect: the language; None is plain C99 without vectors.
    :ivar language: of the dialect.
    :ivar native_ops: of the dialect.
    :ivar rules: the last rewrites that every C wants. A linear program may come without them.
    """

    def __init__(self, dialect: CDialect | None = None) -> None:
        self.dialect = dialect or PLAIN_C
        self.language: str = self.dialect.language
        self.native_ops: frozenset[Ops] = self.dialect.native_ops
        self.rules: PatternMatcher | None = C_RULES

    def render(self, program: LinearProgram) -> SourceText:
        """The source of one kernel, with the types and functions it needs before it.

        :raises CapabilityError: if the language lacks a dtype, shared memory, a launch index.
        :raises SpecError: if the program is not spec.linear, or holds an op that is not native.
        """
        return _Kernel(self, program).source()


_NO_TEXT = LoopText()
_DEFINITIONS = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.DEFINE_REG, Ops.DEFINE_LOCAL})


class _Kernel:
    """One rendering."""

    def __init__(
        self, renderer: CStyleRenderer, program: LinearProgram, helpers: Helpers | None = None
    ) -> None:
        self.renderer = renderer
        self.dialect = renderer.dialect
        self.program = program
        self.helpers = helpers or Helpers(
            self.dialect, renderer.function_prefix, renderer.float_quotients
        )
        self.values = MemoryAccess(renderer, self.helpers)
        self.lines: list[str] = []
        self.depth = 1
        self.open_launch_loops = 0
        self.needs_fence = False
        self.counts: dict[str, int] = {}
        self.loop_text = renderer.loop_text(program.uops)

    def source(self) -> SourceText:
        uops, functions = self.renderer.prepare(self.program.uops)
        if self.renderer.selects_addresses:
            self.values.selected = selected_loads(uops)
        self._declare_storage()
        for function in functions:
            self._function(function)
        self._nodes(uops)
        for _ in range(self.open_launch_loops):
            self.depth -= 1
            self._line("}")
        if self.needs_fence:
            self._line(self.renderer.store_fence)
        if self.depth != 1:
            raise SpecError("a block is not closed", asked=f"rendering {self.program.name}")
        name, types = self.program.name, self._types()
        preamble = self.renderer.preamble(self.program, self.helpers.usage)
        before = [preamble] if preamble else []
        before += self.helpers.types.values()
        before += self.helpers.texts.values()
        *attributes, prefix = self.renderer.kernel_prefix(self.program).split("\n")
        head = f"{prefix} {name}({self._parameters(types)}) {{"
        after = self.renderer.after_kernel(self.program, types)
        after = [part for line in after for part in _wrapped(line, "")]
        lines = [*before, *attributes, *_wrapped(head, ""), *self.lines, "}", *after, ""]
        return SourceText("\n".join(lines), self.helpers.texts, self.renderer.entries(self.program))

    # ---- the head ---------------------------------------------------------------------------

    def _types(self) -> list[str]:
        """Of the buffers, then of the variables."""
        pointers = {u.arg: u.dtype for u in self.program.uops if u.op is Ops.DEFINE_GLOBAL}
        types: list[str] = []
        for slot in self.program.globals:
            if isinstance(pointers[slot], ImageDType):
                types.append(self.renderer.image_type(slot in self.program.outs))
                continue
            const = "" if slot in self.program.outs else "const "
            element = self._storage_type(pointers[slot].base)
            types.append(f"{self.dialect.global_qualifier}{const}{element}*")
        return types + [self.helpers.type(variable.dtype) for variable in self.program.variables]

    def _parameters(self, types: list[str]) -> str:
        words: list[str] = []
        slots = self.program.globals
        for position, (slot, kind) in enumerate(zip(slots, types)):
            name = self.renderer.buffer_name(f"data{slot}", position)
            restrict = self.dialect.restrict if kind.endswith("*") else ""
            words.append(" ".join(filter(None, (kind, restrict, name))))
        for name, type_name in zip(self.program.variable_names, types[len(slots) :]):
            words.append(self.renderer.variable_parameter(type_name, name))
        words += self.renderer.extra_parameters(self.program)
        return ", ".join(filter(None, words))

    def _storage_type(self, dtype: DType) -> str:
        if dtype.count > 1:
            return self.helpers.type(mask_dtype(1, dtype.count) if is_mask(dtype) else dtype)
        return self.helpers.stored_type(dtype)

    def _declare_storage(self) -> None:
        """Declare registers and shared memory at the top of the kernel."""
        names = dict(zip(self.program.variables, self.program.variable_names))
        for u in self.program.uops:
            if u.op not in _DEFINITIONS:
                continue
            kind = u.dtype
            if isinstance(kind, ImageDType) and not self.renderer.images:
                raise CapabilityError(
                    f"{self.dialect.language} has no images here", asked=f"{kind!r} in a kernel"
                )
            if u.op is Ops.DEFINE_GLOBAL:
                self.values.known[u] = Expression(f"data{u.arg}")
            elif u.op is Ops.DEFINE_VAR:
                self.values.known[u] = Expression(self.renderer.variable(names[u]))
            elif u.op is Ops.DEFINE_REG and isinstance(kind, PtrDType):
                self._declare_register(u, kind)
            elif u.op is Ops.DEFINE_LOCAL and isinstance(kind, PtrDType):
                if self.dialect.shared_qualifier is None:
                    raise self._missing("memory shared by a work group", "shared_bytes=0")
                element = self._storage_type(kind.base)
                for line in self.renderer.shared_array(self.program, u, element):
                    self._line(line)
                self.values.known[u] = Expression(str(u.arg))

        self._declare_zeros()

    def _declare_zeros(self) -> None:
        """Declare the arrays that gated loads read in place of their buffers."""
        pointers = {load.address.buffer.dtype for load in self.values.selected.values()}
        for base in sorted({zeros_name(pointer): pointer.base for pointer in pointers}.items()):
            name, dtype = base
            self._line(f"static const {self._storage_type(dtype)} {name}[{ZEROS}] = {{0}};")

    def _declare_register(self, u: UOp, kind: PtrDType) -> None:
        scalar = kind.base is dtypes.bool
        element = self.helpers.type(kind.base) if scalar else self._storage_type(kind.base)
        if kind.size == 1:
            name = f"acc{u.arg}"
            self._line(f"{element} {name};")
        else:
            name = f"row{u.arg}"
            self._line(self.renderer.array(element, name, kind.size))
        self.values.known[u] = Expression(name)

    # ---- the body ---------------------------------------------------------------------------

    def _nodes(self, uops: Sequence[UOp]) -> None:
        vectors = self.dialect.vectors
        lengths = inlinable(uops, vectors is not None and bool(vectors.shuffle))
        for u in uops:
            if u.op is not Ops.INDEX:  # written where memory is read or stored
                self._node(u, lengths.get(u, 0))

    def _function(self, function: Function) -> None:
        """Define a function before the kernel."""
        body = _Kernel(self.renderer, self.program, self.helpers)
        words: list[str] = []
        for place, u in enumerate(function.parameters):
            body.values.known[u] = Expression(f"given{place}")
            words.append(f"{self.helpers.type(u.dtype)} given{place}")
        body._nodes(function.steps)
        result = function.steps[-1]
        body._line(f"return {body.values.text(result)};")
        head = f"static {self.helpers.type(result.dtype)} {function.name}({', '.join(words)})"
        declaration = self.renderer.function_declaration(head)
        lines = [*_wrapped(declaration, ""), *_wrapped(f"{head} {{", "")]
        self.helpers.texts[function.name] = "\n".join([*lines, *body.lines, "}"])

    def _node(self, u: UOp, length: int) -> None:
        statement = _STATEMENTS.get(u.op)
        if statement is not None:
            statement(self, u)
            return
        if u in self.values.known:
            return
        if u.op is Ops.WMMA:
            found = Expression(self.renderer.wmma(u, tuple(map(self.values.text, u.src))))
        elif u.op is Ops.DOT:
            found = Expression(self.renderer.dot(u, tuple(map(self.values.text, u.src))))
        elif u.op is Ops.SHUFFLE:
            found = Expression(self.renderer.shuffle(u, self.values.text(u.src[0])))
        else:
            if u.op is Ops.LOAD and (prefetch := self.values.prefetch(u)):
                self._line(prefetch)
            if u.op is Ops.LOAD and u.arg in PREFETCHES:
                return
            if (load := self.values.selected.get(u)) is not None:
                self._select_address(load.address)
            found = self.values.of(u)
        if len(found.text) <= length:
            self.values.known[u] = found
        else:
            self._name(u, found)

    def _select_address(self, address: SelectedAddress) -> None:
        """Define a selected address, before its first load."""
        if address in self.values.addresses:
            return
        pointer = address.buffer.dtype
        assert isinstance(pointer, PtrDType)
        name = self._fresh("place")
        text = self.values.selected_address(address)
        self._line(f"const {self._storage_type(pointer.base)}* {name} = {text};")
        self.values.addresses[address] = name

    def _name(self, u: UOp, found: Expression) -> None:
        name = self._fresh(_STEMS.get(u.op, "alu"))
        dtype = mask_dtype(found.mask, u.dtype.count) if found.mask else u.dtype
        self._line(f"{self.helpers.type(dtype)} {name} = {found.text};")
        self.values.known[u] = Expression(name, ATOM, found.mask)

    def _range(self, u: UOp) -> None:
        name = f"ridx{u.arg.id}"
        end = self.values.text(u.src[0], COMPARE + 1)
        kind = self.helpers.type(u.dtype)
        if before := self.loop_text.get(u, _NO_TEXT).before:
            self._line(before)
        self._line(f"for ({kind} {name} = 0; {name} < {end}; {name}++) {{")
        self._enter_loop(u, name)

    def _enter_loop(self, u: UOp, name: str) -> None:
        """Enter the body of a loop."""
        self.depth += 1
        self.values.known[u] = Expression(name)
        if inside := self.loop_text.get(u, _NO_TEXT).inside:
            self._line(inside)

    def _if(self, u: UOp) -> None:
        self._line(f"if ({self.values.condition(u.src[0])}) {{")
        self.depth += 1

    def _close(self, u: UOp) -> None:
        if self.depth == 1:
            raise SpecError(f"{u.op} closes nothing", asked=f"rendering {self.program.name}")
        self.depth -= 1
        self._line("}")

    def _store(self, u: UOp) -> None:
        index, value = u.src[0], u.src[1]
        kind = index.src[0].dtype
        assert isinstance(kind, PtrDType)  # self.values.written refuses the rest below
        gate = f"if ({self.values.text(index.src[2])}) " if len(index.src) > 2 else ""
        whole = kind.base is value.dtype
        if not whole and value.dtype.count & (value.dtype.count - 1):
            self._store_lanes(index, value, gate)
            return
        text = self.values.stored(value, whole and is_mask(value.dtype))
        if u.arg == NON_TEMPORAL and self.renderer.store_fence:
            name = self._fresh("alu")
            self._line(f"{self.helpers.type(value.dtype)} {name} = {text};")
            self._line(self.values.non_temporal_store(index, value.dtype, name))
            self.needs_fence = True
            return
        self._line(f"{gate}{self.values.written(index, value.dtype, text)};")

    def _store_lanes(self, index: UOp, value: UOp, gate: str) -> None:
        """Vectors of three lanes and the like are longer in C than in memory."""
        lanes = value.dtype.count
        dtype = mask_dtype(1, lanes) if is_mask(value.dtype) else value.dtype
        name = self._fresh("alu")
        self._line(f"{self.helpers.type(dtype)} {name} = {self.values.stored(value, True)};")
        for lane, place in enumerate(self.values.lane_places(index, value.dtype)):
            test = " != 0" if is_mask(value.dtype) else ""
            self._line(f"{gate}{place} = {self.values.lane(name, lane)}{test};")

    def _special(self, u: UOp) -> None:
        prefix, axis = u.arg.rstrip("0123456789"), int(u.arg[-1])
        kind = self.helpers.type(u.dtype)
        if loop := self.renderer.launch_loop(u, kind, self.values.text(u.src[0])):
            for line in loop:
                self._line(line)
            self.open_launch_loops += 1
            self._enter_loop(u, u.arg)
            return
        index = self.renderer.launch_index(self.program, prefix, axis)
        if index is None:
            raise self._missing("launch indices", "KernelLimits(global_size=None, local_size=None)")
        self._line(f"{kind} {u.arg} = {index};")
        self.values.known[u] = Expression(u.arg)

    def _barrier(self, u: UOp) -> None:
        if self.dialect.barrier is None:
            raise self._missing("barriers", "no Feature.BARRIER")
        self._line(self.dialect.barrier)

    def _statement(self, u: UOp) -> None:
        self._line(u.arg.format(*(self.values.text(s, ATOM) for s in u.src)))

    def _no_statement(self, u: UOp) -> None:
        """Nodes without a statement."""
        if u.op is Ops.NOOP and len(u.src) == 1 and u.src[0] in self.values.known:
            self.values.known[u] = self.values.known[u.src[0]]

    # ---- words ------------------------------------------------------------------------------

    def _fresh(self, stem: str) -> str:
        number = self.counts.get(stem, 0)
        self.counts[stem] = number + 1
        return f"{stem}{number}"

    def _line(self, text: str) -> None:
        indent = "  " * self.depth
        if len(indent) + len(text) < LINE_LENGTH:
            self.lines.append(indent + text)
        else:
            self.lines += _wrapped(text, indent)

    def _missing(self, what: str, declare: str) -> CapabilityError:
        """The error for something that the dialect does not have."""
        return CapabilityError(
            f"{self.dialect.language} has no {what} here",
            asked=f"rendering {self.program.name}",
            because="its CDialect does not say how they are spelt",
            try_=f"fill in the CDialect, or declare {declare}",
        )


def _wrapped(text: str, indent: str) -> list[str]:
    """A statement over as many lines as it takes, broken after commas."""
    if len(indent) + len(text) < LINE_LENGTH:
        return [indent + text]
    lines = [indent]
    for piece in text.replace(", ", ",\0 ").split("\0 "):
        joint = " " if lines[-1].strip() else ""
        if joint and len(lines[-1]) + len(piece) >= LINE_LENGTH:
            lines.append(f"{indent}    {piece}")
        else:
            lines[-1] += joint + piece
    return lines


_STEMS = {
    Ops.LOAD: "val", Ops.CAST: "cast", Ops.BITCAST: "cast", Ops.WMMA: "wmma", Ops.SHUFFLE: "other",
}  # fmt: skip

_STATEMENTS = {
    Ops.RANGE: _Kernel._range,
    Ops.ENDRANGE: _Kernel._close,
    Ops.IF: _Kernel._if,
    Ops.ENDIF: _Kernel._close,
    Ops.STORE: _Kernel._store,
    Ops.SPECIAL: _Kernel._special,
    Ops.BARRIER: _Kernel._barrier,
    Ops.CUSTOM: _Kernel._statement,
    # an asynchronous STORE is synchronous here
    **dict.fromkeys(
        (*_DEFINITIONS, Ops.COMMIT, Ops.WAIT, Ops.NOOP, Ops.SINK), _Kernel._no_statement
    ),
}

"""Programs: a kernel as a linear program, as source and binary, and one launch of it.

`LinearProgram` is what code generation makes and a renderer is given: a tuple of nodes in execution
order (spec.linear) with what the engine must know of it. `CompiledProgram` adds its source and its
binary: what a plugin loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from weft.base.deferred_dataclass import dataclass
from weft.base.text import identifiers
from weft.device.parts import Dims, Runner
from weft.uop import Ops, UOp

if TYPE_CHECKING:
    from weft.uop import sint

_ASKED = frozenset({Ops.STORE, Ops.LOAD, Ops.DEFINE_VAR, Ops.DEFINE_GLOBAL, Ops.SPECIAL})
_POINTER_MAKERS = frozenset({Ops.INDEX, Ops.CAST, Ops.BITCAST, Ops.GEP})


@dataclass(frozen=True)
class Estimates:
    """The cost of one launch. Numbers may depend on variables.

    :param ops: arithmetic operations.
    :param lds: bytes moved by loads and stores, each time one is executed.
    :param bytes: bytes of memory touched, each counted once.
    """

    ops: sint = 0
    lds: sint = 0
    bytes: sint = 0

    def __add__(self, other: Estimates) -> Estimates:
        return Estimates(self.ops + other.ops, self.lds + other.lds, self.bytes + other.bytes)


_NO_ESTIMATES = Estimates()


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """A kernel as straight-line nodes. Build it with ``LinearProgram.of``, which reads the facts
    off.

    :param name: of the kernel; a valid identifier.
    :param uops: spec.linear, sources before users.
    :param globals: slots of the kernel's buffers, ascending; handles are passed in this order.
    :param outs: slots that are stored to.
    :param ins: slots whose previous content is used: loaded, or only partly overwritten by an
        indexed store.
    :param variables: DEFINE_VAR nodes in the order in which their values are passed.
    :param global_size: groups per dimension (ints or expressions of variables); None: no grid.
    :param local_size: work items per group and dimension; None: no local dimensions.
    :param estimates: what one launch costs.
    :param source_ast: the kernel AST it was made from, for people; None for a hand-made one.
    :param applied: the optimisations that were applied, for people.
    """

    name: str
    uops: tuple[UOp, ...]
    globals: tuple[int, ...] = ()
    outs: tuple[int, ...] = ()
    ins: tuple[int, ...] = ()
    variables: tuple[UOp, ...] = ()
    global_size: tuple[sint, ...] | None = None
    local_size: tuple[sint, ...] | None = None
    estimates: Estimates = _NO_ESTIMATES
    source_ast: UOp | None = field(default=None, repr=False)
    applied: tuple[Any, ...] = ()

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(self, name: str) -> Any:
            make = self.__dict__.get("_make_nodes")
            if name != "uops" or make is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            nodes = self.__dict__["uops"] = make()
            return nodes

    @classmethod
    def without_nodes(cls, make: Callable[[], tuple[UOp, ...]], **facts: Any) -> LinearProgram:
        """A program that makes its nodes at first use; `facts` are all other fields."""
        program = cls(uops=(), **facts)
        del program.__dict__["uops"]
        program.__dict__["_make_nodes"] = make
        return program

    @property
    def variable_names(self) -> list[str]:
        """The names of the variables in generated source, in their order: no two are equal, and
        none is a word of a language."""
        return identifiers(u.arg.name for u in self.variables)

    @classmethod
    def of(
        cls,
        name: str,
        uops: Iterable[UOp],
        *,
        estimates: Estimates = _NO_ESTIMATES,
        source_ast: UOp | None = None,
        applied: tuple[Any, ...] = (),
    ) -> LinearProgram:
        """A program from its nodes, with the slots, variables and launch sizes found in them."""
        nodes = tuple(uops)
        asked = [u for u in nodes if u.op in _ASKED]
        stored = _slots(u.src[0] for u in asked if u.op is Ops.STORE)
        loaded = _slots(u.src[0] for u in asked if u.op is Ops.LOAD)
        # an indexed store leaves other elements unchanged: the buffer is an input, unless the
        # kernel also stores all of it
        indexed = indexed_stores_of(asked)
        if indexed:
            partial = set(_slots(u.src[0] for u in indexed))
            whole = _slots(u.src[0] for u in asked if u.op is Ops.STORE and u not in indexed)
            loaded = tuple(sorted((partial | set(loaded)) - partial.intersection(whole)))
        variables = {u for u in asked if u.op is Ops.DEFINE_VAR}
        return cls(
            name,
            nodes,
            globals=tuple(sorted({u.arg for u in asked if u.op is Ops.DEFINE_GLOBAL})),
            outs=stored,
            ins=loaded,
            variables=tuple(sorted(variables, key=lambda u: (u.arg.name, u.arg.low, u.arg.high))),
            global_size=_launch_size(asked, "gidx"),
            local_size=_launch_size(asked, "lidx"),
            estimates=estimates,
            source_ast=source_ast,
            applied=applied,
        )


def indexed_stores_of(nodes: Iterable[UOp]) -> set[UOp]:
    """The STOREs to global memory at places that themselves are read from memory, of nodes in
    topological order; and the LOADs of what is there. Of the nodes only these count."""
    accesses = [node for node in nodes if node.op is Ops.STORE or node.op is Ops.LOAD]
    known: set[UOp] = set()
    stores = {
        one for one in accesses
        if one.op is Ops.STORE
        and one.src[0].src[:1]
        and one.src[0].src[0].op is Ops.DEFINE_GLOBAL
        and _depends_on_load(one.src[0], known)
    }  # fmt: skip
    written = {one.src[0].src[0] for one in stores}
    if not written:
        return stores
    return stores.union(
        one for one in accesses
        if one.op is Ops.LOAD
        and one.src[0].src[:1]
        and one.src[0].src[0] in written
        and _depends_on_load(one.src[0], known)
    )  # fmt: skip


def _depends_on_load(place: UOp, known: set[UOp]) -> bool:
    """Whether a node depends on a LOAD. known: nodes known not to."""
    path = [place]
    below: set[UOp] = set()
    while path:
        node = path.pop()
        if node in known or node in below:
            continue
        if node.op is Ops.LOAD:
            return True
        below.add(node)
        path.extend(node.src)
    known |= below
    return False


def _slots(pointers: Iterable[UOp]) -> tuple[int, ...]:
    """The global slots these pointers reach into, ascending."""
    found: set[int] = set()
    for pointer in pointers:
        node = pointer
        while node.op in _POINTER_MAKERS:
            node = node.src[0]
        if node.op is Ops.DEFINE_GLOBAL:
            found.add(node.arg)
    return tuple(sorted(found))


def _launch_size(nodes: Sequence[UOp], prefix: str) -> tuple[sint, ...] | None:
    """Three sizes read from the SPECIAL nodes of this prefix; None if there are none."""
    sizes: list[sint] = [1, 1, 1]
    found = False
    for node in nodes:
        if node.op is Ops.SPECIAL and node.arg.startswith(prefix):
            end = node.src[0]
            sizes[int(node.arg[len(prefix) :])] = end.arg if end.op is Ops.CONST else end
            found = True
    return tuple(sizes) if found else None


class SourceText(str):
    """Source text with the names of the functions in it, in the order of their definitions.

    :ivar functions: those that only the text itself calls.
    :ivar entries: those that others call.
    """

    functions: tuple[str, ...]
    entries: tuple[str, ...]

    def __new__(
        cls, text: str, functions: Iterable[str] = (), entries: Iterable[str] = ()
    ) -> SourceText:
        self = super().__new__(cls, text)
        self.functions, self.entries = tuple(functions), tuple(entries)
        return self


@dataclass(frozen=True, eq=False)
class CompiledProgram:
    """A kernel with its source and its binary, which a runner is made from.

    :param name: of the kernel's entry point.
    :param binary: what the device's compiler returned; without a compiler, the bytes of the source.
    :param source: what the renderer returned, for people.
    :param program: the linear program it was rendered from.
    """

    name: str
    binary: bytes = field(repr=False)
    source: str = field(repr=False)
    program: LinearProgram = field(repr=False)

    @property
    def src(self) -> str:
        """The source."""
        return self.source

    @property
    def uops(self) -> tuple[UOp, ...]:
        """The nodes of the linear program."""
        return self.program.uops

    @property
    def estimates(self) -> Estimates:
        """Operations and bytes of one launch."""
        return self.program.estimates


@dataclass(frozen=True, eq=False)
class Launch:
    """One launch with everything it needs, as a device graph is given it."""

    runner: Runner
    handles: tuple[Any, ...]
    global_size: Dims | None = None
    local_size: Dims | None = None
    values: tuple[int, ...] = ()

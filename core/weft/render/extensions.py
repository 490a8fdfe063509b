"""Language extensions: methods by which a renderer adds what its language has beyond C.

`CDialect` is data that several languages fill in. What one language alone has is a method here,
which its renderer overrides. The defaults are C without extensions.

Source: Gamma, Helm, Johnson and Vlissides, "Design Patterns", 1994 (template method).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import AddrSpace, PtrDType
from weft.base.errors import CapabilityError
from weft.device import LinearProgram
from weft.render.dialect import CDialect
from weft.render.source_usage import SourceUsage
from weft.uop import UOp

ARRAY_ALIGNMENT = 64  # bytes of the widest vector, so that no access to a local array is split


class LoopText(NamedTuple):
    """Lines for the head of a loop: one before it (a pragma), one inside; empty: none."""

    before: str = ""
    inside: str = ""


class Function(NamedTuple):
    """A function that CUSTOMI nodes of a program call.

    name: of the function. parameters: nodes whose values it is given. steps: the nodes that it
    computes, in order; the last is the result.
    """

    name: str
    parameters: tuple[UOp, ...]
    steps: tuple[UOp, ...]


@dataclass(frozen=True)
class MaskedLoad:
    """Consecutive elements of which those are read whose bit is set.

    type, scalar: names of the vector type and of the type of a lane. count: lanes. itemsize: bytes
    of a lane. word: an integer type of `count` bits. bits: expression of the mask. name: of the
    buffer. at, start: their sum is the number of the first element, which may lie outside of the
    buffer. other: a vector with the values of the lanes that are not read.
    """

    type: str
    scalar: str
    count: int
    itemsize: int
    word: str
    bits: str
    name: str
    at: str
    start: int
    other: str


class Extensions:
    """The methods that a renderer overrides.

    :ivar dialect: the language.
    :cvar function_prefix: the text before a helper function's result type.
    :cvar float_quotients: vectors of integers of up to 32 bits are divided as floats.
    :cvar images: kernels may take images, see `image_type`.
    :cvar masked_loads: `masked_load` has an expression.
    :cvar selects_addresses: gated loads read through selected addresses, see `address_selection`.
    :cvar signed_wraps: signed arithmetic wraps around, as by clang's ``-fwrapv``. Otherwise
        overflow is undefined, see `signed_overflow`.
    :cvar store_fence: the statement at the end of a kernel after which all work items see its
        non-temporal stores; empty: the language has no such stores.
    """

    dialect: CDialect
    function_prefix = "static inline"
    float_quotients = False
    images = False
    masked_loads = False
    selects_addresses = False
    signed_wraps = False
    store_fence = ""

    # ---- the program ----------------------------------------------------------------------------

    def prepare(self, uops: Sequence[UOp]) -> tuple[Sequence[UOp], Sequence[Function]]:
        """The nodes to print in place of these, and the functions that they call."""
        return uops, ()

    def loop_text(self, uops: Sequence[UOp]) -> Mapping[UOp, LoopText]:
        """Lines for the heads of loops: RANGEs, and launch indices that are loops."""
        return {}

    def launch_index(self, program: LinearProgram, prefix: str, axis: int) -> str | None:
        """The expression of a launch index, prefix "gidx" or "lidx"; None: there are none."""
        names = self.dialect.index.get(prefix)
        return None if names is None else names[axis]

    def launch_loop(self, index: UOp, kind: str, end: str) -> Sequence[str]:
        """Lines that open a loop over a launch index, of this type and end; none: it is no loop,
        but an expression of `CDialect.index`."""
        return ()

    def after_kernel(self, program: LinearProgram, types: Sequence[str]) -> Sequence[str]:
        """Lines after a kernel whose parameters have these types."""
        return ()

    def entries(self, program: LinearProgram) -> Sequence[str]:
        """The names of the functions that others call."""
        return (program.name,)

    def function_declaration(self, head: str) -> str:
        """The declaration of a function that is to be called and never inlined."""
        return f"{head};"

    # ---- the head of a kernel -------------------------------------------------------------------

    def preamble(self, program: LinearProgram, usage: SourceUsage) -> str:
        """Text before everything else."""
        return self.dialect.preamble

    def kernel_prefix(self, program: LinearProgram) -> str:
        """The text before a kernel's name; it may have several lines."""
        return self.dialect.kernel_prefix

    def buffer_name(self, name: str, position: int) -> str:
        """A buffer's name among the parameters, where it has this position from 0."""
        return name

    def variable_parameter(self, kind: str, name: str) -> str:
        """The parameter of a variable; empty: it has none of its own."""
        return f"const {kind} {name}"

    def variable(self, name: str) -> str:
        """A variable where it is used."""
        return name

    def extra_parameters(self, program: LinearProgram) -> Sequence[str]:
        """Parameters after those of buffers and variables."""
        return ()

    # ---- memory ---------------------------------------------------------------------------------

    def array(self, element: str, name: str, size: int) -> str:
        """The declaration of a work item's own array."""
        return f"{element} {name}[{size}] __attribute__((aligned({ARRAY_ALIGNMENT})));"

    def shared_array(self, program: LinearProgram, array: UOp, element: str) -> Sequence[str]:
        """Lines that declare an array in shared memory. element: the type of its elements."""
        kind = array.dtype
        assert isinstance(kind, PtrDType)  # what else a DEFINE_LOCAL is, the renderer refuses
        return (f"{self.dialect.shared_qualifier}{element} {array.arg}[{kind.size}];",)

    def pointer_qualifier(self, space: AddrSpace) -> str:
        """The qualifier of pointers to this memory, with a space after it."""
        if space is AddrSpace.GLOBAL:
            return self.dialect.global_qualifier
        return (self.dialect.shared_qualifier or "") if space is AddrSpace.LOCAL else ""

    def vector_load(self, kind: str, count: int, place: str, pointer: str) -> str:
        """A vector of this type from consecutive scalars that need not be aligned.

        place: an lvalue of the memory type. pointer: to the first scalar.
        """
        return place

    def vector_store(self, count: int, place: str, pointer: str, value: str) -> str:
        """The statement, without its semicolon, that stores a vector to such scalars."""
        return f"{place} = {value}"

    def non_temporal_store(
        self, pointer: str, kind: str, nbytes: int, value: str, plain: str
    ) -> str:
        """The statement of a store that bypasses the caches, where `store_fence` is set.

        pointer: to the first element, at any alignment. kind, nbytes: of all lanes. value: a name.
        plain: the statement of an ordinary store.
        """
        return plain

    def prefetch(self, mark: object, pointer: str) -> str:
        """The statement of a software prefetch; empty: there is none.

        mark: PREFETCH_STREAM: of what follows in a long stretch. PREFETCH_L1, PREFETCH_L2: of the
        element at the pointer, which a later iteration reads, or which is read much later.
        """
        return ""

    def masked_load(self, load: MaskedLoad) -> str:
        """The expression of a masked load, where `masked_loads` is set."""
        raise self._missing("masked loads", f"a masked load of {load.name}", "masked_loads=True")

    def image_type(self, is_written: bool) -> str:
        """The type of a kernel's parameter for an image of pixels of four floats."""
        raise self._missing("images", "an image in a kernel", "image_size")

    def image_load(self, image: str, at: str) -> str:
        """The pixel at (x, y), as a vector of four floats."""
        raise self._missing("images", "an image in a kernel", "image_size")

    def image_store(self, image: str, at: str, value: str) -> str:
        """The statement, without its semicolon, that stores a pixel."""
        raise self._missing("images", "an image in a kernel", "image_size")

    # ---- instructions ---------------------------------------------------------------------------

    def wmma(self, call: UOp, sources: tuple[str, ...]) -> str:
        """The expression of a tensor core's multiply-add, for languages with such units."""
        raise self._missing("tensor cores", f"WMMA {call.arg}", "tensor_cores")

    def dot(self, call: UOp, sources: tuple[str, ...]) -> str:
        """The expression of DOT, for languages with such an instruction; the sum comes last."""
        raise self._missing("products of narrow numbers", f"DOT {call.arg}", "pair_dots")

    def any_lane(self, mask: str) -> str:
        """Whether any lane of a vector of integers is set, on a device with `Feature.ANY_LANE`;
        the default is clang's builtin."""
        return f"__builtin_reduce_or({mask})"

    def shuffle(self, call: UOp, source: str) -> str:
        """The expression of SHUFFLE, for languages whose work items exchange registers.

        It is a statement of its own, which all work items of a group come to.
        """
        asked = f"SHUFFLE by {call.arg} of {call.dtype!r}"
        raise self._missing("exchange of registers", asked, "Feature.WARP_REDUCE")

    def _missing(self, what: str, asked: str, declared: str) -> CapabilityError:
        """The error for what a renderer does not implement, although its device declares it."""
        return CapabilityError(
            f"{self.dialect.language} has no {what} here",
            asked=asked,
            because=f"{type(self).__name__} does not implement them",
            try_=f"implement the method, or declare no {declared}",
        )

"""Language dialect: describe the syntax of one C-like language as a frozen record, CDialect.

The defaults are plain C99 without vectors. A plugin sets what its language writes differently; what
only one language has is a method of its renderer (see `extensions`). Text templates are for
`str.format`, with the fields that each docstring names.

Source: ISO/IEC 9899:1999 (C99).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.base.errors import CapabilityError
from weft.device import FrozenMap
from weft.uop import Ops

C_TYPES: Mapping[DType, str] = FrozenMap(
    {
        dtypes.void: "void",
        dtypes.bool: "_Bool",
        dtypes.int8: "signed char",
        dtypes.uint8: "unsigned char",
        dtypes.int16: "short",
        dtypes.uint16: "unsigned short",
        dtypes.int32: "int",
        dtypes.uint32: "unsigned int",
        dtypes.int64: "long long",
        dtypes.uint64: "unsigned long long",
        dtypes.float16: "_Float16",
        dtypes.bfloat16: "__bf16",
        dtypes.float32: "float",
        dtypes.float64: "double",
    }
)

SHORT_NAMES: Mapping[DType, str] = FrozenMap(
    {
        dtypes.bool: "bool",
        dtypes.fp8e4m3: "f8e4m3",
        dtypes.fp8e5m2: "f8e5m2",
        dtypes.int8: "i8",
        dtypes.uint8: "u8",
        dtypes.int16: "i16",
        dtypes.uint16: "u16",
        dtypes.int32: "i32",
        dtypes.uint32: "u32",
        dtypes.int64: "i64",
        dtypes.uint64: "u64",
        dtypes.float16: "f16",
        dtypes.bfloat16: "bf16",
        dtypes.float32: "f32",
        dtypes.float64: "f64",
    }
)
"""The names of dtypes inside names of functions and vector types."""

C_OPS = frozenset(
    {
        Ops.CAST, Ops.BITCAST, Ops.SQRT, Ops.RECIP, Ops.NEG, Ops.TRUNC, Ops.ADD, Ops.SUB, Ops.MUL,
        Ops.FDIV, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.AND, Ops.OR,
        Ops.XOR, Ops.SHL, Ops.SHR, Ops.WHERE,
    }
)  # fmt: skip
"""The operations of C, and those that a function of one line implements."""

SCALAR_FUNCTIONS: Mapping[tuple[Ops, DType], str] = FrozenMap(
    {
        (Ops.SQRT, dtypes.float32): "__builtin_sqrtf({0})",
        (Ops.SQRT, dtypes.float64): "__builtin_sqrt({0})",
        (Ops.TRUNC, dtypes.float32): "__builtin_truncf({0})",
        (Ops.TRUNC, dtypes.float64): "__builtin_trunc({0})",
        (Ops.MULACC, dtypes.float32): "__builtin_fmaf({0}, {1}, {2})",
        (Ops.MULACC, dtypes.float64): "__builtin_fma({0}, {1}, {2})",
    }
)


@dataclass(frozen=True)
class VectorStyle:
    """The syntax of vectors in a language; the defaults are clang's ``ext_vector_type``.

    :param type_name: of a vector type; fields ``short`` (f32), ``scalar`` (float), ``count``.
    :param typedef: a line that declares it, empty where it is built in; fields ``name``,
        ``scalar``, ``count``.
    :param memory_name: the type through which memory is read and written; field ``name``.
    :param memory_typedef: a line that declares that one, empty where it is built in; fields
        ``name``, ``align`` (bytes of one lane).
    :param literal: of one value per lane; fields ``type``, ``lanes``.
    :param splat: of one value for all lanes; fields ``type``, ``value``; empty: write all lanes.
    :param lane: one lane of a vector; fields ``vector``, ``lane``.
    :param lane_names: what lanes are called in ``lane``; empty: their numbers.
    :param shuffle: lanes of two vectors; fields ``a``, ``b``, ``lanes``; empty: by literal.
    :param convert: to another vector type of as many lanes; fields ``value``, ``type``.
    :param bitcast: to another vector type of as many bytes; fields ``value``, ``type``.
    :param functions: like ``CDialect.functions``, for vectors of that lane.
    """

    type_name: str = "{short}x{count}"
    typedef: str = "typedef {scalar} {name} __attribute__((ext_vector_type({count})));"
    memory_name: str = "{name}_m"
    memory_typedef: str = "typedef {name} {name}_m __attribute__((aligned({align}), may_alias));"
    literal: str = "({type}){{{lanes}}}"
    splat: str = "({type})({value})"
    lane: str = "{vector}[{lane}]"
    lane_names: tuple[str, ...] = ()
    shuffle: str = "__builtin_shufflevector({a}, {b}, {lanes})"
    convert: str = "__builtin_convertvector({value}, {type})"
    bitcast: str = "({type})({value})"
    functions: Mapping[Ops, str] = field(
        default_factory=lambda: FrozenMap(
            {
                Ops.SQRT: "__builtin_elementwise_sqrt({0})",
                Ops.TRUNC: "__builtin_elementwise_trunc({0})",
                Ops.MULACC: "__builtin_elementwise_fma({0}, {1}, {2})",
            }
        )
    )


@dataclass(frozen=True)
class CDialect:
    """One C-like language.

    :param language: cache namespace and file suffix.
    :param preamble: text before everything else.
    :param kernel_prefix: the text before a kernel's name.
    :param global_qualifier: of pointers to the device's memory, with a trailing blank.
    :param restrict: of such pointers, after the star; empty where there is none.
    :param shared_qualifier: of memory shared by a work group; None: there is none.
    :param barrier: the statement by which a work group waits for itself; None: there is none.
    :param index: expressions for the launch indices, three per prefix ("gidx", "lidx").
    :param type_names: of scalar dtypes, as values.
    :param memory_types: of scalar dtypes where they lie in memory, if that differs.
    :param vectors: how vectors are spelt; None: there are none.
    :param functions: expressions for operations that no operator gives; fields ``0``, ``1``, ``2``.
    :param infinities: spelling of infinity by float dtype.
    :param nans: spelling of NaN by float dtype.
    :param suffixes: of literals by dtype.
    :param narrow_floats: those whose functions and conversions use float32.
    :param bitcast: of scalars, fields ``type``, ``value``; empty: through a union.
    :param native_ops: what need not be decomposed.
    """

    language: str = "c"
    preamble: str = ""
    kernel_prefix: str = "void"
    global_qualifier: str = ""
    restrict: str = "restrict"
    shared_qualifier: str | None = None
    barrier: str | None = None
    index: Mapping[str, tuple[str, str, str]] = field(
        default_factory=FrozenMap[str, tuple[str, str, str]]
    )
    type_names: Mapping[DType, str] = C_TYPES
    memory_types: Mapping[DType, str] = field(
        # A byte that is neither 0 nor 1 must not be undefined behaviour.
        default_factory=lambda: FrozenMap({dtypes.bool: "unsigned char"})
    )
    vectors: VectorStyle | None = None
    functions: Mapping[tuple[Ops, DType], str] = SCALAR_FUNCTIONS
    infinities: Mapping[DType, str] = field(
        default_factory=lambda: FrozenMap(
            {dtypes.float32: "__builtin_inff()", dtypes.float64: "__builtin_inf()"}
        )
    )
    nans: Mapping[DType, str] = field(
        default_factory=lambda: FrozenMap(
            {dtypes.float32: '__builtin_nanf("")', dtypes.float64: '__builtin_nan("")'}
        )
    )
    suffixes: Mapping[DType, str] = field(
        default_factory=lambda: FrozenMap(
            {
                dtypes.float32: "f",
                dtypes.uint32: "u",
                dtypes.int64: "ll",
                dtypes.uint64: "ull",
            }
        )
    )
    narrow_floats: frozenset[DType] = frozenset({dtypes.float16, dtypes.bfloat16})
    bitcast: str = ""
    native_ops: frozenset[Ops] = C_OPS

    def type_name(self, dtype: DType) -> str:
        """The type name of a value of this dtype.

        :raises CapabilityError: if the language has no such values.
        """
        if dtype.count > 1:
            if self.vectors is None:
                raise CapabilityError(
                    "this language has no vectors",
                    asked=f"a value of {dtype!r} in {self.language}",
                    because="its CDialect has vectors=None",
                    try_="declare no vector_widths and vector_bytes=0, or fill in a VectorStyle",
                )
            scalar = dtype.scalar()
            return self.vectors.type_name.format(
                short=SHORT_NAMES[scalar], scalar=self.type_name(scalar), count=dtype.count
            )
        try:
            return self.type_names[dtype]
        except KeyError:
            raise CapabilityError(
                f"this language has no {dtype!r}",
                asked=f"a value of {dtype!r} in {self.language}",
                because="its CDialect names no such type",
                try_="leave it out of ComputeCaps.dtypes, so that it is decomposed",
            ) from None

    def memory_type(self, dtype: DType) -> str:
        """The type name of a scalar of this dtype in memory."""
        return self.memory_types.get(dtype) or self.type_name(dtype)


PLAIN_C = CDialect()
"""C99 with the builtins that gcc and clang share, without vectors."""

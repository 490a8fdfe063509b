"""OpenCL C: built-in vectors, unaligned vector accesses, launch indices, local memory, barriers.

Signed integers wrap in weft and must not overflow in C, so arithmetic that might is done unsigned;
that of indices, whose bounds are known, stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from weft.plugin import (
    CDialect,
    CStyleRenderer,
    DType,
    LinearProgram,
    Ops,
    PatternMatcher,
    SourceText,
    SourceUsage,
    UOp,
    UPat,
    VectorStyle,
    dtypes,
)
from weft_opencl.declarations import declarations
from weft_opencl.facts import Facts

TYPES = {
    dtypes.void: "void",
    dtypes.bool: "bool",
    dtypes.int8: "char",
    dtypes.uint8: "uchar",
    dtypes.int16: "short",
    dtypes.uint16: "ushort",
    dtypes.int32: "int",
    dtypes.uint32: "uint",
    dtypes.int64: "long",
    dtypes.uint64: "ulong",
    dtypes.float16: "half",
    dtypes.float32: "float",
    dtypes.float64: "double",
}

VECTORS = VectorStyle(
    type_name="{scalar}{count}",
    typedef="",
    memory_name="{name}",
    memory_typedef="",
    literal="({type})({lanes})",
    lane="{vector}.s{lane}",
    lane_names=tuple("0123456789abcdef"),
    shuffle="",
    convert="convert_{type}({value})",
    bitcast="as_{type}({value})",
    functions={Ops.SQRT: "sqrt({0})", Ops.TRUNC: "trunc({0})", Ops.MULACC: "fma({0}, {1}, {2})"},
)

UNSIGNED = {dtypes.int32: dtypes.uint32, dtypes.int64: dtypes.uint64}

WRAPPING = PatternMatcher("opencl")


@WRAPPING.rule(UPat((Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.MULACC), name="root"))
def arithmetic_that_may_wrap_is_unsigned(root: UOp) -> UOp | None:
    """a + b -> as_int(as_uint(a) + as_uint(b))   unless the bounds of both say that it fits."""
    scalar, lanes = root.dtype.scalar(), root.dtype.count
    if scalar is dtypes.uint16 and root.op in (Ops.MUL, Ops.MULACC):
        # C multiplies these as signed integers of 32 bits, which 65535 * 65535 is too large for.
        wide = dtypes.uint32.vec(lanes)
        return UOp(root.op, wide, tuple(s.cast(wide) for s in root.src)).cast(root.dtype)
    if scalar not in UNSIGNED or _fits(root, scalar):
        return None
    plain = UNSIGNED[scalar].vec(lanes)
    return UOp(root.op, plain, tuple(s.bitcast(plain) for s in root.src)).bitcast(root.dtype)


@WRAPPING.rule(UPat(Ops.BITCAST, name="outer", src=(UPat(Ops.BITCAST, src=(UPat.var("value"),)),)))
def there_and_back(outer: UOp, value: UOp) -> UOp | None:
    """as_uint(as_int(x)) -> as_uint(x), or x   when lanes stay lanes."""
    middle = outer.src[0].dtype
    if dtypes.is_bool(middle) or not outer.dtype.count == middle.count == value.dtype.count:
        return None
    return value if value.dtype is outer.dtype else value.bitcast(outer.dtype)


@WRAPPING.rule(UPat(Ops.BITCAST, name="outer", src=(UPat(Ops.CONST, name="value"),)))
def unsigned_constant(outer: UOp, value: UOp) -> UOp | None:
    """as_uint(-1) -> 4294967295u"""
    if UNSIGNED.get(value.dtype) is not outer.dtype:
        return None
    return UOp.const(outer.dtype, value.arg & int(outer.dtype.max))


def _fits(root: UOp, scalar: DType) -> bool:
    if root.dtype.count > 1:
        return False
    ends = [(int(s.vmin), int(s.vmax)) for s in root.src]
    if root.op is Ops.NEG:
        possible = [-end for end in ends[0]]
    elif root.op is Ops.ADD:
        possible = [a + b for a in ends[0] for b in ends[1]]
    elif root.op is Ops.SUB:
        possible = [a - b for a in ends[0] for b in ends[1]]
    else:
        possible = [a * b for a in ends[0] for b in ends[1]]
        if root.op is Ops.MULACC:
            possible = [product + c for product in possible for c in ends[2]] + possible
    return int(scalar.min) <= min(possible) and max(possible) <= int(scalar.max)


def entry_point(name: str) -> str:
    """What a kernel is called in OpenCL C, where ``kernel``, ``dot`` and hundreds more are taken; a
    name that ends in an underscore is not."""
    return f"{name}_"


def is_spread(program: LinearProgram) -> bool:
    """Whether the driver may form the groups: work items that have no local indices nor memory."""
    return (
        program.global_size is not None
        and program.local_size is None
        and not any(u.op in (Ops.DEFINE_LOCAL, Ops.BARRIER) for u in program.uops)
    )


def opencl_dialect(facts: Facts) -> CDialect:
    """The OpenCL C dialect of this device."""
    plain = CDialect()
    pragmas = ["#pragma OPENCL FP_CONTRACT OFF"]
    if facts.half:
        pragmas.append("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
    if facts.double and not facts.modern:
        pragmas.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    functions = {
        (op, dtype): spelt
        for op, spelt in VECTORS.functions.items()
        for dtype in (dtypes.float32, dtypes.float64)
    }
    native = plain.native_ops | {Ops.MULACC} if facts.fused else plain.native_ops
    return CDialect(
        language="cl",
        preamble="\n".join(pragmas),
        kernel_prefix="__kernel void",
        global_qualifier="__global ",
        shared_qualifier="__local ",
        barrier="barrier(CLK_LOCAL_MEM_FENCE);",
        index={"gidx": _three("get_group_id"), "lidx": _three("get_local_id")},
        type_names=TYPES,
        memory_types={dtypes.bool: "uchar"},
        vectors=VECTORS,
        functions=functions,
        infinities={dtypes.float32: "INFINITY", dtypes.float64: "((double)INFINITY)"},
        nans={dtypes.float32: "NAN", dtypes.float64: "((double)NAN)"},
        suffixes={
            dtypes.float32: "f",
            dtypes.uint32: "u",
            dtypes.int64: "L",
            dtypes.uint64: "UL",
        },
        narrow_floats=frozenset({dtypes.float16}),
        bitcast="as_{type}({value})",
        native_ops=native,
    )


def _three(name: str) -> tuple[str, str, str]:
    return (f"{name}(0)", f"{name}(1)", f"{name}(2)")


class OpenCLRenderer(CStyleRenderer):
    """Renders OpenCL C; the head of a kernel says the size of its groups where it is known.

    :param facts: what the device has.
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__(opencl_dialect(facts))
        self.facts = facts
        self.images = facts.image_size is not None
        self.rules = self.rules + WRAPPING if self.rules is not None else WRAPPING

    def entry_point(self, name: str) -> str:
        """What a kernel of this name is called in its source."""
        return entry_point(name)

    def render(self, program: LinearProgram) -> SourceText:
        """The source of one kernel. Raises as CStyleRenderer."""
        return super().render(replace(program, name=entry_point(program.name)))

    def preamble(self, program: LinearProgram, usage: SourceUsage) -> str:
        """With declarations of the functions that the kernel calls, where these compile faster."""
        if not self.facts.own_declarations:
            return super().preamble(program, usage)
        group = "get_global_id" if is_spread(program) else "get_group_id"
        prefixes = {u.arg[:4] for u in program.uops if u.op is Ops.SPECIAL}
        launch = [name for prefix, name in (("gidx", group), ("lidx", "get_local_id"))
                  if prefix in prefixes]  # fmt: skip
        declared = declarations(program, usage, TYPES, launch)
        return f"{super().preamble(program, usage)}\n{declared}"

    def kernel_prefix(self, program: LinearProgram) -> str:
        """With the size of its groups, where it is known."""
        size = program.local_size or (1, 1, 1)
        if is_spread(program) or not all(isinstance(n, int) for n in size):
            return super().kernel_prefix(program)
        group = ", ".join(map(str, size))
        return f"__kernel __attribute__((reqd_work_group_size({group}))) void"

    def launch_index(self, program: LinearProgram, prefix: str, axis: int) -> str | None:
        """Without local indices, the index of the work item among all."""
        if prefix == "gidx" and is_spread(program):
            return f"get_global_id({axis})"
        return super().launch_index(program, prefix, axis)

    def vector_load(self, kind: str, count: int, place: str, pointer: str) -> str:
        """The function for pointers to scalars."""
        return f"vload{count}(0, {pointer})"

    def vector_store(self, count: int, place: str, pointer: str, value: str) -> str:
        """The function for pointers to scalars."""
        return f"vstore{count}({value}, 0, {pointer})"

    # Images are read without a sampler: coordinates are pixels, nothing is filtered, and no
    # coordinate is outside.

    def image_type(self, is_written: bool) -> str:
        """Images are read or written, never both."""
        return f"{'write' if is_written else 'read'}_only image2d_t"

    def image_load(self, image: str, at: str) -> str:
        """Four floats."""
        return f"read_imagef({image}, {at})"

    def image_store(self, image: str, at: str, value: str) -> str:
        """Four floats."""
        return f"write_imagef({image}, {at}, {value})"

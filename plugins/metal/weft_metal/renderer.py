"""Metal Shading Language as a dialect of C.

Buffers are `device` pointers with their places in the argument table, the kernel's variables one
`constant` struct after them. Vectors have two to four lanes and are only read and written: memory
is reached through the language's packed types, which need no more alignment than one lane.
"""

from __future__ import annotations

from math import prod

from weft.plugin import (
    AddrSpace,
    CDialect,
    CStyleRenderer,
    DType,
    LinearProgram,
    Ops,
    SourceUsage,
    UOp,
    VectorStyle,
    dtypes,
)
from weft_metal.matrix_units import CALLS
from weft_metal.rules import METAL_RULES

HEADER = "#include <metal_stdlib>\nusing namespace metal;"

TYPES: dict[DType, str] = {
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
    dtypes.bfloat16: "bfloat",
    dtypes.float32: "float",
}

KERNEL = "kernel void"
MOST_ITEMS = "[[kernel, max_total_threads_per_threadgroup({})]]"
INDICES = (
    "uint3 group [[threadgroup_position_in_grid]]",
    "uint3 item [[thread_position_in_threadgroup]]",
)

VECTORS = VectorStyle(
    type_name="{scalar}{count}",
    typedef="",
    memory_name="packed_{name}",
    memory_typedef="",
    literal="{type}({lanes})",
    splat="{type}({value})",
    lane="{vector}.{lane}",
    lane_names=("x", "y", "z", "w"),
    shuffle="",
    convert="{type}({value})",
    bitcast="as_type<{type}>({value})",
    functions={},
)

MSL = CDialect(
    language="metal",
    preamble=HEADER,
    kernel_prefix=KERNEL,
    global_qualifier="device ",
    restrict="",
    shared_qualifier="threadgroup ",
    barrier="threadgroup_barrier(mem_flags::mem_threadgroup);",
    index={
        "gidx": ("int(group.x)", "int(group.y)", "int(group.z)"),
        "lidx": ("int(item.x)", "int(item.y)", "int(item.z)"),
    },
    type_names=TYPES,
    memory_types={dtypes.bool: "uchar"},
    vectors=VECTORS,
    functions={
        # the precise one rounds correctly, with and without fast math
        (Ops.SQRT, dtypes.float32): "precise::sqrt({0})",
        (Ops.TRUNC, dtypes.float32): "trunc({0})",
        (Ops.MULACC, dtypes.float32): "fma({0}, {1}, {2})",
    },
    infinities={dtypes.float32: "INFINITY"},
    nans={dtypes.float32: "NAN"},
    suffixes={dtypes.float32: "f", dtypes.uint32: "u", dtypes.int64: "l", dtypes.uint64: "ul"},
    bitcast="as_type<{type}>({value})",
    native_ops=CDialect().native_ops | {Ops.MULACC},
)


class MetalRenderer(CStyleRenderer):
    """MSL of one kernel, with the struct of its variables where it has any.

    exp2, log2 and sin are left to the code generator: the language's own are allowed four units in
    the last place, ours keep to two on every device.
    """

    def __init__(self) -> None:
        super().__init__(MSL)
        assert self.rules is not None  # those of every C
        self.rules = self.rules + METAL_RULES

    def preamble(self, program: LinearProgram, usage: SourceUsage) -> str:
        """The header, the struct of the variables, and the functions of matrix units."""
        before = [super().preamble(program, usage)]
        if program.variables:
            named = zip(program.variables, program.variable_names)
            fields = [f"{TYPES[u.dtype]} {name};" for u, name in named]
            before.append(f"struct Variables {{ {' '.join(fields)} }};")
        called = {u.arg.name for u in program.uops if u.op is Ops.WMMA}
        return "\n".join([*before, *(text for name, text in CALLS.items() if name in called)])

    def kernel_prefix(self, program: LinearProgram) -> str:
        """How many work items a group has, so that the compiler gives each no more registers than
        there are."""
        return f"{MOST_ITEMS.format(_items(program))}\nvoid"

    def buffer_name(self, name: str, position: int) -> str:
        """With its place in the argument table."""
        return f"{name} [[buffer({position})]]"

    def variable_parameter(self, kind: str, name: str) -> str:
        """Variables are fields of one struct."""
        return ""

    def variable(self, name: str) -> str:
        """A field of the struct."""
        return f"variables.{name}"

    def extra_parameters(self, program: LinearProgram) -> tuple[str, ...]:
        """The struct of the variables, if any, and the launch indices."""
        if not program.variables:
            return INDICES
        return (f"constant Variables& variables [[buffer({len(program.globals)})]]", *INDICES)

    def array(self, element: str, name: str, size: int) -> str:
        """Without an alignment."""
        return f"{element} {name}[{size}];"

    def pointer_qualifier(self, space: AddrSpace) -> str:
        """Every pointer names its address space."""
        return "thread " if space is AddrSpace.REG else super().pointer_qualifier(space)

    def vector_load(self, kind: str, count: int, place: str, pointer: str) -> str:
        """A packed vector as a value."""
        return f"{kind}({place})"

    def wmma(self, call: UOp, sources: tuple[str, ...]) -> str:
        """A matrix unit is a function of the preamble (see `matrix_units`)."""
        return f"{call.arg.name}({', '.join(sources)})"

    def shuffle(self, call: UOp, source: str) -> str:
        """Lanes exchange words of at most 32 bits; what the language does not exchange itself goes
        as bits."""
        dtype, by = call.dtype, f"ushort({call.arg})"
        if dtype.scalar() is dtypes.bool:
            return f"(simd_shuffle_xor(ushort({source}), {by}) != 0)"
        if dtype.scalar() is dtypes.bfloat16 or dtype.scalar().itemsize == 8:
            whole = dtypes.uint16 if dtype.itemsize == 2 else dtypes.uint32
            count = dtype.count * dtype.scalar().itemsize // whole.itemsize
            bits = self.dialect.type_name(whole.vec(count))
            sent = f"simd_shuffle_xor(as_type<{bits}>({source}), {by})"
            return f"as_type<{self.dialect.type_name(dtype)}>({sent})"
        return f"simd_shuffle_xor({source}, {by})"


def _items(program: LinearProgram) -> int:
    """Work items of a group, at most."""
    sizes = program.local_size or ()
    return prod(size if isinstance(size, int) else int(size.vmax) for size in sizes)

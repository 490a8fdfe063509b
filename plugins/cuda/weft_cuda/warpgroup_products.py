"""Warpgroup products: compute large products of 16-bit floats by ``wgmma`` on Hopper.

in:  spec.lowered before loop optimisations: one STORE of an expression over one sum of products
out: blocks of 128 rows and 64 to 256 columns, whose sums a function computes in registers (see
     `warpgroup_source`), and the same expression over these sums

Blocks at the end of an axis are filled up with zeros, and stored in part. Other kernels, and
products that would mostly be filled up, go to the strategy.

Source: NVIDIA, "PTX ISA", wgmma register fragments; "CUTLASS", tile scheduling by groups of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from weft.plugin import (
    AddrSpace,
    AxisKind,
    Context,
    Fill,
    KernelInfo,
    Ops,
    Pass,
    PtrDType,
    Target,
    UOp,
    affine,
    ceildiv,
    dtypes,
    extent_of,
    generic_passes,
    loops_of,
    nodes_of,
    pad_loops,
    prod,
    ranges_of,
    replace_nodes,
    replace_pass,
    round_up,
    substitute_ranges,
    values_of,
)
from weft_cuda import warpgroup_source as source

OPTIMISATIONS = "optimisations"
_OPERANDS = {dtypes.float16: "f16", dtypes.bfloat16: "bf16"}
_PIECE = 8
"""Elements of one asynchronous copy: addresses and strides are multiples of it."""
_GROUPS = (16, 8, 4, 2, 1)
"""Blocks of rows that share the columns which the cache of the GPU holds."""
_FAR = 1 << 31
FEWEST_BUFFERS = 3
FILLED_UP = 2
"""Sums of whole blocks, as a multiple of those that are wanted: the smaller tiles of ``mma.sync``
waste less. They reach a quarter of the speed on an H200; where both are equal was not measured."""


def passes() -> tuple[Pass, ...]:
    """The generic passes, with this one before loop optimisations."""
    generic = generic_passes()
    optimise = next(step for step in generic if step.name == OPTIMISATIONS)

    def run(sink: UOp, context: Context) -> UOp:
        made = warpgroup_product(sink, context.target) if context.prepared else None
        return optimise.run(sink, context) if made is None else made

    return replace_pass(generic, Pass(OPTIMISATIONS, run, optimise.leaves))


class Operand(NamedTuple):
    """One factor: its LOAD, and steps in memory along its own axis and along the terms."""

    load: UOp
    step: int
    term: int

    @property
    def along_terms(self) -> bool:
        """Whether adjacent terms are adjacent in memory."""
        return self.term == 1

    @property
    def stride(self) -> int:
        """Between rows of the tile as it lies in memory."""
        return self.step if self.along_terms else self.term


class Product(NamedTuple):
    """A sum of products: the REDUCE, its axes, and its operands."""

    reduce: UOp
    rows: UOp
    columns: UOp
    terms: UOp
    left: Operand
    right: Operand


def warpgroup_product(sink: UOp, target: Target) -> UOp | None:
    """The kernel in blocks of warpgroups; None where it is none of these products."""
    nodes = nodes_of(sink)
    found = _product(sink, nodes)
    if found is None:
        return None
    processors = target.compute.machine.cores or 1
    others = prod([extent_of(loop) for loop in _outputs(sink) if loop not in found])
    rows, columns = _extent(found.rows), _extent(found.columns)
    down = ceildiv(rows, source.ROWS)

    def cost(width: int) -> int:
        return source.cost(others * down * ceildiv(columns, width), width, processors)

    most = FILLED_UP * rows * columns
    fitting = [w for w in source.COLUMNS if down * source.ROWS * round_up(columns, w) <= most]
    width = min(fitting, key=cost, default=0)
    buffers = source.buffers(width, target.compute.limits.shared_bytes)
    if not width or buffers < FEWEST_BUFFERS:
        return None
    return _blocks(sink, nodes, found, width, buffers)


def _outputs(sink: UOp) -> frozenset[UOp]:
    return ranges_of(sink.src[0])


def _extent(loop: UOp) -> int:
    extent = extent_of(loop)
    return extent if isinstance(extent, int) else 0


# ---- what is such a product ------------------------------------------------------------------


def _product(sink: UOp, nodes: Any) -> Product | None:
    if len(sink.src) != 1 or any(node.op in (Ops.FILL, Ops.DEFINE_REG) for node in nodes):
        return None
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if len(reduces) != 1 or len(loops_of(reduces[0])) != 1:
        return None
    (reduce,) = reduces
    (terms,) = loops_of(reduce)
    value = values_of(reduce)[0]
    plain = reduce.arg.op is Ops.ADD and reduce.arg.values == 1 and reduce.dtype is dtypes.float32
    if not plain or value.op is not Ops.MUL or _extent(terms) < source.TERMS:
        return None
    one, other = map(_load, value.src)
    if one is None or other is None or one.dtype is not other.dtype:
        return None
    for left, right in ((one, other), (other, one)):
        found = _sides(sink, reduce, terms, left, right)
        if found is not None:
            return found
    return None


def _load(factor: UOp) -> UOp | None:
    """The LOAD of a factor that is converted to float32."""
    if factor.op is not Ops.CAST or factor.src[0].op is not Ops.LOAD:
        return None
    load = factor.src[0]
    whole = len(load.src) == 1 and len(load.src[0].src) == 2
    known = load.dtype in _OPERANDS and load.src[0].src[0].op is Ops.DEFINE_GLOBAL
    return load if whole and known else None


def _sides(sink: UOp, reduce: UOp, terms: UOp, left: UOp, right: UOp) -> Product | None:
    """The product with these factors, whose columns are contiguous in the result."""
    of_left, of_right = (affine(load.src[0].src[1]) for load in (left, right))
    store = sink.src[0]
    written = affine(store.src[0].src[1])[0]
    outputs = _outputs(sink)
    if any(_extent(loop) == 0 or loop.arg.kind is not AxisKind.LOOP for loop in outputs):
        return None
    mine = {*outputs, terms}
    if any(term not in mine for steps, _ in (of_left, of_right) for term in steps):
        return None
    rows = [u for u in outputs if u in of_left[0] and u not in of_right[0]]
    columns = [u for u in outputs if u in of_right[0] and u not in of_left[0]]
    columns = [u for u in columns if written.get(u) == 1]
    if not rows or not columns:
        return None
    row, column = max(rows, key=lambda u: (_extent(u), u.arg.id)), columns[0]
    operands = (
        _operand(load, steps, constant, own, terms)
        for load, (steps, constant), own in ((left, of_left, row), (right, of_right, column))
    )
    first, second = operands
    if first is None or second is None:
        return None
    return Product(reduce, row, column, terms, first, second)


def _operand(
    load: UOp, steps: Mapping[UOp, int], constant: int, own: UOp, terms: UOp
) -> Operand | None:
    """A factor whose pieces of eight elements are contiguous and aligned."""
    step, term = steps[own], steps.get(terms, 0)
    contiguous = terms if term == 1 else own
    if steps[contiguous] != 1:
        return None
    # rows of sliding windows overlap, one element apart: their pieces are not aligned
    others = [n for u, n in steps.items() if u is not contiguous]
    if any(n % _PIECE or n <= 0 for n in others) or constant % _PIECE:
        return None
    if _extent(contiguous) % _PIECE:
        return None  # the last piece of a row would be another row's in part
    pointer = load.src[0].src[0].dtype
    is_near = isinstance(pointer, PtrDType) and pointer.size < _FAR
    return Operand(load, step, term) if is_near else None


# ---- blocks ----------------------------------------------------------------------------------


def _blocks(sink: UOp, nodes: Any, found: Product, columns: int, buffers: int) -> UOp:
    """The kernel over blocks, threads, and the sums of a thread."""
    down, across = (
        ceildiv(_extent(found.rows), source.ROWS),
        ceildiv(_extent(found.columns), columns),
    )
    others = sorted(_outputs(sink) - {found.rows, found.columns}, key=lambda u: u.arg.id)
    made = (UOp.range(extent, number, kind) for number, (extent, kind) in enumerate((
        *((_extent(loop), AxisKind.GLOBAL) for loop in others),
        (down * across, AxisKind.GLOBAL), (source.THREADS, AxisKind.LOCAL),
        (columns // 8, AxisKind.UPCAST), (2, AxisKind.UPCAST), (2, AxisKind.VECTOR),
    )))  # fmt: skip
    new = list(made)
    block, thread, eights, half, pair = new[len(others) :]
    group = next(n for n in _GROUPS if down % n == 0)
    row = (block // (group * across) * group + block % group) * source.ROWS
    column = block // group % across * columns
    outer = dict(zip(others, new))
    sums = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(columns // 2, AddrSpace.REG), (), 0)
    first = {**outer, found.rows: row, found.columns: column, found.terms: row.const_like(0)}
    product = _call(found, sums, first, columns, buffers)
    fill = UOp(Ops.FILL, dtypes.void, (sums.index(row.const_like(0)).store(product),), Fill())
    sum_ = sums.index(eights * 4 + half * 2 + pair).load(fill)
    own = {
        **outer,
        found.rows: row + thread // 32 * 16 + thread % 32 // 4 + half * 8,
        found.columns: column + eights * 8 + thread % 4 * 2 + pair,
    }
    replaced = replace_nodes(nodes, {found.reduce: sum_})
    limits = {
        loop: UOp(Ops.CMPLT, dtypes.bool, (loop, loop.const_like(_extent(loop))))
        for loop, block in ((found.rows, source.ROWS), (found.columns, columns))
        if _extent(loop) % block
    }
    padded = pad_loops(nodes_of(replaced), limits) if limits else replaced
    result = substitute_ranges(nodes_of(padded), own, {})
    extents = map(_extent, (*others, found.rows, found.columns, found.terms))
    return result.replace(arg=KernelInfo("_".join(map(str, ("w", *extents))), ()))


def _call(found: Product, sums: UOp, first: Mapping[UOp, UOp], columns: int, buffers: int) -> UOp:
    """The call of the function that fills the sums of a thread; its value is the first of them."""
    nbytes = source.shared_bytes(columns, buffers)
    memory = UOp(Ops.DEFINE_LOCAL, dtypes.uint8.ptr(nbytes, AddrSpace.LOCAL), (), "tiles")
    sources, texts = [sums, memory], ["{0}", "{1}"]
    axes = ((found.left, found.rows, source.ROWS), (found.right, found.columns, columns))
    for operand, axis, _ in axes:
        pointer, index = operand.load.src[0].src
        at = substitute_ranges(list(index.toposort()), first, {})
        left = first[axis].const_like(_extent(axis)) - first[axis]
        one, two, three = range(len(sources), len(sources) + 3)
        texts.append(f"{{{one}}} + {{{two}}}, {operand.stride}, {{{three}}}")
        sources += [pointer, at, left]
    terms = _extent(found.terms)
    whole = terms % source.TERMS == 0 and all(_extent(axis) % block == 0 for _, axis, block in axes)
    flags = (found.left.along_terms, found.right.along_terms, whole)
    template = ", ".join((str(columns), str(buffers), *(str(flag).lower() for flag in flags)))
    text = f"{source.NAME}<{template}>({', '.join(texts)}, {terms})"
    return UOp(Ops.CUSTOMI, dtypes.float32, tuple(sources), text)


def definitions(uops: Any) -> Iterator[str]:
    """The functions that a program calls."""
    for u in uops:
        if u.op is Ops.CUSTOMI and u.arg.startswith(source.NAME):
            sums = u.src[0].dtype
            assert isinstance(sums, PtrDType)  # `_call` has made it
            yield from source.definitions(2 * sums.size, _OPERANDS[u.src[2].dtype.base])

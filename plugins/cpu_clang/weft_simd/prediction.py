"""Performance prediction: the cycles that a kernel takes on one core, by the machine's model.
Also: roofline model, port model.

Each loop body is bounded by its busiest resource: vector pipes, load ports, the store port, or the
latency of its longest chain through an accumulator. A kernel is bounded by the sum of its bodies,
or by the bytes that it moves from the cache or memory that holds them. Nothing is fitted to a
kernel: a prediction that is far off shows a fault of the model, or of the kernel.

in:  a `LinearProgram`, a `MachineModel`      out: a `Prediction`

Source: Williams, Waterman & Patterson, "Roofline" (CACM 2009); Laukemann et al., "Automated
instruction stream throughput prediction for Intel and AMD microarchitectures" (PMBS 2018, OSACA).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.plugin import AddrSpace, LinearProgram, MachineModel, Ops, PtrDType, UOp, dtypes
from weft_simd import thresholds

_ARITHMETIC = frozenset({
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.MAX, Ops.WHERE, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
    Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.NEG, Ops.TRUNC, Ops.CAST, Ops.BITCAST,
    Ops.FDIV, Ops.RECIP, Ops.SQRT, Ops.IDIV, Ops.MOD,
})  # fmt: skip
_DIVISIONS = frozenset({Ops.FDIV, Ops.RECIP, Ops.SQRT, Ops.IDIV, Ops.MOD})


@dataclass(frozen=True)
class Prediction:
    """cycles: of one core. bound: the resource that decides: "arithmetic", "loads", "stores",
    "latency" or "memory"."""

    cycles: float
    bound: str


@dataclass
class _Body:
    """One loop body without the loops inside of it. Counts are of one iteration, in instructions
    of one vector register. iterations: how often it is executed in all."""

    iterations: float
    arithmetic: float = 0.0
    loads: float = 0.0
    stores: float = 0.0
    chain: int = 0

    def cycles(self, machine: MachineModel) -> tuple[float, str]:
        """The cycles of all iterations, and what bounds them."""
        pipes = _pipes(machine)
        bounds = {
            "arithmetic": self.arithmetic / pipes,
            "loads": self.loads / pipes,
            "stores": self.stores / (pipes * thresholds.STORED),
            "latency": self.chain * machine.multiply_add_latency,
        }
        bound = max(bounds, key=bounds.__getitem__)
        return bounds[bound] * self.iterations, bound


def predict(program: LinearProgram, machine: MachineModel) -> Prediction:
    """The cycles of one launch of a kernel. Variables count with their largest value."""
    parts: dict[str, float] = {}
    for body in _bodies(program, machine):
        cycles, bound = body.cycles(machine)
        parts[bound] = parts.get(bound, 0.0) + cycles
    computed = sum(parts.values())
    moved = _memory_cycles(program, machine)
    if moved >= computed or not parts:
        return Prediction(moved, "memory")
    return Prediction(computed, max(parts, key=parts.__getitem__))


def _pipes(machine: MachineModel) -> float:
    """Vector instructions of one kind that a core starts in a cycle."""
    lanes = machine.lanes(dtypes.float32)
    known = machine.throughput(Ops.MULACC, dtypes.float32) / lanes if lanes else 0.0
    return known or machine.vector_pipes


def _memory_cycles(program: LinearProgram, machine: MachineModel) -> float:
    """The cycles in which the buffers pass by once, from the level that holds all of them."""
    nbytes = program.estimates.bytes
    if not isinstance(nbytes, int):
        nbytes = nbytes.vmax
    stored = min(nbytes, _stored_bytes(program))
    if nbytes <= machine.l2_bytes:
        return nbytes / machine.l2_bytes_per_cycle
    if nbytes <= machine.last_level_bytes:
        loads, stores = machine.last_level_bytes_per_cycle, machine.last_level_store_bytes_per_cycle
    else:
        loads, stores = machine.memory_load_bytes_per_cycle, machine.memory_store_bytes_per_cycle
    return (nbytes - stored) / loads + stored / stores


def _stored_bytes(program: LinearProgram) -> int:
    """The bytes of the buffers that a kernel writes."""
    sizes = {
        node.arg: node.dtype.size * node.dtype.itemsize
        for node in program.uops
        if node.op is Ops.DEFINE_GLOBAL and isinstance(node.dtype, PtrDType)
    }
    return sum(max(0, sizes.get(slot, 0)) for slot in program.outs)


def _bodies(program: LinearProgram, machine: MachineModel) -> Iterator[_Body]:
    """The loop bodies of a program, each once it is complete."""
    addresses = _addresses(program)
    depth: dict[UOp, int] = {}
    outside = 1.0
    for node in program.uops:
        if node.op is Ops.SPECIAL:
            outside *= _extent(node)
    open_bodies = [_Body(outside)]
    for node in program.uops:
        body = open_bodies[-1]
        if node.op is Ops.RANGE:
            open_bodies.append(_Body(body.iterations * _extent(node)))
        elif node.op is Ops.ENDRANGE:
            yield open_bodies.pop()
        elif node.op is Ops.LOAD:
            body.loads += 0.0 if _is_register(node.src[0]) else _registers(node, machine)
            depth[node] = 0 if _is_register(node.src[0]) else -1
        elif node.op is Ops.STORE:
            if _is_register(node.src[0]):
                body.chain = max(body.chain, depth.get(node.src[1], -1))
            else:
                body.stores += _registers(node.src[1], machine)
        elif node.op is Ops.VECTORIZE:
            different = len(set(node.src))
            body.arithmetic += different if different > 1 else 0
            depth[node] = max((depth.get(u, -1) for u in node.src), default=-1)
        elif node.op in _ARITHMETIC and node not in addresses:
            body.arithmetic += _cost(node, machine)
            longest = max((depth.get(u, -1) for u in node.src), default=-1)
            depth[node] = longest + 1 if longest >= 0 else -1
    yield from reversed(open_bodies)


def _addresses(program: LinearProgram) -> set[UOp]:
    """The nodes that compute addresses and conditions of accesses, which vector pipes do not."""
    found: set[UOp] = set()
    for node in program.uops:
        if node.op in (Ops.INDEX, Ops.RANGE):
            for source in node.src[1:] if node.op is Ops.INDEX else node.src:
                found.update(u for u in source.toposort() if u.op in _ARITHMETIC)
    return found


def _cost(node: UOp, machine: MachineModel) -> float:
    """The instructions of an operation."""
    wide = max((node, *node.src), key=lambda u: u.dtype.scalar().itemsize)
    factor = thresholds.DIVISION_OPERATIONS if node.op in _DIVISIONS else 1
    if node.op is Ops.BITCAST:
        return 0.0
    return factor * _registers_of(wide.dtype.scalar().itemsize * node.dtype.count, machine)


def _registers(node: UOp, machine: MachineModel) -> float:
    return _registers_of(node.dtype.scalar().itemsize * node.dtype.count, machine)


def _registers_of(nbytes: int, machine: MachineModel) -> float:
    return max(1.0, nbytes / machine.register_bytes) if machine.register_bytes else float(nbytes)


def _is_register(index: UOp) -> bool:
    pointer = index.src[0] if index.op is Ops.INDEX else index
    return isinstance(pointer.dtype, PtrDType) and pointer.dtype.space is AddrSpace.REG


def _extent(node: UOp) -> float:
    """The iterations of a loop; its largest number if it is a variable, and the smallest if it is
    the rest of another loop."""
    size = node.src[0]
    is_rest = size.op in (Ops.ADD, Ops.SUB) and size.src[0].op is Ops.CONST
    if size.op is Ops.CONST:
        return float(size.arg)
    return max(0.0, float(size.vmin if is_rest else size.vmax))

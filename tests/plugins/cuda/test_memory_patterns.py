"""What the lanes of a warp touch at once, in kernels that must be fast: whole sectors of memory,
and every bank of shared memory once.

Addresses are computed for the lanes of the first warp, with all loops in their first iteration.
"""

import pytest

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.plugin import GroupOp, Ops
from weft.tools.dry_run import dry_run
from weft.uop import exec_alu
from weft_cuda.machine import BANK_BYTES, BANKS

SECTOR = 32  # bytes


def t(*shape, dtype="float32"):
    return Tensor.empty(*shape, dtype=dtype, device="CUDA")


def half_product():
    return t(1024, 1024, dtype="half").matmul(t(1024, 1024, dtype="half"), dtype="float32")


def transposed_half_product():
    return t(1024, 1024, dtype="half").matmul(t(1024, 1024, dtype="half").T, dtype="float32")


def program_of(make, arch):
    own, plan = dry_run("CUDA", arch)
    with registry.use(own):
        (item,) = (i for i in make().schedule() if i.ast.op is Ops.SINK)
        return lower(item.ast, plan.offline.target)


def value(node, place, known):
    """An integer expression for one lane."""
    if node not in known:
        if node.op is Ops.CONST:
            known[node] = node.arg
        elif node.op is Ops.SPECIAL:
            known[node] = place.get(node.arg, 0)
        elif node.op is Ops.CAST:
            known[node] = value(node.src[0], place, known)
        elif node.op in GroupOp.ALU:
            operands = tuple(value(source, place, known) for source in node.src)
            known[node] = exec_alu(node.op, node.dtype, operands)
        else:
            known[node] = 0
    return known[node]


def accesses(program, space):
    """(bytes of a lane, where each lane's are) of every access of memory of this space."""
    wide, tall, _ = program.local_size
    lanes = [
        ({"lidx0": i % wide, "lidx1": i // wide % tall, "lidx2": i // wide // tall}, {})
        for i in range(BANKS)
    ]
    for node in program.uops:
        if node.op not in (Ops.LOAD, Ops.STORE):
            continue
        pointer, at = node.src[0].src[:2]
        if pointer.dtype.space.name == space:
            size = pointer.dtype.base.itemsize
            count = (node.src[1] if node.op is Ops.STORE else node).dtype.count
            yield count * size, [value(at, place, known) * size for place, known in lanes]


def most_in_a_bank(nbytes, places):
    """How often the busiest bank is asked, for each of the parts that one access is done in."""
    together = max(1, min(BANKS, BANKS * BANK_BYTES // nbytes))
    worst = 0
    for first in range(0, BANKS, together):
        banks = {}
        for at in places[first : first + together]:
            for word in range(at // BANK_BYTES, (at + nbytes - 1) // BANK_BYTES + 1):
                banks.setdefault(word % BANKS, set()).add(word)
        worst = max(worst, *map(len, banks.values()))
    return worst


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89"])
@pytest.mark.parametrize("make", [half_product, transposed_half_product])
def test_products_of_short_floats(make, arch):
    program = program_of(make, arch)
    assert any(node.op is Ops.WMMA for node in program.uops)
    shared = list(accesses(program, "LOCAL"))
    assert {nbytes for nbytes, _ in shared} <= {4, 8, 16}
    # fragments of half the length are put down in halves
    most = 2 if arch == "sm_75" else 1
    assert max(most_in_a_bank(*access) for access in shared) <= most
    for nbytes, places in accesses(program, "GLOBAL"):
        sectors = {(at + byte) // SECTOR for at in places for byte in range(0, nbytes, BANK_BYTES)}
        assert len(sectors) * SECTOR == len(set(places)) * nbytes


@pytest.mark.parametrize("arch", ["sm_75", "sm_80"])
def test_products_of_floats(arch):
    """Rows that are columns of the tile are put down float by float: two lanes to a bank."""
    program = program_of(lambda: t(1024, 1024) @ t(1024, 1024), arch)
    reads = [access for access in accesses(program, "LOCAL") if access[0] == 16]
    assert reads and min(most_in_a_bank(*access) for access in reads) == 1
    assert max(most_in_a_bank(*access) for access in accesses(program, "LOCAL")) <= 2

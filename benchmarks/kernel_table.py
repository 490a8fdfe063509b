"""How many kernels a program becomes, what they move and what they compute: weft and its peer.

`python benchmarks/kernel_table.py` schedules and lowers every program of `programs.py` and the
networks of `networks.py`, each peer in a process of its own, and writes benchmarks/kernels.md.
Nothing is computed and nothing is timed.

kernels  launches; copies between devices are not counted
moved    bytes: what a kernel loads and stores, of one buffer at most its size each way, so that a
         value that is read again from a cache costs once
flops    arithmetic in all iterations of kernels, without addresses; a multiply-add is two
ideal    bytes: each input once and each output once. flops: every node of the tensor graph once for
         each of its elements (reduces: of what they read; a multiply-add
         two), as if each were a kernel

Peer: `python -m pip install tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import PROGRAMS, Program

HERE = Path(__file__).resolve().parent
MOVED, FLOPS = 1.1, 1.25  # of the ideal, at most
Counts = dict[str, int]


# ---- weft ---------------------------------------------------------------------------------------


def _ideal(tensors: Sequence[Any]) -> Counts:
    """Bytes and flops of the graph as it was written down."""
    from weft.base.sequences import prod
    from weft.uop import GroupOp, Ops, UOp

    moved = sum(t.nbytes() for t in dict.fromkeys(tensors))
    flops = 0
    for node in UOp.sink(*(t.uop for t in tensors)).toposort():
        if node.op is Ops.BUFFER:
            moved += node.arg * node.dtype.itemsize
        elif node.op is Ops.REDUCE_AXIS:
            flops += prod(node.src[0].shape)
        elif node.op in GroupOp.ALU:
            flops += prod(node.shape) * (1 + (node.op is Ops.MULACC))
    return {"ideal moved": moved, "ideal flops": flops}


def _traffic(program: Any) -> int:
    """Bytes that one launch of a linear program has to move."""
    from weft.base.dtype import AddrSpace
    from weft.uop import Ops

    turns, reads, writes, sizes = [1], {}, {}, {}
    for node in program.uops:
        op = node.op
        if op is Ops.DEFINE_GLOBAL:
            sizes[node] = node.dtype.nbytes
        elif op is Ops.RANGE:
            turns.append(turns[-1] * node.vmax + turns[-1])
        elif op is Ops.ENDRANGE:
            turns.pop()
        elif op is Ops.SPECIAL:
            turns[0] *= node.vmax + 1
        elif op is Ops.LOAD or op is Ops.STORE:
            pointer = node.src[0].src[0]
            if pointer.dtype.space is AddrSpace.GLOBAL:
                value, found = (node, reads) if op is Ops.LOAD else (node.src[1], writes)
                found[pointer] = found.get(pointer, 0) + turns[-1] * value.dtype.itemsize
    return sum(min(n, sizes[p]) for found in (reads, writes) for p, n in found.items())


def count_tensors(tensors: Sequence[Any]) -> Counts:
    """Kernels, bytes and flops of weft's schedule of `tensors`, and what would be ideal."""
    from weft.codegen.pipeline import lower, nothing
    from weft.device import registry
    from weft.uop import Ops

    target = registry.open("NULL").target  # it has an operation of its own for every op
    result = {"kernels": 0, "moved": 0, "flops": 0, **_ideal(tensors)}
    lowered: dict[Any, tuple[int, int]] = {}
    items, _ = tensors[0].schedule_with_vars(*tensors[1:])
    for item in items:
        if item.ast.op is not Ops.SINK:
            continue
        if item.ast not in lowered:
            program = lower(item.ast, target, nothing)
            lowered[item.ast] = _traffic(program), int(program.estimates.ops)
        moved, flops = lowered[item.ast]
        result["kernels"] += 1
        result["moved"] += moved
        result["flops"] += flops
    return result


def _weft() -> tuple[Any, Callable[[Sequence[Any]], Counts]]:
    from weft import Tensor

    return Tensor, count_tensors


# ---- the peer -----------------------------------------------------------------------------------


def _tinygrad() -> tuple[Any, Callable[[Sequence[Any]], Counts]]:
    from tinygrad import Tensor
    from tinygrad.engine.realize import lower_and_compile
    from tinygrad.uop.ops import Ops

    def count(tensors: Sequence[Any]) -> Counts:
        result = {"kernels": 0, "moved": 0, "flops": 0}
        for call in lower_and_compile(tensors[0].schedule_linear(*tensors[1:])).src:
            if call.src[0].op is Ops.PROGRAM:
                costs = call.src[0].src[0].arg.estimates
                result["kernels"] += 1
                result["moved"] += int(costs.mem)
                result["flops"] += int(costs.ops)
        return result

    return Tensor, count


PEERS: dict[str, Callable[[], tuple[Any, Callable[[Sequence[Any]], Counts]]]] = {
    "weft": _weft,
    "tinygrad": _tinygrad,
}


def work(peer: str, names: Sequence[str]) -> None:
    """Count every program with one peer; a line of JSON for each."""
    tensor, count = PEERS[peer]()
    tensor.manual_seed(0)
    tensor.rand(2).realize()  # the state of a generator
    for program in PROGRAMS:
        if not names or program.name in names:
            try:
                answer = count(program.build(tensor))
            except Exception as error:  # a peer that cannot do one program still does the others
                answer = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
            print(json.dumps({"name": program.name, **answer}), flush=True)


# ---- the table ----------------------------------------------------------------------------------


def ask(peer: str, names: Sequence[str], device: str) -> dict[str, Any]:
    """What a peer counts, by program; empty where it is not installed."""
    chosen = {"WEFT_DEVICE": device, "DEV": "NULL", "PARALLEL": "0"}
    done = subprocess.run(
        [sys.executable, str(HERE / "kernel_table.py"), "--worker", peer, *names],
        env={**os.environ, **chosen},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row.pop("name"): row for row in rows}


def human(number: int | None) -> str:
    """Three figures and a unit of thousands."""
    if number is None:
        return "-"
    step = min(4, max(0, int(math.log10(max(1, number))) // 3))
    return f"{number / 1000**step:.3g}{('', ' k', ' M', ' G', ' T')[step]}"


def _with_ratio(own: int, ideal: int, most: float) -> str:
    """A count with its ratio to the ideal, marked where that is more than it should be."""
    if not ideal:
        return human(own)
    return f"{human(own)} ({own / ideal:.2f}){_mark(own / ideal > most)}"


def _mark(missed: bool) -> str:
    return " **>**" if missed else ""


def line(program: Program, own: dict[str, Any], other: dict[str, Any]) -> str:
    """One row of the table."""
    if "failed" in own:
        return f"| {program.name} | {own['failed']} |" + " |" * 8
    goal = "-" if program.goal is None else str(program.goal)
    missed = program.goal is not None and own["kernels"] > program.goal
    kernels = f"{own['kernels']}{_mark(missed)}"
    moved = _with_ratio(own["moved"], own["ideal moved"], MOVED if program.goal == 1 else math.inf)
    flops = _with_ratio(own["flops"], own["ideal flops"], FLOPS)
    return (
        f"| {program.name} | {kernels} | {goal} | {other.get('kernels', '-')} | "
        f"{moved} | {human(other.get('moved'))} | {human(own['ideal moved'])} | "
        f"{flops} | {human(other.get('flops'))} | {human(own['ideal flops'])} |"
    )


def table(own: dict[str, Any], other: dict[str, Any]) -> str:
    """Markdown: a row for each selected program."""
    head = (
        "| program | weft | goal | tinygrad | moved | tinygrad | ideal | flops | tinygrad | ideal |"
    )
    rows = [line(p, own[p.name], other.get(p.name, {})) for p in PROGRAMS if p.name in own]
    return "\n".join([head, "|" + "---|" * 10, *rows])


ABOUT = """# Kernels, bytes and flops

Written by `python benchmarks/kernel_table.py`, which says what is counted. In brackets: how many
times the ideal; `>` marks what is missed: the goal, 1.1 times the bytes where it is one kernel, or
1.25 times the operations. The ideal of embedding has the whole table among its inputs, though few
rows of it are read. tinygrad {peer} with its defaults.

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs, all if none is named")
    parser.add_argument("--worker", choices=PEERS, help="serve one peer and print its counts")
    parser.add_argument("--device", default="CPU", help="whose limits weft schedules for")
    parser.add_argument("--no-write", action="store_true", help="only print the table")
    chosen = parser.parse_args()
    if chosen.worker:
        work(chosen.worker, chosen.names)
        return
    counted = table(*(ask(peer, chosen.names, chosen.device) for peer in PEERS))
    print(counted)
    if not (chosen.no_write or chosen.names):
        from importlib.metadata import PackageNotFoundError, version

        try:
            peer = version("tinygrad")
        except PackageNotFoundError:
            peer = "(not installed)"
        text = ABOUT.format(peer=peer, table=counted)
        (HERE / "kernels.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

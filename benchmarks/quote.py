"""Copy the rows that docs/benchmarks.md quotes out of what the benchmarks wrote.

    python benchmarks/quote.py

It reads kernels.md, schedule_cost.md, compile_cost.md, results.md and results/limits*.md beside it
and replaces what is between the marks of that page; nothing is measured.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"

KERNELS = [
    "softmax", "layernorm", "softmax backward", "layernorm backward", "sum + max of one input",
    "attention forward", "attention forward + backward", "cumsum(4096)", "GPT block forward",
    "GPT block forward + backward", "ResNet-50 forward", "Adam step, 4 tensors",
]  # fmt: skip
COSTS = [
    "record one op", "ResNet-50 forward", "ResNet-50 forward again",
    "GPT-2 small forward + backward", "GPT-2 small forward + backward again", "pending 100000 ops",
]  # fmt: skip
LIMITS = [
    "matmul 512", "matmul 1024", "matmul 2048", "matmul 4096", "matmul 1024, bfloat16",
    "convolution 3 x 3, forward", "convolution 3 x 3, gradients of both", "softmax, 4096",
    "layernorm, 4096", "transpose, 4096", "chain of 10, 16 M",
]  # fmt: skip
"""Rows that are always quoted; all models, and rows in which weft is not first, are added."""


def rows(name: str) -> list[list[str]]:
    """The cells of every row of the table in a file."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in x.strip("|").split("|")] for x in lines if x.startswith("|")]


def table(head: list[str], body: list[list[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def kernels() -> str:
    """Kernels and bytes of the programs quoted, and the peer's."""
    found = {row[0]: row for row in rows("kernels.md")}
    head = ["program", "weft", "tinygrad", "weft moves", "tinygrad moves"]
    body = [[name, found[name][1], found[name][3], found[name][4].split(" (")[0], found[name][5]]
            for name in KERNELS]  # fmt: skip
    return table(head, body)


def costs() -> str:
    """What recording, scheduling and lowering cost, and the peer's cost."""
    found = {(row[0], row[1]): row for row in rows("schedule_cost.md")}
    column = {"record one op": 2}
    body = []
    for name in COSTS:
        at = column.get(name, 6)
        cells = [found.get((name, peer), []) for peer in ("weft", "tinygrad")]
        body.append([name, *(c[at] if len(c) > at and c[at] != "-" else c[2] for c in cells)])
    return table(["case", "weft", "tinygrad"], body)


def limits() -> str:
    """Rates and times at the machine's limit on one core, and how that is on two.

    Quoted are LIMITS, every model, and every row in which weft is behind on either.
    """
    one, two = (by_name(f"results/limits{suffix}.md") for suffix in ("", "-2-threads"))
    head = ["workload", "in", "weft", "best peer", "weft / best peer, one core", "two cores"]
    peers = one["workload"][3:-2]
    body = []
    for name, cells in one.items():
        ratios = [cells[-2], two.get(name, ["-", "-"])[-2]]
        behind = any(number(ratio) > 1 for ratio in ratios)
        if name == "workload" or not (
            name in LIMITS or cells[1] in ("ms", "us a kernel") or behind
        ):
            continue
        rate = cells[1] in ("GFLOP/s", "GB/s")
        known = [(number(x), peer) for x, peer in zip(cells[3:-2], peers) if number(x) > 0]
        best = (max if rate else min)(known, default=(0.0, "-"))
        body.append([name, cells[1], cells[2], f"{best[0]:.3g} ({best[1]})", *ratios])
    return table(head, body)


def starts() -> str:
    """Seconds until a program is ready, cold / warm, of weft and of the peer that compiles."""
    head, _, *body = rows("compile_cost.md")
    return table(head, [cells for cells in body if cells[1] in ("weft", "JAX")])


def by_name(name: str) -> dict[str, list[str]]:
    """The cells of every row of the table in a file, by the first cell."""
    return {cells[0]: cells for cells in rows(name) if not cells[0].startswith("---")}


def number(cell: str) -> float:
    """The number in a cell; 0 where there is none."""
    try:
        return float(cell)
    except ValueError:
        return 0.0


def replaced(text: str, mark: str, content: str) -> str:
    """`content` between the marks of that name."""
    return re.sub(
        rf"(<!-- {mark}[^>]*-->\n).*?(<!-- end of {mark} -->)",
        lambda found: f"{found[1]}{content}\n{found[2]}",
        text,
        flags=re.S,
    )


def main() -> None:
    """Rewrite the page."""
    text = PAGE.read_text(encoding="utf-8")
    results = (HERE / "results.md").read_text(encoding="utf-8").split("\n\n", 1)[1].strip()
    for mark, content in (
        ("benchmarks", results),
        ("kernels", kernels()),
        ("costs", costs()),
        ("limits", limits()),
        ("starts", starts()),
    ):
        text = replaced(text, mark, content)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Thread loop: run a part of a launch grid as a loop inside the kernel, on processors.
Also: loop parallelization.

Call number `part0` of `parts0` runs its share of the iterations. The shares are equal up to one
iteration and cover all of them. A second function, `NAME_part`, takes all arguments as words, so
that the caller need not know the signature of the kernel.

in:  spec.linear with gidx0
out: the loop over it, and a second function that threads call

Source: Stratton, Stone and Hwu, "MCUDA: An Efficient Implementation of CUDA Kernels for Multi-core
CPUs", LCPC 2008; OpenMP API specification, schedule(static).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import Ops, UOp

SUFFIX = "_part"
"""Of the name of the function that takes words."""
PARAMETERS = ("const long long part0", "const long long parts0")


def index_first(uops: Sequence[UOp]) -> Sequence[UOp]:
    """The nodes with gidx0 and its end before all others.

    Accumulators are cleared in every iteration, so nothing may come before the loop.
    """
    index = [u for u in uops if u.op is Ops.SPECIAL and u.arg.startswith("gidx")]
    if not index:
        return uops
    cone = UOp.sink(*index).toposort()
    return [u for u in uops if u in cone] + [u for u in uops if u not in cone]


def loop(name: str, kind: str, end: str) -> tuple[str, str]:
    """Two lines: the end of this call's part, and the head of its loop."""
    count = f"(long long)({end})"
    first, last = f"{count} * part0 / parts0", f"{count} * (part0 + 1) / parts0"
    return (
        f"const {kind} last0 = ({kind})({last});",
        f"for ({kind} {name} = ({kind})({first}); {name} < last0; {name}++) {{",
    )


def entry(name: str, types: Sequence[str]) -> list[str]:
    """The function that takes all arguments as words, for a kernel with parameters of these
    types."""
    given = [f"({kind})words0[{i}]" for i, kind in enumerate(types)]
    call = ", ".join([*given, "part0", "parts0"])
    parameters = ", ".join(["const long long* words0", *PARAMETERS])
    return [f"void {name}{SUFFIX}({parameters}) {{", f"  {name}({call});", "}"]

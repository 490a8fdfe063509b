"""Check the machine model: predicted against measured time of the kernels of the benchmarks.

    python benchmarks/model_check.py [--only WORD ...] [--arch x86-64-v3]

Every kernel of the workloads is measured on one core, and predicted by `weft_simd.prediction` from
the `MachineModel` of the device. The machine is measured first, as by `weft tune`. Only kernels
that take at least 20 us count: shorter ones measure the launch. It prints a row for each kernel,
what bounds it, and the median of the relative errors.
"""

from __future__ import annotations

import argparse
import os
import statistics
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.device import MachineModel

SHORTEST = 20e-6


def measured_machine() -> tuple[MachineModel, float]:
    """The model of the default device with what is measured now, and its clock in Hz."""
    from weft.device import registry

    hertz = 0.0
    opened = registry.open()
    for fact in opened.measure():
        print(f"- {fact}")
        hertz = fact.value * 1e9 if fact.name == "clock" else hertz
    registry.close(opened.id)
    return registry.open().target.compute.machine, hertz


def measured(item: object, rounds: int) -> float:
    """Seconds of a kernel on its core: the median of several launches."""
    found = []
    for _ in range(rounds):
        began = process_time()  # another process may use the core meanwhile
        item.run()  # type: ignore[attr-defined]
        found.append(process_time() - began)
    return statistics.median(found)


def kernels_of(row: object) -> list[object]:
    """The kernels of a workload, lowered, over memory that was filled."""
    from weft import Tensor
    from weft.engine import lower_schedule_item

    given = [Tensor(array) for array in row.inputs()]  # type: ignore[attr-defined]
    cast = row.cast  # type: ignore[attr-defined]
    given = [(x.cast(cast) if cast and x.dtype.name == "float" else x).contiguous() for x in given]
    given[0].realize(*given[1:])
    found = row.by["lazy"](None, *given)  # type: ignore[attr-defined]
    several = found if isinstance(found, (list, tuple)) else (found,)
    items = []
    for si in several[0].schedule(*several[1:]):
        item = lower_schedule_item(si)
        for buffer in item.bufs:
            _ = buffer.handle  # takes memory
        item.run()
        items.append(item)
    return items


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="words of the workloads")
    parser.add_argument("--arch", default=None, help="a level of x86-64 to compile for")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    os.environ["WEFT_CPU_THREADS"] = "1"
    if options.arch:
        os.environ["WEFT_CPU_ARCH"] = options.arch
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

    from workloads import WORKLOADS

    from weft_simd.prediction import predict

    machine, hertz = measured_machine()
    print()
    print("| workload | kernel | measured, us | predicted, us | ratio | bound |")
    print("|---|---|---|---|---|---|")
    errors = []
    for row in WORKLOADS:
        if options.only and not any(word in row.name for word in options.only):
            continue
        if "replay" in row.name:
            continue
        for item in kernels_of(row):
            program = getattr(item.prg, "p", None)
            seconds = measured(item, options.rounds)
            if program is None or seconds < SHORTEST:
                continue
            found = predict(program.program, machine)
            ratio = found.cycles / hertz / seconds
            errors.append(abs(ratio - 1))
            print(f"| {row.name} | {program.program.name} | {seconds * 1e6:.0f} | "
                  f"{found.cycles / hertz * 1e6:.0f} | {ratio:.2f} | {found.bound} |",
                  flush=True)  # fmt: skip
    if errors:
        within = sum(error <= 0.2 for error in errors)
        print(f"\nmedian error {statistics.median(errors):.0%} of {len(errors)} kernels; "
              f"{within} within 20%")  # fmt: skip


if __name__ == "__main__":
    main()

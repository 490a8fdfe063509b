"""Check the machine model: predicted against measured time of the kernels of the benchmarks.

    python benchmarks/model_check.py [--only WORD ...] [--arch x86-64-v3]

Every kernel of the workloads is measured on one core, and predicted by `weft_simd.prediction` from
the `MachineModel` of the device. The clock is measured by a chain of dependent additions. Only
kernels that take at least 20 us count: shorter ones measure the launch. It prints a row for each
kernel, what bounds it, and the median of the relative errors.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from dataclasses import fields, replace
from time import perf_counter, process_time

SHORTEST = 20e-6
CHAIN = 1 << 20


def clock_hertz() -> float:
    """Cycles a second: additions that wait for each other take one each."""
    import ctypes
    import subprocess
    import tempfile

    source = """
    long chain(long n) {
      long x = n;
      for (long i = 0; i < n; i++) {
        __asm__ volatile("add $1, %0\\n add $1, %0\\n add $1, %0\\n add $1, %0\\n"
                         "add $1, %0\\n add $1, %0\\n add $1, %0\\n add $1, %0\\n" : "+r"(x));
      }
      return x;
    }
    """
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/chain.c", "w") as file:
            file.write(source)
        command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-shared", "-fPIC"]
        subprocess.run([*command, f"{folder}/chain.c", "-o", f"{folder}/chain.so"], check=True)
        chain = ctypes.CDLL(f"{folder}/chain.so").chain
        best = 1e9
        for _ in range(10):
            began = perf_counter()
            chain(ctypes.c_long(CHAIN))
            best = min(best, perf_counter() - began)
    return 8 * CHAIN / best


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

    import ceiling
    from workloads import WORKLOADS

    from weft import Device
    from weft_simd.prediction import predict

    hertz, limit = clock_hertz(), ceiling.measured(1, options.arch)
    machine = Device[Device.DEFAULT].target.compute.machine
    if limit is not None:
        facts = {one.name: getattr(machine, one.name) for one in fields(machine) if not one.init}
        machine = replace(machine, memory_bytes_per_cycle=limit.bytes / hertz).with_facts(**facts)
    print(f"clock {hertz / 1e9:.2f} GHz, {limit}\n")
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

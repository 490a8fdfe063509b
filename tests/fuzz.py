"""Run the program fuzzers over ranges of seeds, and print how many programs differed.

    WEFT_DEVICE=REF python tests/fuzz.py captured=0:20000 gradients=0:20000
    python tests/fuzz.py --list

Every program is drawn from its seed, so that a mismatch is found again by the seed that is printed
with it. A thousand programs share a process: a fresh one starts with empty caches.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from weft.testing.program_lines import Seeded  # noqa: E402
from weft.testing.programs import EVERYTHING, FUSION, HAZARDS, Refused, run_program  # noqa: E402

PER_PROCESS = 1_000
MESHES = ((2, 2), (2, 3), (3, 2), (4, 1))


def _views(name: str) -> Callable[[int], object]:
    from helpers.view_programs import check_program

    return lambda seed: check_program(Seeded(seed), kinds=(name,))


def _files(seed: int) -> None:
    from helpers.view_programs import check_files

    with tempfile.TemporaryDirectory() as folder:
        check_files(Seeded(seed), folder, "DISK")


def _gradients(seed: int) -> None:
    from helpers.view_gradients import check_gradients

    check_gradients(Seeded(seed))


def _pools(seed: int) -> None:
    from property.test_pools_and_convolutions import finding

    text = finding(seed)
    if text:
        raise ValueError(text)


def _shards(seed: int, count: int = 2) -> None:
    run_program(Seeded(seed), EVERYTHING, devices=_devices(count))


def _meshes(seed: int) -> None:
    mesh = MESHES[seed % len(MESHES)]
    run_program(Seeded(seed), EVERYTHING, devices=_devices(mesh[0] * mesh[1]), mesh=mesh)


def _ranks(seed: int) -> None:
    """On all ranks of a program of MPI; those of a mesh if their number allows one."""
    from weft_mpi.process import current

    count = current().size
    mesh = (2, count // 2) if count in (4, 6) and seed % 2 else ()
    names = tuple(f"MPI:{rank}" for rank in range(count))
    run_program(Seeded(seed), EVERYTHING, devices=names, mesh=mesh)


def _reshardings(seed: int) -> None:
    """On all ranks of a program of MPI."""
    from helpers.random_reshardings import check_reshardings
    from weft_mpi.process import current

    check_reshardings(seed, tuple(f"MPI:{rank}" for rank in range(current().size)))


def _devices(count: int) -> tuple[str, ...]:
    from weft import Device

    family = Device.DEFAULT.partition(":")[0]
    return tuple(f"{family}:{number}" for number in range(count))


def check_of(kind: str) -> Callable[[int], object]:
    """What checks one seed of a kind of programs."""
    return KINDS[kind][1]()


KINDS: dict[str, tuple[str, Callable[[], Callable[[int], object]]]] = {
    "views": ("views and writes", lambda: _views("as written")),
    "captured": ("views and writes under jit", lambda: _views("captured")),
    "arrays": ("views and writes of the array API", lambda: _views("as arrays")),
    "captured_arrays": ("the same under jit", lambda: _views("as captured arrays")),
    "devices": ("views and writes on several devices", lambda: _views("on several devices")),
    "captured_devices": ("the same under jit", lambda: _views("captured on several devices")),
    "files": ("views and writes of files (DISK)", lambda: _files),
    "gradients": ("gradients of views and writes (needs PyTorch)", lambda: _gradients),
    "pools": ("pooling and convolution, forward and backward", lambda: _pools),
    "everything": ("every kind of step", lambda: lambda s: run_program(Seeded(s), EVERYTHING)),
    "hazards": ("reads and writes", lambda: lambda s: run_program(Seeded(s), HAZARDS, most=16)),
    "fusion": ("fused kernels", lambda: lambda s: run_program(Seeded(s), FUSION)),
    "sharded": ("every kind of step on two devices", lambda: _shards),
    "sharded_three": ("the same on three devices", lambda: lambda s: _shards(s, 3)),
    "meshes": ("the same on meshes of two axes", lambda: _meshes),
    "ranks": ("the same on ranks of MPI (needs --ranks)", lambda: _ranks),
    "reshardings": ("layouts of one value on ranks of MPI (needs --ranks)", lambda: _reshardings),
}


def run_chunk(kind: str, start: int, stop: int) -> int:
    """Check each seed of a range in this process; print what differs. Returns how many did.

    A failure on one of several ranks ends all of them: the others wait for it.
    """
    check = check_of(kind)
    mismatches = 0
    for seed in range(start, stop):
        try:
            check(seed)
        except Refused:
            continue
        except Exception as error:  # noqa: BLE001 (each kind of failure is a finding)
            if kind in ("ranks", "reshardings"):
                error.add_note(f"{kind} {seed}")
                raise
            mismatches += 1
            notes = "\n".join(getattr(error, "__notes__", []))
            print(f"{kind} {seed}: {type(error).__name__}: {error}\n{notes}", flush=True)
    return mismatches


def _prefix(ranks: int) -> list[str]:
    """What starts Python; as several ranks if they were asked for."""
    if not ranks:
        return [sys.executable]
    from weft_mpi.launch import command

    return command(ranks)


def run_range(kind: str, start: int, stop: int, ranks: int = 0) -> int:
    """Check a range of seeds, a thousand in each process. Returns how many programs differed."""
    began = time.perf_counter()
    mismatches = 0
    for low in range(start, stop, PER_PROCESS):
        high = min(low + PER_PROCESS, stop)
        command = [*_prefix(ranks), __file__, "--chunk", f"{kind}={low}:{high}"]
        done = subprocess.run(command, capture_output=True, text=True)
        last, _, count = done.stdout.rstrip().rpartition("mismatches: ")  # of several ranks: one
        if not count.isdigit():
            mismatches += 1
            print(f"{kind} {low}:{high} ended with {done.returncode}\n{done.stderr}", flush=True)
        elif int(count):
            mismatches += int(count)
            print(last, flush=True)
    seconds = time.perf_counter() - began
    print(f"{kind} {start}:{stop}: {stop - start:,} programs, {mismatches} mismatches, "
          f"{seconds:.0f} s", flush=True)  # fmt: skip
    return mismatches


def _range(text: str) -> tuple[str, int, int]:
    kind, _, seeds = text.partition("=")
    low, _, high = seeds.partition(":")
    if kind not in KINDS or not (low.isdigit() and high.isdigit()):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not KIND=START:STOP with a kind of {', '.join(KINDS)}"
        )
    return kind, int(low), int(high)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ranges", nargs="*", type=_range, metavar="KIND=START:STOP")
    parser.add_argument("--list", action="store_true", help="print the kinds of programs")
    parser.add_argument("--ranks", type=int, default=0, help="run as so many ranks of MPI")
    parser.add_argument("--chunk", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.list:
        for kind, (text, _) in KINDS.items():
            print(f"{kind:18} {text}")
        return 0
    if asked.chunk:
        print(f"mismatches: {sum(run_chunk(*part) for part in asked.ranges)}")
        return 0
    return 1 if sum(run_range(*part, asked.ranks) for part in asked.ranges) else 0


if __name__ == "__main__":
    raise SystemExit(main())

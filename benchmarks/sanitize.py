"""The kernels of the benchmarks, watched while they run: every access, every race, every first use.

`python benchmarks/sanitize.py [--full] [NAME ...]` lowers the programs of `programs.py`, the rows
of `workloads.py` (cut to sizes that take the same ways, unless `--full`) and the networks of
`networks.py` for this processor. Kernels get buffers of exactly their size with random bytes in
them: whatever is in memory, a kernel must stay in its buffers and its own arrays. Each runs

- under AddressSanitizer, in three parts if it has parts, its arrays on the stack filled with NaN;
- under ThreadSanitizer, in eight parts by two threads, its arrays filled with zeros.

Undefined behaviour ends a run. What the two leave in the buffers must be the same to the bit:
neither the number of parts nor what was on the stack before may matter. Two threads may write one
element, where tiles overlap, and then the same value; nobody may read what another one writes.
Objects are linked with gcc, which has the runtimes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.device.program import LinearProgram
from weft.uop import Ops
from weft_cpu_clang.toolchain import find_toolchain

DEVICE = "CPU"
SECONDS = 1800
MASKS = (0xFF, 0xBF)
"""Of the bytes in the buffers: all there are; those of numbers below 2, whose sums are no NaN."""


@dataclass(frozen=True)
class Watch:
    """One way of running kernels: flags of the compiler, of the linker, and how parts are done."""

    checks: tuple[str, ...]
    link: tuple[str, ...]
    threads: int
    parts: int


ADDRESSES = Watch(
    ("-O1", "-g", "-fsanitize=address,undefined", "-fsanitize-trap=undefined",
     "-ftrivial-auto-var-init=pattern"),
    ("-fsanitize=address",), threads=1, parts=3,
)  # fmt: skip
RACES = Watch(
    ("-O1", "-g", "-fsanitize=thread", "-ftrivial-auto-var-init=zero"),
    ("-fsanitize=thread",), threads=2, parts=8,
)  # fmt: skip

_BEGIN = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef long long word;
typedef void part(const word*, word, word);
static void fill(unsigned char* at, unsigned long size, int mask) {
  unsigned int x = 12345;
  for (unsigned long i = 0; i < size; i++) {
    x = x * 1664525u + 1013904223u;
    at[i] = x >> 24 & mask;
  }
}
static unsigned long long sum(const unsigned char* at, unsigned long size, unsigned long long h) {
  for (unsigned long i = 0; i < size; i++) h = (h ^ at[i]) * 1099511628211ull;
  return h;
}
static part* job;
static const word* words;
static atomic_int next;
static void* work(void* nothing) {
  for (int i; (i = next++) < PARTS;) job(words, i, PARTS);
  return nothing;
}
static void run(part* f, const word* a) {
  pthread_t threads[THREADS];
  job = f, words = a, next = 0;
  for (int i = 1; i < THREADS; i++) pthread_create(&threads[i], 0, work, 0);
  work(0);
  for (int i = 1; i < THREADS; i++) pthread_join(threads[i], 0);
}
/* What clang calls by another name than gcc's runtime has. */
void* __tsan_memset(void* to, int value, unsigned long size) { return memset(to, value, size); }
void* __tsan_memcpy(void* to, const void* of, unsigned long size) { return memcpy(to, of, size); }
"""


@dataclass(frozen=True)
class Kernel:
    """One kernel, its source, and how many bytes each of its buffers has."""

    program: LinearProgram
    source: str
    nbytes: tuple[int, ...]


class Here:
    """Tensors of the device, for programs that are given a class of tensors."""

    def __getattr__(self, name: str) -> Any:
        made = getattr(Tensor, name)
        return lambda *shape, **more: made(*shape, **{"device": DEVICE, **more})


def kernels_of(build: Callable[[Any], Iterable[Any]]) -> list[Kernel]:
    """The kernels of what `build` makes of a class of tensors, those of equal source once."""
    opened = registry.open(DEVICE)
    with settings.override(DEVICE=DEVICE):
        tensors = list(build(Here()))
        items = tensors[0].schedule(*tensors[1:])
    found: dict[str, Kernel] = {}
    known = set()
    for item in items:
        if item.ast.op is Ops.SINK and item.ast not in known:
            known.add(item.ast)
            program = lower(item.ast, opened.target)
            sizes = tuple(item.bufs[slot].nbytes for slot in program.globals)
            kernel = Kernel(program, opened.renderer.render(program), sizes)
            found.setdefault(kernel.source, kernel)
    return list(found.values())


def missing() -> str | None:
    """Why kernels cannot be watched here; None where they can."""
    if shutil.which("gcc") is None:
        return "there is no gcc, whose runtimes the sanitizers need"
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        empty = Path(folder, "empty.c")
        empty.write_text("int main(void) { return 0; }\n")
        for watch in (ADDRESSES, RACES):
            command = ("gcc", *watch.link, str(empty), "-o", str(empty.with_suffix("")))
            if subprocess.run(command, capture_output=True).returncode:
                return f"gcc has no runtime for {watch.link[0]}"
            done = subprocess.run([str(empty.with_suffix(""))], capture_output=True)
            if done.returncode:
                return f"programs with {watch.link[0]} do not run here"
    return None


def watched(kernels: Sequence[Kernel]) -> str:
    """Run the kernels in both ways. What was found; empty where there is nothing to say."""
    left = []
    for watch in (ADDRESSES, RACES):
        found, said = _ran(kernels, watch)
        if said:
            return said
        left.append(found)
    differ = [one.split()[-1] for one, other in zip(*left) if one != other]
    return f"parts, threads or what is on the stack matter to {differ}" if differ else ""


def _ran(kernels: Sequence[Kernel], watch: Watch) -> tuple[list[str], str]:
    """For each kernel its name and what is in its buffers; and what a sanitizer says."""
    arguments = find_toolchain().arguments
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        objects = [str(Path(folder, f"{number}.o")) for number in range(len(kernels))]

        def compiled(number: int) -> None:
            kernel = kernels[number]
            names = [f"-D{kernel.program.name}{end}=kernel{number}{end}" for end in ("", "_part")]
            command = (*arguments, *watch.checks, *names, "-c", "-x", "c", "-", "-o")
            subprocess.run(
                (*command, objects[number]), input=kernel.source.encode(), check=True,
                capture_output=True,
            )  # fmt: skip

        with ThreadPoolExecutor(os.cpu_count()) as several:
            list(several.map(compiled, range(len(kernels))))
        main, program = Path(folder, "main.c"), Path(folder, "main")
        main.write_text(_main(kernels, watch))
        linked = ("-w", str(main), *objects, "-lm", "-lpthread", "-o", str(program))
        subprocess.run(("gcc", *watch.link, *linked), check=True, capture_output=True)
        done = subprocess.run([str(program)], capture_output=True, timeout=SECONDS, text=True)
    lines = done.stdout.splitlines()
    if done.returncode == 0 or _only_writes(done.stderr):
        return lines, ""
    return lines, f"after {lines[-1:]}: {done.returncode}\n{done.stderr[:4000]}"


def _only_writes(said: str) -> bool:
    """Whether races are all of two writes: tiles at an edge overlap and write equal values. That
    they are equal is seen in what is left in the buffers."""
    races = re.findall(r"WARNING: ThreadSanitizer: (.*) \(pid", said)
    return set(races) == {"data race"} and not re.search(r"[Rr]ead of size", said)


def _main(kernels: Sequence[Kernel], watch: Watch) -> str:
    lines = [f"#define THREADS {watch.threads}", f"#define PARTS {watch.parts}", _BEGIN]
    body = []
    for number, kernel in enumerate(kernels):
        program, name = kernel.program, f"kernel{number}"
        buffers = [f"b[{slot}]" for slot in range(len(kernel.nbytes))]
        values = [str(int(u.vmax)) for u in program.variables]
        body += [f"  for (int i = 0; i < {len(MASKS)}; i++) {{", f"    void* b[{len(buffers)}];"]
        for slot, nbytes in enumerate(kernel.nbytes):
            body.append(f"    b[{slot}] = malloc({nbytes}); fill(b[{slot}], {nbytes}, masks[i]);")
        if program.global_size is None:
            lines.append(f"void {name}();")
            body.append(f"    {name}({', '.join((*buffers, *values))});")
        else:
            lines.append(f"void {name}_part(const word*, word, word);")
            words = ", ".join([*(f"(word){b}" for b in buffers), *values])
            body += [f"    word w[] = {{{words}}};", f"    run({name}_part, w);"]
        body.append("    unsigned long long h = 14695981039346656037ull;")
        for slot, nbytes in enumerate(kernel.nbytes):
            body.append(f"    h = sum(b[{slot}], {nbytes}, h); free(b[{slot}]);")
        body += ['    printf("%d %016llx", i, masks[i] == 255 ? 0 : h);']
        body += [f'    puts(" {program.name}"); fflush(stdout);', "  }"]
    masks = f"static const int masks[] = {{{', '.join(map(str, MASKS))}}};"
    return "\n".join([*lines, masks, "int main(void) {", *body, "  return 0;", "}", ""])


def cases(full: bool) -> Iterable[tuple[str, Callable[[Any], Iterable[Any]]]]:
    """(name, what makes the tensors) of everything that is watched."""
    from networks import gpt2, resnet50
    from programs import PROGRAMS
    from workloads import WORKLOADS

    for program in PROGRAMS:
        yield program.name, program.build
    for row in WORKLOADS:
        yield row.name, _of_workload(row, full)
    size, layers, length = (224, 2, 128) if full else (64, 1, 32)
    yield "ResNet-50", lambda tensor: [resnet50(tensor, size=size)]
    yield "ResNet-50, batch 3", lambda tensor: [resnet50(tensor, 3, size // 2)]
    yield "GPT-2", lambda tensor: gpt2(tensor, layers, length)
    yield "GPT-2, one token", lambda tensor: gpt2(tensor, 1, 1)
    yield "GPT-2, training", lambda tensor: gpt2(tensor, 1, length, training=True)


def _of_workload(row: Any, full: bool) -> Callable[[Any], Iterable[Any]]:
    """A row's result, of inputs whose long axes are cut: a quarter of them, and of a long one a
    sixteenth, are still many tiles, panels and parts."""

    def build(tensor: Any) -> list[Any]:
        made = []
        for array in row.inputs():
            kind = row.cast if row.cast and array.dtype.kind == "f" else str(array.dtype)
            made.append(tensor.empty(*map(cut, array.shape), dtype=kind))
        result = row.by["lazy"](Tensor, *made)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def cut(length: int) -> int:
        if full or length < 512:
            return length
        return length // 16 if length > 8192 else length // 4

    return build


def main(words: Sequence[str]) -> int:
    """Watch what has these names, or everything."""
    reason = missing()
    if reason is not None:
        print(reason)
        return 2
    full, faults = "--full" in words, 0
    names = [word for word in words if word != "--full"]
    for name, build in cases(full):
        if names and name not in names:
            continue
        kernels = kernels_of(build)
        said = watched(kernels)
        faults += bool(said)
        print(f"{name}: {len(kernels)} kernels, {said or 'nothing found'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

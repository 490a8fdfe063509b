"""The kernels of the benchmarks, watched while they run: every access, every race, every first use.

`python benchmarks/sanitize.py [--full] [--v3] [NAME ...]` lowers the programs of `programs.py`, the
rows of `workloads.py` (cut to sizes that take the same ways, unless `--full`), the networks of
`networks.py` and the models of `models.py` (where `--full`) for this processor, with `--v3` for one
that has AVX2 and no more. Kernels get buffers of exactly their size with random bytes in
them: with any contents of memory, a kernel must stay in its buffers and its own arrays. Each runs

- under AddressSanitizer, in three parts if it has parts, its arrays on the stack filled with NaN;
- under ThreadSanitizer, in eight parts by two threads, its arrays filled with zeros.

Undefined behaviour ends a run; pointers are left to AddressSanitizer, which sees where they go (a
branch for each of thousands of sums takes minutes to compile). What the two leave in the buffers
must be the same to the bit:
neither the number of parts nor what was on the stack before may matter. Two threads may write one
element, where tiles overlap, and then the same value; no one may read what another one writes.
Objects are linked with gcc, which has the runtimes. `--full` without names writes `sanitize.md`, or
the part of it that is of the other processor.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.device.capabilities import Target
from weft.device.program import LinearProgram
from weft.plugin import Renderer
from weft.uop import Ops, UOp
from weft_cpu_clang.caches import last_cache
from weft_cpu_clang.toolchain import FLAGS, find_toolchain

HERE = Path(__file__).resolve().parent
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
    ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize=pointer-overflow,object-size",
     "-fsanitize-trap=undefined", "-ftrivial-auto-var-init=pattern"),
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

    @property
    def is_fixed(self) -> bool:
        """Whether no address, gate or branch depends on what is in memory, and all of it is floats:
        any numbers are as good as others then."""
        nodes = self.program.uops
        if any(u.op is Ops.LOAD and not dtypes.is_float(u.dtype) for u in nodes):
            return False
        deciding = [u for u in nodes if u.op in (Ops.INDEX, Ops.IF, Ops.RANGE)]
        sources = UOp.sink(*(source for u in deciding for source in u.src)).toposort()
        return not any(u.op is Ops.LOAD for u in sources)


@dataclass(frozen=True)
class Processor:
    """For what kernels are lowered and compiled.

    :param words: what it is, for people.
    :param arguments: the compiler, and how it is called for it.
    """

    words: str
    target: Target
    renderer: Renderer
    arguments: tuple[str, ...]


@cache
def native() -> Processor:
    """The one that is here."""
    opened, tools = registry.open(DEVICE), find_toolchain()
    words = f"vectors of {opened.target.compute.vector_bytes} bytes, `-march=native`"
    return Processor(words, opened.target, opened.renderer, tools.arguments)


@cache
def avx2() -> Processor:
    """One with AVX2 and no more, of which every larger one is one as well."""
    opened, tools = registry.offline(DEVICE, "x86-64-v3"), find_toolchain()
    compute = replace(opened.target.compute, cache_bytes=last_cache())
    arguments = (*tools.command, *FLAGS, "-march=x86-64-v3")
    words = f"vectors of {compute.vector_bytes} bytes, `-march=x86-64-v3`"
    return Processor(words, replace(opened.target, compute=compute), opened.renderer, arguments)


class Here:
    """Tensors of the device, for programs that are given a class of tensors."""

    def __getattr__(self, name: str) -> Any:
        made = getattr(Tensor, name)
        return lambda *shape, **more: made(*shape, **{"device": DEVICE, **more})


def kernels_of(
    build: Callable[[Any], Iterable[Any]], processor: Processor | None = None
) -> list[Kernel]:
    """The kernels of what `build` makes of a class of tensors, those of equal source once."""
    processor = processor or native()
    with settings.override(DEVICE=DEVICE):
        tensors = list(build(Here()))
        items = tensors[0].schedule(*tensors[1:])
    found: dict[str, Kernel] = {}
    known = set()
    for item in items:
        if item.ast.op is Ops.SINK and item.ast not in known:
            known.add(item.ast)
            program = lower(item.ast, processor.target)
            sizes = tuple(item.bufs[slot].nbytes for slot in program.globals)
            kernel = Kernel(program, processor.renderer.render(program), sizes)
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


def watched(kernels: Sequence[Kernel], processor: Processor | None = None) -> str:
    """Run the kernels in both ways. What was found; empty where there is nothing to say."""
    left = []
    for watch in (ADDRESSES, RACES):
        found, said = _ran(kernels, watch, (processor or native()).arguments)
        if said:
            return said
        left.append(found)
    differ = [one.split()[-1] for one, other in zip(*left) if one != other]
    return f"parts, threads or what is on the stack matter to {differ}" if differ else ""


def _ran(
    kernels: Sequence[Kernel], watch: Watch, arguments: tuple[str, ...]
) -> tuple[list[str], str]:
    """For each kernel its name and what is in its buffers; and what a sanitizer says."""
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
        first = len(MASKS) - 1 if kernel.is_fixed else 0
        body += [f"  for (int i = {first}; i < {len(MASKS)}; i++) {{"]
        body += [f"    void* b[{len(buffers)}];"]
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
    from models import MODELS
    from networks import gpt2, resnet50
    from programs import PROGRAMS
    from workloads import WORKLOADS

    for program in PROGRAMS:
        yield program.name, program.build
    for row in WORKLOADS:
        # a row of a thousand calls is one kernel
        alone = row.work[1] == "kernel"
        yield row.name, _one_small_kernel if alone else _of_workload(row, full)
    size, layers, length = (224, 2, 128) if full else (64, 1, 32)
    yield "ResNet-50", lambda tensor: [resnet50(tensor, size=size)]
    yield "ResNet-50, batch 3", lambda tensor: [resnet50(tensor, 3, size // 2)]
    yield "GPT-2", lambda tensor: gpt2(tensor, layers, length)
    yield "GPT-2, one token", lambda tensor: gpt2(tensor, 1, 1)
    yield "GPT-2, training", lambda tensor: gpt2(tensor, 1, length, training=True)
    for model in MODELS if full else ():
        yield model.name, _of_model(model)


def _one_small_kernel(tensor: Any) -> list[Any]:
    return [tensor.empty(16) + 1]


def _of_model(model: Any) -> Callable[[Any], Iterable[Any]]:
    """A model's result, or its loss and its parameters after a step."""

    def build(tensor: Any) -> list[Any]:
        from models import WORDS

        from weft.nn import optim

        def own(array: Any) -> Any:
            return tensor.empty(*array.shape, dtype=str(array.dtype))

        p = {name: own(array) for name, array in model.parameters().items()}
        caches = [own(array) for array in model.caches()] if model.caches else None
        inputs = [own(array) for array in model.inputs()]
        words = WORDS["lazy"](Tensor)
        if caches:
            found, changed = model.network(words, p, caches, *inputs)
            return [found, *changed]
        if model.optimiser is None:
            return [model.network(words, p, *inputs)]
        kinds = {"sgd": optim.SGD, "adam": optim.Adam}
        optimiser = kinds[model.optimiser](list(p.values()), lr=model.rate)
        with Tensor.train():
            loss = model.network(words, p, *inputs)
            loss.backward()
            return [loss, *optimiser.schedule_step()]

    return build


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


@dataclass(frozen=True)
class Row:
    """What was seen of one case.

    :param kernels: all that it has. new: those that no case before it had.
    """

    name: str
    kernels: Sequence[Kernel]
    new: Sequence[Kernel]
    seconds: float
    said: str

    def __str__(self) -> str:
        count = f"{len(self.kernels)} kernels, {len(self.new)} new, {self.seconds:.1f} s"
        return f"{self.name}: {count}, {self.said or 'nothing found'}"

    def cells(self) -> str:
        """A line of the table."""
        shared = sum(kernel.program.global_size is not None for kernel in self.kernels)
        nbytes = max((sum(kernel.nbytes) for kernel in self.kernels), default=0)
        said = " ".join(self.said.split())[:200] or "nothing"
        counts = (len(self.kernels), len(self.new), shared)
        cells = (self.name, *counts, f"{nbytes / 1e6:.1f}", f"{self.seconds:.0f}", said)
        return f"| {' | '.join(map(str, cells))} |"


_ABOUT = """\
# The kernels of the benchmarks under sanitizers

Written by `python benchmarks/sanitize.py --full` and `--full --v3`. Every kernel runs at the full
size of its benchmark and from its beginning to its end: under AddressSanitizer and
UndefinedBehaviorSanitizer (one thread, three parts, arrays on the stack filled with NaN), and under
ThreadSanitizer (two threads, eight parts, arrays filled with zeros). What both leave must be equal
to the bit. Buffers hold random bytes; where addresses depend on them, or they are no floats, it is
run twice, with two kinds of them. Kernels that several cases have run in the first one.

What is smaller than in the benchmark: GPT-2 of `networks.py` has two layers, whose kernels are
those of twelve, and one to be trained; of the replay of a thousand kernels there is one.

"Shared" are kernels that threads share, "MB" all buffers of the largest one, "found" what a
sanitizer said, or that results differ. Seconds are of compiling and running on a busy machine.
What has no table here, or is missing in one that says so, has not been run.
Of UndefinedBehaviorSanitizer, `pointer-overflow` and `object-size` are off: they take minutes of
compiling a long kernel, and AddressSanitizer looks at every access.
"""


def _written(processor: Processor, rows: Sequence[Row], of: int, mark: str) -> None:
    """Put a table into its place in sanitize.md, between marks; leave the other one."""
    path = HERE / "sanitize.md"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    known = dict(re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->\n", before, re.DOTALL))
    kernels, faults = sum(len(row.new) for row in rows), sum(bool(row.said) for row in rows)
    known[mark] = "\n".join([
        f"## For {processor.words}\n",
        f"{len(rows)} of {of} cases, {kernels} kernels that differ, {faults} findings.\n",
        "| case | kernels | new | shared | MB | seconds | found |",
        "|---|---|---|---|---|---|---|", *(row.cells() for row in rows), "",
    ])  # fmt: skip
    parts = [f"<!-- {one} -->\n{text}<!-- end -->\n" for one, text in sorted(known.items())]
    path.write_text("\n".join([_ABOUT, *parts]), encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Watch what has these names, or everything."""
    full = "--full" in words
    known = {"--full", "--v3", *(name for name, _ in cases(full))}
    unknown = [word for word in words if word not in known]
    if unknown:
        print(__doc__ if {"-h", "--help"} & {*unknown} else f"there is no {', '.join(unknown)}")
        return 2
    reason = missing()
    if reason is not None:
        print(reason)
        return 2
    processor = avx2() if "--v3" in words else native()
    names = [word for word in words if not word.startswith("--")]
    rows: list[Row] = []
    done: set[tuple[str, tuple[int, ...]]] = set()
    wanted = [case for case in cases(full) if not names or case[0] in names]
    for name, build in wanted:
        start = time.monotonic()
        kernels = kernels_of(build, processor)
        new = [kernel for kernel in kernels if (kernel.source, kernel.nbytes) not in done]
        done.update((kernel.source, kernel.nbytes) for kernel in new)
        said = watched(new, processor) if new else ""
        rows.append(Row(name, kernels, new, time.monotonic() - start, said))
        print(rows[-1], flush=True)
        if full and not names:
            _written(processor, rows, len(wanted), "avx2" if "--v3" in words else "native")
    return 1 if any(row.said for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

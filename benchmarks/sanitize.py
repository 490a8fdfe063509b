"""The kernels of the benchmarks under AddressSanitizer: every access is watched while it is made.

`python benchmarks/sanitize.py [NAME ...]` lowers the programs of `programs.py` for this processor,
compiles each kernel with the sanitizer's checks, links them with gcc, which has its runtime, and
runs each once on buffers of exactly their size with random bytes in them: whatever is in memory, a
kernel must stay in its buffers and its own arrays. Undefined behaviour ends the run as well.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
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
CHECKS = ("-O1", "-g", "-fsanitize=address,undefined", "-fsanitize-trap=undefined")
SECONDS = 300
_FILL = """
static void fill(unsigned char* at, unsigned long size) {
  unsigned int x = 12345;
  for (unsigned long i = 0; i < size; i++) { x = x * 1664525u + 1013904223u; at[i] = x >> 24; }
}
"""


@dataclass(frozen=True)
class Kernel:
    """One kernel, its source, and how many bytes each of its buffers has."""

    program: LinearProgram
    source: str
    nbytes: tuple[int, ...]


def kernels_of(build: Callable[[Any], Iterable[Any]]) -> list[Kernel]:
    """The kernels of what `build` makes of a class of tensors."""
    opened = registry.open(DEVICE)

    class Here:
        """Tensors of the device."""

        def __getattr__(self, name: str) -> Any:
            made = getattr(Tensor, name)
            return lambda *shape, **more: made(*shape, **{"device": DEVICE, **more})

    with settings.override(DEVICE=DEVICE):
        tensors = list(build(Here()))
        items = tensors[0].schedule(*tensors[1:])
    found = []
    for item in items:
        if item.ast.op is Ops.SINK:
            program = lower(item.ast, opened.target)
            sizes = tuple(item.bufs[slot].nbytes for slot in program.globals)
            found.append(Kernel(program, opened.renderer.render(program), sizes))
    return found


def missing() -> str | None:
    """Why kernels cannot be watched here; None where they can."""
    if shutil.which("gcc") is None:
        return "there is no gcc, whose runtime AddressSanitizer needs"
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        empty = Path(folder, "empty.c")
        empty.write_text("int main(void) { return 0; }\n")
        command = ("gcc", "-fsanitize=address", str(empty), "-o", str(empty.with_suffix("")))
        if subprocess.run(command, capture_output=True).returncode:
            return "gcc has no runtime of AddressSanitizer"
        done = subprocess.run([str(empty.with_suffix(""))], capture_output=True)
    return "programs with AddressSanitizer do not run here" if done.returncode else None


def watched(kernels: Sequence[Kernel]) -> str:
    """Run the kernels. What the sanitizer says; empty where it has nothing to say."""
    arguments = find_toolchain().arguments
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        objects = []
        for number, kernel in enumerate(kernels):
            objects.append(str(Path(folder, f"{number}.o")))
            names = [f"-D{kernel.program.name}{end}=kernel{number}{end}" for end in ("", "_part")]
            command = (*arguments, *CHECKS, *names, "-c", "-x", "c", "-", "-o", objects[-1])
            subprocess.run(command, input=kernel.source.encode(), check=True, capture_output=True)
        main, program = Path(folder, "main.c"), Path(folder, "main")
        main.write_text(_main(kernels))
        link = ("gcc", "-fsanitize=address", "-w", str(main), *objects, "-lm", "-o", str(program))
        subprocess.run(link, check=True, capture_output=True)
        done = subprocess.run([str(program)], capture_output=True, timeout=SECONDS, text=True)
    if done.returncode == 0:
        return ""
    return f"after {done.stdout.splitlines()[-1:]}: {done.returncode}\n{done.stderr[:4000]}"


def _main(kernels: Sequence[Kernel]) -> str:
    lines = ["#include <stdio.h>", "#include <stdlib.h>", _FILL]
    body = []
    for number, kernel in enumerate(kernels):
        program, name = kernel.program, f"kernel{number}"
        buffers = [f"b[{slot}]" for slot in range(len(kernel.nbytes))]
        values = [str(int(u.vmax)) for u in program.variables]
        body.append("  {")
        body.append(f"    void* b[{len(buffers)}];")
        for slot, nbytes in enumerate(kernel.nbytes):
            body.append(f"    b[{slot}] = malloc({nbytes}); fill(b[{slot}], {nbytes});")
        if program.global_size is None:
            lines.append(f"void {name}();")
            body.append(f"    {name}({', '.join((*buffers, *values))});")
        else:
            lines.append(f"void {name}_part(long long*, long long, long long);")
            words = ", ".join([*(f"(long long){b}" for b in buffers), *values])
            body.append(f"    long long w[] = {{{words}}};")
            body.append(f"    for (int i = 0; i < 3; i++) {name}_part(w, i, 3);")
        body += [f"    free(b[{slot}]);" for slot in range(len(buffers))]
        body += [f'    puts("{program.name}"); fflush(stdout);', "  }"]
    return "\n".join([*lines, "int main(void) {", *body, "  return 0;", "}", ""])


def main(names: Sequence[str]) -> int:
    """Watch the programs of these names, or all of them."""
    from programs import PROGRAMS

    reason = missing()
    if reason is not None:
        print(reason)
        return 2
    faults = 0
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        kernels = kernels_of(program.build)
        said = watched(kernels)
        faults += bool(said)
        print(f"{program.name}: {len(kernels)} kernels, {said or 'nothing found'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""C library: a program as C sources that run without Python.
Also: ahead-of-time compilation to C.

The library is one header and one driver beside the sources of the kernels, and a file of weights.
The driver holds the memory plan: constants are read once, intermediates share one arena, and each
launch is a call. A kernel whose grid is a loop in C (`part0`, `parts0`) is shared by threads if the
driver is compiled with OpenMP.

in:  `Program` on a device whose kernels are C      out: text of the files, and bytes of the weights

Source: TVM, "Relay to C" and MicroTVM (ahead-of-time executor); IREE, `emitc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import CapabilityError
from weft.base.intmath import round_up
from weft.base.sequences import prod
from weft.base.text import identifiers
from weft.device import CompiledProgram, registry
from weft.engine.recorded_steps import INPUT, OUTPUT
from weft.export.program import Launch, Program
from weft.schedule import Lifetime, plan_memory

_ALIGNMENT = 64
_LANGUAGE = "c"
_PARTS = {"part0": "part", "parts0": "PARTS"}
_TYPES = {
    dtypes.bool: "unsigned char", dtypes.int8: "signed char", dtypes.uint8: "unsigned char",
    dtypes.int16: "short", dtypes.uint16: "unsigned short", dtypes.int32: "int",
    dtypes.uint32: "unsigned int", dtypes.int64: "long long", dtypes.uint64: "unsigned long long",
    dtypes.float16: "unsigned short", dtypes.bfloat16: "unsigned short",
    dtypes.float32: "float", dtypes.float64: "double",
}  # fmt: skip
"""Of elements in the header. 16-bit floats are their bits."""
_RESERVED = ("m", "part", "file", "weights", "PARTS", "SPREAD", "_Pragma")
_KERNEL_NAME = re.compile(r"\W")
_DEFINED = re.compile(r"^(?:__attribute__\(\(\w+\)\) )?void (\w+)\(", re.MULTILINE)
"""Functions of a kernel's source that others may call."""


@dataclass(frozen=True)
class Value:
    """An input or output of the library.

    :ivar memory: its number among the inputs, or among the outputs, of the program.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    memory: int


@dataclass(frozen=True)
class CLibrary:
    """The files of a library.

    :ivar files: text by name: header, driver, an example with `main`, kernels.
    :ivar sources: the names of the files that are compiled. :ivar weights: content of the weights.
    """

    name: str
    files: Mapping[str, str]
    sources: Sequence[str]
    weights: bytes


def c_library(
    name: str, program: Program, inputs: Sequence[Value], outputs: Sequence[Value], note: str = ""
) -> CLibrary:
    """Return the files of a library.

    :param name: of its functions and files. :param note: text of a comment in the header.
    :raises CapabilityError: if a kernel is no C, or has a launch grid that no loop in C replaces.
    """
    writer = _Writer(_identifier(name), program, inputs, outputs)
    kernels = {f"kernels/{each}.c": writer.kernel(n) for n, each in enumerate(writer.names)}
    files = {
        f"{writer.name}.h": writer.header(note),
        f"{writer.name}.c": writer.driver(),
        "main.c": writer.main(),
        **kernels,
    }
    return CLibrary(writer.name, files, [f"{writer.name}.c", *kernels], writer.weights)


class _Writer:
    """Writes the text of one library."""

    def __init__(
        self, name: str, program: Program, inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> None:
        self.name = name
        self._program = program
        given = [*(each.name for each in inputs), *(each.name for each in outputs)]
        arguments = identifiers([*_RESERVED, name, *given])[len(_RESERVED) + 1 :]
        self._inputs = list(zip(arguments, inputs))
        self._outputs = list(zip(arguments[len(inputs) :], outputs))
        self.names = [
            f"k{number}_{_KERNEL_NAME.sub('_', kernel.name)}"[:120]
            for number, kernel in enumerate(program.kernels)
        ]
        self._extra = [_extra_parameters(program, number) for number in range(len(self.names))]
        self._places = self._plan()

    # ---- memory ---------------------------------------------------------------------------------

    def _plan(self) -> dict[int, str]:
        """Return the address of each memory as an expression, and collect the weights."""
        places: dict[int, str] = {}
        weights = bytearray()
        for number, buffer in self._program.constants.items():
            weights += bytes(round_up(len(weights), _ALIGNMENT) - len(weights))
            places[number] = f"m->weights + {len(weights)}"
            weights += buffer.as_memoryview()
        self.weights = bytes(weights)
        for kind, arguments in ((INPUT, self._inputs), (OUTPUT, self._outputs)):
            numbers = self._program.numbered(kind)
            for argument, value in arguments:
                places.setdefault(numbers[value.memory], f"(char*){argument}")
        self._arena = 0
        left = [n for n in range(len(self._program.memories)) if n not in places]
        layout = plan_memory(self._lifetimes(left))
        starts = []
        for _, nbytes in layout.arenas:
            starts.append(self._arena)
            self._arena += round_up(nbytes, _ALIGNMENT)
        for number in left:
            spot = layout.spots.get(number)
            if spot is None:  # memory without elements, or by itself
                places[number] = f"m->arena + {self._arena}"
                self._arena += round_up(self._program.memories[number].nbytes, _ALIGNMENT)
            else:
                places[number] = f"m->arena + {starts[spot.arena] + spot.start}"
        return places

    def _lifetimes(self, numbers: Sequence[int]) -> Iterator[Lifetime]:
        """Yield when intermediates are in use, also outputs that the library does not return."""
        times: dict[int, list[int]] = {number: [] for number in numbers}
        for time, launch in enumerate(self._program.launches):
            for each in launch.arguments:
                if each.memory in times:
                    times[each.memory].append(time)
        for number, used in times.items():
            memory = self._program.memories[number]
            if used:
                yield Lifetime(number, memory.device, memory.nbytes, used[0], used[-1])

    def _address(self, number: int, offset: int) -> str:
        place = self._places[number]
        return f"{place} + {offset}" if offset else place

    # ---- header ---------------------------------------------------------------------------------

    def header(self, note: str) -> str:
        """Return the header."""
        name = self.name
        rows = [
            f" * {kind}  {argument}: {value.dtype.name}[{', '.join(map(str, value.shape))}]"
            for kind, values in (("in ", self._inputs), ("out", self._outputs))
            for argument, value in values
        ]
        counts = [
            f"#define {name}_{argument}_elements {prod(value.shape)}"
            for argument, value in (*self._inputs, *self._outputs)
        ]
        notes = [f" * {line}" for line in note.splitlines()]
        return "\n".join(
            [
                f"/* {name}: written by weft. Row-major arrays of these elements:",
                " *",
                *rows,
                *([" *", *notes] if notes else []),
                " */",
                f"#ifndef {name}_h",
                f"#define {name}_h",
                "#ifdef __cplusplus",
                'extern "C" {',
                "#endif",
                "",
                *counts,
                "",
                "/* Weights, and memory of intermediates. One thread at a time may use it. */",
                f"typedef struct {name} {name};",
                "",
                "/* Read the file of weights. NULL: it cannot be read, or memory is full. */",
                f"{name}* {name}_open(const char* weights);",
                f"void {name}_run({self._parameters()});",
                f"void {name}_close({name}*);",
                "",
                "#ifdef __cplusplus",
                "}",
                "#endif",
                "#endif",
                "",
            ]
        )

    def _parameters(self) -> str:
        inputs = [f"const {_TYPES[value.dtype]}* {argument}" for argument, value in self._inputs]
        outputs = [f"{_TYPES[value.dtype]}* {argument}" for argument, value in self._outputs]
        return ", ".join([f"{self.name}* m", *inputs, *outputs])

    # ---- driver ---------------------------------------------------------------------------------

    def driver(self) -> str:
        """Return the source of the functions in the header."""
        return "\n".join(
            [
                f'#include "{self.name}.h"',
                _PRELUDE,
                f"struct {self.name} {{ char *weights, *arena, *weights0, *arena0; }};",
                "",
                *(self._prototype(number) for number in range(len(self.names))),
                "",
                _OPEN.format(name=self.name, weights=len(self.weights), arena=self._arena),
                f"void {self.name}_run({self._parameters()}) {{",
                "  (void)m;",
                *(f"  {line}" for launch in self._program.launches for line in self._call(launch)),
                *(f"  {line}" for line in self._copies_of_outputs()),
                "}",
                "",
            ]
        )

    def _prototype(self, number: int) -> str:
        program = self._program.kernels[number].program
        values = ["long long" if v.dtype is dtypes.int64 else "int" for v in program.variables]
        extra = ["long long"] * len(self._extra[number])
        kinds = [*["void*"] * len(program.globals), *values, *extra]
        return f"void {self.names[number]}({', '.join(kinds) or 'void'});"

    def _call(self, launch: Launch) -> list[str]:
        """Return the statements of one launch."""
        offsets = [0 if each.window is None else each.window[2] for each in launch.arguments]
        addresses = [
            self._address(each.memory, offset) for each, offset in zip(launch.arguments, offsets)
        ]
        if launch.kernel is None:
            target = launch.arguments[0]
            size = self._program.memories[target.memory].nbytes
            if target.window is not None:
                size = target.window[0] * target.window[1].itemsize
            return [f"memcpy({addresses[0]}, {addresses[1]}, {size});"]
        program = self._program.kernels[launch.kernel].program
        values = [str(launch.values[variable]) for variable in program.variables]
        extra = [_PARTS[each] for each in self._extra[launch.kernel]]
        arguments = [addresses[slot] for slot in program.globals] + values + extra
        call = f"{self.names[launch.kernel]}({', '.join(arguments)});"
        return [f"SPREAD {call}"] if extra else [call]

    def _copies_of_outputs(self) -> Iterator[str]:
        """Yield a copy for each output that has the memory of another one."""
        numbers = self._program.numbered(OUTPUT)
        for argument, value in self._outputs:
            place = self._places[numbers[value.memory]]
            if place != f"(char*){argument}":
                size = prod(value.shape) * value.dtype.itemsize
                yield f"memcpy({argument}, {place}, {size});"

    def kernel(self, number: int) -> str:
        """Return the source of a kernel under a name of its own."""
        kernel, new = self._program.kernels[number], self.names[number]
        names = dict.fromkeys([kernel.name, *_DEFINED.findall(kernel.source)])
        lines = [f"#define {name} {name.replace(kernel.name, new, 1)}" for name in names]
        return "\n".join([*lines, kernel.source])

    # ---- example --------------------------------------------------------------------------------

    def main(self) -> str:
        """Return a program that reads inputs from files and writes outputs to files."""
        name = self.name
        buffers = [
            f"  {_TYPES[value.dtype]}* {argument} = array({prod(value.shape)}, sizeof *{argument});"
            for argument, value in (*self._inputs, *self._outputs)
        ]
        inputs = [
            f'  load("{argument}.bin", {argument}, sizeof *{argument} * {prod(value.shape)});'
            for argument, value in self._inputs
        ]
        outputs = [
            f'  save("{argument}.bin", {argument}, sizeof *{argument} * {prod(value.shape)});'
            for argument, value in self._outputs
        ]
        call = ", ".join(["m", *(a for a, _ in self._inputs), *(a for a, _ in self._outputs)])
        return _MAIN.format(name=name) + "\n".join(
            [
                "int main(void) {",
                *buffers,
                *inputs,
                f'  {name}* m = {name}_open("{name}.weights");',
                f'  if (!m) return fail("{name}.weights"), 1;',
                f"  {name}_run({call});",
                f"  {name}_close(m);",
                *outputs,
                "  return 0;",
                "}",
                "",
            ]
        )


def _extra_parameters(program: Program, number: int) -> list[str]:
    """Return the parameters of a kernel after its variables.

    :raises CapabilityError: if the kernel is no C, or has other parameters than a part of a grid.
    """
    kernel = program.kernels[number]
    device = next(
        program.memories[launch.arguments[0].memory].device
        for launch in program.launches
        if launch.kernel == number
    )
    renderer: Any = registry.open(device).renderer
    language = getattr(renderer, "language", "no language")
    if language != _LANGUAGE:
        raise _refuse(device, kernel, f"its kernels are written in {language!r}")
    declared = getattr(renderer, "extra_parameters", lambda _: ())(kernel.program)
    extra = [text.split()[-1] for text in declared]
    if set(extra) - set(_PARTS) or (kernel.program.global_size is not None and not extra):
        raise _refuse(device, kernel, f"the kernel {kernel.name} has a launch grid")
    return extra


def _refuse(device: str, kernel: CompiledProgram, because: str) -> CapabilityError:
    return CapabilityError(
        "this program is no C",
        asked=f"a C library of the kernel {kernel.name} on {device}",
        because=because,
        try_="a device whose compiler takes C: WEFT_DEVICE=...; `weft devices` lists them",
    )


def _identifier(name: str) -> str:
    (found,) = identifiers([re.sub(r"\W", "_", name) or "model"])
    return found


_PRELUDE = """\

/* Declared here: the header files of the system are not needed. */
typedef __SIZE_TYPE__ size_t;
void* malloc(size_t);
void free(void*);
void* memcpy(void*, const void*, size_t);
void* fopen(const char*, const char*);
size_t fread(void*, size_t, size_t, void*);
int fclose(void*);

#ifdef _OPENMP
int omp_get_max_threads(void);
#define PARTS (4ll * omp_get_max_threads())
#define SPREAD _Pragma("omp parallel for") for (long long part = 0; part < PARTS; part++)
#else
#define PARTS 1ll
#define SPREAD for (long long part = 0; part < PARTS; part++)
#endif
"""
_OPEN = """\
static char* aligned(char* memory) {{
  return memory + (64 - (size_t)memory % 64) % 64;
}}

{name}* {name}_open(const char* weights) {{
  {name}* m = malloc(sizeof *m);
  if (!m) return 0;
  m->weights0 = malloc({weights} + 64);
  m->arena0 = malloc({arena} + 64);
  void* file = m->weights0 && m->arena0 ? fopen(weights, "rb") : 0;
  size_t count = 0;
  if (file) {{
    m->weights = aligned(m->weights0);
    m->arena = aligned(m->arena0);
    count = fread(m->weights, 1, {weights}, file);
    fclose(file);
  }}
  if (file && count == {weights}) return m;
  {name}_close(m);
  return 0;
}}

void {name}_close({name}* m) {{
  free(m->weights0);
  free(m->arena0);
  free(m);
}}
"""
_MAIN = """\
/* An example: inputs are read from files in this folder, outputs are written to files. */
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"

static void fail(const char* what) {{
  fprintf(stderr, "%s cannot be read or written\\n", what);
}}

static void* array(size_t count, size_t size) {{
  void* made = calloc(count ? count : 1, size);
  if (!made) exit(1);
  return made;
}}

static void load(const char* name, void* data, size_t nbytes) {{
  FILE* file = fopen(name, "rb");
  if (!file || fread(data, 1, nbytes, file) != nbytes) fail(name), exit(1);
  fclose(file);
}}

static void save(const char* name, const void* data, size_t nbytes) {{
  FILE* file = fopen(name, "wb");
  if (!file || fwrite(data, 1, nbytes, file) != nbytes) fail(name), exit(1);
  fclose(file);
}}

"""

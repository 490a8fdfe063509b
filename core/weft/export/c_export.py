"""`export_c`: compile a function to a C library that runs without Python.

in:  a function of tensors and example inputs      out: a folder with sources, weights, library
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arguments import kind_of
from weft.base.errors import CapabilityError, CaptureError, FileError
from weft.base.interrupts import let_through
from weft.device import registry
from weft.engine.recorded_steps import Unreplayable
from weft.export.c_library import CLibrary, Value, c_library
from weft.export.program import Program
from weft.export.recording import own_tensor, record
from weft.tensor import Tensor


def export_c(
    function: Callable[..., Any],
    *examples: Any,
    folder: str | os.PathLike[str],
    name: str | None = None,
    build: bool = True,
) -> Path:
    """Compile a function to C sources, a file of weights and a shared library.

    The library runs without Python. Sizes are those of the examples. Tensors that the function uses
    besides its arguments are weights, with their present values.

    :param function: of tensors; it returns a tensor, or a list, tuple or dict of tensors.
    :param examples: tensors or arrays with the shapes and dtypes of the arguments.
    :param folder: where the files are written. :param name: of the library; None: the function's.
    :param build: whether the library is compiled, too.
    :return: the shared library; without `build`, the header.
    :raises CaptureError: if the function reads values, draws random numbers or writes other memory.
    :raises CapabilityError: if the kernels of the default device are not written in C.
    :raises FileError: if the folder cannot be written.

    >>> x = Tensor.ones(2, 3)
    >>> weft.export_c(lambda x: x.softmax(), x, folder="softmax").name  # doctest: +SKIP
    'libsoftmax.so'
    """
    called = name or getattr(function, "__name__", "function")
    device = registry.canonical(None)
    inputs = [own_tensor(_array(each, n), device) for n, each in enumerate(examples)]
    names: list[str] = []

    def run(given: Any) -> list[Tensor]:
        results = _named_results(function(*given))
        names.extend(results)
        return list(results.values())

    try:
        program, numbers, results = record(run, inputs, called)
    except Unreplayable as error:
        raise CaptureError(
            "this function does not become a library",
            asked=f"export_c({called})",
            because=str(error),
            try_="a function that depends on its arguments and on constant tensors alone",
        ) from None
    arguments = _names_of_arguments(function, len(inputs))
    return write(
        c_library(
            "function" if called == "<lambda>" else called,
            program,
            [Value(*each) for each in zip(arguments, *_layout(inputs), range(len(inputs)))],
            [Value(*each) for each in zip(names, *_layout(results), numbers)],
        ),
        Path(folder),
        program,
        build,
    )


def write(library: CLibrary, folder: Path, program: Program, build: bool = True) -> Path:
    """Write the files of a library, and compile it. Returns as `export_c`.

    :raises CapabilityError: if the device's compiler builds no libraries.
    :raises CompileError: if the compiler fails. :raises FileError: if a file cannot be written.
    """
    try:
        (folder / "kernels").mkdir(parents=True, exist_ok=True)
        for name, text in library.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / f"{library.name}.weights").write_bytes(library.weights)
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error, "the library cannot be written", path=folder, asked=f"write to {folder}"
        ) from None
    if not build:
        return folder / f"{library.name}.h"
    device = registry.open(program.memories[0].device)
    make: Any = getattr(device.compiler, "build_library", None)
    if make is None:
        raise CapabilityError(
            "the compiler of this device builds no libraries",
            asked=f"a shared library on {device.name}",
            try_="build=False, and compile the sources",
        )
    return make([folder / each for each in library.sources], folder / f"lib{library.name}")


def _array(example: Any, number: int) -> Any:
    if isinstance(example, Tensor | np.ndarray):
        return example
    try:
        return np.asarray(example)
    except ValueError as error:
        raise CaptureError(
            f"example {number} is neither a tensor nor an array",
            asked=kind_of(example),
            because=str(error),
        ) from None


def _layout(tensors: Any) -> tuple[list[tuple[int, ...]], list[Any]]:
    """Return the shapes and the dtypes of tensors."""
    return [tuple(map(int, each.shape)) for each in tensors], [each.dtype for each in tensors]


def _names_of_arguments(function: Callable[..., Any], count: int) -> list[str]:
    code = getattr(function, "__code__", None)
    known = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return [known[n] if n < len(known) else f"input{n}" for n in range(count)]


def _named_results(results: Any) -> dict[str, Tensor]:
    """Return the results of a function by name.

    :raises CaptureError: if they are no tensors.
    """
    if isinstance(results, Tensor):
        return {"output": results}
    if isinstance(results, Mapping):
        named = {str(key): each for key, each in results.items()}
    elif isinstance(results, list | tuple):
        named = {f"output{n}": each for n, each in enumerate(results)}
    else:
        named = {"output": results}
    wrong = [each for each in named.values() if not isinstance(each, Tensor)]
    if wrong:
        raise CaptureError(
            "a function that becomes a library returns tensors",
            asked=f"a result that is {kind_of(wrong[0])}",
            try_="return a tensor, or a list, tuple or dict of tensors",
        )
    return named

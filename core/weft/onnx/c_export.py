"""C libraries of models: the program of a model for given shapes, as sources that run without
Python.

in:  a model and example inputs      out: a folder with sources, weights and a library
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.errors import CaptureError
from weft.engine.recorded_steps import Unreplayable
from weft.export import Value, c_library, write
from weft.onnx.errors import OnnxError
from weft.onnx.model_program import ModelProgram
from weft.onnx.programs import Programs


def export_c(
    programs: Programs,
    checked: Mapping[str, Any],
    folder: str | os.PathLike[str],
    name: str,
    build: bool = True,
) -> Path:
    """Write the library of a model, and return its path; without `build`, that of the header.

    :param programs: of the model. :param checked: its inputs.
    :raises OnnxError: if the model has no program for these inputs.
    """
    try:
        made = programs.recorded(checked)
    except (CaptureError, Unreplayable) as error:
        raise OnnxError(
            "this model does not become a C library",
            asked=f"export_c with {', '.join(checked) or 'no inputs'}",
            because=getattr(error, "summary", None) or str(error),
            try_="a model whose shapes and branches depend on shapes and small integers alone",
        ) from error
    fixed = {each: value for each, value in checked.items() if each not in made.inputs}
    note = "\n".join(f"fixed: {each} = {_text(value)}" for each, value in fixed.items())
    memories = made.program.memories
    inputs = [
        Value(each, tuple(checked[each].shape), memories[place].dtype, place)
        for place, each in enumerate(made.inputs)
    ]
    library = c_library(name, made.program, inputs, _outputs(made), note)
    return write(library, Path(folder), made.program, build)


def _outputs(made: ModelProgram) -> list[Value]:
    numbers = made.program.numbered("output")
    memories = made.program.memories
    return [
        Value(each.name, each.shape, memories[numbers[each.output]].dtype, each.output)
        for each in made.results
    ]


def _text(value: Any) -> str:
    return str(np.asarray(value).tolist())

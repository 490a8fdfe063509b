"""The backend tests of the package `onnx`: loading, running, comparing."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import weft.onnx
from weft.onnx.backend import to_numpy

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
_LIGHT = "onnx/backend/test/data/light/"


@dataclass(frozen=True)
class Case:
    """One test: a model, and inputs with expected outputs."""

    kind: str
    name: str
    test: Any

    def model(self) -> bytes | Path:
        """The model: bytes, or the path of a file."""
        if self.test.model is not None:
            return self.test.model.SerializeToString()
        if self.test.model_dir is not None:
            return Path(self.test.model_dir) / "model.onnx"
        return Path(onnx.__file__).parents[1] / self.test.url

    def data_sets(self) -> list[tuple[list[Any], list[Any]]]:
        """Inputs and expected outputs of each data set."""
        if self.test.data_sets is not None:
            return [
                ([_array(x) for x in inputs], [_array(x) for x in outputs])
                for inputs, outputs in self.test.data_sets
            ]
        if self.test.model_dir is not None:
            folders = sorted(Path(self.test.model_dir).glob("test_data_set*"))
            graph = onnx.load(self.model()).graph
            return [
                (_stored(folder, "input", graph.input), _stored(folder, "output", graph.output))
                for folder in folders
            ]
        return [_light(Path(self.model()))]

    def run(self, **options: Any) -> None:
        """Run the test. :raises AssertionError: if an output differs."""
        model = weft.onnx.load(self.model(), **options)
        for inputs, expected in self.data_sets():
            outputs = [to_numpy(each) for each in model(*inputs).values()]
            Runner.assert_similar_outputs(
                expected, outputs, rtol=self.test.rtol, atol=self.test.atol
            )


@cache
def cases(kind: str) -> tuple[Case, ...]:
    """All tests of one kind, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind=kind)
    return tuple(sorted((Case(kind, t.name, t) for t in tests), key=lambda case: case.name))


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, list | tuple):
        return [_array(each) for each in value]
    return value


def _stored(folder: Path, kind: str, infos: Any) -> list[Any]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [_read(folder / f"{kind}_{i}.pb", infos[i].type) for i in range(count)]


def _read(path: Path, kind: Any) -> Any:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def _light(path: Path) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs of a light model: its weights are constants, its inputs a ramp."""
    graph = onnx.load(path).graph
    constants = {each.name for each in graph.initializer}
    inputs = []
    for each in graph.input:
        if each.name not in constants:
            shape = [dim.dim_value or 1 for dim in each.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    prefix = os.path.splitext(path)[0]
    outputs = [
        onnx.numpy_helper.to_array(
            onnx.TensorProto.FromString(Path(f"{prefix}_output_{i}.pb").read_bytes())
        )
        for i in range(len(graph.output))
    ]
    return inputs, outputs

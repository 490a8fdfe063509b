"""Trained networks of other packages give the outputs of ONNX Runtime.

Three small ones run always, and as many as WEFT_TEST_EXAMPLES says where it is set.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx parses the networks")
pytest.importorskip("onnxruntime", reason="the other implementation")

import onnxruntime

import weft.onnx
from helpers.example_counts import examples

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def _benchmark_module(name):
    """A module of benchmarks/. Examples have such names, too: the folder stays out of sys.path."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = _benchmark_module("onnx_model_cases")

SMALL = ("magika", "silero-vad", "OCR direction")
NAMES = [*SMALL, *(name for name in cases.CASES if name not in SMALL)][: examples(len(SMALL))]
NEEDS_PILLOW = ("OCR", "ddddocr")
STEPS = 4


def _installed(name):
    case = cases.CASES[name]
    if case.file() is None:
        pytest.skip(f"the wheel with the network is not installed: {case.package}")
    if name.startswith(NEEDS_PILLOW):
        pytest.importorskip("PIL", reason="pillow renders the text")
    return case


def _session(file):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, inputs), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_onnxruntime(name, tmp_path):
    """Each step is given the states of the step before: evaluated, traced, recorded, replayed."""
    case = _installed(name)
    file = case.source(tmp_path)
    theirs, mine = _session(file), weft.onnx.load(file)
    inputs = case.inputs()
    states = [{name: inputs[name] for name in case.states} for _ in range(2)]
    for _ in range(STEPS):
        expected, got = theirs({**inputs, **states[0]}), mine({**inputs, **states[1]})
        assert list(got) == list(expected)
        arrays = {name: each.numpy() for name, each in got.items()}
        assert cases.largest_difference(arrays, expected) < case.tolerance
        for each, outputs in zip(states, (expected, got), strict=True):
            each.update({name: outputs[output] for name, output in case.states.items()})


def test_an_unknown_size_may_change():
    """The type of a file does not depend on the rows beside it."""
    case = _installed("magika")
    model = weft.onnx.load(case.file())
    row = case.inputs()["bytes"]
    [single] = model(bytes=row)[0].numpy()
    for count in (2, 3):
        rows = model(bytes=np.concatenate([row] * count))[0].numpy()
        np.testing.assert_allclose(rows, np.stack([single] * count), 1e-4, 1e-6)

"""weft.onnx: run ONNX models.

    model = weft.onnx.load("model.onnx")
    outputs = model(image=array)

The package `onnx` parses the files: `pip install "weft[onnx]"`.
"""

from __future__ import annotations

from weft.onnx.errors import ModelFormatError, OnnxError, UnsupportedOperators
from weft.onnx.graph import ValueInfo
from weft.onnx.model import Model, Outputs, load
from weft.onnx.registry import register

__all__ = [
    "Model",
    "ModelFormatError",
    "OnnxError",
    "Outputs",
    "UnsupportedOperators",
    "ValueInfo",
    "load",
    "register",
]

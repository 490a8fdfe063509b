"""`weft.onnx.backend`: the backend interface of the package `onnx`, which its tests run.

    import onnx.backend.test
    import weft.onnx.backend
    tests = onnx.backend.test.BackendTest(weft.onnx.backend, __name__)

Source: ONNX, "Implementing an ONNX backend" (`onnx.backend.base`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.backend.base import DeviceType

from weft.onnx.model import Model, load
from weft.tensor import Tensor

HOST = next(name for name, number in vars(DeviceType).items() if number == 0)
"""The kind of device whose arrays lie in the host's memory, as the package `onnx` names it."""


class BackendRep:
    """A prepared model. `run` takes and gives NumPy arrays."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the outputs for inputs in the order of the model, or by name in a dict."""
        given = (inputs,) if isinstance(inputs, dict) else inputs
        return tuple(to_numpy(each) for each in self._model(*given).values())


def prepare(model: Any, device: str = HOST, **kwargs: Any) -> BackendRep:
    """Load a model for the default device. `device` names a kind, see `supports_device`."""
    return BackendRep(load(model, **kwargs))


def run_model(model: Any, inputs: Any, device: str = HOST, **kwargs: Any) -> tuple[Any, ...]:
    """Load a model and run it once."""
    return prepare(model, device, **kwargs).run(inputs)


def supports_device(device: str) -> bool:
    """Whether tests for a kind of device are run: those whose arrays lie in the host's memory."""
    return device == HOST


def to_numpy(value: Any) -> Any:
    """Return an output as NumPy arrays: a tensor, an array, a sequence, or None."""
    if isinstance(value, list):
        return [to_numpy(each) for each in value]
    return np.asarray(value.numpy()) if isinstance(value, Tensor) else value

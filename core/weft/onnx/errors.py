"""Errors of `weft.onnx`: files that are no valid model, and operators that cannot be run."""

from __future__ import annotations

from weft.base.errors import FormatError, WeftError


class OnnxError(WeftError, ValueError, RuntimeError):
    """A model, or a node of one, that cannot be run as it is."""


class ModelFormatError(OnnxError, FormatError):
    """A file that is no valid ONNX model: damaged, inconsistent, or unsafe to read."""


class UnsupportedOperators(OnnxError, NotImplementedError):
    """Operators of a model that have no implementation. `.operators` lists all of them.

    Each entry is `(domain, name, opset, node)`: the node is the first one that uses the operator.
    """

    operators: tuple[tuple[str, str, int, str], ...] = ()

"""Errors of `weft.torch`: a missing package, and operators that cannot be converted."""

from __future__ import annotations

from weft.base.errors import WeftError


class TorchError(WeftError, ValueError, RuntimeError):
    """A program of PyTorch that cannot be run as it is."""


class TorchNotInstalled(WeftError, ImportError):
    """`weft.torch` was used where the package torch is not installed."""


class UnsupportedOperators(TorchError, NotImplementedError):
    """Operators of a program that have no converter. `.operators` lists the names of all of them.

    A name is `namespace::operator.overload`.
    """

    operators: tuple[str, ...] = ()


class UnsupportedOperatorsWarning(UserWarning):
    """Operators that are computed by eager PyTorch, between graphs that weft compiles."""

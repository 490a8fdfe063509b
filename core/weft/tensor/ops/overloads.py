"""Declarations for type checkers: parameter aliases, variants that write into self, and what the
mixins of `Tensor` call of each other.

They are in `overloads.pyi`, which is generated from the tables of `parameter_aliases.py` and
`inplace_variants.py` and from the methods of `Tensor`. At run time these are empty classes.
"""

from weft.tensor.protocol import TensorBase


class OverloadsMixin(TensorBase):
    """The first base of `Tensor`: what checkers find here replaces what the mixins declare."""

    __slots__ = ()


MixinMethods = object
"""For checkers the base of `TensorBase`: the methods and properties that only `Tensor` has. The
mixin that has a method declares its arguments, and comes first in the method resolution order."""

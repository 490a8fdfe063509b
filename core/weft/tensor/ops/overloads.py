"""Declarations for type checkers: parameter aliases, and variants that write into self.

They are in `overloads.pyi`, which is generated from the tables of `parameter_aliases.py` and
`inplace_variants.py`. At run time this is an empty class.
"""

from weft.tensor.protocol import TensorBase


class OverloadsMixin(TensorBase):
    """The first base of `Tensor`: what checkers find here replaces what the mixins declare."""

    __slots__ = ()

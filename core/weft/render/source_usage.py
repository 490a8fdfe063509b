"""Source usage: record which types and functions the source of a kernel uses, while it is printed.

A language whose kernels need definitions or declarations before them prints those that are used
(`Extensions.preamble`). The printed text is not searched.
"""

from __future__ import annotations

from dataclasses import field

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import AddrSpace, DType
from weft.uop import Ops


@dataclass
class SourceUsage:
    """The types and functions that the source of one kernel uses, for the text before it.

    dtypes: whose types are named, scalar or vector. conversions: vector dtypes that
    `VectorStyle.convert` converts to. bitcasts: vector dtypes that `VectorStyle.bitcast` converts
    to. functions: operations of a dtype that a template of `functions` prints. vector_loads,
    vector_stores: vectors that `vector_load` and `vector_store` access in this memory.
    """

    dtypes: set[DType] = field(default_factory=set[DType])
    conversions: set[DType] = field(default_factory=set[DType])
    bitcasts: set[DType] = field(default_factory=set[DType])
    functions: set[tuple[Ops, DType]] = field(default_factory=set[tuple[Ops, DType]])
    vector_loads: set[tuple[DType, AddrSpace]] = field(default_factory=set[tuple[DType, AddrSpace]])
    vector_stores: set[tuple[DType, AddrSpace]] = field(
        default_factory=set[tuple[DType, AddrSpace]]
    )

"""The graph: nodes, patterns, rewriting, symbolic integers, text."""

from __future__ import annotations

from weft.uop.analyses import provide
from weft.uop.args import (
    AxisKind,
    BufferView,
    Kernel,
    KernelInfo,
    RangeArg,
    Reduce,
    Row,
    Var,
    Window,
)
from weft.uop.bounds import bounds_of, may_leave
from weft.uop.collective import AGAIN, Collective, CollectiveKind
from weft.uop.evaluate import exec_alu, identity_element
from weft.uop.graph_template import GraphTemplate
from weft.uop.host_call import HostCall
from weft.uop.matcher import PatternMatcher
from weft.uop.node import UOp, memo_slot, sint
from weft.uop.ops import GroupOp, Ops
from weft.uop.pattern import UPat
from weft.uop.placement import device_of
from weft.uop.pretty import render
from weft.uop.rewrite import graph_rewrite, rewrite_map
from weft.uop.sharding import (
    Cut,
    Shard,
    even_bounds,
    laid_out,
    note_sharding,
    parts_of,
    shard_of_cuts,
    sharding_seen,
    stacked,
)
from weft.uop.symbolic import Variable
from weft.uop.symbolic.conditions import conjuncts
from weft.uop.text import from_text, register_arg, to_text
from weft.uop.tree import tree_text

__all__ = [
    "AGAIN", "AxisKind", "BufferView", "Collective", "CollectiveKind", "Cut", "GraphTemplate",
    "GroupOp", "HostCall", "Kernel", "KernelInfo", "Ops", "PatternMatcher", "RangeArg", "Reduce",
    "Row", "Shard", "UOp", "UPat", "Var", "Variable", "Window", "bounds_of", "conjuncts",
    "device_of", "even_bounds", "exec_alu", "from_text", "graph_rewrite", "identity_element",
    "laid_out", "may_leave", "memo_slot", "note_sharding", "parts_of", "provide", "register_arg",
    "render", "rewrite_map", "shard_of_cuts", "sharding_seen", "sint", "stacked", "to_text",
    "tree_text",
]  # fmt: skip

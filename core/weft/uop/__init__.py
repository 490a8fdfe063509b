"""The graph: nodes, patterns, rewriting, symbolic integers, text."""

from __future__ import annotations

from weft.uop.args import (
    AxisKind,
    BufferView,
    Kernel,
    KernelInfo,
    RangeArg,
    Reduce,
    Var,
    Window,
)
from weft.uop.evaluate import exec_alu, identity_element
from weft.uop.matcher import PatternMatcher
from weft.uop.node import UOp, sint
from weft.uop.ops import GroupOp, Ops
from weft.uop.pattern import UPat
from weft.uop.placement import device_of
from weft.uop.pretty import render
from weft.uop.rewrite import graph_rewrite, rewrite_map
from weft.uop.sharding import Shard
from weft.uop.symbolic import Variable
from weft.uop.text import from_text, to_text
from weft.uop.tree import tree_text

__all__ = [
    "AxisKind", "BufferView", "GroupOp", "Kernel", "KernelInfo", "Ops", "PatternMatcher",
    "RangeArg", "Reduce", "Shard", "UOp", "UPat", "Var", "Variable", "Window", "device_of",
    "exec_alu", "from_text", "graph_rewrite", "identity_element", "render", "rewrite_map", "sint",
    "to_text", "tree_text",
]  # fmt: skip

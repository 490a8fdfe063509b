"""Symbolic arithmetic: laws of integers and truth values, and the simplifier that applies them."""

from __future__ import annotations

from weft.uop.symbolic.conditions import (
    all_of,
    any_of,
    bounds_given,
    conjuncts,
    less_than,
    negation,
    simplify_given,
)
from weft.uop.symbolic.identities import symbolic_simple
from weft.uop.symbolic.simplify import simplify, symbolic
from weft.uop.symbolic.sint import (
    Variable,
    as_node,
    evaluate_sint,
    fold,
    resolve,
    smax,
    smin,
    sprod,
    unbind_sint,
    variables_of,
)
from weft.uop.symbolic.sums import Linear, is_index, linear_of, node_of, order_of

__all__ = [
    "Linear", "Variable", "all_of", "any_of", "as_node", "bounds_given", "conjuncts",
    "evaluate_sint", "fold", "is_index", "less_than", "linear_of", "negation", "node_of",
    "order_of", "resolve", "simplify", "simplify_given", "smax", "smin", "sprod", "symbolic",
    "symbolic_simple", "unbind_sint", "variables_of",
]  # fmt: skip

"""Ensembles of decision trees (domain ai.onnx.ml).

All samples descend all trees at once, one level an iteration: the state is a node number for each
sample and tree. A leaf is its own child, so that short trees wait for long ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.classifier_scores import classified, transformed
from weft.onnx.registry import operator
from weft.tensor import Tensor

_DOMAIN = "ai.onnx.ml"
_MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER", "LEAF",
)  # fmt: skip
_MEMBER, _LEAF = 6, 7
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass
class Trees:
    """The nodes of all trees in one table, leaves included.

    :ivar weights: (nodes, targets): what a leaf adds to each target.
    :ivar is_set: (nodes, targets): whether a leaf has a weight for a target.
    :ivar members: sorted sets of the nodes that test membership, by node.
    """

    roots: np.ndarray
    features: np.ndarray
    splits: np.ndarray
    modes: np.ndarray
    if_true: np.ndarray
    if_false: np.ndarray
    missing_is_true: np.ndarray
    weights: np.ndarray
    is_set: np.ndarray
    members: dict[int, np.ndarray]

    def depth(self, node: Node) -> int:
        """The number of comparisons on the longest path from a root to a leaf.

        :raises OnnxError: if a path does not end.
        """
        level, depth = np.unique(self.roots), 0
        while (inner := level[self.modes[level] != _LEAF]).size:
            level = np.unique(np.concatenate([self.if_true[inner], self.if_false[inner]]))
            depth += 1
            if depth > len(self.modes):
                raise node.refuse("a path through a tree does not end", "export the model again")
        return depth


def _leaves(node: Node, trees: Trees, x: Tensor) -> Tensor:
    """The leaf that each sample reaches in each tree: (samples, trees)."""
    kind = np.float64 if x.dtype is dtypes.float64 else np.float32

    def column(values: np.ndarray) -> Tensor:
        return node.tensor(np.ascontiguousarray(values))

    features, splits = column(trees.features), column(trees.splits.astype(kind))
    if_true, if_false = column(trees.if_true), column(trees.if_false)
    modes, missing = column(trees.modes), column(trees.missing_is_true)
    roots = column(trees.roots)
    at = roots.unsqueeze(0).expand((x.shape[0], len(trees.roots)))
    for _ in range(trees.depth(node)):
        value = x.gather(1, features.take(at))
        taken = _compared(trees, value, splits.take(at), modes.take(at), at)
        taken = taken | (value.isnan() & missing.take(at))
        # in a kernel of its own: the next level reads it several times
        at = taken.where(if_true.take(at), if_false.take(at)).contiguous()
    return at


def _compared(trees: Trees, value: Tensor, split: Tensor, mode: Tensor, at: Tensor) -> Tensor:
    """Whether each comparison holds, of those modes that occur."""
    tests = (
        lambda: value <= split, lambda: value < split, lambda: value >= split,
        lambda: value > split, lambda: value == split, lambda: value != split,
    )  # fmt: skip
    found: Any = None
    for number in np.unique(trees.modes):
        if number < _MEMBER:
            holds = tests[number]()
            found = holds if found is None else (mode == int(number)).where(holds, found)
    for place, members in trees.members.items():
        found = (value.full_like(False, dtype=dtypes.bool)) if found is None else found
        is_member = (value == float(members[0])) if members.size else value != value
        for member in members[1:]:
            is_member = is_member | (value == float(member))
        found = (at == place).where(is_member, found)
    return found


def _aggregated(node: Node, trees: Trees, leaves: Tensor, aggregate: str, kind: Any) -> Tensor:
    """The weights of the reached leaves, summed or compared over the trees: (samples, targets)."""
    weights = node.tensor(trees.weights.astype(kind)).take(leaves, 0)
    if aggregate in ("SUM", "AVERAGE"):
        total = weights.sum(1)
        return total / len(trees.roots) if aggregate == "AVERAGE" else total
    is_set = node.tensor(trees.is_set).take(leaves, 0)
    if aggregate == "MIN":
        return is_set.where(weights, float(np.finfo(kind).max)).min(1)
    if aggregate == "MAX":
        return is_set.where(weights, float(np.finfo(kind).min)).max(1)
    raise node.refuse(f"there is no aggregate {aggregate!r}", ", ".join(_AGGREGATES))


def _in_floats(x: Tensor) -> Tensor:
    return x if dtypes.is_float(x.dtype) else x.cast(dtypes.float32)


# ---- opset 5 ----------------------------------------------------------------------------------


@operator("TreeEnsemble", since=5, domain=_DOMAIN)
def tree_ensemble(node: Node, x: Tensor, **attributes: Any) -> Tensor:
    """The sum, average, minimum or maximum of the leaves that the trees reach."""
    trees = _interior_and_leaves(node, attributes)
    value = _in_floats(x)
    kind = np.float64 if value.dtype is dtypes.float64 else np.float32
    aggregate = _AGGREGATES[attributes.get("aggregate_function", 1)]
    scores = _aggregated(node, trees, _leaves(node, trees, value), aggregate, kind)
    transform = _TRANSFORMS[attributes.get("post_transform", 0)]
    return transformed(node, scores, transform).cast(value.dtype)


def _interior_and_leaves(node: Node, attributes: dict[str, Any]) -> Trees:
    """The table of opset 5, which numbers interior nodes and leaves apart: leaves come last."""
    modes = np.asarray(attributes["nodes_modes"], np.int64).reshape(-1)
    inner, leaf_count = len(modes), len(attributes["leaf_targetids"])
    leaves = inner + np.arange(leaf_count)

    def children(name: str, is_leaf: str) -> np.ndarray:
        places = np.asarray(attributes[name], np.int64)
        shifted = places + inner * np.asarray(attributes[is_leaf], np.int64)
        return np.concatenate([shifted, leaves])

    def padded(values: Any, dtype: Any) -> np.ndarray:
        return np.concatenate([np.asarray(values, dtype), np.zeros(leaf_count, dtype)])

    count = attributes.get("n_targets") or int(max(attributes["leaf_targetids"])) + 1
    weights = np.zeros((inner + leaf_count, count))
    is_set = np.zeros(weights.shape, bool)
    targets = np.asarray(attributes["leaf_targetids"], np.int64)
    weights[leaves, targets] = np.asarray(attributes["leaf_weights"], np.float64)
    is_set[leaves, targets] = True
    trees = Trees(
        np.asarray(attributes["tree_roots"], np.int64),
        padded(attributes["nodes_featureids"], np.int64),
        padded(attributes["nodes_splits"], np.float64),
        np.concatenate([modes, np.full(leaf_count, _LEAF)]),
        children("nodes_truenodeids", "nodes_trueleafs"),
        children("nodes_falsenodeids", "nodes_falseleafs"),
        padded(attributes.get("nodes_missing_value_tracks_true") or [0] * inner, bool),
        weights,
        is_set,
        _member_sets(node, modes, attributes.get("membership_values")),
    )
    _check(node, trees)
    return trees


def _member_sets(node: Node, modes: np.ndarray, values: Any) -> dict[int, np.ndarray]:
    """The set of each node that tests membership: they are divided by NaN."""
    places = np.flatnonzero(modes == _MEMBER)
    if not places.size:
        return {}
    given = np.asarray([] if values is None else values, np.float64).reshape(-1)
    ends = np.flatnonzero(np.isnan(given))
    if len(ends) != len(places):
        raise node.refuse(
            f"{len(places)} nodes test membership, and there are {len(ends)} sets",
            "end each set of membership_values by NaN",
        )
    starts = [0, *(ends[:-1] + 1)]
    return {int(p): given[s:e] for p, s, e in zip(places, starts, ends, strict=True)}


def _check(node: Node, trees: Trees) -> None:
    """:raises OnnxError: if a node number or a feature is out of range."""
    count = len(trees.modes)
    for numbers in (trees.roots, trees.if_true, trees.if_false):
        if numbers.size and not (0 <= numbers.min() and numbers.max() < count):
            raise node.refuse("a node of a tree does not exist", "export the model again")
    if trees.features.size and trees.features.min() < 0:
        raise node.refuse("a feature has a negative number", "export the model again")


# ---- opsets 1 to 4 ----------------------------------------------------------------------------


@operator("TreeEnsembleRegressor", domain=_DOMAIN)
def tree_ensemble_regressor(node: Node, x: Tensor, **attributes: Any) -> Tensor:
    """The sum, average, minimum or maximum of the leaves that the trees reach."""
    count = attributes.get("n_targets", 1)
    trees = _nodes_by_tree(node, attributes, "target", count)
    value = _in_floats(x)
    aggregate = attributes.get("aggregate_function", "SUM")
    scores = _aggregated(node, trees, _leaves(node, trees, value), aggregate, np.float32)
    scores = _with_base(node, scores, attributes)
    return transformed(node, scores, attributes.get("post_transform", "NONE"))


@operator("TreeEnsembleClassifier", domain=_DOMAIN)
def tree_ensemble_classifier(node: Node, x: Tensor, **attributes: Any) -> tuple[Any, Tensor]:
    """The class with the largest sum of votes, and the scores of all classes."""
    labels = attributes.get("classlabels_int64s") or attributes.get("classlabels_strings") or []
    votes = sorted(set(attributes["class_ids"]))
    trees = _nodes_by_tree(node, attributes, "class", max(len(labels), votes[-1] + 1))
    value = _in_floats(x)
    scores = _aggregated(node, trees, _leaves(node, trees, value), "SUM", np.float32)
    if len(labels) == 2 and len(votes) == 1:  # one sum decides between two classes
        scores = scores[:, votes[0] : votes[0] + 1]
        base = attributes.get("base_values") or []
        scores = scores + float(base[-1]) if base else scores
        is_share = bool((trees.weights >= 0).all())
        return classified(node, scores, labels, attributes.get("post_transform"), is_share)
    scores = _with_base(node, scores, attributes)
    return classified(node, scores, labels, attributes.get("post_transform"))


def _with_base(node: Node, scores: Tensor, attributes: dict[str, Any]) -> Tensor:
    base = attributes.get("base_values_as_tensor")
    base = attributes.get("base_values") if base is None else base
    if base is None or not len(base):
        return scores
    return scores + node.tensor(np.asarray(base, np.float32))


def _either(attributes: dict[str, Any], name: str, default: Any = ()) -> np.ndarray:
    """The values of an attribute, which may be named with the ending `_as_tensor`."""
    values = attributes.get(name)
    if values is None:
        values = attributes.get(f"{name}_as_tensor")
    return np.asarray(default if values is None else values, np.float64)


def _nodes_by_tree(node: Node, attributes: dict[str, Any], prefix: str, count: int) -> Trees:
    """The table of opsets 1 to 4, where nodes have a number within their tree."""
    keys = list(zip(attributes["nodes_treeids"], attributes["nodes_nodeids"], strict=True))
    place = {key: i for i, key in enumerate(keys)}
    unknown = [mode for mode in attributes["nodes_modes"] if mode not in _MODES]
    if unknown or len(place) != len(keys):
        raise node.refuse(
            f"there is no mode {unknown[0]!r}" if unknown else "a node of a tree occurs twice",
            "export the model again",
        )
    modes = np.array([_MODES.index(mode) for mode in attributes["nodes_modes"]], np.int64)

    def children(name: str) -> np.ndarray:
        numbers = attributes[name]
        found = [
            i if modes[i] == _LEAF else place.get((tree, numbers[i]), -1)
            for i, (tree, _) in enumerate(keys)
        ]
        return np.array(found, np.int64)

    if_true, if_false = children("nodes_truenodeids"), children("nodes_falsenodeids")
    inner = modes != _LEAF
    targets = {*if_true[inner].tolist(), *if_false[inner].tolist()}
    weights, is_set = np.zeros((len(keys), count)), np.zeros((len(keys), count), bool)
    votes = zip(
        attributes[f"{prefix}_treeids"], attributes[f"{prefix}_nodeids"],
        attributes[f"{prefix}_ids"], _either(attributes, f"{prefix}_weights"), strict=True,
    )  # fmt: skip
    for tree, number, target, weight in votes:
        at = place[tree, number]
        weights[at, target] += weight
        is_set[at, target] = True
    missing = attributes.get("nodes_missing_value_tracks_true") or [0] * len(keys)
    roots = np.array([i for i in range(len(keys)) if i not in targets], np.int64)
    if len(roots) != len(set(attributes["nodes_treeids"])):
        raise node.refuse("a tree does not have one root", "export the model again")
    trees = Trees(
        roots,
        np.where(inner, np.asarray(attributes["nodes_featureids"], np.int64), 0),
        _either(attributes, "nodes_values"), modes, if_true, if_false,
        np.asarray(missing, bool), weights, is_set, {},
    )  # fmt: skip
    _check(node, trees)
    return trees

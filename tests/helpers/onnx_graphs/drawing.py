"""A random graph that grows by one node at a time, with the value of each name.

in:  a seed      out: a model, its inputs, and the expected values

Each node is evaluated alone when it is drawn, so that the next one knows shapes and values. A node
that the schemas or both evaluators refuse is left out. Values on which the evaluators differ are
outputs, and no later node takes them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from helpers.onnx_graphs import evaluators
from helpers.onnx_graphs.evaluators import BFLOAT16

FLOAT32 = np.dtype(np.float32)
FLOATS = (FLOAT32, np.dtype(np.float64), np.dtype(np.float16), BFLOAT16)
SIGNED = tuple(np.dtype(f"int{bits}") for bits in (32, 64, 8, 16))
UNSIGNED = tuple(np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
BOOL = np.dtype(bool)
EVERY = (*NUMBERS, BOOL)
MOST_ELEMENTS = 3_000
LARGEST = 1e4


@dataclass
class Value:
    """A name of the graph.

    :ivar expected: its value by each evaluator, one where they agree.
    :ivar exact: whether each evaluator has the same bits.
    :ivar usable: whether later nodes may take it.
    """

    name: str
    expected: list[Any]
    exact: bool
    usable: bool
    node: str = ""
    slack: int = 0
    op: str = ""

    @property
    def array(self) -> np.ndarray:
        return self.expected[0]


@dataclass
class Drawing:
    """A graph under construction."""

    seed: int
    opset: int
    random: random.Random
    values: dict[str, Value] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    batched: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    batch: int = 2

    # ---- choices --------------------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def choice(self, options: Sequence[Any]) -> Any:
        return self.random.choice(list(options))

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def dtype(self, kinds: Sequence[np.dtype]) -> np.dtype:
        """Draw a dtype; the first one half of the time."""
        return kinds[0] if self.chance(0.5) else self.choice(kinds)

    def size(self) -> int:
        """Draw a size; 0 is rare."""
        return self.random.choices((0, 1, 2, 3, 4, 5, 7), (1, 5, 9, 9, 6, 5, 2))[0]

    def shape(self, low: int = 0, high: int = 4) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.between(low, high)))

    def broadcastable(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Draw a shape that broadcasts with another one."""
        kept = list(shape)[self.between(0, len(shape)) if self.chance(0.4) else 0 :]
        return tuple(1 if self.chance(0.25) else size for size in kept)

    def axis(self, rank: int) -> int:
        return self.between(-rank, rank - 1)

    def array(self, shape: Sequence[int], dtype: np.dtype, low: int = -5, high: int = 5) -> Any:
        """Draw an array: small integers, or multiples of a quarter."""
        numbers = np.random.default_rng(self.random.getrandbits(32))
        if dtype == BOOL:
            return np.asarray(numbers.integers(0, 2, shape), bool)
        if dtype in UNSIGNED:
            low = max(low, 0)
        if dtype in FLOATS:
            return np.asarray(numbers.integers(4 * low, 4 * high + 1, shape) / 4).astype(dtype)
        return np.asarray(numbers.integers(low, high + 1, shape)).astype(dtype)

    # ---- values ---------------------------------------------------------------------------------

    def existing(self, allowed: Callable[[Value], bool]) -> Value | None:
        found = [each for each in self.values.values() if each.usable and allowed(each)]
        return self.random.choice(found[-4:]) if found else None

    def pick(
        self,
        kinds: Sequence[np.dtype] = FLOATS,
        ranks: tuple[int, int] = (0, 4),
        *,
        exact: bool = False,
        filled: bool = False,
    ) -> Value:
        """Return an earlier value, or a new input.

        exact: its bits are certain, for operators with jumps. filled: no size is 0.
        """
        low, high = ranks
        earlier = self.existing(
            lambda each: (
                each.array.dtype in kinds
                and low <= each.array.ndim <= high
                and (each.exact or not exact)
                and (each.array.size > 0 or not filled)
            )
        )
        if earlier is not None and self.chance(0.75):
            return earlier
        shape = self.shape(low, high)
        if filled:
            shape = tuple(max(size, 1) for size in shape)
        return self.value(self.array(shape, self.dtype(kinds)))

    def like(self, shape: Sequence[int], dtype: np.dtype, low: int = -5, high: int = 5) -> Value:
        """Return a value of this shape and dtype: an earlier one, or a new one."""
        earlier = self.existing(
            lambda each: each.array.shape == tuple(shape) and each.array.dtype == dtype
        )
        if earlier is not None and (low, high) == (-5, 5) and self.chance(0.5):
            return earlier
        return self.value(self.array(shape, dtype, low, high))

    def value(self, array: np.ndarray, constant: float = 0.3) -> Value:
        """Add an input or a constant."""
        is_constant = self.chance(constant)
        places = self.constants if is_constant else self.inputs
        name = f"{'c' if is_constant else 'x'}{len(places)}"
        places[name] = array
        if not is_constant and array.ndim and array.shape[0] == self.batch and self.chance(0.6):
            self.batched.add(name)
        self.values[name] = Value(name, [array], exact=True, usable=array.dtype != object)
        return self.values[name]

    def ints(self, numbers: Sequence[int] | int, dtype: type = np.int64) -> Value:
        """Add integers that describe the operation: mostly a constant."""
        return self._hidden(np.asarray(numbers, dtype))

    def settings(self, array: np.ndarray) -> Value:
        """Add an array that describes the operation: mostly a constant."""
        return self._hidden(array)

    def _hidden(self, array: np.ndarray) -> Value:
        added = self.value(array, constant=0.9)
        self.batched.discard(added.name)
        added.usable = False
        return added

    # ---- nodes ----------------------------------------------------------------------------------

    def node(
        self,
        op: str,
        inputs: Sequence[Value | None],
        outputs: int = 1,
        *,
        exact: bool = False,
        slack: int = 0,
        skip: Sequence[int] = (),
        **attributes: Any,
    ) -> list[Value]:
        """Add a node, if it is valid and an evaluator computes it; return its outputs.

        exact: whether its results are exact if its inputs are. slack: how far integers may differ.
        skip: outputs by number that are left out.
        """
        names = [each.name if each is not None else "" for each in inputs]
        results = [
            "" if place in skip else f"y{len(self.nodes)}_{place}" for place in range(outputs)
        ]
        made = helper.make_node(op, names, results, **attributes)
        given = {name: self.values[name].array for name in self._names_used(made)}
        model = self._model([made], given, [name for name in results if name])
        text = f"{op}-{self.opset}"
        if model is None:
            self.counts[f"invalid: {text}"] += 1
            return []
        reference = evaluators.by_reference(model, given)
        runtime = evaluators.by_runtime(model, given)
        known = [each for each in (reference, runtime) if each is not None]
        if not known:
            self.counts[f"refused by both evaluators: {text}"] += 1
            return []
        agree = len(known) == 1 or evaluators.agree(*known, slack)
        if not agree:
            self.counts[f"the evaluators differ: {text}"] += 1
        sources_exact = all(self.values[name].exact for name in given)
        self.nodes.append(made)
        self.counts[f"drawn: {op}"] += 1
        added = []
        for place, name in enumerate(name for name in results if name):
            expected = [each[place] for each in (known[:1] if agree else known)]
            is_exact = exact and sources_exact and not slack
            usable = agree and not slack and _is_moderate(expected[0])
            described = f"{helper.printable_node(made)} opset {self.opset}"
            added.append(Value(name, expected, is_exact, usable, described, slack, text))
            self.values[name] = added[-1]
        return added

    def _names_used(self, node: onnx.NodeProto) -> list[str]:
        names = [name for name in node.input if name]
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else []:
                made = {name for each in inner.node for name in each.output}
                made |= {each.name for each in inner.input} | {x.name for x in inner.initializer}
                wanted = [name for each in inner.node for name in each.input]
                wanted += [each.name for each in inner.output]
                names += [name for name in wanted if name and name not in made]
        return list(dict.fromkeys(names))

    def _model(
        self,
        nodes: Sequence[onnx.NodeProto],
        given: dict[str, np.ndarray],
        outputs: Sequence[str],
        batched: Sequence[str] = (),
    ) -> onnx.ModelProto | None:
        constants = {name: each for name, each in given.items() if name in self.constants}
        graph = helper.make_graph(
            list(nodes),
            "random",
            [
                helper.make_tensor_value_info(
                    name,
                    helper.np_dtype_to_tensor_dtype(each.dtype),
                    ["N", *each.shape[1:]] if name in batched else each.shape,
                )
                for name, each in given.items()
                if name not in constants
            ],
            [],
            [numpy_helper.from_array(each, name) for name, each in constants.items()],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        version = helper.find_min_ir_version_for(opsets) if self.opset > 8 else 4
        model = helper.make_model(graph, opset_imports=opsets, ir_version=min(version, 13))
        return evaluators.typed(model, outputs)

    def outputs(self) -> list[str]:
        """Return the names of the outputs: all results, or those that no node takes."""
        made = [name for node in self.nodes for name in node.output if name]
        if self.seed % 2:
            return made
        used = {name for node in self.nodes for name in self._names_used(node)}
        return [name for name in made if name not in used or len(self.values[name].expected) > 1]

    def model(self) -> tuple[onnx.ModelProto | None, dict[str, np.ndarray]]:
        """Return the whole model and its inputs."""
        given = {**self.inputs, **self.constants}
        used = {name for node in self.nodes for name in self._names_used(node)}
        given = {name: each for name, each in given.items() if name in used}
        model = self._model(self.nodes, given, self.outputs(), sorted(self.batched))
        return model, {name: each for name, each in given.items() if name in self.inputs}


def _is_moderate(value: Any) -> bool:
    """Whether later nodes may take a value: small numbers, no infinity."""
    if isinstance(value, list) or value.dtype.kind not in "biufV" or value.size > MOST_ELEMENTS:
        return False
    if value.ndim > 5 or value.size == 0:
        return value.ndim <= 5
    wide = value.astype(np.float64)
    return bool(np.isfinite(wide).all() and np.abs(wide).max() < LARGEST)

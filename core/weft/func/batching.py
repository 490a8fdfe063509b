"""Batching rules: rewrite the graph of one sample into the graph of all samples.
Also: vectorizing map, auto-batching, vmap.

Each node that depends on a mapped node gets a new first axis. Nodes that do not are computed once,
and are broadcast where they meet a batched one.

in:  a graph over mapped nodes, and the batched value of each of these      out: the batched graph

Source: A. Agarwal, I. Ganichev, "Auto-Vectorizing TensorFlow Graphs", 2019 (parallel for); JAX,
`jax.vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from weft.autograd import CUSTOM, function_vjp, with_function_vjp
from weft.base.errors import CaptureError
from weft.base.promotion import sum_acc_dtype
from weft.device import binding
from weft.uop import GroupOp, HostCall, Ops, UOp

_Sources = Sequence["UOp | None"]

_UNCHANGED = GroupOp.Elementwise | {
    Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP, Ops.CUSTOM_VJP,
}  # fmt: skip
"""Operations on each element, and marks: the node is the same over batched sources."""

_BECAUSE = {
    Ops.COLLECTIVE: "all samples would take part in an exchange between devices",
    **dict.fromkeys((Ops.MULTI, Ops.MSTACK, Ops.MSELECT), "it is divided over several devices"),
}


class Batch:
    """A graph for `size` samples.

    :param mapped: the batched value of each mapped node, with the samples as its first axis.
    """

    def __init__(self, size: Any, mapped: Mapping[UOp, UOp]) -> None:
        self.size = size
        self._values: dict[UOp, UOp | None] = dict(mapped)

    def value(self, root: UOp) -> UOp | None:
        """The values of `root` for all samples, with the shape (size, *root.shape); None if `root`
        depends on no mapped node.

        :raises CaptureError: for an operation that cannot be done for all samples at once.
        """
        values = self._values
        if root not in values:
            for node in root.toposort():
                if node not in values:
                    sources = [values.get(source) for source in node.src]
                    mapped = any(source is not None for source in sources)
                    values[node] = self._batched(node, sources) if mapped else None
        return values[root]

    def expanded(self, node: UOp) -> UOp:
        """A node without samples, the same for each of them."""
        shape = node.shape
        return node.reshape((1, *shape)).expand((self.size, *shape))

    def whole(self, root: UOp) -> UOp:
        """`value`, for a root without samples the same for each of them."""
        value = self.value(root)
        return self.expanded(root) if value is None else value

    def _batched(self, node: UOp, sources: _Sources) -> UOp:
        op = node.op
        if op is Ops.CUSTOM_VJP and node.arg[0] == CUSTOM:
            return self._custom_vjp(node, sources)
        if op in _UNCHANGED:
            return node.over(self._all(node, sources))
        if op is Ops.COPY:
            return node.over((_first(sources), node.src[1]))
        rule = _RULES.get(op)
        if rule is None:
            raise _no_rule(node, _BECAUSE.get(op, "no batched form of this operation is known"))
        return rule(self, node, sources)

    def _all(self, node: UOp, sources: _Sources) -> tuple[UOp, ...]:
        """The sources of a node, each with the axis of samples. A scalar without samples broadcasts
        in an elementwise operation as it is."""
        found: list[UOp] = []
        elementwise = node.op in GroupOp.Elementwise
        for given, batched in zip(node.src, sources):
            if batched is None:
                is_scalar = elementwise and not given.shape
                found.append(given if is_scalar else self.expanded(given))
            elif given.shape or not elementwise:
                found.append(batched)
            else:  # it broadcasts to the samples of the others
                shape = node.shape
                found.append(batched.reshape((self.size, *[1] * len(shape))))
                found[-1] = found[-1].expand((self.size, *shape))
        return tuple(found)

    def _assign(self, node: UOp, sources: _Sources) -> UOp:
        """A whole write to memory that nobody has yet is its value."""
        target, value = node.src
        memory = target.base
        if node.arg is not None or memory.op is not Ops.BUFFER or binding.is_bound(memory):
            raise _no_rule(node, "it writes a mapped value to memory that exists once")
        return self.whole(value)

    def _movement(self, node: UOp, sources: _Sources) -> UOp:
        arg = _MOVEMENT_ARGS[node.op](self.size, node.arg)
        return UOp(node.op, node.dtype, (_first(sources),), arg)

    def _reduce(self, node: UOp, sources: _Sources) -> UOp:
        axes = tuple([axis + 1 for axis in node.arg.axes])
        return UOp(node.op, node.dtype, (_first(sources),), replace(node.arg, axes=axes))

    def _host_call(self, node: UOp, sources: _Sources) -> UOp:
        """Host functions take stacks of matrices: one call for all samples."""
        size, call = self.size, node.arg
        flat = [
            value.contiguous().reshape((size * prod(shape),))
            for value, shape in zip(self._all(node, sources), call.inputs)
        ]
        inputs, outputs = (
            tuple([(size, *shape) for shape in shapes]) for shapes in (call.inputs, call.outputs)
        )
        stacked = HostCall(call.function, inputs, outputs, call.parameters)
        value = UOp(Ops.HOST_CALL, node.dtype, tuple(flat), stacked)
        # the rows of a sample side by side, as the call of one sample has them
        length = node.shape[0]
        rows: UOp | None = None
        for window, (start, stop) in zip(stacked.windows, call.windows):
            part = value.shrink((window,)).reshape((size, stop - start))
            part = part.pad(((0, 0), (start, length - stop)))
            rows = part if rows is None else rows + part
        assert rows is not None
        return rows

    def _custom_vjp(self, node: UOp, sources: _Sources) -> UOp:
        """A call of a function with a gradient rule of its own: the rule is batched, too."""
        rule = function_vjp(node)
        value, *inputs = sources
        inputs.pop()  # the token of the call
        given = node.src[1:-1]

        def batched_rule(number: int, upstream: UOp) -> list[UOp | None]:
            one = abstract_node(node, node.shape)
            batch = Batch(self.size, {})
            batch._values = {**self._values, one: upstream.reshape((self.size, one.arg))}
            found = rule(number, one.reshape(node.shape))
            return [batch._gradient(*each) for each in zip(found, given, inputs)]

        whole = value if value is not None else self.expanded(node.src[0])
        taken = [given if batched is None else batched for given, batched in zip(given, inputs)]
        return with_function_vjp(whole, taken, node.arg[1], batched_rule)

    def _gradient(self, part: UOp | None, given: UOp, batched: UOp | None) -> UOp | None:
        """A gradient for all samples: summed for an input that is the same for each."""
        if part is None:
            return None
        whole = self.whole(part)
        if batched is not None:
            return whole
        wide = sum_acc_dtype(whole.dtype)  # half-precision floats are summed in float32
        return whole.cast(wide).reduce(Ops.ADD, (0,)).cast(whole.dtype).reshape(given.shape)


def abstract_node(like: UOp, shape: tuple[Any, ...]) -> UOp:
    """A flat abstract node for a value of this shape, with the dtype and device of `like`.

    :raises CaptureError: for a value on several devices, and for one of a symbolic size.
    """
    device = like.device
    if not isinstance(device, str):
        raise CaptureError(
            "vmap does not map sharded tensors",
            asked=f"vmap over a tensor of shape {like.shape} on {device}",
            because="its parts are on several devices, and the function sees one sample",
            try_="move it to one device: x.to(device)",
        )
    if not all(isinstance(size, int) for size in shape):
        raise CaptureError(
            "vmap takes samples of known sizes",
            asked=f"vmap over samples of shape {shape}",
            because="a sample has an axis whose size is a Variable: only the mapped axis may",
        )
    return binding.abstract(device, like.dtype, prod(shape))


def _no_rule(node: UOp, because: str) -> CaptureError:
    return CaptureError(
        f"vmap has no rule for {node.op.name}",
        asked=f"a mapped function with {node.op} of shape {node.shape}",
        because=because,
        try_="call the function in a loop over the samples, and stack the results",
    )


def _first(sources: _Sources) -> UOp:
    found = sources[0]
    assert found is not None
    return found


_MOVEMENT_ARGS: dict[Ops, Callable[[Any, Any], Any]] = {
    Ops.RESHAPE: lambda size, arg: (size, *arg),
    Ops.EXPAND: lambda size, arg: (size, *arg),
    Ops.PERMUTE: lambda size, arg: (0, *[axis + 1 for axis in arg]),
    Ops.PAD: lambda size, arg: ((0, 0), *arg),
    Ops.SHRINK: lambda size, arg: ((0, size), *arg),
    Ops.FLIP: lambda size, arg: (False, *arg),
}
"""The arg of a movement op over a batched source."""

_RULES: dict[Ops, Callable[[Batch, UOp, _Sources], UOp]] = {
    **dict.fromkeys(_MOVEMENT_ARGS, Batch._movement),
    Ops.ASSIGN: Batch._assign,
    Ops.REDUCE_AXIS: Batch._reduce,
    Ops.HOST_CALL: Batch._host_call,
}

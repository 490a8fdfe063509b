"""ZeRO: parts of optimiser state, gradients and parameters on each device, instead of copies.
Also: fully sharded data parallelism, FSDP.

Stage 1 cuts the state of the optimiser, stage 2 the gradients too: an update of cut state needs a
part of each gradient only, so the scheduler reduces and scatters it where the devices have such a
collective. Stage 3 cuts the parameters: each is gathered where a module uses it.

Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
SC 2020; Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", VLDB 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.device import Mesh
from weft.nn.module import Module
from weft.nn.optim.base import Optimizer
from weft.nn.optim.state_dicts import per_parameter
from weft.nn.parallel.data_parallel import split_batch
from weft.nn.state import get_state_dict
from weft.tensor import Tensor
from weft.tensor.checkpoint import recomputed_over
from weft.tensor.protocol import grad_enabled
from weft.uop import AGAIN, Ops, UOp


def cut_axis(tensor: Tensor, count: int) -> int | None:
    """The first axis with an element for each of `count` devices; None where there is none."""
    return next((axis for axis, size in enumerate(tensor.shape) if size >= count), None)


def _device_count(mesh: Mesh | Sequence[str]) -> int:
    return len(mesh.devices if isinstance(mesh, Mesh) else mesh)


def shard_optimizer(optimizer: Optimizer, mesh: Mesh | Sequence[str]) -> Optimizer:
    """Keep a part of the state of an optimiser on each device (ZeRO 1 and 2), in place.

    Tensors that are smaller than the number of devices stay on all of them. Returns the optimiser.

    >>> weight = Tensor.zeros(4, 2).shard(("REF:1", "REF:2"))
    >>> optimizer = nn.optim.SGD([weight], momentum=0.9)
    >>> optimizer = nn.parallel.shard_optimizer(optimizer, ("REF:1", "REF:2"))
    >>> optimizer.velocity[0].layout.bounds
    (0, 2, 4)
    """
    count = _device_count(mesh)
    for tensors in per_parameter(optimizer).values():
        for tensor in tensors:
            if tensor is not None and (axis := cut_axis(tensor, count)) is not None:
                tensor.shard_(mesh, axis).contiguous().realize()
    return optimizer


class FullySharded(Module):
    """A model of which each device of a mesh holds a part of every parameter (ZeRO 3, FSDP).

    The first axis of a parameter that is long enough is cut; smaller tensors are on all devices.
    Each child with a `forward` gathers its parameters when it is called, and again for its
    gradients; these come back in parts. The scheduler gathers one layer ahead, so that each device
    has two layers in memory. Batches are cut as by `DataParallel`. Make the optimiser after it: its
    state is in parts as the parameters are.

    :param reshard_after_forward: False keeps what is gathered for the gradients. That is one
        exchange less, and the memory of all parameters. Where a child computes several steps from
        its own parameters (recurrent modules), True computes these steps twice.

    >>> model = nn.parallel.FullySharded(nn.Linear(2, 4), ("REF:1", "REF:2"))
    >>> model.module.weight.layout.bounds
    (0, 2, 4)
    """

    def __init__(
        self, module: Any, mesh: Mesh | Sequence[str], reshard_after_forward: bool = True
    ) -> None:
        self.module = module
        self._mesh = mesh
        count = _device_count(mesh)
        for tensor in get_state_dict(module).values():
            tensor.shard_(mesh, cut_axis(tensor, count)).contiguous().realize()
        for one in self._modules():
            one.forward = _gathering(one, one.forward, mesh, reshard_after_forward)

    def _modules(self) -> list[Any]:
        own = [one for one in self.module.modules() if _own_tensors(one)]
        return own

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's result, cut along the batch."""
        parts = [split_batch(value, self._mesh) for value in inputs]
        keywords = {name: split_batch(value, self._mesh) for name, value in named.items()}
        return self.module(*parts, **keywords)


def _own_tensors(module: Any) -> dict[str, Tensor]:
    """The tensors that are attributes of a module itself."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Tensor)}


def _gathering(module: Any, forward: Any, mesh: Mesh | Sequence[str], reshard: bool) -> Any:
    """`forward` with the whole of the module's parameters on every device.

    reshard: whether gradients gather them again.
    """

    def gathered_forward(*inputs: Any, **named: Any) -> Any:
        with _whole_tensors(module, mesh) as again:
            result = forward(*inputs, **named)
        return recomputed_over(result, again) if reshard and grad_enabled() else result

    return gathered_forward


@contextmanager
def _whole_tensors(module: Any, mesh: Mesh | Sequence[str]) -> Iterator[dict[UOp, UOp]]:
    """Gives by whole parameter the same value, gathered another time."""
    own = _own_tensors(module)
    again: dict[UOp, UOp] = {}
    try:
        for name, tensor in own.items():
            layout = tensor.layout
            if layout is not None and layout.axis is not None:
                whole = tensor.shard(mesh)
                object.__setattr__(module, name, whole)
                parts = UOp(Ops.CONTIGUOUS, tensor.dtype, (tensor._uop,), AGAIN)
                again[whole._uop] = whole._uop.substitute({tensor._uop: parts})
        yield again
    finally:
        for name, tensor in own.items():
            object.__setattr__(module, name, tensor)

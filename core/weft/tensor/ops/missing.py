"""What is said of an attribute that a tensor does not have: the nearest name that it has.

Looked up only after everything else has failed. That there is such a hook costs every attribute
that is there some 30 ns (Python 3.11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.base.errors import MissingName
from weft.tensor.alias import derived
from weft.tensor.protocol import TensorBase

_ELSEWHERE = {
    "astype": "x.cast(dtype)",
    "type": "x.cast(dtype)",
    "cuda": "x.to(device)",
    "cpu": "x.to(device), or x.numpy() for the values",
    "copy": "x.clone()",
    "nelement": "x.numel()",
    "itemsize": "x.element_size()",
    "conv1d": "nn.functional.conv1d(x, ...), or x.conv2d(...) for any number of axes",
    "conv3d": "nn.functional.conv3d(x, ...), or x.conv2d(...) for any number of axes",
    "max_pool1d": "nn.functional.max_pool1d(x, k), or x.max_pool2d(kernel_size=(k,))",
    "avg_pool1d": "nn.functional.avg_pool1d(x, k), or x.avg_pool2d(kernel_size=(k,))",
    "binary_cross_entropy_with_logits": "nn.functional.binary_cross_entropy_with_logits(x, y)",
    "layer_norm": "nn.functional.layer_norm(x, shape), x.layernorm(), or nn.LayerNorm",
    "batch_norm": "nn.functional.batch_norm(x, ...), or nn.BatchNorm2d",
    "group_norm": "nn.functional.group_norm(x, groups), or nn.GroupNorm",
    "rms_norm": "nn.functional.rms_norm(x, shape), or nn.RMSNorm",
    "embedding": "nn.functional.embedding(indices, x), or nn.Embedding",
    "is_cuda": "x.device",
    "is_cpu": "x.device",
    "sum_to_size": "x.sum(axes, keepdim=True)",
    "tensor": "weft.tensor(data)",
    "grad_fn": "x.is_leaf for whether it was computed, x.uop for the graph that it is computed by",
    "softmax_cross_entropy": "x.cross_entropy(y)",
    "conj": "x itself: there are no complex numbers",
    "real": "x itself: there are no complex numbers",
}


class MissingMixin(TensorBase):
    """One hook, which also gives a view its node after a write to its base (see `alias`)."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(self, name: str) -> Any:
            if name == "_uop" and self._alias is not None:
                return derived(self)
            if name.startswith("_"):  # the questions that protocols ask of any object
                raise AttributeError(name)
            raise _missing(self, name)


def _missing(tensor: Any, name: str) -> MissingName:
    known = [n for n in dir(type(tensor)) if not n.startswith("_")]
    import difflib

    close = difflib.get_close_matches(name, known, 3, 0.6)
    try_ = _ELSEWHERE.get(name) or (" or ".join(f"x.{n}" for n in close) if close else None)
    return MissingName(
        f"a tensor has no {name!r}", asked=f"x.{name}", try_=try_ or "dir(x) lists what it has"
    )

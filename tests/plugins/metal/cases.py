"""Programs whose kernels are kept as texts, and whose results are checked.

Each is a function of `t`, which makes a tensor of a shape and a dtype: without values where only
the kernels matter, with some where they are run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.tools.dry_run import dry_run
from weft.uop import Ops

Make = Callable[..., Tensor]


def _training_step(t: Make) -> tuple[Tensor, ...]:
    x, w = t(4, 3), t(3, 2).requires_grad_()
    loss = (x @ w).relu().square().mean()
    loss.backward()
    w.assign(w.detach() - w.grad * 0.1)
    return loss, w


def _window_assign(t: Make) -> tuple[Tensor, ...]:
    a = t(6)
    before = a * 2
    a[1:3] = t(2)
    return before, a


def _product(m: int, k: int, n: int, dtype: str) -> Callable[[Make], tuple[Tensor, ...]]:
    return lambda t: (t(m, k, dtype=dtype).matmul(t(k, n, dtype=dtype), dtype="float32"),)


TOO_LONG = frozenset({"matmul_large", "matmul_half_large"})
"""Only their texts are looked at: lane by lane they take too long on a processor."""

CASES: dict[str, Callable[[Make], tuple[Tensor, ...]]] = {
    "elementwise_chain": lambda t: ((t(3, 4) * t(3, 4) + 1).abs().sqrt(),),
    "elementwise_large": lambda t: (t(256, 256) + t(256, 256) * 2,),
    "transpose_add": lambda t: (t(64, 32) + t(32, 64).T,),
    "padded_add_one": lambda t: ((t(3) + 1).pad(((1, 2),)).contiguous(),),
    "row_sum_then_scale": lambda t: (t(64, 256).sum(1) * 0.5,),
    "whole_sum": lambda t: (t(64, 64).sum(),),
    "matmul_bias_relu": lambda t: ((t(64, 48) @ t(48, 32) + t(32)).relu(),),
    "matmul_large": _product(512, 512, 512, "float32"),
    "matmul_half_large": _product(1024, 1024, 1024, "float16"),
    "matmul_half": lambda t: (t(64, 64, dtype="half") @ t(64, 64, dtype="half"),),
    "matmul_bfloat16": _product(64, 32, 32, "bfloat16"),
    "matmul_odd": _product(10, 7, 6, "float32"),
    "half_to_bfloat16": lambda t: ((t(256, dtype="half") * 2).cast("bfloat16"),),
    "integers": lambda t: (
        (t(64, dtype="int32") // 7 + t(64, dtype="int32") % 5).cast("int8"),
        t(64, dtype="int64") * 3 - t(64, dtype="int64"),
    ),
    "booleans": lambda t: (((t(64) < t(64)) & (t(64) != 0)),),
    "float_to_uint64": lambda t: (t(64).cast("uint64"),),
    "softmax": lambda t: (t(64, 128).softmax(),),
    "layernorm": lambda t: (t(64, 128).layernorm(),),
    "variance": lambda t: (t(3, 8).var(1),),
    "argmax": lambda t: (t(64, 100).argmax(1),),
    "sine": lambda t: (t(64).sin(),),
    "conv2d": lambda t: (t(1, 2, 6, 6).conv2d(t(3, 2, 3, 3), padding=1).relu(),),
    "max_pool2d": lambda t: (t(1, 2, 6, 6).max_pool2d((2, 2)),),
    "gather_rows": lambda t: (t(5, 4)[t(3, dtype="int32")],),
    "cumsum": lambda t: (t(8).cumsum(),),
    "attention": lambda t: (
        t(1, 2, 16, 32).scaled_dot_product_attention(t(1, 2, 16, 32), t(1, 2, 16, 32)),
    ),
    "window_assign": _window_assign,
    "training_step": _training_step,
}


def programs(case: str, arch: str) -> list[tuple[Any, str]]:
    """(linear program, source) of each kernel of a case."""
    own, plan = dry_run("METAL", arch)
    found = []
    with registry.use(own):
        tensors = CASES[case](
            lambda *shape, dtype=None: Tensor.empty(*shape, dtype=dtype, device="METAL")
        )
        for item in tensors[0].schedule(*tensors[1:]):
            if item.ast.op is Ops.SINK:
                program = lower(item.ast, plan.offline.target)
                found.append((program, plan.offline.renderer.render(program)))
    return found

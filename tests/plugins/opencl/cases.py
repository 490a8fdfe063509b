"""Programs whose kernels are kept as OpenCL C, as a device would get them that is not here."""

from __future__ import annotations

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.tools.dry_run import dry_run
from weft.uop import Ops


def t(*shape, dtype=None):
    """Storage without values: only the graph matters here."""
    return Tensor.empty(*shape, dtype=dtype, device="OPENCL")


def _training_step():
    x, w = t(4, 3), t(3, 2).requires_grad_()
    loss = (x @ w).relu().square().mean()
    loss.backward()
    w.assign(w.detach() - w.grad * 0.1)
    return loss, w


def _window_assign():
    a = t(6)
    before = a * 2
    a[1:3] = t(2)
    return before, a


def _normalised():
    x, gamma, beta = t(4, 8, 6, 6), t(8), t(8)
    return (x.batchnorm(gamma, beta, x.mean((0, 2, 3)), x.var((0, 2, 3)).add(1e-5).rsqrt()),)


CASES = {
    "constant_folding": lambda: ((t(4) * 1 + 0).contiguous(), t(4) * 2 * 3),
    "elementwise_chain": lambda: ((t(3, 4) * t(3, 4) + 1).sqrt(),),
    "elementwise_large": lambda: (t(1024, 1024) + t(1024, 1024) * 2,),
    "transpose_add": lambda: (t(64, 32) + t(32, 64).T,),
    "padded_add_one": lambda: ((t(3) + 1).pad(((1, 2),)).contiguous(),),
    "row_sum_then_scale": lambda: (t(256, 1024).sum(1) * 0.5,),
    "column_sum": lambda: (t(256, 1024).sum(0),),
    "whole_sum": lambda: (t(256, 256).sum(),),
    "running_sum": lambda: (t(8).cumsum(),),
    "counted": lambda: (Tensor.arange(12, device="OPENCL").reshape(3, 4).contiguous(),),
    "matmul_bias_relu": lambda: ((t(64, 48) @ t(48, 32) + t(32)).relu(),),
    "matmul_large": lambda: (t(512, 512) @ t(512, 512),),
    "matmul_double": lambda: (t(40, 24, dtype="double") @ t(24, 40, dtype="double"),),
    "matmul_odd": lambda: (t(17, 23) @ t(23, 5),),
    "half_in_memory": lambda: ((t(64, dtype="half") * 2).cast("float"),),
    "integers": lambda: ((t(64, dtype="int32") // 7 + t(64, dtype="int32") % 5).cast("int8"),),
    "integers_that_wrap": lambda: (t(64, dtype="int64") * t(64, dtype="int64") - 1,),
    "booleans": lambda: (((t(64) < t(64)) & (t(64) != 0)),),
    "float_to_uint64": lambda: (t(64, dtype="float64").cast("uint64"),),
    "bits": lambda: (t(64).bitcast("uint32") >> 3,),
    "sine": lambda: (t(64).sin(),),
    "softmax": lambda: (t(64, 128).softmax(),),
    "layernorm": lambda: (t(64, 128).layernorm(),),
    "batchnorm": _normalised,
    "variance": lambda: (t(3, 8).var(1),),
    "argmax": lambda: (t(64, 100).argmax(1),),
    "conv2d": lambda: (t(1, 2, 6, 6).conv2d(t(3, 2, 3, 3), padding=1).relu(),),
    "max_pool2d": lambda: (t(1, 2, 6, 6).max_pool2d((2, 2)),),
    "gather_rows": lambda: (t(5, 4)[t(3, dtype="int32")],),
    "attention": lambda: (
        t(1, 2, 16, 32).scaled_dot_product_attention(t(1, 2, 16, 32), t(1, 2, 16, 32)),
    ),
    "window_assign": _window_assign,
    "training_step": _training_step,
}
IMAGES = {
    "image_matmul": lambda: (t(32, 30) @ t(30, 32),),
    "image_matmul_half": lambda: (t(8, 8, dtype="half") @ t(8, 8, dtype="half"),),
    "image_conv2d": lambda: (t(1, 3, 8, 8).conv2d(t(8, 3, 3, 3), padding=1).relu(),),
}
"""With the setting IMAGE."""


ON_GPU = (
    "attention", "conv2d", "half_in_memory", "image_matmul_half", "layernorm", "matmul_large",
    "row_sum_then_scale", "softmax",
)  # fmt: skip
"""What looks differently where groups share memory and halves are computed with."""


def programs(case, arch="pocl"):
    """(linear program, source) of each kernel of a case."""
    own, plan = dry_run("OPENCL", arch)
    found = []
    with registry.use(own), settings.override(IMAGE=int(case in IMAGES)):
        tensors = (CASES | IMAGES)[case]()
        for item in tensors[0].schedule(*tensors[1:]):
            if item.ast.op is Ops.SINK:
                program = lower(item.ast, plan.offline.target)
                found.append((program, plan.offline.renderer.render(program)))
    return found

"""Programs whose kernels are kept as texts and compiled for every architecture."""

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.tools.dry_run import dry_run
from weft.uop import Ops


def t(*shape, dtype=None):
    """Storage without values: only the graph matters here."""
    return Tensor.empty(*shape, dtype=dtype, device="CUDA")


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


CASES = {
    "elementwise_chain": lambda: ((t(3, 4) * t(3, 4) + 1).sqrt(),),
    "elementwise_large": lambda: (t(1024, 1024) + t(1024, 1024) * 2,),
    "transpose_add": lambda: (t(64, 32) + t(32, 64).T,),
    "padded_add_one": lambda: ((t(3) + 1).pad(((1, 2),)).contiguous(),),
    "row_sum_then_scale": lambda: (t(256, 1024).sum(1) * 0.5,),
    "whole_sum": lambda: (t(256, 256).sum(),),
    "matmul_bias_relu": lambda: ((t(64, 48) @ t(48, 32) + t(32)).relu(),),
    "matmul_large": lambda: (t(512, 512) @ t(512, 512),),
    "matmul_half": lambda: (t(64, 64, dtype="half") @ t(64, 64, dtype="half"),),
    "matmul_bfloat16_large": lambda: (
        t(256, 512, dtype="bfloat16").matmul(t(512, 256, dtype="bfloat16"), dtype="float32"),
    ),
    "matmul_8_bits": lambda: (
        t(64, 64, dtype="fp8e4m3").matmul(t(64, 64, dtype="fp8e4m3"), dtype="float32"),
    ),
    "half_to_bfloat16": lambda: ((t(256, dtype="half") * 2).cast("bfloat16"),),
    "integers": lambda: ((t(64, dtype="int32") // 7 + t(64, dtype="int32") % 5).cast("int8"),),
    "booleans": lambda: (((t(64) < t(64)) & (t(64) != 0)),),
    "float_to_uint64": lambda: (t(64, dtype="float64").cast("uint64"),),
    "softmax": lambda: (t(64, 128).softmax(),),
    "layernorm": lambda: (t(64, 128).layernorm(),),
    "variance": lambda: (t(3, 8).var(1),),
    "argmax": lambda: (t(64, 100).argmax(1),),
    "sine": lambda: (t(64).sin(),),
    "conv2d": lambda: (t(1, 2, 6, 6).conv2d(t(3, 2, 3, 3), padding=1).relu(),),
    "conv2d_half": lambda: (
        t(1, 32, 14, 14, dtype="half").conv2d(t(32, 32, 3, 3, dtype="half"), padding=1),
    ),
    "column_sums": lambda: (t(1024, 256).sum(0),),
    "max_pool2d": lambda: (t(1, 2, 6, 6).max_pool2d((2, 2)),),
    "gather_rows": lambda: (t(5, 4)[t(3, dtype="int32")],),
    "cumsum": lambda: (t(8).cumsum(),),
    "attention": lambda: (
        t(1, 2, 16, 32).scaled_dot_product_attention(t(1, 2, 16, 32), t(1, 2, 16, 32)),
    ),
    "window_assign": _window_assign,
    "training_step": _training_step,
}


def programs(case, arch):
    """(linear program, source) of each kernel of a case."""
    own, plan = dry_run("CUDA", arch)
    found = []
    with registry.use(own):
        tensors = CASES[case]()
        for item in tensors[0].schedule(*tensors[1:]):
            if item.ast.op is Ops.SINK:
                program = lower(item.ast, plan.offline.target)
                found.append((program, plan.offline.renderer.render(program)))
    return found

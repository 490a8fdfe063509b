"""The kernels of small programs, as texts that reviewers read: what is grouped into what, and the
source that it becomes for processors that need not be here."""

import pytest

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.uop import Ops, to_text

DEVICE = "REF"


def t(*shape):
    """Storage without values: only the graph matters here."""
    return Tensor.empty(*shape, device=DEVICE)


def full(value):
    return Tensor.full((2, 2), value, device=DEVICE)


def training_step():
    x, w = t(4, 3), t(3, 2).requires_grad_()
    loss = (x @ w).relu().square().mean()
    loss.backward()
    w.assign(w.detach() - w.grad * 0.1)
    return loss, w


def window_assign():
    a = t(6)
    before = a * 2
    a[1:3] = t(2)
    return before, a


CASES = {
    "elementwise_chain": lambda: ((t(3, 4) * t(3, 4) + 1).sqrt(),),
    "constant_folding": lambda: (
        (
            Tensor.full((2, 2), 1, device=DEVICE) + Tensor.full((2, 2), 2, device=DEVICE)
        ).contiguous(),
    ),
    "transpose_add": lambda: (t(3, 4) + t(4, 3).T,),
    "padded_add_one": lambda: ((t(3) + 1).pad(((1, 2),)).contiguous(),),
    "row_sum_then_scale": lambda: (t(3, 4).sum(1) * 0.5,),
    "matmul_bias_relu": lambda: ((t(4, 5) @ t(5, 6) + t(6)).relu(),),
    "softmax": lambda: (t(3, 8).softmax(),),
    "layernorm": lambda: (t(3, 8).layernorm(),),
    "variance": lambda: (t(3, 8).var(1),),
    "argmax": lambda: (t(3, 8).argmax(1),),
    "conv2d": lambda: (t(1, 2, 6, 6).conv2d(t(3, 2, 3, 3), padding=1).relu(),),
    "max_pool2d": lambda: (t(1, 2, 6, 6).max_pool2d((2, 2)),),
    "gather_rows": lambda: (t(5, 4)[Tensor([0, 3, 3], device=DEVICE)],),
    "arange": lambda: ((Tensor.arange(6, device=DEVICE) * 2).contiguous(),),
    "cumsum": lambda: (t(8).cumsum(),),
    "attention": lambda: (
        t(1, 2, 4, 8).scaled_dot_product_attention(t(1, 2, 4, 8), t(1, 2, 4, 8)),
    ),
    "window_assign": window_assign,
    "training_step": training_step,
}


@pytest.mark.parametrize("case", CASES)
def test_the_kernels_of(case, golden):
    tensors = CASES[case]()
    items = tensors[0].schedule(*tensors[1:])
    text = []
    for number, item in enumerate(items):
        sizes = ", ".join(f"{b.size} {b.dtype.name}" for b in item.bufs)
        text.append(f"# kernel {number}: {item.ast.op.name} over ({sizes})")
        text.append(to_text(item.ast))
    assert "\n".join(text) == golden.file(f"schedules/{case}.uop")


@pytest.mark.parametrize("arch", ["x86-64-v3", "x86-64-v4", "aarch64"])
@pytest.mark.parametrize("case", CASES)
def test_the_source_of(case, arch, golden):
    device = registry.offline("CPU", arch)
    tensors = CASES[case]()
    sources = []
    for item in tensors[0].schedule(*tensors[1:]):
        if item.ast.op is Ops.SINK:
            program = lower(item.ast, device.target)
            applied = ", ".join(map(str, program.applied)) or "none"
            sources.append(f"// opts: {applied}\n{device.renderer.render(program)}")
    assert "\n".join(sources) == golden.file(f"kernels/cpu-{arch}/{case}.c")

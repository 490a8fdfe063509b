"""Products by warpgroups, on a chip that has them: layouts, batches, and what follows a product."""

import os
import subprocess
import sys

PROGRAM = """
import itertools
import numpy as np
from weft import Tensor, dtypes
from weft.engine import lower_schedule_item

rng = np.random.default_rng(3)


def draw(*shape, dtype):
    x = Tensor(rng.standard_normal(shape).astype(np.float32)).cast(dtype).realize()
    return x, x.cast("float32").numpy().astype(np.float64)


def check(result, wanted, tolerance):
    steps = [lower_schedule_item(item) for item in result.schedule()]
    names = [step.prg.p.program.name for step in steps if step.prg.is_kernel]
    assert any(name.startswith("w_") for name in names), names
    for step in steps:
        step.run(wait=True)
    error = np.abs(result.cast("float32").numpy() - wanted).max() / np.abs(wanted).max()
    assert error < tolerance, error


for dtype, tolerance in ("bfloat16", 5e-3), ("float16", 1e-3):
    for turned_a, turned_b in itertools.product((False, True), repeat=2):
        a, wa = draw(*(128, 256)[:: -1 if turned_a else 1], dtype=dtype)
        b, wb = draw(*(256, 384)[:: -1 if turned_b else 1], dtype=dtype)
        a, wa = (a.T, wa.T) if turned_a else (a, wa)
        b, wb = (b.T, wb.T) if turned_b else (b, wb)
        check(a @ b, wa @ wb, tolerance)
    bias, wbias = draw(384, dtype=dtype)
    check((a @ b + bias).relu(), np.maximum(wa @ wb + wbias, 0), 2 * tolerance)
    check((a @ b).T.contiguous(), (wa @ wb).T, tolerance)
    check(a.matmul(b, dtype="float32"), wa @ wb, 1e-5)
    x, wx = draw(2, 3, 128, 64, dtype=dtype)
    check(x @ x.transpose(2, 3), wx @ wx.swapaxes(2, 3), tolerance)
# Blocks at the end of an axis: rows, terms, columns, and whether the operands are transposed.
for m, k, n, turned_a, turned_b in (
    (200, 136, 264, False, False), (201, 72, 131, False, True), (248, 100, 264, True, False),
    (250, 64, 128, False, False), (128, 200, 130, False, True),
):  # fmt: skip
    a, wa = draw(*((k, m) if turned_a else (m, k)), dtype="float16")
    b, wb = draw(*((n, k) if turned_b else (k, n)), dtype="float16")
    a, wa = (a.T, wa.T) if turned_a else (a, wa)
    b, wb = (b.T, wb.T) if turned_b else (b, wb)
    bias, wbias = draw(n, dtype="float16")
    check((a @ b + bias).relu(), np.maximum(wa @ wb + wbias, 0), 2e-3)
for m, k, n in (128, 60, 128), (128, 128, 100), (128, 100, 128), (40, 128, 64), (8, 128, 128):
    a, wa = draw(m, k, dtype="float16")
    b, wb = draw(k, n, dtype="float16")
    np.testing.assert_allclose((a @ b).cast("float32").numpy(), wa @ wb, rtol=5e-3, atol=0.05)
    a, b = (x + 0 for x in (a, b))
    names = [lower_schedule_item(item).prg.p.program.name for item in (a @ b).schedule()]
    assert not any(name.startswith("w_") for name in names), names
print("all right")
"""


def test_products_of_warpgroups():
    environment = {**os.environ, "SIMT_CAPABILITY": "90", "WEFT_DEVICE": "CUDA"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "all right\n", done.stderr[-3000:]

"""Mistakes that type checkers report: one on each line that is marked. It is never run."""

from __future__ import annotations

import weft
from weft import Device, Tensor, dtypes, jit, nn, settings
from weft.engine import stats
from weft.nn.state import get_parameters, safe_save
from weft.tensor.protocol import TensorBase
from weft.uop import Ops

x = Tensor([[1.0, 2.0], [3.0, 4.0]])


@jit
def double(x: Tensor, by: int = 2) -> Tensor:
    return x * by


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    @jit
    def predict(self, x: Tensor) -> Tensor:
        return self.layer(x)


def mixin_method(x: TensorBase) -> TensorBase:
    return x.sumn()  # error


model = Model()

# names
x.reshpe(4)  # error
(x + 1).exp().summ()  # error
x.T.shpae  # error
x.sumn()  # error
Tensor.zreos(2)  # error
x.astype("float32")  # error
dtypes.flaot32  # error
dtypes.float32.itemszie  # error
Ops.ADDD  # error
Ops.ADD.nmae  # error
settings.DEBGU  # error
Device.DEFUALT  # error
stats.kernel  # error
nn.Linaer(2, 2)  # error
nn.optim.Adamm(get_parameters(model))  # error
nn.functional.rleu(x)  # error
nn.init.unifrom(2, 2)  # error
nn.optim.SGD(get_parameters(model)).zero_gard()  # error
weft.Tnsor  # error
model.predcit(x)  # error
model.layer.wieght  # error
double.replay  # error

# arguments of a wrong type
x.reshape("a")  # error
x.sum(axis="rows")  # error
x.sum(dim=1.5)  # error
x.permute("10")  # error
x.unsqueeze(axis="0")  # error
x + "a"  # error
x @ None  # error
x["column"]  # error
x.cast(3.5)  # error
x.to(0)  # error
x.pad("wide")  # error
x.where({1}, 0)  # error
x.cumsum(dim="0")  # error
Tensor({"a": 1})  # error
Tensor([1], dtype=32)  # error
Tensor.zeros("2")  # error
Tensor.zeros(2, dtype=8)  # error
Tensor.full((2,), None)  # error
Tensor.arange("3")  # error
Tensor.randn(2, 2.5)  # error
Tensor.cat([x, x], dim="0")  # error
nn.Linear("2", 2)  # error
nn.Linear(2, 2)("x")  # error
nn.Dropout("half")  # error
nn.Embedding(3, 4.5)  # error
nn.optim.SGD(get_parameters(model), lr="fast")  # error
safe_save([x], "file")  # error
settings.override(DEBUG="2")  # error
double("x")  # error
double(x, by="2")  # error
model.predict(3)  # error
Device[3]  # error
weft.Variable(1, 1, 4)  # error

# missing, unknown, too many
x.reshape()  # error
x.gather(1)  # error
x.unsqueeze()  # error
x.flip()  # error
x.sum(0, False, None, 1)  # error
x.sum(dmi=1)  # error
x.mean(keep_dims=True)  # error
Tensor.zeros(2, dtpye="float32")  # error
Tensor.zeros_like()  # error
nn.Linear(2)  # error
settings.override(DEBGU=1)  # error
double()  # error
model.predict()  # error

# results
a: int = x.sum()  # error
b: Tensor = x.item()  # error
c: Tensor = x.sort()  # error
d: Tensor = x.unique(return_counts=True)  # error
e: str = double(x)  # error
f: Tensor = model.predict  # error
g: Tensor = x.grad  # error
h: list[int] = x.shape  # error
i, j = x.median()[0], x.argmax().shape.ndim  # error
k: dtypes = x.dtype  # error
x.grad.sum()  # error

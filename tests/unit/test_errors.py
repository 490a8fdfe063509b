"""Error messages: the page on errors is executed, and matches them.

Every mistake below is made, and its whole message compared with `docs/errors.md`, which
`pytest --update-golden` writes anew. Each message answers three questions: what was asked for, why
it cannot be had, and what to try instead.
"""

import math
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft import Tensor, Variable, WeftError, dtypes, io, jit, nn, settings
from weft.device import Registry, registry
from weft.device.discovery import installed_plugins
from weft.nn.training_mode import take_defaulted
from weft.testing.golden import Golden

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
NAMES = {
    "Tensor": Tensor, "Variable": Variable, "dtypes": dtypes, "io": io, "jit": jit, "math": math,
    "nn": nn, "settings": settings,
}  # fmt: skip
FAMILIES = {"DISK", "HOST", "NULL", "REF"}
PACKAGE = str(Path(sys.modules["weft"].__file__ or "").parent)
PREAMBLE = """# Errors and their messages

Every error of weft answers three questions: what was **asked** for, **because** of what it failed,
and what to **try** instead. The answers are also fields (`error.asked`, `error.because`,
`error.try_`), so a program need not read the text.

Every error is a `WeftError`. Each is also of the built-in kind that Python programmers expect:

| error | built-in kind |
|---|---|
| `ShapeError` | `ValueError` |
| `DTypeError` | `TypeError` |
| `IndexingError` | `IndexError` |
| `DeviceError` | `RuntimeError` |
| `FileError`, and that of a missing file | `OSError`, `FileNotFoundError` |

These are the most common mistakes and their messages. The examples begin with

```python
from weft import Tensor, Variable, dtypes, io, jit, nn, settings
```

`tests/unit/test_errors.py` runs them on the device `REF`, and writes this page.
"""

MISTAKES: dict[str, dict[str, str]] = {
    "Shapes": {
        "Two shapes that do not broadcast": "Tensor.ones(2, 3) + Tensor.ones(2, 4)",
        "A matrix product whose inner sizes differ": "Tensor.ones(2, 3) @ Tensor.ones(4, 5)",
        "A reshape to another number of elements": "Tensor.ones(2, 3).reshape(4, 2)",
        "Two sizes of -1": "Tensor.ones(2, 3).reshape(-1, -1)",
        "A size that does not divide the number of elements": "Tensor.ones(2, 3).reshape(4, -1)",
        "Concatenation of different sizes": "Tensor.ones(2, 3).cat(Tensor.ones(3, 4), dim=0)",
        "Stacking tensors of different shapes": "Tensor.ones(2, 3).stack(Tensor.ones(2, 4))",
        "Expanding an axis that is not of size one": "Tensor.ones(2, 3).expand(4, 3)",
        "A permutation without one of the axes": "Tensor.ones(2, 3, 4).permute(0, 2)",
        "A shape with a float in it": "Tensor.zeros(2, 3 / 1)",
        "A negative size": "Tensor.zeros(2, -3)",
        "Padding that removes more than there is": "Tensor.ones(2, 3).pad((-2, -2))",
        "Padding that does not fit the axes": "Tensor.ones(2, 3).pad(((1, 1),))",
        "Splitting into sizes that do not add up": "Tensor.ones(7).split([3, 3])",
        "A convolution with another number of channels": (
            "Tensor.ones(1, 3, 8, 8).conv2d(Tensor.ones(16, 4, 3, 3))"
        ),
        "A kernel larger than the image": "Tensor.ones(1, 1, 2, 2).conv2d(Tensor.ones(1, 1, 3, 3))",
        "A window larger than the image": "Tensor.ones(1, 1, 2, 2).max_pool2d(kernel_size=3)",
        "An einsum whose subscripts do not fit": (
            'Tensor.einsum("ij,jk->ik", Tensor.ones(2, 3), Tensor.ones(4, 5))'
        ),
        "Lists of different lengths": "Tensor([[1, 2, 3], [4, 5]])",
        "A layer with inputs of another size": "nn.Linear(4, 2)(Tensor.ones(3, 5))",
    },
    "Axes": {
        "An axis that is not there": "Tensor.ones(2, 3).sum(axis=2)",
        "An axis named twice": "Tensor.ones(2, 3).sum(axis=(1, -1))",
        "An axis that is no number": 'Tensor.ones(2, 3).sum(axis="rows")',
        "argmax of an empty axis": "Tensor.zeros(0, 3).argmax(axis=0)",
        "A number instead of a flag": "Tensor.ones(2, 3, 4).mean(1, 2)",
    },
    "Dtypes": {
        "Bitwise operations on floats": "Tensor([1.0, 2.0]) & 1",
        "Shifting floats": "Tensor([1.0, 2.0]) << 1",
        "A misspelt dtype": 'Tensor([1, 2], dtype="flaot32")',
        "A bitcast whose bytes do not fill an element": (
            "Tensor([1, 2, 3], dtype=dtypes.uint8).bitcast(dtypes.float)"
        ),
        "Gradients of integers": "Tensor([1, 2], requires_grad=True)",
        "A number that the dtype cannot represent": 'Tensor([300], dtype="int8")',
        "An operand that the integer dtype cannot represent": "Tensor([7]) % 2**33",
        "An integer that no dtype can represent": "Tensor([2**64])",
        "A number that is no integer": 'Tensor([float("nan")], dtype="int32")',
        "Writing floats into integers": """
t = Tensor([1, 2, 3])
t.assign(Tensor([0.5, 1.5, 2.5]))
""",
        "An array of Python objects": """
import numpy
Tensor(numpy.array(["a", None]))
""",
        "Arithmetic with a string": 'Tensor([1, 2]) + "3"',
        "The negative of a bool tensor": "-Tensor([True, False])",
    },
    "Values": {
        "The truth value of several elements": """
if Tensor([1, 2]) > 1:
    print("larger")
""",
        "The length of a tensor without axes": "len(Tensor(3.0))",
        "`item` of several elements": "Tensor([1, 2]).item()",
        "Reading a tensor whose size is a variable": """
n = Variable("n", 1, 10)
Tensor.arange(10)[:n].numpy()
""",
        "A value outside of a variable's bounds": 'Variable("n", 1, 10).bind(11)',
    },
    "Indexing": {
        "More indices than axes": "Tensor.ones(2, 3)[0, 1, 2]",
        "An index out of bounds": "Tensor([1, 2, 3])[3]",
        "An index tensor out of bounds": "Tensor([1, 2, 3])[Tensor([0, 7])]",
        "A class that does not exist": "Tensor.zeros(2, 3).cross_entropy(Tensor([0, 3]))",
        "A float as an index": "Tensor([1, 2, 3])[1.0]",
        "A mask of another shape": "Tensor([1, 2, 3])[Tensor([True, False])]",
        "A slice with step 0": "Tensor([1, 2, 3])[::0]",
        "Writing another shape into a part": """
t = Tensor.zeros(4, 4)
t[0] = Tensor.ones(3)
""",
        "Writing into a leaf that requires gradients": """
w = Tensor([1.0, 2.0], requires_grad=True)
w[0] = 5.0
""",
        "Writing a larger shape in place": """
a = Tensor.ones(3)
a += Tensor.ones(2, 3)
""",
        "An in-place operation that reads what it overwrites": """
a = Tensor([[1, 2], [3, 4]]).realize()
a += a.T
a.tolist()
""",
    },
    "Gradients": {
        "`backward` of several elements": """
x = Tensor([1.0, 2.0], requires_grad=True)
(x * x).backward()
""",
        "`backward` without a leaf": "(Tensor([1.0, 2.0]) * 2).sum().backward()",
        "A gradient of another shape": """
x = Tensor([1.0, 2.0], requires_grad=True)
(x * x).backward(Tensor([1.0, 2.0, 3.0]))
""",
        "The gradient of an unused tensor": """
x, y = Tensor([1.0], requires_grad=True), Tensor([2.0], requires_grad=True)
(x * x).sum().gradient(y)
""",
    },
    "Devices": {
        "A device without a plugin": 'Tensor([1], device="GPU")',
        "A misspelt default device": """
with settings.override(DEVICE="REFF"):
    Tensor([1, 2]).tolist()
""",
        "Tensors on two devices": 'Tensor([1, 2], device="REF") + Tensor([1, 2], device="REF:1")',
        "Computing on a device that only stores": """
io.safe_save({"w": Tensor([1.0])}, "w.safetensors")
(io.safe_load("w.safetensors")["w"] + 1).tolist()
""",
        "More memory than the device has": "Tensor.ones(2**50).contiguous().realize()",
    },
    "Checked mode": {
        "A computed index out of bounds": """
x, index = Tensor([1, 2, 3]), Tensor([2]) + 5

with settings.override(CHECK=1):
    y = x[index]
    y.tolist()
""",
        "The first value that is not finite": """
x = Tensor([1.0, 0.0, 4.0])

with settings.override(CHECK=1):
    y = x.log()
    z = (y * 0).exp()
    z.tolist()
""",
        "A gradient that is not finite": """
x = Tensor([0.0, 4.0], requires_grad=True)
x.sqrt().sum().backward()

with settings.override(CHECK=1):
    x.grad.tolist()
""",
    },
    "Captured functions": {
        "A value that is read inside": """
@jit
def step(x):
    return x * x.sum().item()

for _ in range(3):
    step(Tensor([1.0, 2.0]))
""",
        "An argument without a signature": """
@jit
def step(xs):
    return sum(xs)

step(Tensor([n]) for n in range(3))
""",
        "A result that cannot be replayed": """
@jit
def step(x):
    return (n for n in [x])

for _ in range(3):
    step(Tensor([1.0]))
""",
    },
    "Files": {
        "A file that is not there": 'io.safe_load("model.safetensors")',
        "A truncated file": """
io.safe_save({"w": Tensor.ones(100)}, "w.safetensors")
with open("w.safetensors", "rb+") as file:
    _ = file.truncate(200)
io.safe_load("w.safetensors")
""",
        "A file of another format": """
with open("w.safetensors", "wb") as file:
    _ = file.write(b"<!DOCTYPE html><html><body>404</body></html>")
io.safe_load("w.safetensors")
""",
        "A pickle that would run code": """
import pickle, zipfile
class Evil:
    def __reduce__(self):
        return eval, ("print(1)",)
with zipfile.ZipFile("evil.pth", "w") as file:
    file.writestr("archive/data.pkl", pickle.dumps({"w": Evil()}, protocol=2))
io.torch_load("evil.pth")
""",
        "Saved tensors of another model": """
saved = nn.state.get_state_dict([nn.Linear(4, 2), nn.Linear(2, 1, bias=False)])
model = [nn.Linear(4, 3), nn.Linear(3, 1)]
nn.state.load_state_dict(model, saved)
""",
    },
    "Training": {
        "Nothing to train": "nn.optim.SGD([], lr=0.1)",
        "A learning rate below zero": "nn.optim.SGD([Tensor([1.0])], lr=-0.1)",
        "A step outside of training": """
net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
optimizer = nn.optim.SGD(net.parameters(), lr=0.1)
_ = net(Tensor.ones(1, 2)).sum().backward()
optimizer.step()
""",
        "A step without gradients": """
optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.1)
with Tensor.train():
    optimizer.step()
""",
        "Labels that do not fit the logits": "Tensor.ones(4, 10).cross_entropy(Tensor([1, 2, 3]))",
    },
    "Settings": {
        "A misspelt setting": """
with settings.override(DEBGU=2):
    pass
""",
        "A setting of the wrong kind": """
with settings.override(DEBUG="yes"):
    pass
""",
    },
}
# a sentence between the title and the program, where the program does not say it all
NOTES = {
    "A step outside of training": (
        "A layer such as `nn.Dropout` or `nn.BatchNorm2d` ran in inference mode because no mode "
        "was set."
    ),
}
ALL = {title: code.strip() for group in MISTAKES.values() for title, code in group.items()}


@pytest.fixture(scope="module", autouse=True)
def _the_same_families_everywhere() -> Iterator[None]:
    """Those that are there in every environment of tests."""
    present = [plugin for plugin in installed_plugins() if plugin.family in FAMILIES]
    with registry.use(Registry(present)):
        yield


@pytest.fixture(autouse=True)
def _on_the_reference_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In an empty folder of its own, and no layer is noted that ran without a mode."""
    monkeypatch.chdir(tmp_path)
    take_defaulted()
    with settings.override(DEVICE="REF"):
        yield


def error_of(code: str) -> WeftError:
    with pytest.raises(WeftError) as caught:
        exec(compile(code, "example.py", "exec"), dict(NAMES))
    return caught.value


def message_of(error: WeftError) -> str:
    told = f"{type(error).__name__}: {error}"
    told = told.replace(str(Path.cwd()), ".")
    # notes of a scheduler pass for developers are no part of the message
    return re.sub(r"\nwhile running pass .*", "", told)


def page_of(messages: dict[str, str]) -> str:
    parts = [PREAMBLE]
    for section, group in MISTAKES.items():
        parts.append(f"## {section}\n")
        for title in group:
            parts.append(f"### {title}\n")
            if title in NOTES:
                parts.append(f"{NOTES[title]}\n")
            parts.append(f"```python\n{ALL[title]}\n```\n")
            parts.append(f"```text\n{messages[title]}\n```\n")
    return "\n".join(parts).rstrip() + "\n"


def on_the_page(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^### {re.escape(title)}\n\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert found, f"{title!r} is not in docs/errors.md: run with --update-golden"
    said = re.search(r"^```text\n(.*?)\n```$", found.group(1), re.M | re.S)
    assert said
    return said.group(1)


def test_the_page_has_them_all(request: pytest.FixtureRequest) -> None:
    update = request.config.getoption("--update-golden")
    messages = {t: message_of(error_of(c)) if update else on_the_page(t) for t, c in ALL.items()}
    assert page_of(messages) == Golden(PAGE, update)
    assert len(ALL) == sum(len(group) for group in MISTAKES.values()) >= 40
    assert set(NOTES) <= set(ALL)


@pytest.mark.parametrize("title", ALL)
def test_a_mistake_is_answered(title: str) -> None:
    error = error_of(ALL[title])
    assert message_of(error) == on_the_page(title)
    assert error.summary and error.asked and error.because and error.try_


@pytest.mark.parametrize("title", ALL)
def test_one_traceback_without_internal_frames(title: str) -> None:
    """One traceback, which ends in this package, and begins in the user's own line."""
    error = error_of(ALL[title])
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert any(name == "example.py" for name in frames)
    assert frames[-1].startswith(PACKAGE)


def test_each_is_of_the_kind_that_python_programmers_expect() -> None:
    kinds: dict[str, type[Exception]] = {
        "Two shapes that do not broadcast": ValueError,
        "Bitwise operations on floats": TypeError,
        "An index out of bounds": IndexError,
        "Tensors on two devices": RuntimeError,
        "A file that is not there": FileNotFoundError,
        "A truncated file": ValueError,
    }
    for title, kind in kinds.items():
        assert isinstance(error_of(ALL[title]), kind), title


def test_a_broken_plugin_names_itself() -> None:
    with pytest.raises(WeftError) as caught:
        registry.register(object(), "MINE")
    assert caught.value.asked and caught.value.because
    assert "MINE" in str(caught.value)

"""No function in Python runs when an object of ours dies: Python prints and forgets whatever a
signal handler (Ctrl-C, a time limit) raises in a `__del__` or in a callback of a weak reference."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Tensor, data, jit, nn
from weft.autograd import history
from weft.nn.state import get_parameters, safe_load, safe_save

LARGE = 1 << 19  # more than what is taken for small anywhere


def pending(folder: Path) -> Any:
    return Tensor.arange(12) + Tensor([1])


def computed(folder: Path) -> Any:
    return (Tensor.arange(12) + 1).realize()


def large(folder: Path) -> Any:
    return Tensor.ones(LARGE).contiguous().realize()


def reference(folder: Path) -> Any:
    return Tensor.ones(8, device="REF").contiguous().realize()


def written_views(folder: Path) -> Any:
    x = Tensor.arange(12).contiguous().realize()
    view = x[2:5]
    x[0] = 3
    view += 1
    return x, view, x.tolist()


def gradients(folder: Path) -> Any:
    layer = nn.Linear(4, 4)
    layer(Tensor.ones(2, 4)).sum().backward()
    return layer, get_parameters(layer)[0].grad.realize(), history


def optimiser(folder: Path) -> Any:
    return nn.optim.AdamW(get_parameters(nn.Linear(4, 4)), lr=0.1)


def captured(folder: Path) -> Any:
    step = jit(lambda x: x * 2 + 1)
    return step, [step(Tensor.ones(5).realize()) for _ in range(3)]


def shards(folder: Path) -> Any:
    return Tensor.ones(LARGE, device="REF").shard(("REF:1", "REF:2"), axis=0).realize()


def taken(folder: Path) -> Any:
    return Tensor.from_dlpack(np.arange(1000.0))


def taken_and_large(folder: Path) -> Any:
    return Tensor(np.arange(float(LARGE))).realize()


def handed_out(folder: Path) -> Any:
    x = Tensor.arange(12).float().realize()
    return x, np.from_dlpack(x), memoryview(x.data())


def stored(folder: Path) -> Any:
    path = folder / "numbers"
    path.write_bytes(bytes(range(100)))
    x = Tensor(path)
    return x, x[:10].tolist(), Tensor([1, 2]).to(f"disk:{folder}/other").realize()


def loaded(folder: Path) -> Any:
    safe_save({"a": Tensor.ones(LARGE)}, folder / "a.safetensors")
    tensors = safe_load(folder / "a.safetensors")
    return tensors, tensors["a"].to("REF").realize()


def loader(folder: Path) -> Any:
    made = data.DataLoader(range(10), batch_size=2)
    return made, list(made)


MAKERS = [
    pending, computed, large, reference, written_views, gradients, optimiser, captured, shards,
    taken, taken_and_large, handed_out, stored, loaded, loader,
]  # fmt: skip


def calls_at_death(make: Callable[[Path], Any], folder: Path) -> list[str]:
    """The functions in Python that run when what is made dies, also as a part of a cycle."""
    called: list[str] = []

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            called.append(f"{frame.f_code.co_name} in {frame.f_code.co_filename}")

    held = [make(folder)]
    held.append(held)
    gc.collect()
    before = sys.getprofile()
    sys.setprofile(note)
    held.pop(0)
    del held
    gc.collect()
    sys.setprofile(before)
    return called


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_no_python_runs_at_the_death_of(make: Callable[[Path], Any], tmp_path: Path) -> None:
    if make in (stored, loaded):
        pytest.importorskip("weft_disk", reason="it stores files")
    calls_at_death(make, tmp_path)  # what is made once in a process
    assert calls_at_death(make, tmp_path) == []


def test_no_python_runs_where_capsules_are_consumed() -> None:
    """A capsule dies within the call that consumes it."""
    x = Tensor.arange(12).float().realize()
    ours: list[str] = []

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            ours.append(frame.f_code.co_name)

    for _ in range(2):
        producer = Holder(x.__dlpack__())
        ours.clear()
        sys.setprofile(note)
        array = np.from_dlpack(producer)
        sys.setprofile(None)
    assert array.tolist() == x.tolist()
    assert set(ours) <= {"__dlpack__", "__dlpack_device__"}


class Holder:
    """A producer that gives a capsule which is there."""

    def __init__(self, capsule: Any) -> None:
        self.capsules = [capsule]

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsules.pop()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

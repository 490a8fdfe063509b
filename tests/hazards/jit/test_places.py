"""Captured functions over several devices, and over files."""

from helpers.jit_comparison import CALLS, both, numbers
from weft import Device, Tensor, dtypes


def test_copies_between_devices():
    here = Device.DEFAULT if hasattr(Device, "DEFAULT") else Tensor([1.0]).device
    other = f"{here.partition(':')[0]}:1"

    def program(wrap):
        @wrap
        def step(x):
            return (x + 1).to(other) * 2, (x.to(other) + 3).to(here)

        return [step(Tensor(numbers(4, seed=i))) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_sharded_tensors():
    here = Tensor([1.0]).device.partition(":")[0]
    devices = (f"{here}:1", f"{here}:2")

    def program(wrap):
        w = Tensor(numbers(4, 4)).shard(devices, axis=0).realize()
        step = wrap(lambda x: (x @ w).relu() + 1)
        found = []
        for i in range(CALLS):
            found.append(step(Tensor(numbers(2, 4, seed=i)).shard(devices).realize()))
        return found

    both(program, CALLS - 2)


def test_files(tmp_path):
    path = tmp_path / "numbers.bin"
    path.write_bytes(numbers(8).tobytes())

    def program(wrap):
        stored = Tensor(path).bitcast(dtypes.float32)
        step = wrap(lambda x: x + stored.to(x.device))
        return [step(Tensor(numbers(8, seed=i))) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_files_that_change(tmp_path):
    path = tmp_path / "numbers.bin"

    def program(wrap):
        path.write_bytes(numbers(8).tobytes())

        @wrap
        def step(x):
            return x + (Tensor(path).to(x.device).bitcast(dtypes.float32) * 2).realize()

        found = []
        for i in range(CALLS):
            found.append(step(Tensor(numbers(8))) * 1)
            found[-1].realize()
            if i > 2:
                with open(path, "r+b") as file:
                    file.write(numbers(8, seed=i).tobytes())
        return found

    both(program, CALLS - 2)

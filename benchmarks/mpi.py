"""Collectives and training steps over ranks, beside mpi4py and PyTorch in the same run.

    mpirun -n 2 python benchmarks/mpi.py [--repeat 10] [--models gpt2 resnet18] [--only TABLE]

Each figure is the shortest of some repetitions on rank 0. Every rank computes with one thread. A
step is forward, backward and SGD on one batch. It runs in one process while the other ranks sleep,
on all ranks with the same batch in parts (strong scaling), and with a whole batch on each (weak
scaling). PyTorch runs the same models by DistributedDataParallel with gloo, where it is installed.

The last table says where the time of a step on all ranks goes: a step on a part of the batch in one
process while the others sleep, the same in all processes at once without an exchange, and the step
with exchanges. These are awaited at once, or go on while kernels run; both steps take turns.

Batch normalisation of weft uses the whole batch, as in one process: it exchanges values in each
layer. That of DistributedDataParallel uses the part of its rank.
"""

import argparse
import os
import statistics
import tempfile
import time
from contextlib import contextmanager

os.environ.setdefault("WEFT_CPU_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from mpi4py import MPI

import weft
from weft import Device, Tensor, jit, nn
from weft.nn import parallel
from weft_mpi.exchange import Exchange

try:
    import torch
except ImportError:
    torch = None

WORLD = MPI.COMM_WORLD
SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 22)


def fastest(call, repeat):
    """The shortest time of a call that all ranks make together."""
    for _ in range(3):
        call()
    times = []
    for _ in range(repeat):
        WORLD.Barrier()
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def alone(make, repeat):
    """The shortest time of a call on rank 0, while the others sleep. make: makes what is called."""
    found = None
    if WORLD.rank == 0:
        call = make()
        for _ in range(3):
            call()
        found = []
        for _ in range(repeat):
            started = time.perf_counter()
            call()
            found.append(time.perf_counter() - started)
        found = min(found)
    done = WORLD.Ibarrier()
    while not done.Test():
        time.sleep(0.005)
    return found


# ---- all-reduces -------------------------------------------------------------------------------


def all_reduces(mesh, repeat):
    """All-reduces of float32: in a replay of `jit`, and by mpi4py on arrays."""
    ranks = WORLD.size
    for size in SIZES:
        given, got = np.ones(size, np.float32), np.empty(size, np.float32)
        plain = fastest(lambda given=given, got=got: WORLD.Allreduce(given, got), repeat)
        request = WORLD.Allreduce_init(given, got)

        def persistent(request=request):
            request.Start()
            request.Wait()

        again = fastest(persistent, repeat)
        request.Free()
        x = Tensor.from_local(Tensor(given), mesh, axis=0).realize()
        total = jit(lambda x, size=size: x.reshape(ranks, size).sum(axis=0))
        ours = fastest(lambda total=total, x=x: total(x), repeat)
        yield size * 4, ours, plain, again


# ---- models, on the modules of weft or of PyTorch ------------------------------------------------


def gpt2(lib):
    """One block of the smallest GPT-2: 768 features, 12 heads. It reads (batch, tokens, 768)."""

    class Block(lib.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = lib.LayerNorm(768), lib.LayerNorm(768)
            self.into, self.out = lib.Linear(768, 2304), lib.Linear(768, 768)
            self.wide, self.narrow = lib.Linear(768, 3072), lib.Linear(3072, 768)
            self.act = lib.GELU()

        def forward(self, x):
            batch, length, _ = x.shape
            split = self.into(self.norm1(x)).reshape(batch, length, 3, 12, 64)
            query, key, value = (split[:, :, i].transpose(1, 2) for i in range(3))
            seen = lib.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(batch, length, 768))
            return x + self.narrow(self.act(self.wide(self.norm2(x))))

    return Block()


def resnet18(lib):
    """ResNet-18. It reads (batch, 3, side, side)."""

    def convolution(before, width, kernel, stride):
        inner = lib.Conv2d(before, width, kernel, stride, kernel // 2, bias=False)
        return lib.Sequential(inner, lib.BatchNorm2d(width))

    class Block(lib.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.first = convolution(before, width, 3, stride)
            self.second = convolution(width, width, 3, 1)
            changes = before != width
            self.short = convolution(before, width, 1, stride) if changes else lib.Identity()
            self.act = lib.ReLU()

        def forward(self, x):
            return self.act(self.second(self.act(self.first(x))) + self.short(x))

    blocks, before = [], 64
    for width in (64, 128, 256, 512):
        for number in range(2):
            blocks.append(Block(before, width, 2 if width > 64 and not number else 1))
            before = width
    return lib.Sequential(
        convolution(3, 64, 7, 2), lib.ReLU(), lib.MaxPool2d(3, 2, 1), *blocks,
        lib.AdaptiveAvgPool2d(1), lib.Flatten(), lib.Linear(512, 1000),
    )  # fmt: skip


MODELS = {"gpt2": (gpt2, (4, 128, 768)), "resnet18": (resnet18, (8, 3, 64, 64))}
"""By name: what makes a model, and the shape of its batch."""


# ---- steps ---------------------------------------------------------------------------------------


def weft_step(make, shape, mesh=None):
    """A step of weft on one batch of this shape: in parts on a mesh, or in one process."""
    Tensor.manual_seed(0)
    model = make(nn)
    net = model if mesh is None else parallel.DataParallel(model, mesh)
    x = Tensor.randn(*shape).realize()
    if mesh is not None:
        x = x.shard(mesh, 0).realize()
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.01)

    @jit
    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    def run():
        with Tensor.train():
            step(x)

    return run


def torch_step(make, shape, ranks=1):
    """A step of PyTorch on the part that this rank has of a batch of this shape."""
    torch.manual_seed(0)
    model = make(torch.nn)
    if ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    x = torch.randn(shape[0] // ranks, *shape[1:])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def run():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return run


def join_gloo():
    """Make the ranks of MPI those of PyTorch."""
    torch.set_num_threads(1)
    path = WORLD.bcast(tempfile.mktemp(prefix="gloo-") if WORLD.rank == 0 else None)
    store = torch.distributed.FileStore(path, WORLD.size)
    torch.distributed.init_process_group(
        "gloo", store=store, rank=WORLD.rank, world_size=WORLD.size
    )


def steps(name, mesh, repeat):
    """(library, seconds of one process, strong scaling, weak scaling) of each library."""
    make, shape = MODELS[name]
    whole = (shape[0] * WORLD.size, *shape[1:])
    one = alone(lambda: weft_step(make, shape), repeat)
    scaled = [fastest(weft_step(make, each, mesh), repeat) for each in (shape, whole)]
    yield "weft", one, *scaled
    if torch is not None:
        one = alone(lambda: torch_step(make, shape), repeat)
        scaled = [fastest(torch_step(make, each, WORLD.size), repeat) for each in (shape, whole)]
        yield "PyTorch", one, *scaled


# ---- where the time of a step goes ---------------------------------------------------------------


@contextmanager
def awaited_at_once():
    """Make steps whose exchanges end before the next kernel starts."""
    original = Exchange.starter
    Exchange.starter = lambda self, handles, overlaps=True: original(self, handles, False)
    try:
        yield
    finally:
        Exchange.starter = original


def in_turns(calls, repeat):
    """The times of calls that all ranks make together, one after the other, by call."""
    times = [[] for _ in calls]
    for _ in range(repeat):
        for call, found in zip(calls, times):
            WORLD.Barrier()
            started = time.perf_counter()
            call()
            found.append(time.perf_counter() - started)
    return times


def parts_of_a_step(name, mesh, repeat):
    """Seconds of a part of the batch: in one process alone, and on all ranks at once; then all the
    times of a step with exchanges that are awaited at once, and that overlap."""
    make, shape = MODELS[name]
    part = (shape[0] // WORLD.size, *shape[1:])
    one = alone(lambda: weft_step(make, part), repeat)
    together = fastest(weft_step(make, part), repeat)
    with awaited_at_once():
        waiting = weft_step(make, shape, mesh)
        for _ in range(4):
            waiting()
    overlapping = weft_step(make, shape, mesh)
    for _ in range(4):
        overlapping()
    return one, together, *in_turns((waiting, overlapping), 2 * repeat)


def main():
    """Print all lines on rank 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--only", choices=("all-reduces", "steps", "parts"))
    asked = parser.parse_args()
    mesh = Device.mesh(("data", WORLD.size)) if Device["MPI"] else None
    peer = f"PyTorch {torch.__version__}" if torch else "without PyTorch"
    say(f"{WORLD.size} ranks, {MPI.get_vendor()[0]}, {peer}, weft {weft.__version__}, {load()}")
    if asked.only in (None, "all-reduces"):
        print_all_reduces(mesh, 4 * asked.repeat)
    if asked.only in (None, "steps"):
        print_steps(asked.models, mesh, asked.repeat)
    if asked.only in (None, "parts"):
        print_parts(asked.models, mesh, asked.repeat)


def say(line):
    """Print a line on rank 0."""
    if WORLD.rank == 0:
        print(line, flush=True)


def load():
    """How busy the machine is."""
    average = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return f"load average {average} on {os.cpu_count()} processors"


def row(*cells):
    """A line of a table: texts, and numbers with the decimals that follow from their size."""
    texts = (
        each if isinstance(each, str) else f"{each:.{1 if each >= 10 else 2}f}" for each in cells
    )
    return "| " + " | ".join(texts) + " |"


def print_all_reduces(mesh, repeat):
    """The table of all-reduces."""
    say(
        row("all-reduce", "weft us", "mpi4py us", "mpi4py, persistent us") + "\n" + "|---" * 4 + "|"
    )
    for nbytes, *times in all_reduces(mesh, repeat):
        say(row(f"{nbytes} bytes", *[each * 1e6 for each in times]))


def print_steps(models, mesh, repeat):
    """The table of training steps, beside PyTorch."""
    if torch is not None:
        join_gloo()
    heads = ("step", "one process ms", "same batch on all ms", "speed-up", "a batch on each ms",
             "efficiency")  # fmt: skip
    say("\n" + row(*heads) + "\n" + "|---" * len(heads) + "|")
    for name in models:
        for library, one, strong, weak in steps(name, mesh, repeat):
            if one is not None:
                cells = (one * 1e3, strong * 1e3, one / strong, weak * 1e3, one / weak)
                say(row(f"{name}, {library}", *cells))
    if torch is not None:
        torch.distributed.destroy_process_group()


def print_parts(models, mesh, repeat):
    """The table of the parts of a step."""
    heads = ("step", "part of the batch, one process ms", "in all processes ms",
             "exchanges awaited at once ms: shortest", "median", "overlapping ms: shortest",
             "median", "median of the ratios", "load")  # fmt: skip
    say("\n" + row(*heads) + "\n" + "|---" * len(heads) + "|")
    for name in models:
        one, together, waiting, overlapping = parts_of_a_step(name, mesh, repeat)
        if one is not None:
            times = (
                f(each) * 1e3 for each in (waiting, overlapping) for f in (min, statistics.median)
            )
            ratio = statistics.median(a / b for a, b in zip(waiting, overlapping))
            say(row(name, one * 1e3, together * 1e3, *times, ratio, load()))


if __name__ == "__main__":
    main()

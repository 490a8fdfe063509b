"""Collectives and data-parallel steps over ranks, beside loops of mpi4py in the same run.

    mpirun -n 2 python benchmarks/mpi.py

Each line is the shortest of 40 repetitions on rank 0. Every rank computes with one thread.
"""

import os
import time

os.environ.setdefault("WEFT_CPU_THREADS", "1")

import numpy as np
from mpi4py import MPI

from weft import Device, Tensor, jit, nn
from weft.nn import parallel

WORLD = MPI.COMM_WORLD


def fastest(call, repeat=40):
    """The shortest time of a call that all ranks make together."""
    for _ in range(4):
        call()
    times = []
    for _ in range(repeat):
        WORLD.Barrier()
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def all_reduces(mesh):
    """All-reduces of float32: a replay of `jit`, and a call of mpi4py on arrays."""
    for size in (1 << 10, 1 << 14, 1 << 18, 1 << 22):
        given, got = np.ones(size, np.float32), np.empty(size, np.float32)
        plain = fastest(lambda given=given, got=got: WORLD.Allreduce(given, got))
        x = Tensor.from_local(Tensor(given), mesh, axis=0).realize()
        total = jit(lambda x, size=size: x.reshape(WORLD.size, size).sum(axis=0))
        ours = fastest(lambda total=total, x=x: total(x).realize())
        yield f"all-reduce of {size * 4:>9} bytes", ours, plain


def training_steps(mesh):
    """Steps of data-parallel training, and of one process with the same whole batch."""
    for name, layout in (("ranks", mesh), ("one process", None)):
        Tensor.manual_seed(0)
        model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
        x, target = Tensor.randn(256, 512).realize(), Tensor.randn(256, 512).realize()
        net = model
        if layout is not None:
            net = parallel.DataParallel(model, layout)
            x, target = x.shard(layout, 0).realize(), target.shard(layout, 0).realize()
        optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.01)

        @jit
        def step(x, target, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (net(x) - target).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        with Tensor.train():
            yield name, fastest(lambda step=step, x=x, t=target: step(x, t).realize())


def main():
    """Print all lines on rank 0."""
    mesh = Device.mesh(("data", WORLD.size)) if Device["MPI"] else None
    say = print if WORLD.rank == 0 else lambda *_: None
    say(f"{WORLD.size} ranks, {MPI.get_vendor()[0]}")
    for name, ours, plain in all_reduces(mesh):
        say(f"{name}: weft {ours * 1e6:9.1f} us, mpi4py {plain * 1e6:9.1f} us")
    steps = dict(training_steps(mesh))
    for name, seconds in steps.items():
        say(f"training step, {name}: {seconds * 1e3:.2f} ms")


if __name__ == "__main__":
    main()

"""Planned ranks: the cost of exchanges by a model, and a program as one rank of many."""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from weft.plugin import Estimates


@pytest.fixture(scope="module")
def link_model():
    return pytest.importorskip("weft_mpi.link_model")


def test_a_link_is_read_from_text(link_model):
    link = link_model.Link.parse("50GB/s,2us")
    assert link == link_model.Link(50e9, 2e-6)
    assert link_model.Link.parse("1.5MB/s,10ns") == link_model.Link(1.5e6, 1e-8)
    with pytest.raises(ValueError, match="bandwidth and a latency"):
        link_model.Link.parse("fast")


@pytest.mark.parametrize("ranks", [3, 4, 8, 64])
def test_a_large_all_reduce_costs_what_the_ring_costs(link_model, ranks):
    """Patarasu and Yuan (2009): 2 (n - 1) messages of 1 / n of the value."""
    link, nbytes = link_model.Link(10e9, 2e-6), 1e9
    ring = 2 * (ranks - 1) * 2e-6 + 2 * (ranks - 1) / ranks * nbytes / 10e9
    assert link.exchange("allreduce", ranks, nbytes) == pytest.approx(ring)
    assert link_model.sent_bytes("allreduce", ranks, nbytes) == 2 * (ranks - 1) / ranks * nbytes


def test_a_small_all_reduce_takes_a_logarithmic_number_of_messages(link_model):
    """Thakur, Rabenseifner and Gropp (2005), recursive doubling."""
    link = link_model.Link(10e9, 2e-6)
    assert link.exchange("allreduce", 64, 4) == pytest.approx(6 * (2e-6 + 4 / 10e9))
    assert link.exchange("allreduce", 1, 4) == 0
    assert link.exchange("broadcast", 8, 1e9) < 3 * link.message(1e9)


@pytest.mark.parametrize("stage, gigabytes", [(0, 120), (1, 31.4), (2, 16.6), (3, 1.88)])
def test_the_memory_of_zero_is_that_of_its_paper(link_model, stage, gigabytes):
    """Rajbhandari et al. (2020), figure 1: 7.5 B parameters, 64 devices, Adam, 16-bit floats."""
    sizes = {"weight": 2, "gradient": 2, "state": 12}
    found = link_model.model_state_bytes(7_500_000_000, 64, stage, **sizes)
    assert found / 1e9 == pytest.approx(gigabytes, rel=5e-3)


PROGRAM = """
    from weft import Device, Tensor, nn
    mesh = Device.mesh(("data", {ranks}))
    model = nn.Linear(64, 64, bias=False)
    net = nn.parallel.{way}(model, mesh)
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.1)
    with Tensor.train():
        for _ in range(2):
            optimizer.zero_grad()
            net(Tensor.ones(16, 64)).square().mean().backward()
            optimizer.step()
    print("parameters", model.weight.local().numel())
"""


def plan(tmp_path, ranks, way, *more):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM).format(ranks=ranks, way=way))
    code = (
        "import argparse, sys; from weft_mpi import plan; parser = argparse.ArgumentParser(); "
        "plan.add_arguments(parser); plan.run(parser.parse_args(sys.argv[1:]))"
    )
    options = [
        "--ranks",
        str(ranks),
        "--link",
        "1GB/s,10us",
        "--trace",
        str(tmp_path / "t.json"),
        *more,
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *options, str(path)],
        env=os.environ | {"WEFT_DEVICE": "REF"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    return done.stdout, [event for event in events if event["tid"] == "exchanges"], events


def test_a_rank_of_data_parallel_training_reduces_its_gradients(tmp_path):
    text, exchanges, _ = plan(tmp_path, 8, "DataParallel")
    assert "rank 0 of 8" in text and "parameters 4096" in text
    assert [event["name"] for event in exchanges] == ["allreduce of 16384 bytes among 8"] * 2
    seconds = 3 * (10e-6 + 16384 / 1e9)
    assert exchanges[0]["dur"] == pytest.approx(seconds * 1e6)
    assert exchanges[0]["args"]["sent bytes"] == 2 * 7 / 8 * 16384


def test_a_rank_of_fsdp_holds_a_part_of_the_parameters(tmp_path):
    text, exchanges, _ = plan(tmp_path, 8, "FullySharded")
    assert "parameters 512" in text
    kinds = [event["name"].split()[0] for event in exchanges]
    assert kinds.count("reduce_scatter") == 2 and "allgather" in kinds


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_link_follows_from_the_times_of_two_all_reduces(link_model, ranks):
    path = Path(__file__).with_name("compare_plan.py")
    spec = importlib.util.spec_from_file_location("compare_plan", path)
    compare_plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare_plan)
    link = link_model.Link(2e9, 5e-5)
    sizes = (compare_plan.SMALL, compare_plan.LARGE)
    small, large = (link.exchange("allreduce", ranks, 4 * size) for size in sizes)
    found = link_model.Link.parse(compare_plan.link_of(ranks, small, large))
    assert found.bandwidth == pytest.approx(2e9, rel=0.05)
    assert found.latency == pytest.approx(5e-5, rel=0.05)


def test_kernels_take_longer_where_ranks_share_a_processor(tmp_path):
    *_, alone = plan(tmp_path, 4, "DataParallel", "--rates", "1GFLOP/s,1GB/s,1ms")
    shared = ("--rates", "1GFLOP/s,1GB/s,1ms", "--ranks-per-processor", "2")
    *_, crowded = plan(tmp_path, 4, "DataParallel", *shared)
    kernels = [(a["dur"], b["dur"]) for a, b in zip(alone, crowded) if a["tid"] == "kernels"]
    assert kernels and all(b == pytest.approx(2 * a) for a, b in kernels)


def test_an_exchange_that_was_started_goes_on_while_kernels_run():
    planned_rank = pytest.importorskip("weft_mpi.planned_rank")
    link_model = pytest.importorskip("weft_mpi.link_model")
    rank = planned_rank.PlannedProcess(2, link_model.Link(1e9, 0.0))
    rank.add("before", 1.0)
    first = rank.overlapped(lambda: rank.add("first", 3.0, 8.0))
    second = rank.overlapped(lambda: rank.add("second", 2.0, 8.0))
    rank.add("kernel", 1.0)
    first.wait()
    assert rank.now == 4.0
    rank.add("kernel", 5.0)
    second.wait()
    assert rank.now == 9.0
    rank.add("blocking", 1.0, 8.0)
    assert [step.start for step in rank.steps] == [0.0, 1.0, 4.0, 1.0, 4.0, 9.0]
    assert "with overlap" in rank.report() and rank.now == 10.0


def test_the_time_of_a_kernel_is_the_longer_one_of_arithmetic_and_memory():
    kernel_model = pytest.importorskip("weft_mpi.kernel_model")
    rates = kernel_model.Rates.parse("60TFLOP/s,3TB/s,2us")
    assert rates == kernel_model.Rates(60e12, 3e12, 2e-6)
    assert rates.seconds(Estimates(ops=6 * 10**12, bytes=3)) == pytest.approx(0.100002)
    assert rates.seconds(Estimates(ops=6, bytes=3 * 10**12)) == pytest.approx(1.000002)
    with pytest.raises(ValueError, match="rates of a device"):
        kernel_model.Rates.parse("fast")


@pytest.mark.parametrize("way", ["DataParallel", "FullySharded"])
def test_a_plan_by_estimates_runs_no_kernel(tmp_path, way):
    """It has the kernels, the exchanges and the memory of a plan that runs them."""
    measured, exchanges, events = plan(tmp_path, 4, way)
    estimated, same, others = plan(tmp_path, 4, way, "--rates", "1GFLOP/s,1GB/s,1ms")
    assert "measured here" in measured and "by their estimates" in estimated
    assert [each["name"] for each in events] == [each["name"] for each in others]
    assert [each["dur"] for each in exchanges] == [each["dur"] for each in same]
    peak = [line for line in measured.splitlines() if "peak memory" in line]
    assert peak == [line for line in estimated.splitlines() if "peak memory" in line]
    kernels = [each["dur"] for each in others if each["tid"] == "kernels"]
    assert kernels and all(1000 < seconds < 2000 for seconds in kernels)


MEASURED = """
    from weft_mpi.exchange import Exchange
    run, found = Exchange.__call__, []

    def noting(self, outputs, inputs):
        kind = self.collective.kind
        found.append(f"{kind} of {max(self.sizes)} bytes among {len(self.ranks)}")
        run(self, outputs, inputs)

    Exchange.__call__ = noting
"""


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("way", ["DataParallel", "FullySharded"])
def test_a_plan_has_the_exchanges_of_the_ranks(ranks, tmp_path, way, n):
    _, exchanges, _ = plan(tmp_path, n, way, "--rates", "1GFLOP/s,1GB/s,1ms")
    program = MEASURED + PROGRAM.format(ranks=n, way=way) + "    print('found', *found, sep=';')"
    outcome = ranks(n, program)
    planned = ";".join(["found", *(each["name"] for each in exchanges)])
    assert [line for line in outcome.lines if line.startswith("found")] == [planned] * n

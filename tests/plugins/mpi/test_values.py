"""Sharded values over ranks: every rank gets what one process computes."""

import json

import numpy as np
import pytest

PROGRAM = """
    import json
    x = (Tensor.arange(60).reshape(6, 10).float() / 7).shard(mesh, data=0)
    y = (Tensor.arange(60).reshape(6, 10).float() - 30).shard(mesh, P(None, "data"))
    w = (Tensor.arange(20).reshape(10, 2).float() / 3).shard(mesh)
    found = {
        "product": x @ w,
        "sum": x.sum(),
        "columns": x.sum(axis=0),
        "rows": x.sum(axis=1),
        "max": y.max(axis=1),
        "mixed": x + y,
        "resharded": x.shard(mesh, data=1) * 2,
        "transposed": x.T @ y,
        "gathered": x.shard(mesh),
        "integers": (x * 10).int().sum(axis=0),
        "any": (x > 8).any(axis=0),
        "flipped": x.flip(0)[1:4],
        "scattered": x.sum(axis=0).shard(mesh, data=0),
    }
    print(json.dumps([rank, {name: value.tolist() for name, value in found.items()}]))
"""


def expected():
    x = np.arange(60, dtype=np.float32).reshape(6, 10) / np.float32(7)
    y = np.arange(60, dtype=np.float32).reshape(6, 10) - 30
    w = np.arange(20, dtype=np.float32).reshape(10, 2) / np.float32(3)
    return {
        "product": x @ w, "sum": x.sum(), "columns": x.sum(0), "rows": x.sum(1),
        "max": y.max(1), "mixed": x + y, "resharded": x * 2, "transposed": x.T @ y,
        "gathered": x, "integers": (x * 10).astype(int).sum(0), "any": (x > 8).any(0),
        "flipped": x[::-1][1:4], "scattered": x.sum(0),
    }  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_rank_gets_the_values_of_one_process(ranks, n):
    outcome = ranks(n, PROGRAM)
    answers = dict(json.loads(line) for line in outcome.lines)
    assert sorted(answers) == list(range(n))
    for values in answers.values():
        for name, value in expected().items():
            np.testing.assert_allclose(values[name], value, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "bool"])
def test_reductions_of_other_dtypes(ranks, dtype):
    outcome = ranks(
        2,
        f"""
        from weft import dtypes
        x = Tensor([[1, 0, 3], [2, 0, 5]]).cast(dtypes.{dtype}).shard(mesh, data=0)
        print(x.max(axis=0).float().tolist(), x.max(axis=0).dtype.name)
        """,
    )
    largest = "[1.0, 0.0, 1.0]" if dtype == "bool" else "[2.0, 0.0, 5.0]"
    assert all(line.startswith(largest) for line in outcome.lines) and len(outcome.lines) == 2


def test_sums_of_half_floats(ranks):
    outcome = ranks(
        3,
        """
        from weft import dtypes
        for dtype in (dtypes.float16, dtypes.bfloat16):
            parts = Tensor.from_local(Tensor([1.5 * (rank + 1), 0.25]).cast(dtype), mesh, axis=0)
            print(parts.reshape(size, 2).sum(axis=0).float().tolist())
        """,
    )
    assert outcome.lines == ["[9.0, 0.75]"] * 6


def test_parts_of_a_tensor(ranks):
    outcome = ranks(
        2,
        """
        x = Tensor.from_local(Tensor([rank, 10 * rank]), mesh, axis=0)
        print(rank, x.tolist(), x.local().tolist(), x.local().device, x.full_tensor().tolist())
        u = Tensor.arange(5).shard(mesh, data=0)
        print(rank, u.local().tolist(), (u + 1).sum().item())
        """,
    )
    assert outcome.lines == [
        "0 [0, 0, 1, 10] [0, 0] MPI [0, 0, 1, 10]",
        "0 [0, 1, 2] 15",
        "1 [0, 0, 1, 10] [1, 10] MPI:1 [0, 0, 1, 10]",
        "1 [3, 4] 15",
    ]


def test_copies_between_ranks(ranks):
    outcome = ranks(
        3,
        """
        x = Tensor([1.0, 2.0]).to("MPI:0") * 2
        y = (x.to("MPI:2") + 1).realize()
        if rank == 2:
            print(y.tolist())
        z = y.shard(mesh.devices)
        print(rank, z.tolist())
        """,
    )
    assert outcome.lines == ["0 [3.0, 5.0]", "1 [3.0, 5.0]", "2 [3.0, 5.0]", "[3.0, 5.0]"]


def test_reading_a_value_of_another_rank_is_an_error(ranks):
    outcome = ranks(
        2,
        """
        from weft import WeftError
        x = (Tensor([1.0]).to("MPI:1") * 2).realize()
        try:
            print(rank, x.tolist())
        except WeftError as error:
            print(rank, error.because)
        """,
    )
    assert outcome.lines == ["0 a rank reads its own memory only", "1 [2.0]"]


def test_copies_through_a_device_of_the_process(ranks):
    outcome = ranks(
        2,
        """
        x = Tensor.arange(6).shard(mesh).realize()
        y = Tensor.arange(6).shard(mesh, data=0).realize()
        for value in (x, y):
            print(value.to("REF").to(mesh.devices).tolist())
            print(value[1:4].to("REF").shard(mesh, data=0).tolist())
            print((value.to("REF") + 1).to(mesh.devices).tolist())
        state = Tensor.zeros(6).int().contiguous().shard(mesh, data=0).realize()
        print(state.assign(y.to("REF").shard(mesh, data=0)).tolist())
        """,
    )
    whole, window, more = "[0, 1, 2, 3, 4, 5]", "[1, 2, 3]", "[1, 2, 3, 4, 5, 6]"
    assert outcome.lines == sorted(2 * [whole] + 4 * [whole, window, more])


def test_captured_functions_exchange_values(ranks):
    outcome = ranks(
        2,
        """
        weight = Tensor.ones(4, 3).shard(mesh).realize()

        @jit
        def step(x):
            return (x @ weight).sum(axis=0), x.shard(mesh, data=1) + 1

        for number in range(5):
            x = (Tensor.arange(8).reshape(2, 4).float() + number).shard(mesh, data=0).realize()
            total, moved = step(x)
            print(total.tolist(), moved.tolist()[1])
        """,
    )
    assert outcome.lines == sorted(
        f"{[28.0 + 8 * n] * 3} {[5.0 + n, 6.0 + n, 7.0 + n, 8.0 + n]}"
        for n in range(5)
        for _ in range(2)
    )
    assert "not captured" not in outcome.err

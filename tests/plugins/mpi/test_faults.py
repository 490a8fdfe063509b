"""Faults of one rank: all ranks end soon, and say which rank it was, and why."""

import pytest


def test_an_exception_ends_all_ranks_with_its_traceback(ranks):
    outcome = ranks(
        3,
        """
        x = Tensor([1.0, 1.0, 1.0]).shard(mesh, data=0).realize()
        if rank == 1:
            raise ValueError("no such file here")
        print((x + 1).sum().item())
        """,
        fails=True,
    )
    assert "rank 1 of 3 failed" in outcome.err
    assert "no such file here" in outcome.err and "program.py" in outcome.err


def test_an_exit_code_ends_all_ranks(ranks):
    outcome = ranks(2, "if rank: sys.exit(3)\nTensor([1.0, 2.0]).shard(mesh, data=0).sum().item()",
                    fails=True)  # fmt: skip
    assert "rank 1 of 2 failed" in outcome.err and "it ended with 3" in outcome.err


def test_a_killed_rank_ends_all_ranks(ranks):
    outcome = ranks(
        3,
        """
        import signal
        x = Tensor([1.0, 1.0, 1.0]).shard(mesh, data=0)
        x.sum().item()
        if rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        print((x + 1).sum().item())
        """,
        fails=True,
    )
    assert "rank 2" in outcome.err


def test_a_stopped_rank_ends_all_ranks(ranks):
    outcome = ranks(
        2,
        """
        import signal
        x = Tensor([1.0, 1.0]).shard(mesh, data=0)
        x.sum().item()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        print((x + 1).sum().item())
        """,
        fails=True,
    )
    assert "rank 1 of 2 has stopped" in outcome.err


def test_a_rank_that_does_not_answer_ends_all_ranks(ranks):
    outcome = ranks(
        2,
        """
        import time
        def endless():
            while True:
                time.sleep(0.1)
        x = Tensor([1.0, 1.0]).shard(mesh, data=0)
        x.sum().item()
        if rank == 1:
            endless()
        print((x + 1).sum().item())
        """,
        fails=True,
        WEFT_MPI_TIMEOUT="3",
    )
    assert "rank 1 does not answer" in outcome.err and "endless" in outcome.err


def test_a_slow_rank_is_waited_for(ranks):
    outcome = ranks(
        2,
        """
        import time
        x = Tensor([1.0, 1.0]).shard(mesh, data=0)
        x.sum().item()
        if rank == 1:
            time.sleep(5)
        print((x + 1).sum().item())
        """,
    )
    assert outcome.lines == ["4.0", "4.0"]


def test_a_rank_that_ends_early_is_reported(ranks):
    outcome = ranks(
        2,
        """
        if rank == 0:
            Tensor([1.0, 2.0]).shard(mesh, data=0).sum().item()
        """,
        fails=True,
    )
    assert "the program of rank 1 has ended" in outcome.err


@pytest.mark.parametrize("number", ["rank", "1 + rank"])
def test_schedules_that_differ_are_an_error(ranks, number):
    outcome = ranks(
        2,
        f"""
        x = Tensor([1.0] * 4).shard(mesh, data=0).realize()
        print((x * 3 + {number}).sum().item())
        """,
        fails=True,
    )
    assert "have different schedules" in outcome.err
    assert "on rank 0, and" in outcome.err


def test_programs_that_take_other_branches_are_an_error(ranks):
    outcome = ranks(
        2,
        """
        x = Tensor([1.0] * 4).shard(mesh, data=0).realize()
        y = Tensor([[1.0] * 4] * 4).shard(mesh, data=0).realize()
        x.sum().item(), y.sum(axis=0).tolist()
        print(x.sum().item() if rank == 0 else y.sum(axis=0).tolist())
        """,
        fails=True,
    )
    assert "have different schedules" in outcome.err


def test_ranks_that_wait_for_each_other_are_reported(ranks):
    outcome = ranks(
        2,
        """
        x = Tensor([1.0] * 4).shard(mesh, data=0).realize()
        total = jit(lambda x: x.sum())
        for _ in range(4):
            total(x).item()
        (total(x) if rank == 0 else x.max()).item()
        """,
        fails=True,
    )
    assert "the ranks wait for each other" in outcome.err
    assert "allreduce" in outcome.err and "the schedules of the other ranks" in outcome.err

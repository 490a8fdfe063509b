"""Sharded checkpoints: saved on some ranks, loaded on others, complete or not there."""

import random

LOAD = """
    folder = {folder!r}
    like = {{"x": Tensor.zeros(6, 4).contiguous().shard(mesh, data=0)}}
    found = nn.state.load_sharded(folder, like)["x"]
    print(found.local().shape[0], found.tolist()[0][0] == found.tolist()[5][3] - 23)
"""


def test_a_checkpoint_of_two_ranks_is_loaded_by_three(ranks, tmp_path):
    folder = str(tmp_path / "checkpoint")
    ranks(
        2,
        f"""
        x = Tensor.arange(24).reshape(6, 4).float().shard(mesh, data=0)
        nn.state.save_sharded({{"x": x, "y": x.shard(mesh)}}, {folder!r})
        """,
    )
    assert ranks(3, LOAD.format(folder=folder)).lines == ["2 True"] * 3
    assert ranks(1, LOAD.format(folder=folder)).lines == ["6 True"]


def test_a_rank_that_is_killed_while_saving_leaves_a_complete_checkpoint(ranks, tmp_path):
    folder = str(tmp_path / "checkpoint")
    for seed in range(3):
        delay = random.Random(seed).random() * 0.5
        ranks(
            2,
            f"""
            import signal, threading, time
            x = Tensor.arange(24).reshape(6, 4).float().shard(mesh, data=0)
            nn.state.save_sharded({{"x": x}}, {folder!r})
            if rank == 1:
                end = lambda: (time.sleep({delay}), os.kill(os.getpid(), signal.SIGKILL))
                threading.Thread(target=end, daemon=True).start()
            while True:
                x = (x + 1).realize()
                nn.state.save_sharded({{"x": x}}, {folder!r})
            """,
            fails=True,
        )
        assert ranks(2, LOAD.format(folder=folder)).lines == ["3 True"] * 2

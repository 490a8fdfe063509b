"""Programs that go on without a rank that is lost (ULFM)."""

import pytest

PROGRAM = """
    import signal
    from weft_mpi.recovery import PeerLost, shrink
    folder, kind, was = "checkpoint", {kind!r}, rank

    def start():
        mesh = Device.mesh(("data", current().size))
        x = Tensor.arange(12).float().shard(mesh, data=0)
        if os.path.exists(folder):
            x = nn.state.load_sharded(folder, {{"x": x}})["x"]
        return jit(lambda x: x * 2 - x.sum() / 6), x.realize()

    step, x = start()
    number = 0
    while x.max().item() < 4000:
        try:
            x = step(x).realize()
            number += 1
            if number == 5 and was == 1 and kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if number == 5 and was == 1 and kind == "exception":
                raise ValueError("no such file here")
            nn.state.save_sharded({{"x": x}}, folder)
        except PeerLost as lost:
            print("lost", *lost.ranks, flush=True)
            shrink()
            step, x = start()
    print(current().rank, current().size, x.max().item(), x.min().item())
"""


@pytest.mark.parametrize("kind", ["kill", "exception"])
def test_the_other_ranks_go_on_from_a_checkpoint(ranks, kind):
    options = ("--with-ft", "ulfm")
    outcome = ranks(3, PROGRAM.format(kind=kind), options=options)
    *lost, last = outcome.lines[2:]  # a rank that is told of the loss may not know its number
    assert outcome.lines[:2] == ["0 2 5632.0 -5632.0", "1 2 5632.0 -5632.0"]
    assert last == "lost 1" and lost in (["lost"], ["lost 1"])
    assert ("ValueError: no such file here" in outcome.err) == (kind == "exception")


def test_an_exchange_without_this_option_ends_all_ranks(ranks):
    outcome = ranks(3, PROGRAM.format(kind="kill"), fails=True)
    assert "lost" not in outcome.out

"""Training on 1, 2 and 4 ranks: the same losses, with parameters on all ranks or in parts."""

import json

import pytest

PROGRAM = """
    import json
    from weft.nn import parallel

    class Model(nn.Module):
        def __init__(self):
            self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

        def forward(self, x):
            return self.second(self.first(x).tanh().dropout(0.1))

    Tensor.manual_seed(3)
    model = Model()
    x, target = Tensor.randn(16, 8).realize(), Tensor.randn(16, 4).realize()
    kind = {kind!r}
    net = (parallel.FullySharded if kind == "zero3" else parallel.DataParallel)(model, mesh)
    optimizer = nn.optim.AdamW(nn.state.get_parameters(model), lr=0.05)
    if kind == "zero2":
        parallel.shard_optimizer(optimizer, mesh)
    x, target = x.shard(mesh, data=0).realize(), target.shard(mesh, data=0).realize()

    def step(x, target):
        optimizer.zero_grad()
        for half in range(2 if kind == "accumulated" else 1):
            loss = (net(x) - target).square().mean()
            loss.backward()
        optimizer.step()
        return loss.detach()

    if kind == "jit":
        step = jit(step)
    with Tensor.train():
        losses = [step(x, target).item() for _ in range(4)]
    held = sum(t.local().numel() for t in nn.state.get_parameters(optimizer))
    print(json.dumps([rank, losses, held]))
"""


def run(ranks, n, kind):
    outcome = ranks(n, PROGRAM.replace("{kind!r}", repr(kind)), timeout=300)
    found = sorted(json.loads(line) for line in outcome.lines)
    assert [each[0] for each in found] == list(range(n))
    assert all(each[1] == pytest.approx(found[0][1], rel=1e-6) for each in found)
    return found[0][1], found[0][2]


@pytest.mark.parametrize("kind", ["copies", "accumulated", "zero2", "zero3", "jit"])
def test_the_losses_do_not_depend_on_the_number_of_ranks(ranks, kind):
    expected, whole = run(ranks, 1, kind)
    for n in (2, 4):
        losses, held = run(ranks, n, kind)
        assert losses == pytest.approx(expected, rel=1e-5)
        if kind.startswith("zero"):
            assert held < whole


def test_a_pipeline_has_one_stage_per_rank(ranks):
    outcome = ranks(
        2,
        """
        from weft.nn import parallel
        Tensor.manual_seed(3)
        stages = [nn.Linear(4, 6), nn.Linear(6, 3)]
        x, target = Tensor.randn(8, 4).realize(), Tensor.randn(8, 3).realize()
        pipe = parallel.Pipeline(stages, mesh)
        optimizers = [nn.optim.SGD(nn.state.get_parameters(s), lr=0.1) for s in stages]
        for _ in range(3):
            for each in optimizers:
                each.zero_grad()
            mean = pipe.train_step(x, target, lambda a, b: (a - b).square().mean(), 4)
            for each in optimizers:
                each.step()
            print(f"{mean.shard(mesh.devices).item():.5f}")
        """,
        timeout=300,
    )
    assert len(outcome.lines) == 6
    assert len(set(outcome.lines)) == 3

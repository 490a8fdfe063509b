"""The models of the examples on 1, 2 and 4 ranks: only the line of the mesh differs."""

import json

import pytest

PROGRAM = """
    import json
    sys.path.insert(0, {folder!r})
    import nanogpt
    from models import gpt2, resnet

    F = nn.functional

    def train(make, x, y, wrap):
        Tensor.manual_seed(1)
        model = make()
        net = wrap(model, mesh)
        Tensor.realize(*nn.state.get_parameters(model))
        x, y = x.shard(mesh, data=0), y.shard(mesh, data=0)
        optimizer = nn.optim.AdamW(nn.state.get_parameters(model), lr=1e-3)
        losses = []
        with Tensor.train():
            for _ in range(2):
                optimizer.zero_grad()
                logits = net(x)
                loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        if wrap is parts:
            kept.append([*nn.state.get_parameters(optimizer), *(p.grad for p in optimizer.params)])
        return losses

    def block():
        config = gpt2.Config(features=16, heads=2)
        return nn.Sequential(nn.Embedding(11, 16), gpt2.Block(config), nn.Linear(16, 11))

    def characters():
        return nanogpt.GPT(nanogpt.Config(11, 6, 1, 2, 16))

    Tensor.manual_seed(2)
    text = Tensor.randint(4, 6, low=0, high=11).realize()
    after = Tensor.randint(4, 6, low=0, high=11).realize()
    images, digits = Tensor.randn(4, 1, 4, 4).realize(), Tensor.arange(4).realize()
    kept = []
    copies, parts = nn.parallel.DataParallel, nn.parallel.FullySharded
    found = {{
        "nanogpt": train(characters, text, after, copies),
        "nanogpt in parts": train(characters, text, after, parts),
        "gpt-2 block": train(block, text, after, copies),
        "resnet": train(lambda: resnet.ResNet((2, 4)), images, digits, copies),
    }}
    Tensor.realize(*kept[0])
    held = sum(t.local().numel() * t.dtype.itemsize for t in kept[0])
    print(json.dumps([rank, found, held]))
"""


def run(ranks, n, folder):
    outcome = ranks(n, PROGRAM.format(folder=folder), timeout=600)
    answers = [json.loads(line) for line in outcome.lines]
    assert sorted(each[0] for each in answers) == list(range(n))
    return answers


def test_examples_have_the_losses_of_one_process(ranks, pytestconfig):
    folder = str(pytestconfig.rootpath / "examples")
    ((_, expected, whole),) = run(ranks, 1, folder)
    for n in (2, 4):
        for _, losses, held in run(ranks, n, folder):
            assert losses.keys() == expected.keys()
            for name, values in losses.items():
                assert values == pytest.approx(expected[name], rel=1e-5), name
            assert held < whole / n * 1.1  # parameters, gradients and state of the optimiser

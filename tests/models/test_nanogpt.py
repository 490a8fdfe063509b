"""A small GPT learns, stops and goes on bit by bit, and has the losses that PyTorch has."""

import importlib

import numpy as np
import pytest

from weft import Tensor, nn

nanogpt = importlib.import_module("nanogpt")


def codes(count):
    text = nn.datasets.load_text("zen")
    text = (text * (count // len(text) + 1))[:count]
    alphabet = sorted(set(text))
    return np.array([alphabet.index(each) for each in text], dtype=np.int32), len(alphabet)


def trainer(count=1500, dropout=0.2, layers=2, **options):
    values, size = codes(count)
    config = nanogpt.Config(size, 16, layers, 2, 16, dropout)
    defaults = {"steps": 24, "batch": 8, "warm_up": 4, "evaluate_every": 1000}
    return nanogpt.prepare(config, nanogpt.Options(**{**defaults, **options}), values)


@pytest.mark.parametrize("bf16", [False, True])
def test_resuming_is_bit_exact_with_dropout_and_across_epochs(tmp_path, bf16):
    whole = trainer(bf16=bf16)
    whole.run(24)
    assert len(whole.train) < 13 < 24 and whole.step.replays > 15
    first = trainer(bf16=bf16)
    first.run(13)
    first.save(tmp_path / "run.safetensors")
    Tensor.manual_seed(77)
    second = trainer(seed=5, bf16=bf16)
    second.load(tmp_path / "run.safetensors")
    second.run(24)
    assert first.losses + second.losses == whole.losses
    for (name, one), other in zip(
        whole.model.state_dict().items(), second.model.state_dict().values()
    ):
        assert one.numpy().tobytes() == other.numpy().tobytes(), name
    assert whole.train.state_dict() == second.train.state_dict()


def test_every_part_of_the_saved_state_is_needed(tmp_path):
    first = trainer()
    first.run(6)
    first.save(tmp_path / "run.safetensors")
    losses = []
    for seed in (None, 3):
        second = trainer()
        second.load(tmp_path / "run.safetensors")
        if seed is not None:
            Tensor.manual_seed(seed)
        second.run(10)
        losses.append(second.losses)
    assert losses[0][0] != losses[1][0]


@pytest.mark.parametrize("bf16", [False, True])
def test_the_loss_falls(bf16):
    run = trainer(dropout=0.0, steps=60, learning_rate=1e-2, bf16=bf16)
    run.run(60)
    assert np.mean(run.losses[-5:]) < 0.85 * run.losses[0]
    assert run.evaluate() < run.losses[0]


def test_writing_gives_characters():
    run = trainer(layers=1)
    written = nanogpt.write(run.model, [1, 2], 20)
    assert written[:2] == [1, 2] and len(written) == 22
    assert all(0 <= each < run.model.config.vocabulary for each in written)


def test_the_losses_are_those_of_pytorch_over_100_steps():
    torch = pytest.importorskip("torch")
    from torch.nn import functional as F

    run = trainer(count=3000, dropout=0.0, steps=100, warm_up=10)
    config, options = run.model.config, run.options
    weights = {
        name: torch.tensor(value.numpy(), requires_grad=True)
        for name, value in run.model.state_dict().items()
    }
    batches = []
    copies = trainer(count=3000, dropout=0.0, steps=100).batches
    for _ in range(100):
        x, y = next(copies)
        batches.append((torch.tensor(x.numpy()), torch.tensor(y.numpy())))
    run.run(100)

    def norm(name, x):
        return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])

    def block(name, x):
        batch, length, features = x.shape
        parts = F.linear(norm(f"{name}.norm_1", x), weights[f"{name}.attention.into.weight"])
        query, key, value = (
            part.reshape(batch, length, config.heads, -1).transpose(1, 2)
            for part in parts.chunk(3, dim=-1)
        )
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        seen = seen.transpose(1, 2).reshape(batch, length, features)
        x = x + F.linear(seen, weights[f"{name}.attention.out.weight"])
        wide = F.gelu(F.linear(norm(f"{name}.norm_2", x), weights[f"{name}.wide.weight"]))
        return x + F.linear(wide, weights[f"{name}.narrow.weight"])

    optimizer = torch.optim.AdamW(
        list(weights.values()), lr=options.learning_rate, betas=(0.9, 0.95),
        weight_decay=options.weight_decay,
    )  # fmt: skip
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, run.rate)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        hidden = weights["characters.weight"][x] + weights["places.weight"][: x.shape[1]]
        for number in range(config.layers):
            hidden = block(f"blocks.{number}", hidden)
        logits = F.linear(norm("norm", hidden), weights["head.weight"])
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten().long())
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    assert run.losses == pytest.approx(losses, rel=1e-5)

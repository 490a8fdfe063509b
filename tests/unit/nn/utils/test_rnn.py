"""Sequences of several lengths, and recurrent networks over them, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.utils import rnn

CHANCE = np.random.default_rng(0)
SEQUENCES = [CHANCE.standard_normal((length, 3)).astype(np.float32) for length in (2, 4, 1, 4)]


def both():
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs = torch.nn.utils.rnn
    return torch, theirs, [torch.tensor(x) for x in SEQUENCES], [Tensor(x) for x in SEQUENCES]


def close(one, other) -> None:
    np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_and_padding_are_pytorchs(batch_first: bool) -> None:
    _, theirs, expected, given = both()
    for side in ("right", "left"):
        close(rnn.pad_sequence(given, batch_first, 0.5, side),
              theirs.pad_sequence(expected, batch_first, 0.5, side))  # fmt: skip
    lengths = [each.shape[0] for each in given]
    packs = [
        module.pack_padded_sequence(
            module.pad_sequence(values, batch_first), lengths, batch_first, enforce_sorted=False
        )
        for module, values in ((rnn, given), (theirs, expected))
    ]
    close(packs[0].data, packs[1].data)
    assert packs[0].batch_sizes.tolist() == packs[1].batch_sizes.tolist()
    for options in ({}, {"padding_value": 2.0, "total_length": 6}):
        found, sizes = rnn.pad_packed_sequence(packs[0], batch_first, **options)
        wanted, _ = theirs.pad_packed_sequence(packs[1], batch_first, **options)
        close(found, wanted)
        assert sizes.tolist() == lengths
    for one, other in zip(rnn.unpack_sequence(packs[0]), given, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_networks_over_packed_sequences_are_pytorchs(kind: str, batch_first: bool) -> None:
    torch, theirs, expected, given = both()
    how = {"num_layers": 2, "bidirectional": True, "batch_first": batch_first}
    reference, network = getattr(torch.nn, kind)(3, 5, **how), getattr(nn, kind)(3, 5, **how)
    network.load_state_dict(reference.state_dict())
    start = CHANCE.standard_normal((4, 4, 5)).astype(np.float32)
    for state in (None, start):
        hidden = [None if state is None else make(state) for make in (Tensor, torch.tensor)]
        if kind == "LSTM" and state is not None:
            hidden = [(each, each) for each in hidden]
        output, last = network(rnn.pack_sequence(given, enforce_sorted=False), hidden[0])
        wanted, end = reference(theirs.pack_sequence(expected, enforce_sorted=False), hidden[1])
        assert isinstance(output, rnn.PackedSequence)
        close(output.data, wanted.data)
        for one, other in zip(*([x] if kind != "LSTM" else x for x in (last, end)), strict=True):
            close(one, other)
    output.data.square().sum().backward()
    wanted.data.square().sum().backward()
    for one, other in zip(network.parameters(), reference.parameters(), strict=True):
        close(one.grad, other.grad)


def test_invalid_arguments() -> None:
    x = Tensor.ones(4, 2, 3)
    with pytest.raises(ArgumentError, match="do not fall"):
        rnn.pack_padded_sequence(x, [1, 4])
    with pytest.raises(ArgumentError, match="has a length"):
        rnn.pack_padded_sequence(x, [5, 4])
    with pytest.raises(ArgumentError, match="longer"):
        rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, Tensor([4, 4])), total_length=3)
    with pytest.raises(ShapeError, match="first axis"):
        rnn.pad_sequence([Tensor.ones(1, 2), Tensor.ones(1, 3)])
    assert rnn.invert_permutation(None) is None

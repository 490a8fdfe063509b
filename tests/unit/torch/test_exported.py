"""Exported programs as modules of weft: names, state, writes, training, refusals."""

import copy

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch

import weft
import weft.torch
from weft.base.errors import ArgumentError, ShapeError
from weft.torch.exchange import to_torch_tensor


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.first = torch.nn.Linear(4, 4)
        self.tied = self.first
        self.register_buffer("hidden", torch.ones(1), persistent=False)

    def forward(self, x, scale=None):
        y = torch.relu(self.norm(self.conv(x))).mean((2, 3)) * self.hidden
        return {"y": self.first(y) if scale is None else self.first(y) * scale, "z": self.tied(y)}


def export(model, *inputs, **options):
    return weft.torch.from_exported(torch.export.export(model, inputs, **options))


def close(ours, theirs, tolerance=1e-5):
    torch.testing.assert_close(
        to_torch_tensor(ours.detach()), theirs.detach(), atol=tolerance, rtol=0
    )


def test_names_values_and_containers():
    torch.manual_seed(0)
    model, x = Net().eval(), torch.randn(2, 3, 6, 6)
    imported = export(model, x)
    assert set(imported.state_dict()) == set(model.state_dict())
    assert len(list(imported.parameters())) == len(list(model.parameters()))
    result, expected = imported(weft.from_torch(x)), model(x)
    assert list(result) == ["y", "z"]
    for key in expected:
        close(result[key], expected[key])


def test_arguments_are_arrays_or_tensors_of_either_library():
    model, x = torch.nn.Linear(2, 3), torch.randn(4, 2)
    imported = export(model, x)
    for given in (x, x.numpy(), weft.from_torch(x)):
        close(imported(given), model(x))
        close(imported.jit()(given), model(x))


def test_parameters_share_memory_and_weft_never_writes_to_it():
    model = torch.nn.Linear(2, 1, bias=False)
    imported = export(model, torch.ones(1, 2))
    with torch.no_grad():
        model.weight.fill_(3)
    assert imported(weft.ones(1, 2)).item() == 6
    imported.weight.assign(imported.weight.detach() * 2)
    assert imported.weight.tolist() == [[6, 6]] and model.weight.tolist() == [[3, 3]]


def test_dynamic_sizes():
    dim = torch.export.Dim("batch", min=2, max=64)
    model = torch.nn.Linear(4, 2)
    imported = export(model, torch.ones(3, 4), dynamic_shapes=({0: dim},))
    fast = weft.jit(imported)
    for size in (2, 5, 2, 5, 2):
        x = torch.randn(size, 4)
        close(imported(weft.from_torch(x)), model(x))
        close(fast(weft.from_torch(x)), model(x))
    with pytest.raises(ShapeError, match="any, 4"):
        imported(weft.ones(3, 5))


def test_training_and_running_statistics():
    torch.manual_seed(0)
    model, x = Net().train(), torch.randn(4, 3, 6, 6)
    imported, eager = export(model, x), copy.deepcopy(model)
    ours = weft.optim.SGD(imported.parameters(), lr=0.1)
    theirs = torch.optim.SGD(eager.parameters(), lr=0.1)
    batch = weft.from_torch(x)

    @weft.jit
    def step(batch):
        ours.zero_grad()
        loss = imported(batch)["y"].square().mean()
        loss.backward()
        ours.step()
        return loss

    for _ in range(4):
        loss = step(batch)
        theirs.zero_grad()
        expected = eager(x)["y"].square().mean()
        expected.backward()
        theirs.step()
        close(loss, expected)
    assert step.replays > 0
    state = eager.state_dict()
    for name, value in imported.state_dict().items():
        close(value, state[name])
    assert imported.norm.num_batches_tracked.item() == 4


def test_a_written_input():
    class Write(torch.nn.Module):
        def forward(self, x):
            x.add_(1)
            return x * 2

    imported = export(Write(), torch.zeros(2))
    x = weft.zeros(2).contiguous().realize()
    assert imported(x).tolist() == [2, 2] and x.tolist() == [1, 1]


def test_values_that_are_read():
    class Positive(torch.nn.Module):
        def forward(self, x):
            return torch.nonzero(x)

    imported = export(Positive(), torch.ones(3))
    assert imported(weft.tensor([0.0, 1.0, 2.0])).tolist() == [[1], [2]]


def test_refusals():
    model, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(ArgumentError, match="no exported program"):
        weft.torch.from_exported(model)
    with pytest.warns(DeprecationWarning):
        script = torch.jit.script(model)
    with pytest.raises(weft.torch.TorchError, match="TorchScript"):
        weft.torch.from_exported(script)
    with pytest.raises(weft.torch.TorchError, match="TorchScript"):
        weft.from_torch(script)
    with pytest.raises(weft.torch.TorchError, match="structure"):
        export(model, x)(weft.ones(1, 2), weft.ones(1, 2))


def test_all_unsupported_operators_are_reported_at_once():
    class Complex(torch.nn.Module):
        def forward(self, x):
            return torch.view_as_real(torch.fft.rfft(x)) + 1

    with pytest.raises(weft.torch.UnsupportedOperators) as caught:
        export(Complex(), torch.ones(4))
    assert caught.value.operators == ("aten::_fft_r2c", "aten::view_as_real")


def test_a_custom_operator():
    @torch.library.custom_op("weft_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x * factor

    scaled.register_fake(lambda x, factor: torch.empty_like(x))

    class Uses(torch.nn.Module):
        def forward(self, x):
            return scaled(x, 3.0) + 1

    exported = torch.export.export(Uses(), (torch.ones(2),))
    with pytest.raises(weft.torch.UnsupportedOperators, match="weft_tests::scaled"):
        weft.torch.from_exported(exported)
    operator = torch.ops.weft_tests.scaled
    imported = weft.torch.from_exported(
        exported, converters={operator: lambda x, factor: x * factor}
    )
    assert imported(weft.ones(2)).tolist() == [4, 4]


def test_from_torch():
    model = Net()
    state = weft.from_torch(model)
    assert set(state) == set(model.state_dict())
    assert state["first.weight"] is state["tied.weight"]
    close(state["conv.weight"], model.conv.weight)
    assert weft.from_torch(model.state_dict())["conv.bias"].shape == (4,)
    with pytest.raises(ArgumentError, match="no state"):
        weft.from_torch(3)

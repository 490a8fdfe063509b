"""Module: names, state, mode, conversion and printing, compared with PyTorch where installed."""

import copy
import pickle
import re

import numpy as np
import pytest

from weft import Tensor, dtypes, jit, nn
from weft.base.errors import ArgumentError, GradientError, MissingName, WrongKind
from weft.nn import hooks, parameter, training_mode, tree


class Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(size)
        self.scale = nn.Parameter(Tensor.ones(size))
        self.register_buffer("steps", Tensor.zeros(1))
        self.register_buffer("cache", Tensor.zeros(1), persistent=False)
        self.map = nn.Linear(size, size)
        self.constant = Tensor([3.0])

    def forward(self, x: Tensor) -> Tensor:
        return self.map(self.norm(x)) * self.scale


class Net(nn.Module):
    def __init__(self) -> None:  # without super().__init__()
        self.blocks = nn.ModuleList([Block(3), Block(3)])
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(3, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(self.drop(x))


def torch_net():
    torch = pytest.importorskip("torch", reason="PyTorch says what the names are")

    class Block(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(size)
            self.scale = torch.nn.Parameter(torch.ones(size))
            self.register_buffer("steps", torch.zeros(1))
            self.register_buffer("cache", torch.zeros(1), persistent=False)
            self.map = torch.nn.Linear(size, size)
            self.constant = torch.tensor([3.0])

        def forward(self, x):
            return self.map(self.norm(x)) * self.scale

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(3), Block(3)])
            self.drop = torch.nn.Dropout(0.5)
            self.head = torch.nn.Linear(3, 2, bias=False)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(self.drop(x))

    return Net()


def test_names_are_pytorchs() -> None:
    ours, theirs = Net(), torch_net()
    for method in ("named_parameters", "named_buffers", "named_modules", "named_children"):
        got = [name for name, _ in getattr(ours, method)()]
        assert got == [name for name, _ in getattr(theirs, method)()], method
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours.blocks[0].map) == repr(theirs.blocks[0].map)


def test_a_state_dict_of_pytorchs_loads() -> None:
    ours, theirs = Net(), torch_net()
    found = ours.load_state_dict(theirs.state_dict())
    assert found == ([], [])
    x = np.random.default_rng(0).standard_normal((5, 3), dtype=np.float32)
    expected = theirs.eval()(_torch(x)).detach().numpy()
    np.testing.assert_allclose(ours.eval()(Tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)


def _torch(x):
    import torch

    return torch.tensor(x)


def test_one_training_step_is_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    ours, theirs = Block(3), torch_net().blocks[0]
    ours.load_state_dict(theirs.state_dict())
    x = np.random.default_rng(1).standard_normal((6, 3), dtype=np.float32)
    optimizers = nn.optim.SGD(ours.parameters(), 0.1), torch.optim.SGD(theirs.parameters(), 0.1)
    for _ in range(2):
        for optimizer in optimizers:
            optimizer.zero_grad()
        ours(Tensor(x)).square().sum().backward()
        theirs(torch.tensor(x)).square().sum().backward()
        for optimizer in optimizers:
            optimizer.step()
    for name, value in theirs.state_dict().items():
        np.testing.assert_allclose(
            ours.state_dict()[name].numpy(), value.numpy(), rtol=1e-4, atol=1e-5, err_msg=name
        )


def test_parameters_buffers_and_submodules() -> None:
    net = Net()
    assert "constant" not in net.blocks[0].state_dict()
    assert "cache" not in net.blocks[0].state_dict()
    assert [name for name, _ in net.blocks[0].named_parameters(recurse=False)] == ["scale"]
    assert len(list(net.parameters())) == len({id(p) for p in net.parameters()}) == 11
    assert isinstance(net.head.weight, nn.Parameter) and net.head.bias is None
    assert {id(p) for p in net.parameters()} < {id(t) for t in nn.state.get_parameters(net)}
    assert nn.state.get_state_dict(net).keys() == net.state_dict().keys()
    assert net.get_submodule("blocks.1.map") is net.blocks[1].map


def test_modules_in_plain_containers_and_plain_layers_are_found() -> None:
    class Plain:
        def __init__(self) -> None:
            self.weight, self.frozen = Tensor([1.0]), Tensor([1.0], requires_grad=False)

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.weight

    class Holder(nn.Module):
        def __init__(self) -> None:
            self.layers = [nn.Linear(1, 1), {"inner": nn.Dropout(0.5)}]
            self.plain = Plain()
            self.constants = [Tensor([1.0])]
            self.loop = self

    holder = Holder()
    names = ["layers.0.weight", "layers.0.bias", "plain.weight"]
    assert [name for name, _ in holder.named_parameters()] == names
    assert [name for name, _ in holder.named_buffers()] == ["plain.frozen"]
    holder.eval()
    assert holder.layers[1]["inner"].training is False
    assert [n for n, _ in holder.named_modules()] == ["", "layers.0", "layers.1.inner"]


def test_a_shared_parameter_has_two_names_and_is_one_parameter() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            self.first, self.last = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
            self.last.weight = self.first.weight

    tied = Tied()
    assert list(tied.state_dict()) == ["first.weight", "last.weight"]
    assert [name for name, _ in tied.named_parameters()] == ["first.weight"]


def test_results_of_parameters_are_tensors() -> None:
    weight = nn.Parameter(Tensor([1.0, 2.0]))
    for result in (weight * 2, weight[[0]], weight.repeat([2]), weight.zeros_like(), weight.sum()):
        assert type(result) is Tensor
    (weight * weight).sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [2.0, 4.0]
    with pytest.raises(GradientError):
        nn.Parameter(Tensor([1]))
    assert nn.Parameter(Tensor([1]), requires_grad=False).requires_grad is False


def test_assignment_keeps_the_kind_of_a_name() -> None:
    layer = nn.Linear(2, 1)
    layer.weight = Tensor([[1.0, 2.0]])
    assert isinstance(layer.weight, nn.Parameter) and layer.weight.requires_grad
    block = Block(2)
    block.steps = block.steps + 1
    assert "steps" in block.state_dict() and block.steps.item() == 1
    with pytest.raises(WrongKind, match="computed"):
        layer.weight = layer.weight * 2
    layer.bias = None
    assert list(layer.state_dict()) == ["weight"]


def test_copies_and_pickles_stay_modules_of_parameters() -> None:
    net = Net()
    net.eval()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(other.state_dict()) == list(net.state_dict())
        assert type(other.head.weight) is nn.Parameter and other.head.weight.requires_grad
        assert other.training is False and other.head.weight is not net.head.weight
        x = Tensor.ones(4, 3)
        assert other(x).tolist() == net(x).tolist()


def test_mode_is_the_last_one_set_or_that_of_tensor() -> None:
    layer, x = nn.Dropout(0.5), Tensor.ones(64)
    assert layer.training is False and (layer(x) == 1).all().item()
    with Tensor.train():
        assert layer.training and (layer(x) == 0).any().item()
        layer.eval()
        assert layer.training is False and (layer(x) == 1).all().item()
    layer.train()
    assert layer.training and (layer(x) == 0).any().item()
    with pytest.raises(WrongKind):
        layer.train(1)


def test_a_class_of_ones_own_starts_in_training_mode() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            self.body = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))

        def forward(self, x: Tensor) -> Tensor:
            return self.body(x)

    own = Own()
    assert own.training and own.body[1][0].training
    assert (own(Tensor.ones(64)) == 0).any().item()
    assert (own.eval()(Tensor.ones(64)) == 1).all().item()
    own.late = nn.Dropout(0.5)
    assert own.late.training is False


def test_a_step_after_a_layer_ran_in_no_mode_is_refused() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    optimizer = nn.optim.SGD(net.parameters(), 0.1)
    net(Tensor.ones(1, 2)).sum().backward()
    with pytest.raises(GradientError, match="outside training") as caught:
        optimizer.step()
    assert "model.train()" in str(caught.value.try_)
    optimizer.zero_grad()
    net.train()
    net(Tensor.ones(1, 2)).sum().backward()
    optimizer.step()
    with Tensor.no_grad():
        nn.Dropout(0.5)(Tensor.ones(2))
    assert training_mode.take_defaulted() is None


def test_captured_functions_follow_the_mode() -> None:
    net = nn.Sequential(nn.Dropout(0.5))
    step = jit(lambda x: net(x))
    for training in (True, True, True, False, False, True, False):
        net.train(training)
        result = step(Tensor.ones(64).contiguous())
        assert (result == 0).any().item() is training


def test_conversion() -> None:
    net = Net()
    parameters = list(net.parameters())
    assert net.half() is net
    assert all(p.dtype is dtypes.half for p in net.parameters())
    assert net.blocks[0].norm.num_batches_tracked.dtype is dtypes.int64
    assert [id(p) for p in net.parameters()] == [id(p) for p in parameters]
    assert net.to(dtypes.float32).head.weight.dtype is dtypes.float32
    assert net.to("REF").head.weight.device == "REF"
    assert net.to(Tensor.ones(1, dtype="float64")).head.weight.dtype is dtypes.float64
    assert isinstance(net.head.weight, nn.Parameter) and net.head.weight.requires_grad
    with pytest.raises(GradientError):
        net.to(dtypes.int32)
    with pytest.raises(ArgumentError):
        net.to(1, 2, 3)


def test_gradients_of_all_parameters() -> None:
    layer = nn.Linear(2, 1)
    layer(Tensor.ones(1, 2)).sum().backward()
    assert layer.bias is not None and layer.bias.grad is not None
    layer.zero_grad(set_to_none=False)
    assert layer.bias.grad.tolist() == [0.0]
    layer.zero_grad()
    assert layer.bias.grad is None
    layer.requires_grad_(False)
    assert not layer(Tensor.ones(1, 2)).requires_grad
    seen: list[str] = []
    nn.Sequential(layer, nn.ReLU()).apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Sequential"]


def test_hooks() -> None:
    layer, seen = nn.ReLU(), []
    before = layer.register_forward_pre_hook(lambda module, args: (args[0] - 1,))
    after = layer.register_forward_hook(lambda module, args, y: seen.append(args) or y * 10)
    assert isinstance(after, hooks.Hook)
    assert layer(Tensor([1.0, 3.0])).tolist() == [0.0, 20.0]
    assert len(seen) == 1
    before.remove()
    after.remove()
    assert layer(Tensor([1.0, 3.0])).tolist() == [1.0, 3.0]
    with pytest.raises(WrongKind):
        layer.register_forward_hook(3)


def test_loading_compares_names_and_shapes() -> None:
    net = nn.Linear(2, 1)
    with pytest.raises(ArgumentError, match="do not fit"):
        net.load_state_dict({"weight": Tensor([[1.0, 2.0]])})
    found = net.load_state_dict({"weight": np.ones((1, 2)), "other": Tensor([1.0])}, strict=False)
    assert found.missing_keys == ["bias"] and found.unexpected_keys == ["other"]
    assert net.weight.tolist() == [[1.0, 1.0]]
    with pytest.raises(ArgumentError):
        net.load_state_dict({"weight": Tensor([1.0]), "bias": Tensor([1.0])})


def test_training_leaves_the_loaded_state_as_it_was() -> None:
    saved = {"weight": Tensor([[1.0]]).realize()}
    first, second = (nn.Linear(1, 1, bias=False) for _ in range(2))
    first.load_state_dict(saved)
    second.load_state_dict(saved)
    optimizer = nn.optim.SGD(first.parameters(), 0.5)
    first(Tensor([[1.0]])).sum().backward()
    optimizer.step()
    assert first.weight.item() == 0.5
    assert second.weight.item() == saved["weight"].item() == 1.0


def test_a_state_dict_is_detached_and_over_the_same_memory() -> None:
    net = nn.Linear(2, 1)
    state = net.state_dict()
    net.weight.realize()
    assert not state["weight"].requires_grad
    assert state["weight"].tolist() == net.weight.tolist()


def test_printing_is_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says how it is printed")
    cases = [
        "Linear(2, 3)", "Linear(2, 3, bias=False)", "Conv2d(3, 8, 3)",
        "Conv2d(4, 8, (3, 2), stride=2, padding=1, dilation=2, groups=2, bias=False)",
        "ConvTranspose2d(4, 8, 3, stride=2, output_padding=1)", "Conv1d(4, 8, 3)",
        "Embedding(10, 3)", "Embedding(10, 3, padding_idx=0)", "LayerNorm(8)",
        "LayerNorm((2, 3), eps=1e-6)", "GroupNorm(2, 4)", "BatchNorm2d(3)", "Dropout(0.2)",
        "ReLU()", "ReLU(inplace=True)", "LeakyReLU(0.2)", "GELU()", "Softmax(dim=1)",
        "MaxPool2d(2)",
        "AvgPool2d(3, stride=1, padding=1)", "AdaptiveAvgPool2d((1, 1))", "Flatten()",
        "Identity()", "LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)",
        "GRU(3, 4)", "LSTMCell(3, 4)", "Upsample(scale_factor=2)", "PReLU()", "ZeroPad2d(1)",
        "PixelShuffle(2)", "Bilinear(2, 3, 4)", "CrossEntropyLoss()", "Hardtanh()",
        "Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU()))",
        "ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.ReLU()])", "ModuleList()",
        "ModuleDict({'a': nn.Linear(1, 2)})", "ELU()", "Softplus()", "Unflatten(1, (2, 3))",
    ]  # fmt: skip
    for case in cases:
        ours, theirs = eval(f"nn.{case}", {"nn": nn}), eval(f"nn.{case}", {"nn": torch.nn})
        assert _without_bias(ours) == _without_bias(theirs), case


def _without_bias(layer) -> str:
    """Newer versions of PyTorch print the bias of normalisations as well."""
    norms = ("LayerNorm", "GroupNorm", "BatchNorm")
    text = repr(layer)
    return re.sub(r", bias=(True|False)", "", text) if text.startswith(norms) else text


def test_a_name_that_is_not_there() -> None:
    net = Net()
    with pytest.raises(MissingName, match="paramters") as caught:
        net.paramters  # noqa: B018
    assert "parameters" in str(caught.value.try_)
    with pytest.raises(MissingName) as caught:
        net.xpu()
    assert "to(device)" in str(caught.value.try_)
    assert not hasattr(net, "__len__") and not hasattr(net, "_anything")
    with pytest.raises(NotImplementedError, match="forward"):
        nn.Module()(1)
    with pytest.raises(AttributeError, match="did you mean 'Linear'"):
        nn.Linaer  # noqa: B018
    with pytest.raises(AttributeError) as caught:
        nn.functional.swish  # noqa: B018
    assert caught.value.try_ == "silu"


def test_a_property_that_fails_says_why() -> None:
    class Broken(nn.Module):
        @property
        def size(self) -> int:
            return self.wieght.shape[0]

    with pytest.raises(MissingName, match="wieght"):
        Broken().size  # noqa: B018


def test_names_of_attributes_are_checked() -> None:
    module = nn.Module()
    with pytest.raises(ArgumentError, match="name"):
        module.register_buffer("a.b", Tensor([1.0]))
    with pytest.raises(WrongKind):
        module.register_parameter("weight", Tensor([1.0]))
    with pytest.raises(ArgumentError, match="has an attribute"):
        module.register_buffer("forward", Tensor([1.0]))
    module.register_parameter("weight", None)
    assert module.weight is None and list(module.parameters()) == []


def test_traversal_of_objects() -> None:
    shared = Tensor([1.0])
    assert [path for path, _ in tree.named_tensors({"a": [shared, {"b": shared}]})] == [
        "a.0",
        "a.1.b",
    ]
    assert parameter.destination(("REF", "float16"), {}) == ("REF", dtypes.half)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.load_state_dict({"weight": Tensor([[1.0, 2.0]])}),
        lambda m: nn.state.load_state_dict(m, {"weight": Tensor([[1.0, 2.0]])}),
        lambda m: nn.utils.vector_to_parameters(Tensor([1.0, 2.0]), m.parameters()),
        lambda m: m.half(),
        lambda m: m.to("REF"),
    ],
)
def test_a_loss_recorded_before_its_parameters_change_still_reaches_them(change):
    model = nn.Linear(2, 1, bias=False)
    loss = (model.weight * 3).sum()
    change(model)
    loss.backward()
    grad = model.weight.grad
    assert grad.tolist() == [[3.0, 3.0]]
    assert grad.dtype is model.weight.dtype and grad.device == model.weight.device


def test_layers_take_their_input_by_pytorchs_name() -> None:
    x = Tensor.ones(2, 3)
    for layer in (nn.Linear(3, 2), nn.ReLU(), nn.Dropout(), nn.LayerNorm(3), nn.Flatten(),
                  nn.Sequential(nn.Linear(3, 1)), nn.BatchNorm1d(3).eval()):  # fmt: skip
        assert layer(input=x).shape[0] == 2
    assert nn.Embedding(3, 2)(input=Tensor([1])).shape == (1, 2)
    assert nn.Bilinear(3, 3, 2)(input1=x, input2=x).shape == (2, 2)

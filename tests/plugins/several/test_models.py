"""A model whose layers lie on two families learns what the same model learns on one device."""

import numpy
import pytest

from weft import Tensor, jit, nn
from weft.io import safe_load, safe_save
from weft.nn.state import get_parameters, get_state_dict, load_state_dict

OPTIMISERS = {
    "SGD": lambda params: nn.optim.SGD(params, 0.1, momentum=0.9, dampening=0.2),
    "AdamW": lambda params: nn.optim.AdamW(params, 0.02),
    "LAMB": lambda params: nn.optim.LAMB(params, 0.02),
}


class Model:
    """Two layers here, one there; activations travel."""

    def __init__(self, here, there):
        Tensor.manual_seed(3)
        self.here, self.there = here, there
        self.wide, self.norm, self.narrow = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)
        for layer in (self.wide, self.norm):
            for parameter in get_parameters(layer):
                parameter.to_(here)
        for parameter in get_parameters(self.narrow):
            parameter.to_(there)

    def __call__(self, x):
        hidden = self.norm(self.wide(x.to(self.here))).relu()
        return self.narrow(hidden.to(self.there))


def numbers(*shape, seed):
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


def trained(model, optimiser, recorded, steps=4, first=0):
    """Losses of a few steps, each on numbers of its own."""

    def step(x, y):
        optimiser.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        nn.optim.clip_grad_norm_(get_parameters(model), 1.0)
        optimiser.step()
        return loss.realize()

    run, losses = jit(step) if recorded else step, []
    with Tensor.train():
        for turn in range(first, first + steps):
            x = Tensor(numbers(5, 6, seed=turn), device=model.here).realize()
            y = Tensor(numbers(5, 3, seed=turn + 99), device=model.there).realize()
            losses.append(run(x, y).item())
    return losses


def assert_equal(model, other):
    for name, value in get_state_dict(model).items():
        wanted = get_state_dict(other)[name].numpy()
        numpy.testing.assert_allclose(value.numpy(), wanted, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    "kind,here,there",
    [
        ("SGD", "CPU", "REF"),
        ("LAMB", "REF", "CPU"),
        ("AdamW", "CPU", "OPENCL"),
        ("AdamW", "TOY", "CPU"),
        ("AdamW", "REF:vector", "REF"),
    ],
)
def test_it_learns_the_same(kind, here, there, opened):
    opened(here, there)
    split, whole = Model(here, there), Model(here, here)
    found = trained(split, OPTIMISERS[kind](get_parameters(split)), recorded=True)
    wanted = trained(whole, OPTIMISERS[kind](get_parameters(whole)), recorded=False)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert_equal(split, whole)
    places = {name: value.device for name, value in get_state_dict(split).items()}
    assert {places["wide.weight"], places["norm.bias"]} == {here}
    assert {places["narrow.weight"], places["narrow.bias"]} == {there}


def test_a_checkpoint_goes_on_elsewhere(opened, tmp_path):
    """Model and optimiser, saved from two families, loaded onto two others."""
    opened("CPU", "REF")
    model = Model("CPU", "REF")
    optimiser = OPTIMISERS["AdamW"](get_parameters(model))
    trained(model, optimiser, recorded=False, steps=2)
    safe_save(get_state_dict(model), tmp_path / "model.safetensors")
    safe_save(get_state_dict(optimiser), tmp_path / "optimiser.safetensors")
    other = Model("REF", "CPU")
    again = OPTIMISERS["AdamW"](get_parameters(other))
    load_state_dict(other, safe_load(tmp_path / "model.safetensors"))
    load_state_dict(again, safe_load(tmp_path / "optimiser.safetensors"))
    assert other.narrow.weight.device == "CPU" and other.wide.weight.device == "REF"
    assert_equal(other, model)
    found = trained(other, again, recorded=True, first=2)
    wanted = trained(model, optimiser, recorded=False, first=2)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert_equal(other, model)


@pytest.mark.parametrize(
    "meet",
    [
        lambda x, y: x + y,
        lambda x, y: x @ y,
        lambda x, y: x.cat(y),
        lambda x, y: Tensor.stack(x, y),
        lambda x, y: (x > 0).where(x, y),
        lambda x, y: x.shard((x.device, y.device)) * y,
    ],
    ids=["sum", "product", "cat", "stack", "where", "sharded"],
)
def test_tensors_of_two_devices_meet_in_an_error(meet):
    x, y = Tensor([1.0, 2.0], device="REF"), Tensor([3.0, 4.0], device="REF:1")
    with pytest.raises(RuntimeError, match="different devices") as caught:
        meet(x, y)
    assert "REF:1" in caught.value.asked and ".to(" in caught.value.try_

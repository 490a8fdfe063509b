"""Lists, tuples and dicts nested hundreds deep: values, or an error of ours, never Python's own."""

import inspect

import pytest

import weft
from weft import Tensor, Variable, array_api, data, io, jit, nn, settings
from weft.base.arguments import DEEPEST, is_deep, shown, too_deep
from weft.base.errors import ArgumentError, ShapeError, WeftError

DEPTHS = (DEEPEST + 1, 500, 20_000)


def lists(depth, leaf=1):
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def dicts(depth, leaf):
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


def replayed(function, *args):
    """Three calls: recorded, compared and replayed."""
    return [function(*args) for _ in range(3)]


def reached(depth):
    inside = dicts(depth, Tensor([1.0]))

    def step(x):
        return x + (inside is not None)

    return replayed(jit(step), Tensor([1.0]))


T = Tensor([1, 2, 3])
REFUSED = {
    "Tensor": lambda deep: Tensor(deep),
    "Tensor(dtype)": lambda deep: Tensor(deep, dtype="float64"),
    "add": lambda deep: T + deep,
    "setitem": lambda deep: T.__setitem__(0, deep),
    "zeros": lambda deep: Tensor.zeros(deep),
    "full": lambda deep: Tensor.full((2,), deep),
    "reshape": lambda deep: T.reshape(deep),
    "permute": lambda deep: T.permute(deep),
    "sum": lambda deep: T.sum(axis=deep),
    "pad": lambda deep: T.pad(deep),
    "shrink": lambda deep: T.shrink(deep),
    "cat": lambda deep: T.cat(deep),
    "stack": lambda deep: Tensor.stack(deep),
    "einsum": lambda deep: Tensor.einsum("i->i", deep),
    "shard": lambda deep: T.shard(deep),
    "where": lambda deep: (T > 1).where(deep, 0),
    "dtype": lambda deep: Tensor([1], dtype=deep),
    "device": lambda deep: Tensor([1], device=deep),
    "realize": lambda deep: T.realize(deep),
    "asarray": lambda deep: array_api.asarray(deep),
    "Variable": lambda deep: Variable("a", deep, 3),
    "settings": lambda deep: settings.override(DEBUG=deep).__enter__(),
    "metadata": lambda deep: io.safe_save({"a": T}, "a.safetensors", metadata={"k": deep}),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", REFUSED)
def test_lists_are_refused(name, depth, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WeftError):
        REFUSED[name](lists(depth))


@pytest.mark.parametrize("depth", DEPTHS)
def test_indices_are_values_or_refused(depth):
    with pytest.raises((WeftError, IndexError)):
        T[lists(depth)]


def test_rows_among_numbers():
    with pytest.raises(WeftError):
        Tensor([1, lists(500)])


def test_a_list_that_holds_itself():
    endless = []
    endless.append(endless)
    with pytest.raises(ArgumentError):
        Tensor(endless)
    with pytest.raises(ArgumentError):
        replayed(jit(lambda x: x), endless)


def test_as_deep_as_arrays_go():
    assert Tensor(lists(DEEPEST, 3)).shape == (1,) * DEEPEST
    with pytest.raises(ShapeError, match="too deep"):
        Tensor(lists(DEEPEST + 1, 3))


@pytest.mark.parametrize("call", [
    lambda: replayed(jit(lambda x: x), lists(20_000, T)),
    lambda: replayed(jit(lambda x: lists(20_000, x + 1)), T),
    lambda: replayed(jit(lambda x, k: x + 1), T, lists(20_000, 3)),
    lambda: reached(20_000),
    lambda: weft.checkpoint(lambda x: x, lists(20_000, Tensor([1.0], requires_grad=True))),
    lambda: weft.checkpoint(lambda x: lists(20_000, x), Tensor([1.0], requires_grad=True)),
])  # fmt: skip
def test_captured_and_checkpointed_functions(call):
    with pytest.raises(WeftError, match="too deep"):
        call()


def test_states_are_found_however_deep():
    w = Tensor([1.0])
    assert nn.state.get_state_dict(dicts(3000, w)) == {".".join("a" * 3000): w}
    assert nn.state.get_parameters(lists(3000, w)) == [w]
    nn.state.load_state_dict(dicts(3000, w), {".".join("a" * 3000): Tensor([4.0])})
    assert w.tolist() == [4.0]


def test_states_meet_no_object_twice_on_its_own_path():
    tree = {"w": Tensor([1.0]), "both": [Tensor([2.0])]}
    tree["again"] = tree
    tree["same"] = tree["both"]
    assert list(nn.state.get_state_dict(tree)) == ["w", "both.0", "same.0"]


def test_is_deep():
    assert not is_deep([[1], (2, {3: 4})], 3)
    assert is_deep([[1], (2, {3: 4})], 2)
    assert not is_deep(5)
    error = RecursionError()
    assert too_deep([1], "lists", error) is error
    assert isinstance(too_deep(lists(500), "lists", error), ArgumentError)


def test_values_without_repr_are_quoted_by_their_type():
    class Silent:
        def __repr__(self):
            raise ValueError

    assert shown(Silent()) == "<a Silent without a repr>"
    assert shown(lists(100_000)) == "<a list without a repr>"


@pytest.mark.parametrize("call", [Tensor.stack, Tensor.cat])
@pytest.mark.parametrize("value", [5, None, "ab"])
def test_joining_non_tensors(call, value):
    with pytest.raises(TypeError) as caught:
        call(value)
    assert isinstance(caught.value, WeftError)


def test_samples_nested_deep():
    assert data.default_collate([lists(60), lists(60)]) != []
    for depth in (2_000, 20_000):
        for made in (lists(depth), dicts(depth, 1)):
            with pytest.raises(ArgumentError, match="samples are nested too deep"):
                data.default_collate([made, made])
            with pytest.raises(ArgumentError, match="samples are nested too deep"):
                next(iter(data.DataLoader([made, made], batch_size=2)))


def callables():
    """All that people call with values: the methods of a tensor, and the functions of packages."""
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    for name in dir(Tensor):
        if not name.startswith("_") and callable(found := getattr(x, name, None)):
            yield f"Tensor.{name}", found
    for package in (weft, nn, nn.functional, nn.init, nn.optim, data, array_api, array_api.linalg):
        for name in dir(package):
            found = getattr(package, name)
            is_ours = (getattr(found, "__module__", None) or "").startswith(package.__name__)
            if callable(found) and not name.startswith("_") and is_ours:
                yield f"{package.__name__}.{name}", found


OF_PYTHON = ("weft.device", "weft.nn.Transformer")
"""Names of devices are texts, and layers are copied by Python."""


@pytest.mark.parametrize("container", [lists, lambda depth: dicts(depth, 1)], ids=["list", "dict"])
def test_no_method_ends_in_pythons_own_error(container, tmp_path, monkeypatch):
    """Any answer to such an argument."""
    monkeypatch.chdir(tmp_path)
    deep, found = container(5000), []
    for name, call in callables():
        arguments = [((deep,), {}), ((Tensor([1.0, 2.0]), deep), {})]
        try:
            parameters = list(inspect.signature(call).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        arguments += [((), {p.name: deep}) for p in parameters if p.kind not in VARIADIC]
        for positional, named in arguments:
            try:
                call(*positional, **named)
            except RecursionError:
                found.append(name)
            except Exception:  # in any words
                pass
    assert not {name for name in found if not name.startswith(OF_PYTHON)}


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

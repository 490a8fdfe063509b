"""Numbers that a dtype cannot represent, in the place of every argument of every method: the result
is that of a wider dtype, or an error that says so. No number wraps."""

import inspect
import warnings

import numpy as np
import pytest

import weft
import weft.array_api as xp
from weft import Tensor, nn
from weft.base.errors import OutOfRange, WeftError

NUMBERS = {
    "2**33": 2**33,
    "-2**33": -(2**33),
    "a NumPy scalar": np.int64(2**33),
    "nan": float("nan"),
    "1e300": 1e300,
}
VALUES = [7, 3, 5]
KEPT = {
    "dim": 0,
    "axis": 0,
    "k": 1,
    "n": 2,
    "repeats": 2,
    "shifts": 1,
    "chunks": 1,
    "kernel_size": 1,
    "size": (3,),
    "reduce": "sum",
    "index": lambda kind: kind([0]),
    "indices": lambda kind: kind([0]),
    "mask": lambda kind: kind([True, False, True]),
}
# what draws, allocates a given size, or takes no values
NOT_ASKED = {
    "arange", "bernoulli_", "bincount", "chunk", "einsum", "empty", "eye", "from_blob", "full",
    "gradient", "histc", "inference_mode", "linspace", "logspace", "one_hot", "ones", "rand",
    "randint", "randint_like", "random_", "repeat", "repeat_interleave", "tile", "tri", "uniform_",
    "unfold", "zeros", "alu", "backward", "register_hook",
}  # fmt: skip


def numeric(parameter):
    annotation = str(parameter.annotation)
    takes = any(name in annotation for name in ("ArrayLike", "float", "Number", "Any"))
    return takes and not any(name in annotation for name in ("bool", "DType", "UOp"))


def asked():
    """(what, function, parameters, the one to vary) of all that takes numbers."""
    sources = [("x.", Tensor, True), ("F.", nn.functional, False), ("xp.", xp, False)]
    for prefix, source, is_method in sources:
        for name in sorted(vars(source) if prefix != "x." else dir(source)):
            static = inspect.getattr_static(source, name)
            plain = not name.startswith("_") or name in OPERATORS
            if not plain or name in NOT_ASKED or not inspect.isfunction(static):
                continue
            if prefix == "F." and hasattr(Tensor, name):
                continue
            parameters = list(inspect.signature(static).parameters.values())[is_method:]
            for parameter in parameters:
                if numeric(parameter) and parameter.kind is not parameter.VAR_KEYWORD:
                    yield f"{prefix}{name}", static, is_method, parameters, parameter


OPERATORS = [
    f"__{prefix}{name}__"
    for name in ("add", "sub", "mul", "mod", "floordiv", "and", "or", "xor")
    for prefix in ("", "r", "i")
] + ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__round__", "__contains__"]
ASKED = list(asked())


def made(namespace):
    if namespace == "xp.":
        return lambda values, dtype="int32": xp.asarray(np.array(values, dtype), device="REF")
    return lambda values, dtype="int32": Tensor(values, dtype=dtype, device="REF")


def answer(what, function, is_method, parameters, varied, number, dtype):
    kind = made(what[:3])
    arguments, named = [kind(VALUES, dtype)] if is_method else [], {}
    for parameter in parameters:
        if parameter is varied:
            value = number
        elif parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        else:
            value = KEPT.get(parameter.name, lambda _: kind(VALUES, dtype))
            value = value(lambda v: kind(v, np.array(v).dtype.name)) if callable(value) else value
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            named[parameter.name] = value
        else:
            arguments.append(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(function(*arguments, **named))
        except (WeftError, TypeError, OverflowError) as error:
            return error


def plain(result):
    if isinstance(result, (tuple, list)):
        return [plain(each) for each in result]
    return result.tolist() if hasattr(result, "tolist") else result


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_no_number_wraps(number):
    wrong = []
    for what, *asking in ASKED:
        narrow = answer(what, *asking, number, "int32")
        if isinstance(narrow, Exception):
            continue
        wide = answer(what, *asking, number, "int64")
        same = not isinstance(wide, Exception) and np.array_equal(
            np.array(narrow, object), np.array(wide, object)
        )
        if not same and repr(narrow) != repr(wide):  # NaN is NaN
            wrong.append(f"{what}({asking[-1].name}): {narrow} of int32, {wide} of int64")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, number: x.assign(number),
        lambda x, number: x.fill_(number),
        lambda x, number: x.copy_(number),
        lambda x, number: x.__setitem__(0, number),
        lambda x, number: x.__setitem__([0], number),
        lambda x, number: x.__setitem__(x > 0, number),
        lambda x, number: x.new_tensor(number),
        lambda x, number: x.full_like(number),
        lambda x, number: x.index_fill(0, Tensor([0]), number),
        lambda x, number: x.masked_fill(x > 0, number),
        lambda x, number: x.random_(0, number),
        lambda x, number: Tensor(number, dtype=x.dtype),
        lambda x, number: Tensor([number], dtype=x.dtype),
        lambda x, number: Tensor.full((2,), number, dtype=x.dtype),
        lambda x, number: Tensor.uniform(2, low=0, high=number, dtype=x.dtype),
        lambda x, number: weft.full((2,), number, dtype=x.dtype),
        lambda x, number: xp.full((2,), number, dtype=xp.uint8),
        lambda x, number: xp.clip(xp.asarray([1], dtype=xp.uint8), number),
    ],
)
@pytest.mark.parametrize("number", [300, np.int64(300), np.uint16(300)])
def test_written_numbers_are_checked(write, number):
    with pytest.raises((OutOfRange, WeftError)) as caught:
        write(Tensor([1, 2], dtype="uint8"), number)
    assert "300" in str(caught.value)


def test_an_array_is_cast_as_it_is_in_numpy():
    assert Tensor(np.array([300]), dtype="uint8").tolist() == [44]
    x = Tensor([1, 2], dtype="uint8")
    x[:] = np.array([300, 7])
    assert x.tolist() == [44, 7]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_round_to_powers_of_ten(dtype):
    info = np.iinfo(dtype)
    drawn = np.random.default_rng(0).integers(info.min, info.max, 50, dtype, endpoint=True)
    values = [*map(int, drawn), info.min, info.max, 5, 15, 25, 35, 45, 50, 55, 95, 100, 105]
    x = Tensor(values, dtype=dtype, device="REF")
    for digits in (1, 2, 3, 9, 18, 19, 20, 400):
        pairs = zip(x.round(-digits).tolist(), [round(value, -digits) for value in values])
        assert all(got == want for got, want in pairs if info.min <= want <= info.max), digits


def test_bounds_and_ends_are_checked():
    for refused in (
        lambda: weft.Variable("n", 0, 2**31),
        lambda: weft.Variable("n", -(2**31) - 1, 0),
        lambda: Tensor.logspace(0, 3, 4, dtype="uint8"),
        lambda: Tensor.linspace(0, 300, 4, dtype="uint8"),
        lambda: Tensor.arange(0, 400, 100, dtype="int8"),
    ):
        with pytest.raises(OutOfRange):
            refused()
    assert Tensor.logspace(0, 2, 3, dtype="uint8").tolist() == [1, 10, 100]


@pytest.mark.parametrize("diagonal", [2**31 - 2, 2**31 - 1, 2**40, 3])
def test_diagonals_beyond_all(diagonal):
    x = Tensor([[1, 2], [3, 4], [5, 6]])
    assert x.tril(diagonal).tolist() == x.triu(-diagonal).tolist() == x.tolist()
    assert x.triu(diagonal).tolist() == x.tril(-diagonal).tolist() == [[0, 0]] * 3

"""Wrong calls are answered: every public method, with arguments of every wrong kind.

Every call gives a value or a WeftError. The one exception is Python's own TypeError
for a call whose signature is wrong, and NumPy's for the truth of an array.
"""

import inspect
import math
import traceback
from typing import Any

import numpy
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from weft import Tensor, Variable, WeftError, dtypes, settings

# an address is believed; files and the network are others' business; contexts and the seed outlive
# the call
SKIPPED = {"from_blob", "from_file", "from_url", "manual_seed", "no_grad", "enable_grad", "train"}
OPERATORS = [
    "__getitem__", "__setitem__", "__add__", "__rsub__", "__iadd__", "__matmul__", "__rmatmul__",
    "__pow__", "__rpow__", "__floordiv__", "__mod__", "__and__", "__lshift__", "__lt__", "__eq__",
    "__len__", "__iter__", "__float__", "__int__", "__bool__", "__contains__",
]  # fmt: skip
METHODS = [n for n in dir(Tensor) if not n.startswith("_") and n not in SKIPPED] + [
    name for name in OPERATORS if hasattr(Tensor, name)
]
CALLABLE = sorted(name for name in METHODS if callable(getattr(Tensor, name, None)))

shapes = st.sampled_from(
    [(), (1,), (3,), (0,), (2, 3), (3, 3), (1, 3), (2, 0), (2, 3, 4), (1, 2, 4, 4)]
)
kinds = st.sampled_from(
    [dtypes.float, dtypes.int, dtypes.bool, dtypes.half, dtypes.uint8, dtypes.int64]
)


def made(shape: tuple[int, ...], kind: Any, device: str = "REF") -> Tensor:
    numbers = [i % 3 for i in range(math.prod(shape))]
    return Tensor(numbers, dtype=kind, device=device).reshape(shape)


tensors = st.builds(made, shapes, kinds)
values = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 2, 3, -1, -2, 10**12, 2**70, -(2**70)]),
    st.sampled_from([0.5, -2.0, math.nan, math.inf, 1j, "", "x", "ij->i", "float32", b"ab"]),
    st.sampled_from([(), (1,), (0, 0), (2, 3), (-1,), (None, None), (1.5,), ((1, 2), (3, 4))]),
    st.sampled_from([[], [1], [1, [2, 3]], [None], ["a"], {}, {"a": 1}, ..., slice(0, 0, 0), int]),
    st.sampled_from([dtypes.float, dtypes.bool, dtypes.void, object(), print]),
    st.sampled_from([numpy.float32(1), numpy.array(["a"]), numpy.array([None])]),
    st.builds(lambda: Variable("i", 1, 3)),
    st.builds(lambda: Variable("i", 1, 3).bind(2)),
    st.builds(made, shapes, kinds, st.just("NULL")),
    tensors,
)


def is_of_python(error: Exception) -> bool:
    """Whether it says that the call has no such form, before anything of ours ran."""
    said = str(error)
    if isinstance(error, TypeError):
        alone = len(traceback.extract_tb(error.__traceback__)) == 1
        return (
            alone
            or "unexpected keyword" in said
            or "positional argument" in said
            or "multiple values" in said
        )
    return isinstance(error, ValueError) and "truth value of an array" in said


def arguments(data: Any, function: Any) -> tuple[list[Any], dict[str, Any]]:
    given_, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            given_ += data.draw(st.lists(values, max_size=2))
        elif parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            continue
        elif parameter.default is parameter.empty:
            given_.append(data.draw(values))
        elif data.draw(st.booleans()):
            named[parameter.name] = data.draw(values)
    if (
        named
        and len(given_)
        and any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())
    ):
        named = {}
    return given_, named


@given(st.data())
def test_a_wrong_call_is_answered(data: Any) -> None:
    name = data.draw(st.sampled_from(CALLABLE))
    x = data.draw(tensors)
    with settings.override(DEVICE="REF"):
        function = getattr(x, name)
        given_, named = arguments(data, function)
        note(f"{x.shape} {x.dtype}: {name}(*{given_}, **{named})")
        try:
            function(*given_, **named)
        except WeftError as error:
            assert error.summary
        except Exception as error:
            if not is_of_python(error):
                raise


@pytest.mark.parametrize("name", ["grid_sampel", "summ", "tolists", "to_list"])
def test_a_missing_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(Tensor([1]), name)


def test_values_that_do_not_broadcast_are_refused() -> None:
    """Values that do not fit the places they are put at are refused, not read beyond their end."""
    x = Tensor([[1, 0, 1], [0, 1, 1]], device="REF")
    index = Tensor([0, 1, 1, 0], device="REF")
    with pytest.raises(WeftError, match="does not broadcast"):
        x.index_put((index,), [[1, 2], [3, 4]])

"""Pickles are read as data; what would run something is refused, what is damaged is an error."""

import io
import os
import pickle
from collections import OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.base.errors import FormatError
from weft.io.pickles import Name, read_pickle

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.tuples()
    | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)  # fmt: skip


def read(data: bytes, calls=None, persistent=None):
    return read_pickle(io.BytesIO(data), calls or {}, persistent)


@given(plain, st.integers(2, 5))
def test_plain_data_reads_as_the_standard_library_reads_it(value, protocol):
    calls = {"_codecs.encode": lambda text, kind: text.encode(kind), "builtins.bytes": bytes,
             "__builtin__.bytes": bytes}  # fmt: skip
    assert read(pickle.dumps(value, protocol), calls) == value


def test_shared_objects_stay_shared():
    inner = [1]
    a, b = read(pickle.dumps([inner, inner]))
    assert a is b


class Touch:
    """Leaves a file behind when a pickle that names it is run."""

    def __init__(self, call, *args):
        self.call = (call, args)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_called(tmp_path, protocol):
    there = tmp_path / "ran"
    for evil in (
        Touch(os.mkdir, str(there)),
        Touch(exec, "raise SystemExit"),
        Touch(getattr, "", "x"),
    ):
        with pytest.raises(FormatError, match="not plain data"):
            read(pickle.dumps({"a": evil}, protocol))
    assert not there.exists()


@pytest.mark.parametrize("text", [
    b"cbuiltins\neval\n(S'1'\ntR.",  # a call
    b"(S'ls'\nios\nsystem\n.",  # INST
    b"(cos\nsystem\nS'ls'\no.",  # OBJ
    b"\x80\x02\x82\x01.",  # an extension of copyreg
    b"\x80\x05\x97.",  # a buffer from outside
    b"Pkey\n.",  # a persistent id where there are none
])  # fmt: skip
def test_opcodes_that_do_more_than_data(text):
    with pytest.raises(FormatError, match="not plain data"):
        read(text)


@pytest.mark.parametrize("text", [
    b"", b".", b"N", b"(.", b"NN.", b"h\x07.", b"}(K\x01u.", b"]K\x01K\x02s.", b"cos\nsystem\n.",
    b"K\x01(tR.", b"}]K\x01s.", b"}b.", b"]N\x85b.", b"(1.", b"\x80\x02X\xff\xff\xff\x7fabc.",
])  # fmt: skip
def test_damaged_pickles(text):
    with pytest.raises(FormatError, match="damaged"):
        read(text)


def test_attributes_are_never_set():
    """BUILD on a name would reach into a module; on a dict its state is dropped."""
    with pytest.raises(FormatError):
        read(b"cos\nsystem\n}S'__doc__'\nS'x'\nsb.")
    notes = OrderedDict(a=1)
    notes.extra = "kept by pickle"
    calls = {"collections.OrderedDict": OrderedDict}
    got = read(pickle.dumps(notes), calls)
    assert got == OrderedDict(a=1)
    assert not hasattr(got, "extra")


def test_names_are_given_to_persistent_ids_as_text():
    seen = []
    text = b"(S'storage'\ncos\nsystem\ntQ."
    assert read(text, persistent=lambda key: seen.append(key) or 5) == 5
    assert seen == [("storage", Name("os.system"))]


def test_deep_keys_are_refused():
    text = b"}" + b"(" * 3000 + b"t" * 3000 + b"K\x01s."
    with pytest.raises(FormatError):
        read(text)


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_bytes_give_a_value_or_our_error(data):
    try:
        read(b"\x80\x04" + data + b".")
    except FormatError:
        pass


def test_copies_of_copies_are_refused():
    """A list of many is met once and then given to call after call: each would copy it."""
    calls = {"torch.Size": lambda shape=(): tuple(shape)}
    many = b"(" + b"K\x01" * 50_000 + b"tq\x00"
    again = b"ctorch\nSize\nq\x01" + b"h\x01h\x00\x85R0" * 20_000
    with pytest.raises(FormatError, match="torch.Size"):
        read(many + again + b".", calls)


@pytest.mark.parametrize("text", [
    b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f",  # a text of exabytes
    b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f",  # bytes
    b"\x80\x05\x96" + b"\xff" * 7 + b"\x7f",  # a bytearray
    b"\x80\x02\x8b\xff\xff\xff\x7f",  # an integer of gigabytes
    b"I" + b"9" * 10_000 + b"\n.",  # one that would take long to convert
    b"r\xff\xff\xff\x7f.",  # a memo without a value
])  # fmt: skip
def test_sizes_that_are_not_there(text):
    with pytest.raises(FormatError, match="damaged"):
        read(text)


def test_depth_is_no_recursion():
    deep = read(b"]" * 20_000 + b"a" * 19_999 + b".")
    for _ in range(19_999):
        (deep,) = deep
    assert deep == []

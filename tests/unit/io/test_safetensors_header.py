"""The safetensors format on plain bytes: what is accepted, what is refused, and why."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, FormatError
from weft.io import safetensors_header as header_module
from weft.io.safetensors_header import PREFIX, build_header, header_length, parse_header


def parse(table: object, values: int) -> header_module.Header:
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    return parse_header(text, PREFIX + len(text) + values)


def row(dtype: object = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict:
    listed = [list(each) if isinstance(each, tuple) else each for each in (shape, offsets)]
    return {"dtype": dtype, "shape": listed[0], "data_offsets": listed[1]}


def test_a_plain_header_is_read() -> None:
    table = {
        "b": row("U8", (3,), (8, 11)),
        "a": row("F32", (1, 2), (0, 8)),
        "__metadata__": {"epoch": "3"},
    }
    header = parse(table, 11)
    assert [entry.name for entry in header.entries] == ["a", "b"]
    assert header.entries[0].dtype is dtypes.float32
    assert header.entries[0].shape == (1, 2)
    assert (header.entries[1].begin, header.entries[1].end) == (8, 11)
    assert header.metadata == {"epoch": "3"}


def test_padding_after_the_header_is_allowed() -> None:
    assert parse(json.dumps({"a": row()}).encode() + b"   ", 8).entries[0].name == "a"


def test_scalars_and_empty_tensors_have_windows() -> None:
    table = {
        "scalar": row("F64", (), (0, 8)),
        "empty": row("F32", (0, 3), (8, 8)),
        "last": row("BOOL", (1,), (8, 9)),
    }
    shapes = {entry.name: entry.shape for entry in parse(table, 9).entries}
    assert shapes == {"scalar": (), "empty": (0, 3), "last": (1,)}


def test_no_tensors_is_a_file() -> None:
    assert parse({}, 0).entries == ()


REFUSED = {
    "window past the file": ({"a": row()}, 7, "shorter"),
    "bytes nobody names": ({"a": row()}, 9, "longer"),
    "overlap": ({"a": row(), "b": row(offsets=(4, 12))}, 12, "overlap"),
    "same window twice": ({"a": row(), "b": row()}, 8, "overlap"),
    "hole": ({"a": row(), "b": row(offsets=(12, 20))}, 20, "hole"),
    "hole at the start": ({"a": row(offsets=(4, 12))}, 12, "hole"),
    "backwards": ({"a": row(offsets=(8, 0))}, 8, "begin <= end"),
    "negative": ({"a": row(offsets=(-8, 0))}, 8, "whole numbers"),
    "three offsets": ({"a": row(offsets=(0, 4, 8))}, 8, "begin <= end"),
    "fraction": ({"a": row(offsets=(0, 8.0))}, 8, "whole numbers"),
    "truth as a size": ({"a": row("F64", (True,), (0, 8))}, 8, "whole numbers"),
    "beyond 63 bits": ({"a": row(shape=(2**63,))}, 8, "whole numbers"),
    "negative size": ({"a": row(shape=(-2,))}, 8, "whole numbers"),
    "shape of another size": ({"a": row(shape=(3,))}, 8, "size of its shape"),
    "huge product": ({"a": row(shape=(2**62,) * 50)}, 8, "size of its shape"),
    "unknown dtype": ({"a": row("F4")}, 8, "not known"),
    "dtype is no name": ({"a": row(["F32"])}, 8, "not known"),
    "missing field": ({"a": {"dtype": "F32", "shape": [2]}}, 8, "exactly"),
    "further field": ({"a": {**row(), "x": 1}}, 8, "exactly"),
    "tensor is a list": ({"a": [1]}, 8, "exactly"),
    "metadata of numbers": ({"__metadata__": {"a": 1}}, 0, "text"),
    "metadata is a list": ({"__metadata__": []}, 0, "text"),
    "not an object": (b"[]", 0, "object"),
    "empty": (b"", 0, "object"),
    "space before": (b" {}", 0, "object"),
    "cut json": (b'{"a": {"dtype"', 0, "JSON"),
    "rubbish after": (b"{}x", 0, "JSON"),
    "not utf-8": (b'{"\xff": 1}', 0, "JSON"),
    "nan": (b'{"a": NaN}', 0, "JSON"),
    "thousands of digits": (b'{"a": ' + b"9" * 5000 + b"}", 0, "JSON"),
    "nested bomb": (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", 0, "nested"),
    "name twice": (
        b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
        b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        0,
        "twice",
    ),
    "field twice": (
        b'{"a":{"dtype":"U8","dtype":"F32","shape":[0],"data_offsets":[0,0]}}',
        0,
        "twice",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_headers_that_lie_are_refused(name: str) -> None:
    table, values, word = REFUSED[name]
    with pytest.raises(FormatError) as caught:
        parse(table, values)
    error = caught.value
    assert word in error.summary
    assert error.asked and error.because and error.try_
    assert len(str(error)) < 1000


@pytest.mark.parametrize(
    ("prefix", "size"),
    [
        (b"", 0),
        (b"\x01\x02", 2),
        ((100).to_bytes(8, "little"), 20),
        ((2**63).to_bytes(8, "little"), 2**40),
        ((header_module.MAX_HEADER + 1).to_bytes(8, "little"), 2**40),
        (b"\xff" * 8, 2**64),
    ],
)
def test_lengths_that_cannot_be_are_refused(prefix: bytes, size: int) -> None:
    with pytest.raises(FormatError):
        header_length(prefix, size)


def test_the_longest_header_that_fits_is_accepted() -> None:
    assert header_length((12).to_bytes(8, "little"), 20) == 12


tensors = st.dictionaries(
    st.text(string.ascii_letters + '.é漢"\\\n', max_size=12).filter(lambda n: n != "__metadata__"),
    st.tuples(
        st.sampled_from(sorted(header_module.NAME_OF_DTYPE, key=str)),
        st.lists(st.integers(0, 5), max_size=4).map(tuple),
    ),
    max_size=8,
)


@given(tensors, st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_built_headers_are_read_back(
    chosen: dict[str, tuple[DType, tuple[int, ...]]], metadata: dict[str, str]
) -> None:
    try:
        json.dumps(metadata, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    rows = [(name, dtype, shape) for name, (dtype, shape) in chosen.items()]
    text, header = build_header(rows, metadata)
    assert len(text) == header.data_start
    assert len(text) % 8 == 0
    length = header_length(text[:PREFIX], header.nbytes)
    assert parse_header(text[PREFIX : PREFIX + length], header.nbytes).metadata == metadata
    again = parse_header(text[PREFIX:], header.nbytes)
    assert {e.name: (e.dtype, e.shape) for e in again.entries} == chosen
    assert sorted(again.entries, key=lambda e: e.name) == sorted(
        header.entries, key=lambda e: e.name
    )
    for entry in again.entries:
        assert (header.data_start + entry.begin) % entry.dtype.itemsize == 0


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_but_never_crash(data: bytes) -> None:
    for text in (data, b"{" + data, b'{"a":' + data):
        try:
            parse_header(text, PREFIX + len(text))
        except FormatError as error:
            assert error.because


def test_unsupported_entries_are_refused() -> None:
    with pytest.raises(ArgumentError):
        build_header([("__metadata__", dtypes.int, (1,))], {})
    with pytest.raises(ArgumentError):
        build_header([("\ud800", dtypes.int, (1,))], {})
    with pytest.raises(ArgumentError):
        build_header([], {"epoch": 3})  # type: ignore[dict-item]
    with pytest.raises(DTypeError):
        build_header([("a", dtypes.float32.vec(4), (1,))], {})

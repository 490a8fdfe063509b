"""Arrays that cannot be watched, and whether code may read them."""

import numpy as np
import pytest

from weft.tensor.jit.untracked_arrays import (
    UntrackedArrays,
    is_foreign_array,
    may_be_read,
    qualified,
)


@pytest.mark.parametrize(
    ("path", "names", "expected"),
    [
        ("images", set(), True), ("", set(), True), ("images[0]", set(), True),
        ("self.images", set(), False), ("self.images", {"images"}, True),
        ("self.images['train'][0]", {"images"}, True), ("self.images['train'][0]", set(), False),
        ("self.images['a.b']", set(), True), ("self.a.b", {"a"}, False),
        ("self.images()", set(), False), ("self.images", {"vars"}, True),
        ("self.images['a\n']", set(), False), ("self.images", {"__dict__"}, True),
    ],
)  # fmt: skip
def test_attributes_that_no_code_names_are_not_read(path, names, expected) -> None:
    assert may_be_read(path, names) is expected


def test_names_are_those_of_inner_functions_and_texts_too() -> None:
    def function(a):
        return lambda: (a.inner, getattr(a, "text"))  # noqa: B009

    for name in ("inner", "text"):
        found = UntrackedArrays()
        found.add_names_of(function.__code__)
        found.note(f"self.{name}", "an array")
        assert found.first_read() == f"self.{name}, an array"
    found = UntrackedArrays()
    found.add_names_of(function.__code__)
    found.note("self.other", "an array")
    assert found.first_read() is None


def test_arrays_of_other_libraries() -> None:
    assert not is_foreign_array(np.ndarray) and not is_foreign_array([1.0])
    assert qualified(np.ones(2)) == "numpy.ndarray" and qualified([]) == "list"
    torch = pytest.importorskip("torch", reason="another library")
    assert is_foreign_array(torch.ones(2)) and is_foreign_array(torch.nn.Linear(1, 1))
    assert not is_foreign_array(torch.float32) and not is_foreign_array(torch.Tensor)
    assert qualified(torch.ones(2)) == "torch.Tensor"

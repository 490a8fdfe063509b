"""Deferred dataclasses: they behave as those of the standard library, and are generated late."""

import copy
import dataclasses
import inspect
import pickle
import threading
from dataclasses import FrozenInstanceError, dataclass, field
from types import SimpleNamespace

import pytest

from weft.base import deferred_dataclass
from weft.base.deferred_dataclass import dataclass as deferred

OPTIONS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"eq": False},
    {"eq": False, "slots": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "order": True},
]


def pair(options):
    """The same class by this module and by the standard library."""

    def make(decorator):
        class Point:
            """A place."""

            x: int
            y: int = 2
            tags: tuple = field(default=(), compare=False)
            kept: list = field(default_factory=list, repr=False, compare=False)

            @property
            def total(self):
                return self.x + self.y

        return decorator(**options)(Point)

    return make(deferred), make(dataclass)


def is_generated(cls):
    return not isinstance(vars(cls)["__init__"], deferred_dataclass._Deferred)


@deferred(frozen=True, slots=True)
class Frozen:
    x: int
    y: str = "a"


@deferred
class Base:
    x: int

    def __eq__(self, other):
        return self.x == other.x


@deferred(frozen=True)
class HasOwnEquality:
    x: int
    y: int = 0

    def __eq__(self, other):
        return self.x == other.x


@deferred
class Derived(Base):
    y: int = 3


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_that_of_the_standard_library(options):
    made, expected = pair(options)
    assert not is_generated(made)
    one, other = made(1), expected(1)
    assert is_generated(made)
    assert made(3, y=1).kept == []
    assert str(inspect.signature(made)) == str(inspect.signature(expected))
    assert repr(one) == repr(other)
    assert (one == made(1)) is (other == expected(1))
    assert one != made(1, 3)
    assert one.total == 3
    assert one.kept == []
    assert one.kept is not made(1).kept
    assert made.__match_args__ == expected.__match_args__
    assert (made.__hash__ is None) is (expected.__hash__ is None)
    assert getattr(made, "__slots__", None) == getattr(expected, "__slots__", None)
    assert hasattr(one, "__dict__") is hasattr(other, "__dict__")
    assert str(inspect.signature(made)) == str(inspect.signature(expected))
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    if options.get("order"):
        assert made(1) < made(2)
    if options.get("frozen"):
        for change in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x")):
            with pytest.raises(FrozenInstanceError):
                change()
        with pytest.raises((FrozenInstanceError, AttributeError)):
            one.z = 1
    else:
        one.x = 7
        assert one.x == 7


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "use", [dataclasses.is_dataclass, dataclasses.fields, repr, inspect.signature]
)
def test_any_use_of_the_class_may_be_the_first(options, use):
    made, expected = pair(options)
    if use is dataclasses.fields:
        assert [f.name for f in use(made)] == [f.name for f in use(expected)]
    elif use is inspect.signature:
        assert str(use(made)) == str(use(expected))
    elif use is repr:
        assert "Point" in use(made)
    else:
        assert use(made)
    assert made(1, y=4).total == 5


def test_class_attributes_are_the_defaults():
    made, _ = pair({})
    assert made.y == 2
    assert made.tags == ()
    assert not hasattr(made, "kept")
    assert not is_generated(made)


def test_objects_are_copied_and_pickled():
    one = Frozen(1, "b")
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert dataclasses.replace(one, x=2) == Frozen(2, "b")
    assert hash(Frozen(1, "b")) == hash(one)


def test_a_class_that_is_first_used_by_pickle_is_complete():
    made, _ = pair({"frozen": True})
    one = made.__new__(made)
    vars(one).update(x=1, y=2, tags=())
    assert one == made(1)
    assert hash(one) == hash(made(1))
    with pytest.raises(FrozenInstanceError):
        one.x = 3


def test_subclasses_inherit_fields_and_methods():
    assert repr(Derived(1)) == "Derived(x=1, y=3)"
    assert Derived(1) == Derived(1, 3)
    assert Derived(1) != Derived(1, 4)
    assert Base(2) == SimpleNamespace(x=2)

    class Plain(Base):
        def __init__(self):
            super().__init__(5)

    assert Plain().x == 5


def test_a_hash_is_generated_beside_an_own_equality():
    assert HasOwnEquality(1, 2) == HasOwnEquality(1, 3)
    assert hash(HasOwnEquality(1, 2)) == hash((1, 2))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Base(1))


def test_an_error_of_the_standard_library_is_raised_at_each_use():
    @deferred
    class Wrong:
        x: int = 1
        y: int

    for _ in range(2):
        with pytest.raises(TypeError, match="non-default argument 'y'"):
            Wrong(1)


def test_a_mutable_default_is_refused():
    @deferred
    class Wrong:
        x: list = []  # noqa: RUF012

    with pytest.raises(ValueError, match="mutable default"):
        Wrong()


def test_post_init_runs():
    @deferred(frozen=True)
    class Checked:
        x: int

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")

    assert Checked(1).x == 1
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_threads_may_use_a_class_first_at_the_same_time():
    made, _ = pair({"frozen": True})
    start = threading.Barrier(8)
    found = []

    def construct():
        start.wait()
        found.append(made(1))

    threads = [threading.Thread(target=construct) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [made(1)] * 8

import pytest

from weft.base.errors import ArgumentError, UnknownDevice
from weft.device.identity import DeviceFamily, DeviceId, ordinal


@pytest.mark.parametrize(
    "text,family,locator",
    [
        ("CPU", "CPU", ""),
        ("cpu:1", "CPU", "1"),
        ("disk:/a:b/c", "DISK", "/a:b/c"),
        ("X_2:http://host:80/f", "X_2", "http://host:80/f"),
    ],
)
def test_parsing_splits_at_the_first_colon(text, family, locator):
    assert DeviceId.parse(text) == DeviceId(family, locator)


@pytest.mark.parametrize("text", ["", ":1", "1CPU", "a b", "-"])
def test_invalid_family_names(text):
    with pytest.raises(UnknownDevice) as caught:
        DeviceId.parse(text)
    assert caught.value.asked == repr(text)


def test_a_number_is_taken_for_a_size():
    with pytest.raises(UnknownDevice) as error:
        DeviceId.parse(3)
    assert "Tensor.empty(2, 3)" in error.value.try_


def test_the_first_locator_is_not_written():
    assert str(DeviceId("CPU")) == "CPU"
    assert str(DeviceId("CPU", "1")) == "CPU:1"
    assert str(DeviceId("DISK", "/a/b")) == "DISK:/a/b"


@pytest.mark.parametrize("given,spelt", [("", "0"), ("0", "0"), ("01", "1"), ("12", "12")])
def test_ordinals_are_spelt_in_one_way(given, spelt):
    assert ordinal(given) == spelt
    assert ordinal(spelt) == spelt


@pytest.mark.parametrize("given", ["x", "-1", "1.0", "²"])
def test_invalid_ordinals(given):
    with pytest.raises(UnknownDevice):
        ordinal(given)


def test_ids_are_values():
    assert DeviceId("A", "1") == DeviceId("A", "1") != DeviceId("A", "2")
    assert sorted([DeviceId("B"), DeviceId("A", "2"), DeviceId("A", "1")])[0] == DeviceId("A", "1")
    assert len({DeviceId("A"), DeviceId("A")}) == 1


@pytest.mark.parametrize("name", ["cpu", "", "A B", "A:1"])
def test_a_family_needs_a_plain_name(name):
    with pytest.raises(ArgumentError):
        DeviceFamily(name)

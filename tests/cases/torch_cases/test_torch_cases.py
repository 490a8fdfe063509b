"""Cases are the same for the same number, and a difference is found."""

import dataclasses

import pytest

from cases.torch_cases import FAMILIES, Mismatch, case, check, elementwise

pytest.importorskip("torch", reason="PyTorch is what weft is compared with")


def test_a_number_says_all():
    assert str(case(7)) == str(case(7))
    assert elementwise.one_operand is not None and "exp" in FAMILIES


def test_a_wrong_value_is_found():
    right = case(3, ["exp"])
    check(right)
    wrong = dataclasses.replace(right, weft=lambda x: x.exp() + 1)
    with pytest.raises(Mismatch, match="result 0"):
        check(wrong)


def test_a_wrong_gradient_is_found():
    right = case(3, ["sigmoid"])
    wrong = dataclasses.replace(right, weft=lambda x: x.sigmoid().detach() + x * 0)
    with pytest.raises(Mismatch, match="gradient"):
        check(wrong)

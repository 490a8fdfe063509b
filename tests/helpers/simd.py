"""Targets of no device whose kernels the SIMD strategy optimises."""

from __future__ import annotations

from dataclasses import replace

import weft_simd
from weft.device.capabilities import ComputeCaps, Target
from weft.uop import GroupOp


def simd_target(compute: ComputeCaps) -> Target:
    """A target that has every operation itself."""
    return Target(compute, GroupOp.ALU, None, "c", "simd", weft_simd.passes, weft_simd.choose)


def with_simd(target: Target) -> Target:
    """A target with the SIMD strategy in place of its own."""
    return replace(target, passes=weft_simd.passes, choose=weft_simd.choose)

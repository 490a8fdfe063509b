"""Launching: arguments, variables, groups, times, damaged binaries."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import pack, unpack
from weft.plugin import BufferHints, CompiledProgram, CompileError, LinearProgram
from weft.testing.conformance.programs import Builder
from weft.uop import UOp
from weft_opencl.allocator import BufferAllocator
from weft_opencl.compiler import DriverCompiler
from weft_opencl.renderer import OpenCLRenderer
from weft_opencl.runner import KernelRunner

INT = dtypes.int32


def built(device, builder, name="by_hand"):
    program = LinearProgram.of(name, builder.nodes)
    source = OpenCLRenderer(device.facts).render(program)
    binary = DriverCompiler(device).compile(source, name)
    return program, KernelRunner(device, CompiledProgram(name, binary, source, program))


def memory(allocator, values):
    data = pack(values, INT)
    handle = allocator.allocate(len(data), BufferHints())
    allocator.copy_in(handle, memoryview(data))
    return handle


def values_in(allocator, handle, count):
    out = bytearray(4 * count)
    allocator.copy_out(memoryview(out), handle)
    return unpack(bytes(out), INT)


def test_arguments_variables_and_time(either):
    allocator = BufferAllocator(either)
    b = Builder()
    step, start = UOp.variable("step", 0, 9), UOp.variable("a_start", 0, 99)
    b.add(step), b.add(start)
    out, data = b.argument(0, INT, 8), b.argument(3, INT, 8)
    at = b.special("gidx0", 8)
    b.store(out, at, b.load(data, at) * step + start)
    program, runner = built(either, b)
    handles = [memory(allocator, [0] * 8), memory(allocator, range(8))]
    seconds = runner(handles, global_size=program.global_size, values=(7, 3), wait=True)
    assert values_in(allocator, handles[0], 8) == [7 + 3 * n for n in range(8)]
    assert seconds is not None and 0 < seconds < 1
    assert runner(handles, global_size=program.global_size, values=(1, 0), wait=False) is None
    assert values_in(allocator, handles[0], 8) == [1] * 8


def test_groups_of_work_items(device):
    allocator = BufferAllocator(device)
    b = Builder()
    out = b.argument(0, INT, 24)
    group, item = b.special("gidx0", 3), b.special("lidx0", 8)
    b.store(out, group * 8 + item, group * 100 + item)
    program, runner = built(device, b)
    handle = memory(allocator, [0] * 24)
    runner([handle], global_size=program.global_size, local_size=program.local_size)
    assert values_in(allocator, handle, 24) == [100 * g + n for g in range(3) for n in range(8)]


def test_a_window_is_an_argument(device):
    allocator = BufferAllocator(device)
    count = device.facts.alignment // 4
    b = Builder()
    out, data = b.argument(0, INT, 1), b.argument(1, INT, 1)
    b.store(out, 0, b.load(data, 0))
    _, runner = built(device, b)
    whole = memory(allocator, range(3 * count))
    part = allocator.view(whole, 2 * count * 4, 4)
    handle = memory(allocator, [0])
    runner([handle, part])
    assert values_in(allocator, handle, 1) == [2 * count]


def test_a_damaged_binary(device):
    b = Builder()
    b.store(b.argument(0, INT, 1), 0, UOp.const(INT, 1))
    program = LinearProgram.of("by_hand", b.nodes)
    with pytest.raises(CompileError):
        KernelRunner(device, CompiledProgram("by_hand", b"not a program", "", program))

"""Kernel AST to a program that can be launched: the one place where kernels and programs meet.

Two caches: programs in memory by AST and device, binaries on disk by compiler and source. A disk
entry that does not read back as it was written is a miss (see base/disk_cache.py), and the kernel
is compiled again.
"""

from __future__ import annotations

import importlib
from typing import Any
from weakref import WeakKeyDictionary

from weft.base import trace
from weft.base.disk_cache import DiskCache
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.device.capabilities import ComputeCaps
from weft.device.opened import OpenDevice
from weft.device.parts import Runner
from weft.device.program import CompiledProgram, Estimates, LinearProgram
from weft.schedule.cache import schedules
from weft.uop import UOp

_binaries = DiskCache("binaries", 1)
_loaded: WeakKeyDictionary[OpenDevice, dict[Any, Program]] = WeakKeyDictionary()
# what was generated, for further devices of the same kind: the parts of a sharded value
_generated: dict[Any, tuple[ComputeCaps | None, LinearProgram, str]] = {}


class ProgramSpec:
    """What was generated for a kernel: its linear program and its source."""

    def __init__(self, program: LinearProgram, src: str, binary: bytes) -> None:
        self.name = program.name
        self.uops = program.uops
        self.src = src
        self.binary = binary
        self.program = program

    @property
    def estimates(self) -> Estimates:
        """Operations and bytes of one launch."""
        return self.program.estimates


class Program:
    """A kernel, ready to launch on one device.

    p: what was generated (`p.uops`, `p.src`, `p.name`).
    """

    def __init__(self, p: ProgramSpec, device: OpenDevice, runner: Runner) -> None:
        self.p = p
        self.device = device
        self.runner = runner
        self.slots = p.program.globals
        self.variables = p.program.variables

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.p.name

    def __repr__(self) -> str:
        return f"<Program {self.p.name} on {self.device.name}>"


def program_for(ast: UOp, device: str) -> Program:
    """The program of a kernel AST on a device, generated, compiled and loaded when first asked for.

    Raises CompileError with the source and the compiler's log, and CapabilityError for what the
    device cannot do.
    """
    opened = registry.open(device)
    programs = _loaded.setdefault(opened, {})
    key = (
        ast, settings.NOOPT, settings.FUSE_ARANGE, settings.BEAM, settings.MATMUL_PRECISION,
    )  # fmt: skip
    found = programs.get(key)
    if found is None:
        found = programs[key] = _build(key, opened)
    return found


def _build(key: Any, device: OpenDevice) -> Program:
    ast = key[0]
    with trace.span("kernel", device=device.name) as span:
        program, source = _generate(key, device)
        span.note(name=program.name)
        trace.point(
            "source", name=program.name, device=device.name, source=source, ast=ast,
            program=program,
        )  # fmt: skip
        binary = _compile(source, program.name, device)
        compiled = CompiledProgram(program.name, binary, source, program)
        return Program(ProgramSpec(program, source, binary), device, device.runner(compiled))


def _generate(key: Any, device: OpenDevice) -> tuple[LinearProgram, str]:
    """The program and its source; taken over from a device for which equal code is generated."""
    can = device.capabilities
    kind = (key, device.id.family, can.fingerprint)
    if can.fingerprint and kind in _generated:
        for_whom, program, source = _generated[kind]
        if for_whom == can.compute:
            return program, source
    plan = None
    if settings.BEAM > 0 and not settings.NOOPT:  # who never searches need not read how
        plan = importlib.import_module("weft.engine.search").plan_for(key[0], device)
    with trace.span("lower", device=device.name):
        if plan is None:
            program = lower(key[0], device.target)
        else:
            program = lower(key[0], device.target, plan.choose, prepared=plan.prepared)
    source = device.renderer.render(program)
    if can.fingerprint:
        _generated[kind] = (can.compute, program, source)
    return program, source


def _compile(source: str, name: str, device: OpenDevice) -> bytes:
    compiler = device.compiler
    if compiler is None:
        return source.encode()
    key = "\0".join((compiler.fingerprint, device.capabilities.fingerprint, name, source))
    binary = _binaries.get(key)
    if binary is None:
        with trace.span("compile", name=name, device=device.name):
            binary = compiler.compile(source, name)
        _binaries.put(key, binary)
    return binary


def forget_programs() -> None:
    """Drop every loaded program and every schedule: for tests of the caches."""
    _loaded.clear()
    _generated.clear()
    schedules.clear()


registry.when_changed(forget_programs)

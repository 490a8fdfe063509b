"""Program cache: generate, compile and load the kernel of an AST.
Also: code cache.

Two caches: loaded kernels in memory by AST and device, binaries on disk by compiler and source. A
damaged disk entry is a miss (see base/disk_cache.py), and the kernel is compiled again.

Where the compiler may run in parallel, kernels are compiled while the next ones are generated.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias, TypeVar

from weft.base import trace
from weft.base.arguments import kind_of
from weft.base.collector import freeze_survivors, uncollected
from weft.base.disk_cache import DiskCache
from weft.base.errors import CompileError, PluginError, WeftError
from weft.base.settings import settings
from weft.base.weak import WeakKeys
from weft.device import CompiledProgram, Feature, LinearProgram, OpenDevice, registry
from weft.engine import kernel_cache, ready_kernels, tuned_plans
from weft.engine.capture import recording
from weft.engine.kernel_arguments import KernelFamilies
from weft.engine.kernel_replacement import Replaceable, may_be_replaced
from weft.engine.parallel_compilation import Compilations
from weft.engine.ready_kernels import ReadyKernels
from weft.engine.runners import KernelRunner
from weft.schedule.cache import schedules
from weft.uop import UOp

Made = TypeVar("Made")
Bound: TypeAlias = tuple[KernelRunner, Mapping[UOp, int]]

_binaries = DiskCache("binaries", 1)
_loaded: WeakKeys[OpenDevice, dict[Any, KernelRunner]] = WeakKeys()
# what was generated, for further devices of the same kind: the parts of a sharded value
_generated: dict[Any, tuple[tuple[Any, ...], LinearProgram, str]] = {}
_families: WeakKeys[OpenDevice, KernelFamilies] = WeakKeys()
# the ASTs that general kernels compute, and their arguments
_bound: WeakKeys[OpenDevice, dict[Any, Bound]] = WeakKeys()
_ready: WeakKeys[OpenDevice, dict[Any, ReadyKernels]] = WeakKeys()
_ready_bound: WeakKeys[OpenDevice, dict[Any, Bound]] = WeakKeys()
_MOST_BOUND = 1 << 12
_MOST_COMPILERS = 16
_NO_VALUES: dict[UOp, int] = {}
_NO_PROGRAMS: dict[Any, KernelRunner] = {}


def program_for(ast: UOp, device: str) -> KernelRunner:
    """The kernel of an AST, loaded on a device: generated, compiled and loaded at the first call.

    Raises CompileError with the source and the compiler's log, and CapabilityError for what the
    device cannot do.
    """
    opened = registry.open(device)
    programs = _loaded.setdefault(opened, {})
    key = _key(ast)
    found = programs.get(key)
    if found is None:
        found = programs[key] = _build(key, opened)
    return found


def bound_program_for(ast: UOp, device: str) -> Bound:
    """The kernel that computes an AST on a device, and the values of the arguments that it has
    besides: it may be general, see `kernel_arguments`. Raises what `program_for` raises."""
    opened = registry.open(device)
    key = _key(ast)
    exact = _loaded.get(opened, _NO_PROGRAMS).get(key)
    if exact is not None:
        return exact, _NO_VALUES
    ready = _ready_program(key, opened)
    if ready is not None:
        return ready
    bound = _bound.setdefault(opened, {})
    found = bound.get(key)
    if found is None:
        general, values = _resolve(key, opened)
        try:
            found = program_for(general, device), values
        except WeftError:
            if not values:
                raise
            # not every kernel can have variable sizes: local arrays are of constant size
            _families[opened].refuse(ast)
            found, values = (program_for(ast, device), _NO_VALUES), _NO_VALUES
        if values:
            if len(bound) >= _MOST_BOUND:
                bound.clear()
            bound[key] = found
        if recording() is None:
            ready_kernels.begin_table(opened)
    return found


def _ready_program(key: Any, device: OpenDevice) -> Bound | None:
    """The kernel for an AST that is on disk: its own, or a ready one, which an optimised one
    replaces later. None: it has to be compiled, or kernels are recorded: those are optimised."""
    if recording() is not None or not ready_kernels.has_table(device):
        return None
    known = _ready_bound.setdefault(device, {})
    found = known.get(key)
    if found is not None:
        return found
    if key in _loaded.get(device, _NO_PROGRAMS) or key in _bound.get(device, _NO_PROGRAMS):
        return None
    if not settings.KERNEL_ARGUMENTS or settings.BEAM > 0:
        return None
    own = None if ready_kernels.is_building() else _stored_program(key, device)
    if own is not None:
        return own, _NO_VALUES
    tables = _ready.setdefault(device, {})
    table = tables.get(key[1:])
    if table is None:
        table = tables[key[1:]] = ReadyKernels(lambda ast: _is_ready((ast, *key[1:]), device))
    resolved = table.resolve(key[0])
    if resolved is None:
        return None
    general, values, iterations = resolved
    kernel = _loaded[device][(general, *key[1:])]
    if may_be_replaced(key[0], iterations):
        kernel = _replaceable(kernel, key, values)
    if len(known) >= _MOST_BOUND:
        known.clear()
    found = known[key] = kernel, values
    return found


def _is_ready(key: Any, device: OpenDevice) -> bool:
    """Whether a general kernel needs no compilation. While the table is built, it is compiled."""
    if _stored_program(key, device) is None and ready_kernels.is_building():
        try:
            _loaded[device][key] = _build(key, device)
        except WeftError:
            return False
    return key in _loaded[device]


def _replaceable(kernel: KernelRunner, key: Any, values: Mapping[UOp, int]) -> KernelRunner:
    """A ready kernel for one AST, which its optimised kernel replaces after many launches."""
    device = kernel.device
    made = KernelRunner(kernel.p, device, kernel.runner)

    def compile() -> Callable[[], object]:
        program, source = _generate(key, device)
        return partial(_compile, source, program.name, device, None)

    def load() -> KernelRunner:
        programs = _loaded[device]
        if key not in programs:
            programs[key] = _build(key, device)
        return programs[key]

    made.runner = Replaceable(made, compile, load, values)
    return made


def _stored_program(key: Any, device: OpenDevice) -> KernelRunner | None:
    """The kernel of an AST if it is loaded, or source and binary are on disk."""
    programs = _loaded.setdefault(device, {})
    found = programs.get(key)
    if found is not None:
        return found
    where = kernel_cache.key_of(key[0], key[1:], device)
    made = where and kernel_cache.find(where, key[0], lambda: _lower(key[0], device, False))
    if not made:
        return None
    program, source = made
    binary = source.encode()
    if device.compiler is not None:
        kept = _binaries.get(_binary_key(source, program.name, device))
        if kept is None:
            return None
        binary = kept
    try:
        found = programs[key] = _load(program, source, binary, device)
    except (CompileError, PluginError):
        return None  # it is compiled again
    return found


def _resolve(key: Any, device: OpenDevice) -> tuple[UOp, Mapping[UOp, int]]:
    """The AST to compile for an AST, and the values of the variables in place of its numbers."""
    ast = key[0]
    if not settings.KERNEL_ARGUMENTS or settings.BEAM > 0:
        return ast, _NO_VALUES
    if not settings.NOOPT and tuned_plans.data_for(ast, device) is not None:
        return ast, _NO_VALUES
    return _families.setdefault(device, KernelFamilies()).resolve(ast)


def prepare(wanted: Iterable[tuple[UOp, str]]) -> None:
    """Load the programs of several kernel ASTs on devices, for example of one schedule.

    Kernels that fail are left out; `program_for` raises their errors. Nothing is prepared where
    kernels are searched for, since a search measures.
    """
    several = dict.fromkeys(wanted)
    if len(several) < 2:
        return
    missing = [(_key(ast), registry.open(device)) for ast, device in several]
    missing = [(key, device) for key, device in missing if key not in _loaded.get(device, {})]
    if len(missing) < 2 or settings.BEAM > 0:
        return
    missing = [(key, device) for key, device in missing if key not in _bound.get(device, {})]
    missing = [(key, device) for key, device in missing if _ready_program(key, device) is None]
    ahead = _Prefetched()
    try:
        resolved = [(key, *_resolve(key, device), device) for key, device in missing]
        missing = list(dict.fromkeys(((g, *key[1:]), device) for key, g, _, device in resolved))
        uncollected(ahead.start_all, missing)
        for key, device in missing:
            programs = _loaded.setdefault(device, {})
            if key not in programs:
                programs[key] = _build(key, device, ahead)
        for key, general, values, device in resolved:
            if values:
                program = _loaded[device][(general, *key[1:])]
                _bound.setdefault(device, {})[key] = program, values
    except WeftError:
        return  # of the first of them, in the order of the schedule
    finally:
        ahead.end()


class _Prefetched:
    """Binaries of a schedule's kernels before they are needed: read from disk, or being
    compiled."""

    def __init__(self) -> None:
        self.read: dict[str, bytes] = {}
        self.compilations: Compilations | None = None

    def start_all(self, missing: Iterable[tuple[UOp, OpenDevice]]) -> None:
        """Start each kernel of a device whose compiler may run several times at once."""
        for key, device in missing:
            if _compiles_in_parallel(device):
                self.start(*_generate(key, device), device)
        freeze_survivors()  # linear programs stay alive

    def start(self, program: LinearProgram, source: str, device: OpenDevice) -> None:
        """Read a kernel's binary, or have it compiled."""
        compiler, key = device.compiler, _binary_key(source, program.name, device)
        if compiler is None or key in self.read:
            return
        found = _binaries.get(key)
        if found is not None:
            self.read[key] = found
            return
        if self.compilations is None:
            self.compilations = Compilations(_compilers())
        self.compilations.start(key, compiler, source, program.name)

    def is_compiling(self, key: str) -> bool:
        """Whether the compilation of this kernel was started."""
        return self.compilations is not None and key in self.compilations

    def end(self) -> None:
        """Drop binaries that were not used."""
        if self.compilations is not None:
            self.compilations.end()


def _key(ast: UOp) -> Any:
    return (ast, *kernel_cache.settings_of_a_kernel())


def _compilers() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return min(_MOST_COMPILERS, len(usable(0)) if usable else os.cpu_count() or 1)


def _compiles_in_parallel(device: OpenDevice) -> bool:
    """Whether several kernels may be compiled at once for a device."""
    compute = device.capabilities.compute
    able = compute is not None and compute.has(Feature.PARALLEL_COMPILE)
    return able and device.compiler is not None and bool(device.capabilities.fingerprint)


def _build(key: Any, device: OpenDevice, ahead: _Prefetched | None = None) -> KernelRunner:
    ast = key[0]
    with trace.span("kernel", device=device.name) as span:
        program, source = _generate(key, device)
        span.note(name=program.name)
        trace.point(
            "source", name=program.name, device=device.name, source=source, ast=ast,
            program=program,
        )  # fmt: skip
        binary, is_stored = _binary(source, program.name, device, ahead)
        try:
            return _load(program, source, binary, device)
        except (CompileError, PluginError):
            if not is_stored:
                raise
        # The stored binary is intact but may be wrong: its compiler may have ended early.
        binary = _compile(source, program.name, device, None)
        return _load(program, source, binary, device)


def _load(program: LinearProgram, source: str, binary: bytes, device: OpenDevice) -> KernelRunner:
    compiled = CompiledProgram(program.name, binary, source, program)
    return KernelRunner(compiled, device, device.runner(compiled))


def _generate(key: Any, device: OpenDevice) -> tuple[LinearProgram, str]:
    """The program and its source; taken over from a device for which equal code is generated."""
    can = device.capabilities
    kind = (key, device.id.family, can.fingerprint)
    if can.fingerprint and kind in _generated:
        for_whom, program, source = _generated[kind]
        if for_whom == _generated_for(device):
            return program, source
    searching = settings.BEAM > 0 and not settings.NOOPT
    where = None if searching else kernel_cache.key_of(key[0], key[1:], device)
    made = where and kernel_cache.find(where, key[0], lambda: _lower(key[0], device, searching))
    if not made:
        program = _lower(key[0], device, searching)
        render = partial(device.renderer.render, program)
        made = program, _made_by_plugin(str, "rendering a kernel", render, device)
        if where is not None:
            kernel_cache.put(where, *made)
    if can.fingerprint:
        _generated[kind] = (_generated_for(device), *made)
    return made


def _generated_for(device: OpenDevice) -> tuple[Any, ...]:
    """The capabilities in which devices of one fingerprint may differ, and which affect code."""
    return device.capabilities.compute, device.device.passes, device.device.choose


def _lower(ast: UOp, device: OpenDevice, searching: bool) -> LinearProgram:
    # imported late: a process that finds all kernels on disk does not need code generation
    lower = importlib.import_module("weft.codegen.pipeline").lower
    plan = None
    if searching:  # imported late as well
        plan = importlib.import_module("weft.engine.search").plan_for(ast, device)
    elif not settings.NOOPT:
        tuned = tuned_plans.data_for(ast, device)
        if tuned is not None:
            database = importlib.import_module("weft.engine.tuning_database")
            plan = database.legal_plan(tuned, ast, device)
    with trace.span("lower", device=device.name):
        if plan is None:
            return lower(ast, device.target)
        return lower(ast, device.target, plan.choose, prepared=plan.prepared)


def _binary(
    source: str, name: str, device: OpenDevice, ahead: _Prefetched | None
) -> tuple[bytes, bool]:
    """The binary of a kernel, and whether it was read from the disk cache."""
    if device.compiler is None:
        return source.encode(), False
    key = _binary_key(source, name, device)
    stored = ahead.read.get(key) if ahead is not None else None
    if stored is None and (ahead is None or not ahead.is_compiling(key)):
        stored = _binaries.get(key)
    if stored is not None:
        return stored, True
    return _compile(source, name, device, ahead), False


def _compile(source: str, name: str, device: OpenDevice, ahead: _Prefetched | None) -> bytes:
    """Compile a kernel, or wait for the compilation that `ahead` started, and keep its binary."""
    key, compiler = _binary_key(source, name, device), device.compiler
    assert compiler is not None
    with trace.span("compile", name=name, device=device.name):
        work = partial(compiler.compile, source, name)
        if ahead is not None and ahead.is_compiling(key):
            assert ahead.compilations is not None
            work = partial(ahead.compilations.result, key)
        binary = _made_by_plugin(bytes, "compiling a kernel", work, device)
    _binaries.put(key, binary)
    return binary


def _made_by_plugin(
    kind: type[Made], doing: str, work: Callable[[], Any], device: OpenDevice
) -> Made:
    """The result of a call of a plugin. Raises PluginError for its exceptions, OutOfMemory for a
    MemoryError, and PluginError for a result of another kind."""
    with device.call(doing):
        made = work()
    if not isinstance(made, kind):
        device.broken(doing, f"gave {kind_of(made)} instead of {kind.__name__}")
    return made


def _binary_key(source: str, name: str, device: OpenDevice) -> str:
    said = device.compiler.fingerprint if device.compiler is not None else ""
    return "\0".join((said, device.capabilities.fingerprint, name, source))


def forget_programs() -> None:
    """Drop every loaded program and every schedule: for tests of the caches."""
    for kept in (_loaded, _bound, _families, _ready, _ready_bound):
        kept.clear()
    ready_kernels.forget_tables()
    _generated.clear()
    schedules.clear()


registry.when_changed(forget_programs)

"""Plugin interface: the classes and protocols that a plugin implements: device, allocator,
renderer, compiler, runner.

The allocator is a base class, since most of its methods have a default; the others are protocols.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import CapabilityError
from weft.device.capabilities import Capabilities, Choose, Passes
from weft.device.identity import DeviceId

if TYPE_CHECKING:
    from weft.base.dtype import DType
    from weft.device.program import LinearProgram
    from weft.uop import Ops, PatternMatcher

Handle = TypeVar("Handle")
Dims: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Tuning:
    """What is known of a processor by measurement, and under which names it may be shipped.

    :param processor: the processor, as a shipped table names it; "": no table is for it.
    :param level: the instructions that kernels use, by which measured fields are listed.
    :param target: level and threads, by which plans are listed.
    :param machine: the measured fields of `MachineModel`, as in a table.
    :param plans: the shipped plans: by the digest of a kernel, whether its loops are prepared, and
        the optimisations.
    """

    processor: str = ""
    level: str = ""
    target: str = ""
    machine: Mapping[str, float] = field(default_factory=dict[str, float])
    plans: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Device:
    """One opened device. Subclass it to keep a driver's context.

    :param id: which device.
    :param capabilities: its capabilities.
    :param passes: returns the passes of code generation for it; None: the generic ones.
    :param choose: returns the loop transformations of a kernel; None: the generic choice.
    :param tuning: what was measured for it; None: nothing.

    `passes` and `choose` are functions of a module, as in `Target`. The key of generated code on
    disk contains the source files of their packages. If they use other files, the fingerprint must
    change with those.
    """

    passes: Passes | None = None
    choose: Choose | None = None
    tuning: Tuning | None = None

    def __init__(
        self,
        id: DeviceId,
        capabilities: Capabilities,
        *,
        passes: Passes | None = None,
        choose: Choose | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        self.id = id
        self.capabilities = capabilities
        if passes is not None:
            self.passes = passes
        if choose is not None:
            self.choose = choose
        if tuning is not None:
            self.tuning = tuning

    def synchronize(self) -> None:
        """Wait until everything launched so far is done. Default: nothing to wait for."""

    def close(self) -> None:
        """Release everything: resources of opening, and allocations that were not freed. Default:
        nothing.

        Called by ``Device.close``, when another plugin takes the family over, and at the end of the
        interpreter (also after an exception and ``sys.exit``) in the process that opened the
        device. Not called where a signal or ``os._exit`` ends the process, nor in its forks.
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


@dataclass(frozen=True)
class BufferHints:
    """The purpose of an allocation. An allocator may ignore it.

    :param image: it will be read as a texture of this dtype.
    """

    image: DType | None = None


NO_HINTS = BufferHints()


class Allocator(ABC, Generic[Handle]):
    """Allocates, frees and copies a device's memory.

    A handle is the plugin's own; the core only passes it back. The core never allocates zero bytes,
    and the memoryviews it passes are flat, contiguous, of format ``B`` and exactly as long as the
    handle.
    """

    @abstractmethod
    def allocate(self, nbytes: int, hints: BufferHints) -> Handle:
        """``nbytes`` fresh bytes, with any content.

        :raises OutOfMemory: when there is no memory (pooled memory is then dropped and this is
            retried).
        """

    @abstractmethod
    def copy_in(self, dst: Handle, src: memoryview) -> None:
        """Write the whole of ``src`` to ``dst``; ``src`` may be reused when this returns."""

    @abstractmethod
    def copy_out(self, dst: memoryview, src: Handle) -> None:
        """Fill the whole of ``dst`` from ``src``, after all work launched so far."""

    def free(self, handle: Handle, nbytes: int) -> None:
        """Free an allocation. Default: Python frees the handle.

        A destructor may call this at any time: take no lock that another method may hold, and defer
        slow work. It may be called after the device was closed, which frees everything. It is not
        called at the end of the interpreter.
        """

    def used_bytes(self) -> int | None:
        """The bytes that are allocated and not freed. The conformance kit compares them before and
        after a test. Memory whose freeing is deferred counts as allocated. Default: None,
        unknown."""
        return None

    def view(self, handle: Handle, offset: int, nbytes: int) -> Handle:
        """A window of an allocation, which shares its bytes. Default: CapabilityError."""
        raise CapabilityError(
            "this allocator has no windows of its memory",
            asked=f"{nbytes} bytes from offset {offset}",
            because=f"{type(self).__name__} does not implement view",
            try_="declare MemoryCaps(alignment=None), or implement view",
        )

    def map_host(self, handle: Handle) -> memoryview | None:
        """A memoryview of the memory itself, after all work launched so far. Default: None: the
        host cannot access it."""
        return None

    def wrap(self, memory: memoryview) -> Handle | None:
        """A handle of Python memory, without a copy; the core keeps the memory alive. Default:
        None: not supported."""
        return None

    def link_copy(self, dst: Handle, src: Any, source: Device, nbytes: int) -> bool:
        """Copy from another device, or another allocation of this one, without the host. False if
        that is impossible. Called only within one link group. Default: False."""
        return False

    def stream_out(self, src: Handle, chunk: int) -> Iterator[memoryview] | None:
        """The bytes in order, in pieces of at most ``chunk``. A piece is valid until the next
        one is requested. Default: None: the memory is read at once."""
        return None

    def capacity(self) -> int | None:
        """The bytes that exist before any allocation, such as the size of a file. Default: None:
        there are none."""
        return None


class Renderer(Protocol):
    """Renders linear programs as source text.

    If a language reserves names, a renderer has a method ``entry_point(name)``. It returns the name
    in the source of the kernel that the program calls ``name``.

    :ivar language: cache namespace and file suffix, such as ``"c"``.
    :ivar native_ops: operations of the language; all others are decomposed before rendering.
    :ivar rules: the last rewrites before rendering, or None.
    """

    language: str
    native_ops: frozenset[Ops]
    rules: PatternMatcher | None

    def render(self, program: LinearProgram) -> str:
        """The source of one kernel, named ``program.name``; as a `SourceText` it states the names
        of its functions."""
        ...


class Compiler(Protocol):
    """Compiles source to bytes.

    A compiler may have a second method, `compile_many(sources) -> list[bytes]`. It takes pairs of
    source and name, and compiles several kernels in one call if the device has
    `Feature.PARALLEL_COMPILE`. If it raises, each kernel is compiled by itself.

    :ivar fingerprint: changes whenever the same source could compile to other bytes; a part of the
        key of the disk cache.
    """

    fingerprint: str

    def compile(self, source: str, name: str) -> bytes:
        """The binary of one kernel. :raises CompileError: with the source and the compiler's
        log."""
        ...


class Runner(Protocol):
    """Launches one loaded program."""

    def __call__(
        self,
        handles: Sequence[Any],
        *,
        global_size: Dims | None,
        local_size: Dims | None,
        values: Sequence[int],
        wait: bool,
    ) -> float | None:
        """Launch it on these handles, in the order of the program's global slots.

        :param global_size: groups per dimension, None where the program has no launch grid.
        :param local_size: work items per group and dimension, None where it has no local
            dimensions.
        :param values: of the program's variables, in their order; their dtypes are int32 or int64.
        :param wait: return only when it is done.
        :return: seconds it took when ``wait``, else None.

        A launch that raises must not have run: the core may launch it again.
        """
        ...


class GraphRunner(Protocol):
    """Replays many launches as one submission."""

    def __call__(
        self, handles: Sequence[Sequence[Any]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Replay with these handles and values, one sequence per launch, in the order they were
        bound. Returns seconds when ``wait``, else None."""
        ...


class CollectiveRunner(Protocol):
    """Carries out one collective of the devices that it was made for."""

    def __call__(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Fill the handles of the results from those of the given values, one of each per device.

        It returns when the results of addressable devices may be read.
        """
        ...


class Exchanging(Protocol):
    """An exchange that has started."""

    def progress(self) -> None:
        """Let it progress, without waiting for its end."""
        ...

    def wait(self) -> None:
        """Return when the results of addressable devices may be read."""
        ...


@runtime_checkable
class AsyncCollective(CollectiveRunner, Protocol):
    """A collective that can go on while kernels run."""

    def starter(
        self, handles: tuple[Sequence[Any], Sequence[Any]] | None, overlaps: bool = True
    ) -> Callable[[Sequence[Any], Sequence[Any]], Exchanging]:
        """A function that starts the exchange on handles of results and of given values. It is
        called again after the end of the last exchange only.

        handles: those of every call, where they are always the same. overlaps: whether this process
        runs kernels between start and end. All processes call this for the same collectives in one
        order, and start them in one order.
        """
        ...


@runtime_checkable
class SettableGraph(GraphRunner, Protocol):
    """A graph whose arguments are set one by one, so that unchanged arguments cost no time."""

    def setter(self, places: Sequence[tuple[int, int]]) -> Callable[[Any], None]:
        """A function that sets a new handle at all these places, each the number of a launch and of
        its argument. A place has at most one, which is called before the first ``launch``."""
        ...

    def launch(self) -> None:
        """Replay with the current arguments."""
        ...


@runtime_checkable
class ValueGraph(SettableGraph, Protocol):
    """A graph that also sets the values of variables one by one; see `ComputeCaps.graph_values`."""

    def value_setter(self, places: Sequence[tuple[int, int]]) -> Callable[[int], None]:
        """A function that sets a new value at all these places, each the number of a launch and of
        its value."""
        ...

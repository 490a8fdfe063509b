"""Device capabilities: frozen records that a plugin fills in and the core reads.

The core must not depend on the name of a device: every property that a pass needs is a field here.
``Target`` is the part of the capabilities that code generation reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.device.machine import MachineModel
from weft.device.packed_dot import PairDot
from weft.device.tensor_core import TensorCore
from weft.device.validation import check, each, freeze, function, one, sizes, whole

if TYPE_CHECKING:
    from weft.uop import Ops, PatternMatcher

Passes: TypeAlias = Callable[[], Sequence[Any]]
"""Returns the passes of code generation (`Pass`) in their order."""
Choose: TypeAlias = Callable[[Any], Sequence[Any]]
"""Returns the loop transformations (`Opt`) of one `Kernel` in their order."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenMap(Mapping[Key, Value]):
    """An immutable mapping: records with such a field can be hashed, compared and pickled."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[Key, Value] | None = None) -> None:
        self._items: dict[Key, Value] = dict(items or {})
        self._hash: int | None = None

    def __getitem__(self, key: Key) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"

    def __reduce__(self) -> tuple[type[FrozenMap[Key, Value]], tuple[dict[Key, Value]]]:
        return FrozenMap, (self._items,)


class Feature(StrEnum):
    """An optional feature of a device."""

    BARRIER = "barrier"
    """Work items of one group can wait for each other."""
    SHARED = "shared"
    """Work items of one group share fast memory (see ``KernelLimits.shared_bytes``)."""
    EMULATED_GROUPS = "emulated_groups"
    """One processor runs the work items of a group sequentially: barriers and shared memory work,
    but cost more than they save."""
    WARP_REDUCE = "warp_reduce"
    """Lanes of one warp can exchange registers (see ``ComputeCaps.warp_size``)."""
    ASYNC_COPY = "async_copy"
    """Work items copy 4, 8 or 16 bytes to shared memory asynchronously."""
    THREADS = "threads"
    """The global dimension is divided among the threads of a processor, not launched as a grid. It
    is one dimension of any length, and the runner assigns parts of it. Long reduces are split."""
    PARALLEL_COMPILE = "parallel_compile"
    """Its compiler may run in several processes at once."""
    ANY_LANE = "any_lane"
    """An IF may have a vector of conditions; it is taken if any lane is true (``any_lane``)."""
    READY_KERNELS = "ready_kernels"
    """Kernels of few iterations whose sizes are arguments are about as fast as others: a table of
    them is compiled in the background and kept."""


@dataclass(frozen=True)
class KernelLimits:
    """Hard limits of one kernel; None: no limit.

    :param max_buffers: the most buffers of a kernel, outputs included.
    :param global_size: largest launch grid per dimension; None: no launch grid, all axes are loops.
    :param local_size: largest work group per dimension; None: no local dimensions.
    :param local_threads: the most work items of a group.
    :param shared_bytes: shared memory of one group.
    :param max_upcast: the most accumulators of one work item.
    :param image_size: (width, height) of the largest image in pixels; None: no images.
    :param row_bytes: the most bytes of local row buffers of one work item; 0: none.
    :param scratch_bytes: the most bytes of packed operands and partial sums in local arrays of one
        work item, on a stack for example; not for devices whose groups share memory.
    """

    max_buffers: int | None = None
    global_size: tuple[int, int, int] | None = None
    local_size: tuple[int, int, int] | None = None
    local_threads: int | None = None
    shared_bytes: int = 0
    max_upcast: int = 16
    row_bytes: int = 16384
    scratch_bytes: int = 131072
    image_size: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("global_size", "local_size", "image_size"):
            if isinstance(getattr(self, name), list):
                freeze(self, **{name: tuple})
        check(
            self, max_buffers=whole(1, optional=True), global_size=sizes(3), local_size=sizes(3),
            local_threads=whole(1, optional=True), shared_bytes=whole(), max_upcast=whole(1),
            row_bytes=whole(), scratch_bytes=whole(), image_size=sizes(2),
        )  # fmt: skip


@dataclass(frozen=True)
class MemoryCaps:
    """The memory capabilities of a device.

    :param alignment: sub-buffers may start at multiples of this many bytes; None: no sub-buffers.
    :param cheap_windows: whether a window is as fast as an allocation: the pool then uses windows
        of freed memory for slightly smaller buffers.
    :param persistent: whether its bytes outlive the process: such memory is neither pooled nor
        planned, and writes to it are not deferred.
    :param resident: whether it counts as memory in use.
    :param max_allocation: the largest single allocation in bytes.
    :param link_group: devices with equal groups can copy to each other without the host.
    :param collective_group: devices with equal groups exchange values by ``weft_collective``.
    :param addressable: whether this process reads, writes and computes there. Memory of other
        processes of one program is not addressable: kernels of such a device are not run here.
    :param host_visible: whether ``Allocator.map_host`` maps every allocation: functions of the host
        then compute in place.
    """

    alignment: int | None = 1
    cheap_windows: bool = False
    persistent: bool = False
    resident: bool = True
    max_allocation: int | None = None
    link_group: str | None = None
    collective_group: str | None = None
    addressable: bool = True
    host_visible: bool = False

    def __post_init__(self) -> None:
        check(
            self, alignment=whole(1, optional=True), cheap_windows=one(bool), persistent=one(bool),
            resident=one(bool), max_allocation=whole(1, optional=True),
            link_group=one(str, optional=True), collective_group=one(str, optional=True),
            addressable=one(bool), host_visible=one(bool),
        )  # fmt: skip


COMMON_DTYPES: frozenset[DType] = frozenset(
    {
        dtypes.bool, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32,
        dtypes.uint32, dtypes.int64, dtypes.uint64, dtypes.float32, dtypes.float64,
    }
)  # fmt: skip
"""The dtypes of every C compiler: booleans, integers of 8 to 64 bits, float32 and float64."""


def access_widths(dtype: DType, nbytes: int) -> tuple[int, ...]:
    """The widths of vector accesses of at most `nbytes`, in elements: powers of two from 2 on,
    widest first."""
    most = (nbytes // dtype.itemsize).bit_length()
    return tuple(1 << bit for bit in range(most - 1, 0, -1))


@dataclass(frozen=True)
class ComputeCaps:
    """The compute capabilities of a device.

    :param dtypes: the native dtypes; others are decomposed, or refused with CapabilityError.
    :param limits: hard limits of one kernel.
    :param features: optional features.
    :param vector_widths: per dtype, the profitable load and store widths in elements.
    :param vector_bytes: size of one vector register; 0: arithmetic is scalar.
    :param vector_registers: vector registers that one work item may use.
    :param wide_indices: whether loops and addresses are faster in 64 bits.
    :param cache_bytes: size of the last-level cache, if the device has non-temporal stores of
        vector registers; 0: it has none.
    :param tensor_cores: the matrix units.
    :param pair_dots: the packed dot product instructions.
    :param tiles: tile buffers of one operand in shared memory; with more than one, tiles of later
        iterations are copied during the computation (multi-buffering).
    :param warp_size: lanes of one warp: work items of a group that run in lockstep, numbered with
        the first dimension fastest; a power of two, 0: unknown.
    :param graph_from: the least number of consecutive launches that form a graph.
    :param graph_values: whether its graphs are `ValueGraph`: then kernels whose variables change
        are bound too, if their launch sizes stay the same.
    :param read_streams: the number of concurrent access streams of one thread that reads large
        memory fastest.
    :param machine: caches, latencies, processors; fields that repeat a field of this class are
        filled in.
    """

    dtypes: frozenset[DType] = COMMON_DTYPES
    limits: KernelLimits = KernelLimits()
    features: frozenset[Feature] = frozenset()
    vector_widths: Mapping[DType, tuple[int, ...]] = field(
        default_factory=FrozenMap[DType, tuple[int, ...]]
    )
    vector_bytes: int = 0
    vector_registers: int = 16
    wide_indices: bool = False
    cache_bytes: int = 0
    tensor_cores: tuple[TensorCore, ...] = ()
    pair_dots: tuple[PairDot, ...] = ()
    tiles: int = 1
    warp_size: int = 0
    graph_from: int = 2
    graph_values: bool = False
    read_streams: int = 1
    machine: MachineModel = field(default_factory=MachineModel)

    def __post_init__(self) -> None:
        # A Target is hashed, so what it is made of is frozen.
        freeze(
            self, dtypes=frozenset, tensor_cores=tuple, pair_dots=tuple, vector_widths=_widths,
            features=lambda features: frozenset(map(Feature, features)),
        )  # fmt: skip
        check(
            self, dtypes=each(lambda dtype: dtype in dtypes.all, "scalar dtypes"),
            limits=one(KernelLimits), vector_bytes=whole(), vector_registers=whole(1),
            wide_indices=one(bool), cache_bytes=whole(),
            vector_widths=each(lambda dtype: dtype in dtypes.all, "widths by scalar dtype"),
            tensor_cores=each(lambda core: isinstance(core, TensorCore), "TensorCores"),
            pair_dots=each(lambda dot: isinstance(dot, PairDot), "PairDots"),
            tiles=whole(1), warp_size=whole(), graph_from=whole(1), read_streams=whole(1),
            graph_values=one(bool),
            machine=one(MachineModel),
        )  # fmt: skip
        facts = {
            "last_level_bytes": self.cache_bytes,
            "register_bytes": self.vector_bytes,
            "registers": self.vector_registers,
            "streams": self.read_streams,
            "warp_size": self.warp_size,
            "shared_bytes": self.limits.shared_bytes,
        }
        object.__setattr__(self, "machine", self.machine.with_facts(**facts))

    def has(self, feature: Feature) -> bool:
        """Whether the device has this feature."""
        return feature in self.features


def _widths(given: Mapping[DType, Iterable[int]]) -> FrozenMap[DType, tuple[int, ...]]:
    if isinstance(given, FrozenMap):
        return cast("FrozenMap[DType, tuple[int, ...]]", given)
    return FrozenMap({dtype: tuple(widths) for dtype, widths in dict(given).items()})


@dataclass(frozen=True)
class Capabilities:
    """The capabilities of a device.

    :param memory: memory capabilities.
    :param compute: compute capabilities; None: the device stores and does not compute.
    :param name: a name for people; no code may depend on it.
    :param fingerprint: a part of the key of compiled code: it changes whenever generated code could
        change.
    :param speed: a part of the key of measured times: it changes whenever equal code could take
        another time, for example with the processor model or the number of threads.
    """

    memory: MemoryCaps = MemoryCaps()
    compute: ComputeCaps | None = None
    name: str = ""
    fingerprint: str = ""
    speed: str = ""

    def __post_init__(self) -> None:
        check(
            self, memory=one(MemoryCaps), compute=one(ComputeCaps, optional=True), name=one(str),
            fingerprint=one(str), speed=one(str),
        )  # fmt: skip


@dataclass(frozen=True)
class Target:
    """The properties of a device that code generation may use.

    :param compute: limits, dtypes, features.
    :param native_ops: operations of the language; all others are decomposed before rendering.
    :param rules: the last rewrites before rendering.
    :param language: cache namespace and file suffix.
    :param fingerprint: a part of the key of compiled code.
    :param passes: returns the passes of code generation; None: the generic ones.
    :param choose: the strategy: returns the loop transformations of a kernel; None: the generic
        one.

    `passes` and `choose` are functions of a module: they pickle by name. They are called when a
    kernel is lowered.
    """

    compute: ComputeCaps
    native_ops: frozenset[Ops]
    rules: PatternMatcher | None
    language: str
    fingerprint: str
    passes: Passes | None = None
    choose: Choose | None = None

    def __post_init__(self) -> None:
        check(self, passes=function(optional=True), choose=function(optional=True))

"""Open devices: one opened device with its parts, each made by the plugin once, when first used.

At the end of the interpreter every open device is closed by the process that opened it: not by a
child of `os.fork`, and not where a signal ends the process.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from weft.base.errors import CapabilityError, OutOfMemory, PluginError, WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.text import failure_text, human_size
from weft.base.weak import WeakMembers
from weft.device.capabilities import Capabilities, ComputeCaps, Target
from weft.device.hook_calls import HookCalls
from weft.device.identity import DeviceFamily, DeviceId
from weft.device.machine import MachineFact
from weft.device.parts import (
    Allocator,
    CollectiveRunner,
    Compiler,
    Device,
    GraphRunner,
    Renderer,
    Runner,
)
from weft.device.pool import Pool

if TYPE_CHECKING:
    from weft.base.dtype import DType
    from weft.device.program import CompiledProgram, Launch
    from weft.uop import Collective


class OpenDevice:
    """A device and its parts.

    :ivar id: which device.
    :ivar name: its device string.
    :ivar family: as its owner declared it.
    :ivar device: what the plugin opened.
    :ivar capabilities: what it can do.
    """

    def __init__(
        self, device: Device, family: DeviceFamily, calls: HookCalls, plugins: Sequence[object]
    ) -> None:
        self.id: DeviceId = device.id
        self.name: str = str(device.id)
        self.family = family
        self.device = device
        self.capabilities: Capabilities = device.capabilities
        self._calls = calls
        self._plugins = tuple(plugins)
        self._process = os.getpid()
        _open.add(self)

    @cached_property
    def allocator(self) -> Allocator[Any]:
        """Its allocator, which allocates and copies memory."""
        return self._part("weft_allocator")

    @cached_property
    def pool(self) -> Pool:
        """Its pool of freed memory."""
        memory = self.capabilities.memory
        return Pool(
            self.allocator,
            not memory.persistent,
            memory.max_allocation,
            memory.cheap_windows and memory.alignment is not None,
        )

    @property
    def compute(self) -> ComputeCaps:
        """Its compute capabilities. :raises CapabilityError: if it only stores."""
        if self.capabilities.compute is None:
            raise CapabilityError(
                "this device stores bytes but does not compute",
                asked=f"a kernel on {self.name}",
                because=f"{self.name} declares no ComputeCaps",
                try_="copy it to a device that computes first, x.to(Device.DEFAULT); "
                "`weft devices` lists them",
            )
        return self.capabilities.compute

    @cached_property
    def renderer(self) -> Renderer:
        """Its renderer. :raises CapabilityError: if there is none."""
        compute = self.compute
        renderer = self._part("weft_renderer")
        if renderer is None:
            raise CapabilityError(
                "no plugin renders kernels for this device",
                asked=f"a kernel on {self.name}",
                because=f"it declares {type(compute).__name__}, but no plugin of family "
                f"{self.id.family} implements weft_renderer",
                try_="report it to the plugin's authors",
            )
        return renderer

    @cached_property
    def compiler(self) -> Compiler | None:
        """Its compiler; None where the source itself runs."""
        return self._part("weft_compiler")

    @cached_property
    def target(self) -> Target:
        """The part of it that code generation sees. :raises CapabilityError: if it only stores."""
        renderer = self.renderer
        return Target(
            compute=self.compute,
            native_ops=frozenset(renderer.native_ops),
            rules=renderer.rules,
            language=renderer.language,
            fingerprint=self.capabilities.fingerprint,
            passes=self.device.passes,
            choose=self.device.choose,
        )

    def measure(self) -> Iterator[MachineFact]:
        """Measure its machine, and keep the facts for later openings; none if no plugin can.

        :raises PluginError: if the plugin fails.
        """
        return self._calls.measure(self._plugins, self.device)

    def runner(self, program: CompiledProgram) -> Runner:
        """Load one program. Not cached: the caller keeps it.

        :raises CapabilityError: if no plugin of the family launches programs.
        """
        runner = self._part("weft_runner", program=program)
        if runner is None:
            raise CapabilityError(
                "no plugin launches kernels on this device",
                asked=f"kernel {program.name} on {self.name}",
                because=f"no plugin of family {self.id.family} implements weft_runner",
                try_="report it to the plugin's authors",
            )
        return runner

    def graph(self, launches: Sequence[Launch]) -> GraphRunner | None:
        """Bind launches into one submission; None where they must be launched one by one."""
        return self._part("weft_graph", launches=launches)

    def collective(
        self, devices: Sequence[Device], collective: Collective, dtype: DType
    ) -> CollectiveRunner:
        """What carries out a collective of devices of this family.

        :raises CapabilityError: if no plugin of the family does.
        """
        of = {"collective": collective, "dtype": dtype}
        runner = self._calls.collective(self._plugins, devices, **of)
        if runner is None:
            raise CapabilityError(
                "no plugin carries out this collective",
                asked=f"{collective.kind} of {dtype} on {self.name}",
                because=f"no plugin of family {self.id.family} implements weft_collective for it",
                try_="declare MemoryCaps(collective_group=None): copies do the same",
            )
        return runner

    def compare_schedule(self, devices: Sequence[Device], items: Sequence[str]) -> None:
        """Have its plugin compare a schedule with those of other processes."""
        self._calls.schedule(self._plugins, devices, items)

    def _part(self, hook: str, **arguments: Any) -> Any:
        return self._calls.part(hook, self._plugins, self.device, **arguments)

    def synchronize(self) -> None:
        """Wait for all work launched so far."""
        with self.call("waiting for launched work"):
            self.device.synchronize()

    def release(self) -> int:
        """Free the memory that is kept for reuse; returns its bytes."""
        return self.pool.drop() if "pool" in self.__dict__ else 0

    def close(self) -> None:
        """Free pooled memory and close the device, also where memory cannot be freed."""
        _open.discard(self)
        with self.call("closing"):
            try:
                self.release()
            finally:
                self.device.close()

    def close_at_exit(self) -> None:
        """Close it, in the process that opened it alone. Errors are printed with DEBUG=1 only."""
        if self._process != os.getpid():
            return
        try:
            self.close()
        except Exception as error:
            let_through(error)
            if settings.DEBUG >= 1:
                print(f"at exit: {failure_text(error)}", file=sys.stderr)

    @property
    def makers(self) -> tuple[object, ...]:
        """The plugins that made its parts: modules, or objects with hooks."""
        return self._plugins

    def call(self, doing: str, nbytes: int = 0) -> _PluginCall:
        """A context for one call of a part, whose exceptions become those of `failed`. doing: the
        operation; nbytes: the size that replaces a `{}` in it."""
        return _PluginCall(self, doing, nbytes)

    def failed(self, doing: str, error: Exception) -> NoReturn:
        """Raise the error of a part: a WeftError as it is, MemoryError as OutOfMemory, any other as
        PluginError. doing: the operation that failed."""
        if isinstance(error, WeftError):
            raise error
        if isinstance(error, MemoryError):
            raise OutOfMemory.during(f"{doing}, on {self.name}", error) from error
        self.broken(doing, f"raised {failure_text(error)}", error)

    def broken(self, doing: str, because: str, cause: Exception | None = None) -> NoReturn:
        """:raises PluginError: always; its plugin violated the interface during `doing`."""
        makers = " or ".join(
            getattr(maker, "__name__", type(maker).__name__) for maker in self._plugins
        )
        raise PluginError(
            f"{doing} failed inside the plugin of {self.name}",
            asked=f"{doing}, on {self.name}",
            because=f"{makers} {because}",
            try_="report it to the plugin's authors; `weft devices` names the distribution",
        ) from cause

    def __repr__(self) -> str:
        return f"<OpenDevice {self.name}>"


class _PluginCall:
    """The context of one call of a part."""

    __slots__ = ("device", "doing", "nbytes")

    def __init__(self, device: OpenDevice, doing: str, nbytes: int) -> None:
        self.device, self.doing, self.nbytes = device, doing, nbytes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            let_through(error)
            self.device.failed(self.doing.format(human_size(self.nbytes)), error)


def for_each_device(does: Callable[[OpenDevice], None], devices: Iterable[OpenDevice]) -> None:
    """Call a function for each device, also after an error; then raise the first error."""
    errors: list[Exception] = []
    for device in devices:
        try:
            does(device)
        except Exception as error:
            let_through(error)
            errors.append(error)
    if errors:
        raise errors[0]


_open: WeakMembers[OpenDevice] = WeakMembers()


@atexit.register  # before any plugin is loaded, so that functions of plugins are called first
def close_all_at_exit() -> None:
    """Close every device that is still open."""
    for opened in list(_open):
        opened.close_at_exit()

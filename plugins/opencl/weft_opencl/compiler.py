"""Source to the driver's binary. Arithmetic stays exact: no fast or relaxed mathematics."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from weft.plugin import CompiledProgram, CompileError
from weft_opencl.declarations import GUARD
from weft_opencl.driver import OpenCLDevice, bindings
from weft_opencl.facts import Facts
from weft_opencl.process_lock import process_lock


def options(facts: Facts) -> tuple[str, ...]:
    """For the driver's compiler: what is standard, and makes division and square root exact."""
    words = ["-w"]
    if facts.modern:
        words.append("-cl-std=CL1.2")
    if facts.exact_division:
        words.append("-cl-fp32-correctly-rounded-divide-sqrt")
    return tuple(words)


class DriverCompiler:
    """The compiler that comes with the driver.

    :param device: which device to compile for.
    """

    def __init__(self, device: OpenCLDevice) -> None:
        self.device = device
        self.options = options(device.facts)
        kind = "object" if device.facts.objects else "program"
        self.fingerprint = f"{device.facts.versions}; {kind}; {' '.join(self.options)}"

    def compile(self, source: str, name: str) -> bytes:
        """What the driver keeps of a built program, or of one that is to be linked when loaded.

        :raises CompileError: with `source` and the driver's messages as `log`.
        """
        with _locked(self.device, source):
            return self._compile(source, name)

    def _compile(self, source: str, name: str) -> bytes:
        cl = bindings()
        if self.device.facts.own_declarations:
            try:
                if made := self._compiled(self._program(source), GUARD):
                    return made
            except cl.Error:
                pass  # it calls what it does not declare, or is wrong: with all declarations
        program = self._program(source)
        try:
            if made := self._compiled(program):
                return made
        except cl.Error as error:
            log = self._log(program)
            raise CompileError(
                f"the OpenCL driver refuses kernel {name}",
                asked=f"kernel {name}",
                because="its log has the reason",
                source=source,
                log=log if log.strip() else str(error),
            ) from error
        raise CompileError(
            f"the OpenCL driver gives nothing for kernel {name}",
            asked=f"kernel {name}",
            because="it reports success, and the binary is empty",
            try_="another driver, or a newer one",
            source=source,
            log=self._log(program),
        )

    def _program(self, source: str) -> Any:
        return bindings().Program(self.device.context, source)

    def _compiled(self, program: Any, *more: str) -> bytes:
        words = [*self.options, *more]
        if self.device.facts.objects:
            # pyopencl warns that its own cache, which we do not use, is passed by.
            warnings.filterwarnings("ignore", message="Pre-build attribute access")
            program.compile(words, devices=[self.device.handle])
        else:
            # The core keeps binaries itself: no second cache on disk.
            program.build(words, devices=[self.device.handle], cache_dir=False)
        return bytes(program.get_info(bindings().program_info.BINARIES)[0])

    def _log(self, program: Any) -> str:
        """What the compiler said; nothing where the driver keeps no log."""
        cl = bindings()
        try:
            return str(program.get_build_info(self.device.handle, cl.program_build_info.LOG))
        except cl.Error:
            return ""


def _locked(device: OpenCLDevice, source: str) -> AbstractContextManager[None]:
    """For compilers that share files between processes without locks: makes the program unique."""
    return process_lock(source) if device.facts.objects else nullcontext()


def load(device: OpenCLDevice, program: CompiledProgram) -> Any:
    """A program that kernels can be taken from; objects are linked.

    :raises pyopencl.Error: or RuntimeError, if the driver does not take it.
    """
    cl = bindings()
    if not device.facts.objects:
        return cl.Program(device.context, [device.handle], [program.binary]).build()
    with _locked(device, program.source):
        loaded = cl.Program(device.context, [device.handle], [program.binary])
        return cl.link_program(device.context, [loaded], devices=[device.handle])

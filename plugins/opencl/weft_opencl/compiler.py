"""Source to the driver's binary. Arithmetic stays exact: no fast or relaxed mathematics."""

from __future__ import annotations

from weft.plugin import CompileError
from weft_opencl.driver import OpenCLDevice, bindings
from weft_opencl.facts import Facts


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
        self.fingerprint = f"{device.facts.versions}; {' '.join(self.options)}"

    def compile(self, source: str, name: str) -> bytes:
        """What the driver keeps of a built program.

        :raises CompileError: with `source` and the driver's messages as `log`.
        """
        cl = bindings()
        try:
            program = cl.Program(self.device.context, source)
            # The core keeps binaries itself: no second cache on disk.
            program.build(list(self.options), devices=[self.device.handle], cache_dir=False)
            binary = program.get_info(cl.program_info.BINARIES)[0]
        except cl.Error as error:
            raise CompileError(
                f"the OpenCL driver refuses kernel {name}",
                asked=f"kernel {name}",
                because="its log has the reason",
                source=source,
                log=str(error),
            ) from error
        return bytes(binary)

"""Error classes: all errors that weft raises.

Every error answers three questions: what was requested, why it failed, and what to try instead. The
answers are fields, so that tests and tools do not parse the message. Each error is also a subclass
of the built-in classes that a Python programmer expects: `ShapeError` is a `ValueError` as in NumPy
and a `RuntimeError` as in PyTorch.
"""

from __future__ import annotations

import os
from typing import Any


class WeftError(Exception):
    """The root of the family.

    `summary` is one line; `asked`, `because` and `try_` are its three answers, each None where it
    would say nothing new. The fields may be set later, by code that catches the error and knows
    more. `str()` is the summary with one indented line for each answer.
    """

    def __init__(
        self,
        summary: str = "",
        *,
        asked: str | None = None,
        because: str | None = None,
        try_: str | None = None,
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.asked = asked
        self.because = because
        self.try_ = try_

    def __str__(self) -> str:
        lines = [self.summary] if self.summary else []
        for label, answer in (
            ("asked:  ", self.asked),
            ("because:", self.because),
            ("try:    ", self.try_),
        ):
            if answer is not None:
                # Continuation lines stay under the answer they belong to.
                lines.append(f"  {label} " + str(answer).replace("\n", "\n" + " " * 11))
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled as class plus args, which would lose the keyword fields on the
        # way back from a worker process.
        return (_restore, (type(self), self.summary, self.__dict__.copy()))


def _restore(kind: type[WeftError], summary: str, fields: dict[str, Any]) -> WeftError:
    error = kind.__new__(kind, summary)
    for name, value in fields.items():
        setattr(error, name, value)
    return error


class ShapeError(WeftError, ValueError, RuntimeError):
    """Shapes that do not fit each other, or a movement that does not fit its shape."""


class DTypeError(WeftError, TypeError, RuntimeError):
    """A dtype that is unknown, or that an operation does not take."""


class UnknownDType(DTypeError, AttributeError):
    """No dtype has this name."""


class IndexingError(WeftError, IndexError):
    """An index out of range, or of a kind that does not index."""


class ArgumentError(WeftError, ValueError, RuntimeError):
    """An argument or a setting with a value that means nothing here."""


class OutOfRange(ArgumentError, OverflowError):
    """A Python number that the dtype it is to have cannot represent."""


class WrongKind(ArgumentError, TypeError):
    """An argument of a type that means nothing here."""


class MissingName(WeftError, AttributeError):
    """There is no attribute of this name."""


class UnknownChoice(ArgumentError, NotImplementedError):
    """A choice by name, such as a mode, where nothing has that name.

    Also a NotImplementedError, which PyTorch raises for modes that it lacks.
    """


class DeviceError(WeftError, RuntimeError):
    """Something about a device or its plugin."""


class DeviceUnavailable(DeviceError):
    """The plugin is there, the device is not: no driver, no hardware, no permission."""


class UnknownDevice(DeviceError):
    """No installed plugin answers to this name."""


class PluginError(DeviceError):
    """A plugin that cannot be loaded, or that breaks its side of the interface."""


class CapabilityError(DeviceError):
    """The device has declared that it does not do what was asked of it."""


class CompileError(DeviceError):
    """A kernel's source was refused; `.source` is that source, `.log` the compiler's words."""

    def __init__(
        self, summary: str = "", *, source: str = "", log: str = "", **answers: str | None
    ) -> None:
        super().__init__(summary, **answers)
        self.source = source
        self.log = log


class OutOfMemory(DeviceError, MemoryError):
    """An allocation that the device could not serve; a MemoryError as in NumPy."""

    @classmethod
    def during(cls, asked: str, error: MemoryError) -> OutOfMemory:
        """The error for Python's own MemoryError, which has no message; `asked` is the
        operation."""
        return cls(
            "there is no memory left",
            asked=asked,
            because=str(error) or "Python was refused memory",
            try_="free tensors that are no longer needed, or work in smaller pieces",
        )


class SpecError(WeftError, RuntimeError):
    """A graph that breaks the spec of its stage: an inner fault, not the user's."""


class ScheduleError(WeftError, RuntimeError):
    """A graph that cannot be ordered into kernels."""


class GradientError(WeftError, RuntimeError):
    """A gradient that is not defined, or a request for a gradient that has no result."""


class LinearAlgebraError(WeftError, ValueError, RuntimeError):
    """A matrix without the requested inverse or factorization, as `numpy.linalg.LinAlgError`."""


class NonFiniteError(WeftError, FloatingPointError, RuntimeError):
    """In checked mode: an operation made a NaN or an infinity of inputs that have none.

    `.operation` is the method that made it, `.where` the line that called it: the name of the file,
    the number of the line, the name of the function; None where that is not known.
    """

    operation: str = ""
    where: tuple[str, int, str] | None = None


class CaptureError(WeftError, RuntimeError):
    """Something that a captured function cannot do, take or return."""


class ExchangeError(WeftError, BufferError, ValueError):
    """Memory that cannot be shared with another library, or not without a copy."""


class WorkerError(WeftError, RuntimeError):
    """A worker that loads data ended unexpectedly, or did not answer in time."""


class FileError(WeftError, OSError):
    """A file that cannot be read or written.

    Where the operating system refused it, it has `errno`, `strerror` and `filename` as an OSError
    has them, and is a FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError or
    FileExistsError as well: see `FileError.of`.
    """

    # OSError formats itself from errno and its file name; ours tells the three answers.
    __str__ = WeftError.__str__

    @classmethod
    def of(
        cls,
        error: OSError,
        summary: str,
        *,
        path: str | os.PathLike[str] | None = None,
        asked: str | None = None,
        because: str | None = None,
        try_: str | None = None,
    ) -> FileError:
        """The FileError for an error of the operating system, a subclass of its built-in class.

        :param path: the requested file; that of `error` by default.
        :param because: the message of the system by default.
        """
        kind = next((k for base, k in _KINDS_OF_FILE_ERRORS if isinstance(error, base)), FileError)
        reason = because or error.strerror or str(error) or type(error).__name__
        made = kind(summary, asked=asked, because=reason, try_=try_)
        made.errno, made.strerror = error.errno, error.strerror
        made.filename = error.filename if path is None else os.fspath(path)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in ("errno", "strerror", "filename")}
        return (_restore, (type(self), self.summary, self.__dict__ | kept))


class MissingFile(FileError, FileNotFoundError):
    """A file, or a folder on its path, that is not there."""


class ForbiddenFile(FileError, PermissionError):
    """A file or folder that this process may not read or write."""


class IsFolder(FileError, IsADirectoryError):
    """A folder where a file is meant."""


class NotFolder(FileError, NotADirectoryError):
    """A file where a folder is meant."""


class FileThere(FileError, FileExistsError):
    """A file or folder that is there already."""


_KINDS_OF_FILE_ERRORS: tuple[tuple[type[OSError], type[FileError]], ...] = (
    (FileNotFoundError, MissingFile),
    (PermissionError, ForbiddenFile),
    (IsADirectoryError, IsFolder),
    (NotADirectoryError, NotFolder),
    (FileExistsError, FileThere),
)


class FormatError(FileError, ValueError):
    """A file that was read, and whose bytes are not what its format promises."""

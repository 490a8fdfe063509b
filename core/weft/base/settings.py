"""Settings: one table of everything that can be configured, the only reader of the environment.

Each setting `NAME` is read from `WEFT_NAME` once, when this module is imported. After that it is
read as `settings.NAME`, and changed for a stretch of code with `settings.override(NAME=...)`, as a
with-block or as a decorator. Values are context variables: an override affects the code inside it,
and no other thread or task.

A value that does not parse raises an ArgumentError that names the variable.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator, suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from weft.base.arguments import shown
from weft.base.deferred_dataclass import dataclass
from weft.base.errors import ArgumentError

PREFIX = "WEFT_"


def _default_cache_folder() -> str:
    """The user's cache folder, where the operating system keeps such things."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    elif sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "weft")


@dataclass(frozen=True)
class Setting:
    """One row of the table: how a setting is called, what it is without being set, what it does.

    `choices`, where not empty, are the only values allowed.
    """

    name: str
    default: int | str
    doc: str
    choices: tuple[str, ...] = ()

    @property
    def type(self) -> type[int] | type[str]:
        return int if isinstance(self.default, int) else str

    @property
    def env(self) -> str:
        """The environment variable it is read from."""
        return PREFIX + self.name

    def parse(self, text: str) -> int | str:
        """The value of a text; ArgumentError names the variable."""
        if self.type is str:
            return self.check(text, self.env)
        try:
            # Base 0 also takes 0x10, and unlike base 10 refuses 010, which C would read as 8.
            return int(text.strip(), 0)
        except ValueError:
            raise ArgumentError(
                f"{self.env} must be an integer",
                asked=f"{self.env}={text!r}",
                because=f"{self.name} is: {self.doc}",
                try_=f"{self.env}={self.default}, its default",
            ) from None

    def check(self, value: object, called: str | None = None) -> int | str:
        """`value` as this setting keeps it; ArgumentError where its type or value is wrong."""
        called = called or f"settings.{self.name}"
        if not isinstance(value, self.type):
            raise ArgumentError(
                f"{called} must be {'an integer' if self.type is int else 'a string'}",
                asked=f"{called}={shown(value)}",
                because=f"{self.name} is: {self.doc}",
                try_=f"{called}={self.default!r}, its default",
            )
        if self.choices and value not in self.choices:
            raise ArgumentError(
                f"{called} does not know {shown(value)}",
                asked=f"{called}={shown(value)}",
                because=f"{self.name} is: {self.doc}",
                try_="one of " + ", ".join(self.choices),
            )
        return self.type(value)  # a bool becomes the int it is


FLOAT_NAMES = (
    "float32", "float", "float16", "half", "bfloat16", "float64", "double", "fp8e4m3", "fp8e5m2",
)  # fmt: skip

TABLE: tuple[Setting, ...] = (
    Setting(
        "DEVICE",
        "",
        "default device as FAMILY[:locator]; empty: the available device of highest priority",
    ),
    Setting(
        "DEBUG",
        0,
        "verbosity: 1 devices, 2 one line per kernel, 3 schedules, 4 source code and applied "
        "opts, 5 kernel ASTs and linear programs, 6 the output of every pass, 7 its input too",
    ),
    Setting("NOOPT", 0, "1: lower kernels without loop optimisations"),
    Setting("BEAM", 0, "beam width of the kernel search; 0: no search, the strategy chooses"),
    Setting("BEAM_SECONDS", 60, "seconds that the search for one kernel may take; 0: no limit"),
    Setting(
        "JIT",
        1,
        "jit: 0 runs functions as written, 1 captures and replays them, 2 replays without launch "
        "batching",
    ),
    Setting(
        "VIZ",
        "",
        "path of an HTML page with the recorded trace, or 1 for weft-viz.html here; 0 or empty: "
        "none",
    ),
    Setting("SPEC", 0, "1: verify the graph against its spec after every pass"),
    Setting(
        "CHECK",
        0,
        "1: checked mode: an index out of bounds, and the first operation that gives a NaN or an "
        "infinity, are errors; methods run eagerly, and jit runs functions as written",
    ),
    Setting("SPLIT_REDUCEOP", 1, "1: split large reductions into two kernels, on parallel devices"),
    Setting("REDUCEOP_SPLIT_THRESHOLD", 32768, "minimum ratio of input to output size for a split"),
    Setting("REDUCEOP_SPLIT_SIZE", 22, "log2 of the maximum size of the first stage of a split"),
    Setting(
        "FUSE_ARANGE",
        1,
        "rewrite comparisons with counters to indexed loads: 0 never, 1 if it is exact, 2 also "
        "for products of a one-hot row with floats, which are assumed to be finite",
    ),
    Setting(
        "FUSE_CONV_BW",
        1,
        "fuse both reductions of the backward pass of a convolution, which adds padding zeros: 0 "
        "never, 1 if those are few, 2 always",
    ),
    Setting("GROUP_KERNELS", 1, "0: no fusion to kernels of several outputs or reductions"),
    Setting("MAX_KERNEL_BUFFERS", 0, "maximum buffers of a kernel; 0: the limit of the device"),
    Setting(
        "RING",
        1,
        "ring all-reduce: 0 never, 1 on more than two devices for more elements than "
        "RING_ALLREDUCE_THRESHOLD, 2 always",
    ),
    Setting("RING_ALLREDUCE_THRESHOLD", 256000, "minimum elements of a ring all-reduce if RING=1"),
    Setting(
        "PROCESS_REPLAY",
        "",
        "folder in which every schedule and kernel is captured, for `weft replay compare`; 0 or "
        "empty: none",
    ),
    Setting(
        "IMAGE",
        0,
        "1: store operands of products and convolutions, and what is cast to an image, in images "
        "if the device has them",
    ),
    Setting("SCHEDULE_CACHE", 1, "0: schedule every graph, even if an equal one is cached"),
    Setting(
        "TRACING_CACHE",
        1,
        "composite methods of Tensor record their nodes once per signature; 0: at each call; "
        "2: both, an error if they differ",
    ),
    Setting(
        "KERNEL_ARGUMENTS",
        1,
        "numbers that differ between equal kernels are arguments of one kernel; 0: constants in "
        "the source of each",
    ),
    Setting("READY_KERNELS", 1, "0: small kernels are compiled when they are first needed"),
    Setting("MEMORY_PLANNER", 1, "0: intermediates of a schedule do not share memory"),
    Setting("HOST_CALLS", 1, "0: linear algebra by kernels, also where LAPACK can read the memory"),
    Setting("CACHE_DIR", _default_cache_folder(), "folder of the disk cache"),
    Setting("CACHE", 1, "0: neither read nor write the disk cache"),
    Setting("DISABLE_PLUGINS", "", "families that are not loaded, separated by commas"),
    Setting("TRACE_PLUGINS", 0, "1: print every hook call and its answer"),
    Setting("TRACEMETA", 1, "0: do not record the Tensor method and source line of nodes"),
    Setting("DEFAULT_FLOAT", "float32", "dtype of Python floats", FLOAT_NAMES),
    Setting(
        "AUTOCAST",
        "",
        "dtype of products in automatic mixed precision; empty: the dtype of their operands",
        ("", "bfloat16", "float16"),
    ),
    Setting(
        "MATMUL_PRECISION",
        "highest",
        "float32 products: `high` permits matrix units to round the factors to fewer bits (TF32)",
        ("highest", "high"),
    ),
    Setting(
        "REPR",
        "auto",
        "what `print` shows of a tensor: `auto` values where none has to be computed, `values` "
        "computes them, `graph` the node behind it",
        ("auto", "values", "graph"),
    ),
    Setting("SEED", -1, "seed of the random stream; negative: from the clock"),
)


def _initial(row: Setting, environment: Mapping[str, str]) -> int | str:
    """What the environment says, or the default; an empty variable counts as not set."""
    text = environment.get(row.env, "")
    return row.parse(text) if text else row.default


class _Override(ContextDecorator):
    """Some settings changed between enter and exit. Made by `Settings.override`."""

    def __init__(self, changes: dict[str, int | str]) -> None:
        self._changes = changes
        # A stack, because one override object may be entered again while it is entered.
        self._tokens: list[list[tuple[ContextVar[Any], Token[Any]]]] = []
        self._stamps: list[tuple[object, Token[object]]] = []

    def _recreate_cm(self) -> _Override:
        # As a decorator each call gets its own: calls may run in several threads at once.
        return _Override(self._changes)

    def __enter__(self) -> None:
        before = [(_variables[name], _variables[name].get()) for name in self._changes]
        depth = len(self._tokens)
        try:
            self._tokens.append(
                [(_variables[name], _variables[name].set(v)) for name, v in self._changes.items()]
            )
            stamp = object()
            self._stamps.append((stamp, _stamp.set(stamp)))
        except BaseException:
            # of a signal handler: Python does not call __exit__ if __enter__ raises
            for variable, value in before:
                variable.set(value)
            _stamp.set(object())
            del self._tokens[depth:], self._stamps[depth:]
            raise

    def __exit__(self, *exception: object) -> None:
        tokens, (stamp, before) = self._tokens[-1], self._stamps[-1]
        try:
            self._leave(tokens, stamp, before)
        except BaseException:  # of a signal handler, half-way
            for variable, token in reversed(tokens):
                with suppress(RuntimeError):  # it was reset
                    variable.reset(token)
            _stamp.set(object())
            raise
        finally:
            del self._tokens[-1:], self._stamps[-1:]

    @staticmethod
    def _leave(
        tokens: list[tuple[ContextVar[Any], Token[Any]]], stamp: object, before: Token[object]
    ) -> None:
        for variable, token in reversed(tokens):
            variable.reset(token)
        if _stamp.get() is stamp:
            _stamp.reset(before)  # all is as it was
        else:  # something was set meanwhile, and stays
            _stamp.set(object())


_stamp: ContextVar[object] = ContextVar("weft_settings_stamp", default=None)

stamp = _stamp.get
"""`Settings.stamp`, for frequent callers."""


def _new_variable(row: Setting) -> ContextVar[Any]:
    initial = _initial(row, os.environ)
    return ContextVar(row.env, default=initial)


_rows: dict[str, Setting] = {row.name: row for row in TABLE}
_variables: dict[str, ContextVar[Any]] = {row.name: _new_variable(row) for row in TABLE}


class SettingValues(TypedDict, total=False):
    """Settings as keyword arguments, for type checkers: `settings.override(DEBUG=2)`."""

    DEVICE: str
    DEBUG: int
    NOOPT: int
    BEAM: int
    BEAM_SECONDS: int
    JIT: int
    VIZ: str
    SPEC: int
    CHECK: int
    SPLIT_REDUCEOP: int
    REDUCEOP_SPLIT_THRESHOLD: int
    REDUCEOP_SPLIT_SIZE: int
    FUSE_ARANGE: int
    FUSE_CONV_BW: int
    GROUP_KERNELS: int
    MAX_KERNEL_BUFFERS: int
    RING: int
    RING_ALLREDUCE_THRESHOLD: int
    PROCESS_REPLAY: str
    IMAGE: int
    SCHEDULE_CACHE: int
    TRACING_CACHE: int
    KERNEL_ARGUMENTS: int
    READY_KERNELS: int
    MEMORY_PLANNER: int
    HOST_CALLS: int
    CACHE_DIR: str
    CACHE: int
    DISABLE_PLUGINS: str
    TRACE_PLUGINS: int
    TRACEMETA: int
    DEFAULT_FLOAT: str
    AUTOCAST: str
    MATMUL_PRECISION: str
    REPR: str
    SEED: int


class Settings:
    """The settings as attributes; see `table()` for what there is.

    Reading costs one context-variable lookup. Assigning changes the value for the rest of the
    present context (in a script: from here on); `override` is for everything shorter.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        DEVICE: str
        DEBUG: int
        NOOPT: int
        BEAM: int
        BEAM_SECONDS: int
        JIT: int
        VIZ: str
        SPEC: int
        CHECK: int
        SPLIT_REDUCEOP: int
        REDUCEOP_SPLIT_THRESHOLD: int
        REDUCEOP_SPLIT_SIZE: int
        FUSE_ARANGE: int
        FUSE_CONV_BW: int
        GROUP_KERNELS: int
        MAX_KERNEL_BUFFERS: int
        RING: int
        RING_ALLREDUCE_THRESHOLD: int
        PROCESS_REPLAY: str
        IMAGE: int
        SCHEDULE_CACHE: int
        TRACING_CACHE: int
        KERNEL_ARGUMENTS: int
        READY_KERNELS: int
        MEMORY_PLANNER: int
        HOST_CALLS: int
        CACHE_DIR: str
        CACHE: int
        DISABLE_PLUGINS: str
        TRACE_PLUGINS: int
        TRACEMETA: int
        DEFAULT_FLOAT: str
        AUTOCAST: str
        MATMUL_PRECISION: str
        REPR: str
        SEED: int

    def override(self, **changes: Unpack[SettingValues]) -> _Override:
        """A with-block or decorator in which the named settings have the given values.

        ArgumentError, before anything changes, for a name or a value that is not in the table.

        >>> with settings.override(DEBUG=2):
        ...     print(settings.DEBUG)
        2
        >>> settings.override(DEBGU=2)
        Traceback (most recent call last):
            ...
        weft.base.errors.ArgumentError: there is no setting 'DEBGU'
          asked:   settings.DEBGU
          because: it is none of those in settings.table()
          try:     settings.DEBUG
        """
        return _Override({name: _row(name).check(value) for name, value in changes.items()})

    def environment(self, **changes: Unpack[SettingValues]) -> dict[str, str]:
        """The environment for a child process: that of this process, with the named settings set.

        ArgumentError for a name or a value that is not in the table.

        >>> settings.environment(DEBUG=2)["WEFT_DEBUG"]
        '2'
        """
        checked = {_row(name).env: str(_row(name).check(v)) for name, v in changes.items()}
        return {**os.environ, **checked}

    def reader(self, *names: str) -> Callable[[], list[Any]]:
        """A function that gives the present values of these settings, in their order, quickly.

        ArgumentError for a name that is not in the table.

        >>> read = settings.reader("DEBUG", "JIT")
        >>> with settings.override(DEBUG=2, JIT=0):
        ...     print(read())
        [2, 0]
        """
        readers = [_variables[_row(name).name].get for name in names]
        return lambda: [read() for read in readers]

    def getter(self, name: str) -> Callable[[], Any]:
        """A function that gives the present value of one setting, more quickly than its attribute.

        ArgumentError for a name that is not in the table.

        >>> debug = settings.getter("DEBUG")
        >>> with settings.override(DEBUG=2):
        ...     print(debug())
        2
        """
        return _variables[_row(name).name].get

    def stamp(self) -> object:
        """An object that identifies the values of all settings in this context: it is replaced when
        a setting changes. Reading it costs one lookup.

        >>> before = settings.stamp()
        >>> before is settings.stamp()
        True
        >>> with settings.override(NOOPT=1):
        ...     before is settings.stamp()
        False
        """
        return _stamp.get()

    def table(self) -> tuple[Setting, ...]:
        """Every setting there is, in the order of the documentation.

        >>> [setting.name for setting in settings.table()][:3]
        ['DEVICE', 'DEBUG', 'NOOPT']
        """
        return TABLE

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # the questions that copy, pickle and inspect ask
                raise AttributeError(name)
            raise AttributeError(str(_unknown(name)))

    def __setattr__(self, name: str, value: object) -> None:
        _variables[_row(name).name].set(_row(name).check(value))
        _stamp.set(object())

    def __repr__(self) -> str:
        return "settings(" + ", ".join(f"{n}={v.get()!r}" for n, v in _variables.items()) + ")"


def _unknown(name: str) -> ArgumentError:
    import difflib  # only who errs needs it

    close = difflib.get_close_matches(name.upper(), _rows, 3, 0.5)
    return ArgumentError(
        f"there is no setting {name!r}",
        asked=f"settings.{name}",
        because="it is none of those in settings.table()",
        try_=" or ".join(f"settings.{each}" for each in close)
        if close
        else "settings.table() lists them all",
    )


def _row(name: str) -> Setting:
    if name not in _rows:
        raise _unknown(name)
    return _rows[name]


def _reader(variable: ContextVar[Any]) -> property:
    get: Callable[[], Any] = variable.get
    return property(lambda _settings: get())


for _name, _variable in _variables.items():
    setattr(Settings, _name, _reader(_variable))

settings = Settings()

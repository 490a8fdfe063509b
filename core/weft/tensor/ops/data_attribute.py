"""`Tensor.data`: a method that returns bytes. In PyTorch it is a tensor: using it as one raises an
error with the equivalent code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from weft.base.errors import MissingName, WrongKind


class DataMethod:
    """The bound method `x.data`: called, it gives the bytes of x."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], memoryview]) -> None:
        self._read = read

    def __call__(self) -> memoryview:
        """The bytes of the tensor."""
        return self._read()

    def __repr__(self) -> str:
        return "<x.data(): the bytes of a tensor>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            write = "with weft.no_grad(): " if name.endswith("_") else ""
            target = "x" if write else "x.detach()"
            raise MissingName(
                "data is a method, and no tensor",
                asked=f"x.data.{name}",
                because="x.data() gives the bytes of x",
                try_=f"{write}{target}.{name}",
            )


def refused(asked: str, try_: str) -> WrongKind:
    """The error for `x.data` used as a tensor."""
    return WrongKind(
        "data is a method, and no tensor",
        asked=asked,
        because="x.data() gives the bytes of x",
        try_=try_,
    )


def _operator(name: str, sign: str) -> Callable[..., NoReturn]:
    writes = name.startswith("__i") and name != "__invert__"

    def operator(self: DataMethod, *_other: Any) -> NoReturn:
        if writes:
            raise refused(f"x.data {sign} ...", f"with weft.no_grad(): x {sign} ...")
        raise refused(f"x.data {sign} ...", f"x.detach() {sign} ...")

    operator.__name__ = name
    return operator


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@", "mod": "%",
    "floordiv": "//",
}.items():  # fmt: skip
    setattr(DataMethod, f"__{_name}__", _operator(f"__{_name}__", _sign))
    setattr(DataMethod, f"__r{_name}__", _operator(f"__r{_name}__", _sign))
    setattr(DataMethod, f"__i{_name}__", _operator(f"__i{_name}__", f"{_sign}="))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(DataMethod, f"__{_name}__", _operator(f"__{_name}__", _sign))


def _item(self: DataMethod, *_index: Any) -> NoReturn:
    raise refused("x.data[...]", "x.detach()[...]")


def _set_item(self: DataMethod, *_index: Any) -> NoReturn:
    raise refused("x.data[...] = ...", "with weft.no_grad(): x[...] = ...")


setattr(DataMethod, "__getitem__", _item)  # noqa: B010  (for checkers it has none)
setattr(DataMethod, "__setitem__", _set_item)  # noqa: B010

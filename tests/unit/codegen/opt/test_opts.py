"""Opts as data: their text form."""

from weft.codegen.opt.opts import Opt, OptKind
from weft.uop import KernelInfo, UOp, from_text, to_text


def test_the_text_of_applied_opts_is_read_back():
    sink = UOp.sink(arg=KernelInfo("E_8", (Opt(OptKind.LOCAL, 0, 8), Opt(OptKind.SWAP, 1, 2))))
    assert from_text(to_text(sink)) is sink

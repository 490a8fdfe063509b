"""Trace events of a kernel and of its run."""

from weft import Tensor
from weft.base import trace
from weft.engine import forget_programs


def test_a_kernel_from_its_ast_to_its_run():
    forget_programs()
    heard = []
    stop = trace.subscribe(heard.append, only=("kernel", "lower", "source", "run"))
    try:
        tensor = Tensor([1.0, 2.0, 3.0], device="REF").contiguous().realize()
        heard.clear()
        (tensor * 2).tolist()
    finally:
        stop()
    lower, source, kernel, *runs = heard
    assert [e.name for e in (lower, source, kernel)] == ["lower", "source", "kernel"]
    assert lower.parent == source.parent == kernel.number
    program = source.facts["program"]
    assert kernel.facts["name"] == source.facts["name"] == program.name
    assert source.facts["ast"] is program.source_ast and source.facts["source"]
    run = next(e for e in runs if e.facts["program"] is not None)
    assert run.facts["program"] is program and run.facts["seconds"] > 0
    assert run.facts["device"] == "REF"

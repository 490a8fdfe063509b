"""Trace events of the scheduler: pictures of its plan, and each schedule."""

from weft import Tensor
from weft.base import trace
from weft.schedule import kernelize_map
from weft.schedule.pipeline import Plan
from weft.uop import Ops, UOp


def listened(function, *names):
    heard = []
    stop = trace.subscribe(heard.append, only=names)
    try:
        function()
    finally:
        stop()
    return heard


def graph():
    return UOp.sink((Tensor.empty(2, 3, device="REF").contiguous() + 1).sum(1).contiguous().uop)


def test_pass_events_show_graphs_realized_nodes_and_kernels():
    events = {e.facts["name"]: e.facts for e in listened(lambda: kernelize_map(graph()), "pass")}
    clean, realize, kernels = (
        events[name]["after"] for name in ("clean", "must_realize", "create_kernels")
    )
    assert clean.marks == {} and set(realize.marks.values()) == {"realized"}
    assert realize.marks and all(node in realize.graph.toposort() for node in realize.marks)
    assert any(node.op is Ops.KERNEL for node in kernels.graph.toposort())
    assert events["must_realize"]["before"].marks == {}


def test_picture_of_a_plan():
    sink = graph()
    assert Plan(sink).picture().graph is sink


def test_a_schedule_event_has_its_dependencies():
    base = Tensor([1.0, 2.0, 3.0, 4.0], device="REF").contiguous().realize()
    window = base[1:3].contiguous().realize()
    sink = UOp.sink((base + 1).contiguous().uop)
    (event,) = listened(lambda: kernelize_map(sink), "schedule")
    assert event.facts["sink"] is sink and event.facts["becomes"]
    buffers = {u for u in sink.toposort() if u.op is Ops.BUFFER}
    expected = {b for b in buffers if event.facts["context"].is_shared(b)}
    assert set(event.facts["shared"]) == expected
    assert window.tolist() == [2.0, 3.0]

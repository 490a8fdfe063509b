"""Recipes: a schedule without memory, and the same one over memory."""

from helpers.schedules import floats, read
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device import binding
from weft.engine import run_schedule
from weft.schedule import kernelize_map
from weft.schedule.schedule_template import make_template
from weft.schedule.structural_key import structure_of
from weft.uop import Ops, UOp, to_text


def prepared(node):
    structure = structure_of(UOp.sink(node))
    return structure, make_template(structure, kernelize_map(structure.sink))


def everything(structure):
    return frozenset(range(len(structure.sources)))


def at_the_top(structure, node):
    return frozenset({structure.places[node]})


def test_memory_is_named_by_number():
    a, b = floats(1, 2), floats(3, 4)
    node = (a + b).contiguous()
    structure, template = prepared(node)
    assert template.given == 2 and len(template.fresh) == 1
    (step,) = template.steps
    assert step.memory == (2, 0, 1)
    assert template.results[structure.places[node]].memory == (2,)


def as_text(template):
    """The template, a line for each step and each result."""
    lines = [f"given: memory {', '.join(map(str, range(template.given)))}"]
    for number, fresh in enumerate(template.fresh, template.given):
        lines.append(f"fresh: memory {number} on {fresh.device}, {fresh.size} {fresh.dtype.name}")
    for step in template.steps:
        lines.append(f"run {step.ast.op.name} on {step.memory}\n{to_text(step.ast)}")
    for place, result in template.results.items():
        moves = ", ".join(f"{m.op.name} {m.arg}" for m in result.moves or ())
        lines.append(f"node {place} becomes memory {result.memory} {moves}".rstrip())
    return "\n".join(lines)


def test_before_and_after(golden):
    x, y = floats(*range(6)), floats(1, 2, 3)
    total = x.reshape((2, 3)).reduce(Ops.ADD, (0,))
    sink = UOp.sink(x.assign(x * 2), (total + y.reshape((1, 3))).contiguous())
    names = {x.src[1]: UOp(Ops.UNIQUE, arg="x"), y.src[1]: UOp(Ops.UNIQUE, arg="y")}
    structure = structure_of(sink)
    template = make_template(structure, kernelize_map(sink))
    text = f"before\n{to_text(sink.substitute(names))}\n\nafter\n{as_text(template)}"
    assert text == golden.file("schedules/template.txt")


def test_one_template_serves_other_memory():
    def graph(*values):
        x = floats(*values)
        return (x * 2 + 1).contiguous()

    _, template = prepared(graph(1, 2, 3))
    node = graph(5, 6, 7)
    structure = structure_of(UOp.sink(node))
    filled = template.bind_to(structure, at_the_top(structure, node))
    run_schedule(filled.items, filled.values)
    assert read(filled.becomes[node]) == [11, 13, 15]


def test_every_filling_has_new_memory():
    node = (floats(1, 2) + 1).contiguous()
    structure, template = prepared(node)
    one, two = (template.bind_to(structure, at_the_top(structure, node)) for _ in range(2))
    assert one.becomes[node] is not two.becomes[node]
    assert one.items[0].bufs[0] is not two.items[0].bufs[0]


def chain():
    """Three kernels, one after the other."""
    first = (floats(*range(64)) * 2).contiguous()
    second = (first + 1).contiguous()
    return first, second, (second * 3).contiguous()


def test_only_held_values_are_replaced():
    with settings.override(GROUP_KERNELS=0):
        first, _, last = chain()
        structure, template = prepared(last)
        assert len(template.steps) == 3
        only = template.bind_to(structure, at_the_top(structure, last))
        assert list(only.becomes) == [last]
        places = at_the_top(structure, last) | at_the_top(structure, first)
        assert set(template.bind_to(structure, places).becomes) == {first, last}


def test_only_values_that_are_not_held_share_memory():
    with settings.override(GROUP_KERNELS=0):
        first, _, last = chain()
        structure, template = prepared(last)
        top = at_the_top(structure, last)
        shared = template.bind_to(structure, top)
        assert shared.layout.planned == 512 and len(shared.layout.spots) == 2
        assert shared.items[0].bufs[0].base is shared.items[1].bufs[0].base is not None
        apart = template.bind_to(structure, top, plan=False)
        assert not apart.layout.arenas and apart.items[0].bufs[0].base is None
        held = template.bind_to(structure, top | at_the_top(structure, first))
        assert held.items[0].bufs[0].base is None  # and the one that is left has its own as well
        run_schedule(shared.items)
        assert read(shared.becomes[last]) == [3 * (2 * i + 1) for i in range(64)]


def test_a_held_value_behind_a_fused_node():
    a = floats(*range(8))
    total = a.reduce(Ops.ADD, (0,))
    scaled = a * total.expand((8,))
    with settings.override(GROUP_KERNELS=0):
        structure, template = prepared(scaled)
        inner = structure.places[total]
        found = template.bind_to(structure, frozenset({structure.places[scaled], inner}))
    assert scaled in found.becomes
    assert (total in found.becomes) == (inner in template.results)


def test_windows_are_windows_of_the_memory_of_the_day():
    def graph(x):
        return x.shrink(((2, 5),)).contiguous()

    _, template = prepared(graph(floats(*range(8))))
    x = floats(*range(10, 18))
    node = graph(x)
    structure = structure_of(UOp.sink(node))
    filled = template.bind_to(structure, at_the_top(structure, node))
    run_schedule(filled.items)
    result = filled.becomes[node]
    assert read(result) == [12, 13, 14]
    assert binding.buffer_behind(result).base is x.buffer
    assert binding.is_shared(x)
    del filled, result
    assert not binding.is_shared(x)


def test_writes_become_the_memory_itself():
    x, y = floats(1, 2), floats(3, 4)
    node = x.assign(x + y)
    structure, template = prepared(node)
    filled = template.bind_to(structure, everything(structure))
    assert filled.becomes[node] is x and filled.items[0].bufs[0] is x.buffer


def test_variables_have_the_value_of_the_day():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        x = floats(1, 10, 100, 1000)
        return x.shrink(((0, n.bind(value)),)).reduce(Ops.ADD, (0,))

    _, template = prepared(graph(2))
    node = graph(3)
    structure = structure_of(UOp.sink(node))
    filled = template.bind_to(structure, at_the_top(structure, node))
    assert filled.values == {n: 3}
    run_schedule(filled.items, filled.values)
    assert read(filled.becomes[node]) == [111]


def test_shapes_of_results_have_it_too():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        bound = n.bind(value)
        return (floats(1, 2, 3, 4).shrink(((0, bound),)) * 2).contiguous()

    _, template = prepared(graph(2))
    node = graph(3)
    structure = structure_of(UOp.sink(node))
    filled = template.bind_to(structure, at_the_top(structure, node))
    assert filled.becomes[node].shape == node.shape


def test_a_template_keeps_no_memory_alive():
    x = floats(1, 2)
    structure, template = prepared((x + 1).contiguous())
    filled = template.bind_to(structure, everything(structure))
    for result in template.results.values():
        for node in result.value.toposort():
            assert not binding.is_bound(node)
    assert all(item.ast.dtype is dtypes.void for item in filled.items)

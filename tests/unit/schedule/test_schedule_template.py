"""Recipes: a schedule without memory, and the same one over memory."""

from helpers.schedules import floats, read
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device import binding
from weft.engine import run_schedule
from weft.schedule import kernelize_map
from weft.schedule.schedule_template import recipe_for
from weft.schedule.structural_key import structure_of
from weft.uop import Ops, UOp, to_text


def prepared(node):
    structure = structure_of(UOp.sink(node))
    return structure, recipe_for(structure, kernelize_map(structure.sink))


def everything(structure):
    return frozenset(range(len(structure.sources)))


def at_the_top(structure, node):
    return frozenset({structure.places[node]})


def test_memory_is_named_by_number():
    a, b = floats(1, 2), floats(3, 4)
    node = (a + b).contiguous()
    structure, recipe = prepared(node)
    assert recipe.given == 2 and len(recipe.fresh) == 1
    (step,) = recipe.steps
    assert step.memory == (2, 0, 1)
    assert recipe.results[structure.places[node]].memory == (2,)


def as_text(recipe):
    """The recipe, a line for each step and each result."""
    lines = [f"given: memory {', '.join(map(str, range(recipe.given)))}"]
    for number, fresh in enumerate(recipe.fresh, recipe.given):
        lines.append(f"fresh: memory {number} on {fresh.device}, {fresh.size} {fresh.dtype.name}")
    for step in recipe.steps:
        lines.append(f"run {step.ast.op.name} on {step.memory}\n{to_text(step.ast)}")
    for place, result in recipe.results.items():
        moves = ", ".join(f"{m.op.name} {m.arg}" for m in result.moves or ())
        lines.append(f"node {place} becomes memory {result.memory} {moves}".rstrip())
    return "\n".join(lines)


def test_before_and_after(golden):
    x, y = floats(*range(6)), floats(1, 2, 3)
    total = x.reshape((2, 3)).reduce(Ops.ADD, (0,))
    sink = UOp.sink(x.assign(x * 2), (total + y.reshape((1, 3))).contiguous())
    names = {x.src[1]: UOp(Ops.UNIQUE, arg="x"), y.src[1]: UOp(Ops.UNIQUE, arg="y")}
    structure = structure_of(sink)
    recipe = recipe_for(structure, kernelize_map(sink))
    text = f"before\n{to_text(sink.substitute(names))}\n\nafter\n{as_text(recipe)}"
    assert text == golden.file("schedules/recipe.txt")


def test_one_recipe_serves_other_memory():
    def graph(*values):
        x = floats(*values)
        return (x * 2 + 1).contiguous()

    _, recipe = prepared(graph(1, 2, 3))
    node = graph(5, 6, 7)
    structure = structure_of(UOp.sink(node))
    filled = recipe.fill(structure, at_the_top(structure, node))
    run_schedule(filled.items, filled.values)
    assert read(filled.becomes[node]) == [11, 13, 15]


def test_every_filling_has_new_memory():
    node = (floats(1, 2) + 1).contiguous()
    structure, recipe = prepared(node)
    one, two = (recipe.fill(structure, at_the_top(structure, node)) for _ in range(2))
    assert one.becomes[node] is not two.becomes[node]
    assert one.items[0].bufs[0] is not two.items[0].bufs[0]


def chain():
    """Three kernels, one after the other."""
    first = (floats(*range(64)) * 2).contiguous()
    second = (first + 1).contiguous()
    return first, second, (second * 3).contiguous()


def test_only_what_is_held_becomes_anything():
    with settings.override(GROUP_KERNELS=0):
        first, _, last = chain()
        structure, recipe = prepared(last)
        assert len(recipe.steps) == 3
        only = recipe.fill(structure, at_the_top(structure, last))
        assert list(only.becomes) == [last]
        places = at_the_top(structure, last) | at_the_top(structure, first)
        assert set(recipe.fill(structure, places).becomes) == {first, last}


def test_what_is_not_held_shares_its_room_and_only_where_that_is_asked_for():
    with settings.override(GROUP_KERNELS=0):
        first, _, last = chain()
        structure, recipe = prepared(last)
        top = at_the_top(structure, last)
        shared = recipe.fill(structure, top)
        assert shared.layout.planned == 512 and len(shared.layout.spots) == 2
        assert shared.items[0].bufs[0].base is shared.items[1].bufs[0].base is not None
        apart = recipe.fill(structure, top, plan=False)
        assert not apart.layout.arenas and apart.items[0].bufs[0].base is None
        held = recipe.fill(structure, top | at_the_top(structure, first))
        assert held.items[0].bufs[0].base is None  # and the one that is left has its own as well
        run_schedule(shared.items)
        assert read(shared.becomes[last]) == [3 * (2 * i + 1) for i in range(64)]


def test_a_held_value_is_seen_through_what_is_fused_away():
    a = floats(*range(8))
    total = a.reduce(Ops.ADD, (0,))
    scaled = a * total.expand((8,))
    with settings.override(GROUP_KERNELS=0):
        structure, recipe = prepared(scaled)
        inner = structure.places[total]
        found = recipe.fill(structure, frozenset({structure.places[scaled], inner}))
    assert scaled in found.becomes
    assert (total in found.becomes) == (inner in recipe.results)


def test_windows_are_windows_of_the_memory_of_the_day():
    def graph(x):
        return x.shrink(((2, 5),)).contiguous()

    _, recipe = prepared(graph(floats(*range(8))))
    x = floats(*range(10, 18))
    node = graph(x)
    structure = structure_of(UOp.sink(node))
    filled = recipe.fill(structure, at_the_top(structure, node))
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
    structure, recipe = prepared(node)
    filled = recipe.fill(structure, everything(structure))
    assert filled.becomes[node] is x and filled.items[0].bufs[0] is x.buffer


def test_variables_have_the_value_of_the_day():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        x = floats(1, 10, 100, 1000)
        return x.shrink(((0, n.bind(value)),)).reduce(Ops.ADD, (0,))

    _, recipe = prepared(graph(2))
    node = graph(3)
    structure = structure_of(UOp.sink(node))
    filled = recipe.fill(structure, at_the_top(structure, node))
    assert filled.values == {n: 3}
    run_schedule(filled.items, filled.values)
    assert read(filled.becomes[node]) == [111]


def test_shapes_of_results_have_it_too():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        bound = n.bind(value)
        return (floats(1, 2, 3, 4).shrink(((0, bound),)) * 2).contiguous()

    _, recipe = prepared(graph(2))
    node = graph(3)
    structure = structure_of(UOp.sink(node))
    filled = recipe.fill(structure, at_the_top(structure, node))
    assert filled.becomes[node].shape == node.shape


def test_a_recipe_keeps_no_memory_alive():
    x = floats(1, 2)
    structure, recipe = prepared((x + 1).contiguous())
    filled = recipe.fill(structure, everything(structure))
    for result in recipe.results.values():
        for node in result.value.toposort():
            assert not binding.is_bound(node)
    assert all(item.ast.dtype is dtypes.void for item in filled.items)

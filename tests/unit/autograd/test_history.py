"""What memory remembers of how it was computed: backward after realize, writes, what is freed."""

import gc
import weakref

import numpy as np
import pytest

from weft import Tensor, jit
from weft.autograd import history
from weft.base.errors import GradientError
from weft.engine import run_schedule, stats


def leaf(*values, dtype="double"):
    return Tensor(list(values), dtype=dtype).realize().requires_grad_()


LOOKS = {
    "not at all": lambda *tensors: None,
    "realized": lambda *tensors: [t.realize() for t in tensors],
    "read": lambda *tensors: [t.numpy() for t in tensors],
    "together": lambda *tensors: tensors[0].realize(*tensors[1:]),
    "the last alone": lambda *tensors: tensors[-1].tolist(),
    "the first alone": lambda *tensors: tensors[0].tolist(),
    "kernelized": lambda *tensors: tensors[-1].kernelize(),
    "kernelized and run": lambda *tensors: tensors[0].kernelize(*tensors[1:]).realize(*tensors[1:]),
}


@pytest.mark.parametrize("look", sorted(LOOKS))
@pytest.mark.parametrize("again", [False, True])
def test_looking_changes_no_gradient(look, again):
    x, w = leaf(0.5, -1.0, 2.0), leaf(1.5, 0.5, -0.25)
    first = (x * w).tanh()
    second = first.reshape(3, 1).expand(3, 2).transpose(0, 1) * w
    loss = (second.exp() * first).sum()
    LOOKS[look](first, second, loss)
    loss.backward()
    if again:
        LOOKS[look](loss)
        loss.backward()
    times = 2 if again else 1
    a, b = x.numpy(), w.numpy()

    def value(a, b):
        y = np.tanh(a * b)
        return (2 * np.exp(y * b) * y).sum()

    for tensor, place in ((x, 0), (w, 1)):
        for at in range(3):
            step = np.eye(3)[at] * 1e-6
            up, down = ([a, b], [a, b])
            up = [v + step if i == place else v for i, v in enumerate((a, b))]
            down = [v - step if i == place else v for i, v in enumerate((a, b))]
            slope = (value(*up) - value(*down)) / 2e-6
            assert tensor.grad.numpy()[at] == pytest.approx(times * slope, rel=1e-6)


def test_gradients_of_realized_gradients():
    x = leaf(2.0, 3.0)
    (first,) = (x * x * x).sum().gradient(x)
    first.realize()
    (second,) = (first * first).sum().gradient(x)
    second.realize()
    assert second.tolist() == [2 * 12.0 * 12.0, 2 * 27.0 * 18.0]
    assert second.sum().gradient(x)[0].tolist() == [4 * 27 * 4.0, 4 * 27 * 9.0]


def test_a_gradient_with_respect_to_a_value_between():
    x = leaf(1.0, 2.0)
    middle = (x * 3).realize()
    loss = (middle * middle).sum().realize()
    to_middle, to_x = loss.gradient(middle, x)
    assert to_middle.tolist() == [6.0, 12.0] and to_x.tolist() == [18.0, 36.0]


def kernels(function):
    before = stats.kernels
    function()
    return stats.kernels - before


def test_realized_values_are_not_recomputed():
    w = [Tensor(np.eye(16) + i / 7, dtype="double").realize().requires_grad_() for i in range(4)]
    x = Tensor(np.linspace(-1, 1, 64).reshape(4, 16)).realize()

    def loss():
        h = x
        for weight in w:
            h = (h @ weight).relu()
        return (h * h).sum()

    def at_once():
        found = loss()
        found.backward()
        found.realize(*(t.grad for t in w))

    def one_after_the_other():
        found = loss()
        found.item()
        found.backward()
        Tensor.realize(*(t.grad for t in w))

    counts, results = [], []
    for way in (at_once, one_after_the_other):
        for t in w:
            t.grad = None
        counts.append(kernels(way))
        results.append([t.grad.numpy() for t in w])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert counts[1] <= counts[0] + 1


def test_a_write_makes_the_old_value_known_only_where_it_is_not_needed():
    x = leaf(1.0, 2.0)
    doubled = (x * 2).sum().realize()
    squared = (x * x).sum().realize()
    with Tensor.no_grad():
        x.assign(x * 10).realize()
    doubled.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(GradientError, match="overwritten"):
        squared.backward()
    (x * x).sum().realize().backward()
    assert x.grad.tolist() == [22.0, 42.0]


def test_a_written_value_in_between():
    x = leaf(1.0, 2.0)
    y = (x * 3).realize()
    loss = (y * y).sum().realize()
    y.assign(y * 0 + x)
    later = (y * y).sum().realize()
    later.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    loss.backward()
    assert x.grad.tolist() == [2.0 + 18, 4.0 + 36]


def test_gradients_flow_through_writes():
    x = leaf(1.0, 2.0)
    memory = Tensor.zeros(2, dtype="double").contiguous().realize()
    memory.assign(x * 2)
    total = (memory * memory).sum()
    total.realize()
    memory.realize()
    total.backward()
    (memory * 3).sum().backward()
    assert x.grad.tolist() == [8.0 + 6, 16.0 + 6]


def test_detached_values_stay_detached():
    x = leaf(1.0, 2.0)
    y = (x * 2).realize()
    held, copied = y.detach().realize(), y.detach().contiguous().realize()
    (held * copied * y).sum().backward()
    assert x.grad.tolist() == [8.0, 32.0]
    assert held.tolist() == copied.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("look", sorted(LOOKS))
@pytest.mark.parametrize("given", [True, False])
def test_a_detached_leaf_stays_detached(look, given):
    x = leaf(1.0, 2.0) if given else Tensor([1.0, 2.0], requires_grad=True)
    y = x.detach() * x
    z = y.detach() * x * y
    LOOKS[look](y, z)
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [1.0 + 2.0, 2.0 + 32.0]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_a_choice_between_a_value_and_itself_detached(look):
    x = leaf(1.0, 2.0)
    y = x * 2
    chosen = Tensor([True, False]).where(y, y.detach())
    larger = x.maximum(x.detach())
    LOOKS[look](chosen)
    LOOKS[look](larger)
    (chosen.sum() + larger.sum()).backward()
    assert x.grad.tolist() == [2.5, 0.5]


@pytest.mark.parametrize("look", ["not at all", "read", "kernelized"])
def test_a_leaf_that_is_said_to_be_symmetric_stays_so(look):
    x = Tensor([[4.0, 2.0], [2.0, 5.0]], requires_grad=True)
    low = x.cholesky()
    LOOKS[look](low)
    (low * Tensor([[1.0, 0.0], [8.0, 2.0]])).sum().backward()
    assert x.grad.tolist() == [[-0.625, 1.75], [1.75, 0.5]]


@pytest.mark.parametrize("look", sorted(LOOKS))
@pytest.mark.parametrize("more", [(2, 2), (0, 2)])
def test_expanded_values_keep_their_history(look, more):
    x = leaf(1.0, 2.0)
    y = x * x + Tensor.zeros(*more)
    LOOKS[look](y)
    if 0 in more:
        (same,) = y.sum().gradient(x, materialize_grads=True)
        assert same.tolist() == [0.0, 0.0]
    else:
        (y * Tensor([[1.0], [10.0]])).sum().backward()
        assert x.grad.tolist() == [22.0, 44.0]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_a_mark_and_its_source_share_one_history(look):
    x = leaf(1.0, 2.0)
    y = x.square()
    z = y.contiguous_backward()
    LOOKS[look](z)
    LOOKS[look](y, z)
    (y * z).sum().backward()
    assert x.grad.tolist() == [4.0, 32.0]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_a_copy_of_a_leaf_that_waits_leads_to_it(look):
    x = Tensor([0.5, 2.0], requires_grad=True)
    copied = x.clone()
    LOOKS[look](copied)
    (copied * x).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_values_read_together_with_pending_kernels_keep_their_history(look):
    x, w = Tensor([0.5, 2.0], requires_grad=True), leaf(1.5, 3.0, dtype="float")
    waiting = w.square()
    waiting.kernelize()
    loss = (x * w).sum() + waiting.sum()
    LOOKS[look](loss)
    loss.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([1.5, 3.0], [3.5, 8.0])


@pytest.mark.parametrize(
    "settle_leaf", [Tensor.realize, Tensor.kernelize, lambda x: x[1:].realize()]
)
@pytest.mark.parametrize("settle", [Tensor.realize, Tensor.kernelize])
def test_a_leaf_realized_after_its_results(settle, settle_leaf):
    leaf = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    with Tensor.no_grad():
        leaf -= leaf * 0.25
    product = leaf * Tensor([4.0, 5.0, 6.0]) * leaf
    settle(product)
    settle_leaf(leaf)
    product.sum().backward()
    assert leaf.grad.tolist() == [6.0, 15.0, 27.0]


@pytest.mark.parametrize("first", ["leaf", "copy", "gradient"])
def test_gradients_through_a_copy_that_a_kernel_waits_to_make(first):
    leaf = Tensor(np.array([1.0, 2.0])).requires_grad_()
    copy = leaf.clone()
    copy.kernelize()
    ((leaf * leaf).sum() + (copy * copy).sum()).backward()
    {"leaf": leaf, "copy": copy, "gradient": leaf.grad}[first].tolist()
    assert leaf.grad.tolist() == [4.0, 8.0] and copy.tolist() == [1.0, 2.0]


def test_no_history_is_kept_without_gradients():
    x = leaf(1.0, 2.0)
    with Tensor.no_grad():
        y = (x * 2).realize()
        z = (y * x).realize()
    assert history.saved_graph(y.uop.base) is None and history.saved_graph(z.uop.base) is None
    (x * z).sum().backward()
    assert x.grad.tolist() == [2.0, 8.0]


def test_a_carried_value_does_not_keep_earlier_graphs():
    x = leaf(1.0, 2.0)
    carried = Tensor.zeros(2, dtype="double").contiguous().realize()
    for _ in range(3):
        (gradient,) = (x * x * x).sum().gradient(x)
        carried.assign(carried * 0.9 + gradient.detach()).realize()
    assert history.saved_graph(carried.uop.base) is None
    x.grad = None
    for _ in range(3):
        (x * x).sum().backward()
        kept = x.grad * 0.5
        kept.realize()
    assert history.saved_graph(kept.uop.base) is None


def test_the_past_goes_with_the_value():
    x = leaf(1.0, 2.0)
    between = (x * 2).realize()
    memory = weakref.ref(between.uop.base)
    loss = (between * between).sum().realize()
    del between
    gc.collect()
    assert memory() is not None  # backward needs it
    loss.backward()
    del loss
    x.grad.realize()
    gc.collect()
    assert memory() is None


def test_several_steps_by_hand():
    w = leaf(1.0, -2.0)
    losses = []
    for _ in range(4):
        loss = (w * w).sum()
        losses.append(loss.item())
        loss.backward()
        with Tensor.no_grad():
            w.assign(w - 0.25 * w.grad).realize()
        w.grad = None
    assert losses == [5.0, 1.25, 0.3125, 0.078125]


def test_a_value_overwritten_by_a_replay_is_detected():
    w = leaf(1.0, 2.0)

    @jit
    def step():
        with Tensor.no_grad():
            return w.assign(w * 2).realize()

    for _ in range(4):
        loss = (w * w).sum().realize()
        step()
        with pytest.raises(GradientError, match="overwritten"):
            loss.backward()
    (w * w).sum().realize().backward()
    assert w.grad.tolist() == [32.0, 64.0]


def test_results_of_captured_functions_have_no_history():
    w = leaf(1.0, 2.0)

    @jit
    def forward(x):
        return (x * w).sum()

    for _ in range(4):
        found = forward(Tensor([1.0, 1.0], dtype="double").realize())
        with pytest.raises(GradientError):
            found.backward()
    assert w.grad is None


def _a_number(x, y):
    y[0] = 5.0


def _a_window(x, y):
    y[1:] = x[:2] * 3


def _by_index(x, y):
    y[Tensor([2])] = x[0] * 7


def _by_mask(x, y):
    y[Tensor([True, False, False])] = 0.0


def _added(x, y):
    y += x


def _multiplied(x, y):
    y *= x


def _all_of_it(x, y):
    y.assign(x * x)


def _two_parts(x, y):
    y[0] = x[1]
    y[1] = y[0] * 2


def _without_gradients(x, y):
    with Tensor.no_grad():
        y[0] = x[1] * 9


def _a_view_before(x, y):
    view = y[:2]
    y[0] = 0.0
    return view.pad(((0, 1),))


def _used_before(x, y):
    square = y * y
    y[0] = 0.0
    return square + y


WRITES = {
    _a_number: [0.0, 20.0, 200.0],
    _a_window: [2.0 + 30, 300.0, 0.0],
    _by_index: [2.0 + 700, 20.0, 0.0],
    _by_mask: [0.0, 20.0, 200.0],
    _added: [3.0, 30.0, 300.0],
    _multiplied: [4.0, 80.0, 1200.0],
    _all_of_it: [2.0, 40.0, 600.0],
    _two_parts: [0.0, 1.0 + 20, 200.0],
    _without_gradients: [0.0, 20.0, 200.0],
    _a_view_before: [0.0, 20.0, 0.0],
    _used_before: [8.0, 160.0 + 20, 2400.0 + 200],
}


@pytest.mark.parametrize("when", ["never", "before", "after", "both"])
@pytest.mark.parametrize("write", list(WRITES), ids=lambda write: write.__name__)
def test_writes_to_computed_values(write, when):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    if when in ("before", "both"):
        y.realize()
    result = write(x, y)
    result = y if result is None else result
    if when in ("after", "both"):
        y.realize()
    total = (result * Tensor([1.0, 10.0, 100.0], dtype="double")).sum()
    if when == "after":
        total.realize()
    total.backward()
    assert x.grad.tolist() == WRITES[write]


def test_realized_values_keep_their_history():
    x, y = leaf(1.0, 2.0), leaf(3.0).realize()
    z = (x * 2).realize()
    memory, other = z.uop.base, y.uop.base
    past = history.saved_graph(memory)
    for node in (memory, other):
        history.mark_without_graph(node)
    assert past is not None and history.saved_graph(memory) is past
    assert other._history is None and history.saved_graph(other) is None


# ---- kernels that wait, and writes among them ----------------------------------------------------


def read_without_running(*tensors):
    tensors[0].kernelize(*tensors[1:])


def scheduled(*tensors):
    items, values = tensors[0].schedule_with_vars(*tensors[1:])
    run_schedule(items, values)


PLACES = {"one device": None, "two devices": ("REF", "REF:1")}


def placed(places, *numbers):
    x = Tensor(list(numbers), device="REF")
    x = x if PLACES[places] is None else x.shard(PLACES[places], axis=0)
    return x.contiguous().realize().requires_grad_()


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("look", [read_without_running, scheduled, Tensor.realize])
def test_a_saved_graph_reads_the_written_value(places, look):
    x, w = placed(places, 1.0, 2.0), placed(places, 3.0, 4.0)
    with Tensor.no_grad():
        w -= 1
    loss = (x * w).sum()
    look(loss)
    loss.backward()
    assert x.grad.tolist() == [2.0, 3.0] and w.grad.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("places", PLACES)
def test_memory_of_a_pending_write_is_not_read(places):
    w = placed(places, 1.0, 2.0)
    linear, square = (w * 3).sum(), (w * w).sum()
    with Tensor.no_grad():
        w -= 1
    read_without_running(linear, square, w)
    linear.backward()
    assert w.grad.tolist() == [3.0, 3.0]
    with pytest.raises(GradientError, match="overwritten"):
        square.backward()
    w.grad = None
    (w * w).sum().backward()
    assert w.grad.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("look", [read_without_running, scheduled])
def test_kernels_that_have_run_leave_the_way_back(places, look):
    x = placed(places, 1.0, 2.0)
    y = x * x
    look(y)
    for run in (lambda: None, (y * 2).realize, y.realize):
        run()
        x.grad = None
        (y * y).sum().backward()
        assert x.grad.tolist() == [4.0, 32.0]


def test_shards_whose_kernels_run_at_different_times():
    x = placed("two devices", 1.0, 2.0)
    y = x * x
    y.kernelize()
    assert y[:1].tolist() == [1.0]  # the kernel of one device runs
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_kernels_of_which_some_inputs_are_there_meanwhile():
    """A graph that is kept follows the kernels that it waits for."""
    x = Tensor([[1.0], [2.0], [3.0]], device="REF").shard(("REF", "REF:1"), axis=0).contiguous()
    x.requires_grad_()  # it waits itself
    loss, other = (x * x).sum(), x * 3
    loss.kernelize()
    other.realize()
    for _ in range(2):
        x.grad = None
        loss.backward()
        assert x.grad.tolist() == [[2.0], [4.0], [6.0]]


def test_a_write_that_waits_among_kernels_runs_once():
    x = placed("one device", 1.0, 2.0)
    y = (x * 3).kernelize()
    with Tensor.no_grad():
        x -= 1
    loss = (x * y).sum()
    loss.kernelize()
    y.realize()
    loss.backward()
    assert x.grad.tolist() == [3.0 + 0.0, 6.0 + 3.0]  # y, and 3 times what was written
    assert x.tolist() == [0.0, 1.0] and loss.item() == 6.0


def test_a_part_of_sharded_leaves_that_was_overwritten():
    x = placed("two devices", 1.0, 2.0)
    y = (x * 3).relu()
    y.kernelize()
    with Tensor.no_grad():
        x.assign(x * 2)
    x.realize()
    (y * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_writes_that_wait_are_followed_when_their_graph_was_asked_for_meanwhile():
    """What a kernel is to write is another node once what it reads is there. A graph that was asked
    for in between holds the new node alone, and must not read a kernel that has run."""
    torch = pytest.importorskip("torch", reason="PyTorch computes every value at once")
    data = [[0.5, -1.0], [2.0, 0.3]]
    found = []
    for library in ("weft", "torch"):
        if library == "weft":  # copies to the device, which wait
            given = np.array(data)
            x, w = (Tensor(each, requires_grad=True, device="REF") for each in (given, given + 1))
        else:
            x = torch.tensor(data, dtype=torch.float64, requires_grad=True)
            w = (x.detach() + 1).requires_grad_()
        y = (x * w.mean()).tanh() * 1.5
        z = (y * x.mean()).tanh() * 1.5
        if library == "weft":
            y.kernelize(z)
            (x + 1).tanh().realize()
            z.sum().gradient(x)
            y.realize()
            found.append([each.numpy() for each in z.sum().gradient(x, w)])
        else:
            found.append([each.numpy() for each in torch.autograd.grad(z.sum(), (x, w))])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)

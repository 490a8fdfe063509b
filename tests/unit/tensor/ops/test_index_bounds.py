"""Indices and labels that are known when they are recorded are checked then."""

import numpy
import pytest

from weft import Tensor, nn, settings
from weft.base.errors import IndexingError
from weft.tensor import checked


@pytest.fixture(autouse=True)
def mode():
    with settings.override(CHECK=0):
        yield


X = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def writes(index):
    x = Tensor([1, 2, 3])
    x[index] = 0


OUTSIDE = {
    "index": lambda: X[Tensor([2])],
    "second": lambda: X[:, Tensor([0, 3])],
    "both": lambda: X[Tensor([0]), Tensor([3])],
    "below": lambda: X[Tensor([-3])],
    "list": lambda: X[[0, 2]],
    "array": lambda: X[numpy.array([2])],
    "a tensor of an array": lambda: X[Tensor(numpy.array([2]))],
    "a number": lambda: X[Tensor(2)],
    "a constant": lambda: X[Tensor.full((2, 2), 2)],
    "moved": lambda: X[Tensor([[0, 1], [0, 2]]).T.reshape(-1).flip(0)],
    "a part": lambda: X[Tensor([0, 1, 2])[1:]],
    "cast": lambda: X[Tensor([2]).cast("int64")],
    "unsigned": lambda: X[Tensor([1 << 40], dtype="uint64")],
    "on another device": lambda: X[Tensor([2], device="REF")],
    "take": lambda: X.take(Tensor([6])),
    "take along": lambda: X.take(Tensor([3]), axis=1),
    "take_along_dim": lambda: X.take_along_dim(Tensor([[3]]), 1),
    "gather": lambda: X.gather(1, Tensor([[0], [3]])),
    "index_select": lambda: X.index_select(1, Tensor([3])),
    "scatter": lambda: X.scatter(1, Tensor([[3]]), Tensor([[1.0]])),
    "scatter_add": lambda: X.scatter_add(1, Tensor([[3]]), Tensor([[1.0]])),
    "scatter_reduce": lambda: X.scatter_reduce(1, Tensor([[3]]), Tensor([[1.0]]), "amax"),
    "index_add": lambda: X.index_add(0, Tensor([2]), Tensor([[1.0, 1.0, 1.0]])),
    "index_copy": lambda: X.index_copy(0, Tensor([2]), Tensor([[1.0, 1.0, 1.0]])),
    "index_fill": lambda: X.index_fill(0, Tensor([2]), 1.0),
    "index_put": lambda: X.index_put((Tensor([2]),), Tensor([1.0])),
    "put": lambda: X.put(Tensor([6]), Tensor([1.0])),
    "setitem": lambda: writes(Tensor([3])),
    "setitem, a list": lambda: writes([3]),
    "one_hot": lambda: Tensor([0, 3]).one_hot(3),
    "one_hot, below": lambda: Tensor([-1]).one_hot(3),
    "cross_entropy": lambda: X.cross_entropy(Tensor([0, 3])),
    "cross_entropy, below": lambda: X.cross_entropy(Tensor([0, -1])),
    "sparse": lambda: X.sparse_categorical_crossentropy(Tensor([0, 3])),
    "sparse, below": lambda: X.sparse_categorical_crossentropy(Tensor([0, -2])),
    "nll_loss": lambda: X.nll_loss(Tensor([0, 3])),
    "nll_loss, below": lambda: X.nll_loss(Tensor([0, -1])),
    "embedding": lambda: nn.Embedding(4, 2)(Tensor([9])),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_known_indices_are_checked_at_once(name):
    with pytest.raises(IndexingError, match="is out of bounds") as raised:
        OUTSIDE[name]()
    assert isinstance(raised.value, IndexError)


def test_the_error_says_index_axis_and_size():
    with pytest.raises(IndexingError) as raised:
        X[:, Tensor([0, 7])]
    error = raised.value
    assert error.summary == "index 7 is out of bounds"
    assert error.asked == "an index tensor of shape (2,) into axis 1 of shape (2, 3)"
    assert error.because == "the axis has 3 elements"
    assert error.try_ == "numbers from -3 to 2"


def test_the_error_of_a_label_names_the_ignored_index():
    with pytest.raises(IndexingError) as raised:
        X.nll_loss(Tensor([0, 3]), ignore_index=-100)
    assert raised.value.summary == "class 3 is out of bounds"
    assert raised.value.try_ == "labels from 0 to 2, and -100 for what does not count"


def test_indices_in_bounds_pass():
    assert X[Tensor([-1, 0])].tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    assert X[:, Tensor([], dtype="int32")].shape == (2, 0)
    assert X[Tensor([0, 1, 2])[:2]].shape == (2, 3)  # what is cut off does not count
    assert X[Tensor([0, 256]).cast("uint8")].shape == (2, 3)
    assert Tensor([1, 2])[Tensor(1)].item() == 2
    assert Tensor([0, 1]).one_hot(2).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("ignored", [-100, -1, 7])
def test_ignored_labels_pass(ignored):
    alone = X[:1].nll_loss(Tensor([1]))
    for loss in (X.nll_loss, X.sparse_categorical_crossentropy):
        loss(Tensor([1, ignored]), ignore_index=ignored).item()
    found = X.nll_loss(Tensor([1, ignored]), ignore_index=ignored)
    assert found.item() == pytest.approx(alone.item())


def test_nothing_is_computed_to_check():
    index = Tensor([1]) + 6
    before = index.uop
    y = X[:, index]
    assert index.uop is before and y.tolist() == [[0.0], [0.0]]
    stored = (Tensor([1]) + 6).realize()  # in the device's memory: not checked
    assert X[:, stored].tolist() == [[0.0], [0.0]]


def test_nothing_is_deferred_outside_of_checked_mode():
    X[Tensor([1]) + 6]
    assert not checked._deferred.checks


def test_computed_indices_are_checked_in_checked_mode():
    index = (Tensor([1]) + 6).realize()
    with settings.override(CHECK=1):
        y = X[:, index]
        with pytest.raises(IndexingError) as raised:
            y.tolist()
        assert "axis 1 of shape (2, 3), at " in raised.value.asked
        assert f"{__file__}:" in raised.value.asked
        loss = X.cross_entropy(index.cat(index))
        with pytest.raises(IndexingError, match="class 7"):
            loss.item()
        assert X.nll_loss(index.zeros_like().cat(index), ignore_index=7).item() == -1.0


@pytest.mark.parametrize("ignored", [-100, -1, 1])
@pytest.mark.parametrize("smoothing", [0.0, 0.25])
def test_rows_that_do_not_count(ignored, smoothing):
    logits = Tensor([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 1.0, 0.0]])
    labels = Tensor([0, ignored, 2])
    got = logits.cross_entropy(labels, label_smoothing=smoothing, ignore_index=ignored)
    counted = logits[[0, 2]].cross_entropy(Tensor([0, 2]), label_smoothing=smoothing)
    assert got.item() == pytest.approx(counted.item(), rel=1e-6)
    rows = logits.cross_entropy(labels, "none", smoothing, ignore_index=ignored).tolist()
    assert rows[1] == 0 and rows[0] > 0 and rows[2] > 0
    losses = logits.log_softmax().nll_loss(labels, ignore_index=ignored)
    assert losses.item() == pytest.approx(
        logits[[0, 2]].log_softmax().nll_loss(Tensor([0, 2])).item(), rel=1e-6
    )


def test_minus_100_does_not_count_by_default():
    logits = Tensor([[1.0, 2.0], [0.0, 1.0]])
    alone = logits[1:].cross_entropy(Tensor([1])).item()
    assert logits.cross_entropy(Tensor([-100, 1])).item() == pytest.approx(alone, rel=1e-6)
    picked = logits.log_softmax().nll_loss(Tensor([-100, 1])).item()
    assert picked == pytest.approx(alone, rel=1e-6)
    with pytest.raises(IndexingError, match="class -1 is out of bounds"):
        logits.cross_entropy(Tensor([-1, 1]))


def test_the_mean_over_more_rows_than_a_half_can_count():
    # each row loses 16, so that the sum is exact in any order
    logits = Tensor([[0.0, 16.0]], dtype="float16").expand(70_000, 2).contiguous()
    labels = Tensor.zeros(70_000, dtype="int32")
    for loss in (logits.cross_entropy(labels), logits.log_softmax().nll_loss(labels)):
        assert loss.item() == 16.0

"""Programs of a model: recorded at the first call, stored for later processes."""

import threading

import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import BOOL, INT64, constant, graph, model, node, onnx, value
from weft import Tensor, settings
from weft.onnx import model as model_module
from weft.onnx import registry
from weft.tensor import realize

RNG = np.random.default_rng(0)
WEIGHT = RNG.standard_normal((16, 12)).astype(np.float32)


def dense():
    """relu(x @ w) of any number of rows."""
    return model(
        [node("MatMul", ["x", "w"], ["y"]), node("Relu", ["y"], ["z"])],
        [value("x", ["n", 16])],
        [value("z", ["n", 12])],
        [constant("w", WEIGHT)],
    )


def rows(count):
    return RNG.standard_normal((count, 16)).astype(np.float32)


def check(loaded, x):
    np.testing.assert_allclose(loaded(x).z.numpy(), np.maximum(x @ WEIGHT, 0), rtol=1e-4, atol=1e-5)


@pytest.fixture
def cache(tmp_path):
    with settings.override(CACHE_DIR=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def without_compiler(monkeypatch):
    """A function after which nothing is parsed or scheduled."""

    def refuse(*args, **kwargs):
        raise AssertionError("a stored program is used")

    def forbid():
        monkeypatch.setattr(model_module, "parse", refuse)
        monkeypatch.setattr(realize, "template_for", refuse)

    return forbid


def test_each_signature_has_a_program():
    loaded = weft.onnx.load(dense())
    for count in (2, 3, 2, 3):
        check(loaded, rows(count))
    assert len(loaded._programs._runners) == 2


def test_a_stored_program_needs_no_graph(cache, without_compiler):
    first = weft.onnx.load(dense())
    check(first, rows(2))
    without_compiler()
    again = weft.onnx.load(dense())
    assert [str(each) for each in again.inputs] == [str(each) for each in first.inputs]
    assert [str(each) for each in again.outputs] == [str(each) for each in first.outputs]
    assert again.opsets == first.opsets
    for _ in range(3):
        check(again, rows(2))
    with pytest.raises(weft.onnx.OnnxError, match="it has 1 axes"):
        again(rows(2)[0])


def test_weights_stay_in_the_file_of_the_model(cache):
    check(weft.onnx.load(dense()), rows(2))
    stored = b"".join(each.read_bytes() for each in cache.glob("cache.sqlite3*"))
    assert WEIGHT.tobytes()[:600] not in stored


def test_another_model_setting_or_dtype_is_no_hit(cache):
    check(weft.onnx.load(dense()), rows(2))
    assert "_parsed" not in weft.onnx.load(dense()).__dict__
    assert "_parsed" in weft.onnx.load(dense(), dtype="float16").__dict__
    assert "_parsed" in weft.onnx.load(dense() + b"\x3a\x00").__dict__
    with settings.override(NOOPT=1):
        assert "_parsed" in weft.onnx.load(dense()).__dict__


def test_damaged_entries_are_misses(cache, monkeypatch):
    check(weft.onnx.load(dense()), rows(2))
    stored = weft.onnx.stored_programs
    monkeypatch.setattr(stored, "from_bytes", lambda *_: 1 / 0)
    monkeypatch.setattr(stored, "_DAMAGED", (*stored._DAMAGED, ZeroDivisionError))
    check(weft.onnx.load(dense()), rows(2))


def test_outputs_are_new_at_each_call():
    loaded = weft.onnx.load(dense())
    inputs = [rows(2) for _ in range(4)]
    outputs = [loaded(x).z for x in inputs]
    for x, output in zip(inputs, outputs):
        np.testing.assert_allclose(output.numpy(), np.maximum(x @ WEIGHT, 0), rtol=1e-4, atol=1e-5)


def test_inputs_may_be_tensors_windows_and_strided_arrays():
    loaded = weft.onnx.load(dense())
    x = rows(6)
    check(loaded, x[:3])
    for each in (Tensor(x)[:3], Tensor(x).realize()[:3], x[::2][:3], np.asfortranarray(x[:3])):
        array = each.numpy() if isinstance(each, Tensor) else each
        wanted = np.maximum(array @ WEIGHT, 0)
        np.testing.assert_allclose(loaded(each).z.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert len(loaded._programs._runners) == 1


def test_one_tensor_may_be_two_inputs():
    loaded = weft.onnx.load(
        model([node("Sub", ["a", "b"], ["y"])], [value("a", [3]), value("b", [3])], [value("y")])
    )
    same = Tensor([1.0, 2.0, 3.0]).realize()
    for _ in range(2):
        assert loaded(same, same).y.tolist() == [0, 0, 0]
    assert loaded(same, Tensor([1.0, 1.0, 1.0])).y.tolist() == [0, 1, 2]


def test_an_output_may_be_an_input_or_another_output():
    nodes = [node("Neg", ["x"], ["y"]), node("Identity", ["y"], ["same"])]
    outputs = [value("y", [2]), value("same", [2]), value("x2", [2])]
    nodes.append(node("Identity", ["x"], ["x2"]))
    loaded = weft.onnx.load(model(nodes, [value("x", [2])], outputs))
    for numbers in ([1, 2], [3, 4], [5, 6]):
        x = np.asarray(numbers, np.float32)
        found = loaded(x)
        np.testing.assert_array_equal(found.y.numpy(), -x)
        np.testing.assert_array_equal(found.same.numpy(), -x)
        np.testing.assert_array_equal(found.x2.numpy(), x)


def branches():
    """x + 1 if flag, else x - 1."""
    one = constant("one", 1)
    parts = {
        name: graph([node(op, ["x", "one"], [name])], [], [value(name)], [one], name)
        for name, op in (("plus", "Add"), ("minus", "Sub"))
    }
    return model(
        [node("If", ["flag"], ["y"], then_branch=parts["plus"], else_branch=parts["minus"])],
        [value("x", [2]), value("flag", [], BOOL)],
        [value("y")],
    )


def test_values_that_select_a_branch_belong_to_the_signature(cache, without_compiler):
    loaded = weft.onnx.load(branches())
    x = np.zeros(2, np.float32)
    for _ in range(2):
        assert loaded(x, np.array(True)).y.tolist() == [1, 1]
        assert loaded(x, np.array(False)).y.tolist() == [-1, -1]
    assert loaded._programs.host_inputs == ("flag",)
    assert loaded(x, Tensor(True)).y.tolist() == [1, 1]
    without_compiler()
    again = weft.onnx.load(branches())
    assert again(x, np.array(True)).y.tolist() == [1, 1]
    assert again(x, np.array(False)).y.tolist() == [-1, -1]


def test_values_that_change_often_are_not_compiled_each():
    nodes = [node("Range", ["zero", "n", "one"], ["r"]), node("Cast", ["r"], ["y"], to=1)]
    constants = [constant("zero", 0, np.int64), constant("one", 1, np.int64)]
    loaded = weft.onnx.load(model(nodes, [value("n", [], INT64)], [value("y")], constants))
    for count in range(1, 14):
        assert loaded(np.array(count)).y.tolist() == list(range(count))
    assert "change often" in loaded._programs.reason


def test_custom_operators_have_no_program(cache):
    calls = []

    @weft.onnx.register("test.programs", "Count")
    def count(node, x):
        calls.append(x)
        return x + len(calls)

    try:
        loaded = weft.onnx.load(
            model(
                [node("Count", ["x"], ["y"], domain="test.programs")],
                [value("x", [1])],
                [value("y")],
                domains=["test.programs"],
            )  # fmt: skip
        )
        x = np.zeros(1, np.float32)
        assert [loaded(x).y.item() for _ in range(3)] == [1, 2, 3]
    finally:
        registry._operators.pop(("test.programs", "Count"))
        registry._custom.discard(("test.programs", "Count"))


def test_random_numbers_differ_at_each_call():
    nodes = [node("RandomUniformLike", ["x"], ["r"]), node("Add", ["x", "r"], ["y"])]
    loaded = weft.onnx.load(model(nodes, [value("x", [4])], [value("y")]))
    x = np.zeros(4, np.float32)
    assert len({tuple(loaded(x).y.tolist()) for _ in range(5)}) == 5


def test_several_threads_may_call_a_model():
    loaded = weft.onnx.load(dense())
    wrong = []

    def call(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            x = rng.standard_normal((1 + seed % 2, 16)).astype(np.float32)
            found = loaded(x).z.numpy()
            if not np.allclose(found, np.maximum(x @ WEIGHT, 0), rtol=1e-3, atol=1e-4):
                wrong.append(seed)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_external_data_that_changes_is_read_again(tmp_path, cache):
    weight = onnx.TensorProto(name="w", data_type=1, dims=(300,))
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="w.bin")
    path = tmp_path / "model.onnx"
    path.write_bytes(
        model([node("Add", ["x", "w"], ["y"])], [value("x", [1])], [value("y")], [weight])
    )
    for number in (1, 2, 2, 3):
        array = np.full(300, number, np.float32)
        (tmp_path / "w.bin").write_bytes(array.tobytes())
        found = weft.onnx.load(path)(np.zeros(1, np.float32))
        np.testing.assert_array_equal(found.y.numpy(), array)


def test_a_model_whose_shapes_depend_on_values_is_no_library(tmp_path):
    loaded = weft.onnx.load(
        model([node("NonZero", ["x"], ["y"])], [value("x", [3])], [value("y", dtype=INT64)])
    )
    with pytest.raises(weft.onnx.OnnxError, match="no C library|become a C library"):
        loaded.export_c(tmp_path, np.zeros(3, np.float32))


def test_inputs_that_select_a_branch_are_fixed_in_a_library(tmp_path):
    loaded = weft.onnx.load(branches())
    try:
        header = loaded.export_c(tmp_path, np.zeros(2, np.float32), np.array(True), build=False)
    except weft.WeftError as error:
        assert "no C" in str(error)  # of another device
        return
    assert "fixed: flag = True" in header.read_text()
    assert "model_run(model* m, const float* x, float* y)" in header.read_text()


def attention():
    """Self-attention over named axes, and a reshape by sizes that are computed."""
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Transpose", ["m"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["m", "t"], ["scores"]),
        node("Softmax", ["scores"], ["p"], axis=-1),
        node("MatMul", ["p", "m"], ["y"]),
        node("Shape", ["y"], ["shape"]),
        node("Gather", ["shape", "first"], ["batch"]),
        node("Gather", ["shape", "second"], ["length"]),
        node("Mul", ["length", "twelve"], ["row"]),
        node("Concat", ["batch", "row"], ["flat"], axis=0),
        node("Reshape", ["y", "flat"], ["z"]),
    ]
    constants = [
        constant("w", WEIGHT),
        *(constant(n, [v], np.int64) for n, v in (("first", 0), ("second", 1), ("twelve", 12))),
    ]
    return model(
        nodes, [value("x", ["batch", "length", 16])], [value("z", ["batch", "k"])], constants
    )


def attended(x):
    m = x @ WEIGHT
    scores = m @ m.transpose(0, 2, 1)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return ((p / p.sum(-1, keepdims=True)) @ m).reshape(len(x), -1)


SIZES = [(2, 3), (3, 4), (4, 5), (5, 2), (2, 7), (1, 4), (6, 1), (20, 40), (3, 3)]


def check_sizes(loaded, sizes):
    for batch, length in sizes:
        x = RNG.standard_normal((batch, length, 16)).astype(np.float32)
        found = loaded(Tensor(x) if batch == 5 else x).z
        assert found.shape == (batch, length * 12)
        np.testing.assert_allclose(found.numpy(), attended(x), rtol=1e-3, atol=1e-4)


def test_one_program_serves_all_sizes():
    loaded = weft.onnx.load(attention())
    check_sizes(loaded, SIZES)
    assert loaded.size_reason is None
    own = {key[0][1][:2] for key in loaded._programs._runners}
    assert own == {(2, 3), (3, 4), (1, 4), (6, 1)}
    assert len(loaded._programs._for_sizes) == 1


def test_a_program_for_all_sizes_is_stored(cache, without_compiler):
    check_sizes(weft.onnx.load(attention()), SIZES[:4])
    without_compiler()
    again = weft.onnx.load(attention())
    check_sizes(again, [(8, 6), (2, 8), (7, 7)])
    assert not again._programs._runners


def image_network():
    """Convolutions and pools in steps, over images of named height and width."""
    draw = np.random.default_rng(7).standard_normal
    weights = [constant("first", draw((4, 3, 3, 3))), constant("second", draw((2, 4, 3, 3)))]
    nodes = [
        node("Conv", ["x", "first"], ["a"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"]),
        node("MaxPool", ["b"], ["c"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Conv", ["c", "second"], ["d"], pads=[1, 1, 1, 1]),
        node("AveragePool", ["d"], ["e"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("GlobalAveragePool", ["d"], ["f"]),
    ]
    return model(nodes, [value("x", [1, 3, "h", "w"])], [value("e"), value("f")], weights)


def test_one_program_serves_images_of_all_sizes():
    loaded = weft.onnx.load(image_network())
    known = weft.onnx.load(image_network(), jit=False)
    draw = np.random.default_rng(8).standard_normal
    for size in ((20, 24), (17, 31), (40, 22), (23, 23), (18, 27)):
        x = draw((1, 3, *size)).astype(np.float32)
        for found, expected in zip(loaded(x).values(), known(x).values(), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-4)
    assert loaded.size_reason is None
    assert len(loaded._programs._for_sizes) == 1


def test_the_operator_that_needs_the_value_of_a_size_is_named():
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Tile", ["x", "s"], ["y"], name="tiles"),
    ]
    loaded = weft.onnx.load(model(nodes, [value("x", ["n"])], [value("y")]))
    for count in (2, 3, 4, 5):
        x = np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(loaded(x).y.numpy(), np.tile(x, count))
    assert "tiles" in loaded.size_reason and "symbolic size" in loaded.size_reason
    assert len(loaded._programs._runners) == 4

"""Operators of shapes compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import ml_dtypes

from helpers.onnx_nodes import by_weft, compare, node_model, refused


@pytest.fixture
def x(rng):
    return rng.standard_normal((2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("shape", [(4, 6), (-1,), (0, -1), (2, 0, 2, 2), (1, 24, 1)])
def test_reshape(shape, x):
    compare("Reshape", [x, np.array(shape)], constants=[1])


@pytest.mark.parametrize(
    ("old", "shape", "allowzero", "new"),
    [
        ((0, 3, 4), (0, -1), 0, (0, 12)),
        ((0, 3, 4), (3, 4, 0), 1, (3, 4, 0)),
        ((2, 0, 3), (-1, 0), 0, (6, 0)),
    ],
)
def test_reshape_of_no_elements(old, shape, allowzero, new):
    inputs = [np.zeros(old, np.float32), np.array(shape)]
    model = node_model("Reshape", inputs, constants=[1], allowzero=allowzero)
    assert by_weft(model, inputs)[0].shape == new


@pytest.mark.parametrize("axis", [0, 1, 3, -1])
def test_flatten(axis, x):
    compare("Flatten", [x], axis=axis)


def test_axes_of_size_one(x):
    one = x.reshape(1, 2, 1, 12)
    compare("Squeeze", [one])
    compare("Squeeze", [one, np.array([-2])], constants=[1])
    compare("Squeeze", [one], axes=[0, 2], opset=11)
    compare("Unsqueeze", [x, np.array([0, -1])], constants=[1])
    compare("Unsqueeze", [x], axes=[1, 4], opset=11)
    refused("Squeeze", [x, np.array([1])], "axis 1", constants=[1])


def test_permuted_and_repeated(x):
    compare("Transpose", [x])
    compare("Transpose", [x], perm=[1, 2, 0])
    compare("Expand", [x[:, :1], np.array([2, 1, 3, 1])], constants=[1])
    compare("Tile", [x, np.array([2, 1, 3])], constants=[1])


def test_joined_and_split(x):
    compare("Concat", [x, x[:, :1], x[:, :0]], axis=-2)
    compare("Concat", [x], axis=0)
    compare("Split", [x, np.array([1, 0, 3])], 3, axis=2, constants=[1])
    compare("Split", [x], 3, axis=-1, num_outputs=3)
    compare("Split", [x], 2, axis=2, opset=13)
    compare("Split", [x], 2, axis=2, split=[3, 1], opset=11)


def test_split_of_opset_1(x):
    for inputs, options in (([x, np.array([1, 3])], {}), ([x], {"split": [1, 3]})):
        model = node_model("Split", inputs, 2, opset=1, axis=2, **options)
        first, second = by_weft(model, inputs)
        np.testing.assert_array_equal(first, x[..., :1])
        np.testing.assert_array_equal(second, x[..., 1:])


SLICES = [
    ([1], [3], [2], None),
    ([-3, 0], [-1, 100], [-1, 0], [1, 2]),
    ([3], [-100], [2], [-1]),
    ([-1], [0], [2], [-2]),
    ([100, -100], [-100, 100], [2, 1], [-3, 2]),
    ([2], [2], [2], None),
    ([np.iinfo(np.int64).max], [np.iinfo(np.int64).min], [1], [-1]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slices(starts, ends, axes, steps, x):
    given = [np.array(each) for each in (starts, ends, axes, steps) if each is not None]
    compare("Slice", [x, *given], constants=range(1, len(given) + 1))


def test_slices_by_attributes(x):
    compare("Slice", [x], starts=[0, 1], ends=[2, -1], axes=[0, 2], opset=9)
    compare("Slice", [x], starts=[1], ends=[2], opset=9)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_padding(mode, x):
    compare("Pad", [x, np.array([0, 1, 2, 1, 2, 3])], mode=mode, constants=[1])
    pads, axes = np.array([5, 3, 9, 4]), np.array([-1, 1])
    compare("Pad", [x, pads, None, axes], mode=mode, constants=[1, 3])


def test_negative_padding(x):
    model_inputs = [x, np.array([0, -1, 2, 0, 1, -2])]
    found = by_weft(node_model("Pad", model_inputs, constants=[1]), model_inputs)[0]
    expected = np.pad(x, ((0, 0), (0, 1), (2, 0)))[:, 1:, :-2]
    np.testing.assert_array_equal(found, expected)


def test_padding_value():
    for x in (np.arange(3), np.array([True, False]), np.ones(2, np.float16)):
        value = np.array(1).astype(x.dtype)
        compare("Pad", [x, np.array([1, 2]), value], constants=[1])
    refused("Pad", [np.arange(3), np.array([1, 2])], "mode", mode="mirror", constants=[1])


def test_center_crop_pad(rng):
    x = rng.standard_normal((5, 6, 3)).astype(np.float32)
    compare("CenterCropPad", [x, np.array([8, 3])], axes=[0, 1], constants=[1])
    compare("CenterCropPad", [x, np.array([2, 7, 4])], constants=[1])


def test_blocks(rng):
    x = rng.standard_normal((2, 8, 2, 3)).astype(np.float32)
    for mode in ("DCR", "CRD"):
        deep = compare("DepthToSpace", [x], blocksize=2, mode=mode)[0]
        model = node_model("SpaceToDepth", [deep], blocksize=2, mode=mode)
        np.testing.assert_array_equal(by_weft(model, [deep])[0], x)


def test_shapes_as_values(x):
    compare("Shape", [x])
    compare("Shape", [x], start=-2, end=10)
    compare("Size", [x])


def test_constants():
    import onnx

    shape = np.array([2, 0, 3])
    compare("ConstantOfShape", [shape], constants=[0])
    value = onnx.numpy_helper.from_array(np.array([7], np.int64))
    compare("ConstantOfShape", [np.array([2, 3])], value=value)
    compare("EyeLike", [np.zeros((3, 4), np.int32)], k=1)
    compare("EyeLike", [np.zeros((3, 2), np.int32)], k=-1, dtype=onnx.TensorProto.DOUBLE)


@pytest.mark.parametrize(
    ("start", "limit", "delta"),
    [(0, 10, 3), (10, 0, -4), (5, 5, 1), (0.5, 2.0, 0.25), (2.0, -1.0, -0.75)],
)
def test_ranges(start, limit, delta):
    kind = np.float32 if isinstance(start, float) else np.int64
    compare("Range", [np.array(each, kind) for each in (start, limit, delta)])


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [-2, 0, 1, 9])
def test_triangles(upper, k, rng):
    x = rng.integers(1, 9, (2, 3, 4))
    compare("Trilu", [x, np.array(k)], upper=upper, constants=[1])


@pytest.mark.parametrize("kind", ["int4", "float8_e5m2fnuz", "float4_e2m1fn"])
def test_small_types_are_moved(kind):
    import onnx

    x = np.array([[1, 2, 3], [0, -1, -2]]).astype(getattr(ml_dtypes, kind))
    compare("Reshape", [x, np.array([3, -1])], constants=[1])
    compare("Transpose", [x])
    compare("Flatten", [x], axis=0)
    compare("Unsqueeze", [x, np.array([1])], constants=[1])
    compare("Squeeze", [x[:, None]])
    compare("Pad", [x, np.array([1, 0, 0, 2])], constants=[1])
    compare("Shape", [x])
    value = onnx.helper.make_tensor("v", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), [1], [2.0])
    model = node_model("ConstantOfShape", [np.array([2, 2])], value=value)
    found = by_weft(model, [np.array([2, 2])])[0]
    assert found.dtype == x.dtype and (found.astype(np.float32) == 2).all()


def test_sizes_and_ranges_that_do_not_exist():
    refused("ConstantOfShape", [np.array([2, -1])], "negative")
    refused("Expand", [np.ones((1, 2), np.float32), np.array([-1, 2])], "negative", constants=[1])
    refused("Range", [np.array(each, np.float32) for each in (0, 9, 0)], "range")
    refused("Range", [np.array(each, np.float32) for each in (0, np.inf, 1)], "range")


def test_range_of_a_short_float():
    inputs = [np.array(each, ml_dtypes.bfloat16) for each in (0, 300, 1)]
    found = by_weft(node_model("Range", inputs), inputs)[0]
    np.testing.assert_array_equal(found, np.arange(300).astype(ml_dtypes.bfloat16))

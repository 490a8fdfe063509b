"""Real ONNX models and their inputs: `onnx_models.py` and `tests/onnx` run them.

The models come with wheels of PyPI, which are installed without their dependencies:

    python -m pip install --no-deps magika rapidocr-onnxruntime silero-vad nudenet
    python -m pip install --no-deps basic-pitch ddddocr

Nothing of these wheels is imported. Inputs are what the models are made for: a rendered text, a
tune, the bytes of a file. The light models of the package `onnx` hold no weights, but one number
for each tensor: `source` puts random weights in their place.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Inputs = dict[str, np.ndarray]

WORDS = "The quick brown fox"
LIGHT = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
    "squeezenet", "vgg19", "zfnet512",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model.

    :ivar package: the package that holds it. :ivar path: its path in the package.
    :ivar inputs: makes the inputs of a call.
    :ivar states: the inputs that are outputs of the call before: input name to output name.
    :ivar tolerance: the largest difference that is due to the rounding of sums.
    """

    package: str
    path: str
    inputs: Callable[[], Inputs]
    states: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-4

    def file(self) -> Path | None:
        """Return the file of the model; None if its wheel is not installed."""
        folder = package_folder(self.package)
        return folder / self.path if folder is not None and (folder / self.path).exists() else None

    def source(self, folder: Path) -> Path:
        """Return a file with weights; that of a light model is written into a folder.

        :raises FileNotFoundError: if the wheel is not installed.
        """
        file = self.file()
        if file is None:
            raise FileNotFoundError(f"{self.path} is missing: python -m pip install {self.package}")
        if self.package != "onnx":
            return file
        made = folder / file.name
        if not made.exists():
            _write_with_weights(file, made)
        return made


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, which is not imported; None if it is missing."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations)))


# ---- inputs --------------------------------------------------------------------------------------


def rendered_text(width: int, height: int, channels: int, text: str = WORDS) -> np.ndarray:
    """Return black text on white, (1, channels, height, width), from -1 to 1. Needs pillow."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", (width, height), 255)
    size = min(height * 0.6, 1.7 * width / len(text))
    place = (0.04 * width, (height - size) / 2)
    ImageDraw.Draw(page).text(place, text, fill=0, font=ImageFont.load_default(size))
    numbers = np.asarray(page, np.float32) / 127.5 - 1
    return np.repeat(numbers[None, None], channels, axis=1)


def tune(samples: int, rate: int) -> np.ndarray:
    """Return notes with overtones: float32 from -1 to 1."""
    time = np.arange(samples) / rate
    pitch = 220 * 2 ** (np.floor(time * 4) % 12 / 12)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    tone = sum(np.sin(phase * k) / k for k in (1, 2, 3, 4))
    loudness = np.exp(-3 * (time * 4 % 1))
    return (0.4 * tone * loudness).astype(np.float32)


def photograph(size: int) -> np.ndarray:
    """Return smooth random colours, (1, 3, size, size), from 0 to 1."""
    new = np.random.default_rng(0)
    coarse = new.random((3, size // 16, size // 16))
    picture = coarse.repeat(16, 1).repeat(16, 2) + 0.1 * new.standard_normal((3, size, size))
    return picture.clip(0, 1).astype(np.float32)[None]


def start_and_end(content: bytes, size: int = 1024, filling: int = 256) -> np.ndarray:
    """Return the first and the last bytes of a file, (1, 2 * size), as magika reads them."""
    first, last = content.lstrip()[:size], content.rstrip()[-size:]
    row = np.full(2 * size, filling, np.int32)
    row[: len(first)] = list(first)
    row[2 * size - len(last) :] = list(last)
    return row[None]


def _speech(batch: int) -> np.ndarray:
    return tune(576 * batch, 16_000).reshape(batch, 576)


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def _silero(batch: int = 1) -> Inputs:
    return {"input": _speech(batch), "state": _zeros(2, batch, 128), "sr": np.array(16_000)}


CASES: dict[str, Case] = {
    "magika": Case(
        "magika", "models/standard_v3_3/model.onnx",
        lambda: {"bytes": start_and_end(Path(__file__).read_bytes())},
    ),
    "OCR detection": Case(
        "rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx",
        lambda: {"x": rendered_text(480, 320, 3)},
    ),
    "OCR recognition": Case(
        "rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx",
        lambda: {"x": rendered_text(320, 48, 3)},
    ),
    "OCR direction": Case(
        "rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        lambda: {"x": rendered_text(192, 48, 3)},
    ),
    "silero-vad": Case(
        "silero_vad", "data/silero_vad.onnx", _silero, {"state": "stateN"}
    ),
    "silero-vad, sequence": Case(
        "silero_vad", "data/silero_vad_16k_sequence.onnx",
        lambda: {"input": _speech(32), "h": _zeros(1, 1, 128), "c": _zeros(1, 1, 128)},
        {"h": "hn", "c": "cn"},
    ),
    "nudenet": Case("nudenet", "320n.onnx", lambda: {"images": photograph(320)}),
    "basic-pitch": Case(
        "basic_pitch", "saved_models/icassp_2022/nmp.onnx",
        lambda: {"serving_default_input_2:0": tune(43_844, 22_050).reshape(1, -1, 1)},
        # Logarithms of powers near zero. In float64, ONNX Runtime differs by 5e-4, weft by 1e-4.
        tolerance=2e-3,
    ),
    "ddddocr": Case(
        "ddddocr", "common.onnx", lambda: {"input1": rendered_text(160, 64, 1, "w3ft")}
    ),
    "ddddocr, quantized": Case(
        "ddddocr", "common_old.onnx", lambda: {"input1": rendered_text(160, 64, 1, "w3ft")}
    ),
    "ddddocr, detection": Case(
        "ddddocr", "common_det.onnx", lambda: {"images": 255 * photograph(416)}
    ),
}  # fmt: skip
"""The models by name."""


def _light(name: str) -> Case:
    data = "gpu_0/data_0" if name in ("resnet50", "shufflenet", "zfnet512") else "data_0"
    path = f"backend/test/data/light/light_{name}.onnx"
    return Case("onnx", path, lambda: {data: photograph(224)})


CASES |= {name.replace("_", " "): _light(name) for name in LIGHT}


# ---- weights of the light models -----------------------------------------------------------------


def _write_with_weights(file: Path, to: Path) -> None:
    """Write a model whose ConstantOfShape nodes are random constants.

    What its last Softmax reads is an output, too: the differences of saturated probabilities are
    zero.
    """
    import onnx

    model = onnx.load(file)
    graph = model.graph
    shapes = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    scales = {
        name
        for node in graph.node
        if node.op_type == "BatchNormalization"
        for name in (node.input[1], node.input[4])
    }
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    new = np.random.default_rng(0)
    for node in fills:
        name = node.output[0]
        array = _weights(new, tuple(shapes[node.input[0]]), name in scales)
        graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        graph.node.remove(node)
    softmax = [node for node in graph.node if node.op_type == "Softmax"]
    graph.output.extend(onnx.helper.make_empty_tensor_value_info(node.input[0]) for node in softmax)
    onnx.save(model, to)


def _weights(new: np.random.Generator, shape: tuple[int, ...], is_scale: bool) -> np.ndarray:
    """Return scales near one, and weights that keep the magnitude of what they multiply."""
    if is_scale:
        return new.uniform(0.5, 1.5, shape).astype(np.float32)
    if len(shape) == 1:
        return new.standard_normal(shape, np.float32) * np.float32(0.1)
    inputs = int(np.prod(shape[1:]))
    return new.standard_normal(shape, np.float32) * np.float32((2 / inputs) ** 0.5)


# ---- comparison ----------------------------------------------------------------------------------


def largest_difference(got: Mapping[str, Any], expected: Mapping[str, np.ndarray]) -> float:
    """Return the largest difference relative to the largest magnitude of the same output.

    :raises AssertionError: if shapes or dtypes differ.
    """
    largest = 0.0
    for name, array in expected.items():
        mine = np.asarray(got[name])
        assert mine.shape == array.shape, f"{name}: {mine.shape} instead of {array.shape}"
        assert mine.dtype == array.dtype, f"{name}: {mine.dtype} instead of {array.dtype}"
        if array.size:
            wide = array.astype(np.float64)
            scale = max(np.abs(wide).max(), 1e-30)
            difference = float(np.abs(mine.astype(np.float64) - wide).max() / scale)
            largest = max(largest, difference if difference == difference else float("inf"))
    return largest

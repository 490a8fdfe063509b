"""``weft run``: run an ONNX model, time it, and compare it with another runtime; or run a program.

    weft run model.onnx                               random inputs; symbolic sizes are 1
    weft run model.onnx --input image=cat.npy         inputs from NumPy files
    weft run model.onnx --size batch=8 --size seq=128
    weft run model.onnx --bench                       the time of each kernel, as `weft bench`
    weft run model.onnx --compare onnxruntime         the largest difference of each output
    weft run -n 4 train.py                            a Python program as four processes

It prints inputs, outputs, the time of the first call, and the median time of the later ones.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from weft.base import trace
from weft.base.errors import ArgumentError, CapabilityError, FileError, WeftError
from weft.base.interrupts import let_through
from weft.base.text import human_time
from weft.onnx import Model, Outputs, ValueInfo, load
from weft.tensor import Tensor
from weft.tools.bench import table
from weft.tools.bench.meter import EVENTS, Meter
from weft.tools.commands.bench import roofs_of
from weft.tools.launchers import launch

_LARGEST_INTEGER = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("model", help="an ONNX file; with -n a Python program")
    parser.add_argument("arguments", nargs="*", help="of the program, after --")
    parser.add_argument("-n", "--processes", type=int, help="run a program as N processes")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=FILE.npy", help="an input"
    )
    parser.add_argument(
        "--random", action="store_true", help="random numbers for other inputs: the default"
    )
    parser.add_argument("--seed", type=int, default=0, help="of random inputs, 0 by default")
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="a symbolic size, or 1"
    )
    parser.add_argument("--device", help="the default device, in the place of WEFT_DEVICE")
    parser.add_argument("--dtype", help="a float dtype that stands for float32")
    parser.add_argument(
        "--repeat", type=int, default=10, help="calls that are timed, 10 by default"
    )
    parser.add_argument("--bench", action="store_true", help="print the time of each kernel")
    parser.add_argument("--most", type=int, default=40, help="rows that are shown; 0: all")
    parser.add_argument("--compare", choices=("onnxruntime", "reference"), help="another runtime")
    parser.add_argument("--save", metavar="FOLDER", help="write outputs as NumPy files")


def run(arguments: argparse.Namespace) -> int:
    """Run the model and print what it gives; 1 if outputs differ much from the other runtime's.

    :raises ArgumentError: for inputs or sizes that are not the model's.
    """
    if arguments.processes is not None:
        return launch(arguments.processes, [arguments.model, *arguments.arguments])
    if arguments.arguments:
        raise ArgumentError(
            "only a program has arguments of its own",
            asked=f"weft run {arguments.model} {' '.join(arguments.arguments)}",
            try_="weft run -n 2 program.py -- its arguments",
        )
    begin = time.perf_counter()
    model = load(arguments.model, device=arguments.device, dtype=arguments.dtype)
    print(f"loaded in {human_time(time.perf_counter() - begin)}")
    inputs = inputs_of(model, arguments)
    for name, array in inputs.items():
        print(f"input   {name}: {_described(array)}")
    outputs = _timed(model, inputs, arguments)
    arrays = {name: _array(value) for name, value in outputs.items()}
    for name, value in arrays.items():
        print(f"output  {name}: {_described(value)}")
    if arguments.save:
        _save(Path(arguments.save).expanduser(), arrays)
    if arguments.compare:
        return _compared(arguments, inputs, arrays)
    return 0


def _timed(model: Model, inputs: Mapping[str, Any], arguments: argparse.Namespace) -> Outputs:
    """Call the model, print its times, and with `--bench` those of its kernels."""
    meter = Meter()
    with ExitStack() as listening:
        if arguments.bench:
            listening.callback(trace.subscribe(meter, only=EVENTS))
        seconds, outputs = [], None
        for number in range(arguments.repeat + 3):  # one call, then two that are traced
            if number == 3:
                meter.forget()
            begin = time.perf_counter()
            outputs = model(dict(inputs))
            _wait(outputs)
            seconds.append(time.perf_counter() - begin)
    assert outputs is not None
    print(f"first call {human_time(seconds[0])}", end="")
    if seconds[3:]:
        print(f", then {human_time(statistics.median(seconds[3:]))} (median of {arguments.repeat})")
    else:
        print()
    if arguments.bench:
        kernels = [each for each in meter.kernels.values() if each.launches]
        meter.run_again()
        print(table.text(kernels, meter.others, roofs_of(kernels, False), arguments.most))
    return outputs


# ---- inputs --------------------------------------------------------------------------------------


def inputs_of(model: Model, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the inputs that were given as files, and random numbers for the others.

    :raises ArgumentError: for a name that is no input or no symbolic size, or a type without
        random values.
    :raises FileError: for a file that cannot be read.
    """
    known = {each.name: each for each in model.inputs}
    files = _pairs(arguments.input, "--input", known)
    symbols = {size for each in model.inputs for size in each.shape or () if isinstance(size, str)}
    sizes = {
        name: _number(text) for name, text in _pairs(arguments.size, "--size", symbols).items()
    }
    rng = np.random.default_rng(arguments.seed)
    return {
        name: _read(files[name]) if name in files else random_input(each, sizes, rng)
        for name, each in known.items()
    }


def random_input(info: ValueInfo, sizes: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Return random numbers for an input: normal floats, integers from 0 to 9, bools.

    :raises ArgumentError: for strings, sequences and other types.
    """
    if info.type.kind == "optional":
        return None
    shape = [
        size if isinstance(size, int) else sizes.get(size or "", 1) for size in info.shape or ()
    ]
    if info.type.kind == "tensor":
        if info.dtype in ("float16", "float32", "float64", "bfloat16"):
            array = rng.standard_normal(shape).astype(np.float32)
            return (
                Tensor(array).cast(info.dtype)
                if info.dtype == "bfloat16"
                else array.astype(info.dtype)
            )
        if info.dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if info.dtype.startswith(("int", "uint")) and not info.dtype.endswith(("t4", "t2")):
            return rng.integers(0, _LARGEST_INTEGER, shape).astype(info.dtype)
    raise ArgumentError(
        f"there are no random values for the input {info.name!r}",
        asked=str(info),
        because="it is no tensor of numbers",
        try_="load the model in Python and pass the input: weft.onnx.load(path)(...)",
    )


def _pairs(words: Sequence[str], option: str, known: Any) -> dict[str, str]:
    pairs = {}
    for word in words:
        name, equals, text = word.rpartition("=")
        if not equals or name not in known:
            raise ArgumentError(
                f"{option} names nothing of the model" if equals else f"{option} has no value",
                asked=f"{option} {word}",
                because=f"the model has {', '.join(sorted(known)) or 'none'}",
                try_=f"{option} {next(iter(sorted(known)), 'NAME')}=...",
            )
        pairs[name] = text
    return pairs


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ArgumentError("a size is a number", asked=f"--size ...={text}", try_="--size batch=8")
    return int(text)


def _read(path: str) -> np.ndarray:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except OSError as error:
        raise FileError.of(error, "an input cannot be read", path=path, asked=path) from None
    except ValueError as error:
        raise ArgumentError(
            "an input is no NumPy file", asked=path, because=str(error), try_="numpy.save(path, x)"
        ) from None


# ---- outputs -------------------------------------------------------------------------------------


def _wait(outputs: Outputs) -> None:
    for each in outputs.values():
        if isinstance(each, Tensor):
            each.data()


def _array(value: Any) -> Any:
    if isinstance(value, list):
        return [_array(each) for each in value]
    return np.asarray(value.numpy()) if isinstance(value, Tensor) else value


def _described(value: Any) -> str:
    """Dtype, shape and range of an array."""
    if isinstance(value, Tensor):
        value = np.asarray(value.numpy())
    if not isinstance(value, np.ndarray):
        return f"a list of {len(value)}" if isinstance(value, list) else str(value)
    text = f"{value.dtype} {list(value.shape)}"
    if value.size and value.dtype.kind in "iuf":
        numbers = value.astype(np.float64)
        text += f"  {numbers.min():.6g} to {numbers.max():.6g}, mean {numbers.mean():.6g}"
    return text


def _save(folder: Path, arrays: Mapping[str, Any]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in arrays.items():
            file = "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
            np.save(folder / f"{file}.npy", value, allow_pickle=False)
    except OSError as error:
        let_through(error)
        raise FileError.of(error, "outputs cannot be written", path=folder) from None


def _compared(
    arguments: argparse.Namespace, inputs: Mapping[str, Any], ours: Mapping[str, Any]
) -> int:
    """Print the largest difference of each output from that of another runtime."""
    other = {"onnxruntime": _by_onnxruntime, "reference": _by_reference}[arguments.compare]
    given = {name: _array(value) for name, value in inputs.items() if value is not None}
    try:
        results = other(arguments.model, given)
    except ImportError as error:
        raise CapabilityError(
            f"{arguments.compare} is not installed",
            because=str(error),
            try_=f"pip install {'onnxruntime' if arguments.compare == 'onnxruntime' else 'onnx'}",
        ) from None
    except WeftError:
        raise
    except Exception as error:  # each runtime has errors of its own
        let_through(error)
        raise ArgumentError(
            f"{arguments.compare} does not run this model", because=f"{error}"[:500]
        ) from None
    differs = False
    for (name, mine), theirs in zip(ours.items(), results):
        line, is_close = difference(mine, theirs)
        differs |= not is_close
        print(f"{arguments.compare}  {name}: {line}")
    return int(differs)


def difference(mine: Any, theirs: Any) -> tuple[str, bool]:
    """Describe the largest difference of two outputs, and say whether they are close."""
    if not isinstance(mine, np.ndarray) or not isinstance(theirs, np.ndarray):
        return "not compared", True
    if mine.shape != theirs.shape:
        return f"shape {list(mine.shape)}, not {list(theirs.shape)}", False
    if mine.dtype.kind not in "biuf" or theirs.dtype.kind not in "biuf":
        return "equal" if np.array_equal(mine, theirs) else "different", True
    one, other = mine.astype(np.float64), theirs.astype(np.float64)
    largest = float(np.abs(one - other).max(initial=0.0))
    scale = float(np.abs(other).max(initial=0.0))
    relative = largest / scale if scale else largest
    return f"largest difference {largest:.3g}, {relative:.3g} of the largest value", relative < 1e-3


def _by_onnxruntime(path: str, inputs: Mapping[str, Any]) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    return list(session.run(None, dict(inputs)))


def _by_reference(path: str, inputs: Mapping[str, Any]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(path).run(None, dict(inputs)))

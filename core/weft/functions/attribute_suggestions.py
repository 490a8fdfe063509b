"""Attribute suggestions at the level of `weft`: what to write instead of names of PyTorch, NumPy
and tinygrad that it does not have.

In these texts `x` is a tensor. Code comes first, an explanation after a colon.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft import nn
from weft.base.errors import MissingName
from weft.base.suggestions import missing_name
from weft.tensor import Tensor
from weft.tensor.ops.suggested_names import COMPLEX, QUANTISED, SPARSE
from weft.tensor.ops.suggested_names import EQUIVALENTS as OF_TENSORS

_DEVICES = "weft.Device lists devices, weft.Device.DEFAULT is the best one; x.to(device)"
_SETTINGS = "weft.settings.override(...), see docs/settings.md"
_TYPED = "weft.tensor(data, dtype=weft.{})"

EQUIVALENTS: dict[str, str] = {
    # devices and settings
    **dict.fromkeys(
        "cuda mps xpu mtia hpu cpu accelerator backends cudnn Stream Event get_device "
        "get_device_module is_vulkan_available".split(),
        _DEVICES,
    ),
    **dict.fromkeys(
        "use_deterministic_algorithms are_deterministic_algorithms_enabled "
        "set_deterministic_debug_mode get_deterministic_debug_mode".split(),
        "nothing: the same kernels give the same results in every run",
    ),
    **dict.fromkeys(
        "set_num_threads get_num_threads set_num_interop_threads get_num_interop_threads".split(),
        "the variable that the plugin of the device documents in its README",
    ),
    **dict.fromkeys(
        ("set_float32_matmul_precision", "get_float32_matmul_precision"),
        "weft.settings.override(MATMUL_PRECISION=...)",
    ),
    "set_printoptions": "numpy.set_printoptions, and print(x.numpy())",
    **dict.fromkeys(("set_flush_denormal", "set_warn_always", "overrides"), _SETTINGS),
    "set_default_tensor_type": "weft.set_default_dtype(dtype), weft.set_default_device(device)",
    "version": "weft.__version__",
    "config": "weft.settings",
    "Context": "weft.settings.override",
    "GlobalCounters": "from weft.engine import stats",
    "hub": "weft.load(path), nn.state.safe_load(path)",
    # random numbers
    **dict.fromkeys(
        ("Generator", "random", "seed", "initial_seed", "default_generator", "default_rng"),
        "weft.manual_seed(seed), weft.get_rng_state(), weft.set_rng_state(state)",
    ),
    "binomial": "x.rand_like() draws, compared and summed",
    "poisson": "Tensor(numpy.random.default_rng(seed).poisson(x.numpy()))",
    "distributions": "x.normal_(mean, std), x.uniform_(low, high), x.bernoulli(), x.multinomial(n)",
    # compilation, functions of functions, gradients
    **dict.fromkeys(("compile", "script", "compiler", "TinyJit", "fx"), "weft.jit"),
    "functorch": "weft.func",
    "Code": "weft.jit", "Node": "x.uop",
    **{name: f"weft.func.{name}" for name in ("hessian", "jacfwd", "jacrev", "jvp", "vjp")},
    **dict.fromkeys(("jacobian", "jacobians"), "weft.func.jacrev(f)(x)"),
    "gradient": "y.gradient(x) for derivatives; x.diff() for differences",
    "is_inference_mode_enabled": "not weft.is_grad_enabled()",
    "is_inference": "x.requires_grad",
    **dict.fromkeys(("cond", "while_loop"), "weft.where(condition, x, y); Python's if, under jit"),
    "is_anomaly_enabled": "weft.settings.CHECK",
    "set_anomaly_enabled": "weft.settings.override(CHECK=1): names the first NaN and its line",
    "profiler": "weft bench program.py, WEFT_VIZ=1, or weft.settings.override(DEBUG=2)",
    # automatic mixed precision
    **dict.fromkeys(("is_autocast_enabled", "get_autocast_dtype", "GradScaler"), "weft.amp"),
    **dict.fromkeys(("set_autocast_enabled", "set_autocast_dtype"), "with weft.autocast(dtype):"),
    # dtypes
    "FloatTensor": _TYPED.format("float32"), "DoubleTensor": _TYPED.format("float64"),
    "HalfTensor": _TYPED.format("float16"), "BFloat16Tensor": _TYPED.format("bfloat16"),
    "ByteTensor": _TYPED.format("uint8"), "CharTensor": _TYPED.format("int8"),
    "ShortTensor": _TYPED.format("int16"), "IntTensor": _TYPED.format("int32"),
    "LongTensor": _TYPED.format("int64"), "BoolTensor": _TYPED.format("bool"),
    "tensors": "weft.tensor(data)", "array": "weft.tensor(data)", "ndarray": "weft.Tensor",
    "astype": "x.cast(dtype)",
    "float8_e4m3fn": "weft.dtypes.fp8e4m3", "float8_e5m2": "weft.dtypes.fp8e5m2",
    **dict.fromkeys(("bool_", "bool8"), "weft.bool"),
    "uint": "weft.uint32",
    **dict.fromkeys(("chalf", "complex32"), COMPLEX),
    "Storage": "x.data(): memory belongs to the graph of a tensor, see x.uop",
    "is_storage": "isinstance(x, memoryview)",
    "TypedStorage": "x.data()", "UntypedStorage": "x.data()",
    # data, files, processes
    "utils": "weft.data.DataLoader, weft.checkpoint, weft.nn.utils",
    "distributed": "x.shard(devices, axis)",
    "multiprocessing": "Python's multiprocessing: tensors can be pickled",
    "serialization": "weft.save(obj, path), weft.load(path)",
    "from_file": "Tensor.from_file(path, dtype)",
    "frombuffer": "Tensor(memoryview), or Tensor.from_blob(address, shape, dtype=...)",
    "to_dlpack": "x itself: numpy.from_dlpack(x) and others take it",
    "library": "weft.autograd.Function, or weft.plugin for devices",
    # namespaces
    "ao": QUANTISED, "quantize_per_tensor": QUANTISED,
    "quantize_per_channel": QUANTISED, "qint8": QUANTISED, "quint8": QUANTISED,
    "qint32": QUANTISED,
    "sparse": SPARSE, "nested": SPARSE, "sparse_coo_tensor": SPARSE, "sparse_csr_tensor": SPARSE,
    "sparse_csc_tensor": SPARSE, "sparse_bsr_tensor": SPARSE, "sparse_bsc_tensor": SPARSE,
    "sparse_coo": SPARSE, "sparse_csr": SPARSE, "strided": SPARSE, "layout": SPARSE,
    **dict.fromkeys(("spmm", "dsmm", "hsmm"), "x @ y: all tensors are dense"),
    **dict.fromkeys(
        ("channels_last", "channels_last_3d", "contiguous_format", "preserve_format",
         "memory_format"),
        "x.permute(...).contiguous(): the order of the axes is the order in memory",
    ),
    "Inf": "weft.inf", "NaN": "weft.nan", "NAN": "weft.nan",
    # making tensors
    "range": "weft.arange(start, end + 1)",
    "empty_strided": "weft.empty(shape): there are no strides",
    "empty_permuted": "weft.empty(shape)",
    "mgrid": "weft.meshgrid(...)", "indices": "weft.meshgrid(...)",
    "geomspace": "weft.logspace(start, stop, steps): of exponents",
    # shapes
    "ravel_multi_index": "row * columns + column",
    "insert": "weft.cat([x[:i], y, x[i:]])",
    "delete": "weft.cat([x[:i], x[i + 1:]])",
    "ascontiguousarray": "x.contiguous()",
    "resize": "x.reshape(...), x.shrink(...) or x.pad(...)",
    "pad": "nn.functional.pad(x, pad), or x.pad(...)",
    "channel_shuffle": "x.rearrange('b (g c) ... -> b (c g) ...', g=groups)",
    # arithmetic
    "rsub": "y - x", "fill": "x.full_like(value)",
    "is_same_size": "x.shape == y.shape",
    "is_signed": "not weft.dtypes.is_unsigned(x.dtype)",
    "pdist": "weft.cdist(x, x)[tuple(weft.triu_indices(len(x), len(x), 1))]",
    "chain_matmul": "x @ y @ z", "multi_dot": "x @ y @ z",
    "histogramdd": "x.histc(bins, min, max) of one axis",
    "fabs": "x.abs()",
    "power": "x ** y",
    "invert": "~x", "left_shift": "x << y", "right_shift": "x >> y",
    "intersect1d": "x[weft.isin(x, y)].unique()", "setdiff1d": "x[~weft.isin(x, y)].unique()",
    "union1d": "weft.cat([x, y]).unique()",
    # linear algebra
    "pinverse": "x.pinv()",
    "matrix_rank": "x.matrix_rank()",
    "frobenius_norm": "x.norm()", "nuclear_norm": "x.svd().S.sum()",
    **dict.fromkeys(("svd_lowrank", "pca_lowrank", "lobpcg"), "x.svd()"),
    **dict.fromkeys(("rnn_tanh", "rnn_relu"), "weft.nn.RNN"),
    "lstm": "weft.nn.LSTM", "gru": "weft.nn.GRU", "lstm_cell": "weft.nn.LSTMCell",
    "gru_cell": "weft.nn.GRUCell", "rnn_tanh_cell": "weft.nn.RNNCell",
    "rnn_relu_cell": "weft.nn.RNNCell",
    "embedding_bag": "weft.nn.functional.embedding(i, x).sum(1)",
    **dict.fromkeys(
        ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "ctc_loss", "affine_grid_generator"),
        "nothing of that kind yet",
    ),
    **dict.fromkeys(("rrelu", "rrelu_"), "weft.nn.functional.leaky_relu(x, slope)"),
    "signal": "nothing of that kind yet", "windows": "weft.nn.functional",
    "masked": "x.masked_fill(mask, value), weft.where(mask, x, y)",
    "constant_pad_nd": "weft.nn.functional.pad(x, pad, value=value)",
    "OutOfMemoryError": "MemoryError: errors of weft are Python's, too",
    **dict.fromkeys(("typename", "Type"), "type(x).__name__, x.dtype"),
    **dict.fromkeys(("ops", "classes"), "weft.autograd.Function, or weft.plugin for devices"),
    **dict.fromkeys(
        ("get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "set_autocast_cpu_dtype",
         "set_autocast_cpu_enabled", "is_autocast_cpu_enabled"),
        "weft.amp",
    ),
    # names that are elsewhere in weft
    "Function": "weft.autograd.Function",
    "DataLoader": "weft.data.DataLoader", "Dataset": "weft.data.Dataset",
    "TensorDataset": "weft.data.TensorDataset",
}  # fmt: skip
"""name elsewhere -> what to write here"""


def missing_function(name: str, known: Iterable[str]) -> MissingName:
    """The error for a name that `weft` does not have: its equivalent, the method, function, layer
    or optimiser of that name, or the nearest of the names `known`."""
    return missing_name(
        "weft", name, known, _instead(name), summary=f"module 'weft' has no attribute {name!r}"
    )


def _instead(name: str) -> dict[str, str]:
    found = EQUIVALENTS.get(name)
    if found is None:
        for module in (nn.functional, nn, nn.optim, nn.optim.lr_scheduler):
            if name in module.__all__:
                found = f"{module.__name__}.{name}"
    if hasattr(Tensor, name):
        found = found or f"x.{name}" + ("(...)" if callable(getattr(Tensor, name)) else "")
    found = found or OF_TENSORS.get(name)
    return {} if found is None else {name: found}

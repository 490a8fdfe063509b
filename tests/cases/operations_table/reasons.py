"""Why some methods have no row in the table of operations, and what the signs in its cells mean."""

from __future__ import annotations

from weft.tensor.ops.inplace_variants import INPLACE

WORDS: dict[str, str] = {
    "f": "refused with an error that says so: it is for floats only",
    "i": "refused with an error that says so: it is for integers, and for bool where that has bits",
    "n": "refused with an error that says so: it is not for bool, which has no such arithmetic",
    "s": "refused with an error that says so: it is for numbers with a sign",
    "w": "refused with an error that says so: it is for float32 and float64",
    "u": "refused with an error that says so: it is for bytes, uint8",
    "l": "refused with an error that says so: it is for words of 64 bits, uint64",
    "-": "the device has no such dtype",
}
"""By the sign."""

_FACT = "facts of a tensor that need no elements; `tests/unit/tensor/test_tensor.py`"
_WAY_BACK = (
    "the way back; every row of floats is compared in its gradient with PyTorch by"
    " `tests/property/test_against_torch.py`, and with finite differences by"
    " `tests/property/test_gradients.py`"
)
_MODE = "switches; `tests/unit/tensor/test_tensor.py` and `tests/property/test_gradients.py`"
_PLAN = "the schedule of a tensor, not its value; `tests/unit/schedule`"
_SHARDS = "one value on several devices; `tests/property/test_sharding.py`"
_SOURCES = (
    "elements come from elsewhere, as they are there; `tests/unit/tensor/test_pending_readers.py`"
)
_COMPLEX = "parts of complex numbers; `tests/unit/tensor/complex`"
_GRAPH = "graph nodes for those who build them; `tests/unit/tensor`"
_IN_PLACE = (
    "written into the tensor: what the method without the underscore computes;"
    " `tests/unit/tensor/ops/test_inplace_variants.py`"
)
_OTHER_NAMES = "names of PyTorch for other methods; `tests/unit/tensor/ops/test_method_aliases.py`"

REASONS: dict[str, str] = {
    **dict.fromkeys(
        (
            "shape", "ndim", "dim", "size", "numel", "nbytes", "element_size", "dtype", "device",
            "layout", "is_floating_point", "is_leaf", "requires_grad", "grad", "retains_grad",
        ),
        _FACT,
    ),
    **dict.fromkeys(
        ("backward", "gradient", "register_hook", "requires_grad_", "retain_grad"), _WAY_BACK
    ),
    **dict.fromkeys(("train", "training", "no_grad", "enable_grad", "manual_seed"), _MODE),
    **dict.fromkeys(("schedule", "schedule_with_vars"), _PLAN),
    **dict.fromkeys(("shard", "shard_", "shard_like", "shards"), _SHARDS),
    **dict.fromkeys(("local", "full_tensor", "from_local"), _SHARDS),
    **dict.fromkeys(("from_blob", "from_dlpack", "from_file", "from_url"), _SOURCES),
    **dict.fromkeys(("is_complex", "conj", "angle", "real", "imag"), _COMPLEX),
    **dict.fromkeys(
        (*(f"{name}_" for name in INPLACE), "bernoulli_", "fill_diagonal_", "random_"), _IN_PLACE
    ),
    **dict.fromkeys(
        "absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_left_shift "
        "bitwise_right_shift byte char dsplit fix ger hsplit inverse itemsize ndimension nelement "
        "new_empty new_full new_ones new_tensor new_zeros sgn split_with_sizes t type "
        "vsplit".split(),
        _OTHER_NAMES,
    ),
    **dict.fromkeys(("uop", "lazydata", "from_uop", "alu", "const_like", "ufix"), _GRAPH),
}  # fmt: skip
"""By the name of the method."""

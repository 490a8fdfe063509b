"""Declarations for type checkers: what a mixin of `Tensor` may call of the other mixins.

For checkers, `TensorBase` derives from `MixinMethods`. Nothing imports this module at run time.
Arguments are not declared here. The mixin that has a method declares them, and its declaration
comes first in the method resolution order of `Tensor`.
`tests/unit/tensor/test_mixin_methods.py` compares the names with those that `Tensor` has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from weft.base.dtype import DType
    from weft.tensor.protocol import TensorBase
    from weft.uop import UOp


class MixinMethods:
    """The methods and properties of `Tensor` that mixins use and `TensorBase` does not have."""

    training: ClassVar[bool]

    def __init__(self, data: Any = None, *args: Any, **kwargs: Any) -> None: ...

    # ---- properties ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def device(self) -> str: ...
    @property
    def uop(self) -> UOp: ...
    @property
    def layout(self) -> Any: ...
    @property
    def retains_grad(self) -> bool: ...

    # ---- creation -----------------------------------------------------------------------------

    @classmethod
    def _as_tensor(cls, x: Any, like: TensorBase, dtype: DType | None = None) -> Self: ...
    @classmethod
    def full(cls, *args: Any, **kwargs: Any) -> Self: ...

    arange = linspace = ones = rand = randint = zeros = empty = eye = normal = uniform = full

    # ---- methods whose result is a tensor -----------------------------------------------------

    def cast(self, *args: Any, **kwargs: Any) -> Self: ...

    # elementwise
    abs = add = bitcast = bitwise_not = clamp = copysign = div = elu = eq = erf = exp = cast
    floor = hardtanh = idiv = isclose = isinf = isnan = log = log1p = logsigmoid = cast
    masked_fill = maximum = minimum = mod = neg = pow = reciprocal = relu = round = cast
    rsqrt = sigmoid = signbit = silu = sin = softplus = sqrt = square = sub = tanh = cast
    threefry = trunc = ufix = where = cast
    xlogy = cast
    # movement
    atleast_1d = atleast_2d = cat = diag = diagonal = expand = flatten = flip = movedim = cast
    narrow = pad = permute = ravel = repeat = repeat_interleave = reshape = roll = select = cast
    shrink = squeeze = stack = transpose = tril = unflatten = unfold = unsqueeze = view = cast
    # reductions and scans
    all = any = argmax = argsort = cov = cummax = cumsum = log_softmax = logsumexp = cast
    max = mean = min = norm = softmax = sum = cast
    # products, networks
    bernoulli = binary_crossentropy = bmm = conv2d = conv_transpose2d = cosine_similarity = cast
    dot = dropout = inv = l1_loss = matmul = matrix_power = mm = mv = outer = cast
    pairwise_distance = scaled_dot_product_attention = tensordot = cast
    # indices, writes, placement
    assign = clone = contiguous = detach = full_like = gather = index_select = ones_like = cast
    put = rand_like = realize = scatter = scatter_reduce = searchsorted = shard_like = take = cast
    shard = to = zeros_like = _cut_like = _deviation = _expanded = _take = _with_flag = cast
    _readable = cast

    # ---- methods with another result ----------------------------------------------------------

    def tolist(self, *args: Any, **kwargs: Any) -> Any: ...

    aminmax = item = median = meshgrid = nanmedian = nonzero = numpy = slogdet = sort = tolist
    split = tensor_split = topk = unbind = tolist

    def numel(self) -> int: ...

    # ---- private ------------------------------------------------------------------------------

    _become = _binary = _compare = _constant_value = _element_at_hand = _float_remainder = tolist
    _floor_divide = _items = _no_bool = _only_flag = _operand = _other_device = _pair = tolist
    _persists = _prepared = _reduce = _settled = _replace_node = _unary = _value_for = tolist
    _whole = _window = _without_flags = tolist

    def _resolve_dim(self, *args: Any, **kwargs: Any) -> int: ...
    def _resolve_dims(self, *args: Any, **kwargs: Any) -> tuple[int, ...]: ...
    @staticmethod
    def _inverse(*args: Any, **kwargs: Any) -> tuple[int, ...]: ...
    @staticmethod
    def _own_copy(*args: Any, **kwargs: Any) -> UOp: ...
    @staticmethod
    def _own_identity(*args: Any, **kwargs: Any) -> UOp: ...

    # ---- operators ----------------------------------------------------------------------------

    def __eq__(self, x: Any) -> Self: ...  # type: ignore[override]
    def __ne__(self, x: Any) -> Self: ...  # type: ignore[override]
    def __getitem__(self, index: Any) -> Self: ...
    def __add__(self, x: Any) -> Self: ...

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __add__
    __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __add__
    __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __add__
    __lt__ = __gt__ = __le__ = __ge__ = __add__

    def __neg__(self) -> Self: ...

    __pos__ = __invert__ = __abs__ = __neg__
